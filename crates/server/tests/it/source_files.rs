//! Lists the Rust files below a folder, for tests that compare documents with the sources.

use std::path::{Path, PathBuf};

/// Adds every `.rs` file below the folder, `target` left out.
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
