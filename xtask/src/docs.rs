//! Documents generated from the workspace: the crate map and the index of fault codes. `--check` and
//! the tidy test fail when a committed page differs from what would be written.

mod crate_map;
mod fault_codes;

use std::path::PathBuf;

use crate::Outcome;
use crate::workspace::{Workspace, read};

/// Every generated page with its text.
fn pages() -> Outcome<Vec<(PathBuf, String)>> {
    let workspace = Workspace::read()?;
    let folder = workspace.root.join("docs");
    Ok(vec![
        (folder.join("crates.md"), crate_map::page(&workspace)?),
        (folder.join("fault-codes.md"), fault_codes::page(&workspace)?),
    ])
}

pub(crate) fn write() -> Outcome {
    for (path, text) in pages()? {
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

pub(crate) fn check() -> Outcome {
    let stale = stale()?;
    if stale.is_empty() { Ok(()) } else { Err(stale.join("\n")) }
}

/// One line for each page that is missing or differs.
pub(crate) fn stale() -> Outcome<Vec<String>> {
    let pages = pages()?.into_iter();
    let stale = pages.filter(|(path, text)| read(path).ok().as_ref() != Some(text));
    let line = |path: PathBuf| format!("{} is stale: run `cargo xtask docs`", path.display());
    Ok(stale.map(|(path, _)| line(path)).collect())
}
