//! Finds the name of a case before its citation by reading backwards word by word, at most 260
//! bytes and never into the previous citation.

use crate::citation::{Citation, Span};
use crate::tail::{self, DateParenthetical};
use crate::text::ScanText;
use crate::words::{abbreviation, capital, company, connects, signal};

const BACK_MAX: usize = 260;
const WORDS_MAX: usize = 30;
const WORD_MAX: usize = 48;
/// The most words of a name that has no `v.`.
const ALONE_MAX: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameUse {
    /// The name of a case before volume and page.
    Case,
    /// The name before `supra`, which may be a lower-case word.
    Antecedent,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Name {
    plaintiff: Option<Span>,
    defendant: Option<Span>,
    antecedent: Option<Span>,
    docket: Option<Span>,
    pin: Option<Span>,
    pub(crate) dated: Option<DateParenthetical>,
    start: usize,
}

impl Name {
    /// Writes the parts of the name into a citation.
    pub(crate) fn fill<'t>(&self, text: &ScanText<'t>, cite: &mut Citation<'t>, short: bool) {
        let slice = |it: Span| text.slice(it.start, it.end);
        cite.plaintiff = self.plaintiff.map(slice);
        cite.defendant = self.defendant.map(slice);
        cite.antecedent = self.antecedent.or(self.defendant.filter(|_| short)).map(slice);
        cite.number = cite.number.or(self.docket.map(slice));
        cite.pin_cite = cite.pin_cite.or(self.pin.map(slice));
        cite.full_span.start = cite.full_span.start.min(self.start);
    }
}

/// The state of the backward scan.
struct NameScan {
    /// The end of the name.
    end: usize,
    /// The start of the words that were accepted so far.
    start: Option<usize>,
    versus: Option<Span>,
    /// The start of the name of the only party, after `In re`.
    sole: Option<usize>,
    docket: Option<Span>,
    words: usize,
}

enum ScanStep {
    On(usize),
    Stop,
}

pub(crate) fn before(text: &ScanText<'_>, end: usize, floor: usize, want: NameUse) -> Option<Name> {
    let floor = floor.max(end.saturating_sub(BACK_MAX));
    let mut name = Name::default();
    let mut at = trim(text, end, floor);
    if let Some((open, dated)) = tail::dated_before(text, at, floor) {
        name.dated = Some(dated);
        at = trim(text, open, floor);
    }
    if let Some(pin) = pin_before(text, at, floor) {
        name.pin = Some(pin);
        at = trim(text, pin.start, floor);
    }
    let mut walk =
        NameScan { end: at, start: None, versus: None, sole: None, docket: None, words: 0 };
    for _ in 0..WORDS_MAX {
        match step(text, at, floor, &mut walk) {
            ScanStep::On(next) => at = next,
            ScanStep::Stop => break,
        }
    }
    if walk.start.is_none() && want == NameUse::Antecedent {
        let small = word_before(text, walk.end, floor)?;
        let comma = text.at(walk.end) == b',';
        if !comma || !text.slice(small.start, small.end).bytes().all(|it| it.is_ascii_alphabetic())
        {
            return None;
        }
        name.antecedent = Some(small);
        name.start = small.start;
        return Some(name);
    }
    finish(text, name, &walk, floor)
}

fn finish(text: &ScanText<'_>, mut name: Name, walk: &NameScan, floor: usize) -> Option<Name> {
    let Some(start) = walk.start.filter(|it| *it < walk.end) else {
        name.start = walk.end;
        return name.dated.is_some().then_some(name);
    };
    name.docket = walk.docket;
    name.start = start;
    if let Some(versus) = walk.versus {
        let from = text.skip(versus.end);
        name.defendant = (from < walk.end).then_some(Span::new(from, walk.end));
        let plaintiff = trim(text, versus.start, floor);
        name.plaintiff = (start < plaintiff).then_some(Span::new(start, plaintiff));
    } else if let Some(sole) = walk.sole {
        name.defendant = (sole < walk.end).then_some(Span::new(sole, walk.end));
    } else if text.has(start, "Matter of ") {
        name.defendant = Some(Span::new(start + "Matter of ".len(), walk.end));
    } else {
        // Words that end in a digit and a full stop are the previous sentence: `in May 1950. 5 U.S.
        // 10`.
        let over = text.before(walk.end) == b'.' && text.before(walk.end - 1).is_ascii_digit();
        let alone = walk.words <= ALONE_MAX && !over;
        name.antecedent = alone.then_some(Span::new(start, walk.end));
        name.antecedent?;
    }
    Some(name)
}

