//! Passes the commit to the program, where the build does not set it and the sources are in a git
//! checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=BUILD_COMMIT");
    if std::env::var_os("BUILD_COMMIT").is_some() {
        return;
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let git = root.join(".git");
    if !git.is_dir() {
        return;
    }
    for file in ["HEAD", "packed-refs", "logs/HEAD"] {
        let path = git.join(file);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    // `cargo run` passes the variable to the program, which refuses unknown variables that look
    // like its settings; hence the name.
    if let Some(commit) = commit(&root) {
        println!("cargo::rustc-env=BUILD_COMMIT={commit}");
    }
}

fn commit(root: &Path) -> Option<String> {
    let asked = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root).output().ok()?;
    let text = String::from_utf8(asked.stdout).ok()?;
    let commit = text.trim();
    let plain = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (asked.status.success() && plain).then(|| commit.to_owned())
}
