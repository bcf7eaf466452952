//! Verifies a contradiction that a model proposes: its words must stand in the insight, its quote in
//! the source, and the quote must not simply say what the insight says.

use crate::index::{Index, Phrase};
use crate::text::{fold, is_stop, stem, words};
use crate::{Answer, Insight, IntegrityTest, SourceEvidence, SourceText, TestOptions, quote, run};

/// A contradiction as a model states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedContradiction {
    /// Words of the insight.
    pub claim: String,
    /// Words of the source that are said to contradict them.
    pub quote: String,
}

/// Words of a claim or a quote; fewer prove nothing.
const WORDS_MIN: usize = 3;
/// Characters of a claim or a quote that are read.
const CHARS_MAX: usize = 2_000;

/// The place of the quote in the source, where the proposal holds: the claim is in the content word
/// for word, the quote is in the source word for word with its numbers, both speak of one thing, and
/// the rules do not find the claim supported by the quote.
#[must_use]
pub fn verify(
    proposal: &ProposedContradiction,
    content: &str,
    source: &SourceText,
) -> Option<SourceEvidence> {
    if proposal.claim.len() > CHARS_MAX || proposal.quote.len() > CHARS_MAX {
        return None;
    }
    let insight_text = SourceText { file_hash: String::new(), pages: vec![content.to_owned()] };
    find(&Index::new(&[&insight_text]), &proposal.claim)?;
    let index = Index::new(&[source]);
    let evidence = find(&index, &proposal.quote)?;
    if !share_a_word(&proposal.claim, &proposal.quote) {
        return None;
    }
    let claim = Insight { content: proposal.claim.clone(), ..Insight::default() };
    let passage = SourceText { file_hash: String::new(), pages: vec![proposal.quote.clone()] };
    let report = run(IntegrityTest::FactCheck, &[claim], &[passage], &TestOptions::default());
    let agrees = report.details.first().is_none_or(|it| it.answer == Some(Answer::Supported));
    (!agrees).then_some(evidence)
}

/// The place where all parts of the text stand word for word.
fn find(index: &Index<'_>, text: &str) -> Option<SourceEvidence> {
    let mut place = None;
    for part in quote::parts(text) {
        match index.phrase(&quote::folded(part)) {
            Phrase::Exact(it) => place = place.or(Some(it)),
            _ => return None,
        }
    }
    let long = words(text).len() >= WORDS_MIN;
    place.filter(|_| long).map(|it| index.evidence(it))
}

fn share_a_word(one: &str, other: &str) -> bool {
    let stems = |text: &str| -> Vec<String> {
        let all = words(text);
        let own = all.iter().map(|it| fold(it.text)).filter(|it| !is_stop(it));
        own.map(|it| stem(&it)).collect()
    };
    let other = stems(other);
    stems(one).iter().any(|it| other.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, quote: &str, want: bool) {
        let content = "The government consented to the motion. It was filed on May 4, 2020.";
        let pages = vec![
            "The government opposed the motion.".to_owned(),
            "The motion was filed on May 9, 2020, by $500 counsel.".to_owned(),
        ];
        let source = SourceText { file_hash: "f".to_owned(), pages };
        let proposal = ProposedContradiction { claim: claim.to_owned(), quote: quote.to_owned() };
        assert_eq!(verify(&proposal, content, &source).is_some(), want, "{claim} / {quote}");
    }

    #[test]
    fn only_verbatim_quotes_that_say_something_else_are_verified() {
        let claim = "The government consented to the motion";
        check(claim, "The government opposed the motion.", true);
        check("It was filed on May 4, 2020", "The motion was filed on May 9, 2020", true);
        // Words that the source or the insight does not have.
        check(claim, "The government firmly opposed the motion.", false);
        check("The government agreed to the motion", "The government opposed the motion.", false);
        check("It was filed on May 4, 2020", "The motion was filed on May 8, 2020", false);
        // The quote says what the claim says, or speaks of something else.
        check("The government", "The government", false);
        check("It was filed on May 4, 2020", "by $500 counsel", false);
        check("", "", false);
    }
}
