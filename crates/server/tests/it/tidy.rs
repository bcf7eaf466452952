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

/// What each crate may depend on, one row a crate. `server`, `bench` and `testkit` may use all.
const ALLOWED: &[(&str, &[&str])] = &[
    ("archive-accounts", &["auth", "clock", "fault", "store"]),
    (
        "archive-documents",
        &["archive-accounts", "archive-extract", "archive-text", "clock", "fault", "store"],
    ),
    ("archive-drafts", &["archive-entities", "archive-text", "cite"]),
    ("archive-entities", &["archive-text", "cite"]),
    ("archive-extract", &["archive-text"]),
    ("archive-insights", &["archive-accounts", "archive-text", "clock", "fault", "store"]),
    ("archive-integrity", &["cite"]),
    ("archive-text", &[]),
    ("auth", &["clock", "contract", "fault", "store"]),
    ("cite", &[]),
    ("clock", &[]),
    ("contract", &["fault"]),
    ("fanout", &[]),
    ("fault", &[]),
    ("http-client", &["clock", "fault"]),
    ("http-wire", &[]),
    ("jobs", &["clock", "fault", "store"]),
    ("limits", &[]),
    ("llm", &["fault", "http-client"]),
    ("market", &["clock", "fault"]),
    ("market-bars", &["clock", "fault", "market", "store"]),
    ("market-binance", &["clock", "fault", "http-client", "market", "market-live"]),
    ("market-files", &["clock", "fault", "market", "market-bars"]),
    ("market-live", &["clock", "fanout", "fault", "market"]),
    ("market-moex", &["clock", "fault", "http-client", "market", "market-live"]),
    ("market-sim", &["clock", "market"]),
    ("pricing-engine", &["fault"]),
    ("service-analyst", &["clock", "contract", "fault", "llm"]),
    (
        "service-archive",
        &[
            "archive-accounts",
            "archive-documents",
            "archive-drafts",
            "archive-extract",
            "archive-insights",
            "archive-integrity",
            "archive-text",
            "clock",
            "contract",
            "fault",
            "jobs",
            "limits",
            "llm",
            "store",
        ],
    ),
    (
        "service-indicators",
        &["clock", "contract", "fanout", "fault", "http-client", "market", "market-bars", "ta"],
    ),
    ("service-moex", &["clock", "contract", "fault", "market"]),
    (
        "service-pricing",
        &[
            "clock",
            "contract",
            "fault",
            "http-client",
            "jobs",
            "market",
            "pricing-engine",
            "ssrf-guard",
            "store",
        ],
    ),
    ("service-quotes", &["clock", "contract", "fault", "http-client", "market", "market-bars"]),
    ("ssrf-guard", &[]),
    ("store", &["fault"]),
    ("ta", &[]),
    ("telemetry", &[]),
    ("transport-a2a", &["contract", "fault", "http-client", "http-wire", "limits", "ssrf-guard"]),
    ("transport-a2a-store", &["fault", "jobs", "store", "transport-a2a"]),
    ("transport-http", &["contract", "fault", "http-wire", "limits", "telemetry"]),
    ("transport-mcp", &["contract", "fault", "http-wire", "transport-http"]),
];

const UNRESTRICTED: &[&str] = &["server", "bench", "testkit"];

#[test]
fn crates_depend_downwards_only() {
    for (name, depends) in edges() {
        if UNRESTRICTED.contains(&name.as_str()) {
            continue;
        }
        let rule = ALLOWED.iter().find(|(crate_name, _)| *crate_name == name);
        let (_, allowed) = rule.unwrap_or_else(|| panic!("{name} has no row in ALLOWED"));
        for on in depends {
            assert!(allowed.contains(&on.as_str()), "{name} must not depend on {on}");
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