fn step(text: &ScanText<'_>, at: usize, floor: usize, walk: &mut NameScan) -> ScanStep {
    let Some(word) = word_before(text, at, floor) else { return ScanStep::Stop };
    let raw = text.slice(word.start, word.end);
    let bare = raw.trim_start_matches(['(', '[', '"', '\'', '\u{201c}', '\u{2018}']);
    let opened = bare.len() < raw.len();
    let from = word.end - bare.len();
    let next = text.skip_back(word.start, floor);
    if bare.is_empty() || bare.ends_with([';', ':', '"', '\u{201d}', '\u{2014}', '?', '!']) {
        return ScanStep::Stop;
    }
    if bare.ends_with([')', ']']) || bare.ends_with("),") {
        return group(text, word, floor, walk);
    }
    if matches!(bare, "v." | "v" | "vs." | "vs") {
        if walk.versus.is_some() || walk.start.is_none() {
            return ScanStep::Stop;
        }
        walk.versus = Some(word);
        walk.start = Some(word.start);
        return ScanStep::On(next);
    }
    if matches!(bare, "re" | "parte") && walk.versus.is_none() {
        let first = word_before(text, next, floor);
        let fits = |it: &Span| {
            let word = text.slice(it.start, it.end);
            word.ends_with("In") || word.ends_with("in") || word.ends_with("Ex")
        };
        if let (Some(first), Some(_)) = (first.filter(fits), walk.start) {
            walk.sole = Some(text.skip(word.end));
            walk.start = Some(first.end - 2);
        }
        return ScanStep::Stop;
    }
    if bare.starts_with("supra") && walk.start.is_none() {
        walk.end = trim(text, word.start, floor);
        return ScanStep::On(walk.end);
    }
    // A star page, such as `*12`, is not part of the name.
    if bare.starts_with('*') && walk.start.is_none() {
        walk.end = trim(text, word.start, floor);
        return ScanStep::On(walk.end);
    }
    let docket = matches!(bare, "No." | "Nos." | "Docket" | "Case") && text.before(next) == b',';
    if docket && walk.versus.is_none() {
        let number = text.skip(word.end);
        walk.docket = (number < walk.end).then_some(Span::new(number, walk.end));
        walk.end = trim(text, word.start, floor);
        (walk.start, walk.words) = (None, 0);
        return ScanStep::On(walk.end);
    }
    accept(text, bare, from, next, opened, walk)
}

fn accept(
    text: &ScanText<'_>,
    bare: &str,
    from: usize,
    next: usize,
    opened: bool,
    walk: &mut NameScan,
) -> ScanStep {
    let plain = bare.trim_end_matches(',');
    if !capital(plain) {
        let small = connects(plain) || plain.starts_with(|it: char| it.is_ascii_digit());
        return if small && !opened { ScanStep::On(next) } else { ScanStep::Stop };
    }
    if plain == "The" && walk.words > 0 && (walk.versus.is_some() || walk.words <= 4) {
        walk.start = Some(from);
        let opposed = ["v.", "v", "vs."].iter().any(|it| ends_with_word(text, next, it));
        return if opposed && walk.versus.is_none() { ScanStep::On(next) } else { ScanStep::Stop };
    }
    if signal(plain) {
        return ScanStep::Stop;
    }
    if let Some(start) = walk.start {
        // A full stop ends the previous sentence unless the word is an abbreviation.
        if plain.ends_with('.') && !abbreviation(plain) {
            return ScanStep::Stop;
        }
        // A comma is inside a name only between parties and before a form of company such as
        // `Inc.`.
        let list = walk.versus.is_none() && bare.ends_with(',');
        if list && !company(text.slice(start, walk.end)) && !versus_near(text, next) {
            return ScanStep::Stop;
        }
    }
    walk.start = Some(from);
    walk.words += 1;
    if opened { ScanStep::Stop } else { ScanStep::On(next) }
}

fn ends_with_word(text: &ScanText<'_>, end: usize, word: &str) -> bool {
    let start = end.saturating_sub(word.len());
    text.slice(start, end) == word && start > 0 && text.blank(start - 1) > 0
}

/// Whether one of the ten words before `at` is `v.`.
fn versus_near(text: &ScanText<'_>, at: usize) -> bool {
    let mut at = at;
    for _ in 0..10 {
        let Some(word) = word_before(text, at, at.saturating_sub(WORD_MAX * 2)) else {
            return false;
        };
        match text.slice(word.start, word.end) {
            "v." | "v" | "vs." | "vs" => return true,
            it if it.ends_with([';', '"', '\u{201d}']) => return false,
            _ => at = text.skip_back(word.start, 0),
        }
    }
    false
}

