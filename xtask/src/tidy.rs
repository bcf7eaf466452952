//! The rules of this project that a program can check. `cargo xtask tidy` lists every breach, and a test
//! fails if there is one.

mod dependencies;
mod files;
mod monitoring;
mod names;
mod tool_files;

use crate::workspace::{Workspace, read};
use crate::{Outcome, docs};

/// Every breach of a rule, one line each.
fn problems() -> Outcome<Vec<String>> {
    let workspace = Workspace::read()?;
    let mut all = dependencies::problems(&workspace)?;
    all.extend(files::problems(&workspace)?);
    all.extend(monitoring::problems(&workspace)?);
    all.extend(names::problems(&workspace)?);
    all.extend(tool_files::problems(&workspace)?);
    all.extend(changelog(&workspace)?);
    all.extend(docs::stale()?);
    Ok(all)
}

pub(crate) fn report() -> Outcome {
    let problems = problems()?;
    if problems.is_empty() {
        println!("tidy");
        return Ok(());
    }
    Err(problems.join("\n"))
}

/// The changelog must have a heading for the version that the manifest names, with entries below.
fn changelog(workspace: &Workspace) -> Outcome<Vec<String>> {
    let manifest = read(&workspace.root.join("Cargo.toml"))?;
    let manifest: toml::Table = toml::from_str(&manifest).map_err(|error| error.to_string())?;
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap_or_default();
    let changelog = read(&workspace.root.join("CHANGELOG.md"))?;
    Ok(missing_entry(&changelog, version).into_iter().collect())
}

fn missing_entry(changelog: &str, version: &str) -> Option<String> {
    let section = changelog.split("\n## ").find(|section| {
        section.lines().next().is_some_and(|it| it.split(' ').next() == Some(version))
    });
    match section {
        None => Some(format!("CHANGELOG.md has no heading `## {version}`")),
        Some(section) if !section.lines().any(|line| line.starts_with("- ")) => {
            Some(format!("CHANGELOG.md lists nothing under `## {version}`"))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rule_is_broken() {
        let problems = problems().unwrap();
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    }

    #[test]
    fn a_version_without_an_entry_is_found() {
        let text = "# Changelog\n\n## 0.2.0\n\n- a change\n\n## 0.1.0\n";
        assert_eq!(missing_entry(text, "0.2.0"), None);
        assert!(missing_entry(text, "0.1.0").unwrap().contains("lists nothing"));
        assert!(missing_entry(text, "0.3.0").unwrap().contains("no heading"));
    }
}
