//! The three servers as processes: built, started, measured and stopped.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bench::processes::{command, free_address};
use serde_json::Value;
use testkit::TempFolder;

use crate::Outcome;
use crate::options::Options;

const FASTMCP: &str = "fastmcp==4.1.2";
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Linux counts processor time for user space in hundredths of a second on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

/// All programs of the benchmark, built.
pub(crate) struct Binaries {
    stoa: PathBuf,
    bare: PathBuf,
    python: PathBuf,
    fastmcp: PathBuf,
}

impl Binaries {
    pub(crate) fn prepare(options: &Options) -> Outcome<Self> {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = bench.parent().ok_or("the benchmarks have left their workspace")?;
        let build = |given: &Option<PathBuf>, name: &str| match given {
            Some(path) => Ok(path.canonicalize()?),
            None => bench::binaries::build(name),
        };
        Ok(Self {
            stoa: build(&options.stoa, "stoa")?,
            bare: build(&options.bare, "bare_rmcp")?,
            python: python(root)?,
            fastmcp: bench.join("peers/fastmcp_server.py"),
        })
    }

    pub(crate) fn stoa_stdio(&self, folder: &Folder) -> Command {
        let mut command = command(&self.stoa);
        command.arg("mcp").arg("--data").arg(folder.0.path().join("stdio"));
        command
    }

    pub(crate) fn fastmcp_stdio(&self, folder: &Folder) -> Command {
        let mut command = command(&self.python);
        command.arg(&self.fastmcp).arg(folder.quotes());
        command
    }
}

/// A Python with FastMCP in a folder that git ignores.
fn python(root: &Path) -> Outcome<PathBuf> {
    let home = root.join(".tools/bench-venv");
    let python = home.join("bin/python");
    let (name, version) = FASTMCP.split_once("==").unwrap_or((FASTMCP, ""));
    let check = format!("import {name}, sys; sys.exit({name}.__version__ != {version:?})");
    let has_it = python.exists()
        && Command::new(&python).args(["-c", &check]).stderr(Stdio::null()).status()?.success();
    if !has_it {
        done(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        done(Command::new(&python).args(["-m", "pip", "install", "--quiet", FASTMCP]))?;
    }
    Ok(python)
}

fn done(command: &mut Command) -> Outcome<()> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}

/// The folder of the servers, removed afterwards.
pub(crate) struct Folder(TempFolder);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempFolder::new())
    }

    fn quotes(&self) -> PathBuf {
        self.0.path().join("quotes.json")
    }
}

/// A server that answers on its port, until it is dropped.
pub(crate) struct Running {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Running {
    pub(crate) fn stoa(binaries: &Binaries, folder: &Folder) -> Outcome<Self> {
        let mut command = command(&binaries.stoa);
        let address = free_address()?;
        command.arg("serve").args(["--listen", &address.to_string()]);
        command.arg("--data").arg(folder.0.path().join("serve")).env("STOA_RATE_PER_SECOND", "0");
        Self::start("stoa", address, command)
    }

    /// `constant` is the result that Stoa returned.
    pub(crate) fn bare(binaries: &Binaries, folder: &Folder, constant: &Value) -> Outcome<Self> {
        let path = folder.0.path().join("constant.json");
        std::fs::write(&path, constant.to_string())?;
        let address = free_address()?;
        let mut command = command(&binaries.bare);
        command.arg(address.port().to_string()).stdin(File::open(path)?);
        Self::start("bare rmcp", address, command)
    }

    pub(crate) fn fastmcp(binaries: &Binaries, folder: &Folder, constant: &Value) -> Outcome<Self> {
        std::fs::write(folder.quotes(), constant["structuredContent"]["quotes"].to_string())?;
        let address = free_address()?;
        let mut command = binaries.fastmcp_stdio(folder);
        command.arg(address.port().to_string());
        Self::start("FastMCP", address, command)
    }

    fn start(name: &'static str, address: SocketAddr, mut command: Command) -> Outcome<Self> {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let mut running = Self { name, address, child };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = running.child.try_wait()? {
                return Err(format!("{command:?} ended with {status}").into());
            }
            if started.elapsed() > START_TIMEOUT {
                return Err(format!("{name} does not answer on {address}").into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(running)
    }

    /// Processor time of all its threads so far, in seconds.
    pub(crate) fn cpu(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field is the name in brackets, and a name may hold anything.
        let (_, fields) = stat.rsplit_once(')').ok_or("no brackets in stat")?;
        let mut ticks = 0.0;
        for field in fields.split_whitespace().skip(11).take(2) {
            ticks += field.parse::<f64>()?;
        }
        Ok(ticks / TICKS_PER_SECOND)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

pub(crate) fn stop(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}
