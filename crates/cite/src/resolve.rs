//! Resolves each citation to its source. Full citations name it; short ones are matched by volume,
//! name or position. A citation that fits several sources equally stays unresolved.

use std::collections::HashMap;

use crate::citation::{Citation, CitationKind};

/// Sources with one volume or one name that are kept as candidates; older ones are dropped.
const ALIKE_MAX: usize = 16;

/// A decision, a law or an article, and every citation of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CitedSource {
    /// Indices of the citations, in order; the first names the source in full.
    pub citations: Vec<usize>,
}

/// The sources of a text and what each citation refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Resolutions {
    /// The sources, in the order of their first citation.
    pub sources: Vec<CitedSource>,
    /// For each citation the index of its source; `None` if it is unresolved.
    pub source_of: Vec<Option<usize>>,
}

impl Resolutions {
    /// The full citation that a citation refers to; of a full one, the first of its source.
    #[must_use]
    pub fn antecedent(&self, citation: usize) -> Option<usize> {
        let source = (*self.source_of.get(citation)?)?;
        self.sources.get(source)?.citations.first().copied()
    }
}

/// Finds the source of each citation of one text.
#[must_use]
pub fn resolve(citations: &[Citation<'_>]) -> Resolutions {
    let mut state = Resolver::default();
    for (place, citation) in citations.iter().enumerate() {
        let source = state.source(citations, place, citation);
        state.enter(citation, source);
        if let Some(it) = source.and_then(|it| state.found.sources.get_mut(it)) {
            it.citations.push(place);
        }
        state.found.source_of.push(source);
    }
    state.found
}

/// What distinguishes one source from another: kind, publication, volume or title, page or section,
/// number, and names where a page is not known yet.
type SourceKey<'t> = [&'t str; 6];

#[derive(Default)]
struct Resolver<'t> {
    found: Resolutions,
    by_key: HashMap<SourceKey<'t>, usize>,
    by_volume: HashMap<(&'t str, &'t str), Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    by_section: HashMap<&'t str, Vec<usize>>,
    /// The first page of each source, where it has one.
    pages: Vec<Option<u64>>,
    names: Vec<Vec<String>>,
    /// What `Id.` means now.
    last: Option<usize>,
    /// Until this place, citations stand in the brackets of another one, which `Id.` means
    /// after them.
    outer: (usize, Option<usize>),
}

