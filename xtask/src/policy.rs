//! The dependency policy of `deny.toml`: licences, banned crates, sources. `cargo deny check` reads
//! the same file and adds the advisory database; this check needs neither network nor installation.

use serde_json::Value;

use crate::workspace::{metadata, read, root};
use crate::{Outcome, run};

/// The parts of `deny.toml` that are checked here.
struct Policy {
    licences: Vec<String>,
    banned: Vec<String>,
}

impl Policy {
    fn parse(text: &str) -> Outcome<Self> {
        let file: toml::Table =
            toml::from_str(text).map_err(|error| format!("deny.toml: {error}"))?;
        let list = |section: &str, key: &str| -> Vec<toml::Value> {
            let value = file.get(section).and_then(|it| it.get(key));
            value.and_then(toml::Value::as_array).cloned().unwrap_or_default()
        };
        let text = |value: &toml::Value| value.as_str().map(str::to_owned);
        let licences: Vec<String> = list("licenses", "allow").iter().filter_map(text).collect();
        let banned = list("bans", "deny")
            .iter()
            .filter_map(|it| it.get("crate")?.as_str().map(str::to_owned))
            .collect();
        if licences.is_empty() {
            return Err("deny.toml: [licenses] allow is empty".to_owned());
        }
        Ok(Self { licences, banned })
    }

    /// Whether an SPDX expression can be met with allowed licences. `AND` binds before `OR`.
    fn allows(&self, expression: &str) -> bool {
        let plain = expression.replace('/', " OR ");
        let plain = plain.replace(['(', ')'], " ");
        // Parentheses only ever group alternatives in published manifests, `(MIT OR Apache-2.0) AND
        // Unicode-3.0`: each side of AND must offer one allowed licence.
        plain
            .split(" AND ")
            .all(|all| all.split(" OR ").any(|one| self.licences.iter().any(|it| it == one.trim())))
    }

    fn problem(&self, package: &Value) -> Option<String> {
        let name = package["name"].as_str()?;
        let version = package["version"].as_str()?;
        // Crates of the workspace have no source.
        let source = package["source"].as_str()?;
        if !source.starts_with("registry+") && !source.starts_with("sparse+") {
            return Some(format!("{name} {version} comes from {source}, not from the registry"));
        }
        if self.banned.iter().any(|it| it == name) {
            return Some(format!("{name} is banned by deny.toml"));
        }
        let Some(licence) = package["license"].as_str() else {
            return Some(format!("{name} {version} names no licence"));
        };
        (!self.allows(licence)).then(|| format!("{name} {version} has the licence {licence}"))
    }
}

pub(crate) fn report() -> Outcome {
    let policy = Policy::parse(&read(&root().join("deny.toml"))?)?;
    let metadata = metadata(&["--filter-platform", "x86_64-unknown-linux-gnu"])?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let problems: Vec<String> = packages.iter().filter_map(|it| policy.problem(it)).collect();
    if !problems.is_empty() {
        return Err(format!("dependency policy:\n  {}", problems.join("\n  ")));
    }
    println!("dependency policy: {} packages are allowed", packages.len());
    let deny = run::cargo().args(["deny", "--version"]).output();
    if deny.is_ok_and(|it| it.status.success()) {
        let check = ["deny", "--offline", "check", "licenses", "bans", "sources"];
        run::checked(run::cargo().args(check).current_dir(root()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let text = "[licenses]\nallow = [\"MIT\", \"Apache-2.0\", \"Unicode-3.0\"]\n\
                    [bans]\ndeny = [{ crate = \"openssl-sys\" }]\n";
        Policy::parse(text).unwrap()
    }

    #[track_caller]
    fn check_licence(expression: &str, allowed: bool) {
        assert_eq!(policy().allows(expression), allowed, "{expression}");
    }

    #[test]
    fn each_part_of_a_licence_needs_one_allowed_alternative() {
        check_licence("MIT", true);
        check_licence("MIT/Apache-2.0", true);
        check_licence("GPL-3.0 OR MIT", true);
        check_licence("(MIT OR GPL-3.0) AND Unicode-3.0", true);
        check_licence("MIT AND GPL-3.0", false);
        check_licence("GPL-3.0", false);
    }

    #[track_caller]
    fn check_package(name: &str, licence: Value, source: Value, expected: Option<&str>) {
        let package = serde_json::json!({ "name": name, "version": "1.0.0", "license": licence, "source": source });
        let problem = policy().problem(&package);
        match expected {
            Some(expected) => {
                assert!(problem.as_deref().is_some_and(|it| it.contains(expected)), "{problem:?}")
            }
            None => assert_eq!(problem, None),
        }
    }

    #[test]
    fn banned_unlicensed_and_foreign_packages_are_found() {
        let registry = || Value::from("registry+index");
        check_package("serde", "MIT".into(), registry(), None);
        check_package("ours", Value::Null, Value::Null, None);
        check_package("openssl-sys", "MIT".into(), registry(), Some("banned"));
        check_package("plain", Value::Null, registry(), Some("no licence"));
        check_package("fork", "MIT".into(), "git+ssh".into(), Some("not from the registry"));
    }
}
