//! A large text and a long PDF: their time and memory, and the time of `pdftotext` for the same
//! pages.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::options::Options;
use crate::papers::Papers;
use crate::process::{self, Peak};
use crate::server::Stoa;
use crate::table::{Target, best, seconds};
use crate::wire::{Caller, text as field};
use crate::{MB, Outcome, writers};

/// The contract's requirements for large files.
const PROMISED_S: f64 = 60.0;
/// Pages of a large text, below the limit of pages read from one file.
const PAGE_BYTES: usize = 16 * 1024;

struct Run {
    upload: Duration,
    process: Duration,
    cpu: f64,
    peak: Peak,
    idle: f64,
    job: Value,
}

/// Once with form feeds between pages, and once without.
pub(crate) fn text(binary: &Path, options: &Options) -> Outcome<Vec<Target>> {
    println!("\n{} MB of text, standard mode", options.text_mb);
    println!(
        "{:<14} {:>9} {:>10} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9}",
        "",
        "upload s",
        "process s",
        "MB/s",
        "CPU s",
        "idle MB",
        "server MB",
        "child MB",
        "all MB",
        "pages",
        "insights"
    );
    let mut targets = Vec::new();
    for (name, separator) in [("form feeds", '\u{c}'), ("without", '\n')] {
        let content = long_text(options.text_mb * MB, separator);
        let stoa = Stoa::start(binary)?;
        let run = run(&stoa, "production.txt", content.as_bytes(), "standard")?;
        let Run { upload, process, cpu, peak, idle, job } = &run;
        let rate = options.text_mb as f64 / seconds(*upload + *process);
        let pages = job["result"]["metadata"]["pageCount"].to_string();
        let insights = insights(job);
        println!(
            "{name:<14} {:>9.2} {:>10.2} {rate:>7.1} {cpu:>8.1} {idle:>9.0} {:>9.0} {:>9.0} {:>9.0} {pages:>7} {insights:>9}",
            seconds(*upload),
            seconds(*process),
            peak.own,
            peak.child,
            peak.together,
        );
        print_problems(job);
        let taken = seconds(*upload + *process);
        let name = format!("{} MB of text ({name}), seconds", options.text_mb);
        targets.push(Target::at_most(name, taken, PROMISED_S));
    }
    Ok(targets)
}

/// A text of exactly `bytes` bytes, all ASCII.
fn long_text(bytes: usize, separator: char) -> String {
    let mut papers = Papers::new(2);
    let mut text = papers.paper(PAGE_BYTES);
    while text.len() < bytes {
        text.push(separator);
        papers.pages(&mut text, PAGE_BYTES);
    }
    text.truncate(bytes);
    text
}

fn run(stoa: &Stoa, name: &str, content: &[u8], mode: &str) -> Outcome<Run> {
    let token = stoa.token()?;
    let caller = Caller { address: stoa.address, token: &token };
    let idle = stoa.idle()?;
    let before = stoa.cpu()?;
    let ((upload, process, job), peak) = process::watched(stoa.id(), || {
        let started = Instant::now();
        let stored = caller.upload(name, &[content])?;
        let upload = started.elapsed();
        let job = caller.process(field(&stored, "fileId")?, &json!({ "extractionMode": mode }))?;
        Ok((upload, started.elapsed() - upload, job))
    })?;
    Ok(Run { upload, process, cpu: stoa.cpu()? - before, peak, idle, job })
}

fn insights(job: &Value) -> String {
    job["result"]["insightsTotal"].to_string()
}

/// Prints the problems that the archive reports about a file.
fn print_problems(job: &Value) {
    for problem in job["result"]["metadata"]["problems"].as_array().into_iter().flatten() {
        println!("  problem: {problem}");
    }
}

pub(crate) fn pdf(binary: &Path, options: &Options) -> Outcome<Vec<Target>> {
    let content = long_pdf(options.pages)?;
    let stoa = Stoa::start(binary)?;
    let path = stoa.folder().join("long.pdf");
    std::fs::write(&path, &content)?;
    println!("\nA PDF of {} pages, {:.1} MB", options.pages, content.len() as f64 / MB as f64);
    println!(
        "{:<40} {:>8} {:>9} {:>7} {:>11} {:>9} {:>9} {:>9}",
        "", "seconds", "pages/s", "CPU s", "pages/CPU s", "server MB", "child MB", "insights"
    );
    let pages = options.pages as f64;
    let peer = poppler(&path, options.rounds)?;
    match peer {
        Some((time, cpu)) => println!(
            "{:<40} {time:>8.2} {:>9.0} {cpu:>7.2} {:>11.0}",
            "pdftotext, text alone",
            pages / time,
            pages / cpu
        ),
        None => println!("pdftotext is not installed (poppler-utils), so nothing stands beside it"),
    }
    let mut standard = 0.0;
    for mode in ["fast", "standard", "deep"] {
        let run = run(&stoa, "long.pdf", &content, mode)?;
        let time = seconds(run.upload + run.process);
        println!(
            "{:<40} {time:>8.2} {:>9.0} {:>7.2} {:>11.0} {:>9.0} {:>9.0} {:>9}",
            format!("stoa, upload to completed, {mode}"),
            pages / time,
            run.cpu,
            pages / run.cpu,
            run.peak.own,
            run.peak.child,
            insights(&run.job),
        );
        print_problems(&run.job);
        if mode == "standard" {
            standard = time;
        }
    }
    if let Some((time, _)) = peer {
        println!("standard mode takes {:.2} times as long as pdftotext", standard / time);
    }
    let name = format!("a PDF of {} pages, standard, seconds", options.pages);
    Ok(vec![Target::at_most(name, standard, PROMISED_S)])
}

fn long_pdf(pages: usize) -> Outcome<Vec<u8>> {
    let mut papers = Papers::new(3);
    let mut lines = writers::lines(&papers.paper(2_000));
    while lines.len() < pages * writers::LINES {
        let mut text = String::new();
        papers.pages(&mut text, PAGE_BYTES);
        lines.extend(writers::lines(&text));
    }
    lines.truncate(pages * writers::LINES);
    writers::pdf(&lines)
}

/// The best wall time and the least processor time of `rounds` runs; `None` where it is not
/// installed.
fn poppler(path: &Path, rounds: usize) -> Outcome<Option<(f64, f64)>> {
    let (mut times, mut least) = (Vec::new(), f64::INFINITY);
    for _ in 0..rounds {
        let before = process::cpu("self")?;
        let started = Instant::now();
        let mut command = Command::new("pdftotext");
        let status =
            command.arg(path).arg(path.with_extension("txt")).stdin(Stdio::null()).status();
        match status {
            Ok(status) if status.success() => times.push(started.elapsed()),
            Ok(status) => return Err(format!("pdftotext ended with {status}").into()),
            Err(_) => return Ok(None),
        }
        least = least.min(process::cpu("self")? - before);
    }
    Ok(Some((best(&times), least)))
}
