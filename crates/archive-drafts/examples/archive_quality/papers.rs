//! The labelled papers of a folder: `NAME.txt` in the form of `tests/it/unseen`, and beside it
//! `NAME.extra.json` with the title, the document type and the outcomes.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::extra::Extra;
use crate::labels::{self, Sample};

/// A paper with what its labeller says of it.
pub(crate) struct LabelledPaper {
    pub(crate) sample: Sample,
    pub(crate) extra: Option<Extra>,
}

/// Every paper of a folder, by name.
pub(crate) fn read(folder: &str) -> io::Result<Vec<LabelledPaper>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|it| Ok(it?.path())).collect::<io::Result<_>>()?;
    paths.retain(|it| it.extension().is_some_and(|it| it == "txt"));
    paths.sort();
    let mut list = Vec::new();
    for path in paths {
        let lot = fs::read_to_string(&path)?;
        let extra = match fs::read_to_string(path.with_extension("extra.json")) {
            Ok(text) => Some(Extra::parse(&text)?),
            Err(_) => None,
        };
        for sample in labels::samples(&lot) {
            list.push(LabelledPaper { sample, extra: extra.clone() });
        }
    }
    Ok(list)
}
