//! `stoa serve` as a process: built, started and stopped, with tokens for uploads.

use parking_lot::Mutex;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use bench::processes::{command, free_address};
use testkit::TempFolder;

use crate::options::Options;
use crate::{Outcome, process};

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// The uploads of one owner per minute; the next upload uses another owner.
const UPLOADS_PER_OWNER: usize = 10;
/// A server is idle when its memory was the same this many times in a row.
const RESTED: u32 = 5;
const REST: Duration = Duration::from_millis(200);

pub(crate) fn prepare(options: &Options) -> Outcome<PathBuf> {
    match &options.stoa {
        Some(path) => Ok(path.canonicalize()?),
        None => bench::binaries::build("stoa"),
    }
}

/// A process that is ended with the value.
pub(crate) struct Guard(pub(crate) Child);

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A server that answers on its port, until it is dropped.
pub(crate) struct Stoa {
    pub(crate) address: SocketAddr,
    binary: PathBuf,
    /// The current token, the number of tokens so far, and the uploads of the current one.
    owner: Mutex<Option<(String, usize, usize)>>,
    // Ended before its folder is removed.
    child: Guard,
    folder: TempFolder,
}

impl Stoa {
    /// With its own folder, so that no run depends on another.
    pub(crate) fn start(binary: &Path) -> Outcome<Self> {
        let (address, folder) = (free_address()?, TempFolder::new());
        let mut command = command(binary);
        command.arg("--data").arg(folder.path().join("data")).args([
            "serve",
            "--listen",
            &address.to_string(),
        ]);
        // The benchmark sends faster than the default rate; uploads stay limited.
        command.env("STOA_RATE_PER_SECOND", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let mut stoa = Self {
            address,
            binary: binary.to_owned(),
            owner: Mutex::new(None),
            child: Guard(child),
            folder,
        };
        once_it_answers(&mut stoa.child, address)?;
        Ok(stoa)
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// A folder that is removed with the server.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The memory of the idle server after its start, in megabytes.
    pub(crate) fn idle(&self) -> Outcome<f64> {
        let (mut last, mut same) = (0.0, 0);
        while same < RESTED {
            std::thread::sleep(REST);
            let now = process::memory(self.id(), "VmRSS")?;
            same = if (now - last).abs() < 0.5 { same + 1 } else { 0 };
            last = now;
        }
        Ok(last)
    }

    /// Processor time so far, of itself and of the readers it has waited for, in seconds.
    pub(crate) fn cpu(&self) -> Outcome<f64> {
        process::cpu(&self.id().to_string())
    }

    /// A token for one more upload; it changes the owner after ten uploads.
    pub(crate) fn token(&self) -> Outcome<String> {
        let mut owner = self.owner.lock();
        let owners = match owner.as_mut() {
            Some((token, _, uploads)) if *uploads < UPLOADS_PER_OWNER => {
                *uploads += 1;
                return Ok(token.clone());
            }
            other => other.map_or(0, |(_, owners, _)| *owners) + 1,
        };
        let token = self.mint(&format!("owner-{owners}"))?;
        *owner = Some((token.clone(), owners, 1));
        Ok(token)
    }

    fn mint(&self, subject: &str) -> Outcome<String> {
        let mut command = command(&self.binary);
        command.arg("--data").arg(self.folder.path().join("data")).args([
            "token",
            "mint",
            "--subject",
            subject,
        ]);
        let made = command.args(["--scope", "read,write"]).output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into());
        }
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    }
}

pub(crate) fn once_it_answers(child: &mut Guard, address: SocketAddr) -> Outcome<()> {
    let started = Instant::now();
    while TcpStream::connect(address).is_err() {
        if let Some(status) = child.0.try_wait()? {
            return Err(format!("a server ended with {status}").into());
        }
        if started.elapsed() > START_TIMEOUT {
            return Err(format!("no server answers on {address}").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
