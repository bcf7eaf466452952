//! Drafts of the timeline: events with their dates, deadlines with their last day, and days that
//! contradict each other.

use std::collections::{HashMap, HashSet};

use archive_entities::{
    Anchor, CaseEvent, CaseFacts, CountingRule, DateRange, Deadline, DeadlineUnit, EventKind,
    Ground, Precision, UncountedReason,
};
use serde_json::{Value, json};

use crate::builder::DraftBuilder;
use crate::draft::Category;
use crate::outcome;
use crate::wording::{and_list, clipped, in_one_line, quoted, title};

/// The timeline of a file, merged over its parts.
#[derive(Default)]
pub(crate) struct TimelineDrafts {
    pub(crate) events: Vec<DraftBuilder>,
    pub(crate) deadlines: Vec<DraftBuilder>,
    pub(crate) conflicts: Vec<DraftBuilder>,
    pub(crate) outcomes: Vec<DraftBuilder>,
    known: HashMap<(DateRange, EventKind, Option<String>), usize>,
}

impl TimelineDrafts {
    /// Adds the timeline of one part.
    pub(crate) fn add(&mut self, facts: &CaseFacts<'_>) {
        for event in facts.events.iter().filter(|it| it.kind != EventKind::Deadline) {
            let key = (event.when, event.kind, event.subject.clone());
            let span = event.sentence.span;
            if let Some(known) = self.known.get(&key).and_then(|it| self.events.get_mut(*it)) {
                known.ground = known.ground.max(event.ground);
                known.add(span);
                continue;
            }
            self.known.insert(key, self.events.len());
            let mut draft = event_draft(event);
            draft.add(span);
            self.events.push(draft);
        }
        self.add_deadlines(facts);
        self.outcomes.extend(facts.outcomes.iter().map(outcome::draft));
        for it in &facts.conflicts {
            let events = it.events.iter().filter_map(|at| facts.events.get(*at));
            let events: Vec<&CaseEvent<'_>> = events.collect();
            if events.len() > 1 {
                self.conflicts.push(conflict_draft(it.kind, &it.subject, &events));
            }
        }
    }
}

impl TimelineDrafts {
    /// Adds the deadlines that are counted, and those with a fixed day that none of them states.
    fn add_deadlines(&mut self, facts: &CaseFacts<'_>) {
        let mut seen: HashMap<(&str, String), usize> = HashMap::new();
        let mut stated: HashSet<usize> = HashSet::new();
        for it in &facts.deadlines {
            let span = it.sentence.span;
            if let Ok(due) = it.due.as_ref().map(|it| (it.rule, it.from))
                && due.0.is_none()
            {
                stated.insert(due.1);
            }
            // A deadline in the same words and the same sentence is the same deadline.
            let key = (it.sentence.quote, it.mention.quote.to_lowercase());
            if let Some(known) = seen.get(&key).and_then(|it| self.deadlines.get_mut(*it)) {
                known.add(span);
                continue;
            }
            seen.insert(key, self.deadlines.len());
            let mut draft = deadline_draft(it, &facts.events);
            draft.add(span);
            if let Some(from) = it.due.ok().and_then(|due| facts.events.get(due.from)) {
                let span = from.sentence.span;
                if draft.spans.first() != Some(&span) {
                    draft.add(span);
                }
            }
            self.deadlines.push(draft);
        }
        let fixed = facts.events.iter().enumerate();
        let fixed = fixed.filter(|(at, it)| it.kind == EventKind::Deadline && !stated.contains(at));
        for (_, event) in fixed {
            let key = (event.sentence.quote, event.when.to.to_string());
            if let Some(known) = seen.get(&key).and_then(|it| self.deadlines.get_mut(*it)) {
                known.add(event.sentence.span);
                continue;
            }
            seen.insert(key, self.deadlines.len());
            let mut draft = fixed_deadline_draft(event);
            draft.add(event.sentence.span);
            self.deadlines.push(draft);
        }
        self.deadlines.sort_by_key(|it| it.spans.first().copied());
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

/// The event in a few words: `complaint filed`, `hearing`, `document dated`.
fn event_title(kind: EventKind, subject: Option<&str>, sentence: &str) -> String {
    match (kind, subject) {
        (EventKind::Filed | EventKind::Served, Some(it)) => format!("{it} {}", kind_word(kind)),
        (EventKind::Dated, _) => "document dated".to_owned(),
        (EventKind::Deadline, _) => format!("due: {}", opening_words(sentence)),
        // A hiring and a dismissal are both employment, so the words of the text say which.
        (EventKind::Other | EventKind::Employment, _) => opening_words(sentence),
        (_, Some(it)) => it.to_owned(),
        _ => kind_word(kind).to_owned(),
    }
}

fn opening_words(sentence: &str) -> String {
    let text = in_one_line(sentence);
    let head = clipped(&text, 80);
    if head.len() < text.len() { format!("{head} …") } else { text }
}

fn event_draft(event: &CaseEvent<'_>) -> DraftBuilder {
    let mut draft = DraftBuilder::new(Category::Event, event.ground);
    let word = kind_word(event.kind);
    draft.tag("event");
    draft.tag(word);
    let what = event_title(event.kind, event.subject.as_deref(), event.sentence.quote);
    draft.title = title(&format!("{}: {what}", shown(event.when)));
    let (precision, said) = precision(event.when);
    draft.content = format!("The text says {}. {said}", quoted(event.sentence.quote));
    draft.set("event", word);
    draft.set_some("subject", event.subject.clone());
    draft.set("date", shown(event.when));
    draft.set("from", event.when.from.to_string());
    draft.set("to", event.when.to.to_string());
    draft.set("precision", precision);
    draft.set("written", in_one_line(event.date.quote));
    draft
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
        Anchor::Incident => "incident",
        Anchor::Date => "date",
        Anchor::Unknown => "unknown",
    }
}

fn uncounted(why: UncountedReason) -> (&'static str, &'static str) {
    match why {
        UncountedReason::AnchorUnknown => {
            ("anchor_unknown", "The text gives no day for what it is counted from, so it is open.")
        }
        UncountedReason::AnchorAmbiguous => {
            ("anchor_ambiguous", "The text gives several days from which it may be counted.")
        }
        UncountedReason::OutOfCalendar => {
            ("out_of_calendar", "Its last day lies outside the calendar.")
        }
    }
}

fn deadline_draft(it: &Deadline<'_>, events: &[CaseEvent<'_>]) -> DraftBuilder {
    let mut draft = DraftBuilder::new(Category::Deadline, it.ground);
    let words = opening_words(it.mention.quote);
    draft.tag("deadline");
    draft.tag(anchor_word(it.anchor));
    draft.content = format!("The text says {}.", quoted(it.sentence.quote));
    draft.set("count", it.count);
    draft.set("unit", unit_word(it.unit));
    draft.set("before", it.before);
    draft.set("anchor", anchor_word(it.anchor));
    draft.set("written", in_one_line(it.mention.quote));
    match it.due {
        Ok(due) => {
            draft.title = title(&format!("Due {}: {words}", due.day));
            draft.set("due", due.day.to_string());
            draft.set("counted", due.counted.to_string());
            draft.tag("due");
            let from = events.get(due.from);
            match (due.rule, from) {
                (Some(rule), Some(from)) => {
                    draft.ground = draft.ground.min(from.ground);
                    draft.set("counting", rule.meaning());
                    draft.set("countingRule", rule_word(rule));
                    draft.set("countedFrom", from.when.from.to_string());
                    draft.content.push_str(&format!(
                        " The last day stands in the title, and is counted from {}. {}",
                        quoted(from.sentence.quote),
                        moved(rule)
                    ));
                }
                _ => draft.content.push_str(" The text itself states the last day."),
            }
        }
        Err(why) => {
            let (code, said) = uncounted(why);
            draft.title = title(&format!("Open deadline: {words}"));
            draft.tag("open");
            draft.set("uncounted", code);
            draft.content.push_str(&format!(" {said}"));
        }
    }
    draft
}

