//! Compares must, may and must not: the same verb in the source sentence that resembles ours, under
//! another kind of duty.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::Span;
use crate::index::SourcePosition;
use crate::reading::{Reading, Sentence};
use crate::text::{Word, is_same_stem, is_stop, stem};

/// The similarity of two sentences from which a duty refutes another one.
const SAME_MATTER: f64 = 0.5;
/// The similarity from which «may» refutes «must», which a writer may mix up.
const SAME_WORDS: f64 = 0.7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Duty {
    Must,
    May,
    MustNot,
    NeedNot,
}

/// Words of a duty; the verb follows within three words.
const DUTIES: [(&str, Duty); 42] = [
    ("may not", Duty::MustNot),
    ("shall not", Duty::MustNot),
    ("must not", Duty::MustNot),
    ("cannot", Duty::MustNot),
    ("can not", Duty::MustNot),
    ("not permitted to", Duty::MustNot),
    ("not allowed to", Duty::MustNot),
    ("not entitled to", Duty::MustNot),
    ("forbidden to", Duty::MustNot),
    ("prohibited from", Duty::MustNot),
    ("barred from", Duty::MustNot),
    ("need not", Duty::NeedNot),
    ("not required to", Duty::NeedNot),
    ("not obliged to", Duty::NeedNot),
    ("not obligated to", Duty::NeedNot),
    ("not have to", Duty::NeedNot),
    ("no obligation to", Duty::NeedNot),
    ("no duty to", Duty::NeedNot),
    ("shall", Duty::Must),
    ("must", Duty::Must),
    ("required to", Duty::Must),
    ("obliged to", Duty::Must),
    ("obligated to", Duty::Must),
    ("has to", Duty::Must),
    ("have to", Duty::Must),
    ("may", Duty::May),
    ("can", Duty::May),
    ("entitled to", Duty::May),
    ("permitted to", Duty::May),
    ("allowed to", Duty::May),
    ("free to", Duty::May),
    ("right to", Duty::May),
    ("не вправе", Duty::MustNot),
    ("не может", Duty::MustNot),
    ("не могут", Duty::MustNot),
    ("не обязан", Duty::NeedNot),
    ("не обязана", Duty::NeedNot),
    ("обязан", Duty::Must),
    ("обязана", Duty::Must),
    ("обязаны", Duty::Must),
    ("вправе", Duty::May),
    ("может", Duty::May),
];
/// Words that open an exception; what follows them lifts the duty.
const EXCEPTIONS: &str = "except unless without only until provided prior кроме если без только";

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// The duties of a sentence, each with the stem of its verb.
fn read(page: &Reading<'_>, sentence: &Sentence) -> Vec<(Duty, String, Span)> {
    let words = page.words_of(sentence);
    let folded: Vec<String> = words.iter().map(Word::fold).collect();
    let mut list = Vec::new();
    let mut at = 0;
    while at < folded.len() {
        let fits = |it: &&(&str, Duty)| {
            it.0.split(' ')
                .enumerate()
                .all(|(step, word)| folded.get(at + step).is_some_and(|it| it == word))
        };
        let Some((phrase, duty)) = DUTIES.iter().find(fits) else {
            // «Не передавать права третьим лицам» in a list of duties.
            let verb = folded.get(at + 1).filter(|it| it.ends_with("ть") && folded[at] == "не");
            if let Some(verb) = verb {
                let span = Span { start: words[at].start, end: words[at + 1].end };
                list.push((Duty::MustNot, stem(verb), span));
            }
            at += 1;
            continue;
        };
        let mut verb = at + phrase.split(' ').count();
        let skips = |it: &String| is_stop(it) || it.ends_with("ly");
        while verb < folded.len().min(at + 7) && skips(&folded[verb]) {
            verb += 1;
        }
        if let Some(word) = folded.get(verb) {
            let span = Span { start: words[at].start, end: words[verb].end };
            list.push((*duty, stem(word), span));
        }
        at = verb.max(at + 1);
    }
    list
}

impl FactCheck<'_, '_, '_> {
    pub(super) fn modality(&mut self, pair: &SentencePair<'_>) {
        let mut found = None;
        for (duty, verb, span) in read(self.reading, pair.sentence) {
            found = found.or_else(|| self.other_duty(pair, duty, &verb).map(|it| (span, it)));
        }
        if let Some((span, place)) = found {
            self.push(ClaimKind::Holding, span, (Support::Contradicted, Some(place)));
        }
    }

    fn other_duty(
        &self,
        pair: &SentencePair<'_>,
        duty: Duty,
        verb: &str,
    ) -> Option<SourcePosition> {
        let words = self.reading.words_of(pair.sentence).iter().map(Word::fold);
        if words.into_iter().any(|it| is_in(EXCEPTIONS, &it)) {
            return None;
        }
        let mut rival = None;
        for it in pair.aligned.iter().filter(|it| it.score >= SAME_MATTER) {
            let (page, there) = self.index.sentence(it.sentence);
            for (other, theirs, span) in read(page, there) {
                if !is_same_stem(&theirs, verb) {
                    continue;
                }
                let apart = match (duty, other) {
                    (one, two) if one == two => return None,
                    (Duty::Must, Duty::May) | (Duty::May, Duty::Must) => it.score >= SAME_WORDS,
                    (Duty::MustNot, Duty::NeedNot) | (Duty::NeedNot, Duty::MustNot) => false,
                    (Duty::May, Duty::NeedNot) | (Duty::NeedNot, Duty::May) => false,
                    _ => true,
                };
                if apart && !self.is_excepted(pair, page, there) {
                    rival = rival.or(Some(self.index.place_in(it.sentence, span)));
                }
            }
        }
        rival
    }

    /// Whether our sentence is about the exception that the source makes.
    fn is_excepted(&self, pair: &SentencePair<'_>, page: &Reading<'_>, there: &Sentence) -> bool {
        let words = page.words_of(there);
        let opens = words.iter().position(|it| is_in(EXCEPTIONS, &it.fold()));
        let behind = opens.map_or(&[][..], |at| words.get(at + 1..).unwrap_or_default());
        let mut stems = behind.iter().map(Word::fold).filter(|it| !is_stop(it)).map(|it| stem(&it));
        stems.any(|it| it != "party" && it != "parti" && pair.sentence.stems.contains(&it))
    }
}
