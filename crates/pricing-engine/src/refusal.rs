//! The reasons why there is no proposal, with their numbers.

use std::fmt;

use fault::{Fault, Kind};
use serde::{Deserialize, Serialize};

use crate::money::Amount;

/// One bound on the price and the guardrail that set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The guardrail's name, such as `margin_floor`.
    pub name: String,
    pub price: Amount,
}

/// No price can be proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum Refusal {
    /// An input value is invalid.
    Invalid { field: String, expected: String, got: String },
    /// Hard guardrails leave no price: the lowest allowed one is above the highest.
    Conflict { lower: Bound, upper: Bound },
    /// No price has a margin of 100 % over a cost.
    Margin { cost: Amount },
    /// The policy blocks this product.
    Blocked { sku: String },
    /// The legacy payload cannot be read as a [`crate::PricingInput`].
    Legacy { missing: Vec<String>, wrong: Vec<String> },
}

impl Refusal {
    pub(crate) fn invalid(field: &str, expected: impl Into<String>, got: impl ToString) -> Self {
        Self::Invalid { field: field.to_owned(), expected: expected.into(), got: got.to_string() }
    }

    /// The code: `invalid_ask`, `guardrail_conflict`, `pricing_blocked`, `legacy_payload`.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_ask",
            Self::Conflict { .. } | Self::Margin { .. } => "guardrail_conflict",
            Self::Blocked { .. } => "pricing_blocked",
            Self::Legacy { .. } => "legacy_payload",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { field, expected, got } => {
                write!(f, "{field} must be {expected}, not {got}")
            }
            Self::Conflict { lower, upper } => write!(
                f,
                "no price is allowed: {} asks for at least {}, {} for at most {}",
                lower.name, lower.price, upper.name, upper.price
            ),
            Self::Margin { cost } => write!(
                f,
                "no price is allowed: a min_margin of 1 leaves nothing for a cost of {cost}; choose \
                 one below 1"
            ),
            Self::Blocked { sku } => write!(f, "pricing of {sku} is blocked by its policy"),
            Self::Legacy { missing, wrong } => {
                f.write_str("the payload cannot be priced:")?;
                if !missing.is_empty() {
                    write!(f, " missing {}", missing.join(", "))?;
                }
                if !missing.is_empty() && !wrong.is_empty() {
                    f.write_str(";")?;
                }
                if !wrong.is_empty() {
                    write!(f, " not understood {}", wrong.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal {
            // Not retryable: the limits conflict until one of them changes.
            Refusal::Invalid { .. }
            | Refusal::Legacy { .. }
            | Refusal::Conflict { .. }
            | Refusal::Margin { .. } => Kind::Invalid,
            Refusal::Blocked { .. } => Kind::Forbidden,
        };
        let fault = Self::new(kind, refusal.code(), refusal.to_string());
        match refusal {
            Refusal::Invalid { field, expected, .. } => fault.problem(field, expected),
            Refusal::Legacy { missing, .. } => missing
                .into_iter()
                .fold(fault, |fault, field| fault.problem(field, "a value in the payload")),
            Refusal::Conflict { .. } | Refusal::Margin { .. } | Refusal::Blocked { .. } => fault,
        }
    }
}
