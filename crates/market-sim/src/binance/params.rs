//! Reads query parameters like Binance: by name, each with its own error.

use std::cell::Cell;

use clock::Millis;

use super::errors::{ApiError, NUMBER_RANGE, SYMBOL_RANGE, SYMBOLS_RANGE};

/// The parameters of one request, and how many of them were read.
#[derive(Debug)]
pub(crate) struct Params {
    sent: Vec<(String, String)>,
    read: Cell<usize>,
}

impl Params {
    pub(crate) fn new(sent: Vec<(String, String)>) -> Self {
        Self { sent, read: Cell::new(0) }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.sent.iter().any(|(key, _)| key == name)
    }

    pub(crate) fn optional(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let Some((_, value)) = self.sent.iter().find(|(key, _)| key == name) else {
            return Ok(None);
        };
        self.read.set(self.read.get() + 1);
        if value.is_empty() { Err(ApiError::empty(name)) } else { Ok(Some(value)) }
    }

    pub(crate) fn mandatory(&self, name: &str) -> Result<&str, ApiError> {
        self.optional(name)?.ok_or_else(|| ApiError::mandatory(name))
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.optional(name)? else { return Ok(None) };
        if text.len() > 20 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ApiError::illegal(name, NUMBER_RANGE));
        }
        // Twenty digits may overflow i64; no bar has such a time.
        Ok(Some(text.parse().unwrap_or(i64::MAX)))
    }

    pub(crate) fn time(&self, name: &str) -> Result<Option<Millis>, ApiError> {
        Ok(self.number(name)?.map(Millis))
    }

    /// The symbols of `symbols=["A","B"]`, spelt legally but perhaps unknown.
    pub(crate) fn symbols(&self) -> Result<Option<Vec<String>>, ApiError> {
        let Some(text) = self.optional("symbols")? else { return Ok(None) };
        let illegal = || ApiError::illegal("symbols", SYMBOLS_RANGE);
        let symbols: Vec<String> = serde_json::from_str(text).map_err(|_| illegal())?;
        if symbols.iter().all(|symbol| is_symbol(symbol)) {
            Ok(Some(symbols))
        } else {
            Err(illegal())
        }
    }

    pub(crate) fn all_read(&self) -> Result<(), ApiError> {
        if self.read.get() < self.sent.len() {
            return Err(ApiError::too_many_parameters(self.read.get(), self.sent.len()));
        }
        Ok(())
    }
}

/// A symbol in lower case is refused for its characters.
pub(crate) fn legal_symbol(symbol: &str) -> Result<&str, ApiError> {
    if is_symbol(symbol) { Ok(symbol) } else { Err(ApiError::illegal("symbol", SYMBOL_RANGE)) }
}

fn is_symbol(text: &str) -> bool {
    let legal = |byte: u8| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    (1..=20).contains(&text.len()) && text.bytes().all(legal)
}
