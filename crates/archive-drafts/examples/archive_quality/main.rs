//! Prints the quality of the drafts on a folder of labelled papers: precision and recall of each
//! kind, titles, document types, due days by confidence, outcomes, conflicts, and how often a stated
//! confidence is right: `cargo run -p archive-drafts --example archive_quality -- FOLDER`.
//!
//! It prints totals only, so that the papers stay unseen; `--show` prints each difference too.
#![expect(clippy::print_stdout, reason = "a command-line tool talks to its terminal")]
#![expect(clippy::print_stderr, reason = "a command-line tool talks to its terminal")]
#![allow(clippy::unwrap_used, reason = "a label that cannot be read ends the run")]
#![allow(dead_code, reason = "the scoring is shared with the tests, which use more of it")]

mod extra;
#[path = "../../tests/it/facts.rs"]
mod facts;
#[path = "../../tests/it/unseen/judge.rs"]
mod judge;
#[path = "../../tests/it/unseen/labels.rs"]
mod labels;
#[path = "../../tests/it/law.rs"]
mod law;
mod papers;
mod report;

use std::process::ExitCode;

use archive_drafts::{DocumentDrafts, DraftMode, DraftOptions};
use archive_text::PageText;

use papers::LabelledPaper;
use report::Report;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let show = args.iter().any(|it| it == "--show");
    let folders: Vec<&String> = args.iter().filter(|it| !it.starts_with("--")).collect();
    if folders.is_empty() {
        eprintln!("archive_quality FOLDER... [--show]");
        return ExitCode::FAILURE;
    }
    let mut report = Report::new(show);
    for folder in folders {
        match papers::read(folder) {
            Ok(list) => list.iter().for_each(|it| add(&mut report, it)),
            Err(error) => {
                eprintln!("{folder}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    report.print();
    ExitCode::SUCCESS
}

fn add(report: &mut Report, paper: &LabelledPaper) {
    let texts: Vec<&str> = paper.sample.text.split('\u{c}').collect();
    let pages: Vec<PageText<'_>> =
        (1_u32..).zip(&texts).map(|(number, text)| PageText { number, part: "", text }).collect();
    let drafts: DocumentDrafts = archive_drafts::read(&pages, &DraftOptions::all(DraftMode::Deep));
    report.add(paper, &drafts);
}
