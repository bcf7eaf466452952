//! The password of a document.
//!
//! It is sent to the child process through its standard input and is in no argument, environment
//! variable, file, message or log. Tools that take a password only as an argument do not get it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A password; its debug form does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(String);

impl Password {
    /// The formats of PDF use at most 127 bytes.
    pub const BYTES_MAX: usize = 127;

    #[must_use]
    pub fn new(password: String) -> Self {
        Self(password)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Password(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debug_form_hides_it() {
        assert_eq!(
            format!("{:?}", Some(Password::new("hunter2".to_owned()))),
            "Some(Password(..))"
        );
    }
}
