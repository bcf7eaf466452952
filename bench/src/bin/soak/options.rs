//! The command-line options. The defaults make a run of ten minutes.

use std::path::PathBuf;
use std::time::Duration;

use crate::Outcome;

const USAGE: &str = "\
usage: soak [--minutes N] [--kill-every SECONDS] [--kills N] [--idle N] [--active N] [--rate N]
            [--seed N] [--stoa FILE] [--keep FOLDER]
  --minutes     length of the load (10)
  --kill-every  average seconds between two kills of the server (20)
  --kills       ends the load after this many kills instead of after --minutes
  --idle        connections that are held open and send next to nothing (10000)
  --active      connections that send requests or read streams (1000)
  --rate        requests per second of all active connections together (200)
  --seed        of the requests, the faults and the times of the kills (20261117)
  --stoa        binary to take instead of building it
  --keep        folder for the data and the logs, which is then not removed";

/// The length of a life is at most 1.5 times `kill_every`, and a restart takes at most this long on
/// average; together they bound a run that ends by its number of kills.
const RESTART_AVERAGE_MAX: Duration = Duration::from_secs(20);

pub(crate) struct Options {
    pub(crate) minutes: f64,
    pub(crate) kill_every: Duration,
    pub(crate) kills: Option<u32>,
    pub(crate) idle: usize,
    pub(crate) active: usize,
    pub(crate) rate: f64,
    pub(crate) seed: u64,
    pub(crate) stoa: Option<PathBuf>,
    pub(crate) keep: Option<PathBuf>,
}

impl Options {
    pub(crate) fn read(mut args: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self {
            minutes: 10.0,
            kill_every: Duration::from_secs(20),
            kills: None,
            idle: 10_000,
            active: 1_000,
            rate: 200.0,
            seed: 20_261_117,
            stoa: None,
            keep: None,
        };
        while let Some(name) = args.next() {
            let Some(value) = args.next() else { return Err(USAGE.into()) };
            match name.as_str() {
                "--minutes" => options.minutes = value.parse::<f64>()?.clamp(0.1, 1_440.0),
                "--kill-every" => {
                    let seconds = value.parse::<f64>()?.clamp(1.0, 3_600.0);
                    options.kill_every = Duration::try_from_secs_f64(seconds)?;
                }
                "--kills" => options.kills = Some(value.parse::<u32>()?.clamp(1, 100_000)),
                "--idle" => options.idle = value.parse::<usize>()?.min(100_000),
                "--active" => options.active = value.parse::<usize>()?.clamp(10, 20_000),
                "--rate" => options.rate = value.parse::<f64>()?.clamp(1.0, 20_000.0),
                "--seed" => options.seed = value.parse()?,
                "--stoa" => options.stoa = Some(value.into()),
                "--keep" => options.keep = Some(value.into()),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }

    /// The load ends no later than this.
    pub(crate) fn load_time_max(&self) -> Outcome<Duration> {
        Ok(match self.kills {
            None => Duration::try_from_secs_f64(self.minutes * 60.0)?,
            Some(kills) => (self.kill_every + self.kill_every / 2 + RESTART_AVERAGE_MAX) * kills,
        })
    }
}
