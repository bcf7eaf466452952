//! Where an insight lives: in its case, or with its owner where it has none.
//!
//! Every indexed word carries the scope it is in, so a search reads the postings of the cases it
//! may see and of no others, and what others wrote cannot change how one's own is ranked.
//! Names are kept as 64 bits of their SHA-256: short, and nobody can choose them to meet another's.

use archive_accounts::Visibility;
use fault::Fault;
use sha2::{Digest as _, Sha256};
use store::{SqlRow, sql};

use crate::Insights;

/// The same for the same name of the same kind, in every process.
fn fingerprint(kind: &str, name: &str) -> i64 {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(name).finalize();
    digest.iter().take(8).fold(0, |bits, byte| bits << 8 | i64::from(*byte))
}

pub(crate) fn scope_of(owner: &str, case_id: Option<&str>) -> i64 {
    match case_id {
        Some(case) => fingerprint("case", case),
        None => fingerprint("owner", owner),
    }
}

pub(crate) fn owner(name: &str) -> i64 {
    fingerprint("owner", name)
}

pub(crate) fn file(id: &str) -> i64 {
    fingerprint("file", id)
}

pub(crate) fn tag(name: &str) -> i64 {
    fingerprint("tag", name)
}

pub(crate) fn model(name: &str) -> i64 {
    fingerprint("model", name)
}

pub(crate) fn category(name: Option<&str>) -> i64 {
    name.map_or(0, |name| fingerprint("category", name))
}

/// Thirteen letters and digits that say a fingerprint within a word.
pub(crate) fn label(fingerprint: i64) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let bits = fingerprint.cast_unsigned();
    (0..13).rev().map(|at| char::from(DIGITS[(bits >> (5 * at) & 31) as usize])).collect()
}

/// The scopes of one question.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// Seen whole.
    pub seen: Vec<i64>,
    /// Of these only what the asker owns: cases that they wrote into and see no longer.
    pub own: Vec<i64>,
}

impl Insights {
    pub(crate) async fn scopes(
        &self,
        visibility: &Visibility,
        case: Option<&str>,
    ) -> Result<Scopes, Fault> {
        if let Some(case) = case {
            let scope = vec![scope_of("", Some(case))];
            let whole = visibility.cases.iter().any(|it| it.id == case);
            let (seen, own) = if whole { (scope, Vec::new()) } else { (Vec::new(), scope) };
            return Ok(Scopes { seen, own });
        }
        let mut seen: Vec<i64> =
            visibility.cases.iter().map(|it| scope_of("", Some(&it.id))).collect();
        seen.push(scope_of(&visibility.owner, None));
        seen.sort_unstable();
        seen.dedup();
        let homes =
            sql("SELECT scope FROM insight_home WHERE owner = $1").bind(owner(&visibility.owner));
        let homes = self.0.db.fetch_all(homes).await?;
        let homes =
            homes.iter().map(|row: &SqlRow| row.int(0)).collect::<Result<Vec<i64>, Fault>>()?;
        let own = homes.into_iter().filter(|it| seen.binary_search(it).is_err()).collect();
        Ok(Scopes { seen, own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_apart_and_sort_as_bits() {
        assert_eq!(label(0), "0000000000000");
        assert_eq!(label(-1), "fvvvvvvvvvvvv");
        assert_eq!(label(33), "0000000000011");
        assert_ne!(label(file("a")), label(tag("a")));
        assert_ne!(scope_of("a", None), scope_of("a", Some("a")));
    }
}
