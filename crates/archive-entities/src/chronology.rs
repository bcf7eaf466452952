//! The types of the timeline: date ranges with their precision, events, deadlines, conflicts.

use jiff::civil::Date;

use crate::entity::{Ground, Mention};

/// How exactly a time is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    Day,
    Month,
    Year,
    /// Both ends are given.
    Range,
}

/// A time: its first and last day.
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

    /// From the first day of one to the last of the other, where that is not backwards.
    pub(crate) fn range(first: Self, last: Self) -> Option<Self> {
        let it = Self { from: first.from, to: last.to, precision: Precision::Range };
        (it.from <= it.to).then_some(it)
    }
}

/// What happened, or is to happen.
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
    /// Something is due on a day that is named.
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
    /// The sentence it stands in, cut to [`crate::SENTENCE_TOKENS_MAX`] words about the date.
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

/// What a deadline is counted from.
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
    /// Something else, or nothing is said.
    Unknown,
}

/// Why a deadline has no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UncountedReason {
    /// The text does not say what it counts from, or gives no date for it.
    AnchorUnknown,
    /// The text gives several dates for it.
    AnchorAmbiguous,
    /// The day lies outside the calendar.
    OutOfCalendar,
}

/// The day that a deadline ends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Due {
    /// The day itself, moved off a weekend.
    pub day: Date,
    /// Where the count ended.
    pub counted: Date,
    /// The event that it was counted from, as a place in the list of events.
    pub from: usize,
}

/// `within 21 days after service`
#[derive(Debug, Clone, PartialEq)]
pub struct Deadline<'t> {
    pub count: u16,
    pub unit: DeadlineUnit,
    /// It is counted back: `7 days before the hearing`.
    pub before: bool,
    pub anchor: Anchor,
    pub due: Result<Due, UncountedReason>,
    pub mention: Mention<'t>,
    pub sentence: Mention<'t>,
    pub ground: Ground,
}

impl Deadline<'_> {
    /// How the day was counted, to be shown with it.
    pub const COUNTING: &'static str = "the day of the event is not counted; every calendar day \
        is (business days are Monday to Friday); a last day on a weekend moves to the Monday \
        after, or to the Friday before when counting back; holidays are not known and are not \
        taken into account, nor are extra days for service by mail";

    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.ground.confidence()
    }
}

/// One event with different days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub kind: EventKind,
    pub subject: String,
    /// Places in the list of events, one for each day.
    pub events: Vec<usize>,
}
