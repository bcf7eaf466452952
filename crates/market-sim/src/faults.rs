//! Injected faults: each strikes a given number of times and is then removed. `requests` matches
//! faults to requests, `streams` to connections, subscriptions and frames.

mod requests;
mod streams;

use parking_lot::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

/// The kinds of injected faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Too many requests; comes with `retry_after_s`.
    #[serde(rename = "status_429")]
    Status429,
    /// Banned; comes with `retry_after_s`.
    #[serde(rename = "status_418")]
    Status418,
    /// Refused by location, in JSON.
    #[serde(rename = "status_451")]
    Status451,
    /// Refused by the firewall, in HTML.
    #[serde(rename = "status_403")]
    Status403,
    #[serde(rename = "status_500")]
    Status500,
    /// Overloaded: -1008.
    #[serde(rename = "status_503")]
    Status503,
    /// A web page with status 200.
    Html,
    /// The body ends in the middle, and the connection with it.
    Truncated,
    /// The answer comes after `delay_ms`.
    Slow,
    /// The answer never comes.
    Stall,
    /// The connection closes without an answer.
    Drop,
    /// An answer lacks some of its middle rows.
    MissingRows,
    /// An answer has every third row twice.
    DuplicateRows,
    /// An answer is out of order.
    ShuffledRows,
    /// A klines answer has a bar whose high is below its low; an ISS answer has words for numbers.
    MalformedRows,
    /// Every block of an ISS answer has no rows.
    EmptyBlocks,
    /// An ISS answer's `marketdata` has no rows.
    EmptyMarketdata,
    /// An ISS answer's columns come in reverse order.
    ReorderedColumns,
    /// An ISS answer has an unknown first column.
    AddedColumns,
    /// An ISS answer lacks every third column, except those with names and codes.
    DroppedColumns,
    /// An ISS answer's blocks hold an error instead of rows.
    ErrorRows,
    /// A further page of an ISS answer is the first one again.
    RepeatedPage,
    /// A further page of an ISS answer is empty.
    MissingPage,
    /// A klines answer lacks what closed in the last `delay_ms` of the exchange's time, and the
    /// candle that is forming.
    RestLag,
    /// A klines answer lacks the last trades of what closed in the last `delay_ms` of the
    /// exchange's time.
    UnsettledRows,
    /// A WebSocket connection ends without a close frame.
    WsDrop,
    /// A WebSocket connection stays open but sends and answers nothing.
    WsStall,
    /// A stream is subscribed to and never sends on this connection.
    WsMute,
    /// A subscription gets no response and no frames.
    WsUnanswered,
    /// A subscription is refused.
    WsRefused,
    /// `serverShutdown` is announced; the connection ends a little later.
    WsShutdown,
    /// A closing frame comes `delay_ms` of the exchange's time late.
    WsLateClose,
    /// A closing frame never comes.
    WsMissingClose,
    /// A frame comes twice.
    WsDuplicate,
    /// A frame comes after the one that follows it.
    WsReorder,
}

impl FaultKind {
    const fn takes_delay(self) -> bool {
        matches!(self, Self::Slow | Self::RestLag | Self::UnsettledRows | Self::WsLateClose)
    }
}

/// One fault, as posted to `POST /sim/faults`.
///
/// ```json
/// {"kind": "status_429", "retry_after_s": 2, "times": 3, "path": "/api/v3/klines"}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InjectedFault {
    pub kind: FaultKind,
    /// How many requests, connections or frames it strikes.
    #[serde(default = "once")]
    pub times: u32,
    /// Only requests to this path, or frames of this stream as in `/ws/btcusdt@kline_1m`; all of
    /// them without it. A `*` in a request's path stands for anything: `/iss/*/candles.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For 429 and 418. Without it the header is left out, as some proxies do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
    /// For `slow`, in real time; for `rest_lag`, `unsettled_rows` and `ws_late_close`, in the
    /// exchange's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

const fn once() -> u32 {
    1
}

impl InjectedFault {
    pub const fn new(kind: FaultKind, times: u32) -> Self {
        Self { kind, times, path: None, retry_after_s: None, delay_ms: None }
    }

