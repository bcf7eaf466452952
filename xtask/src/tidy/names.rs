//! Checks that a public type name is defined in at most two crates: one noun, one meaning.

use std::collections::{BTreeMap, BTreeSet};

use crate::Outcome;
use crate::workspace::{Workspace, read};

const CRATES_MAX: usize = 2;

/// Names that more crates define on purpose, each with the reason.
const SHARED: &[(&str, &str)] = &[];

pub(super) fn problems(workspace: &Workspace) -> Outcome<Vec<String>> {
    let mut crates_by_name: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (crate_name, path) in workspace.sources()? {
        let in_src = path.components().any(|it| it.as_os_str() == "src");
        let is_test =
            path.ends_with("tests.rs") || path.components().any(|it| it.as_os_str() == "tests");
        if !in_src || is_test || crate_name == "bench" || crate_name == "xtask" {
            continue;
        }
        for name in public_types(&read(&path)?) {
            crates_by_name.entry(name).or_default().insert(crate_name.clone());
        }
    }
    Ok(shared_names(&crates_by_name))
}

fn shared_names(crates_by_name: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    crates_by_name
        .iter()
        .filter(|(name, crates)| {
            crates.len() > CRATES_MAX && !SHARED.iter().any(|(shared, _)| shared == name)
        })
        .map(|(name, crates)| {
            let list = crates.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("the public type {name} is defined in {} crates: {list}", crates.len())
        })
        .collect()
}

/// Names of the types that a file defines with `pub`; `pub(crate)` is not public.
fn public_types(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| public_type(line.trim_start())).collect()
}

fn public_type(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("pub ")?.split_whitespace();
    if !matches!(words.next()?, "struct" | "enum" | "trait") {
        return None;
    }
    let name: String =
        words.next()?.chars().take_while(|it| it.is_alphanumeric() || *it == '_').collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_types_are_counted() {
        let text = "pub struct Quote<T> {\n    pub enum Kind {\npub(crate) struct Row;\nstruct Key;\npub fn x() {}\n";
        assert_eq!(public_types(text), ["Quote", "Kind"]);
    }

    #[test]
    fn a_name_in_three_crates_is_reported() {
        let crates = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect();
        let crates_by_name = BTreeMap::from([
            ("Page".to_owned(), crates(&["a", "b", "c"])),
            ("Row".to_owned(), crates(&["a", "b"])),
        ]);
        assert_eq!(
            shared_names(&crates_by_name),
            ["the public type Page is defined in 3 crates: a, b, c"]
        );
    }
}
