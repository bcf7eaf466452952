//! The servers as processes, the exchange behind Stoa, and the system's figures about them. Servers
//! run on the first processor, everything else on the second.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bench::processes::{clear_environment, free_address};
use clock::SystemClock;
use market_sim::{Sim, SimConfig};
use testkit::TempFolder;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::options::Options;
use crate::relay::Relay;

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Linux counts processor time for user space in hundredths of a second on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;
const SEED: u64 = 7;
/// Sockets of ten thousand readers, and the other files of a process.
const FILES: u64 = 16_384;

/// All programs of the benchmark, built.
pub(crate) struct Binaries {
    stoa: PathBuf,
    naive: PathBuf,
}

impl Binaries {
    pub(crate) fn prepare(options: &Options) -> Outcome<Self> {
        let build = |given: &Option<PathBuf>, name: &str| match given {
            Some(path) => Ok(path.canonicalize()?),
            None => bench::binaries::build(name),
        };
        Ok(Self {
            stoa: build(&options.stoa, "stoa")?,
            naive: build(&options.naive, "streams_naive")?,
        })
    }
}

fn done(command: &mut Command) -> Outcome<()> {
    command.stdout(Stdio::null());
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}

/// Puts this process on the second processor and lets it and its children open enough files.
pub(crate) fn settle() -> Outcome<()> {
    let me = std::process::id().to_string();
    done(Command::new("taskset").args(["--cpu-list", "--pid", "1", &me]))?;
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let mut limits = line.unwrap_or_default().split_whitespace().map(str::parse::<u64>);
    let (soft, hard) = (limits.next(), limits.next());
    if soft.is_some_and(|soft| soft.is_ok_and(|soft| soft < FILES)) {
        let hard = hard.and_then(Result::ok).unwrap_or(FILES).max(FILES);
        let wanted = format!("--nofile={hard}:{hard}");
        done(Command::new("prlimit").args([&wanted, "--pid", &me]))?;
    }
    Ok(())
}

/// A simulated exchange on its own thread, until the process ends.
pub(crate) fn exchange() -> Outcome<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || {
        runtime.block_on(async {
            let sim = Sim::new(SimConfig::new(SEED, Arc::new(SystemClock)));
            let listener = tokio::net::TcpListener::from_std(listener)?;
            sim.serve(listener, CancellationToken::new()).await;
            Ok::<_, std::io::Error>(())
        })
    });
    Ok(address)
}

/// A server that answers on its port, until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    child: Child,
    feed: Feed,
    /// The data folder, removed afterwards.
    _folder: Option<TempFolder>,
}

/// How the axum server is written.
#[derive(Clone, Copy)]
pub(crate) enum PeerMode {
    /// Default buffers; every client serializes and flushes every event.
    Naive,
    /// Small read buffers; events serialized once and flushed together.
    Tuned,
}

impl PeerMode {
    fn word(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Tuned => "tuned",
        }
    }
}

/// The source of a server's events.
enum Feed {
    /// The exchange, as in production.
    Exchange(Relay),
    /// The server makes the events itself on command.
    Commands(ChildStdin),
}

impl Running {
    /// `stoa serve` with its defaults, on the exchange behind the relay.
    pub(crate) fn stoa(binaries: &Binaries, rest: SocketAddr, relay: Relay) -> Outcome<Self> {
        let folder = TempFolder::new();
        let address = free_address()?;
        let mut command = on_first_processor(&binaries.stoa);
        command
            .arg("serve")
            .args(["--listen", &address.to_string()])
            .arg("--data")
            .arg(folder.path());
        command.env("STOA_RATE_PER_SECOND", "0").env("STOA_CONNECTIONS_MAX", FILES.to_string());
        command.env("STOA_STREAMS_PER_CLIENT_MAX", "0");
        command.env("STOA_STREAMS_PER_CLIENT_MINUTE", "0");
        command.env("PROVIDER", "binance");
        command.env("BINANCE_REST_URL", format!("http://{rest}"));
        command.env("BINANCE_WS_URL", format!("ws://{}", relay.address));
        command.stdin(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let feed = Feed::Exchange(relay);
        Self { address, child, feed, _folder: Some(folder) }.once_it_answers()
    }

    /// An axum server that broadcasts `event`, which Stoa sent before.
    pub(crate) fn peer(binaries: &Binaries, event: &str, mode: PeerMode) -> Outcome<Self> {
        let address = free_address()?;
        let mut command = on_first_processor(&binaries.naive);
        command.arg(address.port().to_string()).arg(mode.word()).stdin(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let mut stdin = child.stdin.take().ok_or("the server has no stdin")?;
        writeln!(stdin, "{event}")?;
        Self { address, child, feed: Feed::Commands(stdin), _folder: None }.once_it_answers()
    }

    fn once_it_answers(mut self) -> Outcome<Self> {
        let started = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("a server ended with {status}").into());
            }
            if started.elapsed() > START_TIMEOUT {
                return Err(format!("no server answers on {}", self.address).into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(self)
    }

    /// Sends the server `count` further events.
    pub(crate) fn feed(&mut self, count: u64) -> Outcome<()> {
        match &mut self.feed {
            Feed::Exchange(relay) => relay.send_more(count),
            Feed::Commands(stdin) => Ok(writeln!(stdin, "{count}")?),
        }
    }

    /// Processor time of all its threads so far, in seconds.
    pub(crate) fn cpu(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The second field is the name in brackets, and a name may hold anything.
        let (_, fields) = stat.rsplit_once(')').ok_or("no brackets in stat")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / TICKS_PER_SECOND)
    }

    /// Resident memory in bytes, without the kernel's socket buffers.
    pub(crate) fn memory(&self) -> Outcome<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kilobytes.ok_or("no VmRSS in status")?.parse::<f64>()? * 1024.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Removes settings from the environment, because they would change what is measured.
fn on_first_processor(program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", "0"]).arg(program);
    clear_environment(&mut command);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}
