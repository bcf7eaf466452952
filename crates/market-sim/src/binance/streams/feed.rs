//! One kline stream of one connection: decides which frame is due at the exchange's time.

use std::collections::VecDeque;

use clock::{Millis, TimeRange};
use market::Interval;

use super::frame::{self, Frame, Shown};
use crate::faults::FaultKind;
use crate::instruments::Instrument;
use crate::price_tree::Walker;
use crate::sim::Shared;

/// How long after its end the closing frame of a candle is sent.
const CLOSING_DELAY_MS: i64 = 59;
/// After a jump of the clock by more candles than this, the candles between are not sent.
const CANDLES_BEHIND_MAX: usize = 1_000;
const LATE_MAX: usize = 100;

#[derive(Debug)]
pub(crate) struct Feed {
    stream: String,
    symbol: String,
    interval: Interval,
    /// The candle whose closing frame was not sent yet.
    open: Millis,
    push_at: Millis,
    /// Delayed closing frames, each with the time to send it.
    late: VecDeque<(Millis, Millis)>,
}

impl Feed {
    /// `None` for streams that never send; Binance accepts those as well. Names are lower case up to
    /// the interval.
    pub(crate) fn new(stream: &str, now: Millis) -> Option<Self> {
        let (symbol, interval) = stream.split_once("@kline_")?;
        let interval = Interval::parse(interval)?;
        if symbol.is_empty() || symbol.chars().any(char::is_uppercase) {
            return None;
        }
        Some(Self {
            stream: stream.to_owned(),
            symbol: symbol.to_uppercase(),
            interval,
            open: interval.open_of(now),
            push_at: now,
            late: VecDeque::new(),
        })
    }

    /// When the next frame is due.
    pub(crate) fn due(&self) -> Millis {
        let closing = self.closing_at();
        let late = self.late.front().map_or(closing, |(until, _)| *until);
        // Between the end of a candle and its closing frame nothing is sent.
        let over = self.push_at >= self.interval.next_open(self.open);
        let push = if over { closing } else { self.push_at };
        push.min(closing).min(late)
    }

    fn closing_at(&self) -> Millis {
        Millis(self.interval.next_open(self.open).0 + CLOSING_DELAY_MS)
    }

    /// Appends the frames that are due.
    pub(crate) fn advance(&mut self, shared: &Shared, now: Millis, frames: &mut Vec<Frame>) {
        if now < self.due() {
            return;
        }
        let Some(pair) = shared.instruments.find(&self.symbol, now) else {
            self.push_at = Millis(now.0 + self.period_ms());
            return;
        };
        let mut walker = Walker::new(shared.seed, pair, now);
        while let Some((until, open)) = self.late.front().copied()
            && until <= now
        {
            self.late.pop_front();
            self.send(&mut walker, pair, open, true, now, frames);
        }
        let mut behind = 0;
        while self.closing_at() <= now {
            behind += 1;
            if behind > CANDLES_BEHIND_MAX {
                self.open = self.interval.open_of(now);
                break;
            }
            self.close(&mut walker, pair, shared, now, frames);
        }
        if self.push_at <= now && now < self.interval.next_open(self.open) {
            self.push_at = Millis(now.0 + self.period_ms());
            if pair.status_at(now) == "TRADING" {
                self.send(&mut walker, pair, self.open, false, now, frames);
            }
        }
    }

    fn period_ms(&self) -> i64 {
        if self.interval == Interval::S1 { 1_000 } else { 2_000 }
    }

    fn close(
        &mut self,
        walker: &mut Walker<'_>,
        pair: &Instrument,
        shared: &Shared,
        now: Millis,
        frames: &mut Vec<Frame>,
    ) {
        let open = self.open;
        self.open = self.interval.next_open(open);
        let fault = shared.faults.strike_stream(&self.stream, FaultKind::strikes_closings);
        match fault.map(|fault| (fault.kind, fault.delay_ms.unwrap_or_default())) {
            Some((FaultKind::WsLateClose, delay)) if self.late.len() < LATE_MAX => {
                self.late.push_back((Millis(now.0 + delay.cast_signed()), open));
            }
            Some((FaultKind::WsMissingClose, _)) => {}
            _ => self.send(walker, pair, open, true, now, frames),
        }
    }

    /// Sends nothing for a candle inside an outage.
    fn send(
        &self,
        walker: &mut Walker<'_>,
        pair: &Instrument,
        open: Millis,
        closed: bool,
        now: Millis,
        frames: &mut Vec<Frame>,
    ) {
        let interval = self.interval;
        let candle = walker.fold(TimeRange::new(open, interval.next_open(open)));
        frames.extend(candle.map(|candle| {
            let shown = Shown { pair, interval, open, candle };
            Frame { stream: self.stream.clone(), data: frame::kline(shown, closed, now) }
        }));
    }
}
