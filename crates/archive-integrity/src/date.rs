//! The dates of a text with the words that they cover, and whether two dates may be the same day.
//! `text::dates` reads them; a year alone is read here, after a preposition.

use std::collections::HashSet;
use std::sync::LazyLock;

use text::{TokenList, TokenRow as _, dates, months};

use crate::Span;
use crate::text::{Word, stem};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Date {
    pub(crate) year: Option<u16>,
    pub(crate) month: Option<u8>,
    pub(crate) day: Option<u8>,
}

impl Date {
    /// The other reading of a numeric date, where day and month may be swapped.
    pub(crate) fn day_month_swapped(self) -> Option<Self> {
        let (month, day) = (self.month?, self.day?);
        (day <= 12 && day != month).then_some(Self { month: Some(day), day: Some(month), ..self })
    }

    /// Whether both may be the same day; a missing part matches any value.
    pub(crate) fn fits(self, other: Self) -> bool {
        fn open<T: PartialEq>(one: Option<T>, two: Option<T>) -> bool {
            one.zip(two).is_none_or(|(one, two)| one == two)
        }
        open(self.year, other.year) && open(self.month, other.month) && open(self.day, other.day)
    }

    /// The same date with fewer parts, itself first.
    pub(crate) fn views(self) -> [Self; 4] {
        [
            self,
            Self { year: None, ..self },
            Self { day: None, ..self },
            Self { month: None, day: None, ..self },
        ]
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct DateMention {
    pub(crate) date: Date,
    /// Written in figures with a stroke, so that day and month may be meant the other way round.
    pub(crate) ambiguous: bool,
    pub(crate) span: Span,
    /// First word, and the word after the last.
    pub(crate) words: (usize, usize),
}

/// The month that a word names; an English one needs a capital.
pub(crate) fn month(word: &Word<'_>) -> Option<u8> {
    let month = months::month(word.text)?;
    (!word.text.is_ascii() || word.is_capital()).then_some(month)
}

/// Whether a stem is that of a month.
pub(crate) fn is_month(base: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let forms = months::forms().map(text::fold::lower);
        forms.flat_map(|it| [stem(&it), it]).collect()
    });
    base.len() > 2 && STEMS.contains(base)
}

/// All dates in the sentences, in order, none overlapping.
pub(crate) fn find(text: &str, words: &[Word<'_>], sentences: &[Span]) -> Vec<DateMention> {
    let mut list: Vec<DateMention> = Vec::new();
    let mut first = 0;
    for sentence in sentences {
        let body = text.get(sentence.start..sentence.end).unwrap_or_default();
        if !body.bytes().any(|it| it.is_ascii_digit()) {
            continue;
        }
        let row = TokenList::new(body);
        let mut at = 0;
        while let Some(token) = row.tokens().get(at) {
            let (start, end) = match written(&row, at) {
                Some((date, end)) => {
                    let last = row.tokens().get(end - 1).map_or(token.end, |it| it.end);
                    let span =
                        Span { start: sentence.start + token.start, end: sentence.start + last };
                    push(&mut list, words, &mut first, span, date);
                    at = end;
                    continue;
                }
                None => (sentence.start + token.start, sentence.start + token.end),
            };
            if let Some(year) = year_alone(&row, at) {
                let date = Date { year: Some(year), ..Date::default() };
                push(&mut list, words, &mut first, Span { start, end }, (date, false));
            }
            at += 1;
        }
    }
    list
}

/// Adds a date with the words that its span covers; `first` is a word before it.
fn push(
    list: &mut Vec<DateMention>,
    words: &[Word<'_>],
    first: &mut usize,
    span: Span,
    (date, ambiguous): (Date, bool),
) {
    *first += words.get(*first..).unwrap_or_default().partition_point(|it| it.end <= span.start);
    let rest = words.get(*first..).unwrap_or_default();
    let count = rest.partition_point(|it| it.start < span.end);
    let covered = (*first, *first + count);
    // A date within a longer word, `v2021`, is none.
    let whole = rest.first().is_some_and(|it| it.start >= span.start)
        && rest.get(count.saturating_sub(1)).is_some_and(|it| it.end <= span.end);
    if count > 0 && whole {
        list.push(DateMention { date, ambiguous, span, words: covered });
    }
}

/// A date with a year, or a day and a month.
fn written(row: &TokenList<'_>, at: usize) -> Option<((Date, bool), usize)> {
    if !dates::may_begin(row, at) {
        return None;
    }
    let (it, end) = dates::date(row, at).or_else(|| dates::without_year(row, at))?;
    let year = it.year.and_then(|it| u16::try_from(it).ok());
    Some(((Date { year, month: Some(it.month), day: it.day }, it.ambiguous), end))
}

/// Words before a year that stands alone.
const YEAR_AFTER: [&str; 13] = [
    "in", "of", "since", "year", "by", "from", "until", "during", "through", "early", "late", "to",
    "в",
];

/// A year that a preposition or «год» marks.
fn year_alone(row: &TokenList<'_>, at: usize) -> Option<u16> {
    let year = dates::year(row, at).filter(|it| (1900..2100).contains(it))?;
    let lead = at.checked_sub(1).is_some_and(|it| YEAR_AFTER.contains(&row.lower(it)));
    let tail = row.lower(at + 1).starts_with("год");
    u16::try_from(year).ok().filter(|_| lead || tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{sentences, words};

    #[track_caller]
    fn check(text: &str, want: &[(u16, u8, u8)]) {
        let got: Vec<_> = find(text, &words(text), &sentences(text))
            .iter()
            .map(|it| {
                let date = it.date;
                (date.year.unwrap_or(0), date.month.unwrap_or(0), date.day.unwrap_or(0))
            })
            .collect();
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn every_usual_date_format_gives_the_same_day() {
        for text in [
            "on March 4, 2021",
            "Mar. 4, 2021",
            "4 March 2021",
            "4th day of March, 2021",
            "the 4th of March 2021",
            "2021-03-04",
            "03/04/2021",
            "3/4/21",
            "04.03.2021",
            "4-Mar-2021",
            "«4» марта 2021 г.",
            "4 марта 2021 года",
        ] {
            check(text, &[(2021, 3, 4)]);
        }
        check("March 2021", &[(2021, 3, 0)]);
        check("за март 2021 года", &[(2021, 3, 0)]);
        check("March 4 and March 9, 2020", &[(0, 3, 4), (2020, 3, 9)]);
        check("in 2019", &[(2019, 0, 0)]);
        check("you may 3 times march", &[]);
        check("since 2019 to 2020", &[(2019, 0, 0), (2020, 0, 0)]);
    }
}
