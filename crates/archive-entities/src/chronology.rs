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
    /// The accident or the death that a claim is about.
    Incident,
    /// A date in the deadline's own words: `30 days after March 3, 2024`.
    Date,
    /// Another event, or none is named.
    Unknown,
}

/// Why a deadline has no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UncountedReason {
    /// The text names no anchor, or gives no date for it.
    AnchorUnknown,
    /// The text gives several dates for the anchor, or several anchors.
    AnchorAmbiguous,
    /// The day lies outside the calendar.
    OutOfCalendar,
}

/// The rule by which the days of a deadline are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountingRule {
    /// Fed. R. Civ. P. 6(a), and the rules of appeals and bankruptcy with the same words.
    FederalRules,
    /// The federal rule, in a paper of another court of the United States.
    StateRules,
    /// ГПК, АПК and КАС: days are working days.
    RussianProcedure,
    /// УПК and `КоАП`: days are calendar days.
    RussianCalendarDays,
    /// ГК 191 to 193, for contracts and letters.
    RussianCivilCode,
    /// The day stays where the count ends.
    None,
}

impl CountingRule {
    /// What is counted and where the last day moves; shown with every counted deadline.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::FederalRules => {
                "Fed. R. Civ. P. 6(a): the day of the event is not counted, every day after it is, \
                 and a last day on a Saturday, Sunday or federal legal holiday moves to the next \
                 day that is none (to the one before when counting back); no days are added for \
                 service by mail"
            }
            Self::StateRules => {
                "counted as Fed. R. Civ. P. 6(a) does: the day of the event is not counted, and a \
                 last day on a Saturday, Sunday or federal legal holiday moves; the state's own \
                 rule, its holidays and extra days for service by mail were not applied"
            }
            Self::RussianProcedure => {
                "ГПК РФ ст. 107, 108; АПК РФ ст. 113, 114; КАС РФ ст. 92, 93: the count begins on \
                 the day after the event, days are working days, and a last day on a day off moves \
                 to the next working day; weekends and the holidays of ТК РФ ст. 112 are days off, \
                 days off that the government moved are not known"
            }
            Self::RussianCalendarDays => {
                "УПК РФ ст. 128, 129; КоАП РФ ст. 4.8: the day of the event is not counted, days \
                 are calendar days, and a last day on a day off moves to the next working day; \
                 days off that the government moved are not known"
            }
            Self::RussianCivilCode => {
                "ГК РФ ст. 191-193: the count begins on the day after the event, days are calendar \
                 days, and a last day on a day off moves to the next working day; days off that \
                 the government moved are not known"
            }
            Self::None => {
                "the day of the event is not counted, every day after it is (business days are \
                 Monday to Friday without federal legal holidays); no rule of weekends and \
                 holidays was applied, so the last day stays where the count ends"
            }
        }
    }
}

/// The day on which a deadline ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Due {
    /// The day itself, moved by the rule.
    pub day: Date,
    /// The day at which the count ended.
    pub counted: Date,
    /// The index of the event from which the deadline was counted, or that states its day.
    pub from: usize,
    /// `None` where the text itself states the day.
    pub rule: Option<CountingRule>,
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

/// What a court decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKind {
    Granted,
    GrantedInPart,
    Denied,
    Affirmed,
    AffirmedInPart,
    Reversed,
    Vacated,
    Modified,
    Remanded,
    Dismissed,
    /// A sum was awarded: «взыскать».
    Awarded,
    Convicted,
    /// «возвратить»
    Returned,
    /// «оставить без движения»
    LeftWithoutMotion,
}

/// A decision of the paper itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<'t> {
    pub kind: OutcomeKind,
    /// What was decided, as the text says it: `plaintiff's motion to remand`; empty if the text
    /// names nothing.
    pub what: &'t str,
    pub mention: Mention<'t>,
    pub sentence: Mention<'t>,
    pub ground: Ground,
}
