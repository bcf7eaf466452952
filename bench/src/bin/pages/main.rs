//! The pages benchmark: two-word queries within one case over a million pages, the first twenty hits
//! with snippets and the exact total, ours against tantivy.
//!
//! `cargo xtask bench pages [PAGES] [ROUNDS]`

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod ours;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use bench::outcome::{Outcome, exit_code};
use bench::search_corpus::{CASES, Corpus, CorpusRng, Question};
use bench::search_peers::{Peers, Times};
use ours::Ours;
use testkit::TempFolder;

const QUESTIONS: usize = 1_000;
/// Pages of one file.
const FILE_PAGES: usize = 20;
/// How much longer than tantivy's our p99 may be.
const RATIO_MAX: f64 = 1.5;

#[tokio::main]
async fn main() -> ExitCode {
    exit_code(measure().await)
}

/// A file of one case with its pages.
pub(crate) struct MadeFile {
    pub case: usize,
    pub pages: Vec<String>,
}

/// The files, the same on every run.
pub(crate) fn files(pages: usize) -> impl Iterator<Item = MadeFile> {
    let (mut corpus, mut left) = (Corpus::new(), pages);
    std::iter::from_fn(move || {
        let count = left.min(FILE_PAGES);
        left -= count;
        (count > 0).then(|| MadeFile {
            case: corpus.case(),
            pages: (0..count).map(|_| corpus.page()).collect(),
        })
    })
}

async fn measure() -> Outcome<bool> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1_000_000), |it| it.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |it| it.parse())?;
    let folder = TempFolder::new();
    let questions = write(folder.path(), count)?;
    println!("\n| index | made in s | MB on disk |\n|---|-:|-:|");
    let mut peers = Peers::start(folder.path(), "pages", "tantivy")?;
    let (name, seconds, bytes) = peers.made()?;
    println!("| {name} | {seconds:.1} | {:.0} |", bytes / 1e6);
    let ours = Ours::load(folder.path(), count).await?;
    println!(
        "| Stoa, SQLite, with the pages | {:.1} | {:.0} |",
        ours.seconds,
        ours.bytes as f64 / 1e6
    );
    let (mut mine, mut tantivy) = (Times::default(), Times::default());
    // One extra round warms all caches.
    for round in 0..=rounds {
        let (a, b) = (ours.round(&questions).await?, peers.round("tantivy")?);
        if round > 0 {
            mine.better(a);
            tantivy.better(b);
        }
    }
    println!("\n| two words, one case, first 20, total | hits | p50 ms | p99 ms | max ms |");
    println!("|---|-:|-:|-:|-:|");
    mine.print("Stoa, SQLite: records, texts and snippets too");
    tantivy.print("tantivy: numbers alone");
    ours.print_others(&questions).await?;
    let ratio = mine.at(0.99) / tantivy.at(0.99);
    let kept = ratio <= RATIO_MAX;
    let verdict = if kept { "kept" } else { "MISSED" };
    println!("\np99 at most {RATIO_MAX} times that of tantivy: {ratio:.3} times, {verdict}");
    Ok(kept)
}

/// The pages and the queries as files, for the peer.
fn write(folder: &Path, count: usize) -> Outcome<Vec<Question>> {
    let (corpus, mut rng) = (Corpus::new(), CorpusRng::new(7));
    let mut out = std::io::BufWriter::new(std::fs::File::create(folder.join("pages"))?);
    let mut questions = Vec::with_capacity(QUESTIONS);
    let (mut bytes, mut at, every) = (0, 0, (count / QUESTIONS).max(1));
    for file in files(count) {
        for page in &file.pages {
            bytes += page.len();
            writeln!(out, "case{}\t\t{page}", file.case)?;
            if at % every == 0 && questions.len() < QUESTIONS {
                questions.extend(corpus.question(file.case, page, &mut rng));
            }
            at += 1;
        }
    }
    out.flush()?;
    let line = |it: &Question| format!("case{}\t{}\t{}\n", it.case, it.words[0], it.words[1]);
    std::fs::write(folder.join("questions"), questions.iter().map(line).collect::<String>())?;
    println!("{count} pages of {CASES} cases, {} MB of text", bytes / 1_000_000);
    println!("{} questions of two words and a case", questions.len());
    Ok(questions)
}
