//! Misbehaviour on request: each fault strikes a given number of requests and is then gone.

use std::sync::{Mutex, MutexGuard, PoisonError};

use market::Millis;
use serde::{Deserialize, Serialize};

use crate::binance::{Endpoint, Row};

/// What can go wrong.
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
    /// An ISS answer's columns come the other way round.
    ReorderedColumns,
    /// An ISS answer has a column nobody knows before all others.
    AddedColumns,
    /// An ISS answer lacks every third column, save those that name things.
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
    /// A WebSocket connection ends without a close frame.
    WsDrop,
    /// A WebSocket connection stays open, and nothing comes or is answered any more.
    WsStall,
    /// A stream is subscribed to and never sends on this connection.
    WsMute,
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
    /// What goes wrong with a whole connection or with any frame of it.
    pub(crate) const fn strikes_frames(self) -> bool {
        use FaultKind::{WsDrop, WsDuplicate, WsReorder, WsShutdown, WsStall};
        matches!(self, WsDrop | WsStall | WsShutdown | WsDuplicate | WsReorder)
    }

    /// What goes wrong with closing frames only.
    pub(crate) const fn strikes_closings(self) -> bool {
        matches!(self, Self::WsLateClose | Self::WsMissingClose)
    }

    /// What goes wrong with further pages only.
    const fn strikes_pages(self) -> bool {
        matches!(self, Self::RepeatedPage | Self::MissingPage)
    }

    fn strikes_requests(self, path: &str) -> bool {
        match self {
            Self::EmptyBlocks
            | Self::EmptyMarketdata
            | Self::ReorderedColumns
            | Self::AddedColumns
            | Self::DroppedColumns
            | Self::ErrorRows
            | Self::RepeatedPage
            | Self::MissingPage => path.starts_with("/iss/"),
            // Other endpoints have nothing to be late with.
            Self::RestLag => path == Endpoint::Klines.path(),
            Self::WsMute => false,
            kind => !kind.strikes_frames() && !kind.strikes_closings(),
        }
    }

    const fn takes_delay(self) -> bool {
        matches!(self, Self::Slow | Self::RestLag | Self::WsLateClose)
    }
}

/// Faults as they are asked for at `POST /sim/faults`.
///
/// ```json
/// {"kind": "status_429", "retry_after_s": 2, "times": 3, "path": "/api/v3/klines"}
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
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
    /// For `slow`, in real time; for `rest_lag` and `ws_late_close`, in the exchange's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

const fn once() -> u32 {
    1
}

impl Fault {
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
            let only = "delay_ms goes with slow, rest_lag and ws_late_close, which need it, and \
                        with nothing else";
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
pub struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    fn waiting(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error is a sentence that says what was wrong with the fault.
    pub fn add(&self, fault: Fault) -> Result<(), String> {
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

    pub fn list(&self) -> Vec<Fault> {
        self.waiting().clone()
    }

    /// Takes one strike of the first fault meant for this path.
    pub(crate) fn strike(&self, path: &str) -> Option<Fault> {
        self.strike_page(path, false)
    }

    /// The same for a request that may ask for a further page.
    pub(crate) fn strike_page(&self, path: &str, further: bool) -> Option<Fault> {
        self.take(|fault| {
            fault.kind.strikes_requests(path)
                && (further || !fault.kind.strikes_pages())
                && fault.path.as_deref().is_none_or(|wanted| matches(wanted, path))
        })
    }

    /// Takes one strike of the first fault of these kinds meant for this stream.
    pub(crate) fn strike_stream(
        &self,
        stream: &str,
        kinds: impl Fn(FaultKind) -> bool,
    ) -> Option<Fault> {
        self.take(|fault| {
            let wanted = fault.path.as_deref().map(|path| path.strip_prefix("/ws/"));
            kinds(fault.kind) && wanted.is_none_or(|wanted| wanted == Some(stream))
        })
    }

    fn take(&self, meant: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(meant)?;
        let fault = waiting[at].clone();
        waiting[at].times -= 1;
        if waiting[at].times == 0 {
            waiting.remove(at);
        }
        Some(fault)
    }
}

/// Whether a path is the one wanted, in which `*` stands for anything.
fn matches(wanted: &str, path: &str) -> bool {
    let mut parts = wanted.split('*');
    let Some(mut rest) = parts.next().and_then(|start| path.strip_prefix(start)) else {
        return false;
    };
    let Some(end) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(end)
}

/// Damage to the rows of a klines answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowFault {
    Missing,
    Duplicate,
    Shuffled,
    Malformed,
    Lag { delay_ms: i64 },
}

impl RowFault {
    pub(crate) fn of(fault: &Fault) -> Option<Self> {
        match fault.kind {
            FaultKind::MissingRows => Some(Self::Missing),
            FaultKind::DuplicateRows => Some(Self::Duplicate),
            FaultKind::ShuffledRows => Some(Self::Shuffled),
            FaultKind::MalformedRows => Some(Self::Malformed),
            FaultKind::RestLag => {
                let delay_ms = fault.delay_ms.unwrap_or_default().cast_signed();
                Some(Self::Lag { delay_ms })
            }
            _ => None,
        }
    }

