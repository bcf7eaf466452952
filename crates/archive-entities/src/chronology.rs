//! The types of the timeline: date ranges with their precision, events, deadlines, conflicts.

use jiff::civil::Date;

use crate::entity::{Ground, Mention};

/// How exactly a date is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    Day,
    Month,
    Year,
    /// Both ends are given.
    Range,
}

/// A date or a period: its first and last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateRange {
    pub from: Date,
    pub to: Date,
    pub precision: Precision,
}

impl DateRange {
    pub(crate) fn day(year: i16, month: i8, day: i8) -> Option<Self> {
        let day = Date::new(year, month, day).ok()?;
        Some(Self { from: day, to: day, precision: Precision::Day })
    }

    pub(crate) fn month(year: i16, month: i8) -> Option<Self> {
        let from = Date::new(year, month, 1).ok()?;
        Some(Self { from, to: from.last_of_month(), precision: Precision::Month })
    }

    pub(crate) fn year(year: i16) -> Option<Self> {
        let from = Date::new(year, 1, 1).ok()?;
        Some(Self { from, to: from.last_of_year(), precision: Precision::Year })
    }

    /// From the first day of `first` to the last day of `last`; `None` if the end precedes the
    /// start.
    pub(crate) fn range(first: Self, last: Self) -> Option<Self> {
        let it = Self { from: first.from, to: last.to, precision: Precision::Range };
        (it.from <= it.to).then_some(it)
    }
}

/// The kind of a past or future event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    Filed,
    Served,
    Hearing,
    Order,
    Judgment,
    Incident,
    Agreement,
    Payment,
    /// A letter, a demand, a notice.
    Notice,
    Employment,
    /// Something is due on a stated day.
    Deadline,
    /// The document's own date.
    Dated,
    Other,
}

/// A date and what happened on it.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseEvent<'t> {
    pub when: DateRange,
    pub kind: EventKind,
    /// What the event was about, if the text says so: `complaint`, `motion to dismiss`.
    pub subject: Option<String>,
    /// The date alone.
    pub date: Mention<'t>,
    /// The sentence that contains the date, cut to [`crate::SENTENCE_TOKENS_MAX`] words about the
    /// date.
    pub sentence: Mention<'t>,
    pub ground: Ground,
}

impl CaseEvent<'_> {
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.ground.confidence()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeadlineUnit {
    Days,
    /// Monday to Friday.
    BusinessDays,
    Weeks,
    Months,
    Years,
}

/// The event from which a deadline is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Anchor {
    Service,
    Filing,
    /// `entry of the order`
    Order,
    /// The document that sets the deadline: `the date of this order`, `this letter`.
    ThisDocument,
    Judgment,
    Hearing,
    /// Another event, or none is named.
    Unknown,
}

/// Why a deadline has no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UncountedReason {
    /// The text names no anchor, or gives no date for it.
    AnchorUnknown,
    /// The text gives several dates for the anchor.
    AnchorAmbiguous,
    /// The day lies outside the calendar.
    OutOfCalendar,
}

/// The day on which a deadline ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Due {
    /// The day itself, moved off a weekend.
    pub day: Date,
    /// The day at which the count ended.
    pub counted: Date,
    /// The index of the event from which the deadline was counted.
    pub from: usize,
}

/// `within 21 days after service`
#[derive(Debug, Clone, PartialEq)]
pub struct Deadline<'t> {
    pub count: u16,
    pub unit: DeadlineUnit,
    /// Whether it is counted back: `7 days before the hearing`.
    pub before: bool,
    pub anchor: Anchor,
    pub due: Result<Due, UncountedReason>,
    pub mention: Mention<'t>,
    pub sentence: Mention<'t>,
    pub ground: Ground,
}

impl Deadline<'_> {
    /// How days are counted; shown with every deadline.
    pub const COUNTING: &'static str = "the day of the event is not counted; every calendar day \
        is (business days are Monday to Friday); a last day on a weekend moves to the Monday \
        after, or to the Friday before when counting back; holidays are not known and are not \
        taken into account, nor are extra days for service by mail";

    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.ground.confidence()
    }
}

/// One event for which the text gives different days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub kind: EventKind,
    pub subject: String,
    /// Indices of events, one for each day.
    pub events: Vec<usize>,
}