impl<'t> Resolver<'t> {
    fn source(&mut self, all: &[Citation<'t>], place: usize, it: &Citation<'t>) -> Option<usize> {
        if it.span.start >= self.outer.0 {
            self.last = self.outer.1;
        }
        match it.kind {
            CitationKind::Id => self.last.filter(|source| self.reaches(*source, it)),
            CitationKind::Supra | CitationKind::Reference => self.named(it),
            CitationKind::ShortCase => self.short(all, it),
            CitationKind::Section => self.by_section.get(it.section?).and_then(|them| only(them)),
            _ => Some(self.full(all, place, it)),
        }
    }

    /// Remembers what `Id.` will mean.
    fn enter(&mut self, it: &Citation<'t>, source: Option<usize>) {
        // An `Id.` that fits nothing leaves the one before it in place.
        let means = if it.kind == CitationKind::Id { source.or(self.last) } else { source };
        self.last = means;
        if it.span.start >= self.outer.0 {
            self.outer = (it.full_span.end, means);
        }
    }

    fn full(&mut self, all: &[Citation<'t>], place: usize, it: &Citation<'t>) -> usize {
        let known = self.by_key.get(&key(it)).copied();
        let head = it.parallel_to.and_then(|head| *self.found.source_of.get(head)?);
        // A parallel citation after this one may be known already.
        let later = || {
            let group = all.iter().skip(place + 1).take_while(|it| it.parallel_to == Some(place));
            group.filter_map(|it| self.by_key.get(&key(it)).copied()).next()
        };
        let source = known.or(head).or_else(later).unwrap_or_else(|| {
            self.found.sources.push(CitedSource { citations: Vec::new() });
            self.pages.push(it.page.and_then(number));
            self.names.push(Vec::new());
            self.found.sources.len() - 1
        });
        self.by_key.entry(key(it)).or_insert(source);
        if let (Some(reporter), Some(volume)) = (publication(it), it.volume) {
            remember(self.by_volume.entry((reporter, volume)).or_default(), source);
        }
        if let Some(section) = it.section {
            remember(self.by_section.entry(section).or_default(), source);
        }
        self.learn(it, source);
        source
    }

    /// The names by which a source may be called: each party, and its first words.
    fn learn(&mut self, it: &Citation<'t>, source: usize) {
        for party in [it.plaintiff, it.defendant, it.antecedent].into_iter().flatten() {
            let whole = plain(party);
            let words = whole.match_indices(' ').take(3).map(|it| it.0);
            let mut names: Vec<String> =
                words.filter_map(|it| Some(whole.get(..it)?.to_owned())).collect();
            names.push(whole);
            for name in names {
                let few = self.names.get(source).is_none_or(|them| them.len() < ALIKE_MAX);
                if name.len() < 2 || !few || self.called(source, &name) {
                    continue;
                }
                remember(self.by_name.entry(name.clone()).or_default(), source);
                if let Some(them) = self.names.get_mut(source) {
                    them.push(name);
                }
            }
        }
    }

    fn called(&self, source: usize, name: &str) -> bool {
        self.names.get(source).is_some_and(|them| them.iter().any(|it| it == name))
    }

    fn named(&self, it: &Citation<'_>) -> Option<usize> {
        // A match of both parties outweighs a match of one.
        let both = it.plaintiff.zip(it.defendant).map(|(left, right)| (plain(left), plain(right)));
        if let Some((left, right)) = both {
            let them = self.by_name.get(&right)?.iter().copied();
            let them: Vec<usize> = them.filter(|it| self.called(*it, &left)).collect();
            return only(&them);
        }
        let name = plain(it.antecedent.or(it.defendant).or(it.plaintiff)?);
        let them = self.by_name.get(&name);
        // A name of several words may begin with what stands before it in the sentence.
        let last = || self.by_name.get(name.rsplit(' ').next()?);
        let them = them.or_else(last)?;
        match only(them) {
            None if it.kind == CitationKind::Reference => them.last().copied(),
            found => found,
        }
    }

    fn short(&mut self, all: &[Citation<'t>], it: &Citation<'t>) -> Option<usize> {
        if let Some(source) = it.parallel_to.and_then(|head| *self.found.source_of.get(head)?) {
            return Some(source);
        }
        let them = self.by_volume.get(&(publication(it)?, it.volume?))?;
        let name = it.antecedent.map(plain);
        let called: Vec<usize> = match &name {
            Some(name) => them.iter().copied().filter(|it| self.called(*it, name)).collect(),
            None => Vec::new(),
        };
        let them = if called.is_empty() { them } else { &called };
        let page = it.page.and_then(number);
        // Decisions do not overlap: it is the last one that begins at or before the page.
        let begins = |source: &usize| self.begins_in(all, *source, it);
        let fit = them.iter().filter(|it| begins(it).is_none_or(|first| Some(first) <= page));
        fit.max_by_key(|it| begins(it)).copied()
    }

    /// Where the source begins in the volume that a short form names.
    fn begins_in(&self, all: &[Citation<'t>], source: usize, it: &Citation<'_>) -> Option<u64> {
        let places = self.found.sources.get(source)?.citations.iter().take(ALIKE_MAX);
        let mut same = places.filter_map(|place| all.get(*place));
        same.find(|that| {
            that.is_full_case() && that.volume == it.volume && publication(that) == publication(it)
        })
        .and_then(|that| that.page)
        .and_then(number)
    }

    /// Whether the page that `Id.` names can lie in the source.
    fn reaches(&self, source: usize, it: &Citation<'_>) -> bool {
        let pin = it.pin_cite.and_then(|it| number(it.strip_prefix("at ").unwrap_or(it)));
        match (pin, self.pages.get(source).copied().flatten()) {
            // Numbers of databases are no pages.
            (Some(pin), Some(page)) if page < 10_000 => page <= pin,
            _ => true,
        }
    }
}

fn only(them: &[usize]) -> Option<usize> {
    match them {
        [one] => Some(*one),
        _ => None,
    }
}

fn remember(them: &mut Vec<usize>, source: usize) {
    if them.last() == Some(&source) || them.contains(&source) {
        return;
    }
    if them.len() == ALIKE_MAX {
        them.remove(0);
    }
    them.push(source);
}

fn publication<'t>(it: &Citation<'t>) -> Option<&'t str> {
    it.edition.or(it.reporter)
}

fn key<'t>(it: &Citation<'t>) -> SourceKey<'t> {
    let or = |it: Option<&'t str>| it.unwrap_or_default();
    let case = it.is_full_case() || it.kind == CitationKind::Journal;
    let blank = case && it.page.is_none();
    let number = if case { None } else { it.number };
    // Prose declines the name of an act that has a number, so its number and year identify it.
    let name = if number.is_some() { it.edition } else { publication(it) };
    [
        or(name),
        or(if number.is_some() { None } else { it.volume.or(it.title) }),
        or(it.page.or(it.section)),
        or(number),
        or(if blank { it.plaintiff } else { number.and(it.date).map(year) }),
        or(if blank { it.defendant } else { None }),
    ]
}

