//! The table of fuzz targets. A target checks what holds for any bytes and panics where it does not.

mod bars;
mod citations;
mod documents;
mod http;
mod tokens;
mod venues;

/// One parser and the laws that hold for any input of it.
pub struct Target {
    pub name: &'static str,
    /// Valid inputs, which the runs damage.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, which the runs insert.
    pub words: &'static [&'static str],
    /// Runs in the tests: all targets together take less than 20 s without optimisation.
    pub test_runs: u64,
    pub check: fn(&[u8]),
}

macro_rules! targets {
    ($($name:literal $seeds:expr, $words:expr, $test_runs:literal, $check:expr;)*) => {
        /// Every target.
        pub const TARGETS: &[Target] = &[$(Target {
            name: $name,
            seeds: $seeds,
            words: $words,
            test_runs: $test_runs,
            check: $check,
        },)*];
    };
}

targets! {
    "pdf" documents::pdfs, documents::PDF_WORDS, 500, documents::pdf;
    "pdf-page" documents::pdf_pages, documents::PDF_PAGE_WORDS, 500, documents::pdf_page;
    "pdf-font" documents::pdf_cmaps, documents::CMAP_WORDS, 500, documents::pdf_font;
    "pdf-font-program" documents::pdf_font_programs, documents::FONT_WORDS, 500,
        documents::pdf_font_program;
    "docx" documents::docx_files, &["PK\x01\x02", "PK\x03\x04", "PK\x05\x06", "word/"], 500,
        documents::docx;
    "docx-body" documents::docx_bodies, documents::WORD_XML_WORDS, 500, documents::docx_body;
    "doc" documents::docs, &["W\0o\0r\0d\0", "\x13", "\x14", "\x15", "\x0c", "\r"], 300,
        documents::doc;
    "msg" documents::msgs, &["_\0_\0s\0u\0b\0s\0t\0g\0", "LZFu", "\x1f\0", "\x1e\0"], 200,
        documents::msg;
    "msg-body" documents::msg_bodies, documents::RTF_WORDS, 300, documents::msg_body;
    "rtf" documents::rtfs, documents::RTF_WORDS, 1_000, documents::rtf;
    "eml" documents::emls, documents::EML_WORDS, 1_000, documents::eml;
    "text" documents::texts, &["\u{feff}", "\x0c", "\r\n", "\0", "ё"], 1_000, documents::text;
    "picture" documents::pictures, &["II*\0", "MM\0*", "IHDR", "IEND"], 1_000, documents::picture;
    "file" documents::files, &["%PDF-1.4", "{\\rtf1", "From: ", "PK\x03\x04"], 300, documents::file;
    "cite" citations::texts, citations::WORDS, 1_000, citations::check;
    "binance-frame" venues::frames, venues::BINANCE_WORDS, 2_000, venues::frame;
    "binance-klines" venues::klines, venues::BINANCE_WORDS, 2_000, venues::kline_rows;
    "iss-tables" venues::tables, venues::ISS_WORDS, 2_000, venues::iss_tables;
    "bars-csv" bars::csvs, bars::WORDS, 500, bars::csv;
    "bars-parquet" bars::parquets, &["PAR1"], 300, bars::parquet;
    "websocket" http::frames, &[], 2_000, http::websocket;
    "form" http::forms, http::FORM_WORDS, 2_000, http::form;
    "token" tokens::tokens, tokens::WORDS, 2_000, tokens::check;
}

/// Cuts an input into pieces of 1, 2, 3 … bytes, and begins again at 1 after 40.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = bytes;
    let mut all = Vec::new();
    for length in (1..=40).cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(rest.len().min(length));
        all.push(piece);
        rest = after;
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::runner::{Runs, Watch, run};

    use super::*;

    #[track_caller]
    fn check(name: &str) {
        let target = TARGETS.iter().find(|it| it.name == name).expect("a target of the table");
        let runs = Runs { seed: 1, first: 0, count: target.test_runs };
        let summary = run(target, runs, &Watch::default());
        if let Some((failed, bytes)) = summary.failed {
            panic!(
                "{name}: run {failed} panicked; repeat it with `cargo xtask fuzz {name} --first \
                 {failed} --runs 1`; its input, made smaller: {bytes:02x?}"
            );
        }
    }

    macro_rules! tests {
        ($($test:ident $($name:literal)*;)*) => {
            $(#[test]
            fn $test() {
                $(check($name);)*
            })*

            #[test]
            fn every_target_is_tested() {
                let tested = [$($($name),*),*];
                let names: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
                assert_eq!(tested.as_slice(), names);
            }
        };
    }

    tests! {
        damaged_pdf_files_keep_the_laws "pdf" "pdf-page" "pdf-font" "pdf-font-program";
        damaged_word_files_keep_the_laws "docx" "docx-body" "doc";
        damaged_messages_keep_the_laws "msg" "msg-body";
        damaged_texts_and_pictures_keep_the_laws "rtf" "eml" "text" "picture" "file";
        citations_lie_in_any_text "cite";
        damaged_venue_responses_keep_the_laws "binance-frame" "binance-klines" "iss-tables";
        damaged_files_of_bars_keep_the_laws "bars-csv" "bars-parquet";
        damaged_requests_keep_the_laws "websocket" "form" "token";
    }

    #[test]
    fn every_seed_passes() {
        for target in TARGETS {
            for seed in (target.seeds)() {
                (target.check)(&seed);
            }
        }
    }

    #[test]
    fn pieces_are_the_whole_input() {
        let bytes: Vec<u8> = (0..=255).cycle().take(3_000).collect();
        assert_eq!(pieces(&bytes).concat(), bytes);
        assert!(pieces(&[]).is_empty());
    }
}
