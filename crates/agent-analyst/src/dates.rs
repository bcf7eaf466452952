//! When a question is about: days, months, quarters, years and stretches up to today, in Russian
//! and in English. Everything is relative to the day on which it is asked.

mod calendar;
mod stretch;

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::words::{Kind, Word};
use calendar::{clipped, quarter_at, year, year_at};

/// Days from the first to the last, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub from: Date,
    pub to: Date,
}

/// The tools give ten years at most.
const DAYS_MAX: i32 = 3_650;

impl Period {
    pub(crate) fn day(date: Date) -> Self {
        Self { from: date, to: date }
    }

    pub(crate) fn months_before(today: Date, months: i32) -> Self {
        Self { from: today.saturating_sub(months.months()), to: today }
    }

    pub fn is_day(&self) -> bool {
        self.from == self.to
    }

    /// In order, not after today, not longer than can be asked for.
    fn bounded(self, today: Date) -> Self {
        let (from, to) = (self.from.min(self.to), self.from.max(self.to).min(today));
        let from = from.min(to).max(to.saturating_sub(DAYS_MAX.days()));
        Self { from, to }
    }
}

/// What was read at one place of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) period: Period,
    /// How many words it takes.
    pub(crate) len: usize,
    /// Whether the year was said rather than guessed.
    pub(crate) dated: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Dates {
    pub(crate) period: Option<Period>,
    /// The words that speak of time, so that nobody takes them for names.
    pub(crate) used: Vec<bool>,
}

pub(crate) fn read(words: &[Word], today: Date) -> Dates {
    let mut used = vec![false; words.len()];
    let mut pieces: Vec<(usize, Piece)> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match piece_at(words, at, today) {
            Some(piece) => {
                used.iter_mut().skip(at).take(piece.len).for_each(|it| *it = true);
                pieces.push((at, piece));
                at += piece.len.max(1);
            }
            None => at += 1,
        }
    }
    let period = join(words, &pieces, today).map(|period| period.bounded(today));
    Dates { period, used }
}

fn piece_at(words: &[Word], at: usize, today: Date) -> Option<Piece> {
    stretch::at(words, at, today)
        .or_else(|| day_at(words, at, today))
        .or_else(|| quarter_at(words, at, today))
        .or_else(|| calendar::month_at(words, at, today))
        .or_else(|| year_at(words, at))
}

/// Two dates are the ends of a period; one after «с» or "since" is its beginning.
fn join(words: &[Word], pieces: &[(usize, Piece)], today: Date) -> Option<Period> {
    let (at, first) = *pieces.first()?;
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at));
    let since = before(at).is_some_and(|it| it.is(&["с", "со", "от", "since", "from", "between"]));
    if let Some((then, second)) = pieces.get(1) {
        let between = words.get(at + first.len..*then).unwrap_or_default();
        let joins = |it: &Word| {
            it.is(&["по", "до", "to", "till", "until", "through", "и", "and"])
                || it.is_mark(&['-', '–', '—'])
        };
        let near = between.len() <= 2 && between.iter().any(joins);
        if near {
            let from = if first.dated || !second.dated {
                first.period.from
            } else {
                with_year(first.period.from, second.period.from.year(), second.period.to)
            };
            return Some(Period { from, to: second.period.to });
        }
    }
    Some(if since { Period { from: first.period.from, to: today } } else { first.period })
}

/// The same day of a given year, or of the one before where that would end before it begins.
fn with_year(date: Date, year: i16, end: Date) -> Date {
    let on = |year: i16| Date::new(year, date.month(), date.day()).unwrap_or(date);
    if on(year) <= end { on(year) } else { on(year.saturating_sub(1)) }
}

fn day_at(words: &[Word], at: usize, today: Date) -> Option<Piece> {
    let word = words.get(at)?;
    if let Kind::Date(date) = word.kind {
        return Some(Piece { period: Period::day(date), len: 1, dated: true });
    }
    let back = match word.lower.as_str() {
        "сегодня" | "today" => Some(0),
        "вчера" | "yesterday" => Some(1),
        "позавчера" => Some(2),
        _ => None,
    };
    if let Some(back) = back {
        let day = today.saturating_sub(back.days());
        return Some(Piece { period: Period::day(day), len: 1, dated: true });
    }
    let month_of = |at: usize| words.get(at).and_then(calendar::month);
    let day_of = |at: usize| words.get(at).and_then(day_number);
    // «1 марта 2024», "1 March 2024" or "March 1, 2024".
    let (day, month, mut len) = match (day_of(at), month_of(at + 1)) {
        (Some(day), Some(month)) => (day, month, 2),
        _ => match (month_of(at), day_of(at + 1)) {
            (Some(month), Some(day)) => (day, month, 2),
            _ => return None,
        },
    };
    let comma = words.get(at + len).is_some_and(|it| it.is_mark(&[',']));
    let year_word =
        if comma && words.get(at).and_then(day_number).is_none() { len + 1 } else { len };
    let year = words.get(at + year_word).and_then(year);
    if year.is_some() {
        len = year_word + 1;
        let said = |it: &Word| it.is(&["год", "года", "году", "г"]);
        len += usize::from(words.get(at + len).is_some_and(said));
    }
    let date = Date::new(year.unwrap_or(today.year()), month, day).ok()?;
    let date = match year {
        None if date > today => Date::new(today.year().saturating_sub(1), month, day).ok()?,
        _ => date,
    };
    Some(Piece { period: Period::day(date), len, dated: year.is_some() })
}

