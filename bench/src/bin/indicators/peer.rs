//! The contenders, each a process that computes when it is signalled.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use testkit::TempFolder;

use crate::ours::Data;
use crate::{Outcome, SelectedIndicators};

/// A temporary folder that is removed when the run ends.
pub(crate) struct Folder(TempFolder);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(TempFolder::new())
    }

    /// The columns o, h, l, c, v one after the other, as little-endian doubles.
    pub(crate) fn write(&self, data: &Data) -> Outcome<PathBuf> {
        let file = self.0.path().join("candles");
        let mut bytes = Vec::new();
        for value in data.columns().into_iter().flatten() {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        fs::write(&file, bytes)?;
        Ok(file)
    }
}

pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// TA-Lib and `ta` through Python, in a virtual environment that is created when it is missing.
    pub(crate) fn python(file: &Path, rows: usize) -> Outcome<Peer> {
        let venv = Path::new(".tools/ta-venv");
        if !venv.exists() {
            run(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
            let packages = ["install", "-q", "ta==0.11.0", "TA-Lib", "pandas", "numpy"];
            run(Command::new(venv.join("bin/pip")).args(packages))?;
        }
        let mut command = Command::new(venv.join("bin/python"));
        // `ta` divides by zero in some places and prints warnings.
        command.args(["-W", "ignore", "bench/peers/indicators.py"]);
        Peer::start(command, file, rows)
    }

    /// The Rust crates, in their own program.
    pub(crate) fn crates(file: &Path, rows: usize) -> Outcome<Peer> {
        let manifest = "bench/peers/indicators/Cargo.toml";
        let target = "target/indicator-peers";
        let build = ["build", "--release", "--manifest-path", manifest, "--target-dir", target];
        run(bench::binaries::cargo().args(build))?;
        let program = Path::new(target).join("release/indicator-peers");
        Peer::start(Command::new(program), file, rows)
    }

    fn start(mut command: Command, file: &Path, rows: usize) -> Outcome<Peer> {
        command.arg(file).arg(rows.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or("no standard input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Peer { child, input, output })
    }

    /// One round: `found` gets each name and its time.
    pub(crate) fn round(
        &mut self,
        name: &str,
        selected: &SelectedIndicators,
        mut found: impl FnMut(&str, f64),
    ) -> Outcome<()> {
        writeln!(self.input, "round {name} {}", selected.names().join(" "))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err("a contender ended early".into());
            }
            let line = line.trim();
            if line == "end" {
                return Ok(());
            }
            let (name, ns) = line.rsplit_once('\t').ok_or("a contender spoke nonsense")?;
            found(name, ns.parse()?);
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn run(command: &mut Command) -> Outcome<()> {
    if command.status()?.success() {
        return Ok(());
    }
    Err(format!("failed: {command:?}").into())
}
