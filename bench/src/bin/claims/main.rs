//! The answers of `fact_check` to true and false claims about texts, and what `ten_rules` accuses
//! among the true ones. The claims are read from a folder and are never committed.
//!
//! `cargo xtask bench claims FOLDER [--totals] [--show]`
//!
//! `--totals` prints no row of a kind; `--show` also prints each claim that was answered wrongly,
//! so it is not for a set that the rules must not see.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod set;
mod tally;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use archive_integrity::{
    Answer, CitedSource, Insight, InsightReport, IntegrityTest, SourceText, TestOptions, run,
};
use set::{Paper, papers};
use tally::{Answers, Rules, print_answers, print_rules};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

struct Options {
    folder: String,
    only_totals: bool,
    show: bool,
}

fn main() -> ExitCode {
    match options().and_then(|it| measure(&it)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("not measured: {error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Outcome<Options> {
    let mut options = Options { folder: String::new(), only_totals: false, show: false };
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--totals" => options.only_totals = true,
            "--show" => options.show = true,
            unknown if unknown.starts_with("--") => {
                return Err(format!("unknown option {unknown}; use --totals or --show").into());
            }
            folder => folder.clone_into(&mut options.folder),
        }
    }
    if options.folder.is_empty() {
        return Err("name a folder with NAME.txt and NAME.claims.json".into());
    }
    Ok(options)
}

fn measure(options: &Options) -> Outcome<()> {
    let papers = papers(Path::new(&options.folder))?;
    // By side, kind and language.
    let mut answers: BTreeMap<(bool, String, String), Answers> = BTreeMap::new();
    let mut rules: BTreeMap<String, Rules> = BTreeMap::new();
    for paper in &papers {
        let facts = judge(IntegrityTest::FactCheck, paper);
        let ten = judge(IntegrityTest::TenRules, paper);
        for ((claim, fact), ten) in paper.claims.iter().zip(&facts).zip(&ten) {
            let answer = fact.answer.ok_or("fact_check gave no answer")?;
            let key = (claim.faithful, claim.kind.clone(), paper.language.clone());
            answers.entry(key).or_default().add(answer);
            if claim.faithful {
                rules.entry(paper.language.clone()).or_default().add(ten);
            }
            let wrong = match answer {
                Answer::Contradicted => claim.faithful,
                Answer::Supported => !claim.faithful,
                _ => false,
            };
            if options.show {
                let mark = if wrong { "WRONG " } else { "" };
                let side = if claim.faithful { "faithful" } else { "false" };
                let (name, kind) = (&paper.name, &claim.kind);
                println!("{mark}{side} {kind} {} {name}: {}", answer.word(), claim.text);
                println!("    evidence: {}", claim.evidence);
                fact.issues().iter().for_each(|it| println!("    {it}"));
                if claim.faithful && ten.verdict != archive_integrity::Verdict::Passed {
                    println!("    TEN {} {:?}", ten.verdict.word(), ten.issues());
                }
            }
        }
    }
    let claims: usize = papers.iter().map(|it| it.claims.len()).sum();
    println!("{claims} claims about {} texts\n", papers.len());
    print_answers(&answers, options.only_totals);
    print_rules(&rules);
    Ok(())
}

/// The reports of one test, in the order of the claims.
fn judge(test: IntegrityTest, paper: &Paper) -> Vec<InsightReport> {
    let texts = [SourceText { file_hash: paper.name.clone(), pages: paper.pages.clone() }];
    let insights: Vec<Insight> = paper
        .claims
        .iter()
        .enumerate()
        .map(|(at, claim)| Insight {
            id: at.to_string(),
            content: claim.text.clone(),
            sources: vec![CitedSource { file_hash: paper.name.clone(), ..CitedSource::default() }],
            ..Insight::default()
        })
        .collect();
    run(test, &insights, &texts, &TestOptions::default()).details
}
