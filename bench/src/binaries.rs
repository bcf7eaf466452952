//! Builds the programs that a benchmark starts, with the profile the benchmark itself was built with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The cargo that built this program, without the variables that `cargo run` sets for the package it
/// runs: the build script of `ring` depends on them, and with other values cargo compiles everything
/// above it again.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// Builds one binary of the workspace and returns its path. A debug build of the benchmark builds a
/// debug binary, so that a quick test stays quick.
pub fn build(name: &str) -> Result<PathBuf, Box<dyn std::error::Error + Send + Sync>> {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = bench.parent().ok_or("the benchmarks are outside their workspace")?;
    let here = std::env::current_exe()?;
    let folder = here.parent().ok_or("this program has no folder")?;
    let profile = match folder.file_name().and_then(|it| it.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let mut cargo = cargo();
    cargo.current_dir(root).stdout(Stdio::null());
    // The packages that `cargo xtask bench` selects: another selection has other features of shared
    // dependencies, and would compile them and `stoa` again.
    cargo.args(["build", "--quiet", "--profile", profile, "-p", "server", "-p", "bench"]);
    cargo.args(["--bin", name]);
    let status = cargo.status().map_err(|error| format!("{cargo:?}: {error}"))?;
    let built = folder.join(name);
    if status.success() && built.exists() {
        Ok(built)
    } else {
        Err(format!("{cargo:?} failed: {status}").into())
    }
}
