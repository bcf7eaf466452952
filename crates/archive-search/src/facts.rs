//! The facts of a file by which queries filter: its document type, its own date, and the dates of
//! the events and deadlines in it. They are stored beside the files of a segment.

use fault::Fault;

use crate::codec::{BlobCursor, damaged_blob, put_number};
use crate::scope;
use crate::segment::FileEntry;

/// A file has at most this many dates of events; further ones are left out.
const EVENT_DATES_MAX: usize = 1_000;

/// A range of days, both ends included, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRange {
    pub from: i32,
    pub to: i32,
}

impl DayRange {
    /// Every day.
    pub const ALL: Self = Self { from: i32::MIN, to: i32::MAX };

    fn overlaps(self, other: Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// The facts of a file, as processing found them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileFacts {
    pub document_type: Option<String>,
    /// The day, month or year that the paper is dated.
    pub document_date: Option<DayRange>,
    pub event_dates: Vec<DayRange>,
}

/// The facts in the form of the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StoredFacts {
    /// 0 if it is not known.
    document_type: i64,
    document_date: Option<DayRange>,
    event_dates: Vec<DayRange>,
}

impl StoredFacts {
    pub(crate) fn of(facts: &FileFacts) -> Self {
        let document_type = facts.document_type.as_deref().map_or(0, scope::document_type);
        let event_dates = facts.event_dates.iter().take(EVENT_DATES_MAX).copied().collect();
        Self { document_type, document_date: facts.document_date, event_dates }
    }
}

/// The facts that a query asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FactsFilter {
    document_type: Option<i64>,
    document_date: Option<DayRange>,
    event_date: Option<DayRange>,
}

impl FactsFilter {
    pub(crate) fn new(
        document_type: Option<&str>,
        document_date: Option<DayRange>,
        event_date: Option<DayRange>,
    ) -> Self {
        let document_type = document_type.map(scope::document_type);
        Self { document_type, document_date, event_date }
    }

    pub(crate) fn passes(&self, facts: Option<&StoredFacts>) -> bool {
        if self.document_type.is_none() && self.document_date.is_none() && self.event_date.is_none()
        {
            return true;
        }
        let Some(facts) = facts else { return false };
        let is_dated = |it: DayRange| facts.document_date.is_some_and(|dated| dated.overlaps(it));
        let has_event = |it: DayRange| facts.event_dates.iter().any(|date| date.overlaps(it));
        self.document_type.is_none_or(|it| it == facts.document_type)
            && self.document_date.is_none_or(is_dated)
            && self.event_date.is_none_or(has_event)
    }
}

/// The facts of the files of a segment, in their order.
pub(crate) fn put_facts(files: &[FileEntry]) -> Vec<u8> {
    let mut out = Vec::new();
    let day_range = |out: &mut Vec<u8>, it: &DayRange| {
        out.extend_from_slice(&it.from.to_le_bytes());
        out.extend_from_slice(&it.to.to_le_bytes());
    };
    for file in files {
        put_number(&mut out, u64::from(file.facts.is_some()));
        let Some(facts) = &file.facts else { continue };
        out.extend_from_slice(&facts.document_type.to_le_bytes());
        put_number(&mut out, u64::from(facts.document_date.is_some()));
        facts.document_date.iter().for_each(|it| day_range(&mut out, it));
        put_number(&mut out, facts.event_dates.len() as u64);
        facts.event_dates.iter().for_each(|it| day_range(&mut out, it));
    }
    out
}

/// Gives the files of a stored segment their facts. A segment of an earlier version has none.
pub(crate) fn read_facts(blob: &[u8], files: &mut [FileEntry]) -> Result<(), Fault> {
    fn day(cursor: &mut BlobCursor<'_>) -> Result<i32, Fault> {
        Ok(i32::from_le_bytes(cursor.take(4)?.try_into().map_err(|_| damaged_blob())?))
    }
    fn day_range(cursor: &mut BlobCursor<'_>) -> Result<DayRange, Fault> {
        Ok(DayRange { from: day(cursor)?, to: day(cursor)? })
    }
    if blob.is_empty() {
        return Ok(());
    }
    let mut cursor = BlobCursor::new(blob);
    for file in files {
        if cursor.number_u32()? == 0 {
            continue;
        }
        let document_type = cursor.take(8)?.try_into().map_err(|_| damaged_blob())?;
        let document_date = match cursor.number_u32()? {
            0 => None,
            _ => Some(day_range(&mut cursor)?),
        };
        let count = cursor.number_u32()?;
        let event_dates = (0..count).map(|_| day_range(&mut cursor)).collect::<Result<_, _>>()?;
        file.facts = Some(StoredFacts {
            document_type: i64::from_le_bytes(document_type),
            document_date,
            event_dates,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(facts: Option<&FileFacts>) -> FileEntry {
        FileEntry {
            file_id: "f".to_owned(),
            owner: 0,
            uploaded_at: 0,
            media_type: 0,
            tags: Vec::new(),
            facts: facts.map(StoredFacts::of),
            pages: Vec::new(),
        }
    }

    const MAY: DayRange = DayRange { from: 120, to: 150 };

    fn order() -> FileFacts {
        FileFacts {
            document_type: Some("order".to_owned()),
            document_date: Some(DayRange { from: 100, to: 100 }),
            event_dates: vec![DayRange { from: -5, to: -5 }, MAY],
        }
    }

    #[test]
    fn facts_are_stored_beside_their_files() {
        let files =
            [entry(None), entry(Some(&order())), entry(Some(&FileFacts::default())), entry(None)];
        let blob = put_facts(&files);
        let mut read = [entry(None), entry(None), entry(None), entry(None)];
        read_facts(&blob, &mut read).unwrap();
        assert_eq!(read, files);
        read_facts(&[], &mut [entry(None)]).unwrap();
    }

    #[track_caller]
    fn check(document_type: Option<&str>, dated: Option<i32>, event: Option<i32>, passes: bool) {
        let day = |it: i32| DayRange { from: it, to: it };
        let filter = FactsFilter::new(document_type, dated.map(day), event.map(day));
        assert_eq!(filter.passes(Some(&StoredFacts::of(&order()))), passes);
    }

    #[test]
    fn a_filter_passes_what_it_asks_for() {
        check(None, None, None, true);
        check(Some("ORDER "), None, None, true);
        check(Some("motion"), None, None, false);
        check(None, Some(100), None, true);
        check(None, Some(101), None, false);
        check(None, None, Some(130), true);
        check(None, None, Some(-5), true);
        check(None, None, Some(0), false);
        check(Some("order"), Some(100), Some(150), true);
        check(Some("order"), Some(100), Some(151), false);
        assert!(FactsFilter::default().passes(None));
        assert!(!FactsFilter::new(None, Some(DayRange::ALL), None).passes(None));
    }

    proptest! {
        #[test]
        fn damaged_facts_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            _ = read_facts(&bytes, &mut [entry(None), entry(None)]).is_ok();
        }
    }
}
