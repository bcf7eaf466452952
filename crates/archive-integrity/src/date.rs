//! Dates as people write them: `2021-03-04`, `03/04/2021`, `04.03.2021`, `March 4, 2021`,
//! `4th day of March 2021`, `March 2021`, `in 2021`, `4 марта 2021 г.`. It computes no dates.

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

const MONTHS: [(&str, u8); 48] = [
    ("january", 1),
    ("february", 2),
    ("march", 3),
    ("april", 4),
    ("may", 5),
    ("june", 6),
    ("july", 7),
    ("august", 8),
    ("september", 9),
    ("october", 10),
    ("november", 11),
    ("december", 12),
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sept", 9),
    ("sep", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
    ("января", 1),
    ("февраля", 2),
    ("марта", 3),
    ("апреля", 4),
    ("мая", 5),
    ("июня", 6),
    ("июля", 7),
    ("августа", 8),
    ("сентября", 9),
    ("октября", 10),
    ("ноября", 11),
    ("декабря", 12),
    ("январе", 1),
    ("феврале", 2),
    ("марте", 3),
    ("апреле", 4),
    ("мае", 5),
    ("июне", 6),
    ("июле", 7),
    ("августе", 8),
    ("сентябре", 9),
    ("октябре", 10),
    ("ноябре", 11),
    ("декабре", 12),
];

pub(crate) fn month(word: &Word<'_>) -> Option<u8> {
    let folded = word.fold();
    let latin = folded.is_ascii();
    let number = MONTHS.iter().find(|(name, _)| *name == folded).map(|(_, it)| *it)?;
    (!latin || word.is_capital()).then_some(number)
}

/// Whether a stem is that of a month.
pub(crate) fn is_month(base: &str) -> bool {
    base.len() > 2 && MONTHS.iter().any(|it| it.0 == base || stem(it.0) == base)
}

fn figures(word: &Word<'_>) -> Option<u32> {
    let plain = word.text.len() <= 4 && word.text.bytes().all(|it| it.is_ascii_digit());
    plain.then(|| word.text.parse().ok()).flatten()
}

fn day(word: &Word<'_>) -> Option<u8> {
    let text = word.text.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']);
    let number: u8 = (text.len() <= 2).then(|| text.parse().ok()).flatten()?;
    (1..=31).contains(&number).then_some(number)
}

fn year(word: &Word<'_>) -> Option<u16> {
    let number = figures(word).filter(|it| word.text.len() == 4 && (1700..2200).contains(it))?;
    u16::try_from(number).ok()
}

/// All dates among the words, in order, none overlapping.
pub(crate) fn find(text: &str, words: &[Word<'_>]) -> Vec<DateMention> {
    let mut list: Vec<DateMention> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let floor = list.last().map_or(0, |it| it.words.1);
        let found = in_figures(text, words, at)
            .or_else(|| with_month(text, words, at, floor))
            .or_else(|| alone(words, at));
        at = match found {
            Some((first, end, date, ambiguous)) => {
                let span = Span { start: words[first].start, end: words[end - 1].end };
                list.push(DateMention { date, ambiguous, span, words: (first, end) });
                end
            }
            None => at + 1,
        };
    }
    list
}

type Hit = (usize, usize, Date, bool);

fn gap<'t>(text: &'t str, words: &[Word<'_>], at: usize) -> &'t str {
    match (words.get(at), words.get(at + 1)) {
        (Some(one), Some(next)) => &text[one.end..next.start],
        _ => "",
    }
}

fn in_figures(text: &str, words: &[Word<'_>], at: usize) -> Option<Hit> {
    let mark = gap(text, words, at);
    if !matches!(mark, "/" | "-" | ".") || gap(text, words, at + 1) != mark {
        return None;
    }
    let parts = [words.get(at)?, words.get(at + 1)?, words.get(at + 2)?];
    let [one, two, three] = [figures(parts[0])?, figures(parts[1])?, figures(parts[2])?];
    let end = at + 3;
    let whole = |year: u32, month: u32, day: u32| {
        let (year, month, day) =
            (u16::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?);
        let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && year > 1700;
        fits.then_some(Date { year: Some(year), month: Some(month), day: Some(day) })
    };
    if parts[0].text.len() == 4 {
        return whole(one, two, three).map(|date| (at, end, date, false));
    }
    let year = match parts[2].text.len() {
        4 => three,
        2 if mark == "/" => 2000 + three,
        _ => return None,
    };
    if mark == "." {
        return whole(year, two, one).map(|date| (at, end, date, false));
    }
    let date = whole(year, one, two).or_else(|| whole(year, two, one))?;
    Some((at, end, date, true))
}

/// A month in letters with the day and the year around it.
fn with_month(text: &str, words: &[Word<'_>], at: usize, floor: usize) -> Option<Hit> {
    let number = month(&words[at])?;
    let close = |at: usize| {
        gap(text, words, at).chars().all(|it| it.is_whitespace() || matches!(it, ',' | '.' | '-'))
    };
    let before = day_before(words, at, floor).filter(|it| (*it..at).all(close));
    let after = words.get(at + 1).filter(|_| close(at));
    let (mut first, mut end) = (at, at + 1);
    let mut date = Date { month: Some(number), ..Date::default() };
    if let Some(from) = before {
        (first, date.day) = (from, day(&words[from]));
        if words.get(end).is_some_and(|it| it.fold() == "of") {
            end += 1;
        }
        date.year = words.get(end).filter(|_| close(end - 1)).and_then(year);
        end = if date.year.is_some() { end + 1 } else { at + 1 };
    } else if let Some(found) = after.and_then(day) {
        (date.day, end) = (Some(found), at + 2);
        date.year = words.get(end).filter(|_| close(at + 1)).and_then(year);
        end += usize::from(date.year.is_some());
    } else {
        let skip = usize::from(after.is_some_and(|it| it.fold() == "of"));
        date.year = words.get(at + 1 + skip).filter(|_| close(at)).and_then(year);
        end += date.year.map_or(0, |_| 1 + skip);
    }
    (date.day.is_some() || date.year.is_some()).then_some((first, end, date, false))
}

fn day_before(words: &[Word<'_>], at: usize, floor: usize) -> Option<usize> {
    let mut from = at.checked_sub(1)?;
    if words[from].fold() == "of" {
        from = from.checked_sub(1)?;
        if words[from].fold() == "day" {
            from = from.checked_sub(1)?;
        }
    }
    (from >= floor && day(&words[from]).is_some()).then_some(from)
}

const YEAR_AFTER: [&str; 13] = [
    "in", "of", "since", "year", "by", "from", "until", "during", "through", "early", "late", "to",
    "в",
];

/// A year that a preposition or «год» marks.
fn alone(words: &[Word<'_>], at: usize) -> Option<Hit> {
    let year = year(&words[at]).filter(|it| (1900..2100).contains(it))?;
    let lead = at.checked_sub(1).is_some_and(|it| YEAR_AFTER.contains(&words[it].fold().as_str()));
    let tail = words.get(at + 1).is_some_and(|it| it.fold().starts_with("год"));
    (lead || tail).then_some((at, at + 1, Date { year: Some(year), ..Date::default() }, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    #[track_caller]
    fn check(text: &str, want: &[(u16, u8, u8)]) {
        let got: Vec<_> = find(text, &words(text))
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
            "4 марта 2021 года",
        ] {
            check(text, &[(2021, 3, 4)]);
        }
        check("March 2021", &[(2021, 3, 0)]);
        check("March 4 and March 9, 2020", &[(0, 3, 4), (2020, 3, 9)]);
        check("in 2019", &[(2019, 0, 0)]);
        check("you may 3 times march", &[]);
        check("since 2019 to 2020", &[(2019, 0, 0), (2020, 0, 0)]);
    }
}
