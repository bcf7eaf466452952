//! The workspace as `cargo metadata` describes it: its packages and their dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Outcome, run};

/// One crate of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder of its manifest.
    pub(crate) folder: PathBuf,
    /// Crates of the workspace that it depends on outside tests.
    pub(crate) dependencies: BTreeSet<String>,
    /// Crates of the workspace that its tests depend on.
    pub(crate) test_dependencies: BTreeSet<String>,
}

/// All crates of the workspace by name.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) packages: BTreeMap<String, Package>,
}

impl Workspace {
    pub(crate) fn read() -> Outcome<Self> {
        let metadata = metadata(&["--no-deps"])?;
        let list = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
        let names: BTreeSet<&str> = list.iter().filter_map(|it| it["name"].as_str()).collect();
        let packages = list.iter().filter_map(|it| package(it, &names)).collect();
        Ok(Self { root: root(), packages })
    }

    /// The given crates and every crate that depends on one of them, directly or not.
    pub(crate) fn with_dependents(&self, changed: &BTreeSet<String>) -> BTreeSet<String> {
        let mut all = changed.clone();
        loop {
            let more: BTreeSet<String> = self
                .packages
                .values()
                .filter(|it| !all.contains(&it.name))
                .filter(|it| {
                    !it.dependencies.is_disjoint(&all) || !it.test_dependencies.is_disjoint(&all)
                })
                .map(|it| it.name.clone())
                .collect();
            if more.is_empty() {
                return all;
            }
            all.extend(more);
        }
    }

    /// Every `.rs` file of the workspace with the name of its crate.
    pub(crate) fn sources(&self) -> Outcome<Vec<(String, PathBuf)>> {
        let mut all = Vec::new();
        for package in self.packages.values() {
            let mut files = Vec::new();
            files_below(&package.folder, "rs", &mut files)?;
            all.extend(files.into_iter().map(|path| (package.name.clone(), path)));
        }
        Ok(all)
    }
}

pub(crate) fn root() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap_or(folder).to_owned()
}

/// `cargo metadata` with further arguments, without touching the network.
pub(crate) fn metadata(args: &[&str]) -> Outcome<Value> {
    let mut all = vec!["metadata", "--offline", "--format-version", "1"];
    all.extend(args);
    let cargo = option_env!("CARGO").unwrap_or("cargo");
    let text = run::output(&root(), cargo, &all)?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

fn package(it: &Value, names: &BTreeSet<&str>) -> Option<(String, Package)> {
    let name = it["name"].as_str()?.to_owned();
    let folder = Path::new(it["manifest_path"].as_str()?).parent()?.to_owned();
    let (mut dependencies, mut test_dependencies) = (BTreeSet::new(), BTreeSet::new());
    for dependency in it["dependencies"].as_array()? {
        let on = dependency["name"].as_str()?;
        if !names.contains(on) || on == name {
            continue;
        }
        let list =
            if dependency["kind"].is_null() { &mut dependencies } else { &mut test_dependencies };
        list.insert(on.to_owned());
    }
    Some((name.clone(), Package { name, folder, dependencies, test_dependencies }))
}

/// All files with this extension below a folder, build output and hidden folders left out.
pub(crate) fn files_below(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> Outcome {
    let shown = folder.display();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{shown}: {error}"))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{shown}: {error}"))?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !path.ends_with("target") && !hidden {
            files_below(&path, extension, files)?;
        } else if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(())
}

pub(crate) fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
