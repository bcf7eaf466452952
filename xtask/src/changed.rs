//! Finds the crates that a change touches: the changed files from git, and the crate of each.

use std::collections::BTreeSet;

use crate::workspace::Workspace;
use crate::{Outcome, run};

/// Files outside crates that a crate embeds or tests.
const OWNERS: &[(&str, &str)] = &[
    ("contracts/", "contract"),
    ("docs/configuration.md", "server"),
    ("docs/clients.md", "server"),
    ("docs/metrics.md", "server"),
    ("docs/indicators.md", "service-indicators"),
    ("docs/", "xtask"),
    ("README.md", "xtask"),
    ("ARCHITECTURE.md", "xtask"),
    ("CHANGELOG.md", "xtask"),
];

/// Files that differ from `base`, committed or not, and files git does not track yet.
pub(crate) fn files(workspace: &Workspace, base: Option<&str>) -> Outcome<Vec<String>> {
    let git = |args: &[&str]| run::output(&workspace.root, "git", args);
    let base = match base {
        Some(base) => base.to_owned(),
        None => git(&["merge-base", "HEAD", "origin/main"])
            .map_or_else(|_| "HEAD".to_owned(), |it| it.trim().to_owned()),
    };
    let mut all = git(&["diff", "--name-only", &base])?;
    all.push_str(&git(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(all.lines().map(str::to_owned).collect())
}

/// The crates that own these files. A change of the workspace's manifest or lock file touches all.
pub(crate) fn crates(workspace: &Workspace, files: &[String]) -> BTreeSet<String> {
    let shared_files = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "clippy.toml"];
    if files.iter().any(|file| shared_files.contains(&file.as_str())) {
        return workspace.packages.keys().cloned().collect();
    }
    files.iter().filter_map(|file| owner(workspace, file)).collect()
}

fn owner(workspace: &Workspace, file: &str) -> Option<String> {
    let path = workspace.root.join(file);
    let inside = workspace.packages.values().find(|it| path.starts_with(&it.folder));
    inside.map(|it| it.name.clone()).or_else(|| {
        let row = OWNERS.iter().find(|(prefix, _)| file.starts_with(prefix));
        row.map(|(_, name)| (*name).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[&str], expected: &[&str]) {
        let workspace = Workspace::read().unwrap();
        let files: Vec<String> = files.iter().map(|&it| it.to_owned()).collect();
        let expected: BTreeSet<String> = expected.iter().map(|&it| it.to_owned()).collect();
        assert_eq!(crates(&workspace, &files), expected, "{files:?}");
    }

    #[test]
    fn a_file_belongs_to_the_crate_around_it() {
        check(&["crates/ta/src/lib.rs", "crates/ta/Cargo.toml"], &["ta"]);
        check(&["contracts/moex/contract.json"], &["contract"]);
        check(&["bench/src/lib.rs", "xtask/src/main.rs"], &["bench", "xtask"]);
        check(&["LICENSE-MIT"], &[]);
    }

    #[test]
    fn a_change_of_the_lock_file_touches_every_crate() {
        let workspace = Workspace::read().unwrap();
        let all = crates(&workspace, &["Cargo.lock".to_owned()]);
        assert_eq!(all.len(), workspace.packages.len());
    }

    #[test]
    fn dependents_are_found_through_other_crates() {
        let workspace = Workspace::read().unwrap();
        let all = workspace.with_dependents(&BTreeSet::from(["ta".to_owned()]));
        assert!(all.contains("service-indicators") && all.contains("server"), "{all:?}");
        assert!(!all.contains("cite") && !all.contains("jobs"), "{all:?}");
    }
}
