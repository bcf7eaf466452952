//! The indicators of one channel as they go along: fed with history first, so that their first
//! value is already the one that any longer history would give.
//!
//! What adds up begins at a fixed point instead, and its state is kept now and then, so that who
//! resumes is told the same values as who never left.

use std::sync::Arc;

use clock::Millis;
use market::{Bar, Decimal};
use ta::{Candle, Stream};

use crate::warm;
use crate::windows::Window;

/// Each output's name with its latest value; `NaN` where there is none.
pub(crate) type Deltas = Vec<(Arc<str>, f64)>;

pub(crate) struct Calculators(Vec<Calculator>);

struct Calculator {
    stream: Box<dyn Stream>,
    keys: Vec<Arc<str>>,
    /// Earlier candles are not its own.
    from: Millis,
    /// What it is, where it adds up.
    adds_up: Option<Arc<str>>,
}

/// The state of what adds up, after some candle.
pub(crate) struct Checkpoint {
    pub(crate) after: Millis,
    streams: Vec<(Arc<str>, Box<dyn Stream>)>,
}

impl Calculators {
    /// What adds up begins at `base`, or where it was marked.
    pub(crate) fn new(windows: &[Window], base: Millis, mark: Option<&Checkpoint>) -> Self {
        let calculator = |window: &Window| {
            let keys = window.keys().to_vec();
            let adds_up = warm::adds_up(window).then(|| Arc::from(window.to_string()));
            let Some(name) = adds_up else {
                let (stream, from) = (window.stream(), Millis(i64::MIN));
                return Calculator { stream, keys, from, adds_up: None };
            };
            let kept = mark.and_then(|mark| {
                let (_, stream) = mark.streams.iter().find(|(known, _)| *known == name)?;
                Some((stream.fork(), Millis(mark.after.0 + 1)))
            });
            let (stream, from) = kept.unwrap_or_else(|| (window.stream(), base));
            Calculator { stream, keys, from, adds_up: Some(name) }
        };
        Self(windows.iter().map(calculator).collect())
    }

    /// The state of what adds up; `None` where nothing does.
    pub(crate) fn mark(&self, after: Millis) -> Option<Checkpoint> {
        let adding = self.0.iter().filter_map(|it| Some((it.adds_up.clone()?, it.stream.fork())));
        let streams: Vec<_> = adding.collect();
        (!streams.is_empty()).then_some(Checkpoint { after, streams })
    }

    /// Takes a closed candle.
    pub(crate) fn close(&mut self, bar: &Bar) -> Deltas {
        self.each(bar, |stream, candle, row| stream.update(candle, row))
    }

    /// What a forming candle would give if it closed as it stands.
    pub(crate) fn preview(&mut self, bar: &Bar) -> Deltas {
        self.each(bar, |stream, candle, row| stream.preview(candle, row))
    }

    fn each(
        &mut self,
        bar: &Bar,
        mut step: impl FnMut(&mut dyn Stream, &Candle, &mut [f64]),
    ) -> Deltas {
        let mut deltas = Vec::with_capacity(self.0.iter().map(|it| it.keys.len()).sum());
        let candle = candle(bar);
        // More than any indicator has outputs.
        let mut row = [f64::NAN; 16];
        for Calculator { stream, keys, from, .. } in &mut self.0 {
            row.fill(f64::NAN);
            if bar.open_time >= *from {
                step(stream.as_mut(), &candle, &mut row);
            }
            deltas.extend(keys.iter().cloned().zip(row));
        }
        deltas
    }
}

pub(crate) fn candle(bar: &Bar) -> Candle {
    Candle {
        t: bar.open_time.0,
        o: bar.open.to_f64(),
        h: bar.high.to_f64(),
        l: bar.low.to_f64(),
        c: bar.close.to_f64(),
        v: bar.volume.map_or(0.0, Decimal::to_f64),
    }
}
