//! Reads the facts of a file from its insights: the document type and the date from the summary,
//! and the days of events and deadlines. The search of documents filters by them.

use archive_drafts::Category;
use archive_search::{DayRange, FileFacts};
use jiff::civil::Date;
use serde_json::{Map, Value};

/// The document type of a paper whose type is not known.
const UNKNOWN: &str = "unknown";

/// Reads the facts out of insights: their category and entities.
pub(crate) fn facts_of<'a>(
    found: impl IntoIterator<Item = (&'a str, &'a Map<String, Value>)>,
) -> FileFacts {
    let mut facts = FileFacts::default();
    for (category, entities) in found {
        let text = |name: &str| entities.get(name).and_then(Value::as_str);
        if category == Category::Summary.word() {
            // The summary of a model has no type.
            let document_type = text("documentType").filter(|it| *it != UNKNOWN);
            facts.document_type = facts.document_type.or(document_type.map(str::to_owned));
            facts.document_date = facts.document_date.or(text("date").and_then(days));
        } else if category == Category::Event.word() {
            facts.event_dates.extend(text("date").and_then(days));
        } else if category == Category::Deadline.word() {
            facts.event_dates.extend(text("due").and_then(days));
        }
    }
    facts
}

/// The days of `2024-03-05`, `2024-03`, `2024` or `2024-03-05 to 2024-04-01`.
pub(crate) fn days(written: &str) -> Option<DayRange> {
    if let Some((from, to)) = written.split_once(" to ") {
        return Some(DayRange { from: days(from)?.from, to: days(to)?.to });
    }
    let numbers: Vec<i16> = written.split('-').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let part = |at: usize| numbers.get(at).map(|it| i8::try_from(*it).ok());
    let date = |month: i8, day: i8| Date::new(*numbers.first()?, month, day).ok();
    let (first, last) = match (part(1), part(2)) {
        (None, _) => (date(1, 1)?, date(12, 31)?),
        (Some(month), None) => {
            let first = date(month?, 1)?;
            (first, first.last_of_month())
        }
        (Some(month), Some(day)) => (date(month?, day?)?, date(month?, day?)?),
    };
    Some(DayRange { from: day_number(first)?, to: day_number(last)? })
}

/// Days since 1970-01-01.
fn day_number(date: Date) -> Option<i32> {
    date.since(Date::constant(1970, 1, 1)).ok().map(|it| it.get_days())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<(i32, i32)>) {
        assert_eq!(days(written).map(|it| (it.from, it.to)), expected, "{written}");
    }

    #[test]
    fn dates_are_days() {
        check("1970-01-01", Some((0, 0)));
        check("2024-03-05", Some((19_787, 19_787)));
        check("2024-02", Some((19_754, 19_782)));
        check("1970", Some((0, 364)));
        check("1969-12-31 to 1970-01-02", Some((-1, 1)));
        for wrong in ["", "soon", "2024-13", "2024-02-30", "99999-01-01", "2024-03-05 to"] {
            check(wrong, None);
        }
    }

    #[test]
    fn facts_come_from_the_summary_events_and_deadlines() {
        let object = |it: Value| it.as_object().unwrap().clone();
        let found = [
            ("summary", object(json!({ "documentType": "order", "date": "1970-01-05" }))),
            ("summary", Map::new()),
            ("event", object(json!({ "date": "1970-01-02" }))),
            ("event", object(json!({ "date": "once" }))),
            ("deadline", object(json!({ "due": "1970-01-09", "date": "1970-01-08" }))),
            ("party", object(json!({ "date": "1970-01-07" }))),
        ];
        let facts = facts_of(found.iter().map(|(category, it)| (*category, it)));
        assert_eq!(facts.document_type.as_deref(), Some("order"));
        assert_eq!(facts.document_date, Some(DayRange { from: 4, to: 4 }));
        let days: Vec<i32> = facts.event_dates.iter().map(|it| it.from).collect();
        assert_eq!(days, [1, 8]);
        let unknown = object(json!({ "documentType": "unknown" }));
        assert_eq!(facts_of([("summary", &unknown)]), FileFacts::default());
    }
}
