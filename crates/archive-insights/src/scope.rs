//! The scope of an insight: its case, or its owner if it is in no case.
//!
//! Every indexed word starts with the label of its scope, so a search reads only the postings of
//! the scopes the caller may see, and insights of other owners cannot change the caller's ranking.
//! A scope is the first 64 bits of a SHA-256 of the owner or case id. Ids are assigned by the
//! server or its operator, so an attacker cannot choose one that collides, and the chance that any two of a million
//! scopes collide is below 1 in 10 million. The hash is not the last check: [`Insights::query`]
//! compares the real owner and case of every row it returns with the caller's [`Visibility`].

use archive_accounts::Visibility;
use archive_search::scope::fingerprint;
pub(crate) use archive_search::scope::{file, owner, scope_of, tag};
use fault::Fault;
use store::{SqlRow, sql};

use crate::Insights;

/// The scope of the rejected insights of a scope.
pub(crate) fn rejected(scope: i64) -> i64 {
    fingerprint("rejected", &label(scope))
}

pub(crate) fn model(name: &str) -> i64 {
    fingerprint("model", name)
}

pub(crate) fn category(name: Option<&str>) -> i64 {
    name.map_or(0, |name| fingerprint("category", name))
}

/// A fingerprint as thirteen letters and digits, so that it can be part of an indexed word.
pub(crate) fn label(fingerprint: i64) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
    let bits = fingerprint.cast_unsigned();
    (0..13).rev().map(|at| char::from(DIGITS[(bits >> (5 * at) & 31) as usize])).collect()
}

/// The scopes of one query.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// All insights of these scopes are visible.
    pub visible: Vec<i64>,
    /// Cases the caller wrote into and no longer sees: only the caller's own insights are visible.
    pub own_only: Vec<i64>,
}

impl Scopes {
    /// The same for rejected insights.
    pub(crate) fn rejected(self) -> Self {
        let of = |scopes: Vec<i64>| scopes.into_iter().map(rejected).collect();
        Self { visible: of(self.visible), own_only: of(self.own_only) }
    }
}

impl Insights {
    pub(crate) async fn scopes(
        &self,
        visibility: &Visibility,
        case: Option<&str>,
    ) -> Result<Scopes, Fault> {
        if let Some(case) = case {
            let scope = vec![scope_of("", Some(case))];
            let is_visible = visibility.cases.iter().any(|it| it.id == case);
            let (visible, own_only) =
                if is_visible { (scope, Vec::new()) } else { (Vec::new(), scope) };
            return Ok(Scopes { visible, own_only });
        }
        let mut visible: Vec<i64> =
            visibility.cases.iter().map(|it| scope_of("", Some(&it.id))).collect();
        visible.push(scope_of(&visibility.owner, None));
        visible.sort_unstable();
        visible.dedup();
        let written =
            sql("SELECT scope FROM insight_home WHERE owner = $1").bind(owner(&visibility.owner));
        let written = self.0.db.fetch_all(written).await?;
        let written =
            written.iter().map(|row: &SqlRow| row.int(0)).collect::<Result<Vec<i64>, Fault>>()?;
        let own_only =
            written.into_iter().filter(|it| visible.binary_search(it).is_err()).collect();
        Ok(Scopes { visible, own_only })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_distinct_and_sort_like_their_bits() {
        assert_eq!(label(0), "0000000000000");
        assert_eq!(label(-1), "fvvvvvvvvvvvv");
        assert_eq!(label(33), "0000000000011");
        assert_ne!(label(file("a")), label(tag("a")));
        assert_ne!(scope_of("a", None), scope_of("a", Some("a")));
    }
}
