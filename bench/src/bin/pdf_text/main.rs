//! The text of PDF files, ours against `MuPDF` and `PDFium`, with the words of `pdftotext` as the
//! reference. A word is a run of letters and digits in small letters; order does not count.
//!
//! `cargo xtask bench pdf_text FOLDER [PYTHON]`
//!
//! `pdftotext` (Debian: poppler-utils) must be installed. `mutool` (mupdf-tools) is measured where
//! it is installed, and `PyMuPDF` and `pypdfium2` where `PYTHON` can import them.

#![expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]

mod reader;
mod score;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) use bench::outcome::Outcome;
use bench::outcome::exit_code;
use reader::{Reader, readers};
use score::{Scores, words};
use sha2::{Digest, Sha256};

/// Files with fewer words in the reference say little about a reader.
const WORDS_MIN: usize = 50;

fn main() -> ExitCode {
    exit_code(measure().map(|()| true))
}

fn measure() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder with PDF files")?;
    let files = pdf_files(Path::new(&folder))?;
    let python = arguments.next();
    let mut readers = readers(python.as_deref());
    let mut scores: Vec<Scores> = readers.iter().map(|_| Scores::default()).collect();
    for file in &files {
        let second_half = is_second_half(file);
        let mut reference = None;
        for (reader, scores) in readers.iter_mut().zip(&mut scores) {
            let read = reader.read(file)?;
            let found = words(&read.text);
            scores.silent += usize::from(read.text.trim().is_empty() && read.problems == 0);
            scores.empty += usize::from(found.is_empty());
            // The first reader is the reference.
            let reference = reference.get_or_insert_with(|| found.clone());
            if reference.values().sum::<usize>() >= WORDS_MIN {
                scores.add(second_half, reference, &found);
            }
        }
    }
    report(&files, &readers, &scores);
    Ok(())
}

fn pdf_files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    let mut files: Vec<PathBuf> = entries?.into_iter().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "pdf"));
    files.sort();
    if files.is_empty() { Err("the folder has no PDF files".into()) } else { Ok(files) }
}

/// The set is split by the hash of the name, so that rules can be tuned on one half only.
fn is_second_half(file: &Path) -> bool {
    let name = file.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    Sha256::digest(name.as_bytes()).last().is_some_and(|it| it & 1 == 1)
}

fn report(files: &[PathBuf], readers: &[Reader], scores: &[Scores]) {
    let count = scores.first().map_or(0, Scores::files);
    println!("{} files, {count} of them with {WORDS_MIN} words or more\n", files.len());
    println!(
        "| reader | recall | precision | first half | second half | no words | and no reason | \
         processor s | of it starting | slower than ours |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let ours = readers.iter().find(|it| it.is_ours()).map_or(0.0, |it| it.seconds);
    for (reader, scores) in readers.iter().zip(scores) {
        let [first, second, all] = scores.means();
        let times = (reader.seconds - reader.starting_seconds) / ours;
        println!(
            "| {} | {:.4} | {:.4} | {:.4} / {:.4} | {:.4} / {:.4} | {} | {} | {:.2} | {:.2} | \
             {times:.1} times |",
            reader.name,
            all.0,
            all.1,
            first.0,
            first.1,
            second.0,
            second.1,
            scores.empty,
            if reader.is_ours() { scores.silent.to_string() } else { "-".to_owned() },
            reader.seconds,
            reader.starting_seconds,
        );
    }
}
