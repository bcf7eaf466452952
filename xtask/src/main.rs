//! The developer's commands: `cargo xtask test|tidy|docs|policy|bench|fuzz|dist`.
//!
//! It starts cargo and git and reads source files; it depends on no crate of the workspace, so that
//! it builds in seconds.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its terminal"
)]

mod bench;
mod changed;
mod dist;
mod docs;
mod fuzz;
mod policy;
mod run;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

/// What every command returns; the error is one line for the terminal.
pub(crate) type Outcome<T = ()> = Result<T, String>;

const USAGE: &str = "\
cargo xtask COMMAND

  test                     format, lints, policy and all tests
  test --changed [BASE]    tests of the crates that differ from BASE (default: origin/main, else
                           HEAD) and of the crates that depend on them
  tidy                     the rules of the project: dependencies, names, sizes, headers, documents
  docs [--check]           write docs/crates.md and docs/fault-codes.md, or fail when they are stale
  policy                   licences, banned crates and sources, as deny.toml says
  bench [NAME [ARG...]]    list the benchmarks, or build one with the dist profile and run it
  fuzz [TARGET] [--runs N] [--seed S]
                           run one fuzz target or all of them; see docs/fuzzing.md
  dist [--binary FILE] [--out DIR] [FORMAT...]
                           make the packages of a release: tarball, deb, wheel, npm, oci; without
                           FILE the binary is built with the dist profile
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => test::all(),
        ["test", "--changed"] => test::changed(None),
        ["test", "--changed", base] => test::changed(Some(base)),
        ["tidy"] => tidy::report(),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["policy"] => policy::report(),
        ["bench"] => bench::list(),
        ["bench", name, rest @ ..] => bench::run(name, rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["dist", rest @ ..] => dist::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
