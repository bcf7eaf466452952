//! The indicators of one channel as they go along: fed with history first, so that their first
//! value is already the one that any longer history would give.

use market::{Bar, Decimal};
use ta::{Candle, Spec, Stream};

/// Each output's name with its latest value; `NaN` where there is none.
pub(crate) type Deltas = Vec<(&'static str, f64)>;

pub(crate) struct Calculators(Vec<Calculator>);

struct Calculator {
    stream: Box<dyn Stream>,
    outputs: &'static [&'static str],
}

impl Calculators {
    pub(crate) fn new(specs: &[Spec]) -> Self {
        let calculator =
            |spec: &Spec| Calculator { stream: spec.stream(), outputs: spec.outputs() };
        Self(specs.iter().map(calculator).collect())
    }

    /// Takes a closed candle.
    pub(crate) fn close(&mut self, bar: &Bar) -> Deltas {
        self.each(|stream, row| stream.update(&candle(bar), row))
    }

    /// What a forming candle would give if it closed as it stands.
    pub(crate) fn preview(&mut self, bar: &Bar) -> Deltas {
        self.each(|stream, row| stream.preview(&candle(bar), row))
    }

    fn each(&mut self, mut step: impl FnMut(&mut dyn Stream, &mut [f64])) -> Deltas {
        let mut deltas = Vec::with_capacity(self.0.iter().map(|it| it.outputs.len()).sum());
        // More than any indicator has outputs.
        let mut row = [f64::NAN; 16];
        for Calculator { stream, outputs } in &mut self.0 {
            row.fill(f64::NAN);
            step(stream.as_mut(), &mut row);
            deltas.extend(outputs.iter().copied().zip(row));
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
