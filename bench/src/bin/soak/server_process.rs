//! `stoa serve` and `stoa sim` as processes: started, measured, killed.

use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use bench::processes::command;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::time::{Instant, timeout};

use crate::Outcome;
use crate::http::{Connection, Request};
use crate::options::Options;

const START_TIMEOUT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(5);
/// Files that a process opens beside its connections.
const FILES_BESIDE: usize = 512;

/// Raises the limit of open files, which children inherit, to the highest allowed value and returns
/// it.
pub(crate) fn raise_open_files() -> Outcome<usize> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX)))
}

/// How many of the idle connections fit into the limit of open files.
pub(crate) fn idle_that_fit(options: &Options, open_files: usize) -> usize {
    options.idle.min(open_files.saturating_sub(options.active + FILES_BESIDE))
}

/// A process that is killed with the value.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Everything that each life of the server has in common.
pub(crate) struct Launcher {
    pub(crate) binary: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) address: SocketAddr,
    pub(crate) exchange: SocketAddr,
    pub(crate) connections_max: usize,
}

impl Launcher {
    pub(crate) fn start(&self) -> Outcome<ServerProcess> {
        let mut command = self.command();
        command.args(["serve", "--listen", &self.address.to_string()]);
        command.env("STOA_RATE_PER_SECOND", "0");
        command.env("STOA_CONNECTIONS_MAX", self.connections_max.to_string());
        command.env("STOA_STREAMS_PER_CLIENT_MAX", "0");
        command.env("STOA_STREAMS_PER_CLIENT_MINUTE", "0");
        // Idle connections may stay between two requests for longer than a life lasts.
        command.env("STOA_CLIENT_TIMEOUT_S", "600");
        command.env("STOA_LOG", "warn");
        command.env("PROVIDER", "binance");
        command.env("BINANCE_REST_URL", format!("http://{}", self.exchange));
        command.env("BINANCE_WS_URL", format!("ws://{}", self.exchange));
        let log = OpenOptions::new().create(true).append(true).open(self.log())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        Ok(ServerProcess(KilledOnDrop(child)))
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    /// A capability token for the pricing tools.
    pub(crate) fn mint(&self) -> Outcome<String> {
        let mut command = self.command();
        command.args(["token", "mint", "--subject", "soak", "--ttl", "48h"]);
        command.args(["--scope", "read,write,propose,explain,apply"]);
        let made = command.output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into());
        }
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    }

    fn command(&self) -> Command {
        let mut command = command(&self.binary);
        command.arg("--data").arg(self.folder.join("data"));
        command
    }
}

/// One life of the server.
pub(crate) struct ServerProcess(KilledOnDrop);

impl ServerProcess {
    /// Waits until `/health` answers.
    pub(crate) async fn wait_until_healthy(&mut self, address: SocketAddr) -> Outcome<()> {
        let began = Instant::now();
        while began.elapsed() < START_TIMEOUT {
            if let Some(status) = self.exit_status()? {
                return Err(format!("the server ended with {status} when it was started").into());
            }
            if timeout(START_TIMEOUT, is_healthy(address)).await.unwrap_or(false) {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
        Err(format!("the server did not answer on {address} within {START_TIMEOUT:?}").into())
    }

    pub(crate) fn exit_status(&mut self) -> Outcome<Option<ExitStatus>> {
        Ok(self.0.0.try_wait()?)
    }

    /// `kill -9`: no signal handler runs and nothing is flushed.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        self.0.0.kill()?;
        self.0.0.wait()?;
        Ok(())
    }

    /// A line of `/proc/PID/status` in megabytes: `VmRSS` or `VmHWM`, the highest so far.
    pub(crate) fn memory_mb(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.0.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
        kilobytes.and_then(|it| it.parse::<f64>().ok()).map_or(f64::NAN, |it| it / 1024.0)
    }
}

async fn is_healthy(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address).await else { return false };
    let request = Request::get("/health").header("connection", "close").bytes(address);
    connection.exchange(&request).await.is_ok_and(|response| response.status == 200)
}

/// `stoa sim`, which outlives the server.
pub(crate) struct ExchangeProcess {
    pub(crate) address: SocketAddr,
    _child: KilledOnDrop,
}

impl ExchangeProcess {
    pub(crate) async fn start(binary: &Path, folder: &Path, seed: u64) -> Outcome<Self> {
        let log = folder.join("exchange.log");
        let mut command = command(binary);
        command.arg("--data").arg(folder.join("exchange"));
        command.args(["sim", "--listen", "127.0.0.1:0", "--seed", &seed.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let child = KilledOnDrop(child);
        let began = Instant::now();
        while began.elapsed() < START_TIMEOUT {
            let printed = std::fs::read_to_string(&log)?;
            let address = printed.split_once(" is at http://").and_then(|(_, rest)| {
                rest.split_whitespace().next().and_then(|it| it.parse().ok())
            });
            if let Some(address) = address {
                return Ok(Self { address, _child: child });
            }
            tokio::time::sleep(POLL).await;
        }
        Err("the simulated exchange did not start".into())
    }
}
