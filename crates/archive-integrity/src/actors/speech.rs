//! Finds the speaker: by a verb of saying, by the start of a transcript line, or by the head of a
//! mail.

use super::tables::COURTS;
use super::{Actor, ActorIndex, COURT};
use crate::Span;
use crate::reading::{Reading, Sentence, Value};
use crate::text::Word;

/// Verbs of saying; their speaker must agree with the source.
const SAYS: &str = "said says say told tells tell testified testifies stated states wrote writes \
written replied replies answered answers remarked remarks explained explains warned warns conceded \
argued argues argue contends contended claims claimed asserts asserted maintains denies denied \
complained added adds opined believes noted notes сказал сказала заявил заявила отметил отметила \
указал указала пояснил пояснила сообщил сообщила";

/// The text before a position in its line, as far as a label can reach.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let mut from = at.saturating_sub(120);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..at).and_then(|it| it.rsplit('\n').next()).unwrap_or_default()
}

pub(crate) fn is_saying(folded: &str) -> bool {
    SAYS.split(' ').any(|it| it == folded)
        || matches!(folded, "disputes" | "disputed" | "admits" | "admitted" | "concedes" | "says")
        || matches!(folded, "complained" | "informed" | "accused" | "accuses" | "asked" | "warned")
        || matches!(folded, "acknowledged" | "acknowledges" | "thinks" | "thought" | "alleges")
        || matches!(folded, "alleged" | "insists" | "insisted" | "estimates" | "estimated")
}

impl ActorIndex {
    /// The speaker of a sentence, by a verb of saying or «according to».
    pub(crate) fn speaker(&self, page: &Reading<'_>, sentence: &Sentence) -> Option<(Actor, Span)> {
        let actors = self.actors_in(page, sentence);
        let word = |at: usize| page.words.get(at).map(Word::fold).unwrap_or_default();
        let found = actors.iter().find(|(from, to, _)| {
            let lead = |back: usize| from.checked_sub(back).map(word).unwrap_or_default();
            let titled = usize::from(crate::name::is_title(&lead(1)));
            let according = lead(1 + titled) == "to" && lead(2 + titled) == "according";
            let words_of = lead(1 + titled) == "of" && lead(2 + titled) == "words";
            let verb = (*to..to + 3).any(|it| {
                let verb = word(it);
                it < sentence.words.1 && SAYS.split(' ').any(|it| it == verb)
            });
            // «denied the motion» is a decision; «denies» alone is a statement.
            let rules = word(*to) == "denied" && word(to + 1) != "that";
            // «…», said Vale.
            let behind = lead(1 + titled);
            let behind = matches!(
                behind.as_str(),
                "said" | "says" | "wrote" | "writes" | "replied" | "testified" | "added"
            );
            according || words_of || behind || (verb && !rules)
        });
        let (from, to, actor) = found.filter(|it| it.2 != COURT)?;
        let (first, last) = (page.words.get(*from)?, page.words.get(to.checked_sub(1)?)?);
        Some((*actor, Span { start: first.start, end: last.end }))
    }

    /// The person that «I» means in a text: `I, Vale`, `Report of Vale`, `Sincerely, Vale`.
    pub(crate) fn author(&self, page: &Reading<'_>) -> Option<Actor> {
        let word = |at: usize| page.words.get(at).map(Word::fold).unwrap_or_default();
        let named = page.marks.iter().enumerate().filter_map(|(order, it)| match &it.value {
            Value::Name { tokens, words, .. } => Some((order, self.actor(tokens)?, words.0, it)),
            _ => None,
        });
        let papers = "report statement affidavit declaration testament testimony deposition letter";
        for (order, actor, from, mark) in named {
            let lead = |back: usize| from.checked_sub(back).map(word).unwrap_or_default();
            let paper = |it: &str| papers.split(' ').any(|paper| paper == it);
            let titled = order < 6 && lead(1) == "of" && (paper(&lead(2)) || paper(&lead(3)));
            let line = line_before(page.text, mark.span.start);
            let sent = line.trim() == "From:" || line.contains("Reporting officer:");
            let signed =
                (1..=3).any(|it| matches!(lead(it).as_str(), "sincerely" | "yours" | "regards"));
            if lead(1) == "i" || titled || sent || signed {
                return Some(actor);
            }
        }
        None
    }

    /// Whether the sentence reports a statement.
    pub(crate) fn reports_statement(page: &Reading<'_>, sentence: &Sentence) -> bool {
        let words = page.words_of(sentence);
        words.iter().any(|it| SAYS.split(' ').any(|says| says == it.text))
    }

    /// The speaker of each sentence on a page whose lines begin with a speaker: `MR. ORR: No.`
    pub(crate) fn lines(&self, page: &Reading<'_>) -> Vec<Option<Actor>> {
        let mut now = None;
        let mut turns: Vec<(usize, Option<Actor>)> = Vec::new();
        let mut start = 0;
        for line in page.text.split_inclusive('\n') {
            if let Some(turn) = self.line(line) {
                turns.push((start, turn));
            }
            start += line.len();
        }
        let mut next = turns.into_iter().peekable();
        let mut list = Vec::with_capacity(page.sentences.len());
        for sentence in &page.sentences {
            while let Some((_, turn)) = next.next_if(|it| it.0 <= sentence.span.start) {
                now = turn;
            }
            list.push(now);
        }
        list
    }

    /// The speaker at the start of a line; the inner `None` is a speaker that the index does not
    /// know.
    fn line(&self, line: &str) -> Option<Option<Actor>> {
        let (head, rest) = line.split_once(':')?;
        let named = if head == "From" { rest.split('<').next().unwrap_or(rest) } else { head };
        if named.len() > 60 || !named.trim_start().starts_with(char::is_uppercase) {
            return None;
        }
        let mut tokens: Vec<String> = crate::text::words(named).iter().map(Word::fold).collect();
        if tokens.iter().any(|it| COURTS.contains(&it.as_str())) {
            return Some(Some(COURT));
        }
        tokens.retain(|it| !crate::name::is_title(it));
        let actor = self.actor(&tokens);
        if head != "From" && rest.trim().is_empty() {
            return None;
        }
        let shouted = named.chars().all(|it| !it.is_lowercase()) && rest.len() > 2;
        (actor.is_some() || shouted).then_some(actor)
    }
}
