//! Documents of many courts and offices, written and labelled before any rule was made for them, in
//! three sets by two writers. `unseen/judge` decides which differing facts count as equal.
//!
//! * The first 79 are by one writer. A hash of the name puts each document into one of two halves:
//!   the errors of the first half were read and the rules improved; of the second half only totals
//!   were read.
//! * The 34 of `open` are by a second writer, who did not know the rules. They were scored once;
//!   then all their errors were read and the rules improved.
//! * The 40 of `sealed` are by the second writer too. The authors of the rules have read neither the
//!   documents nor their errors, but for the first two documents of its `papers` and the sentences of
//!   six wrong due days, which were read in November 2026 before the rules of anchors were made. The
//!   set was scored about eighteen times, and otherwise only totals were printed.
//!
//! Precision and recall at the first measurement and now:
//!
//! | kind | first set, held out | now | open | now | sealed | now |
//! |---|---|---|---|---|---|---|
//! | date | 1.00 / 1.00 | 1.00 / 1.00 | 1.00 / 0.99 | 1.00 / 0.99 | 0.98 / 0.99 | 0.99 / 0.99 |
//! | money | 1.00 / 1.00 | 1.00 / 1.00 | 1.00 / 1.00 | 1.00 / 1.00 | 1.00 / 1.00 | 1.00 / 1.00 |
//! | case number | 0.93 / 0.62 | 0.98 / 0.93 | 0.93 / 0.82 | 1.00 / 1.00 | 0.97 / 0.87 | 0.97 / 0.87 |
//! | citation | 0.96 / 0.83 | 0.94 / 0.97 | 0.65 / 0.55 | 1.00 / 0.99 | 0.62 / 0.51 | 0.92 / 0.81 |
//! | judge | 0.92 / 0.88 | 1.00 / 0.96 | 0.74 / 0.74 | 1.00 / 1.00 | 0.86 / 0.67 | 0.93 / 0.78 |
//! | attorney | 0.93 / 0.61 | 1.00 / 1.00 | 0.89 / 0.62 | 0.97 / 0.97 | 0.93 / 0.54 | 0.95 / 0.79 |
//! | court, whole name | 0.70 / 0.72 | 0.83 / 0.88 | 0.85 / 0.85 | 1.00 / 1.00 | 0.62 / 0.65 | 0.88 / 0.86 |
//! | event with its kind | 0.68 / 0.69 | 0.92 / 0.94 | 0.64 / 0.65 | 0.96 / 0.96 | 0.64 / 0.64 | 0.76 / 0.77 |
//! | party with role | 0.94 / 0.83 | 0.90 / 0.85 | 0.71 / 0.61 | 0.99 / 0.96 | 0.62 / 0.46 | 0.78 / 0.60 |
//! | deadline, its words | - | 0.94 / 0.94 | - | 0.98 / 0.98 | - | 1.00 / 0.94 |
//! | due day, its anchor | - | 1.00 / 0.78 | - | 1.00 / 0.84 | - | 0.94 / 0.45 |
//! | due day above 0.6 | - | 1.00 / 0.78 | - | 1.00 / 0.76 | - | 1.00 / 0.42 |
//!
//! A deadline counts as found by its words, and its due day separately: a deadline that stays open
//! where the label has a day is missed and not wrong. Before, both were scored as one, 0.83 / 0.83,
//! 0.98 / 0.98 and 0.61 / 0.57. Labels name the anchor; the rules by which the last day moves have
//! their own tests.
//!
//! The first figures were measured with stricter rules of equality, which compared subsections,
//! articles of a list and the kind of a document's own date exactly; a part of the gain in
//! citations and events comes from the looser rules. The columns of `sealed` show what to expect of
//! unseen documents.

use std::collections::BTreeSet;

use archive_drafts::{DraftMode, DraftOptions};
use archive_text::PageText;

use crate::facts::{self, Scores};

mod judge;
mod labels;

use labels::Sample;

const FIRST: [&str; 4] = [
    include_str!("unseen/federal.txt"),
    include_str!("unseen/states.txt"),
    include_str!("unseen/papers.txt"),
    include_str!("unseen/russian.txt"),
];

const OPEN: [&str; 4] = [
    include_str!("unseen/open/federal.txt"),
    include_str!("unseen/open/states.txt"),
    include_str!("unseen/open/papers.txt"),
    include_str!("unseen/open/russian.txt"),
];

const SEALED: [&str; 4] = [
    include_str!("unseen/sealed/federal.txt"),
    include_str!("unseen/sealed/states.txt"),
    include_str!("unseen/sealed/papers.txt"),
    include_str!("unseen/sealed/russian.txt"),
];

