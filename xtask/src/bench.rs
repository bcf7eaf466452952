//! `cargo xtask bench`: one benchmark of `bench/`, built as the shipped binary is.

use crate::workspace::{Workspace, metadata};
use crate::{Outcome, run};

fn names() -> Outcome<Vec<String>> {
    let metadata = metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let bench = packages.iter().find(|it| it["name"] == "bench").ok_or("no package bench")?;
    let targets = bench["targets"].as_array().ok_or("bench has no targets")?;
    let binaries = targets.iter().filter(|it| it["kind"][0] == "bin");
    Ok(binaries.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect())
}

pub(crate) fn list() -> Outcome {
    println!("{}", names()?.join("\n"));
    Ok(())
}

/// Builds `stoa` and this one benchmark with the dist profile, then runs the benchmark. A benchmark
/// builds the other programs that it needs.
pub(crate) fn run(name: &str, args: &[&str]) -> Outcome {
    let known = names()?;
    if !known.iter().any(|it| it == name) {
        return Err(format!("no benchmark {name}; there are: {}", known.join(" ")));
    }
    let root = Workspace::read()?.root;
    let mut build = run::cargo();
    build.args(["build", "--profile", "dist", "-p", "server", "-p", "bench", "--bin", "stoa"]);
    run::checked(build.args(["--bin", name]))?;
    let mut command = run::cargo();
    command.args(["run", "--quiet", "--profile", "dist", "-p", "bench", "--bin", name, "--"]);
    run::checked(command.args(args).current_dir(root))
}
