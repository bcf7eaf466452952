//! The peers, in a process that is signalled whose turn it is.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{Outcome, Times};

pub(crate) struct Peers {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peers {
    /// Builds the program, if need be, and has it make its indexes of the files in the folder.
    pub(crate) fn start(folder: &Path) -> Outcome<Self> {
        let manifest = "bench/peers/search/Cargo.toml";
        let target = "target/search-peers";
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--release", "--manifest-path", manifest, "--target-dir", target];
        if !Command::new(cargo).args(build).status()?.success() {
            return Err("the peers could not be built".into());
        }
        let mut child = Command::new(Path::new(target).join("release/search-peers"))
            .args([folder.join("insights"), folder.join("questions"), folder.to_owned()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Self { child, input, output })
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the peers ended early".into());
        }
        Ok(line)
    }

    /// Waits for the next index: its name, the seconds it took, its bytes.
    pub(crate) fn made(&mut self) -> Outcome<(String, f64, f64)> {
        let line = self.line()?;
        let parts: Vec<&str> = line.split_whitespace().collect();
        let ["made", name, seconds, bytes] = parts[..] else { return Err("nonsense".into()) };
        Ok((name.to_owned(), seconds.parse()?, bytes.parse()?))
    }

    pub(crate) fn round(&mut self, name: &str) -> Outcome<Times> {
        writeln!(self.input, "{name}")?;
        let line = self.line()?;
        let mut numbers = line.split_whitespace();
        let hits = numbers.next().ok_or("nonsense")?.parse()?;
        let ms: Result<Vec<f64>, _> =
            numbers.map(|it| it.parse::<f64>().map(|us| us / 1e3)).collect();
        Ok(Times::new(hits, ms?))
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