fn score<'s>(samples: impl Iterator<Item = &'s Sample>, show: bool) -> Scores {
    let mut scores = Scores::new();
    for it in samples {
        let pages = [PageText { number: 1, part: "", text: &it.text }];
        let mut truth = facts::stated(&it.truth);
        let mut read =
            facts::read(&archive_drafts::read(&pages, &DraftOptions::all(DraftMode::Deep)));
        judge::normalize(&mut truth);
        judge::normalize(&mut read);
        // The corpus has no expected values for these.
        for kind in ["document type", "organisation", "conflict"] {
            truth.remove(kind);
            read.remove(kind);
        }
        facts::compare(&mut scores, &truth, &read, judge::same, |kind, how, what| {
            if show {
                println!("{}: {kind} {how}: {what}", it.name);
            }
        });
    }
    scores
}

type Floors = [(&'static str, f64, f64); 12];

/// What both halves of the first set must reach: a little less than was measured.
const FIRST_FLOORS: Floors = [
    ("attorney", 0.96, 0.94),
    ("case number", 0.95, 0.90),
    ("citation", 0.91, 0.94),
    ("court", 0.80, 0.85),
    ("date", 0.98, 0.98),
    ("deadline", 0.93, 0.93),
    ("due day", 1.0, 0.75),
    ("sure due day", 1.0, 0.75),
    ("event", 0.90, 0.91),
    ("judge", 0.93, 0.93),
    ("money", 0.98, 0.98),
    ("party", 0.88, 0.85),
];

const OPEN_FLOORS: Floors = [
    ("attorney", 0.94, 0.94),
    ("case number", 0.97, 0.97),
    ("citation", 0.97, 0.96),
    ("court", 0.97, 0.97),
    ("date", 0.98, 0.98),
    ("deadline", 0.94, 0.94),
    ("due day", 1.0, 0.80),
    ("sure due day", 1.0, 0.72),
    ("event", 0.93, 0.93),
    ("judge", 0.97, 0.97),
    ("money", 0.98, 0.98),
    ("party", 0.96, 0.93),
];

const SEALED_FLOORS: Floors = [
    ("attorney", 0.90, 0.75),
    ("case number", 0.93, 0.83),
    ("citation", 0.88, 0.78),
    ("court", 0.85, 0.83),
    ("date", 0.96, 0.96),
    ("deadline", 0.97, 0.90),
    ("due day", 0.93, 0.39),
    ("sure due day", 1.0, 0.36),
    ("event", 0.74, 0.74),
    ("judge", 0.90, 0.74),
    ("money", 0.98, 0.98),
    // Names of captions raised the recall from 0.60 to 0.65 and lowered the precision from 0.78.
    ("party", 0.72, 0.64),
];

fn samples(lots: &[&str]) -> Vec<Sample> {
    let samples: Vec<Sample> = lots.iter().flat_map(|lot| labels::samples(lot)).collect();
    let names: BTreeSet<&str> = samples.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), samples.len());
    samples
}

fn check<'s>(title: &str, samples: impl Iterator<Item = &'s Sample>, show: bool, floors: &Floors) {
    for (kind, it) in score(samples, show) {
        println!(
            "{title}: {kind}: precision {:.3} recall {:.3} ({} right, {} wrong, {} missed)",
            it.precision(),
            it.recall(),
            it.right,
            it.wrong,
            it.missed
        );
        let (_, precision, recall) = floors.iter().find(|it| it.0 == kind).unwrap();
        assert!(it.precision() >= *precision, "{title}: {kind}: {:.3}", it.precision());
        assert!(it.recall() >= *recall, "{title}: {kind}: {:.3}", it.recall());
    }
}

#[test]
fn documents_of_unseen_styles_reach_their_floors() {
    let samples = samples(&FIRST);
    for held_out in [false, true] {
        let half = if held_out { "held out" } else { "shown" };
        let list = samples.iter().filter(|it| it.is_held_out() == held_out);
        check(half, list, !held_out, &FIRST_FLOORS);
    }
}

#[test]
fn open_documents_of_another_writer_reach_their_floors() {
    check("open", samples(&OPEN).iter(), true, &OPEN_FLOORS);
}

/// The errors in these documents are not printed.
#[test]
fn sealed_documents_reach_their_floors() {
    check("sealed", samples(&SEALED).iter(), false, &SEALED_FLOORS);
}

/// Prints only the totals of a folder of labelled documents, so that the documents stay unseen:
/// `UNSEEN=folder cargo test -p archive-drafts --test it -- --ignored --nocapture a_folder`. With
/// `UNSEEN_SHOW` it prints the errors too.
#[test]
#[ignore = "reads a folder that is named from outside"]
#[expect(clippy::disallowed_methods, reason = "the folder is named by whoever runs it")]
fn a_folder_that_is_named_from_outside() {
    let folder = std::env::var("UNSEEN").unwrap();
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "txt"));
    paths.sort();
    let lots: Vec<String> = paths.iter().map(|it| std::fs::read_to_string(it).unwrap()).collect();
    let samples: Vec<Sample> = lots.iter().flat_map(|it| labels::samples(it)).collect();
    assert!(!samples.is_empty());
    println!("{} documents", samples.len());
    for (kind, it) in score(samples.iter(), std::env::var("UNSEEN_SHOW").is_ok()) {
        println!("{kind}: precision {:.3} recall {:.3}", it.precision(), it.recall());
    }
}
