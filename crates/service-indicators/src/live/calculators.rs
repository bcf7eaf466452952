//! The incremental indicators of one channel. History feeds them first, so that their first live
//! value equals the value computed from any longer history.
//!
//! A cumulative indicator starts at a fixed time instead, and checkpoints save its state, so that a
//! resuming subscriber receives the same values as one that stayed connected.

use std::sync::Arc;

use clock::Millis;
use market::{Bar, Decimal};
use ta::{Candle, Stream};

use crate::warm;
use crate::windows::Window;

/// Each output's key with its latest value; `NaN` means no value.
pub(crate) type Deltas = Vec<(Arc<str>, f64)>;

pub(crate) struct Calculators(Vec<Calculator>);

struct Calculator {
    stream: Box<dyn Stream>,
    keys: Vec<Arc<str>>,
    /// The calculator ignores candles that open before this time.
    from: Millis,
    /// The indicator's specification if it is cumulative; a checkpoint finds its state by it.
    spec_if_cumulative: Option<Arc<str>>,
}

/// The state of the cumulative indicators after the candle `after`.
pub(crate) struct Checkpoint {
    pub(crate) after: Millis,
    streams: Vec<(Arc<str>, Box<dyn Stream>)>,
}

impl Calculators {
    /// Cumulative indicators start at `base`, or continue from `checkpoint`.
    pub(crate) fn new(windows: &[Window], base: Millis, checkpoint: Option<&Checkpoint>) -> Self {
        let calculator = |window: &Window| {
            let keys = window.keys().to_vec();
            let adds_up = warm::is_cumulative(window).then(|| Arc::from(window.to_string()));
            let Some(name) = adds_up else {
                let (stream, from) = (window.stream(), Millis(i64::MIN));
                return Calculator { stream, keys, from, spec_if_cumulative: None };
            };
            let restored = checkpoint.and_then(|checkpoint| {
                let (_, stream) = checkpoint.streams.iter().find(|(known, _)| *known == name)?;
                Some((stream.fork(), Millis(checkpoint.after.0 + 1)))
            });
            let (stream, from) = restored.unwrap_or_else(|| (window.stream(), base));
            Calculator { stream, keys, from, spec_if_cumulative: Some(name) }
        };
        Self(windows.iter().map(calculator).collect())
    }

    /// Saves the state of the cumulative indicators; `None` if there are none.
    pub(crate) fn checkpoint(&self, after: Millis) -> Option<Checkpoint> {
        let cumulative =
            self.0.iter().filter_map(|it| Some((it.spec_if_cumulative.clone()?, it.stream.fork())));
        let streams: Vec<_> = cumulative.collect();
        (!streams.is_empty()).then_some(Checkpoint { after, streams })
    }

    /// Updates every indicator with a closed candle.
    pub(crate) fn close(&mut self, bar: &Bar) -> Deltas {
        self.each(bar, |stream, candle, row| stream.update(candle, row))
    }

    /// The values that a forming candle would give if it closed now; the state does not change.
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
        // No indicator has more than 16 outputs.
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
