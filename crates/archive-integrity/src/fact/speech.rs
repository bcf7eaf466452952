//! Checks speakers: compares the speaker in the insight with the source's speaker of the same
//! words, by a verb of saying, by the line of a transcript or by the head of a letter.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::actors;

/// The similarity from which a source sentence is the quoted statement.
const SAME_WORDS: f64 = 0.35;

impl FactCheck<'_, '_, '_> {
    pub(super) fn speech(&mut self, pair: &SentencePair<'_>) {
        let actors = &self.index.actors;
        let Some((ours, span)) = actors.speaker(self.reading, pair.sentence) else { return };
        let inside = |at: usize| at >= pair.sentence.span.start && at < pair.sentence.span.end;
        // A quote that the source contains identifies its sentence.
        let quoted = self.claims.iter().find(|it| {
            it.kind == ClaimKind::Quote
                && it.support == Support::Supported
                && inside(it.bytes.start)
        });
        let quoted = quoted.and_then(|it| self.quoted(self.reading.slice(it.bytes)).1);
        let near: Vec<usize> = match quoted {
            Some(place) => vec![place.sentence],
            None => {
                let best = pair.plain.first().map_or(0.0, |it| it.score);
                let close = pair.plain.iter().filter(|it| it.score >= SAME_WORDS.max(0.8 * best));
                close.map(|it| it.sentence).collect()
            }
        };
        let mut rival = None;
        for id in near {
            let (page, there) = self.index.sentence(id);
            let stated = actors.speaker(page, there).map(|it| it.0);
            // «You wrote that» attributes the words to a person whom the line does not name.
            let line = self
                .index
                .speaker(id)
                .filter(|_| !actors::ActorIndex::reports_statement(page, there));
            let Some(theirs) = stated.or(line) else { continue };
            // The sentence names the listener too, so a name alone does not prove a speaker; but a
            // named person who may be the subject counts as one.
            let named = actors.parties(page, there).iter().any(|it| it.0 == ours);
            if theirs == ours || named || !actors::comparable(theirs, ours) {
                return;
            }
            rival = rival.or(Some(self.index.place_in(id, there.span)));
        }
        if rival.is_some() {
            self.push(ClaimKind::Party, span, (Support::Contradicted, rival));
        }
    }
}
