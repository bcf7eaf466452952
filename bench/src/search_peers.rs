//! Other search engines, in a process that reads from its input whose turn it is.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::binaries;

use crate::outcome::Outcome;

/// The results of one round: hits of all queries, and the milliseconds of each, ascending.
#[derive(Default, Clone)]
pub struct Times {
    pub hits: u64,
    pub ms: Vec<f64>,
}

impl Times {
    pub fn new(hits: u64, mut ms: Vec<f64>) -> Self {
        ms.sort_by(f64::total_cmp);
        Self { hits, ms }
    }

    pub fn at(&self, share: f64) -> f64 {
        let last = self.ms.len().saturating_sub(1);
        self.ms.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
    }

    /// The round with the lower p99 counts.
    pub fn better(&mut self, other: Self) {
        if self.ms.is_empty() || other.at(0.99) < self.at(0.99) {
            *self = other;
        }
    }

    #[expect(clippy::print_stdout, reason = "a benchmark talks to a terminal")]
    pub fn print(&self, name: &str) {
        let (p50, p99, max) = (self.at(0.5), self.at(0.99), self.at(1.0));
        println!("| {name} | {} | {p50:.3} | {p99:.3} | {max:.3} |", self.hits);
    }
}

pub struct Peers {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peers {
    /// Builds the program, if need be, and has it make the indexes of `which` (`both` or `tantivy`)
    /// of a file of texts and the file `questions` in the folder.
    pub fn start(folder: &Path, texts: &str, which: &str) -> Outcome<Self> {
        let manifest = "bench/peers/search/Cargo.toml";
        let target = "target/search-peers";
        let build = ["build", "--release", "--manifest-path", manifest, "--target-dir", target];
        if !binaries::cargo().args(build).status()?.success() {
            return Err("the peers could not be built".into());
        }
        let mut child = Command::new(Path::new(target).join("release/search-peers"))
            .args([folder.join(texts), folder.join("questions"), folder.to_owned()])
            .arg(which)
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
    pub fn made(&mut self) -> Outcome<(String, f64, f64)> {
        let line = self.line()?;
        let parts: Vec<&str> = line.split_whitespace().collect();
        let ["made", name, seconds, bytes] = parts[..] else { return Err("nonsense".into()) };
        Ok((name.to_owned(), seconds.parse()?, bytes.parse()?))
    }

    pub fn round(&mut self, name: &str) -> Outcome<Times> {
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
