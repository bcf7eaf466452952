//! The publications and courts that are known, read from the tables in `data` at first use.
//! Which shapes their citations have is here; reading those shapes is not.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::trie::Trie;

static FILES: [(&str, Group); 4] = [
    (include_str!("../data/own.tsv"), Group::Law),
    (include_str!("../data/reporters.tsv"), Group::Case),
    (include_str!("../data/laws.tsv"), Group::Law),
    (include_str!("../data/journals.tsv"), Group::Journal),
];
static COURTS: &str = include_str!("../data/courts.tsv");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Case,
    Law,
    Journal,
}

/// The forms that citations of a publication may have: a set of letters, from the third column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shapes(u64);

impl Shapes {
    fn parse(letters: &str) -> Self {
        Self(letters.bytes().fold(0, |bits, it| bits | 1 << (it & 63)))
    }

    /// Whether the set has this letter. Of cases: `s` volume and page, `o` the volume may be
    /// missing, `y` the volume is a year, `h` year and page with hyphens, `k` without any blank,
    /// `e` year and page after it, `z` a year with a letter after it, `w` Louisiana's dockets, `v`
    /// a letter after the volume, `d` a number after the volume, `c` paragraphs, `m` commas in
    /// pages, `l` letters after pages, `i` Illinois' letters, `b` letters in brackets, `A` a year
    /// before the page, `R` Roman pages, `g` the word page. Of laws: `T` a number before it, `H`
    /// two, `S` the sign of a section, `n` a bare number, `p` pages, `j` a subject, `t` articles
    /// and amendments.
    #[inline]
    pub(crate) fn has(self, letter: u8) -> bool {
        self.0 & (1 << (letter & 63)) != 0
    }

    /// Whether a citation may begin with the name itself.
    fn opens(self, group: Group) -> bool {
        match group {
            Group::Case => [b'o', b'c', b'e', b'z'].iter().any(|it| self.has(*it)),
            Group::Law => !self.has(b'T') && !self.has(b'H'),
            Group::Journal => false,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Edition {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// The letter of the second column: `c` the Supreme Court, `n` public domain, `r` of laws
    /// a regulation.
    pub(crate) kind: u8,
    pub(crate) shapes: Shapes,
    first: u16,
    last: u16,
}

/// An edition that a spelling may mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) edition: &'static Edition,
    pub(crate) exact: bool,
}

impl Candidate {
    fn appeared(&self, year: u16) -> bool {
        (self.edition.first..=self.edition.last).contains(&year)
    }
}

pub(crate) struct ReporterTable {
    /// All names, for a name after a number.
    pub(crate) all: Trie,
    /// The names that a citation may begin with.
    pub(crate) openers: Trie,
    spellings: Vec<Vec<Candidate>>,
}

impl ReporterTable {
    pub(crate) fn candidates(&self, spelling: u32) -> &[Candidate] {
        self.spellings.get(spelling as usize).map_or(&[], Vec::as_slice)
    }
}

pub(crate) static TABLE: LazyLock<ReporterTable> = LazyLock::new(load);

/// The edition that is meant, if the exact spellings, or else the year, leave only one.
pub(crate) fn choose(
    candidates: &[Candidate],
    group: Group,
    year: Option<u16>,
) -> Option<&'static Edition> {
    let exact = candidates.iter().any(|it| it.exact && it.edition.group == group);
    let fits = |it: &&Candidate| (it.exact || !exact) && it.edition.group == group;
    let mut left = candidates.iter().filter(fits);
    let first = left.next()?;
    if left.all(|it| it.edition.name == first.edition.name) {
        return Some(first.edition);
    }
    let year = year?;
    let mut left = candidates.iter().filter(fits).filter(|it| it.appeared(year));
    let first = left.next()?;
    left.all(|it| it.edition.name == first.edition.name).then_some(first.edition)
}

fn load() -> ReporterTable {
    let mut spellings: HashMap<String, Vec<Candidate>> = HashMap::new();
    for (file, group) in FILES {
        for line in file.lines().filter(|it| !it.starts_with('#')) {
            let mut columns = line.split('\t');
            let mut next = || columns.next().unwrap_or_default();
            let (name, kind, shapes, years, also) = (next(), next(), next(), next(), next());
            let (first, last) = years.split_once('-').unwrap_or_default();
            let edition: &'static Edition = Box::leak(Box::new(Edition {
                name,
                group,
                kind: kind.bytes().next().unwrap_or(0),
                shapes: Shapes::parse(shapes),
                first: first.parse().unwrap_or(0),
                last: last.parse().unwrap_or(u16::MAX),
            }));
            for key in keys(name) {
                add(&mut spellings, key, Candidate { edition, exact: true });
            }
            for name in also.split('|').filter(|it| !it.is_empty()) {
                for key in keys(name) {
                    add(&mut spellings, key, Candidate { edition, exact: false });
                }
            }
        }
    }
    build(spellings)
}

