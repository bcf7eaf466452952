//! Raw SQLite FTS5 and tantivy, or tantivy alone, over the texts of a file.
//!
//! `search-peers TEXTS QUESTIONS FOLDER both|tantivy`: both files have tab-separated lines, `case
//! title content` and `case word word`. When an index is made, a line `made NAME SECONDS BYTES` says so.
//! Each name on standard input is then answered with one line: the hits of all questions, and the
//! microseconds of each.

mod fts5;
mod tantivy_index;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

pub struct Insight<'a> {
    pub case: &'a str,
    pub title: &'a str,
    pub content: &'a str,
}

pub struct Question {
    pub case: String,
    pub words: [String; 2],
}

pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [texts, questions, folder, which] = &arguments[..] else { return Err("four words".into()) };
    let questions: Vec<Question> = fs::read_to_string(questions)?
        .lines()
        .filter_map(|line| {
            let mut parts = line.split('\t').map(str::to_owned);
            Some(Question { case: parts.next()?, words: [parts.next()?, parts.next()?] })
        })
        .collect();
    let folder = Path::new(folder);
    let mut fts5 = None;
    if which == "both" {
        let text = fs::read_to_string(texts)?;
        let insights: Vec<Insight<'_>> = text.lines().filter_map(insight).collect();
        let start = Instant::now();
        fts5 = Some(fts5::Fts5::make(&folder.join("fts5.db"), &insights)?);
        let bytes = size(&folder.join("fts5.db"))?;
        println!("made fts5 {:.2} {bytes}", start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    let lines = BufReader::new(fs::File::open(texts)?).lines();
    let tantivy = tantivy_index::Tantivy::make(&folder.join("tantivy"), lines)?;
    println!("made tantivy {:.2} {}", start.elapsed().as_secs_f64(), size(&folder.join("tantivy"))?);
    for line in std::io::stdin().lock().lines() {
        let ask: &mut dyn FnMut(&Question) -> Outcome<u64> = match line?.trim() {
            "fts5" => match &mut fts5 {
                Some(fts5) => &mut |question| fts5.ask(question),
                None => return Err("FTS5 was not asked for".into()),
            },
            "tantivy" => &mut |question| tantivy.ask(question),
            other => return Err(format!("no contender is called {other}").into()),
        };
        round(&questions, ask)?;
    }
    Ok(())
}

pub fn insight(line: &str) -> Option<Insight<'_>> {
    let mut parts = line.split('\t');
    Some(Insight { case: parts.next()?, title: parts.next()?, content: parts.next()? })
}

fn round(questions: &[Question], ask: &mut dyn FnMut(&Question) -> Outcome<u64>) -> Outcome<()> {
    let (mut hits, mut times) = (0, Vec::with_capacity(questions.len()));
    for question in questions {
        let start = Instant::now();
        hits += ask(question)?;
        times.push(format!("{:.1}", start.elapsed().as_secs_f64() * 1e6));
    }
    println!("{hits} {}", times.join(" "));
    Ok(())
}

fn size(path: &Path) -> Outcome<u64> {
    if path.is_file() {
        return Ok(fs::metadata(path)?.len());
    }
    fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}
