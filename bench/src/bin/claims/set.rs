//! A folder of texts with claims: `NAME.txt`, whose pages are divided by form feeds, and
//! `NAME.claims.json`.

use std::path::Path;

use serde::Deserialize;

use crate::Outcome;

pub(crate) struct Paper {
    pub(crate) name: String,
    pub(crate) language: String,
    pub(crate) pages: Vec<String>,
    pub(crate) claims: Vec<Claim>,
}

#[derive(Deserialize)]
pub(crate) struct Claim {
    #[serde(rename = "claim")]
    pub(crate) text: String,
    pub(crate) faithful: bool,
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) evidence: String,
}

#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    language: String,
    claims: Vec<Claim>,
}

/// All papers of the folder, by name.
pub(crate) fn papers(folder: &Path) -> Outcome<Vec<Paper>> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    let mut names: Vec<String> = entries?
        .into_iter()
        .filter_map(|it| Some(it.file_name().to_str()?.strip_suffix(".claims.json")?.to_owned()))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err("the folder has no NAME.claims.json".into());
    }
    names.into_iter().map(|it| paper(folder, it)).collect()
}

fn paper(folder: &Path, name: String) -> Outcome<Paper> {
    let read = |ending: &str| {
        let path = folder.join(format!("{name}{ending}"));
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let pages = read(".txt")?.split('\u{c}').map(str::to_owned).collect();
    let claims: Claims = serde_json::from_str(&read(".claims.json")?)
        .map_err(|error| format!("{name}.claims.json: {error}"))?;
    Ok(Paper { name, language: claims.language, pages, claims: claims.claims })
}
