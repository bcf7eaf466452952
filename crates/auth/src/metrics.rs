//! Counters of one service's credential checks: how many, how they ended, and by which scope.
//!
//! Outcomes and scopes are counted in fixed tables, so no caller can make them grow.

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
    /// Every known failure code, zeros included; `other` holds the rest.
    pub failures: BTreeMap<&'static str, u64>,
    /// Scopes that were checked at least once; `other` counts those without a row of their own.
    pub scopes: BTreeMap<&'static str, ScopeCount>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeCount {
    pub granted: u64,
    /// Refused by `scope_missing`; a bad token is no scope's fault.
    pub denied: u64,
}

impl AuthMetrics {
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into(), ..Self::default() }
    }

    pub fn record_minted(&self) {
        add(&self.minted);
    }

    /// A credential was good enough for a call that needs `scope`.
    pub fn record_ok(&self, scope: Option<&str>) {
        add(&self.ok);
        if let Some(scope) = scope {
            add(row(&self.granted, &SCOPES, scope));
        }
    }

    /// A credential was refused with `fault`.
    pub fn record_fault(&self, scope: Option<&str>, fault: &Fault) {
        add(row(&self.failures, &FAILURES, fault.code()));
        if let Some(scope) = scope
            && fault.code() == "scope_missing"
        {
            add(row(&self.denied, &SCOPES, scope));
        }
    }

    pub fn snapshot(&self) -> AuthSnapshot {
        let ok = get(&self.ok);
        let failures: BTreeMap<_, _> =
            FAILURES.into_iter().zip(self.failures.iter().map(get)).collect();
        let counts = self
            .granted
            .iter()
            .zip(&self.denied)
            .map(|(granted, denied)| ScopeCount { granted: get(granted), denied: get(denied) });
        AuthSnapshot {
            service: self.service.clone(),
            tokens_minted: get(&self.minted),
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

/// The counter beside `word`; the last row takes every word without one.
fn row<'a, const N: usize>(
    counters: &'a [AtomicU64; N],
    words: &[&str; N],
    word: &str,
) -> &'a AtomicU64 {
    let at = words.iter().position(|it| *it == word).unwrap_or(N - 1);
    &counters[at]
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn get(counter: &AtomicU64) -> u64 {
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

        let seen = metrics.snapshot();
        assert_eq!((seen.service.as_str(), seen.tokens_minted), ("data-collector", 1));
        assert_eq!((seen.checks, seen.ok), (107, 3));
        let failures = [("token_missing", 1), ("token_expired", 1), ("token_revoked", 0)];
        for (code, expected) in failures.into_iter().chain([("scope_missing", 101), ("other", 1)]) {
            assert_eq!(seen.failures[code], expected, "{code}");
        }
        assert_eq!(seen.failures.len(), FAILURES.len());
        assert_eq!(
            seen.scopes,
            BTreeMap::from([
                ("read", ScopeCount { granted: 2, denied: 0 }),
                ("apply", ScopeCount { granted: 0, denied: 1 }),
                ("other", ScopeCount { granted: 0, denied: 100 }),
            ])
        );
    }
}
