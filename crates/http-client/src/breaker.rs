//! A circuit breaker: after enough failures in a row the exchange is left alone for a while, and
//! then tried with one request before the others may follow.

use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;

use clock::Millis;
use fault::Fault;

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
struct State {
    phase: Phase,
    /// What went wrong last, so that those who are refused learn why.
    cause: Option<Fault>,
}

#[derive(Debug)]
pub struct Breaker {
    state: Mutex<State>,
    failures_max: u32,
    rest: Duration,
}

/// Why nothing may be sent now.
#[derive(Debug)]
pub struct Resting {
    /// How long to wait before asking again.
    pub wait: Duration,
    /// The last failure, where whoever had it told of it.
    pub cause: Option<Fault>,
}

impl Breaker {
    pub fn new(failures_max: u32, rest: Duration) -> Self {
        let state = State { phase: Phase::Closed { failures: 0 }, cause: None };
        Self { state: Mutex::new(state), failures_max: failures_max.max(1), rest }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Leave to send one request; otherwise why not, and for how long.
    pub fn admit(&self, now: Millis) -> Result<Permit<'_>, Resting> {
        let mut state = self.lock();
        let wait = match state.phase {
            Phase::Closed { .. } => {
                return Ok(Permit { breaker: self, probe: false, settled: false });
            }
            Phase::Open { until } if until <= now => {
                state.phase = Phase::Probing;
                return Ok(Permit { breaker: self, probe: true, settled: false });
            }
            Phase::Open { until } => Duration::from_millis((until.0 - now.0).unsigned_abs()),
            Phase::Probing => Duration::from_secs(1),
        };
        Err(Resting { wait, cause: state.cause.as_ref().map(Fault::shared) })
    }

    /// Whether requests are refused, and whether the last ones failed.
    pub fn state(&self) -> (bool, bool) {
        match self.lock().phase {
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
        let mut state = self.breaker.lock();
        if self.probe || matches!(state.phase, Phase::Closed { .. }) {
            *state = State { phase: Phase::Closed { failures: 0 }, cause: None };
        }
    }

    pub fn failed(self, now: Millis) {
        self.settle(now, None);
    }

    /// The same, with what those who are refused because of it are to be told.
    pub fn failed_by(self, now: Millis, cause: &Fault) {
        self.settle(now, Some(cause.shared()));
    }

    fn settle(mut self, now: Millis, cause: Option<Fault>) {
        self.settled = true;
        let rest = i64::try_from(self.breaker.rest.as_millis()).unwrap_or(i64::MAX);
        let open = Phase::Open { until: Millis(now.0.saturating_add(rest)) };
        let mut state = self.breaker.lock();
        let phase = match state.phase {
            Phase::Closed { failures } if failures + 1 < self.breaker.failures_max => {
                Phase::Closed { failures: failures + 1 }
            }
            Phase::Closed { .. } => open,
            Phase::Probing if self.probe => open,
            // A straggler from before the breaker opened changes nothing.
            _ => return,
        };
        *state = State { phase, cause };
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        // A probe that was abandoned has learnt nothing; the next request may try at once.
        if self.probe && !self.settled {
            self.breaker.lock().phase = Phase::Open { until: Millis(i64::MIN) };
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
        let resting = broken().admit(Millis(10_000)).unwrap_err();
        assert_eq!((resting.wait, resting.cause.is_none()), (Duration::from_secs(20), true));
    }

    #[test]
    fn whoever_is_refused_learns_the_last_cause() {
        let breaker = Breaker::new(2, Duration::from_millis(REST_MS as u64));
        let fail = |now: i64, code: &'static str| {
            let cause = Fault::unavailable(code, "no").caused_by("secret");
            breaker.admit(Millis(now)).unwrap().failed_by(Millis(now), &cause);
        };
        let told = |now: i64| breaker.admit(Millis(now)).unwrap_err().cause.unwrap();
        fail(0, "first");
        let straggler = breaker.admit(Millis(0)).unwrap();
        fail(0, "second");
        straggler.failed_by(Millis(0), &Fault::unavailable("third", "no"));
        assert_eq!(told(1).code(), "second");
        fail(REST_MS, "probe");
        assert_eq!(told(REST_MS + 1).code(), "probe");
        // After it was well again, nothing old is told.
        breaker.admit(Millis(2 * REST_MS)).unwrap().succeeded();
        for _ in 0..2 {
            breaker.admit(Millis(0)).unwrap().failed(Millis(0));
        }
        assert!(breaker.admit(Millis(1)).unwrap_err().cause.is_none());
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
