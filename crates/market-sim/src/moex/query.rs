//! Reads query parameters like ISS: unknown ones and most invalid values are ignored.

use clock::{DAY_MS, parse_date};
use jiff::civil::DateTime;

use super::calendar::{Wall, day_of};

/// The parameters of one request.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

/// An invalid date, which ISS answers with an error row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadDate;

impl Query {
    pub(crate) fn new(sent: Vec<(String, String)>) -> Self {
        Self(sent)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// The number of rows to skip.
    pub(crate) fn start(&self) -> usize {
        self.number("start").map_or(0, |start| usize::try_from(start).unwrap_or(usize::MAX))
    }

    /// The same query for another page.
    pub(crate) fn starting_at(&self, start: usize) -> Self {
        let mut sent: Vec<_> = self.0.iter().filter(|(key, _)| key != "start").cloned().collect();
        sent.push(("start".to_owned(), start.to_string()));
        Self(sent)
    }

    pub(crate) fn english(&self) -> bool {
        self.get("lang") == Some("en")
    }

    pub(crate) fn day(&self, name: &str) -> Result<Option<i64>, BadDate> {
        Ok(self.moment(name)?.map(|(from, _)| from.day()))
    }

    /// The first and the last instant of a date, or of a date with a time.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<(Wall, Wall)>, BadDate> {
        let Some(text) = self.get(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        if let Some(date) = parse_date(text) {
            let midnight = Wall::midnight(day_of(date));
            return Ok(Some((midnight, Wall(midnight.0 + DAY_MS - 1))));
        }
        let moment: DateTime = text.replace(' ', "T").parse().map_err(|_| BadDate)?;
        let time = moment.time();
        let seconds = i64::from(time.hour()) * 3_600
            + i64::from(time.minute()) * 60
            + i64::from(time.second());
        let at = Wall(Wall::midnight(day_of(moment.date())).0 + seconds * 1_000);
        Ok(Some((at, at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Option<(&str, &str)>, BadDate>) {
        let found = Query::new(vec![("from".into(), text.into())]).moment("from");
        let found = found.map(|found| found.map(|(from, to)| (from.text(), to.text())));
        let expected = expected.map(|pair| pair.map(|(from, to)| (from.to_owned(), to.to_owned())));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_date_means_a_whole_day_and_a_time_an_instant() {
        check("2026-11-16", Ok(Some(("2026-11-16 00:00:00", "2026-11-16 23:59:59"))));
        check("2026-11-16 10:30:00", Ok(Some(("2026-11-16 10:30:00", "2026-11-16 10:30:00"))));
        check("2026-11-16T10:30:00", Ok(Some(("2026-11-16 10:30:00", "2026-11-16 10:30:00"))));
        check("", Ok(None));
        check("yesterday", Err(BadDate));
        check("2026-13-01", Err(BadDate));
    }
}
