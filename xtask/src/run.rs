//! Starts other programs and turns a failure into one line.

use std::path::Path;
use std::process::Command;

use crate::Outcome;

/// The cargo that started this program, so that the toolchain is the same one, without the variables
/// that `cargo run` sets for the package it runs: the build script of `ring` depends on them, and
/// with other values cargo compiles everything above it again.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(option_env!("CARGO").unwrap_or("cargo"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a program with its output on the terminal; an exit code other than 0 is an error.
pub(crate) fn checked(command: &mut Command) -> Outcome {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ");
    println!("\n== {shown}");
    let status = command.status().map_err(|error| format!("{shown}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown} failed with {status}")) }
}

/// What a program prints on its standard output.
pub(crate) fn output(folder: &Path, program: &str, args: &[&str]) -> Outcome<String> {
    let shown = format!("{program} {}", args.join(" "));
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{shown}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{shown}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{shown}: {error}"))
}
