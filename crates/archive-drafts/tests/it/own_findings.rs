//! The archive's own findings must never fail `fact_check` on the paper that they were read from.

use archive_drafts::{DraftMode, DraftOptions};
use archive_text::PageText;

use crate::proof;

/// Papers of other crates' tests that no rule for drafts was written on.
const PAPERS: [&str; 3] = [
    include_str!("../../../archive-integrity/tests/it/fresh/unseen.txt"),
    include_str!("../../../archive-integrity/tests/it/fresh/open.txt"),
    include_str!("../../../archive-integrity/tests/it/fresh/rulings.txt"),
];

/// The texts of a set: `# name`, the text, and lines from `= ` on that are no part of it.
fn papers(set: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut inside = false;
    for line in set.lines() {
        if line.starts_with("# ") {
            list.push(String::new());
            inside = true;
        } else if line.starts_with("= ") {
            inside = false;
        } else if let Some(text) = list.last_mut().filter(|_| inside) {
            text.push_str(line);
            text.push('\n');
        }
    }
    list
}

/// Counts the findings of a paper by status, and prints those that fail.
fn measure(text: &str, counts: &mut [usize; 3]) {
    let pages = [PageText { number: 1, part: "", text }];
    let drafts = archive_drafts::read(&pages, &DraftOptions::all(DraftMode::Deep));
    for (status, line) in proof::statuses(&pages, &drafts) {
        counts[status] += 1;
        if status == 2 {
            println!("own finding failed: {line}");
        }
    }
}

#[test]
fn own_findings_never_fail_on_their_paper() {
    let mut counts = [0; 3];
    for text in PAPERS.iter().flat_map(|it| papers(it)) {
        measure(&text, &mut counts);
    }
    let [passed, warned, failed] = counts;
    println!("own findings: {passed} passed, {warned} warnings, {failed} failed");
    assert!(passed > 500 && failed == 0);
}

/// The same for the texts of a folder that `ARCHIVE_PAPERS` names.
#[test]
#[ignore = "measures a folder named by the environment"]
fn own_findings_never_fail_on_papers_from_outside() {
    let folder = std::env::var_os("ARCHIVE_PAPERS").unwrap();
    let mut counts = [0; 3];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "txt") {
            measure(&std::fs::read_to_string(&path).unwrap(), &mut counts);
        }
    }
    let [passed, warned, failed] = counts;
    println!("own findings outside: {passed} passed, {warned} warnings, {failed} failed");
    assert_eq!(failed, 0);
}
