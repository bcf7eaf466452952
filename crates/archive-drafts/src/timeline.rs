//! When: events with their dates, deadlines with the day they end on, and dates that contradict
//! each other.

use std::collections::HashMap;

use archive_entities::{
    Anchor, CaseEvent, CaseFacts, DateRange, Deadline, DeadlineUnit, EventKind, Precision,
    UncountedReason,
};
use serde_json::{Value, json};

use crate::builder::DraftBuilder;
use crate::draft::Category;
use crate::wording::{clipped, evened, joined, quoted, title};

/// What the parts of a file say of time.
#[derive(Default)]
pub(crate) struct TimelineDrafts {
    pub(crate) events: Vec<DraftBuilder>,
    pub(crate) deadlines: Vec<DraftBuilder>,
    pub(crate) conflicts: Vec<DraftBuilder>,
    known: HashMap<(DateRange, EventKind, Option<String>), usize>,
}

impl TimelineDrafts {
    /// Takes the timeline of one part.
    pub(crate) fn add(&mut self, casefile: &CaseFacts<'_>) {
        for event in &casefile.events {
            let key = (event.when, event.kind, event.subject.clone());
            let span = event.sentence.span;
            if let Some(known) = self.known.get(&key).and_then(|it| self.events.get_mut(*it)) {
                known.ground = known.ground.max(event.ground);
                known.add(span);
                continue;
            }
            self.known.insert(key, self.events.len());
            let mut sketch = event_sketch(event);
            sketch.add(span);
            self.events.push(sketch);
        }
        let mut seen: HashMap<(&str, String), usize> = HashMap::new();
        for it in &casefile.deadlines {
            let span = it.sentence.span;
            // The same words again are the same deadline.
            let key = (it.sentence.quote, it.mention.quote.to_lowercase());
            if let Some(known) = seen.get(&key).and_then(|it| self.deadlines.get_mut(*it)) {
                known.add(span);
                continue;
            }
            seen.insert(key, self.deadlines.len());
            let mut sketch = deadline_sketch(it, &casefile.events);
            sketch.add(span);
            if let Some(from) = it.due.ok().and_then(|due| casefile.events.get(due.from)) {
                let span = from.sentence.span;
                if sketch.spans.first() != Some(&span) {
                    sketch.add(span);
                }
            }
            self.deadlines.push(sketch);
        }
        for it in &casefile.conflicts {
            let events = it.events.iter().filter_map(|at| casefile.events.get(*at));
            let events: Vec<&CaseEvent<'_>> = events.collect();
            if events.len() > 1 {
                self.conflicts.push(conflict_sketch(it.kind, &it.subject, &events));
            }
        }
    }
}

/// `2024-03-05`, `2024-03`, `2024`, `2024-03-05 to 2024-04-01`
pub(crate) fn shown(when: DateRange) -> String {
    let day = when.from.to_string();
    match when.precision {
        Precision::Day => day,
        Precision::Month => clipped_to(&day, 7),
        Precision::Year => clipped_to(&day, 4),
        Precision::Range => format!("{day} to {}", when.to),
    }
}

fn clipped_to(day: &str, bytes: usize) -> String {
    day.get(..bytes).unwrap_or(day).to_owned()
}

fn precision(when: DateRange) -> (&'static str, &'static str) {
    match when.precision {
        Precision::Day => ("day", "The text gives the day."),
        Precision::Month => ("month", "The text gives the month and no day."),
        Precision::Year => ("year", "The text gives the year and no day."),
        Precision::Range => ("range", "The text gives both ends of a time."),
    }
}

pub(crate) fn kind_word(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Filed => "filed",
        EventKind::Served => "served",
        EventKind::Hearing => "hearing",
        EventKind::Order => "order",
        EventKind::Judgment => "judgment",
        EventKind::Incident => "incident",
        EventKind::Agreement => "agreement",
        EventKind::Payment => "payment",
        EventKind::Notice => "notice",
        EventKind::Employment => "employment",
        EventKind::Deadline => "due",
        EventKind::Dated => "dated",
        EventKind::Other => "other",
    }
}

/// `complaint filed`, `hearing`, `document dated`
fn happened(kind: EventKind, subject: Option<&str>, sentence: &str) -> String {
    match (kind, subject) {
        (EventKind::Filed | EventKind::Served, Some(it)) => format!("{it} {}", kind_word(kind)),
        (EventKind::Dated, _) => "document dated".to_owned(),
        (EventKind::Deadline, _) => format!("due: {}", begun(sentence)),
        (EventKind::Other, _) => begun(sentence),
        (_, Some(it)) => it.to_owned(),
        _ => kind_word(kind).to_owned(),
    }
}

