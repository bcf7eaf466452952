//! Splits a question into words, numbers, dates and punctuation marks, without interpreting them.

use jiff::civil::Date;
pub(crate) use text::fold::lower;
use text::stem::without_case_ending;
use text::tokens::{Cut, TokenKind, tokens};

/// Most words of one message that are read; the middle of a longer message is skipped.
const WORDS_MAX: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum WordKind {
    Latin,
    Cyrillic,
    /// A number; the flag is true if a percent sign follows.
    Number(f64, bool),
    Date(Date),
    /// Text in the form of a date that is not a valid date.
    InvalidDate,
    Mark(char),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// The word in lower case, with `ё` as `е`.
    pub(crate) lower: String,
    pub(crate) stem: String,
    pub(crate) kind: WordKind,
    /// Whether it is the first word of a sentence.
    pub(crate) first: bool,
    /// Whether it is inside quotation marks.
    pub(crate) quoted: bool,
    /// Whether it follows the previous word without a space.
    pub(crate) glued: bool,
}

impl Word {
    pub(crate) fn is_letters(&self) -> bool {
        matches!(self.kind, WordKind::Latin | WordKind::Cyrillic)
    }

    pub(crate) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self.kind {
            WordKind::Number(value, _) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn percent(&self) -> Option<f64> {
        match self.kind {
            WordKind::Number(value, true) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn is_mark(&self, marks: &[char]) -> bool {
        matches!(self.kind, WordKind::Mark(mark) if marks.contains(&mark))
    }
}

pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut all: Vec<Word> = Vec::new();
    let (mut first, mut quoted) = (true, false);
    for token in tokens(text, CUT) {
        for _ in 0..token.breaks {
            first = true;
            all.push(mark('\n'));
        }
        let written = &text[token.start..token.end];
        let glued = token.is_glued();
        match written.chars().next() {
            Some(current) if token.kind == TokenKind::Mark => {
                if current.is_control() {
                    continue;
                }
                quoted = match current {
                    '«' | '“' | '„' => true,
                    '»' | '”' => false,
                    '"' => !quoted,
                    _ => quoted,
                };
                first |= matches!(current, '.' | '!' | '?');
                all.push(Word { glued, ..mark(current) });
            }
            _ => {
                let percent = after_spaces(&text[token.end..]) == Some('%');
                let written = unmixed(written.to_owned());
                all.push(Word { glued, ..word(&written, percent, first, quoted) });
                first = false;
            }
        }
    }
    // Of a long message, only the beginning and the end are read, because one of them has the
    // question.
    if all.len() > WORDS_MAX {
        all.drain(WORDS_MAX / 2..all.len() - WORDS_MAX / 2);
        // A line break keeps words on both sides of the gap apart.
        all.insert(WORDS_MAX / 2, mark('\n'));
    }
    all
}

/// Cyrillic and Latin letters that look alike.
const ALIKE: [(char, char); 17] = [
    ('А', 'A'),
    ('В', 'B'),
    ('Е', 'E'),
    ('К', 'K'),
    ('М', 'M'),
    ('Н', 'H'),
    ('О', 'O'),
    ('Р', 'P'),
    ('С', 'C'),
    ('Т', 'T'),
    ('Х', 'X'),
    ('а', 'a'),
    ('е', 'e'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('х', 'x'),
];

/// Returns a word of mixed alphabets in one alphabet, if the letters of the other have look-alikes.
fn unmixed(text: String) -> String {
    let latin = |it: char| it.is_ascii_alphabetic();
    let cyrillic = |it: char| matches!(it, 'А'..='я' | 'ё' | 'Ё');
    // A number stays as written, so that the citation check finds it in the question.
    let numeric = text.starts_with(|it: char| it.is_ascii_digit());
    if numeric || !(text.chars().any(latin) && text.chars().any(cyrillic)) {
        return text;
    }
    let to_latin = |it: char| ALIKE.iter().find(|(from, _)| *from == it).map(|(_, to)| *to);
    let to_cyrillic = |it: char| ALIKE.iter().find(|(_, from)| *from == it).map(|(to, _)| *to);
    if text.chars().filter(|it| cyrillic(*it)).all(|it| to_latin(it).is_some()) {
        text.chars().map(|it| to_latin(it).unwrap_or(it)).collect()
    } else if text.chars().filter(|it| latin(*it)).all(|it| to_cyrillic(it).is_some()) {
        text.chars().map(|it| to_cyrillic(it).unwrap_or(it)).collect()
    } else {
        text
    }
}

fn mark(mark: char) -> Word {
    let text = mark.to_string();
    Word {
        lower: text.clone(),
        text,
        stem: String::new(),
        kind: WordKind::Mark(mark),
        first: false,
        quoted: false,
        glued: false,
    }
}

fn after_spaces(rest: &str) -> Option<char> {
    rest.chars().find(|it| *it == '\n' || !it.is_whitespace())
}

/// Dates, decimals, tickers and names with a point or a dash are one word each.
const CUT: Cut = Cut { digits_apart: false, joins };

fn joins(token: &str, rest: &str) -> bool {
    let mut chars = rest.chars();
    let (Some(current), Some(next)) = (chars.next(), chars.next()) else { return false };
    let digits_only = || token.bytes().all(|it| it.is_ascii_digit());
    let figures = || token.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    match current {
        '-' if next.is_ascii_digit() && is_percent(&rest[1..]) => false,
        '-' | '&' if next.is_alphanumeric() => !figures() || is_iso_date(token, rest),
        '.' if next.is_ascii_digit() => token.ends_with(|it: char| it.is_ascii_digit()),
        '.' if next.is_alphabetic() => token.chars().count() <= 3 && !digits_only(),
        ',' => digits_only() && next.is_ascii_digit(),
        _ => false,
    }
}

/// Reports whether the digits here are a percentage: `SBER-40%`.
fn is_percent(rest: &str) -> bool {
    let digits = |it: char| it.is_ascii_digit() || it == ',' || it == '.';
    after_spaces(rest.trim_start_matches(digits)) == Some('%')
}

/// Reports whether a token and what follows begin with `YYYY-MM-DD`.
fn is_iso_date(token: &str, rest: &str) -> bool {
    let mut bytes = token.bytes().chain(rest.bytes());
    let form = b"dddd-dd-d";
    form.iter().all(|it| match (it, bytes.next()) {
        (b'd', Some(found)) => found.is_ascii_digit(),
        (mark, found) => found == Some(*mark),
    })
}

fn word(text: &str, percent: bool, first: bool, quoted: bool) -> Word {
    let lower = lower(text);
    let kind = match (date(text), number(text)) {
        (Some(date), _) => WordKind::Date(date),
        (None, Some(value)) => WordKind::Number(value, percent),
        _ if like_date(text) => WordKind::InvalidDate,
        _ if lower.chars().any(|it| ('а'..='я').contains(&it)) => WordKind::Cyrillic,
        _ => WordKind::Latin,
    };
    let stem = without_case_ending(&lower).to_owned();
    Word { stem, text: text.to_owned(), lower, kind, first, quoted, glued: false }
}

fn number(text: &str) -> Option<f64> {
    let plain = text.replace(',', ".");
    let digits = plain.chars().all(|it| it.is_ascii_digit() || it == '.');
    plain.parse().ok().filter(|value: &f64| digits && value.is_finite())
}

/// Reports whether a text is three numbers separated by points or dashes, like a date.
fn like_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '.']).collect();
    let digits = |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(digits) && parts.iter().any(|it| it.len() == 4)
}

