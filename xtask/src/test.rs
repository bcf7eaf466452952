//! `cargo xtask test`: everything that needs no installed service, or only what a change touches.

use std::collections::BTreeSet;
use std::process::Command;

use crate::workspace::Workspace;
use crate::{Outcome, changed, policy, run};

/// Crates whose change can alter what the whole binary does for its clients. A change elsewhere is
/// covered by the tests of the crate and of its dependents; the full run has the rest.
const BLACK_BOX_CRATES: &[&str] =
    &["server", "contract", "transport-http", "transport-mcp", "transport-a2a", "auth", "store"];

/// Format, lints, dependency policy and all tests.
pub(crate) fn all() -> Outcome {
    run::checked(run::cargo().args(["fmt", "--all", "--check"]))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    run::checked(run::cargo().args(clippy))?;
    policy::report()?;
    // The benchmarks have no tests, and linking them would cost every run a minute.
    run::checked(tests().args(["--workspace", "--exclude", "bench", "--locked"]))
}

/// Tests of the crates that changed and of those that depend on them.
pub(crate) fn changed(base: Option<&str>) -> Outcome {
    let workspace = Workspace::read()?;
    let files = changed::files(&workspace, base)?;
    let touched = changed::crates(&workspace, &files);
    let mut affected = workspace.with_dependents(&touched);
    affected.remove("bench");
    if affected.is_empty() {
        println!("no crate changed");
        return Ok(());
    }
    println!("changed: {}", list(&touched));
    println!("tested:  {}", list(&affected));
    let black_box = touched.iter().any(|it| BLACK_BOX_CRATES.contains(&it.as_str()));
    if !black_box && affected.remove("server") {
        println!("not tested: the server's black-box suite (no crate at its edge changed)");
    }
    let mut command = tests();
    if has_nextest() {
        command.args(whole_workspace(&affected));
    } else {
        command.args(affected.iter().flat_map(|name| ["--package", name]));
    }
    run::checked(&mut command)
}

/// The whole workspace, of which only the tests of these crates run. Crates selected one by one would
/// get other features of the libraries they share, and cargo would build 50 to 75 libraries again.
/// The server is left out unless it is tested, because every change would link its tests again.
fn whole_workspace(affected: &BTreeSet<String>) -> Vec<String> {
    let mut args = vec!["--workspace".to_owned(), "--exclude=bench".to_owned()];
    if !affected.contains("server") {
        args.push("--exclude=server".to_owned());
    }
    let packages: Vec<String> = affected.iter().map(|name| format!("package(={name})")).collect();
    args.extend(["-E".to_owned(), packages.join(" + ")]);
    args
}

/// nextest where it is installed, else cargo's own runner.
fn tests() -> Command {
    let mut command = run::cargo();
    if has_nextest() {
        command.args(["nextest", "run"]);
    } else {
        command.args(["test", "--no-fail-fast"]);
    }
    command
}

fn has_nextest() -> bool {
    let version = run::cargo().args(["nextest", "--version"]).output();
    version.is_ok_and(|it| it.status.success())
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}
