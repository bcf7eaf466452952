//! What the archive finds in papers whose facts a person wrote down, against these facts: parties,
//! attorneys, judges, courts, titles, types and due days, and whether the stated confidence holds.
//!
//! `cargo xtask bench papers FOLDER [--totals]`
//!
//! The folder has each paper as `NAME.pdf`, `.docx`, `.txt` or another format that the reader knows,
//! and `NAME.truth.json` beside it. With `--totals` no error is printed.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod fold;
mod paper;
mod report;
mod score;
mod title;
mod truth;

use std::path::Path;
use std::process::ExitCode;

use report::Report;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("not measured: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure() -> Outcome<()> {
    let (mut folder, mut totals) = (None, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--totals" => totals = true,
            _ if argument.starts_with('-') => {
                return Err(format!("{argument} is not an option; there is --totals").into());
            }
            _ => folder = Some(argument),
        }
    }
    let folder = folder.ok_or("name a folder with papers and their NAME.truth.json")?;
    let mut report = Report::new(!totals);
    for (file, truth_file) in paper::labelled_files(Path::new(&folder))? {
        let truth = truth::Truth::read(&truth_file)?;
        let paper = paper::PaperFacts::read(&file)?;
        report.add(&paper, &truth);
    }
    report.print();
    Ok(())
}