/// Parses `2024-03-01`, `01.03.2024` or `01.03.24`.
fn date(text: &str) -> Option<Date> {
    let dashed: Vec<&str> = text.split('-').collect();
    let dotted: Vec<&str> = text.split('.').collect();
    let (year, month, day) = match (dashed.as_slice(), dotted.as_slice()) {
        ([year, month, day], _) if year.len() == 4 => (*year, *month, *day),
        (_, [day, month, year]) if year.len() == 4 || year.len() == 2 => (*year, *month, *day),
        _ => return None,
    };
    let century = if year.len() == 2 { 2_000 } else { 0 };
    let year = century + year.parse::<i16>().ok()?;
    Date::new(year, month.parse().ok()?, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words(text).into_iter().map(|it| it.text).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_text_is_split_into_words() {
        check("Сравни Лукойл, Роснефть!", &["Сравни", "Лукойл", ",", "Роснефть", "!"]);
        check("SBER 40%, GAZP 30.5 %", &["SBER", "40", "%", ",", "GAZP", "30.5", "%"]);
        check("Т-Технологии и М.видео.", &["Т-Технологии", "и", "М.видео", "."]);
        check("с 01.03.2024 по 2024-04-15.", &["с", "01.03.2024", "по", "2024-04-15", "."]);
        check("60/40", &["60", "/", "40"]);
        check("60-40", &["60", "-", "40"]);
        check("2019-2023", &["2019", "-", "2023"]);
        check("SBER-40%", &["SBER", "-", "40", "%"]);
        check("SВER и T-Технологии", &["SBER", "и", "Т-Технологии"]);
        check("\u{1b}[31mX\u{0}Y", &["[", "31mX", "Y"]);
    }

    #[test]
    fn numbers_and_dates_are_read() {
        let kinds = |text: &str| words(text)[0].kind;
        assert_eq!(kinds("0,4"), WordKind::Number(0.4, false));
        assert_eq!(kinds("40 %"), WordKind::Number(40.0, true));
        assert_eq!(kinds("15.03.24"), WordKind::Date(jiff::civil::date(2024, 3, 15)));
        assert_eq!(kinds("31.02.2024"), WordKind::InvalidDate);
        assert_eq!(kinds("6m"), WordKind::Latin);
    }
}
