//! The lives of the server: started, measured, killed with `kill -9` and started again on the same
//! data folder and port.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::Outcome;
use crate::clients::{Life, Shared};
use crate::observations::FailureKind;
use crate::server_process::{Launcher, ServerProcess};

/// The server process is checked this often for an exit without a kill.
const EXIT_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Figures of one life; memory is resident memory in megabytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LifeRecord {
    /// From the start of the process until `/health` answered.
    pub(crate) start: Duration,
    pub(crate) lasted: Duration,
    pub(crate) start_mb: f64,
    pub(crate) peak_mb: f64,
    pub(crate) end_mb: f64,
    /// Idle connections at the end of the life.
    pub(crate) idle_open: usize,
}

pub(crate) struct Lives {
    launcher: Launcher,
    life: watch::Sender<Life>,
    process: ServerProcess,
    began: Instant,
    start: Duration,
    start_mb: f64,
    number: u64,
    pub(crate) records: Vec<LifeRecord>,
}

impl Lives {
    pub(crate) async fn begin(launcher: Launcher, life: watch::Sender<Life>) -> Outcome<Self> {
        let (process, start) = started(&launcher).await?;
        let start_mb = process.memory_mb("VmRSS");
        life.send_replace(Some(1));
        Ok(Self {
            launcher,
            life,
            process,
            began: Instant::now(),
            start,
            start_mb,
            number: 1,
            records: Vec::new(),
        })
    }

    /// Lets the server live for this long; an exit by itself is a failure and ends the life.
    pub(crate) async fn run_for(&mut self, shared: &Shared, length: Duration) -> Outcome<()> {
        let until = Instant::now() + length;
        while Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            tokio::time::sleep(left.min(EXIT_CHECK_INTERVAL)).await;
            if let Some(status) = self.process.exit_status()? {
                let at = shared.observations.elapsed().as_secs();
                let text = format!("{at} s: the server ended with {status}");
                shared.observations.record_failure_at_any_time(FailureKind::ServerExited, text);
                return Ok(());
            }
        }
        Ok(())
    }

    pub(crate) async fn kill_and_restart(&mut self, shared: &Shared) -> Outcome<()> {
        self.records.push(self.record(shared));
        let (process, start) = {
            shared.observations.windows.begin();
            self.life.send_replace(None);
            self.process.kill()?;
            started(&self.launcher).await?
        };
        self.start_mb = process.memory_mb("VmRSS");
        (self.process, self.start, self.began) = (process, start, Instant::now());
        self.number += 1;
        shared.observations.windows.end();
        self.life.send_replace(Some(self.number));
        Ok(())
    }

    fn record(&self, shared: &Shared) -> LifeRecord {
        LifeRecord {
            start: self.start,
            lasted: self.began.elapsed(),
            start_mb: self.start_mb,
            peak_mb: self.process.memory_mb("VmHWM"),
            end_mb: self.process.memory_mb("VmRSS"),
            idle_open: shared.idle.open.load(Ordering::Relaxed),
        }
    }

    /// Ends the last life.
    pub(crate) fn end(mut self, shared: &Shared) -> Outcome<Vec<LifeRecord>> {
        self.records.push(self.record(shared));
        self.process.kill()?;
        Ok(self.records)
    }

    pub(crate) fn memory_mb(&self) -> f64 {
        self.process.memory_mb("VmRSS")
    }

    /// The last lines of the server's log.
    pub(crate) fn log_tail(&self, lines: usize) -> String {
        let log = std::fs::read_to_string(self.launcher.log()).unwrap_or_default();
        let all: Vec<&str> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

async fn started(launcher: &Launcher) -> Outcome<(ServerProcess, Duration)> {
    let began = Instant::now();
    let mut process = launcher.start()?;
    process.wait_until_healthy(launcher.address).await?;
    Ok((process, began.elapsed()))
}
