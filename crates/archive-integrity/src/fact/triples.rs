//! Compares who does what to whom with the acts of the source: the same, the other way round, or
//! the act of the opponent.

use super::{ClaimKind, FactCheck, SentencePair, Support};
use crate::Span;
use crate::index::SourcePosition;
use crate::triples::{self, Filler, Triple};

/// The share of our words that a source sentence needs before the act of the opponent refutes ours.
const SAME_MATTER: f64 = 0.6;
/// How much larger the share of a reversed act must be, where the source has both directions.
const REVERSED_MARGIN: f64 = 0.25;
/// The share from which an act with one known side is supported.
const SUPPORTED_SHARE: f64 = 0.5;

/// How an act of the source stands to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// Every side that we know is the same.
    Same,
    /// A side that we know is open in the source.
    Open,
    /// Both sides are exchanged.
    Reversed,
    /// An opponent stands on a side of ours.
    Opponent,
    Other,
}

impl FactCheck<'_, '_, '_> {
    /// The verdict of the source's acts on ours; `None` where they do not decide.
    pub(super) fn triples(&mut self, pair: &SentencePair<'_>) -> Option<Support> {
        let index = self.index;
        let ours = triples::of(self.reading, pair.sentence, &index.actors, &index.participants);
        let mut found: Option<(Span, Support, SourcePosition)> = None;
        for it in &ours {
            let quoted = self.reading.words.get(it.words.0);
            if quoted.is_some_and(|it| self.reading.in_quote(it.start)) {
                continue;
            }
            let Some((support, place)) = self.act_verdict(it) else { continue };
            let Some(span) = self.span_of(it) else { continue };
            if found.is_none() || support == Support::Contradicted {
                found = Some((span, support, place));
            }
        }
        let (span, support, place) = found?;
        self.push(ClaimKind::Party, span, (support, Some(place)));
        Some(support)
    }

    fn span_of(&self, it: &Triple) -> Option<Span> {
        let words = self.reading.words.get(it.words.0..it.words.1)?;
        Some(Span { start: words.first()?.start, end: words.last()?.end })
    }

    fn act_verdict(&self, ours: &Triple) -> Option<(Support, SourcePosition)> {
        let list = self.index.triples.get(ours.act)?;
        let known = ours.sides.iter().filter(|it| it.known().is_some()).count();
        let mut best: [Option<(f64, SourcePosition)>; 4] = [None; 4];
        for (theirs, id) in list {
            let kind = self.matched(ours, theirs);
            let at = match kind {
                Match::Same if theirs.denied == ours.denied => 0,
                Match::Reversed if theirs.denied == ours.denied => 1,
                Match::Opponent if theirs.denied == ours.denied => 2,
                Match::Open => 3,
                _ => continue,
            };
            let (_, there) = self.index.sentence(*id);
            let share = self.share(ours, there);
            let place = self.index.place_in(*id, there.span);
            if let Some(side) = best.get_mut(at)
                && side.is_none_or(|it| it.0 < share)
            {
                *side = Some((share, place));
            }
        }
        let [same, reversed, opponent, open] = best;
        let share_of = |it: Option<(f64, SourcePosition)>| it.map_or(-1.0, |it| it.0);
        if let Some((share, place)) = reversed.filter(|_| known == 2)
            && (same.is_none() || share > share_of(same) + REVERSED_MARGIN)
        {
            return Some((Support::Contradicted, place));
        }
        if let Some((share, place)) = opponent {
            let telling = !ours.context.is_empty() && share >= SAME_MATTER;
            let alone = share > share_of(same) + REVERSED_MARGIN && share >= share_of(open);
            // Who sued and who appealed is one question for the whole paper.
            let unique = matches!(ours.act, "sue" | "appeal") && same.is_none() && open.is_none();
            if (telling && alone) || unique {
                return Some((Support::Contradicted, place));
            }
        }
        let (share, place) = same?;
        (known == 2 || share >= SUPPORTED_SHARE).then_some((Support::Supported, place))
    }

    fn matched(&self, ours: &Triple, theirs: &Triple) -> Match {
        let people = &self.index.participants;
        let pairs = || ours.sides.iter().zip(&theirs.sides);
        if let (
            [Filler::Known(one), Filler::Known(two)],
            [Filler::Known(other), Filler::Known(last)],
        ) = (&ours.sides, &theirs.sides)
        {
            let turned = people.is_same(one, last) && people.is_same(two, other);
            if turned && !people.is_same(one, other) && !people.is_same(two, last) {
                return Match::Reversed;
            }
        }
        let mut kind = Match::Same;
        for (one, other) in pairs() {
            let Filler::Known(one) = one else { continue };
            let Filler::Known(other) = other else {
                if kind == Match::Same {
                    kind = Match::Open;
                }
                continue;
            };
            if people.is_same(one, other) {
                continue;
            }
            if people.is_opposed(one, other) {
                kind = Match::Opponent;
            } else if kind != Match::Opponent {
                kind = if people.is_different(one, other) { Match::Other } else { Match::Open };
            }
        }
        kind
    }

    /// The weighted share of our context that a source sentence has.
    fn share(&self, ours: &Triple, there: &crate::reading::Sentence) -> f64 {
        let sum = |list: &mut dyn Iterator<Item = &String>| -> f64 {
            list.map(|it| self.index.weight(it)).sum()
        };
        let all = sum(&mut ours.context.iter());
        let shared = sum(&mut ours.context.iter().filter(|it| there.stems.contains(*it)));
        if all > 0.0 { shared / all } else { 0.0 }
    }
}
