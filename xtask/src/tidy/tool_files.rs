//! Every tool of a contract has a file of its own, `tools/<tool>.rs`, in the crate of its service.

use std::path::Path;

use serde_json::Value;

use crate::Outcome;
use crate::workspace::{Workspace, read};

/// Each contract with the folders in which its tools are.
const FOLDERS: &[(&str, &[&str])] = &[
    ("analyst", &["crates/service-analyst/src/tools"]),
    ("archive", &["crates/service-archive/src/tools"]),
    ("collector", &["crates/service-pricing/src/collector/tools", PRICING]),
    ("indicators", &["crates/service-indicators/src/tools"]),
    ("moex", &["crates/service-moex/src/tools"]),
    ("optimizer", &["crates/service-pricing/src/optimizer/tools", PRICING]),
    ("quotes", &["crates/service-quotes/src/tools"]),
];
/// The tools that both pricing contracts share.
const PRICING: &str = "crates/service-pricing/src/tools";

pub(super) fn problems(workspace: &Workspace) -> Outcome<Vec<String>> {
    let contracts = workspace.root.join("contracts");
    let mut all = Vec::new();
    let entries = std::fs::read_dir(&contracts).map_err(|error| format!("contracts: {error}"))?;
    for entry in entries {
        let folder = entry.map_err(|error| format!("contracts: {error}"))?.path();
        let file = folder.join("contract.json");
        if !file.exists() {
            continue;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let contract: Value = serde_json::from_str(&read(&file)?)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let Some((_, folders)) = FOLDERS.iter().find(|(contract, _)| *contract == name) else {
            all.push(format!("{name}: tidy does not know the folder of this contract's tools"));
            continue;
        };
        let exists = |file: &str| workspace.root.join(file).exists();
        all.extend(missing(&contract, folders, exists));
    }
    Ok(all)
}

/// The tools, uploads and downloads of a contract that have no file in any of the folders.
fn missing(contract: &Value, folders: &[&str], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let lists = ["tools", "uploads", "downloads"];
    let operations = lists.iter().filter_map(|list| contract[list].as_array()).flatten();
    let names = operations.filter_map(|it| it["name"].as_str());
    let file = |folder: &&str, name: &str| {
        let stem = name.strip_prefix("arkiver_").unwrap_or(name).replace('.', "_");
        Path::new(folder).join(format!("{stem}.rs")).to_string_lossy().into_owned()
    };
    names
        .filter(|name| !folders.iter().any(|folder| exists(&file(folder, name))))
        .map(|name| format!("{name}: no file {}", file(&folders[0], name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_without_a_file_is_found() {
        let contract = json!({
            "tools": [{ "name": "quotes.live" }, { "name": "arkiver_export" }, { "name": "health" }],
            "uploads": [{ "name": "arkiver_upload" }],
        });
        let exists =
            |file: &str| ["a/quotes_live.rs", "b/health.rs", "a/export.rs"].contains(&file);
        let found = missing(&contract, &["a", "b"], exists);
        assert_eq!(found, ["arkiver_upload: no file a/upload.rs"]);
    }
}
