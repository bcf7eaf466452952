//! What a person wrote down about a paper: `NAME.truth.json`.

use std::path::Path;

use serde::Deserialize;

use crate::Outcome;
use crate::fold;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Truth {
    /// Titles of which each is right.
    pub(crate) title: Vec<String>,
    pub(crate) document_type: Vec<String>,
    pub(crate) parties: Vec<TrueName>,
    pub(crate) attorneys: Vec<TrueName>,
    pub(crate) judges: Vec<TrueName>,
    pub(crate) court: Vec<TrueName>,
    pub(crate) case_numbers: Vec<String>,
    pub(crate) deadlines: Vec<TrueDeadline>,
}

/// A name, and other forms of it that are right too.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct TrueName {
    pub(crate) name: String,
    pub(crate) accept: Vec<String>,
    pub(crate) role: Option<String>,
    /// Named in the body alone: right when it is found, and not missed when it is not.
    pub(crate) body_only: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TrueDeadline {
    pub(crate) words: Option<String>,
    /// The day, where the paper lets it be known.
    pub(crate) due: Option<String>,
}

impl Truth {
    pub(crate) fn read(file: &Path) -> Outcome<Self> {
        let bytes = std::fs::read(file)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| format!("{}: {error}", file.display()).into())
    }
}

impl TrueName {
    /// Whether a name is one of the forms.
    pub(crate) fn is(&self, name: &str) -> bool {
        let name = fold::name(name);
        self.forms().any(|it| fold::name(it) == name)
    }

    pub(crate) fn forms(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str()].into_iter().chain(self.accept.iter().map(String::as_str))
    }

    /// Whether one of the roles that were found is the true one.
    pub(crate) fn has_role(&self, roles: &[String]) -> bool {
        let role = self.role.as_deref().unwrap_or_default().to_lowercase();
        roles.iter().any(|it| role.contains(it.as_str()))
    }

    pub(crate) fn is_left(&self) -> bool {
        self.begins_with(&[
            "plaintiff",
            "petitioner",
            "appellant",
            "claimant",
            "истец",
            "заявитель",
        ])
    }

    pub(crate) fn is_right(&self) -> bool {
        self.begins_with(&["defendant", "respondent", "appellee", "ответчик"])
    }

    fn begins_with(&self, roles: &[&str]) -> bool {
        let role = self.role.as_deref().unwrap_or_default().to_lowercase();
        roles.iter().any(|it| role.starts_with(it))
    }
}
