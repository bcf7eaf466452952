//! The insights benchmark: two-word queries within one case over a million insights, the first
//! twenty hits and the exact total, ours against raw SQLite FTS5 and tantivy, and ours on
//! PostgreSQL.
//!
//! `cargo xtask bench insights [INSIGHTS] [ROUNDS] [INSIGHTS_ON_POSTGRESQL]`

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod ours;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use bench::outcome::{Outcome, exit_code};
use bench::search_corpus::{self as corpus, Corpus, CorpusRng, Question};
use bench::search_peers::{Peers, Times};
use ours::Ours;
use testkit::TempFolder;

const QUESTIONS: usize = 1_000;

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(measure().await)
}

async fn measure() -> Outcome<bool> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1_000_000), |it| it.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |it| it.parse())?;
    let on_postgres: usize = arguments.next().map_or(Ok(count), |it| it.parse())?;
    let folder = TempFolder::new();
    let questions = write(folder.path(), count)?;
    println!("\n| index | made in s | MB on disk |\n|---|-:|-:|");
    let mut peers = Peers::start(folder.path(), "insights", "both")?;
    for _ in 0..2 {
        let (name, seconds, bytes) = peers.made()?;
        println!("| {name} | {seconds:.1} | {:.0} |", bytes / 1e6);
    }
    let ours = Ours::sqlite(folder.path(), count).await?;
    println!("| Stoa, SQLite | {:.1} | {:.0} |", ours.seconds, ours.bytes as f64 / 1e6);

    let (mut mine, mut fts5, mut tantivy) = Default::default();
    for contender in [&mut mine, &mut fts5, &mut tantivy] {
        *contender = Times::default();
    }
    // One extra round warms all caches.
    for round in 0..=rounds {
        let (a, b) = (ours.round(&questions).await?, peers.round("fts5")?);
        let c = peers.round("tantivy")?;
        if round > 0 {
            mine.better(a);
            fts5.better(b);
            tantivy.better(c);
        }
    }
    println!("\n| two words, one case, first 20, total | hits | p50 ms | p99 ms | max ms |");
    println!("|---|-:|-:|-:|-:|");
    mine.print("Stoa, SQLite: rows and snippets too");
    fts5.print("raw SQLite FTS5: numbers alone");
    tantivy.print("tantivy: numbers alone");
    ours.print_others(&questions).await?;
    if let Some(postgres) = Ours::postgres(folder.path(), on_postgres).await? {
        let mut best = Times::default();
        for _ in 0..=rounds {
            best.better(postgres.round(&questions).await?);
        }
        println!("\nPostgreSQL: {on_postgres} insights, {:.1} s to load\n", postgres.seconds);
        println!("| PostgreSQL | hits | p50 ms | p99 ms | max ms |\n|---|-:|-:|-:|-:|");
        best.print("two words, one case, first 20, total");
        postgres.print_others(&questions).await?;
    }

    let ratio = mine.at(0.99) / fts5.at(0.99);
    let kept = ratio <= 1.0;
    let verdict = if kept { "kept" } else { "MISSED" };
    println!("\np99 at most that of raw FTS5: {ratio:.3} of it, {verdict}");
    Ok(kept)
}

/// The insights and the queries as files, for the peers.
fn write(folder: &Path, count: usize) -> Outcome<Vec<Question>> {
    let (mut corpus, mut rng) = (Corpus::new(), CorpusRng::new(7));
    let mut insights = std::io::BufWriter::new(std::fs::File::create(folder.join("insights"))?);
    let mut questions = Vec::with_capacity(QUESTIONS);
    let (mut bytes, every) = (0, (count / QUESTIONS).max(1));
    for at in 0..count {
        let made = corpus.insight();
        bytes += made.title.len() + made.content.len();
        writeln!(insights, "case{}\t{}\t{}", made.case, made.title, made.content)?;
        if at % every == 0 && questions.len() < QUESTIONS {
            questions.extend(corpus.question(made.case, &made.content, &mut rng));
        }
    }
    insights.flush()?;
    let line = |it: &Question| format!("case{}\t{}\t{}\n", it.case, it.words[0], it.words[1]);
    std::fs::write(folder.join("questions"), questions.iter().map(line).collect::<String>())?;
    let megabytes = bytes / 1_000_000;
    println!("{count} insights of {} cases, {megabytes} MB of text", corpus::CASES);
    println!("{} questions of two words and a case", questions.len());
    Ok(questions)
}
