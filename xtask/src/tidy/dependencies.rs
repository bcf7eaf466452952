//! Which crate may depend on which, and which dependencies of a manifest no source file uses.

use std::collections::BTreeSet;

use crate::Outcome;
use crate::workspace::{Package, Workspace, files_below, read};

/// What each crate may depend on outside tests, one row a crate.
const ALLOWED: &[(&str, &[&str])] = &[
    ("archive-accounts", &["auth", "clock", "fault", "limits", "store"]),
    (
        "archive-documents",
        &["archive-accounts", "archive-extract", "archive-text", "clock", "fault", "store"],
    ),
    ("archive-drafts", &["archive-entities", "archive-text", "cite"]),
    ("archive-entities", &["archive-text", "cite", "text"]),
    ("archive-extract", &["archive-text", "sandbox"]),
    (
        "archive-insights",
        &["archive-accounts", "archive-search", "archive-text", "clock", "fault", "store"],
    ),
    ("archive-integrity", &["archive-entities", "archive-text", "cite", "text"]),
    ("archive-search", &["archive-accounts", "clock", "fault", "store", "text"]),
    ("archive-text", &[]),
    ("auth", &["clock", "contract", "fault", "store"]),
    ("cite", &["text"]),
    ("clock", &[]),
    ("contract", &["fault"]),
    ("fanout", &["limits"]),
    ("fault", &[]),
    ("http-client", &["clock", "fault"]),
    ("http-wire", &[]),
    ("jobs", &["clock", "fault", "store"]),
    ("limits", &[]),
    ("llm", &["fault", "http-client"]),
    ("market", &["clock", "fault"]),
    ("market-bars", &["clock", "fault", "market", "store"]),
    ("market-binance", &["clock", "fault", "http-client", "market", "market-live"]),
    ("market-files", &["clock", "fault", "market", "market-bars", "spreadsheet"]),
    ("market-live", &["clock", "fanout", "fault", "market"]),
    ("market-moex", &["clock", "fault", "http-client", "market", "market-live"]),
    ("market-sim", &["clock", "market"]),
    ("pricing-engine", &["fault"]),
    ("service-analyst", &["clock", "contract", "fault", "llm", "text"]),
    ("sandbox", &[]),
    (
        "service-archive",
        &[
            "archive-accounts",
            "archive-documents",
            "archive-drafts",
            "archive-extract",
            "archive-insights",
            "archive-integrity",
            "archive-search",
            "archive-text",
            "clock",
            "contract",
            "fault",
            "jobs",
            "limits",
            "llm",
            "sandbox",
            "store",
        ],
    ),
    (
        "service-indicators",
        &[
            "clock",
            "contract",
            "fanout",
            "fault",
            "http-client",
            "limits",
            "market",
            "market-bars",
            "ta",
        ],
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
            "spreadsheet",
            "ssrf-guard",
            "store",
        ],
    ),
    ("service-quotes", &["clock", "contract", "fault", "http-client", "market", "market-bars"]),
    ("spreadsheet", &[]),
    ("ssrf-guard", &[]),
    ("store", &["fault"]),
    ("ta", &[]),
    ("telemetry", &[]),
    ("text", &[]),
    (
        "transport-a2a",
        &["contract", "fault", "http-client", "http-wire", "limits", "ssrf-guard", "telemetry"],
    ),
    ("transport-a2a-store", &["fault", "jobs", "store", "transport-a2a"]),
    ("transport-http", &["contract", "fault", "http-wire", "limits", "telemetry"]),
    ("transport-mcp", &["contract", "fault", "http-wire", "limits", "transport-http"]),
    (
        "transport-oauth",
        &[
            "archive-accounts",
            "auth",
            "clock",
            "contract",
            "fault",
            "http-client",
            "http-wire",
            "limits",
            "ssrf-guard",
            "store",
            "transport-http",
        ],
    ),
];

/// These may depend on every crate.
const UNRESTRICTED: &[&str] = &["server", "bench", "fuzz", "testkit"];

/// Dependencies that no source file names, each with the reason.
const USED_INDIRECTLY: &[(&str, &str, &str)] =
    &[("archive-extract", "md-5", "the library of the package is named md5")];

pub(super) fn problems(workspace: &Workspace) -> Outcome<Vec<String>> {
    let mut all = forbidden(workspace);
    for package in workspace.packages.values() {
        all.extend(unused(package)?);
    }
    Ok(all)
}

fn forbidden(workspace: &Workspace) -> Vec<String> {
    let mut all = Vec::new();
    for (name, package) in &workspace.packages {
        if UNRESTRICTED.contains(&name.as_str()) {
            continue;
        }
        let allowed = match ALLOWED.iter().find(|(crate_name, _)| crate_name == name) {
            Some((_, allowed)) => *allowed,
            None if name == "xtask" => continue,
            None => {
                all.push(format!("{name} has no row in xtask/src/tidy/dependencies.rs"));
                continue;
            }
        };
        for on in &package.dependencies {
            if !allowed.contains(&on.as_str()) {
                all.push(format!("{name} must not depend on {on}"));
            }
        }
    }
    for (name, _) in ALLOWED {
        if !workspace.packages.contains_key(*name) {
            all.push(format!(
                "xtask/src/tidy/dependencies.rs has a row for {name}, which is no crate"
            ));
        }
    }
    all
}

/// Dependencies of a manifest whose name appears in no source file of the crate.
fn unused(package: &Package) -> Outcome<Vec<String>> {
    let manifest = read(&package.folder.join("Cargo.toml"))?;
    let manifest: toml::Table = toml::from_str(&manifest).map_err(|error| error.to_string())?;
    let mut files = Vec::new();
    files_below(&package.folder, "rs", &mut files)?;
    let mut source = String::new();
    for file in files {
        source.push_str(&read(&file)?);
    }
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = sections.iter().filter_map(|it| manifest.get(*it)?.as_table());
    let names: BTreeSet<&String> = tables.flat_map(toml::Table::keys).collect();
    let problem = |name: &&String| {
        let known = USED_INDIRECTLY.iter().any(|(of, on, _)| *of == package.name && on == *name);
        let itself = **name == package.name;
        !known && !itself && !names_crate(&source, &name.replace('-', "_"))
    };
    let all = names.into_iter().filter(problem);
    Ok(all.map(|name| format!("{} does not use its dependency {name}", package.name)).collect())
}

/// Whether a text names a crate as a word, as in `use NAME`, `NAME::item` or `extern crate NAME`.
fn names_crate(source: &str, name: &str) -> bool {
    source.match_indices(name).any(|(at, _)| {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let before = source[..at].chars().next_back();
        let rest = &source[at + name.len()..];
        !before.is_some_and(is_word)
            && (rest.starts_with("::") || rest.starts_with([';', ' ', '}', ',']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_named_by_a_path() {
        assert!(names_crate("use sha2::Sha256;", "sha2"));
        assert!(names_crate("let x = http_body::Frame;", "http_body"));
        assert!(!names_crate("let http_body_util = 1;", "http_body"));
        assert!(!names_crate("my_sha2::x()", "sha2"));
    }
}
