//! Counts how many spans of the pages of PDF files are found among the words of their pictures.
//!
//! `cargo run --release -p archive-extract --example marks FILE...`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::path::Path;
use std::process::ExitCode;

use archive_extract::page_picture::{MarksFound, PageRequest, draw};
use archive_extract::{ExtractedPage, Format, NoOcr, ReadLimits, ReaderProcess, read_all};

/// Pages of a file, spans of a page and words of a span that are tried.
const PAGES: usize = 5;
const SPANS: usize = 4;
const SPAN_WORDS: usize = 12;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|it| it == "worker") {
        return archive_extract::worker_main(std::io::stdin(), std::io::stdout());
    }
    let mut found = [0_u32; 4];
    for path in &arguments {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let document = read_all(path, &bytes, &ReadLimits::default(), &NoOcr);
        for page in document.pages.iter().filter(|it| !it.page.text.trim().is_empty()).take(PAGES) {
            let here = count(Path::new(path), page);
            found.iter_mut().zip(here).for_each(|(sum, it)| *sum += it);
            if here[2] > 0 {
                println!("{path} page {}: {here:?}", page.page.number);
            }
        }
    }
    println!("spans found whole, in part, not, page not drawn: {found:?}");
    ExitCode::SUCCESS
}

/// Tries spans of a page that are spread over its text.
fn count(path: &Path, page: &ExtractedPage) -> [u32; 4] {
    let text = &page.page.text;
    let starts: Vec<usize> =
        text.split_whitespace().map(|it| it.as_ptr() as usize - text.as_ptr() as usize).collect();
    let mut found = [0; 4];
    for at in 0..SPANS {
        let first = starts.len() * at / SPANS;
        let last = (first + SPAN_WORDS).min(starts.len());
        let chars = |byte: usize| {
            let before = text.get(..byte).unwrap_or_default();
            u32::try_from(before.chars().count()).unwrap_or(u32::MAX)
        };
        let end = starts.get(last).map_or(text.len(), |it| *it);
        let request = PageRequest {
            format: Format::Pdf,
            page: page.page.number,
            width: None,
            with_words: true,
            text: text.clone(),
            spans: std::iter::once(chars(starts[first])..chars(end)).collect(),
            is_ocr: false,
            seconds: 60,
            memory_bytes: 2 << 30,
        };
        let child = ReaderProcess {
            password: None,
            program: std::env::current_exe().unwrap_or_default(),
            arguments: vec!["worker".to_owned()],
            scratch: std::env::temp_dir(),
            languages: None,
        };
        let slot = match draw(&child, path, &request, &|| true).map(|it| it.marks) {
            Ok(Some(MarksFound::All)) => 0,
            Ok(Some(MarksFound::Part)) => 1,
            Ok(_) => 2,
            Err(_) => 3,
        };
        found[slot] += 1;
    }
    found
}
