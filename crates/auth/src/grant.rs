//! What a verified token allows: the intersection of its root and all its narrowings.

use fault::Fault;

use crate::faults;
use crate::revocation::RevocationId;
use crate::scope::ScopeSet;

/// The rights of a token: scopes, expiry and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The random id of the token's root in hexadecimal; logs name the token by it.
    pub id: String,
    /// Who the token was minted for.
    pub subject: String,
    pub scopes: ScopeSet,
    /// Unix seconds; the token is refused from this second on.
    pub expires_at: i64,
    pub limits: TokenLimits,
    /// The revocation ids of the root and of each narrowing, in this order; revoking any of them revokes
    /// this grant.
    pub chain: Vec<RevocationId>,
}

impl Grant {
    /// Fails with `scope_missing` unless the grant has this scope.
    pub fn require(&self, scope: &str) -> Result<(), Fault> {
        if self.scopes.contains(scope) { Ok(()) } else { Err(faults::scope_missing(scope)) }
    }

    /// Fails with `limit_exceeded` unless the limits include this SKU.
    pub fn require_sku(&self, sku: &str) -> Result<(), Fault> {
        if self.limits.allow_sku(sku) { Ok(()) } else { Err(faults::limit_exceeded("SKU", sku)) }
    }

    /// Fails with `limit_exceeded` unless the limits include this market.
    pub fn require_market(&self, market: &str) -> Result<(), Fault> {
        if self.limits.allow_market(market) {
            Ok(())
        } else {
            Err(faults::limit_exceeded("market", market))
        }
    }
}

/// What a grant is limited to. `None` is no limit; an empty list allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenLimits {
    pub sku_prefix: Option<Vec<String>>,
    pub market: Option<Vec<String>>,
    /// The names of the services at which the grant is valid.
    pub service: Option<Vec<String>>,
}

impl TokenLimits {
    pub fn allow_sku(&self, sku: &str) -> bool {
        self.sku_prefix
            .as_ref()
            .is_none_or(|prefixes| prefixes.iter().any(|prefix| sku.starts_with(prefix.as_str())))
    }

    pub fn allow_market(&self, market: &str) -> bool {
        self.market.as_ref().is_none_or(|markets| markets.iter().any(|it| it == market))
    }

    pub fn allow_service(&self, service: &str) -> bool {
        self.service.as_ref().is_none_or(|services| services.iter().any(|it| it == service))
    }

    /// The limits that allow exactly what both allow. The intersection of two prefixes is the longer one
    /// if it begins with the shorter one, and otherwise empty.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            sku_prefix: intersect_lists(
                self.sku_prefix.as_deref(),
                other.sku_prefix.as_deref(),
                |a, b| a.starts_with(b),
            ),
            market: intersect_lists(self.market.as_deref(), other.market.as_deref(), |a, b| a == b),
            service: intersect_lists(self.service.as_deref(), other.service.as_deref(), |a, b| {
                a == b
            }),
        }
    }
}

/// The elements of each list that are within an element of the other.
fn intersect_lists(
    left: Option<&[String]>,
    right: Option<&[String]>,
    within: impl Fn(&str, &str) -> bool,
) -> Option<Vec<String>> {
    let (left, right) = match (left, right) {
        (None, None) => return None,
        (Some(only), None) | (None, Some(only)) => (only, only),
        (Some(left), Some(right)) => (left, right),
    };
    let kept_left = left.iter().filter(|a| right.iter().any(|b| within(a, b)));
    let kept_right = right.iter().filter(|b| left.iter().any(|a| within(b, a)));
    let mut kept: Vec<_> = kept_left.chain(kept_right).cloned().collect();
    kept.sort();
    kept.dedup();
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> Option<Vec<String>> {
        Some(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[track_caller]
    fn check(left: Option<Vec<String>>, right: Option<Vec<String>>, expected: Option<Vec<String>>) {
        let of = |sku_prefix: &Option<Vec<String>>| TokenLimits {
            sku_prefix: sku_prefix.clone(),
            ..TokenLimits::default()
        };
        assert_eq!(of(&left).intersect(&of(&right)).sku_prefix, expected);
        assert_eq!(of(&right).intersect(&of(&left)).sku_prefix, expected);
    }

    #[test]
    fn prefixes_intersect_to_the_longer_one() {
        check(None, None, None);
        check(None, list(&["A-"]), list(&["A-"]));
        check(list(&["A-"]), list(&["A-1", "B"]), list(&["A-1"]));
        check(list(&["A"]), list(&["B"]), list(&[]));
        check(list(&[""]), list(&["B"]), list(&["B"]));
        check(list(&["A", "BC"]), list(&["AB", "B"]), list(&["AB", "BC"]));
        check(list(&[]), None, list(&[]));
    }

    #[test]
    fn limits_allow_what_they_name() {
        let limits = TokenLimits {
            sku_prefix: list(&["TOY-"]),
            market: list(&["DE", "FR"]),
            service: list(&["archive"]),
        };
        assert!(limits.allow_sku("TOY-1") && !limits.allow_sku("TOY") && !limits.allow_sku(""));
        assert!(limits.allow_market("FR") && !limits.allow_market("F"));
        assert!(limits.allow_service("archive") && !limits.allow_service("archiv"));
        let free = TokenLimits::default();
        assert!(free.allow_sku("any") && free.allow_market("any") && free.allow_service("any"));
        let nothing = TokenLimits { sku_prefix: list(&[]), market: list(&[]), service: list(&[]) };
        assert!(!nothing.allow_sku("TOY-1") && !nothing.allow_market("DE"));
        assert!(!nothing.allow_service("archive"));
    }
}