fn begun(sentence: &str) -> String {
    let text = evened(sentence);
    let head = clipped(&text, 80);
    if head.len() < text.len() { format!("{head} …") } else { text }
}

fn event_sketch(event: &CaseEvent<'_>) -> DraftBuilder {
    let mut sketch = DraftBuilder::new(Category::Event, event.ground);
    let word = kind_word(event.kind);
    sketch.tag("event");
    sketch.tag(word);
    let what = happened(event.kind, event.subject.as_deref(), event.sentence.quote);
    sketch.title = title(&format!("{}: {what}", shown(event.when)));
    let (precision, said) = precision(event.when);
    sketch.content = format!("The text says {}. {said}", quoted(event.sentence.quote));
    sketch.set("event", word);
    sketch.set_some("subject", event.subject.clone());
    sketch.set("date", shown(event.when));
    sketch.set("from", event.when.from.to_string());
    sketch.set("to", event.when.to.to_string());
    sketch.set("precision", precision);
    sketch.set("written", evened(event.date.quote));
    sketch
}

fn unit_word(unit: DeadlineUnit) -> &'static str {
    match unit {
        DeadlineUnit::Days => "days",
        DeadlineUnit::BusinessDays => "business_days",
        DeadlineUnit::Weeks => "weeks",
        DeadlineUnit::Months => "months",
        DeadlineUnit::Years => "years",
    }
}

fn anchor_word(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Service => "service",
        Anchor::Filing => "filing",
        Anchor::Order => "order",
        Anchor::ThisDocument => "this_document",
        Anchor::Judgment => "judgment",
        Anchor::Hearing => "hearing",
        Anchor::Unknown => "unknown",
    }
}

fn uncounted(why: UncountedReason) -> (&'static str, &'static str) {
    match why {
        UncountedReason::AnchorUnknown => {
            ("anchor_unknown", "The text gives no date for what it is counted from.")
        }
        UncountedReason::AnchorAmbiguous => {
            ("anchor_ambiguous", "The text gives several dates for what it is counted from.")
        }
        UncountedReason::OutOfCalendar => {
            ("out_of_calendar", "Its last day lies outside the calendar.")
        }
    }
}

fn deadline_sketch(it: &Deadline<'_>, events: &[CaseEvent<'_>]) -> DraftBuilder {
    let mut sketch = DraftBuilder::new(Category::Deadline, it.ground);
    let words = begun(it.mention.quote);
    sketch.tag("deadline");
    sketch.tag(anchor_word(it.anchor));
    sketch.content = format!("The text says {}.", quoted(it.sentence.quote));
    sketch.set("count", it.count);
    sketch.set("unit", unit_word(it.unit));
    sketch.set("before", it.before);
    sketch.set("anchor", anchor_word(it.anchor));
    sketch.set("written", evened(it.mention.quote));
    match it.due {
        Ok(due) => {
            sketch.title = title(&format!("Due {}: {words}", due.day));
            sketch.set("due", due.day.to_string());
            sketch.set("counted", due.counted.to_string());
            sketch.set("counting", Deadline::COUNTING);
            if let Some(from) = events.get(due.from) {
                sketch.ground = sketch.ground.min(from.ground);
                sketch.set("countedFrom", from.when.from.to_string());
                sketch.content.push_str(&format!(
                    " The last day stands in the title, and is counted from {}.",
                    quoted(from.sentence.quote)
                ));
            }
        }
        Err(why) => {
            let (code, said) = uncounted(why);
            sketch.title = title(&format!("Deadline: {words}"));
            sketch.set("uncounted", code);
            sketch.content.push_str(&format!(" {said}"));
        }
    }
    sketch
}

fn conflict_sketch(kind: EventKind, subject: &str, events: &[&CaseEvent<'_>]) -> DraftBuilder {
    let least = events.iter().map(|it| it.ground).min().unwrap_or(archive_entities::Ground::Shape);
    let mut sketch = DraftBuilder::new(Category::Conflict, least);
    sketch.tag("conflict");
    sketch.tag(kind_word(kind));
    let what = happened(kind, Some(subject), "");
    let days: Vec<String> = events.iter().map(|it| shown(it.when)).collect();
    sketch.title = title(&format!("Conflict: {what} on {}", days.join(" or ")));
    let said: Vec<String> = events.iter().take(6).map(|it| quoted(it.sentence.quote)).collect();
    sketch.content =
        format!("The text gives different days for one thing: it says {}.", joined(&said));
    let list: Vec<Value> = events
        .iter()
        .map(|it| json!({"date": shown(it.when), "written": evened(it.date.quote)}))
        .collect();
    sketch.set("event", kind_word(kind));
    sketch.set("subject", subject);
    sketch.set("dates", list);
    for it in events {
        sketch.add(it.sentence.span);
    }
    sketch
}
