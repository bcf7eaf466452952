//! A circuit breaker: after enough failures in a row the exchange is left alone for a while, and
//! then tried with one request before the others may follow.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use market::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed {
        failures: u32,
    },
    Open {
        until: Millis,
    },
    /// One request is out to see whether the exchange is back.
    Probing,
}

#[derive(Debug)]
pub struct Breaker {
    phase: Mutex<Phase>,
    failures_max: u32,
    rest: Duration,
}

impl Breaker {
    pub fn new(failures_max: u32, rest: Duration) -> Self {
        let failures_max = failures_max.max(1);
        Self { phase: Mutex::new(Phase::Closed { failures: 0 }), failures_max, rest }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leave to send one request; otherwise how long to wait before asking again.
    pub fn admit(&self, now: Millis) -> Result<Permit<'_>, Duration> {
        let mut phase = self.phase();
        match *phase {
            Phase::Closed { .. } => Ok(Permit { breaker: self, probe: false, settled: false }),
            Phase::Open { until } if until <= now => {
                *phase = Phase::Probing;
                Ok(Permit { breaker: self, probe: true, settled: false })
            }
            Phase::Open { until } => Err(Duration::from_millis((until.0 - now.0).unsigned_abs())),
            Phase::Probing => Err(Duration::from_secs(1)),
        }
    }

    /// Whether requests are refused, and whether the last ones failed.
    pub fn state(&self) -> (bool, bool) {
        match *self.phase() {
            Phase::Closed { failures } => (false, failures > 0),
            Phase::Open { .. } | Phase::Probing => (true, true),
        }
    }
}

/// Leave to send one request. Whoever holds it says how it went.
#[derive(Debug)]
pub struct Permit<'a> {
    breaker: &'a Breaker,
    probe: bool,
    settled: bool,
}

impl Permit<'_> {
    pub fn succeeded(mut self) {
        self.settled = true;
        let mut phase = self.breaker.phase();
        if self.probe || matches!(*phase, Phase::Closed { .. }) {
            *phase = Phase::Closed { failures: 0 };
        }
    }

    pub fn failed(mut self, now: Millis) {
        self.settled = true;
        let rest = i64::try_from(self.breaker.rest.as_millis()).unwrap_or(i64::MAX);
        let open = Phase::Open { until: Millis(now.0.saturating_add(rest)) };
        let mut phase = self.breaker.phase();
        *phase = match *phase {
            Phase::Closed { failures } if failures + 1 < self.breaker.failures_max => {
                Phase::Closed { failures: failures + 1 }
            }
            Phase::Closed { .. } => open,
            Phase::Probing if self.probe => open,
            // A straggler from before the breaker opened changes nothing.
            other => other,
        };
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        // A probe that was abandoned has learnt nothing; the next request may try at once.
        if self.probe && !self.settled {
            *self.breaker.phase() = Phase::Open { until: Millis(i64::MIN) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST_MS: i64 = 30_000;

    fn broken() -> Breaker {
        let breaker = Breaker::new(5, Duration::from_millis(REST_MS as u64));
        for _ in 0..5 {
            breaker.admit(Millis(0)).unwrap().failed(Millis(0));
        }
        breaker
    }

    #[test]
    fn only_failures_in_a_row_open_it() {
        let breaker = Breaker::new(5, Duration::from_secs(30));
        for _ in 0..20 {
            for _ in 0..4 {
                breaker.admit(Millis(0)).unwrap().failed(Millis(0));
            }
            breaker.admit(Millis(0)).unwrap().succeeded();
        }
        assert_eq!(breaker.state(), (false, false));
        assert_eq!(broken().admit(Millis(10_000)).unwrap_err(), Duration::from_secs(20));
    }

    #[test]
    fn one_probe_decides() {
        let breaker = broken();
        let probe = breaker.admit(Millis(REST_MS)).unwrap();
        assert!(breaker.admit(Millis(REST_MS)).is_err());
        probe.failed(Millis(REST_MS));
        assert!(breaker.admit(Millis(REST_MS + 1)).is_err());
        breaker.admit(Millis(2 * REST_MS)).unwrap().succeeded();
        assert_eq!(breaker.state(), (false, false));
    }

    #[test]
    fn an_abandoned_probe_lets_the_next_one_try() {
        let breaker = broken();
        drop(breaker.admit(Millis(REST_MS)).unwrap());
        assert!(breaker.admit(Millis(REST_MS)).is_ok());
    }

    #[test]
    fn a_straggler_does_not_close_an_open_breaker() {
        let breaker = Breaker::new(1, Duration::from_secs(30));
        let (slow, quick) = (breaker.admit(Millis(0)).unwrap(), breaker.admit(Millis(0)).unwrap());
        quick.failed(Millis(0));
        slow.succeeded();
        assert!(breaker.admit(Millis(1)).is_err());
    }
}