fn rule_word(rule: CountingRule) -> &'static str {
    match rule {
        CountingRule::FederalRules => "frcp_6",
        CountingRule::StateRules => "as_frcp_6",
        CountingRule::RussianProcedure => "gpk_apk",
        CountingRule::RussianCalendarDays => "upk_koap",
        CountingRule::RussianCivilCode => "gk_193",
        CountingRule::None => "none",
    }
}

/// What the rule does with weekends, without a citation, which the document does not have.
fn moved(rule: CountingRule) -> &'static str {
    match rule {
        CountingRule::None => "No rule of weekends and holidays was applied.",
        CountingRule::RussianProcedure => {
            "Only working days were counted; the rule stands in the field counting."
        }
        _ => "A last day on a day off moves; the rule stands in the field counting.",
    }
}

/// A deadline whose day the text gives: `no later than October 15, 2024`.
fn fixed_deadline_draft(event: &CaseEvent<'_>) -> DraftBuilder {
    let exact = event.when.precision == Precision::Day;
    let ground = event.ground.min(if exact { Ground::Label } else { Ground::Shape });
    let mut draft = DraftBuilder::new(Category::Deadline, ground);
    draft.tag("deadline");
    draft.tag("due");
    draft.tag("fixed");
    let words = opening_words(event.sentence.quote);
    draft.title = title(&format!("Due {}: {words}", event.when.to));
    let (precision, said) = precision(event.when);
    draft.content = format!("The text says {}. {said}", quoted(event.sentence.quote));
    draft.set("fixed", true);
    draft.set("due", event.when.to.to_string());
    draft.set("from", event.when.from.to_string());
    draft.set("precision", precision);
    draft.set("written", in_one_line(event.date.quote));
    draft
}

fn conflict_draft(kind: EventKind, subject: &str, events: &[&CaseEvent<'_>]) -> DraftBuilder {
    let mut draft = DraftBuilder::new(Category::Conflict, Ground::Shape);
    draft.tag("conflict");
    draft.tag(kind_word(kind));
    let what = event_title(kind, Some(subject), "");
    let days: Vec<String> = events.iter().map(|it| shown(it.when)).collect();
    draft.title = title(&format!("Conflict: {what} on {}", days.join(" or ")));
    let said: Vec<String> = events.iter().take(6).map(|it| quoted(it.sentence.quote)).collect();
    draft.content =
        format!("The text gives different days for one thing: it says {}.", and_list(&said));
    let list: Vec<Value> = events
        .iter()
        .map(|it| json!({"date": shown(it.when), "written": in_one_line(it.date.quote)}))
        .collect();
    draft.set("event", kind_word(kind));
    draft.set("subject", subject);
    draft.set("dates", list);
    for it in events {
        draft.add(it.sentence.span);
    }
    draft
}

#[cfg(test)]
mod tests {
    use super::{EventKind, event_title};

    #[track_caller]
    fn check(kind: EventKind, subject: Option<&str>, sentence: &str, title: &str) {
        assert_eq!(event_title(kind, subject, sentence), title);
    }

    #[test]
    fn titles_say_what_happened() {
        let terminated = "Plaintiff was terminated on January 8, 2024.";
        check(EventKind::Employment, None, terminated, terminated);
        check(EventKind::Filed, Some("complaint"), "The complaint was filed.", "complaint filed");
        check(EventKind::Hearing, None, "A hearing was held.", "hearing");
    }
}
