//! The owner of everything that the search benchmarks store, and the owner's cases.

use archive_accounts::{CaseAccess, Visibility};

use crate::search_corpus::CASES;

pub const OWNER: &str = "user:bench";

pub fn case_id(case: usize) -> String {
    format!("019300aa-0000-7000-8000-{case:012}")
}

/// What the owner sees: all cases.
pub fn visibility() -> Visibility {
    let case =
        |at| CaseAccess { id: case_id(at), name: format!("case {at}"), own: true, may_write: true };
    Visibility { owner: OWNER.to_owned(), cases: (0..CASES).map(case).collect() }
}