/// The year in a date, or all of it.
fn year(date: &str) -> &str {
    let mut runs = date.split(|it: char| !it.is_ascii_digit());
    runs.find(|it| it.len() == 4).unwrap_or(date)
}

/// The number at the beginning, if there is one.
fn number(text: &str) -> Option<u64> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..end)?.parse().ok()
}

/// A name without case, stops and commas.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|it| !matches!(it, '.' | ',' | '\'' | '\u{2019}'));
    let text: String = letters.flat_map(char::to_lowercase).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which citation each refers to, full ones to themselves.
    #[track_caller]
    fn check(text: &str, expected: &[Option<usize>]) {
        let citations = crate::find(text);
        let found = resolve(&citations);
        let referred: Vec<_> = (0..citations.len()).map(|it| found.antecedent(it)).collect();
        let shown: Vec<_> = citations.iter().map(|it| it.text).collect();
        assert_eq!(referred, expected, "{text}\n{shown:?}");
    }

    #[test]
    fn short_forms_find_their_case() {
        check("Able v. Baker, 5 F.3d 10. Later, Able, 5 F.3d at 12.", &[Some(0), Some(0)]);
        check("Able v. Baker, 5 F.3d 10. Able, 6 F.3d at 12.", &[Some(0), None]);
        check("Able v. Baker, 5 F.3d 10. Baker, 5 F.3d at 4.", &[Some(0), None]);
        check(
            "Able v. Baker, 5 F.3d 10; Carr v. Dunn, 5 F.3d 90. See 5 F.3d at 95; 5 F.3d at 12.",
            &[Some(0), Some(1), Some(1), Some(0)],
        );
        check(
            "Able v. Baker, 5 U.S. 10, 7 S. Ct. 20 (1990). See Able, 5 U.S. at 11, 7 S. Ct. at 21.",
            &[Some(0), Some(0), Some(0), Some(0)],
        );
    }

    #[test]
    fn id_means_what_was_cited_last() {
        check("1 U.S. 5. Id. at 7. Id.", &[Some(0), Some(0), Some(0)]);
        check("1 U.S. 5. Id. at 3.", &[Some(0), None]);
        check("Id. at 3.", &[None]);
        check("42 U.S.C. § 1983. Id. § 1985.", &[Some(0), Some(0)]);
        check("1 U.S. 5; 2 U.S. 9. Ibid.", &[Some(0), Some(1), Some(1)]);
        check(
            "Able v. Baker, 5 F.3d 10 (1990) (quoting Carr v. Dunn, 6 F.3d 20). Id. at 11.",
            &[Some(0), Some(1), Some(0)],
        );
    }

    #[test]
    fn supra_and_references_go_by_name() {
        check(
            "Able v. Baker, 5 F.3d 10. Carr v. Dunn, 6 F.3d 7. Able, supra, at 12.",
            &[Some(0), Some(1), Some(0)],
        );
        check(
            "Able v. Baker, 5 F.3d 10. Able v. Carr, 6 F.3d 7. Able, supra.",
            &[Some(0), Some(1), None],
        );
        check("Able v. Baker, 5 F.3d 10. As said in Able at 12.", &[Some(0), Some(0)]);
        check("Able v. Baker, 5 F.3d 10. Able v. Baker, supra, at 12.", &[Some(0), Some(0)]);
        check("Able Auto Co. v. Baker, 5 F.3d 10. Able Auto, supra.", &[Some(0), Some(0)]);
        check("Nobody, supra, at 12.", &[None]);
    }

    #[test]
    fn the_same_source_is_one_however_it_is_written() {
        check("612 U. S. 30. Then 612 U.S. 30, 33.", &[Some(0), Some(0)]);
        check("7 S. Ct. 20. Able v. Baker, 5 U.S. 10, 7 S. Ct. 20.", &[Some(0), Some(0), Some(0)]);
        check("42 U.S.C. § 1983; § 1983; § 1985", &[Some(0), Some(0), None]);
        check(
            "определение ВС РФ от 12.03.2020 № 305-ЭС19-1; определения ВС РФ от 12 марта 2020 г. № 305-ЭС19-1",
            &[Some(0), Some(0)],
        );
        check(
            "ст. 15 ГК РФ; ст. 15 Гражданского кодекса РФ. Там же.",
            &[Some(0), Some(0), Some(0)],
        );
        check("ст. 15 ГК РФ; ст. 15 ТК РФ", &[Some(0), Some(1)]);
    }
}
