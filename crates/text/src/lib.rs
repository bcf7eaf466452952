//! Reads English and Russian text: tokens with spans, folded words, stems, numerals, months, dates,
//! sentence ends, word lists, and patterns over tokens.
//!
//! Everything here is pure and knows no law and no market. Positions are byte ranges of the text.

#![warn(missing_docs)]

pub mod dates;
pub mod fold;
pub mod months;
pub mod numerals;
pub mod pattern;
pub mod sentences;
pub mod stem;
pub mod tokens;
mod word_list;

pub use pattern::Pattern;
pub use tokens::{Token, TokenKind, TokenList, TokenRow};
pub use word_list::{WordList, list_problem};