    #[must_use]
    pub fn on(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    #[must_use]
    pub const fn retry_after_s(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    #[must_use]
    pub const fn delay_ms(mut self, delay: u64) -> Self {
        self.delay_ms = Some(delay);
        self
    }

    fn check(&self) -> Result<(), String> {
        let waits = matches!(self.kind, FaultKind::Status429 | FaultKind::Status418);
        if !(1..=TIMES_MAX).contains(&self.times) {
            return Err(format!("times is {}; expected 1 to {TIMES_MAX}", self.times));
        }
        if self.retry_after_s.is_some() && !waits {
            return Err("retry_after_s goes with status_429 and status_418 only".to_owned());
        }
        if self.retry_after_s.is_some_and(|seconds| seconds > 259_200) {
            return Err("retry_after_s is at most three days".to_owned());
        }
        if self.delay_ms.is_some() != self.kind.takes_delay() {
            let only = "delay_ms goes with slow, rest_lag, unsettled_rows and ws_late_close, which \
                        need it, and with nothing else";
            return Err(only.to_owned());
        }
        if self.delay_ms.is_some_and(|delay| delay > 600_000) {
            return Err("delay_ms is at most ten minutes".to_owned());
        }
        if self.path.as_ref().is_some_and(|path| !path.starts_with('/') || path.len() > 200) {
            return Err("path starts with / and has at most 200 characters".to_owned());
        }
        Ok(())
    }
}

const TIMES_MAX: u32 = 1_000_000;
const FAULTS_MAX: usize = 100;

/// The faults that have not struck yet, oldest first.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<InjectedFault>>);

impl Faults {
    fn waiting(&self) -> MutexGuard<'_, Vec<InjectedFault>> {
        self.0.lock()
    }

    /// The error says what is wrong with the fault.
    pub fn add(&self, fault: InjectedFault) -> Result<(), String> {
        fault.check()?;
        let mut waiting = self.waiting();
        if waiting.len() >= FAULTS_MAX {
            return Err(format!("{FAULTS_MAX} faults are waiting already"));
        }
        waiting.push(fault);
        Ok(())
    }

    pub fn clear(&self) {
        self.waiting().clear();
    }

    pub fn list(&self) -> Vec<InjectedFault> {
        self.waiting().clone()
    }

    fn take(&self, applies: impl Fn(&InjectedFault) -> bool) -> Option<InjectedFault> {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(applies)?;
        let fault = waiting[at].clone();
        waiting[at].times -= 1;
        if waiting[at].times == 0 {
            waiting.remove(at);
        }
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, reason: &str) {
        let error = match serde_json::from_str::<InjectedFault>(text) {
            Ok(fault) => Faults::default().add(fault).unwrap_err(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn invalid_fault_definitions_are_refused_with_a_reason() {
        check_refused(r#"{"kind":"earthquake"}"#, "unknown variant `earthquake`");
        check_refused(r#"{"kind":"html","colour":1}"#, "unknown field `colour`");
        check_refused(r#"{"times":1}"#, "missing field `kind`");
        check_refused(r#"{"kind":"html","times":0}"#, "expected 1 to");
        check_refused(r#"{"kind":"html","retry_after_s":1}"#, "retry_after_s goes with");
        check_refused(r#"{"kind":"status_429","retry_after_s":1000000}"#, "at most three days");
        check_refused(r#"{"kind":"slow"}"#, "delay_ms goes with slow");
        check_refused(r#"{"kind":"ws_late_close"}"#, "delay_ms goes with slow");
        check_refused(r#"{"kind":"ws_drop","delay_ms":5}"#, "delay_ms goes with slow");
        check_refused(r#"{"kind":"slow","delay_ms":9999999}"#, "at most ten minutes");
        check_refused(r#"{"kind":"html","path":"klines"}"#, "path starts with /");
    }

    #[test]
    fn faults_are_bounded_and_can_be_cleared() {
        let faults = Faults::default();
        for _ in 0..FAULTS_MAX {
            faults.add(InjectedFault::new(FaultKind::Drop, 1)).unwrap();
        }
        assert!(faults.add(InjectedFault::new(FaultKind::Drop, 1)).is_err());
        faults.clear();
        assert!(faults.add(InjectedFault::new(FaultKind::Drop, 1)).is_ok());
    }
}
