//! Compares the findings of papers with their truths and prints the tables.

use std::collections::BTreeMap;

use archive_drafts::{Category, Draft};

use crate::paper::{PaperFacts, list_of, text_of};
use crate::score::{Reliability, Score, share};
use crate::title;
use crate::truth::{TrueName, Truth};

/// A due day that is stated with more than this is relied upon.
const SURE: f64 = 0.6;

#[derive(Default)]
pub(crate) struct Report {
    shows_errors: bool,
    papers: usize,
    scores: BTreeMap<&'static str, Score>,
    reliability: Reliability,
    /// Right and all: roles of the parties whose names are right, titles, types.
    roles: (usize, usize),
    titles: (usize, usize),
    types: (usize, usize),
    due: Score,
    /// Courts that the drafts call the court below and the truth does not have.
    reviewed_courts: usize,
    /// Due days at or below [`SURE`].
    doubtful: (usize, usize),
}

impl Report {
    pub(crate) fn new(shows_errors: bool) -> Self {
        Self { shows_errors, ..Self::default() }
    }

    fn tell(&self, paper: &PaperFacts, what: &str) {
        if self.shows_errors {
            println!("{}: {what}", paper.name);
        }
    }

    pub(crate) fn add(&mut self, paper: &PaperFacts, truth: &Truth) {
        self.papers += 1;
        let numbers: Vec<TrueName> = truth
            .case_numbers
            .iter()
            .map(|it| TrueName { name: it.clone(), ..TrueName::default() })
            .collect();
        self.names(paper, Category::Party, "party", &truth.parties);
        self.names(paper, Category::Attorney, "attorney", &truth.attorneys);
        self.names(paper, Category::Judge, "judge", &truth.judges);
        self.names(paper, Category::Court, "court", &truth.court);
        self.names(paper, Category::CaseNumber, "case number", &numbers);
        self.summary(paper, truth);
        self.due_days(paper, truth);
    }

    fn names(
        &mut self,
        paper: &PaperFacts,
        category: Category,
        kind: &'static str,
        truth: &[TrueName],
    ) {
        let mut score = Score::default();
        let mut found = vec![false; truth.len()];
        for draft in paper.of(category) {
            let name = text_of(draft, "name");
            let place = truth.iter().position(|it| it.is(name));
            // The truth has the court of the paper and no court below it.
            if place.is_none() && draft.entities.contains_key("reviewed") {
                self.reviewed_courts += 1;
                continue;
            }
            let is_new =
                place.and_then(|it| found.get_mut(it)).map(|it| !std::mem::replace(it, true));
            let is_right = is_new == Some(true);
            self.reliability.add(kind, draft.confidence, is_right);
            if is_right {
                score.right += 1;
            } else {
                score.wrong += 1;
                score.repeated += usize::from(is_new.is_some());
                let how = if is_new.is_some() { "repeated" } else { "wrong" };
                self.tell(paper, &format!("{kind} {how} ({:.2}): {name}", draft.confidence));
            }
            if let Some(known) = place.and_then(|it| truth.get(it)).filter(|_| kind == "party") {
                self.role(paper, draft, known);
            }
        }
        for (it, _) in truth.iter().zip(&found).filter(|it| !it.1 && !it.0.body_only) {
            score.missed += 1;
            self.tell(paper, &format!("{kind} missed: {}", it.name));
        }
        let sum = self.scores.entry(kind).or_default();
        sum.right += score.right;
        sum.wrong += score.wrong;
        sum.missed += score.missed;
        sum.repeated += score.repeated;
    }

    fn role(&mut self, paper: &PaperFacts, draft: &Draft, known: &TrueName) {
        if known.role.is_none() {
            return;
        }
        let roles = list_of(draft, "roles");
        let is_right = known.has_role(&roles);
        self.roles.0 += usize::from(is_right);
        self.roles.1 += 1;
        if !is_right {
            let role = known.role.as_deref().unwrap_or_default();
            self.tell(
                paper,
                &format!("role wrong: {} is {role}, not {}", known.name, roles.join(", ")),
            );
        }
    }

