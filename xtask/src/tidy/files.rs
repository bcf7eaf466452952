//! Rules on single files: size, header, flat modules, the workspace's lints, and plain words in
//! comments, documents and the messages of `faults.rs` files.

use std::path::Path;

use crate::Outcome;
use crate::workspace::{Workspace, files_below, read};

const FILE_LINES_MAX: usize = 500;

/// Names that say nothing about what a file does.
const VAGUE: &[&str] = &["utils.rs", "helpers.rs", "common.rs", "types.rs", "misc.rs"];

/// Words that hide who does what. A comment, a document and an error message name the subject.
const RIDDLES: &[&str] =
    &["nobody", "whoever", "somebody", "is told", "are told", "so many", "those who"];

pub(super) fn problems(workspace: &Workspace) -> Outcome<Vec<String>> {
    let mut all = Vec::new();
    for (_, path) in workspace.sources()? {
        let text = read(&path)?;
        let shown = path.strip_prefix(&workspace.root).unwrap_or(&path).to_owned();
        all.extend(file_problems(&shown, &text));
    }
    let mut documents = Vec::new();
    files_below(&workspace.root, "md", &mut documents)?;
    for path in documents {
        let shown = path.strip_prefix(&workspace.root).unwrap_or(&path).to_owned();
        all.extend(document_problems(&shown, &read(&path)?));
    }
    for package in workspace.packages.values() {
        let manifest = read(&package.folder.join("Cargo.toml"))?;
        if !manifest.contains("[lints]\nworkspace = true") {
            all.push(format!("{}: its manifest does not take the workspace's lints", package.name));
        }
    }
    Ok(all)
}

fn file_problems(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut all = Vec::new();
    if path.ends_with("mod.rs") {
        all.push(format!("{shown}: flat modules only (foo.rs beside foo/)"));
    }
    if VAGUE.iter().any(|name| path.ends_with(name)) {
        all.push(format!("{shown}: name the file for what it does"));
    }
    if !text.starts_with("//!") {
        all.push(format!("{shown}: no module header"));
    }
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        all.push(format!("{shown}: {lines} lines, at most {FILE_LINES_MAX}"));
    }
    // This file lists the words.
    if path.ends_with("tidy/files.rs") {
        return all;
    }
    let has_messages = path.ends_with("faults.rs");
    for (number, line) in text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//");
        if let Some(word) = comment.or(has_messages.then_some(line)).and_then(riddle) {
            all.push(format!("{shown}:{}: `{word}`; say who", number + 1));
        }
    }
    all
}

fn document_problems(path: &Path, text: &str) -> Vec<String> {
    let found = |(number, line)| {
        let word = riddle(line)?;
        Some(format!("{}:{}: `{word}`; say who", path.display(), number + 1))
    };
    text.lines().enumerate().filter_map(found).collect()
}

/// The first of the words that hide who does what.
fn riddle(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    RIDDLES.iter().find(|word| has_word(&text, word)).copied()
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: &[&str]) {
        let problems = file_problems(Path::new(path), text);
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, part) in problems.iter().zip(expected) {
            assert!(problem.contains(part), "{problem} should contain {part}");
        }
    }

    #[test]
    fn files_that_break_a_rule_are_found() {
        check("a.rs", "//! What it does.\n", &[]);
        check("a/mod.rs", "//! What it does.\n", &["flat modules"]);
        check("a/utils.rs", "fn x() {}\n", &["name the file", "no module header"]);
        check("a.rs", &format!("//! Long.\n{}", "\n".repeat(500)), &["501 lines"]);
        check("a.rs", "//! Head.\n// Nobody knows.\n", &["a.rs:2: `nobody`"]);
        check(
            "a.rs",
            "//! Head.\nlet nobody = 1; // fine\n/// Whoever asks is told.\n",
            &["`whoever`"],
        );
        let message = "//! Head.\nlet message = \"nobody has it\";\n";
        check("a.rs", message, &[]);
        check("a/faults.rs", message, &["faults.rs:2: `nobody`"]);
    }

    #[test]
    fn documents_are_read_for_the_same_words() {
        let found = document_problems(Path::new("a.md"), "# Head\n\nSomebody did.\nFine.\n");
        assert_eq!(found, ["a.md:3: `somebody`; say who"]);
    }
}
