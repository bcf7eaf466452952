//! `cargo xtask dist`: the packages of a release, made by `packaging/build` from one binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{Workspace, metadata};
use crate::{Outcome, run};

/// What the command was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted<'a> {
    /// A binary that is there already; without one it is built with the dist profile.
    binary: Option<&'a str>,
    out: Option<&'a str>,
    formats: Vec<&'a str>,
}

fn wanted<'a>(args: &[&'a str]) -> Outcome<Wanted<'a>> {
    let mut wanted = Wanted::default();
    let mut args = args.iter().copied();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg {
            "--binary" => wanted.binary = Some(value()?),
            "--out" => wanted.out = Some(value()?),
            _ if arg.starts_with('-') => return Err(format!("dist has no option {arg}")),
            format => wanted.formats.push(format),
        }
    }
    Ok(wanted)
}

pub(crate) fn run(args: &[&str]) -> Outcome {
    let wanted = wanted(args)?;
    let root = Workspace::read()?.root;
    let target = target_folder()?;
    let binary = match wanted.binary {
        Some(binary) => PathBuf::from(binary),
        None => {
            let build = ["build", "--locked", "--profile", "dist", "-p", "server"];
            run::checked(run::cargo().args(build).current_dir(&root))?;
            target.join("dist/stoa")
        }
    };
    let out = wanted.out.map_or_else(|| target.join("packages"), PathBuf::from);
    let mut make = Command::new("python3");
    make.arg(root.join("packaging/build")).arg(binary).arg(&out).args(&wanted.formats);
    run::checked(&mut make)?;
    println!("the packages are in {}", shown(&out, &root));
    Ok(())
}

fn target_folder() -> Outcome<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let folder = metadata["target_directory"].as_str();
    folder.map(PathBuf::from).ok_or_else(|| "cargo metadata names no target folder".to_owned())
}

fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_formats_are_told_apart() {
        let all = wanted(&["deb", "--binary", "x", "--out", "y", "npm"]).unwrap();
        let expected = Wanted { binary: Some("x"), out: Some("y"), formats: vec!["deb", "npm"] };
        assert_eq!(all, expected);
        assert_eq!(wanted(&[]).unwrap(), Wanted::default());
        assert!(wanted(&["--binary"]).is_err());
        assert!(wanted(&["--fast"]).is_err());
    }
}
