//! A circuit breaker: after `failures_max` failures in a row it refuses requests for `open_for`, then
//! lets one probe request through, and closes when that request succeeds.

use parking_lot::Mutex;
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
    /// One probe request is under way.
    Probing,
}

#[derive(Debug)]
struct CircuitState {
    phase: Phase,
    /// The last failure, returned to callers that are refused.
    cause: Option<Fault>,
}

/// The circuit breaker of one venue.
#[derive(Debug)]
pub struct Breaker {
    state: Mutex<CircuitState>,
    failures_max: u32,
    open_for: Duration,
}

/// The breaker is open: nothing is sent.
#[derive(Debug)]
pub struct CircuitOpen {
    /// How long to wait before the next attempt.
    pub wait: Duration,
    /// The last failure, if the holder of its permit reported it with `failed_with`.
    pub cause: Option<Fault>,
}

impl Breaker {
    pub fn new(failures_max: u32, open_for: Duration) -> Self {
        let state = CircuitState { phase: Phase::Closed { failures: 0 }, cause: None };
        Self { state: Mutex::new(state), failures_max: failures_max.max(1), open_for }
    }

    /// A permit to send one request, or the reason why none may be sent.
    pub fn admit(&self, now: Millis) -> Result<Permit<'_>, CircuitOpen> {
        let mut state = self.state.lock();
        let wait = match state.phase {
            Phase::Closed { .. } => {
                return Ok(Permit { breaker: self, probe: false, reported: false });
            }
            Phase::Open { until } if until <= now => {
                state.phase = Phase::Probing;
                return Ok(Permit { breaker: self, probe: true, reported: false });
            }
            Phase::Open { until } => Duration::from_millis((until.0 - now.0).unsigned_abs()),
            Phase::Probing => Duration::from_secs(1),
        };
        Err(CircuitOpen { wait, cause: state.cause.as_ref().map(Fault::shared) })
    }

    pub fn status(&self) -> BreakerStatus {
        match self.state.lock().phase {
            Phase::Closed { failures: 0 } => BreakerStatus::Healthy,
            Phase::Closed { .. } => BreakerStatus::Failing,
            Phase::Open { .. } | Phase::Probing => BreakerStatus::Open,
        }
    }
}

/// What the breaker knows about its venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerStatus {
    Healthy,
    /// The last requests failed, but requests are still sent.
    Failing,
    /// Requests are refused.
    Open,
}

/// Permits one request. Its holder reports the result with `succeeded` or `failed`.
#[derive(Debug)]
pub struct Permit<'a> {
    breaker: &'a Breaker,
    probe: bool,
    reported: bool,
}

impl Permit<'_> {
    pub fn succeeded(mut self) {
        self.reported = true;
        let mut state = self.breaker.state.lock();
        if self.probe || matches!(state.phase, Phase::Closed { .. }) {
            *state = CircuitState { phase: Phase::Closed { failures: 0 }, cause: None };
        }
    }

    pub fn failed(self, now: Millis) {
        self.record_failure(now, None);
    }

    /// Like `failed`, and stores the fault that callers get while the breaker is open.
    pub fn failed_with(self, now: Millis, cause: &Fault) {
        self.record_failure(now, Some(cause.shared()));
    }

    fn record_failure(mut self, now: Millis, cause: Option<Fault>) {
        self.reported = true;
        let open_for = i64::try_from(self.breaker.open_for.as_millis()).unwrap_or(i64::MAX);
        let open = Phase::Open { until: Millis(now.0.saturating_add(open_for)) };
        let mut state = self.breaker.state.lock();
        let phase = match state.phase {
            Phase::Closed { failures } if failures + 1 < self.breaker.failures_max => {
                Phase::Closed { failures: failures + 1 }
            }
            Phase::Closed { .. } => open,
            Phase::Probing if self.probe => open,
            // A request that was sent before the breaker opened changes nothing.
            _ => return,
        };
        *state = CircuitState { phase, cause };
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        // A cancelled probe proves nothing, so the next request becomes the probe at once.
        if self.probe && !self.reported {
            self.breaker.state.lock().phase = Phase::Open { until: Millis(i64::MIN) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_MS: i64 = 30_000;

    fn open_breaker() -> Breaker {
        let breaker = Breaker::new(5, Duration::from_millis(OPEN_MS as u64));
        for _ in 0..5 {
            breaker.admit(Millis(0)).unwrap().failed(Millis(0));
        }
        breaker
    }

    #[test]
    fn only_consecutive_failures_open_it() {
        let breaker = Breaker::new(5, Duration::from_secs(30));
        for _ in 0..20 {
            for _ in 0..4 {
                breaker.admit(Millis(0)).unwrap().failed(Millis(0));
            }
            breaker.admit(Millis(0)).unwrap().succeeded();
        }
        assert_eq!(breaker.status(), BreakerStatus::Healthy);
        let refused = open_breaker().admit(Millis(10_000)).unwrap_err();
        assert_eq!((refused.wait, refused.cause.is_none()), (Duration::from_secs(20), true));
    }

    #[test]
    fn a_refused_caller_gets_the_last_cause() {
        let breaker = Breaker::new(2, Duration::from_millis(OPEN_MS as u64));
        let fail = |now: i64, code: &'static str| {
            let cause = Fault::unavailable(code, "no").caused_by("secret");
            breaker.admit(Millis(now)).unwrap().failed_with(Millis(now), &cause);
        };
        let cause = |now: i64| breaker.admit(Millis(now)).unwrap_err().cause.unwrap();
        fail(0, "first");
        let late = breaker.admit(Millis(0)).unwrap();
        fail(0, "second");
        late.failed_with(Millis(0), &Fault::unavailable("third", "no"));
        assert_eq!(cause(1).code(), "second");
        fail(OPEN_MS, "probe");
        assert_eq!(cause(OPEN_MS + 1).code(), "probe");
        // A success clears the stored cause.
        breaker.admit(Millis(2 * OPEN_MS)).unwrap().succeeded();
        for _ in 0..2 {
            breaker.admit(Millis(0)).unwrap().failed(Millis(0));
        }
        assert!(breaker.admit(Millis(1)).unwrap_err().cause.is_none());
    }

    #[test]
    fn one_probe_closes_or_reopens_it() {
        let breaker = open_breaker();
        let probe = breaker.admit(Millis(OPEN_MS)).unwrap();
        assert!(breaker.admit(Millis(OPEN_MS)).is_err());
        probe.failed(Millis(OPEN_MS));
        assert!(breaker.admit(Millis(OPEN_MS + 1)).is_err());
        breaker.admit(Millis(2 * OPEN_MS)).unwrap().succeeded();
        assert_eq!(breaker.status(), BreakerStatus::Healthy);
    }

    #[test]
    fn after_a_cancelled_probe_the_next_request_probes() {
        let breaker = open_breaker();
        drop(breaker.admit(Millis(OPEN_MS)).unwrap());
        assert!(breaker.admit(Millis(OPEN_MS)).is_ok());
    }

    #[test]
    fn a_late_success_does_not_close_an_open_breaker() {
        let breaker = Breaker::new(1, Duration::from_secs(30));
        let (slow, quick) = (breaker.admit(Millis(0)).unwrap(), breaker.admit(Millis(0)).unwrap());
        quick.failed(Millis(0));
        slow.succeeded();
        assert!(breaker.admit(Millis(1)).is_err());
    }
}
