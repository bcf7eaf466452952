//! The house rules that a machine can check.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

const FILE_LINES_MAX: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
}

fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    rust_files(&root().join("crates"), &mut files);
    rust_files(&root().join("bench"), &mut files);
    files
}

/// Every crate of ours with the crates of ours that it depends on, tests aside.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<&str> = packages.iter().map(|it| it["name"].as_str().unwrap()).collect();
    let dependencies = |package: &Value| {
        package["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["kind"].is_null())
            .map(|it| it["name"].as_str().unwrap())
            .filter(|name| ours.contains(name))
            .map(str::to_owned)
            .collect()
    };
    packages.iter().map(|it| (it["name"].as_str().unwrap().to_owned(), dependencies(it))).collect()
}

/// What each kind of crate may depend on; `*` ends a prefix.
const ALLOWED: &[(&str, &[&str])] = &[
    ("fault", &[]),
    ("fanout", &[]),
    ("ta", &[]),
    ("cite", &[]),
    ("casefile", &["cite"]),
    ("extract", &[]),
    ("integrity", &["cite"]),
    ("digest", &["cite", "casefile"]),
    ("telemetry", &[]),
    ("contract", &["fault"]),
    ("auth", &["fault"]),
    ("pricing", &["fault"]),
    ("market", &["fault"]),
    ("store", &["fault"]),
    ("exchange-sim", &["market", "fault"]),
    ("jobs", &["store", "market", "fault"]),
    ("people", &["store", "jobs", "auth", "market", "fault"]),
    ("documents", &["people", "store", "jobs", "extract", "market", "fault"]),
    ("insights", &["people", "store", "jobs", "market", "fault"]),
    ("bars", &["store", "market", "fault"]),
    ("history", &["market", "fault"]),
    ("market-files", &["bars", "market", "fault"]),
    ("upstream", &["market", "fanout", "fault"]),
    ("llm", &["upstream", "fault"]),
    ("market-*", &["market", "upstream", "fanout", "fault"]),
    (
        "service-*",
        &[
            "contract",
            "market",
            "history",
            "fanout",
            "ta",
            "store",
            "jobs",
            "people",
            "documents",
            "insights",
            "cite",
            "casefile",
            "extract",
            "integrity",
            "digest",
            "pricing",
            "llm",
            "upstream",
            "fault",
        ],
    ),
    ("agent-analyst", &["contract", "market", "llm", "fault"]),
    ("transport-a2a", &["contract", "auth", "telemetry", "upstream", "fault"]),
    ("transport-*", &["contract", "auth", "telemetry", "fault"]),
    ("testkit", &["*"]),
    ("bench", &["*"]),
    ("server", &["*"]),
];

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

#[test]
fn crates_depend_downwards_only() {
    for (name, depends) in edges() {
        let rule = ALLOWED.iter().find(|(pattern, _)| matches(pattern, &name));
        let (_, allowed) = rule.unwrap_or_else(|| panic!("{name} has no rule in the map"));
        for on in depends {
            assert!(allowed.iter().any(|it| matches(it, &on)), "{name} must not depend on {on}");
        }
    }
}

#[test]
fn files_are_small_flat_and_say_what_they_are() {
    for path in sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.display();
        assert!(!path.ends_with("mod.rs"), "{shown}: flat modules only");
        assert!(text.starts_with("//!"), "{shown}: no module header");
        let lines = text.lines().count();
        assert!(lines <= FILE_LINES_MAX, "{shown} has {lines} lines");
        for name in ["utils", "helpers", "common"] {
            assert!(!path.ends_with(format!("{name}.rs")), "{shown}: name it for what it does");
        }
    }
}

#[test]
fn every_crate_keeps_the_house_lints() {
    for name in edges().keys() {
        let folder =
            if name == "bench" { root().join("bench") } else { root().join("crates").join(name) };
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} has lints of its own");
    }
}

#[test]
fn the_changelog_knows_this_version() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(changelog.contains("## "), "the changelog is empty");
}
