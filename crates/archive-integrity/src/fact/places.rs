//! Checks citations, case numbers and names against the source: found, similar, or missing.

use super::{FactCheck, Support};
use crate::actors;
use crate::holding::is_holding;
use crate::index::{Phrase, SourcePosition};
use crate::name::is_plain;
use crate::reading::CiteKey;
use crate::text::{Word, is_stop};
use crate::{Span, quote};

type SupportAt = (Support, Option<SourcePosition>);

impl FactCheck<'_, '_, '_> {
    pub(super) fn citation(&self, key: &CiteKey) -> SupportAt {
        let list = self.index.citations(&key.source);
        let same = list.iter().filter(|(it, _)| {
            it.volume == key.volume && (it.page == key.page || key.page.is_empty())
        });
        let mut near = None;
        let mut elsewhere = None;
        for (it, place) in same {
            let years = it.year.zip(key.year).is_none_or(|(one, two)| one == two);
            let parties = it.parties.as_ref().zip(key.parties.as_ref());
            if years && parties.is_none_or(|(one, two)| alike(one, two)) {
                let pins = it.pin.zip(key.pin);
                if pins.is_none_or(|(one, two)| one.0 <= two.0 && two.1 <= one.1) {
                    return (Support::Supported, Some(*place));
                }
                elsewhere = Some(*place);
                continue;
            }
            near = Some(*place);
        }
        if elsewhere.is_some() {
            return (Support::Contradicted, elsewhere);
        }
        // A section above or below ours is the same law: `600.2169` and `600.2169(1)(a)`.
        let within = |one: &str, two: &str| {
            !one.is_empty() && !two.is_empty() && (one.starts_with(two) || two.starts_with(one))
        };
        let law = list.iter().find(|(it, _)| {
            it.parties.is_none()
                && it.volume == key.volume
                && within(&it.page, &key.page)
                && key.parties.is_none()
                && it.year.is_none()
        });
        if let Some((_, place)) = law {
            return (Support::Supported, Some(*place));
        }
        let beside = || {
            let one = list.iter().find(|(it, _)| {
                it.volume == key.volume
                    || it.page == key.page
                    || it.parties == key.parties && it.parties.is_some()
            });
            one.map(|it| it.1)
        };
        match near.or_else(beside) {
            Some(place) => (Support::Contradicted, Some(place)),
            None => (Support::NotFound, None),
        }
    }

    pub(super) fn number(&self, number: &str) -> SupportAt {
        if let Some(place) = self.index.number(number) {
            return (Support::Supported, Some(place));
        }
        // The source may have the number without its sign.
        if let Some(place) = self.index.word(&number.to_lowercase()) {
            return (Support::Supported, Some(place));
        }
        let mut near: Option<(usize, &String, SourcePosition)> = None;
        for (there, place) in self.index.numbers() {
            let part = there.ends_with(number) || number.ends_with(there.as_str());
            if part && there.len().min(number.len()) >= 5 {
                return (Support::Supported, Some(*place));
            }
            let same = there.chars().zip(number.chars()).filter(|(one, two)| one == two).count();
            let close = there.len() == number.len() && same * 3 >= number.len() * 2;
            if close && near.is_none_or(|it| (it.0, there) < (same, it.1)) {
                near = Some((same, there, *place));
            }
        }
        match near {
            Some((_, _, place)) => (Support::Contradicted, Some(place)),
            None => (Support::NotFound, None),
        }
    }

    /// `None` where the word is probably no name.
    pub(super) fn name(
        &self,
        tokens: &[String],
        doubtful: bool,
        (from, after): (usize, usize),
    ) -> Option<SupportAt> {
        let telling: Vec<&String> =
            tokens.iter().filter(|it| it.chars().count() > 1 && !is_plain(it)).collect();
        let mut near = None;
        for token in &telling {
            for (place, there) in self.index.names(token) {
                if tokens.iter().all(|it| has(&there, it)) {
                    return Some((Support::Supported, Some(place)));
                }
                let other = there.iter().filter(|it| !is_stop(it) && !is_plain(it)).count();
                // One common word of many, `District`, makes no other form of the same name.
                let shared = telling.iter().filter(|it| has(&there, it)).count();
                if other >= 2 && telling.len() >= 2 && shared * 2 >= telling.len().min(other) {
                    near.get_or_insert(place);
                }
            }
        }
        // `District Judge Ross Sanchez` is `Ross C. Sanchez` with his office.
        let personal: Vec<&String> = telling.iter().copied().filter(|it| !is_office(it)).collect();
        if let Some(token) = personal.last().filter(|_| personal.len() < telling.len()) {
            let mut all = self.index.names(token);
            let found = all.find(|(_, there)| personal.iter().all(|it| has(there, it)));
            if let Some((place, _)) = found {
                return Some((Support::Supported, Some(place)));
            }
        }
        // The source has the word in lower case, or splits it at a line end.
        let mut places = telling.iter().map(|it| self.index.word(it));
        let first = places.next().flatten();
        let all = tokens.iter().all(|it| it.chars().count() == 1 || self.index.word(it).is_some());
        if let Some(place) = first.filter(|_| all && near.is_none()) {
            return Some((Support::Supported, Some(place)));
        }
        if let Some(place) = self.in_parts(from, after) {
            return Some((Support::Supported, Some(place)));
        }
        if let Some(place) = self.acronym(tokens) {
            return Some((Support::Supported, Some(place)));
        }
        if let Some(place) = near {
            // `Virginia Court of Appeals` is the `Court of Appeals of Virginia`.
            let (page, there) = self.index.sentence(place.sentence);
            let around: Vec<String> = page.words_of(there).iter().map(Word::fold).collect();
            let ours =
                self.reading.words.get(from..after).unwrap_or_default().iter().map(Word::fold);
            let ours: Vec<String> = ours.filter(|it| !is_stop(it)).collect();
            let within =
                around.windows(ours.len() + 3).any(|it| ours.iter().all(|one| it.contains(one)));
            let short = around.len() < ours.len() + 3 && ours.iter().all(|it| around.contains(it));
            if ours.len() >= 3 && (within || short) {
                return Some((Support::Supported, Some(place)));
            }
            // A heading may be parsed as one long name with other bounds than ours.
            return Some(match self.index.phrase(&self.spelled(from, after)) {
                Phrase::Exact(there) => (Support::Supported, Some(there)),
                _ => (Support::Contradicted, Some(place)),
            });
        }
        if doubtful && !self.acts(tokens, after) {
            return None;
        }
        Some((Support::NotFound, None))
    }

    /// `Jessup of the District of Colorado`: two names of the source that «of» or «and» joins.
    fn in_parts(&self, from: usize, after: usize) -> Option<SourcePosition> {
        let words = self.reading.words.get(from..after)?;
        let joint = |it: &Word<'_>| matches!(it.text, "of" | "and" | "the" | "in");
        let at = words.iter().position(joint)?;
        let mut place = None;
        for part in [&words[..at], &words[at + 1..]] {
            let own: Vec<&Word<'_>> =
                part.iter().filter(|it| !joint(it) && !crate::name::is_title(&it.fold())).collect();
            let (first, last) = (own.first()?, own.last()?);
            let span = Span { start: first.start, end: last.end };
            match self.index.phrase(&quote::folded(self.reading.slice(span))) {
                Phrase::Exact(it) => place = Some(it),
                _ => return None,
            }
        }
        place
    }

    /// Our words in the form that the search uses.
    fn spelled(&self, from: usize, to: usize) -> Vec<String> {
        let words = self.reading.words.get(from..to).unwrap_or_default();
        let span = words.first().zip(words.last());
        let span = span.map(|(first, last)| Span { start: first.start, end: last.end });
        span.map(|it| quote::folded(self.reading.slice(it))).unwrap_or_default()
    }

    /// A single word that opens a sentence is a name if a verb follows and its ending allows it.
    fn acts(&self, tokens: &[String], after: usize) -> bool {
        let common = ["s", "ing", "ion", "ment", "ly", "ness", "ity", "ance", "ence", "ed"];
        let plain = tokens.iter().any(|it| common.iter().any(|end| it.ends_with(end)));
        let next = self.reading.words.get(after).map(Word::fold).unwrap_or_default();
        !plain && actors::is_act(&next) && !tokens.iter().any(|it| is_holding(it))
    }

    /// `FTC` for `Federal Trade Commission`.
    fn acronym(&self, tokens: &[String]) -> Option<SourcePosition> {
        let [short] = tokens else { return None };
        let letters: Vec<char> = short.chars().collect();
        if !(2..=6).contains(&letters.len()) {
            return None;
        }
        self.index.initials(short)
    }
}

