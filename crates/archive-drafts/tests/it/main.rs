//! Generated documents of every type, read from their bytes to drafts and compared with their
//! expected facts; and properties that hold for any pages.
#![expect(clippy::print_stdout, reason = "the figures are read in the output of the tests")]
#![expect(clippy::unwrap_used, reason = "a file that cannot be made fails the test")]

mod corpus;
mod facts;
mod files;
mod fresh;
mod law;
mod laws;
mod own_findings;
mod proof;
mod scans;
mod unseen;
