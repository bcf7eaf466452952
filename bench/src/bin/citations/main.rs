//! Finds citations in generated opinions with our crate and with eyecite in the same run, on one
//! thread each.
//!
//! `cargo xtask bench citations [BYTES] [ROUNDS]`

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod corpus;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use bench::outcome::{Outcome, exit_code};
use cite::{CharPositions, CitationKind};
use corpus::Corpus;
use cpu_time::ThreadTime;
use serde::Deserialize;
use testkit::TempFolder;

const EYECITE: &str = "eyecite==2.7.8";
/// Characters of an opinion. Long ones are worse for eyecite, whose time for references grows with
/// the square of the length; the target holds for both.
const LENGTHS: [usize; 2] = [2_000, 20_000];
/// How many times as fast ours must be.
const TIMES: f64 = 200.0;

/// The output of eyecite: its version, its processor time, and the citations of each text.
#[derive(Deserialize)]
struct Answer {
    version: String,
    seconds: f64,
    found: Vec<Vec<(String, usize)>>,
}

/// 0 when the target is met, 1 when it is not, 2 when the measurement failed.
fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Outcome<bool> {
    let mut arguments = std::env::args().skip(1);
    let size: usize = arguments.next().map_or(Ok(400_000), |it| it.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |it| it.parse())?;
    let python = python().ok_or("eyecite could not be installed")?;
    println!("least processor time of {rounds} rounds, one thread\n");
    println!("| opinions | | MB a second | citations | of those the other found |");
    println!("|---|---|---|---|---|");
    let mut least = f64::INFINITY;
    for length in LENGTHS {
        let mut corpus = Corpus::new();
        let texts: Vec<String> = (0..size / length).map(|_| corpus.opinion(length)).collect();
        least = least.min(race(&texts, &python, rounds)?);
    }
    let kept = least >= TIMES;
    let verdict = if kept { "kept" } else { "MISSED" };
    println!("\n{verdict}: times as fast as eyecite: {least:.0}, at least {TIMES:.0}");
    Ok(kept)
}

/// Runs both over the same texts and returns how many times as fast ours is.
fn race(texts: &[String], python: &Path, rounds: usize) -> Outcome<f64> {
    let folder = TempFolder::new();
    let path = folder.path().join("texts.json");
    std::fs::write(&path, serde_json::to_vec(texts)?)?;
    let ours = ours(texts, rounds);
    let theirs = eyecite(python, &path, rounds)?;
    let megabytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    let (fast, slow) = (megabytes / ours, megabytes / theirs.seconds);
    let (mine, shared, total) = compare(texts, &theirs.found);
    let share = |of: usize| 100.0 * shared as f64 / of.max(1) as f64;
    let (count, length) = (texts.len(), texts.first().map_or(0, String::len));
    println!(
        "| {count} of about {length} bytes | cite, found and resolved | {fast:.1} | {mine} | {:.2} % |",
        share(mine)
    );
    println!(
        "| | eyecite {}, found | {slow:.3} | {total} | {:.2} % |",
        theirs.version,
        share(total)
    );
    Ok(fast / slow)
}

/// Seconds for all texts, one after another, the best of many rounds.
fn ours(texts: &[String], rounds: usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds * 10 {
        let start = ThreadTime::now();
        for text in texts {
            let found = cite::find(text);
            std::hint::black_box(cite::resolve(&found));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn eyecite(python: &Path, texts: &Path, rounds: usize) -> Outcome<Answer> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/eyecite_find.py");
    let output = Command::new(python).arg(script).arg(texts).arg(rounds.to_string()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The number of our citations, of common ones, and of eyecite's.
fn compare(texts: &[String], theirs: &[Vec<(String, usize)>]) -> (usize, usize, usize) {
    let (mut mine, mut shared, mut total) = (0, 0, 0);
    for (text, theirs) in texts.iter().zip(theirs) {
        let found = cite::find(text);
        let mut positions = CharPositions::new(text);
        let ours: HashSet<(&str, usize)> =
            found.iter().map(|it| (kind(it.kind), positions.at(it.span.start))).collect();
        mine += ours.len();
        total += theirs.len();
        shared += theirs.iter().filter(|it| ours.contains(&(it.0.as_str(), it.1))).count();
    }
    (mine, shared, total)
}

/// The class of eyecite for a kind of citation.
fn kind(kind: CitationKind) -> &'static str {
    match kind {
        CitationKind::FullCase | CitationKind::PublicDomain => "FullCaseCitation",
        CitationKind::ShortCase => "ShortCaseCitation",
        CitationKind::Id => "IdCitation",
        CitationKind::Supra => "SupraCitation",
        CitationKind::Reference => "ReferenceCitation",
        CitationKind::Statute | CitationKind::Regulation => "FullLawCitation",
        CitationKind::Journal => "FullJournalCitation",
        CitationKind::Section | CitationKind::Decision | CitationKind::Docket => "UnknownCitation",
    }
}

fn python() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/eyecite-venv");
    let python = venv.join("bin/python");
    let ready = || {
        let output = Command::new(&python).args(["-c", "import eyecite"]).output();
        output.is_ok_and(|it| it.status.success())
    };
    if !ready() {
        Command::new("python3").args(["-m", "venv"]).arg(&venv).status().ok()?;
        let install = ["-m", "pip", "install", "--quiet", EYECITE];
        Command::new(&python).args(install).status().ok()?;
    }
    ready().then_some(python)
}
