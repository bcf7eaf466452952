//! `cargo xtask dist`: the packages of a release, made by `packaging/build` from one binary.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{Workspace, metadata};
use crate::{Outcome, run};

/// The options of the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct DistOptions<'a> {
    /// An existing binary; without one, the binary is built with the dist profile.
    binary: Option<&'a str>,
    out: Option<&'a str>,
    formats: Vec<&'a str>,
}

fn parse_options<'a>(args: &[&'a str]) -> Outcome<DistOptions<'a>> {
    let mut options = DistOptions::default();
    let mut args = args.iter().copied();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg {
            "--binary" => options.binary = Some(value()?),
            "--out" => options.out = Some(value()?),
            _ if arg.starts_with('-') => return Err(format!("dist has no option {arg}")),
            format => options.formats.push(format),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[&str]) -> Outcome {
    let options = parse_options(args)?;
    let root = Workspace::read()?.root;
    let target = target_folder()?;
    let binary = match options.binary {
        Some(binary) => PathBuf::from(binary),
        None => {
            let build = ["build", "--locked", "--profile", "dist", "-p", "server"];
            run::checked(run::cargo().args(build).current_dir(&root))?;
            target.join("dist/stoa")
        }
    };
    let out = options.out.map_or_else(|| target.join("packages"), PathBuf::from);
    let mut make = Command::new("python3");
    make.arg(root.join("packaging/build")).arg(binary).arg(&out).args(&options.formats);
    run::checked(&mut make)?;
    println!("the packages are in {}", relative(&out, &root));
    Ok(())
}

fn target_folder() -> Outcome<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let folder = metadata["target_directory"].as_str();
    folder.map(PathBuf::from).ok_or_else(|| "cargo metadata names no target folder".to_owned())
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_formats_are_parsed() {
        let all = parse_options(&["deb", "--binary", "x", "--out", "y", "npm"]).unwrap();
        let expected =
            DistOptions { binary: Some("x"), out: Some("y"), formats: vec!["deb", "npm"] };
        assert_eq!(all, expected);
        assert_eq!(parse_options(&[]).unwrap(), DistOptions::default());
        assert!(parse_options(&["--binary"]).is_err());
        assert!(parse_options(&["--fast"]).is_err());
    }
}