/// Skips brackets within a name: `(In re Hatch)`.
fn group(text: &ScanText<'_>, word: Span, floor: usize, walk: &mut NameScan) -> ScanStep {
    let low = floor.max(word.end.saturating_sub(80));
    let close = (low..word.end).rev().find(|it| matches!(text.at(*it), b')' | b']'));
    let Some(close) = close else { return ScanStep::Stop };
    let open = (low..close).rev().find(|it| matches!(text.at(*it), b'(' | b'[' | b')' | b']'));
    match open {
        // Brackets without a letter are the number of a footnote.
        Some(open)
            if matches!(text.at(open), b'(' | b'[')
                && open > floor
                && text.slice(open, close).contains(char::is_alphabetic) =>
        {
            walk.start = Some(open);
            ScanStep::On(text.skip_back(open, floor))
        }
        _ => ScanStep::Stop,
    }
}

/// The last word before `at`.
fn word_before(text: &ScanText<'_>, at: usize, floor: usize) -> Option<Span> {
    let end = text.skip_back(at, floor);
    let mut start = end;
    while start > floor && !matches!(text.before(start), b' ' | b'\n' | b'\t' | b'\r') {
        if text.before(start) == 0xa0 && start >= floor + 2 && text.at(start - 2) == 0xc2 {
            break;
        }
        start -= 1;
        if end - start > WORD_MAX {
            return None;
        }
    }
    // `floor` may be inside a character.
    while start < end && (text.at(start) & 0xc0) == 0x80 {
        start += 1;
    }
    (start < end).then_some(Span::new(start, end))
}

/// The end of a name without trailing white space, commas, opening brackets and footnote numbers.
fn trim(text: &ScanText<'_>, end: usize, floor: usize) -> usize {
    let mut at = end;
    loop {
        let mut next = text.skip_back(at, floor);
        if next > floor && matches!(text.before(next), b',' | b'[') {
            next -= 1;
        }
        // The number of a footnote: `[12]`.
        if next > floor && text.before(next) == b']' {
            let low = floor.max(next.saturating_sub(5));
            let open = (low..next - 1).rev().find(|it| !text.at(*it).is_ascii_digit());
            next = open.filter(|it| text.at(*it) == b'[').unwrap_or(next);
        }
        if next == at || end - next > 40 {
            return next;
        }
        at = next;
    }
}

/// The pin cite `at 332` that precedes a citation and its comma.
fn pin_before(text: &ScanText<'_>, end: usize, floor: usize) -> Option<Span> {
    let page = word_before(text, end, floor)?;
    if !text.at(page.start).is_ascii_digit() || !text.before(page.end).is_ascii_digit() {
        return None;
    }
    let at = word_before(text, text.skip_back(page.start, floor), floor)?;
    (text.slice(at.start, at.end) == "at").then_some(Span::new(at.start, page.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parties<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

    #[track_caller]
    fn check(words: &str, expected: Parties<'_>) {
        let text = ScanText::new(words);
        let found = before(&text, words.len(), 0, NameUse::Case).unwrap_or_default();
        let slice = |it: Option<Span>| it.map(|it| text.slice(it.start, it.end));
        let parties = (slice(found.plaintiff), slice(found.defendant), slice(found.antecedent));
        assert_eq!(parties, expected, "{words}");
    }

    #[test]
    fn names_begin_where_prose_ends() {
        let both = |left, right| (Some(left), Some(right), None);
        check("as held in Able v. Baker, ", both("Able", "Baker"));
        check(
            "See also Able Mfg. Co. v. Baker & Sons, Inc., ",
            both("Able Mfg. Co.", "Baker & Sons, Inc."),
        );
        check("It was so. Able v. City of Lansing, ", both("Able", "City of Lansing"));
        check("People v Able, ", both("People", "Able"));
        check("(quoting Able vs. Baker ", both("Able", "Baker"));
        check("State ex rel. Able v. Baker (1999) ", both("State ex rel. Able", "Baker"));
        check("Able v. Baker, No. 12 Civ. 34 (ABC), ", both("Able", "Baker"));
        check("Able v. Baker (In re Carson), ", both("Able", "Baker (In re Carson)"));
        check("The rule of In re Able, ", (None, Some("Able"), None));
        check("Ex parte Able Baker, ", (None, Some("Able Baker"), None));
        check("the court in Able Baker, ", (None, None, Some("Able Baker")));
        check("Able Oil Co. v. The Marigold, ", both("Able Oil Co.", "The Marigold"));
        check("as in The Marigold, ", (None, None, Some("The Marigold")));
        check("Able v. Baker, *168 ", both("Able", "Baker"));
        check("[3] Able v. Baker, ", both("Able", "Baker"));
        check("Able v. Baker,[12] ", both("Able", "Baker"));
        check("nothing of the kind, ", (None, None, None));
        check("“so it is said”, ", (None, None, None));
        check("", (None, None, None));
    }
}
