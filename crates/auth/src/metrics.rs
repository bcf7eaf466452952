//! Counters of one service's credential checks by result and scope. The tables are fixed, so no caller
//! can make them grow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use fault::Fault;

const FAILURES: [&str; 7] = [
    "token_missing",
    "token_malformed",
    "token_signature",
    "token_expired",
    "token_revoked",
    "scope_missing",
    "other",
];
const SCOPES: [&str; 9] =
    ["read", "write", "collect", "import", "propose", "explain", "apply", "admin", "other"];

/// The counters of one service.
#[derive(Debug, Default)]
pub struct AuthMetrics {
    service: String,
    minted: AtomicU64,
    ok: AtomicU64,
    failures: [AtomicU64; FAILURES.len()],
    granted: [AtomicU64; SCOPES.len()],
    denied: [AtomicU64; SCOPES.len()],
}

/// The counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSnapshot {
    pub service: String,
    pub tokens_minted: u64,
    /// Always the sum of `ok` and all failures.
    pub checks: u64,
    pub ok: u64,
    /// Every known failure code, also those with 0; `other` counts all other codes.
    pub failures: BTreeMap<&'static str, u64>,
    /// Scopes that were checked at least once; `other` counts the scopes that are not in the table.
    pub scopes: BTreeMap<&'static str, ScopeCount>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeCount {
    pub granted: u64,
    /// Refused with `scope_missing`; refusals of invalid tokens are not counted here.
    pub denied: u64,
}

impl AuthMetrics {
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into(), ..Self::default() }
    }

    pub fn record_minted(&self) {
        increment(&self.minted);
    }

    /// Counts a credential that was accepted for a call that needs `scope`.
    pub fn record_ok(&self, scope: Option<&str>) {
        increment(&self.ok);
        if let Some(scope) = scope {
            increment(counter_of(&self.granted, &SCOPES, scope));
        }
    }

    /// Counts a credential that was refused with `fault`.
    pub fn record_fault(&self, scope: Option<&str>, fault: &Fault) {
        increment(counter_of(&self.failures, &FAILURES, fault.code()));
        if let Some(scope) = scope
            && fault.code() == "scope_missing"
        {
            increment(counter_of(&self.denied, &SCOPES, scope));
        }
    }

    pub fn snapshot(&self) -> AuthSnapshot {
        let ok = value_of(&self.ok);
        let failures: BTreeMap<_, _> =
            FAILURES.into_iter().zip(self.failures.iter().map(value_of)).collect();
        let counts = self.granted.iter().zip(&self.denied).map(|(granted, denied)| ScopeCount {
            granted: value_of(granted),
            denied: value_of(denied),
        });
        AuthSnapshot {
            service: self.service.clone(),
            tokens_minted: value_of(&self.minted),
            checks: ok + failures.values().sum::<u64>(),
            ok,
            failures,
            scopes: SCOPES
                .into_iter()
                .zip(counts)
                .filter(|(_, count)| *count != ScopeCount::default())
                .collect(),
        }
    }
}

/// The counter of `name`; the last counter if the table does not have the name.
fn counter_of<'a, const N: usize>(
    counters: &'a [AtomicU64; N],
    names: &[&str; N],
    name: &str,
) -> &'a AtomicU64 {
    let at = names.iter().position(|it| *it == name).unwrap_or(N - 1);
    &counters[at]
}

fn increment(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn value_of(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{scope_missing, token_expired, token_missing};

    #[test]
    fn each_check_is_counted_once_and_the_tables_do_not_grow() {
        let metrics = AuthMetrics::new("data-collector");
        metrics.record_minted();
        metrics.record_ok(Some("read"));
        metrics.record_ok(Some("read"));
        metrics.record_ok(None);
        metrics.record_fault(Some("apply"), &scope_missing("apply"));
        metrics.record_fault(Some("apply"), &token_missing(None));
        metrics.record_fault(None, &token_expired(1));
        for number in 0..100 {
            metrics.record_fault(Some(&format!("word{number}")), &scope_missing("word"));
        }
        metrics.record_fault(None, &Fault::unavailable("store_down", "the store is down"));

        let snapshot = metrics.snapshot();
        assert_eq!((snapshot.service.as_str(), snapshot.tokens_minted), ("data-collector", 1));
        assert_eq!((snapshot.checks, snapshot.ok), (107, 3));
        let failures = [("token_missing", 1), ("token_expired", 1), ("token_revoked", 0)];
        for (code, expected) in failures.into_iter().chain([("scope_missing", 101), ("other", 1)]) {
            assert_eq!(snapshot.failures[code], expected, "{code}");
        }
        assert_eq!(snapshot.failures.len(), FAILURES.len());
        assert_eq!(
            snapshot.scopes,
            BTreeMap::from([
                ("read", ScopeCount { granted: 2, denied: 0 }),
                ("apply", ScopeCount { granted: 0, denied: 1 }),
                ("other", ScopeCount { granted: 0, denied: 100 }),
            ])
        );
    }
}
