//! The totals over all papers and how they are printed.

use std::collections::{BTreeMap, BTreeSet};

use archive_drafts::{Category, DocumentDrafts, Draft};

use crate::extra::{self, Extra, OutcomeLabel};
use crate::facts::{self, Score, Scores};
use crate::judge;
use crate::papers::LabelledPaper;

/// The kinds whose labels the papers do not have.
const UNLABELLED: [&str; 3] = ["document type", "organisation", "conflict"];

/// Right and wrong findings of one kind that state one confidence.
#[derive(Default)]
struct Counted {
    right: usize,
    wrong: usize,
}

pub(crate) struct Report {
    show: bool,
    papers: usize,
    scores: Scores,
    titles: Counted,
    types: Counted,
    /// Computed due days, by confidence in hundredths.
    due: BTreeMap<u32, Counted>,
    outcomes: Score,
    conflicts: usize,
    /// By kind and confidence in hundredths.
    stated: BTreeMap<(&'static str, u32), Counted>,
}

impl Report {
    pub(crate) fn new(show: bool) -> Self {
        Self {
            show,
            papers: 0,
            scores: Scores::new(),
            titles: Counted::default(),
            types: Counted::default(),
            due: BTreeMap::new(),
            outcomes: Score::default(),
            conflicts: 0,
            stated: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, paper: &LabelledPaper, drafts: &DocumentDrafts) {
        self.papers += 1;
        let name = paper.sample.name.as_str();
        let mut truth = facts::stated(&paper.sample.truth);
        let mut read = facts::read(drafts);
        judge::normalize(&mut truth);
        judge::normalize(&mut read);
        for kind in UNLABELLED {
            truth.remove(kind);
            read.remove(kind);
        }
        if let Some(extra) = &paper.extra {
            for kind in ["due day", "sure due day"] {
                truth.remove(kind);
                read.remove(kind);
            }
            for (kind, list) in &mut read {
                let known = truth.get(kind).cloned().unwrap_or_default();
                list.retain(|it| {
                    known.iter().any(|other| judge::same(kind, it, other))
                        || extra.is_complete(kind) && !extra.is_optional(kind, it)
                });
            }
        }
        let show = self.show;
        facts::compare(&mut self.scores, &truth, &read, judge::same, |kind, how, what| {
            if show {
                println!("{name}: {kind} {how}: {what}");
            }
        });
        self.add_confidence(paper, &truth, drafts);
        self.add_extra(paper, drafts);
        let conflicts = drafts.drafts.iter().filter(|it| it.category == Category::Conflict);
        for it in conflicts {
            self.conflicts += 1;
            self.tell(name, &format!("conflict: {}", it.title));
        }
    }

    fn tell(&self, name: &str, what: &str) {
        if self.show {
            println!("{name}: {what}");
        }
    }

    /// Counts each finding under the confidence that it states.
    fn add_confidence(
        &mut self,
        paper: &LabelledPaper,
        truth: &facts::Facts,
        drafts: &DocumentDrafts,
    ) {
        let none = BTreeSet::new();
        for draft in &drafts.drafts {
            for (kind, fact) in facts::of_draft(draft) {
                let mut one = facts::Facts::from([(kind, BTreeSet::from([fact]))]);
                judge::normalize(&mut one);
                let Some(fact) = one.get(kind).and_then(|it| it.first()) else { continue };
                let by_label = kind == "due day" && paper.extra.is_some();
                if UNLABELLED.contains(&kind)
                    || kind == "sure due day"
                    || kind == "date"
                    || by_label
                {
                    continue;
                }
                let known = truth.get(kind).unwrap_or(&none);
                let right = known.iter().any(|it| judge::same(kind, fact, it));
                let counts = paper
                    .extra
                    .as_ref()
                    .is_none_or(|it| it.is_complete(kind) && !it.is_optional(kind, fact));
                if !(right || counts) {
                    continue;
                }
                let stated = hundredths(draft);
                count(self.stated.entry((kind, stated)).or_default(), right);
                if kind == "due day" {
                    count(self.due.entry(stated).or_default(), right);
                }
            }
        }
    }

    fn add_extra(&mut self, paper: &LabelledPaper, drafts: &DocumentDrafts) {
        let Some(extra) = &paper.extra else { return };
        let name = paper.sample.name.as_str();
        let Some(summary) = drafts.drafts.iter().find(|it| it.category == Category::Summary) else {
            return;
        };
        let titles = &extra.titles;
        if !titles.is_empty() {
            let right = titles.iter().any(|it| extra::names(&summary.title, it));
            count(&mut self.titles, right);
            if !right {
                self.tell(name, &format!("title: {} | is: {titles:?}", summary.title));
            }
        }
        let types = &extra.document_types;
        let said = summary.entities.get("documentType").and_then(|it| it.as_str()).unwrap_or("");
        if !types.is_empty() {
            let right = types.iter().any(|it| extra::in_our_word(it) == said);
            count(&mut self.types, right);
            count(self.stated.entry(("document type", hundredths(summary))).or_default(), right);
            if !right {
                self.tell(name, &format!("type: {said} | is: {types:?}"));
            }
        }
        self.add_due_days(name, extra, drafts);
        let outcomes: Vec<String> = extra.outcomes.iter().flat_map(OutcomeLabel::words).collect();
        self.add_outcomes(name, &outcomes, drafts);
    }

    /// Judges each computed last day by the labelled ones.
    fn add_due_days(&mut self, name: &str, extra: &Extra, drafts: &DocumentDrafts) {
        let deadlines = drafts.drafts.iter().filter(|it| it.category == Category::Deadline);
        for it in deadlines.filter(|it| !it.entities.contains_key("fixed")) {
            let Some(due) = it.entities.get("due").and_then(|it| it.as_str()) else { continue };
            let right = extra.due_days().any(|it| it == due);
            let stated = hundredths(it);
            count(self.due.entry(stated).or_default(), right);
            count(self.stated.entry(("due day", stated)).or_default(), right);
            if !right {
                self.tell(name, &format!("due day wrong at {stated} %: {}", it.title));
            }
        }
    }

    fn add_outcomes(&mut self, name: &str, truth: &[String], drafts: &DocumentDrafts) {
        let known: BTreeSet<&str> = truth.iter().map(String::as_str).collect();
        let outcomes = drafts.drafts.iter().filter(|it| it.category == Category::Outcome);
        let mut found = BTreeMap::new();
        for it in outcomes {
            let word = it.entities.get("outcome").and_then(|it| it.as_str()).unwrap_or("");
            found.entry(word).or_insert_with(|| hundredths(it));
        }
        for (word, stated) in &found {
            let right = known.contains(word);
            count(self.stated.entry(("outcome", *stated)).or_default(), right);
            self.outcomes.right += usize::from(right);
            self.outcomes.wrong += usize::from(!right);
            if !right {
                self.tell(name, &format!("outcome wrong: {word}"));
            }
        }
        for word in known {
            let there = found.contains_key(word);
            self.outcomes.found += usize::from(there);
            self.outcomes.missed += usize::from(!there);
            if !there {
                self.tell(name, &format!("outcome missed: {word}"));
            }
        }
    }

    pub(crate) fn print(&self) {
        println!("{} papers", self.papers);
        println!("\nkind              precision  recall   right  wrong  missed");
        let outcomes = ("outcome", self.outcomes);
        for (kind, it) in self.scores.iter().map(|it| (*it.0, *it.1)).chain([outcomes]) {
            println!(
                "{kind:<17} {:>9.3} {:>7.3} {:>7} {:>6} {:>7}",
                it.precision(),
                it.recall(),
                it.right,
                it.wrong,
                it.missed
            );
        }
        println!("\ntitle             {}", self.titles.shown());
        println!("document type     {}", self.types.shown());
        println!(
            "conflicts         {} reported; the papers have no label of conflicts",
            self.conflicts
        );
        println!("\ncomputed due days by stated confidence");
        for (stated, it) in &self.due {
            println!("{:>6.2}  {} right, {} wrong", f64::from(*stated) / 100.0, it.right, it.wrong);
        }
        println!("\nkind              stated  findings  right  share");
        for ((kind, stated), it) in &self.stated {
            self.print_stated(kind, *stated, it);
        }
        let mut all: BTreeMap<u32, Counted> = BTreeMap::new();
        for ((_, stated), it) in &self.stated {
            let sum = all.entry(*stated).or_default();
            sum.right += it.right;
            sum.wrong += it.wrong;
        }
        for (stated, it) in &all {
            self.print_stated("all", *stated, it);
        }
    }

    fn print_stated(&self, kind: &str, stated: u32, it: &Counted) {
        let all = it.right + it.wrong;
        let share = it.right as f64 / all.max(1) as f64;
        let stated = f64::from(stated) / 100.0;
        println!("{kind:<17} {stated:>6.2} {all:>9} {:>6}  {share:>5.2}", it.right);
    }
}

impl Counted {
    fn shown(&self) -> String {
        let all = self.right + self.wrong;
        let share = 100.0 * self.right as f64 / all.max(1) as f64;
        format!("{} of {all} right ({share:.0} %)", self.right)
    }
}

fn count(counted: &mut Counted, right: bool) {
    if right {
        counted.right += 1;
    } else {
        counted.wrong += 1;
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
fn hundredths(draft: &Draft) -> u32 {
    (draft.confidence * 100.0).round() as u32
}