    pub(crate) fn apply(
        self,
        rows: &mut Vec<Row>,
        next_open: impl Fn(Millis) -> Millis,
        now: Millis,
    ) {
        match self {
            Self::Missing => {
                let (from, to) = (rows.len() / 3, rows.len() / 3 + rows.len().div_ceil(10));
                rows.drain(from..to.min(rows.len()));
            }
            Self::Duplicate => {
                let repeat = |(at, row)| std::iter::repeat_n(row, if at % 3 == 0 { 2 } else { 1 });
                *rows = rows.drain(..).enumerate().flat_map(repeat).collect();
            }
            Self::Shuffled => rows.reverse(),
            Self::Lag { delay_ms } => {
                rows.retain(|(open, _)| next_open(*open).0 + delay_ms <= now.0);
            }
            Self::Malformed => {
                let middle = rows.len() / 2;
                if let Some((_, candle)) = rows.get_mut(middle) {
                    candle.bar.high = candle.bar.low - 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, reason: &str) {
        let error = match serde_json::from_str::<Fault>(text) {
            Ok(fault) => Faults::default().add(fault).unwrap_err(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn what_is_not_a_fault_is_refused_with_a_reason() {
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
    fn a_fault_strikes_its_path_as_often_as_it_says() {
        let faults = Faults::default();
        faults.add(Fault::new(FaultKind::Html, 2).on("/a")).unwrap();
        faults.add(Fault::new(FaultKind::Stall, 1)).unwrap();
        let kinds = |path| faults.strike(path).map(|fault| fault.kind);
        assert_eq!(kinds("/b"), Some(FaultKind::Stall));
        assert_eq!(kinds("/b"), None);
        assert_eq!(
            (kinds("/a"), kinds("/a"), kinds("/a")),
            (Some(FaultKind::Html), Some(FaultKind::Html), None)
        );
        assert!(faults.list().is_empty());
    }

    #[test]
    fn a_star_in_a_path_stands_for_anything() {
        for (wanted, path, expected) in [
            ("/a", "/a", true),
            ("/a", "/ab", false),
            ("/iss/*", "/iss/engines.json", true),
            ("/iss/*", "/api", false),
            ("/iss/*/candles.json", "/iss/securities/SBER/candles.json", true),
            ("/iss/*/candles.json", "/iss/candles.json", false),
            ("/iss/*/SBER/*.json", "/iss/x/SBER/candles.json", true),
            ("/iss/*/SBER/*.json", "/iss/x/GAZP/candles.json", false),
        ] {
            assert_eq!(matches(wanted, path), expected, "{wanted} {path}");
        }
    }

    #[test]
    fn faults_of_pages_wait_for_a_further_page_of_iss() {
        let faults = Faults::default();
        faults.add(Fault::new(FaultKind::MissingPage, 1)).unwrap();
        assert_eq!(faults.strike_page("/iss/securities.json", false), None);
        assert_eq!(faults.strike_page("/api/v3/klines", true), None);
        assert!(faults.strike_page("/iss/securities.json", true).is_some());
    }

    #[test]
    fn requests_and_streams_have_their_own_faults() {
        let faults = Faults::default();
        faults.add(Fault::new(FaultKind::WsDrop, 1)).unwrap();
        faults.add(Fault::new(FaultKind::WsMissingClose, 1).on("/ws/a@kline_1m")).unwrap();
        faults.add(Fault::new(FaultKind::RestLag, 1).delay_ms(5)).unwrap();
        assert_eq!(faults.strike("/api/v3/time"), None);
        let closing = |stream| faults.strike_stream(stream, FaultKind::strikes_closings);
        assert_eq!(closing("b@kline_1m"), None);
        assert_eq!(closing("a@kline_1m").unwrap().kind, FaultKind::WsMissingClose);
        let frame = faults.strike_stream("b@kline_1m", FaultKind::strikes_frames);
        assert_eq!(frame.unwrap().kind, FaultKind::WsDrop);
        assert_eq!(faults.strike(Endpoint::Klines.path()).unwrap().kind, FaultKind::RestLag);
    }

    #[test]
    fn faults_are_bounded_and_can_be_cleared() {
        let faults = Faults::default();
        for _ in 0..FAULTS_MAX {
            faults.add(Fault::new(FaultKind::Drop, 1)).unwrap();
        }
        assert!(faults.add(Fault::new(FaultKind::Drop, 1)).is_err());
        faults.clear();
        assert!(faults.add(Fault::new(FaultKind::Drop, 1)).is_ok());
    }
}