fn day_number(word: &Word) -> Option<i8> {
    let text = ["st", "nd", "rd", "th", "-го", "го"]
        .iter()
        .find_map(|it| word.lower.strip_suffix(it))
        .unwrap_or(&word.lower);
    let percent = word.percent().is_some();
    text.parse().ok().filter(|day| (1..=31).contains(day) && !percent)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::words::words;

    /// A Friday.
    const TODAY: Date = date(2024, 6, 14);

    #[track_caller]
    fn check(text: &str, from: Date, to: Date) {
        let found = read(&words(text), TODAY).period;
        assert_eq!(found, Some(Period { from, to }), "{text}");
    }

    #[test]
    fn stretches_up_to_today() {
        for text in ["за последний месяц", "за месяц", "over the last month", "past month", "1m"]
        {
            check(text, date(2024, 5, 14), TODAY);
        }
        for text in ["за год", "за последний год", "for a year", "last 12 months", "1y"]
        {
            check(text, date(2023, 6, 14), TODAY);
        }
        check("за неделю", date(2024, 6, 7), TODAY);
        check("за последние две недели", date(2024, 5, 31), TODAY);
        check("за пару недель", date(2024, 5, 31), TODAY);
        check("за 3 месяца", date(2024, 3, 14), TODAY);
        check("последние пять лет", date(2019, 6, 14), TODAY);
        check("за полгода", date(2023, 12, 14), TODAY);
        check("за полтора года", date(2022, 12, 14), TODAY);
        check("за квартал", date(2024, 3, 14), TODAY);
        check("last 30 days", date(2024, 5, 15), TODAY);
        check("с начала года", date(2024, 1, 1), TODAY);
        check("YTD", date(2024, 1, 1), TODAY);
        check("year to date", date(2024, 1, 1), TODAY);
        check("since the beginning of the month", date(2024, 6, 1), TODAY);
        check("с начала недели", date(2024, 6, 10), TODAY);
        check("за 50 лет", TODAY.saturating_sub(3_650.days()), TODAY);
    }

    #[test]
    fn calendar_periods() {
        check("в 2023 году", date(2023, 1, 1), date(2023, 12, 31));
        check("in 2023", date(2023, 1, 1), date(2023, 12, 31));
        check("за 2024 год", date(2024, 1, 1), TODAY);
        check("в прошлом году", date(2023, 1, 1), date(2023, 12, 31));
        check("last year", date(2023, 1, 1), date(2023, 12, 31));
        check("в этом году", date(2024, 1, 1), TODAY);
        check("за прошлый месяц", date(2024, 5, 1), date(2024, 5, 31));
        check("last month", date(2024, 5, 1), date(2024, 5, 31));
        check("на прошлой неделе", date(2024, 6, 3), date(2024, 6, 9));
        check("в марте 2024", date(2024, 3, 1), date(2024, 3, 31));
        check("за март", date(2024, 3, 1), date(2024, 3, 31));
        check("в октябре", date(2023, 10, 1), date(2023, 10, 31));
        check("March 2023", date(2023, 3, 1), date(2023, 3, 31));
        check("в первом квартале 2024 года", date(2024, 1, 1), date(2024, 3, 31));
        check("Q4 2023", date(2023, 10, 1), date(2023, 12, 31));
        check("за 2 квартал 2023", date(2023, 4, 1), date(2023, 6, 30));
        check("первое полугодие 2023", date(2023, 1, 1), date(2023, 6, 30));
        check("с января по март 2024", date(2024, 1, 1), date(2024, 3, 31));
        check("с 2022 по 2023 год", date(2022, 1, 1), date(2023, 12, 31));
    }

    #[test]
    fn days_and_their_pairs() {
        check("вчера", date(2024, 6, 13), date(2024, 6, 13));
        check("today", TODAY, TODAY);
        check("15 марта 2024", date(2024, 3, 15), date(2024, 3, 15));
        check("с 1 марта по 15 апреля 2024", date(2024, 3, 1), date(2024, 4, 15));
        check("с 1 декабря по 15 января 2024", date(2023, 12, 1), date(2024, 1, 15));
        check("с 1 марта", date(2024, 3, 1), TODAY);
        check("since March 1, 2023", date(2023, 3, 1), TODAY);
        check("from March 1 to April 15 2024", date(2024, 3, 1), date(2024, 4, 15));
        check("01.03.2024-15.04.2024", date(2024, 3, 1), date(2024, 4, 15));
        check("2024-04-15 to 2024-03-01", date(2024, 3, 1), date(2024, 4, 15));
        check("30 декабря", date(2023, 12, 30), date(2023, 12, 30));
        check("с 1 мая 2030", TODAY, TODAY);
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in ["SBER 40%", "на 10 дней", "портфель 60/40", "may I ask", "год", ""]
        {
            assert_eq!(read(&words(text), TODAY).period, None, "{text}");
        }
    }
}
