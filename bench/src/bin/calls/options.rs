//! The command-line options. The defaults make the full measurement.

use std::path::PathBuf;
use std::time::Duration;

use crate::Outcome;

const USAGE: &str = "\
usage: calls [--seconds N] [--rounds N] [--starts N] [--tickers A,B] [--stoa FILE] [--bare FILE]
  --seconds  length of one round (3)
  --rounds   rounds of each server, in turns (5)
  --starts   starts of each server, in turns (20)
  --tickers  what is asked for (BTCUSDT,ETHUSDT,BNBUSDT)
  --stoa, --bare  binaries to take instead of building them";

pub(crate) struct Options {
    pub(crate) seconds: Duration,
    pub(crate) rounds: usize,
    pub(crate) starts: usize,
    pub(crate) tickers: Vec<String>,
    pub(crate) stoa: Option<PathBuf>,
    pub(crate) bare: Option<PathBuf>,
}

impl Options {
    pub(crate) fn read(mut args: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self {
            seconds: Duration::from_secs(3),
            rounds: 5,
            starts: 20,
            tickers: ["BTCUSDT", "ETHUSDT", "BNBUSDT"].map(str::to_owned).to_vec(),
            stoa: None,
            bare: None,
        };
        while let Some(name) = args.next() {
            let Some(value) = args.next() else { return Err(USAGE.into()) };
            match name.as_str() {
                "--seconds" => options.seconds = Duration::try_from_secs_f64(value.parse()?)?,
                "--rounds" => options.rounds = value.parse::<usize>()?.max(1),
                "--starts" => options.starts = value.parse::<usize>()?.max(1),
                "--tickers" => options.tickers = value.split(',').map(str::to_owned).collect(),
                "--stoa" => options.stoa = Some(value.into()),
                "--bare" => options.bare = Some(value.into()),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}
