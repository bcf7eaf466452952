//! The program with the libraries, built when it is needed and started for every measurement.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

pub(crate) struct Peer {
    pub(crate) program: PathBuf,
}

impl Peer {
    pub(crate) fn build() -> Outcome<Self> {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = bench.join("../target/library-peers");
        let mut cargo = bench::binaries::cargo();
        cargo.args(["build", "--quiet", "--release", "--manifest-path"]);
        cargo.arg(bench.join("peers/libraries/Cargo.toml")).arg("--target-dir").arg(&target);
        let status = cargo.status()?;
        if !status.success() {
            return Err(format!("{cargo:?} failed: {status}").into());
        }
        Ok(Self { program: target.join("release/library-peers") })
    }

    /// The number that one measurement prints.
    pub(crate) fn figure(&self, args: &[&str]) -> Outcome<f64> {
        figure_of(&self.program, args)
    }
}

/// The number that a program prints.
pub(crate) fn figure_of(program: &Path, args: &[&str]) -> Outcome<f64> {
    let output = Command::new(program).args(args).output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{args:?}: {message}").into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