/// Words of an office or a court, which a name may have in front.
fn is_office(folded: &str) -> bool {
    matches!(
        folded,
        "district"
            | "chief"
            | "presiding"
            | "circuit"
            | "county"
            | "magistrate"
            | "senior"
            | "judge"
            | "justice"
            | "associate"
            | "supreme"
            | "superior"
    )
}

fn has(there: &[String], token: &str) -> bool {
    if token.chars().count() == 1 {
        return there.iter().any(|it| it.starts_with(token));
    }
    there.iter().any(|it| it == token || inflected(it, token))
}

/// Two cases of one Russian name.
fn inflected(one: &str, other: &str) -> bool {
    let cyrillic = |it: &str| it.chars().all(|it| ('а'..='я').contains(&it));
    if !cyrillic(one) || !cyrillic(other) {
        return false;
    }
    let shared = one.chars().zip(other.chars()).take_while(|(one, two)| one == two).count();
    let longest = one.chars().count().max(other.chars().count());
    (shared >= 4 && longest - shared <= 3) || (shared >= 3 && longest - shared <= 1)
}

/// The names of a case, one of which may be shortened.
fn alike(one: &(String, String), other: &(String, String)) -> bool {
    let same = |one: &str, two: &str| {
        one == two
            || one.ends_with(two)
            || two.ends_with(one)
            || one.starts_with(two)
            || two.starts_with(one)
    };
    same(&one.0, &other.0) && same(&one.1, &other.1)
}
