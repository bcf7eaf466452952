//! The error table of a contract: how it reports each kind and code of fault.

use std::collections::BTreeMap;

use fault::{Fault, Kind};
use serde::Deserialize;
#[cfg(test)]
use serde_json::Value;

use crate::files::{ContractError, ServiceFiles, read_json};
use crate::schema::Schema;

/// How a contract reports one kind of fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRow {
    /// The contract's name of the error.
    pub r#type: String,
    /// The HTTP status.
    pub http_status: u16,
    /// Whether the client may try again.
    pub retryable: bool,
}

/// How a contract reports faults: a row for every fault kind, and rows for single fault codes.
#[derive(Debug)]
pub struct ErrorTable {
    kinds: BTreeMap<String, ErrorRow>,
    codes: BTreeMap<String, ErrorRow>,
    /// The schema of a failed tool call.
    pub envelope: Schema,
    /// The schema of a failed HTTP request.
    pub http_envelope: Schema,
}

impl ErrorTable {
    /// A table that names every kind as itself, with `envelope` as both schemas.
    #[cfg(test)]
    pub(crate) fn of_kinds(envelope: Value) -> Self {
        let row = |kind: &Kind| {
            let word = kind.word().to_owned();
            let row = ErrorRow { r#type: word.clone(), http_status: 500, retryable: false };
            (word, row)
        };
        Self {
            kinds: Kind::ALL.iter().map(row).collect(),
            codes: BTreeMap::new(),
            envelope: Schema::new(envelope.clone()),
            http_envelope: Schema::new(envelope),
        }
    }

    /// The row of the fault's code, else of its kind. [`crate::Contract::load`] fails if a kind has
    /// none.
    pub fn row(&self, fault: &Fault) -> &ErrorRow {
        self.codes.get(fault.code()).unwrap_or_else(|| self.kind_row(fault.kind()))
    }

    /// The row of a kind, for faults whose code has none.
    pub fn kind_row(&self, kind: Kind) -> &ErrorRow {
        static LAST_RESORT: std::sync::LazyLock<ErrorRow> = std::sync::LazyLock::new(|| ErrorRow {
            r#type: "INTERNAL_ERROR".to_owned(),
            http_status: 500,
            retryable: false,
        });
        self.kinds.get(kind.word()).unwrap_or(&LAST_RESORT)
    }

    /// Loads `contracts/<service>/errors.json`.
    pub(crate) fn load(files: &ServiceFiles<'_>) -> Result<Self, ContractError> {
        let path = format!("{}/errors.json", files.service);
        let file: ErrorsFile = read_json(&path)?;
        if let Some(kind) = Kind::ALL.iter().find(|kind| !file.kinds.contains_key(kind.word())) {
            return Err(ContractError(format!("contracts/{path} has no row for {}", kind.word())));
        }
        Ok(Self {
            envelope: Schema::new(files.resolve(&file.envelope)?),
            http_envelope: Schema::new(files.resolve(&file.http_envelope)?),
            kinds: file.kinds,
            codes: file.codes,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorsFile {
    envelope: String,
    http_envelope: String,
    kinds: BTreeMap<String, ErrorRow>,
    codes: BTreeMap<String, ErrorRow>,
}