    fn summary(&mut self, paper: &PaperFacts, truth: &Truth) {
        let draft = paper.of(Category::Summary).next();
        let found_title = draft.map_or("", |it| it.title.as_str());
        let found_type = draft.map_or("", |it| text_of(it, "documentType"));
        if !truth.title.is_empty() {
            let is_right = title::is_right(found_title, truth);
            self.titles.0 += usize::from(is_right);
            self.titles.1 += 1;
            if !is_right {
                let accepted = truth.title.join(" | ");
                self.tell(paper, &format!("title wrong: {found_title} (accepted: {accepted})"));
            }
        }
        if !truth.document_type.is_empty() {
            let is_right = truth.document_type.iter().any(|it| it.to_lowercase() == found_type);
            self.types.0 += usize::from(is_right);
            self.types.1 += 1;
            if let Some(draft) = draft.filter(|_| found_type != "unknown") {
                self.reliability.add("document type", draft.confidence, is_right);
            }
            if !is_right {
                let accepted = truth.document_type.join(" | ");
                self.tell(paper, &format!("type wrong: {found_type} (accepted: {accepted})"));
            }
        }
    }

    fn due_days(&mut self, paper: &PaperFacts, truth: &Truth) {
        let mut days: Vec<&str> =
            truth.deadlines.iter().filter_map(|it| it.due.as_deref()).collect();
        for draft in paper.of(Category::Deadline) {
            let due = text_of(draft, "due");
            if due.is_empty() {
                continue;
            }
            let is_right = truth.deadlines.iter().any(|it| it.due.as_deref() == Some(due));
            self.reliability.add("due day", draft.confidence, is_right);
            if draft.confidence > SURE {
                self.due.right += usize::from(is_right);
                self.due.wrong += usize::from(!is_right);
            } else {
                self.doubtful.0 += usize::from(is_right);
                self.doubtful.1 += 1;
            }
            if !is_right {
                let how = format!("due day wrong ({:.2}): {due} {}", draft.confidence, draft.title);
                self.tell(paper, &how);
            }
            days.retain(|it| *it != due);
        }
        self.due.missed += days.len();
        for it in
            truth.deadlines.iter().filter(|it| days.contains(&it.due.as_deref().unwrap_or("")))
        {
            let (due, words) = (it.due.as_deref(), it.words.as_deref());
            let told = format!("{} {}", due.unwrap_or_default(), words.unwrap_or_default());
            self.tell(paper, &format!("due day missed: {told}"));
        }
    }

    pub(crate) fn print(&self) {
        println!("\n{} papers\n", self.papers);
        println!("| kind | right | wrong | of them repeated | missed | precision | recall |");
        println!("|---|---|---|---|---|---|---|");
        for kind in ["party", "attorney", "judge", "court", "case number"] {
            let it = self.scores.get(kind).copied().unwrap_or_default();
            println!(
                "| {kind} | {} | {} | {} | {} | {:.3} | {:.3} |",
                it.right,
                it.wrong,
                it.repeated,
                it.missed,
                it.precision(),
                it.recall()
            );
        }
        println!("\n| | right | of | share |\n|---|---|---|---|");
        for (what, (right, of)) in [
            ("role of a party whose name is right", self.roles),
            ("title", self.titles),
            ("document type", self.types),
            ("due day above 0.6", (self.due.right, self.due.right + self.due.wrong)),
            ("due day at 0.6 or below", self.doubtful),
        ] {
            println!("| {what} | {right} | {of} | {:.3} |", share(right, of));
        }
        println!("\nDue days that were not found: {}.", self.due.missed);
        println!("Courts below that the truth leaves out, not counted: {}.", self.reviewed_courts);
        println!("\n| kind | stated | right | of | share right |\n|---|---|---|---|---|");
        for (kind, stated, right, of) in self.reliability.rows() {
            println!("| {kind} | {stated:.2} | {right} | {of} | {:.3} |", share(right, of));
        }
        let (right, of) = self.reliability.from(0.9);
        println!("| all | 0.90 or more | {right} | {of} | {:.3} |", share(right, of));
    }
}
