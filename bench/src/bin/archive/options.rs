//! The command-line options. The defaults make the full measurement.

use std::path::PathBuf;

use crate::Outcome;

const USAGE: &str = "\
usage: archive [--only PART,PART] [--files N] [--text-mb N] [--pages N] [--crowd N] [--crowd-mb N]
               [--rounds N] [--stoa FILE]
  --only      some of small, text, pdf, crowd, upload
  --files     small files, each way (120)
  --text-mb   size of the large text, of the one in the throughput, at most 100 (100)
  --pages     pages of the long PDF (1000)
  --crowd     uploads at once (20)
  --crowd-mb  size of each of them (100)
  --rounds    rounds of what takes turns (5)
  --stoa      binary to take instead of building it";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Small,
    Text,
    Pdf,
    Crowd,
    Upload,
}

const PARTS: [(&str, Part); 5] = [
    ("small", Part::Small),
    ("text", Part::Text),
    ("pdf", Part::Pdf),
    ("crowd", Part::Crowd),
    ("upload", Part::Upload),
];

pub(crate) struct Options {
    pub(crate) parts: Vec<Part>,
    pub(crate) files: usize,
    pub(crate) text_mb: usize,
    pub(crate) pages: usize,
    pub(crate) crowd: usize,
    pub(crate) crowd_mb: usize,
    pub(crate) rounds: usize,
    pub(crate) stoa: Option<PathBuf>,
}

impl Options {
    pub(crate) fn read(mut args: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self {
            parts: PARTS.map(|(_, part)| part).to_vec(),
            files: 120,
            text_mb: 100,
            pages: 1_000,
            crowd: 20,
            crowd_mb: 100,
            rounds: 5,
            stoa: None,
        };
        while let Some(name) = args.next() {
            let Some(value) = args.next() else { return Err(USAGE.into()) };
            match name.as_str() {
                "--only" => options.parts = parts(&value)?,
                "--files" => options.files = value.parse::<usize>()?.max(1),
                "--text-mb" => options.text_mb = value.parse::<usize>()?.clamp(1, 100),
                "--pages" => options.pages = value.parse::<usize>()?.max(1),
                "--crowd" => options.crowd = value.parse::<usize>()?.max(1),
                "--crowd-mb" => options.crowd_mb = value.parse::<usize>()?.clamp(1, 100),
                "--rounds" => options.rounds = value.parse::<usize>()?.max(1),
                "--stoa" => options.stoa = Some(value.into()),
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}

fn parts(list: &str) -> Outcome<Vec<Part>> {
    let part = |name| PARTS.iter().find(|(it, _)| *it == name).map(|(_, part)| *part);
    list.split(',').map(|name| part(name).ok_or_else(|| USAGE.into())).collect()
}
