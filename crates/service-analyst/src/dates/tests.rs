//! Tests of period reading; the current day is a Friday.

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
fn periods_up_to_today() {
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
    check("за 50 лет", date(2014, 6, 14), TODAY);
    check("за 10 лет", date(2014, 6, 14), TODAY);
}

#[test]
fn calendar_periods() {
    check("в 2023 году", date(2023, 1, 1), date(2023, 12, 31));
    check("за 22 год", date(2022, 1, 1), date(2022, 12, 31));
    check("в 21 году", date(2021, 1, 1), date(2021, 12, 31));
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
fn single_days_and_ranges() {
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
}

#[test]
fn text_without_a_period_gives_none() {
    for text in ["SBER 40%", "на 10 дней", "портфель 60/40", "may I ask", "год", ""]
    {
        assert_eq!(read(&words(text), TODAY).period, None, "{text}");
    }
}

#[test]
fn days_of_one_month() {
    for text in [
        "с 3 по 10 февраля",
        "3-10 февраля",
        "from 3 to 10 February",
        "February 3 to 10",
        "between 3 and 10 February",
        "3rd to 10th of February",
        "с 03.02 по 10.02",
        "с 10 по 3 февраля",
    ] {
        check(text, date(2024, 2, 3), date(2024, 2, 10));
    }
    check("с 3 по 10 февраля 2023", date(2023, 2, 3), date(2023, 2, 10));
    check("с 3 по 10 октября", date(2023, 10, 3), date(2023, 10, 10));
}

#[test]
fn quarters_and_halves() {
    for text in
        ["1 кв. 2023", "I кв 2023", "1кв2023", "1Q23", "Q1 of 2023", "первый квартал 2023 года"]
    {
        check(text, date(2023, 1, 1), date(2023, 3, 31));
    }
    check("первый квартал", date(2024, 1, 1), date(2024, 3, 31));
    check("4 кв.", date(2023, 10, 1), date(2023, 12, 31));
    for text in
        ["второе полугодие 2023", "вторая половина 2023 года", "second half of 2023", "2H23"]
    {
        check(text, date(2023, 7, 1), date(2023, 12, 31));
    }
}

#[test]
fn periods_since_the_start_of_other_years() {
    for text in ["с начала прошлого года", "since the start of last year", "с начала 2023 года"]
    {
        check(text, date(2023, 1, 1), TODAY);
    }
    check("с начала 2022", date(2022, 1, 1), TODAY);
    check("с начала марта", date(2024, 3, 1), TODAY);
    check("с начала прошлого месяца", date(2024, 5, 1), TODAY);
    for text in ["в позапрошлом году", "the year before last"] {
        check(text, date(2022, 1, 1), date(2022, 12, 31));
    }
    check("позапрошлый месяц", date(2024, 4, 1), date(2024, 4, 30));
}

#[test]
fn days_counted_back_from_today() {
    let ago = |text: &str, day: Date| {
        check(text, day, day);
        assert!(read(&words(text), TODAY).compare_with_today, "{text}");
    };
    for text in ["год назад", "a year ago", "one year ago"] {
        ago(text, date(2023, 6, 14));
    }
    ago("3 месяца назад", date(2024, 3, 14));
    ago("неделю назад", date(2024, 6, 7));
    ago("two days ago", date(2024, 6, 12));
    ago("полгода назад", date(2023, 12, 14));
    for text in ["в прошлый четверг", "last Thursday", "в четверг", "yesterday", "вчерашняя"]
    {
        check(text, date(2024, 6, 13), date(2024, 6, 13));
    }
    check("в прошлую пятницу", date(2024, 6, 7), date(2024, 6, 7));
    check("в среду", date(2024, 6, 12), date(2024, 6, 12));
    check("в пятницу, 31 мая", date(2024, 5, 31), date(2024, 5, 31));
    check("the day before yesterday", date(2024, 6, 12), date(2024, 6, 12));
}

#[track_caller]
fn check_note(text: &str, note: Note, period: Option<(Date, Date)>) {
    let found = read(&words(text), TODAY);
    assert!(found.notes.contains(&note), "{text}: {:?}", found.notes);
    assert_eq!(found.period, period.map(|(from, to)| Period { from, to }), "{text}");
}

#[test]
fn unusual_dates_add_notes() {
    for text in [
        "завтра",
        "tomorrow",
        "в 2030 году",
        "next week",
        "на следующей неделе",
        "через месяц",
        "через 3 года",
        "с 1 мая 2030",
        "next Thursday",
        "в следующем году",
    ] {
        check_note(text, Note::Future, None);
    }
    for text in ["30 февраля", "31.02.2024", "February 30", "32 января 2024", "2024-13-01"]
    {
        check_note(text, Note::NoSuchDay(text.to_owned()), None);
    }
    let swapped = Some((date(2024, 3, 1), date(2024, 4, 15)));
    check_note("с 10 по 3 февраля", Note::Reversed, Some((date(2024, 2, 3), date(2024, 2, 10))));
    check_note("с 15.04.2024 по 01.03.2024", Note::Reversed, swapped);
    check_note("за 50 лет", Note::TenYears, Some((date(2014, 6, 14), TODAY)));
    assert_eq!(read(&words("за 10 лет"), TODAY).notes, []);
    assert_eq!(read(&words("с 1 мая по 3 июня 2024"), TODAY).notes, []);
}

#[test]
fn amounts_are_not_read_as_years() {
    for text in ["2000 рублей", "на 2000 акций Сбера"] {
        assert_eq!(read(&words(text), TODAY).period, None, "{text}");
    }
}
