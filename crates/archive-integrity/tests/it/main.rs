//! The detectors against labelled sets, and properties that hold for any text.
#![allow(clippy::print_stdout, reason = "precision and recall are printed for the reader")]
#![expect(clippy::expect_used, reason = "a set that cannot be read fails the test")]

mod acts;
mod corpus;
mod fact;
mod fresh;
mod held;
mod laws;
mod paraphrase;
mod tone;
mod tuning;
mod tuning_more;