fn add(spellings: &mut HashMap<String, Vec<Candidate>>, key: String, candidate: Candidate) {
    let known = spellings.entry(key).or_default();
    if !known.iter().any(|it| std::ptr::eq(it.edition, candidate.edition)) {
        known.push(candidate);
    }
}

fn build(spellings: HashMap<String, Vec<Candidate>>) -> ReporterTable {
    let mut sorted: Vec<(String, Vec<Candidate>)> = spellings.into_iter().collect();
    sorted.sort_by(|left, right| left.0.cmp(&right.0));
    let opens = |candidates: &[Candidate], key: &str| {
        // A bare surname before a number is a person more often than a book.
        let distinct = key.contains(['.', ' ', '\'']) || key.chars().all(char::is_uppercase);
        candidates.iter().any(|it| {
            it.edition.shapes.opens(it.edition.group)
                && (distinct || it.edition.group == Group::Law)
        })
    };
    let keys = |some: &dyn Fn(&[Candidate], &str) -> bool| {
        let rows = sorted.iter().enumerate().filter(|(_, (key, it))| some(it, key));
        rows.map(|(at, (key, _))| (key.as_bytes(), at)).collect::<Vec<_>>()
    };
    let all = Trie::build(&keys(&|_, _| true));
    let openers = Trie::build(&keys(&opens));
    ReporterTable { all, openers, spellings: sorted.into_iter().map(|(_, it)| it).collect() }
}

/// The keys of a name: blanks only between letters or digits, with and without stops where it
/// cannot be taken for a word.
fn keys(name: &str) -> Vec<String> {
    let mut found = vec![key(name)];
    let bare: String = name.replace('.', "");
    let series = bare.ends_with(['d', 'h']) && bare.bytes().any(|it| it.is_ascii_digit());
    let capitals = bare.bytes().filter(u8::is_ascii_uppercase).count();
    if series || (capitals >= 2 && bare.len() >= 3) {
        found.push(key(&bare));
        found.push(key(&bare).replace(' ', ""));
    }
    found.push(key(name).replace(' ', ""));
    found.retain(|it| it.len() > 1 || it == name);
    found.sort_unstable();
    found.dedup();
    found
}

fn key(name: &str) -> String {
    let bytes = name.as_bytes();
    let alone =
        |at: Option<usize>| at.and_then(|it| bytes.get(it)).is_some_and(u8::is_ascii_alphanumeric);
    let mut key = String::with_capacity(name.len());
    for (at, letter) in name.char_indices() {
        if letter != ' ' || (alone(at.checked_sub(1)) && alone(Some(at + 1))) {
            key.push(letter);
        }
    }
    key
}

/// The identifier of a court from what stands in brackets before the year. The word for a court
/// may be missing, and what only one name begins with is enough.
pub(crate) fn court(name: &str) -> Option<&'static str> {
    static NAMES: LazyLock<Vec<(String, &'static str)>> = LazyLock::new(|| {
        let rows = COURTS.lines().filter(|it| !it.starts_with('#'));
        let mut rows: Vec<_> = rows
            .filter_map(|it| it.split_once('\t'))
            .map(|(name, id)| (squash(name), id))
            .collect();
        rows.sort();
        rows
    });
    let name = squash(name);
    if name.is_empty() {
        return None;
    }
    let from = NAMES.partition_point(|it| it.0 < name);
    let mut begun = NAMES.iter().skip(from).take_while(|it| it.0.starts_with(&name)).take(64);
    let first = begun.next()?;
    let court = |it: &str| it.len() == name.len() + 2 && it.ends_with("ct");
    if first.0 == name || court(&first.0) {
        return Some(first.1);
    }
    match begun.find(|it| court(&it.0)) {
        Some(found) => Some(found.1),
        None => {
            let alone = NAMES.get(from + 1).is_none_or(|it| !it.0.starts_with(&name));
            (alone && name.len() >= 5).then_some(first.1)
        }
    }
}

fn squash(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn courts_are_found_however_they_are_punctuated() {
        for (name, id) in [
            ("8th Cir.", Some("ca8")),
            ("D Utah", Some("utd")),
            ("Pa.Super.", Some("pasuperct")),
            ("Bankr.D. Kan.", Some("ksb")),
            ("SC", Some("sc")),
            ("Mich. Ct. App.", Some("michctapp")),
            ("Sup. Ct.", None),
            ("nowhere", None),
            ("", None),
        ] {
            assert_eq!(court(name), id, "{name}");
        }
    }

    #[test]
    fn the_year_decides_between_editions_of_one_name() {
        let mut hits = Vec::new();
        let text = crate::text::ScanText::new("P.R. ");
        TABLE.all.walk(&text, 0, &mut hits);
        let candidates = TABLE.candidates(hits.last().unwrap().1);
        assert!(candidates.len() > 1);
        let chosen = |year| choose(candidates, Group::Case, year).map(|it| it.name);
        assert_eq!(chosen(Some(1831)), Some("Pen. & W."));
        assert_eq!(chosen(Some(1500)), None);
    }
}
