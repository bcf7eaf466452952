//! Embeds every JSON file below `contracts/` into the binary, as a table of path and text.

use std::fs;
use std::io::{Error, Result, Write as _};
use std::path::{Path, PathBuf};

fn main() -> Result<()> {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = manifest.join("../../contracts").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    walk(&root, &mut files)?;
    files.sort();
    let mut table = fs::File::create(Path::new(&variable("OUT_DIR")?).join("files.rs"))?;
    writeln!(table, "&[")?;
    for file in &files {
        let name = file.strip_prefix(&root).map_err(Error::other)?.display().to_string();
        writeln!(table, "    ({name:?}, include_str!({:?})),", file.display().to_string())?;
    }
    writeln!(table, "]")
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts this way")]
fn variable(name: &str) -> Result<String> {
    std::env::var(name).map_err(Error::other)
}
