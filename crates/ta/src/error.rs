//! Errors in a request for an indicator. Candles are never an error.

use std::fmt;

/// An invalid request: which name or value is wrong, and what is valid.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// No indicator has this name.
    UnknownIndicator {
        /// The name in the request.
        name: String,
    },
    /// The indicator has no parameter of this name.
    UnknownParameter {
        /// The indicator.
        indicator: &'static str,
        /// The name in the request.
        name: String,
        /// The parameters the indicator has.
        known: Vec<&'static str>,
    },
    /// The value of a parameter is out of range or of the wrong type.
    Parameter {
        /// The name in the request.
        name: &'static str,
        /// What the value must be, and what it is.
        problem: String,
    },
    /// The columns of `Candles` differ in length.
    Lengths,
}

impl Error {
    pub(crate) fn parameter(name: &'static str, problem: impl Into<String>) -> Error {
        Error::Parameter { name, problem: problem.into() }
    }

    /// The invalid parameter, if the error is about one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Error::UnknownParameter { name, .. } => Some(name),
            Error::Parameter { name, .. } => Some(name),
            Error::UnknownIndicator { .. } | Error::Lengths => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownIndicator { name } => {
                let known: Vec<_> = crate::known().collect();
                write!(f, "unknown indicator {name:?}; known: {}", known.join(", "))
            }
            Error::UnknownParameter { indicator, name, known } if known.is_empty() => {
                write!(f, "{indicator} takes no parameters, not {name:?}")
            }
            Error::UnknownParameter { indicator, name, known } => {
                write!(f, "{indicator} has no parameter {name:?}; known: {}", known.join(", "))
            }
            Error::Parameter { name, problem } => write!(f, "{name} {problem}"),
            Error::Lengths => f.write_str("the columns of the candles differ in length"),
        }
    }
}

impl std::error::Error for Error {}
