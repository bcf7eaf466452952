//! Counts of answers by kind and language, and their tables.

use std::collections::BTreeMap;

use archive_integrity::{Answer, InsightReport, Verdict};

#[derive(Default, Clone, Copy)]
pub(crate) struct Answers {
    contradicted: u32,
    not_found: u32,
    supported: u32,
    nothing: u32,
}

impl Answers {
    pub(crate) fn add(&mut self, answer: Answer) {
        *match answer {
            Answer::Contradicted => &mut self.contradicted,
            Answer::NotFound => &mut self.not_found,
            Answer::Supported => &mut self.supported,
            Answer::NothingToCheck => &mut self.nothing,
        } += 1;
    }

    fn plus(mut self, other: &Self) -> Self {
        self.contradicted += other.contradicted;
        self.not_found += other.not_found;
        self.supported += other.supported;
        self.nothing += other.nothing;
        self
    }

    fn all(&self) -> u32 {
        self.contradicted + self.not_found + self.supported + self.nothing
    }
}

/// What `ten_rules` says about faithful claims.
#[derive(Default, Clone, Copy)]
pub(crate) struct Rules {
    warnings: u32,
    failed: u32,
    all: u32,
}

impl Rules {
    pub(crate) fn add(&mut self, report: &InsightReport) {
        self.all += 1;
        match report.verdict {
            Verdict::Passed => {}
            Verdict::Warning => self.warnings += 1,
            Verdict::Failed => self.failed += 1,
        }
    }
}

fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all.max(1))
}

fn row(side: bool, kind: &str, language: &str, it: &Answers) {
    let side = if side { "faithful" } else { "false" };
    let all = it.all();
    let cell = |part: u32| format!("{part} ({:.3})", share(part, all));
    println!(
        "| {side} | {kind} | {language} | {all} | {} | {} | {} | {} |",
        cell(it.contradicted),
        cell(it.not_found),
        cell(it.supported),
        cell(it.nothing)
    );
}

pub(crate) fn print_answers(counts: &BTreeMap<(bool, String, String), Answers>, only_totals: bool) {
    println!(
        "| claims | kind | language | number | contradicted | not found | supported | \
         nothing to check |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    if !only_totals {
        for ((side, kind, language), it) in counts {
            row(*side, kind, language, it);
        }
    }
    for side in [false, true] {
        let own = || counts.iter().filter(move |it| it.0.0 == side);
        let mut languages: BTreeMap<&str, Answers> = BTreeMap::new();
        for ((_, _, language), it) in own() {
            let sum = languages.entry(language).or_default();
            *sum = sum.plus(it);
        }
        for (language, it) in languages.iter().filter(|_| languages.len() > 1) {
            row(side, "all", language, it);
        }
        let all = own().fold(Answers::default(), |sum, it| sum.plus(it.1));
        row(side, "all", "all", &all);
    }
    println!();
}

pub(crate) fn print_rules(counts: &BTreeMap<String, Rules>) {
    for (language, it) in counts {
        println!(
            "ten_rules on {} faithful claims ({language}): {} warnings, {} failed, not passed {:.3}",
            it.all,
            it.warnings,
            it.failed,
            share(it.warnings + it.failed, it.all)
        );
    }
}
