//! The command-line options. The defaults make the full measurement.

use std::path::PathBuf;
use std::time::Duration;

use crate::Outcome;

const USAGE: &str = "\
usage: streams [--subscribers N,N] [--seconds N] [--rounds N] [--ahead N] [--latency N]
               [--stoa FILE] [--naive FILE]
  --subscribers  how many readers, in turn (1000,10000)
  --seconds      length of one round (4)
  --rounds       rounds of each server, in turns (4)
  --ahead        how many events the source is ahead of the average reader (128)
  --latency      how many seconds the way of single candles is watched (30)
  --stoa, --naive  binaries to take instead of building them";

pub(crate) struct Options {
    pub(crate) subscribers: Vec<usize>,
    pub(crate) seconds: Duration,
    pub(crate) rounds: usize,
    pub(crate) ahead: u64,
    pub(crate) latency: Duration,
    pub(crate) stoa: Option<PathBuf>,
    pub(crate) naive: Option<PathBuf>,
}

impl Options {
    pub(crate) fn read(mut args: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self {
            subscribers: vec![1_000, 10_000],
            seconds: Duration::from_secs(4),
            rounds: 4,
            ahead: 128,
            latency: Duration::from_secs(30),
            stoa: None,
            naive: None,
        };
        while let Some(name) = args.next() {
            let Some(value) = args.next() else { return Err(USAGE.into()) };
            match name.as_str() {
                "--subscribers" => {
                    let counts = value.split(',').map(|count| Ok(count.parse::<usize>()?.max(2)));
                    options.subscribers = counts.collect::<Outcome<_>>()?;
                }
                "--seconds" => options.seconds = Duration::try_from_secs_f64(value.parse()?)?,
                "--rounds" => options.rounds = value.parse::<usize>()?.max(1),
                "--ahead" => options.ahead = value.parse::<u64>()?.max(1),
                "--latency" => options.latency = Duration::try_from_secs_f64(value.parse()?)?,
                "--stoa" => options.stoa = Some(value.into()),
                "--naive" => options.naive = Some(value.into()),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}
