//! Candles as columns of floats, the form that `ta` and the replies use. The columns are shared:
//! a slice of candles is a view, not a copy.

use std::ops::Range;
use std::sync::Arc;

use clock::Millis;
use fault::Fault;
use market::{Bar, Decimal};

#[derive(Debug, Default)]
struct Columns {
    t: Vec<i64>,
    o: Vec<f64>,
    h: Vec<f64>,
    l: Vec<f64>,
    c: Vec<f64>,
    v: Vec<f64>,
}

/// A contiguous view of candles, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Candles {
    columns: Arc<Columns>,
    rows: Range<usize>,
}

impl Candles {
    pub(crate) fn of(bars: &[Bar]) -> Self {
        let price = |of: fn(&Bar) -> Decimal| bars.iter().map(|bar| of(bar).to_f64()).collect();
        let columns = Columns {
            t: bars.iter().map(|bar| bar.open_time.0).collect(),
            o: price(|bar| bar.open),
            h: price(|bar| bar.high),
            l: price(|bar| bar.low),
            c: price(|bar| bar.close),
            v: bars.iter().map(|bar| bar.volume.map_or(0.0, Decimal::to_f64)).collect(),
        };
        Self { rows: 0..columns.t.len(), columns: Arc::new(columns) }
    }

    /// A copy of these candles followed by `later`.
    pub(crate) fn followed_by(&self, later: &Self) -> Self {
        let mut both = Columns::default();
        for part in [self, later] {
            let (from, rows) = (&*part.columns, part.rows.clone());
            both.t.extend_from_slice(&from.t[rows.clone()]);
            both.o.extend_from_slice(&from.o[rows.clone()]);
            both.h.extend_from_slice(&from.h[rows.clone()]);
            both.l.extend_from_slice(&from.l[rows.clone()]);
            both.c.extend_from_slice(&from.c[rows.clone()]);
            both.v.extend_from_slice(&from.v[rows]);
        }
        Self { rows: 0..both.t.len(), columns: Arc::new(both) }
    }

    /// The same candles in columns of their own, so that a small view does not retain large
    /// columns.
    pub(crate) fn compacted(&self) -> Self {
        let whole = self.columns.t.len() == self.rows.len();
        if whole { self.clone() } else { self.followed_by(&Self::of(&[])) }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn first(&self) -> Option<Millis> {
        self.columns.t[self.rows.clone()].first().copied().map(Millis)
    }

    pub(crate) fn last(&self) -> Option<Millis> {
        self.columns.t[self.rows.clone()].last().copied().map(Millis)
    }

    /// Number of candles that open before `time`.
    pub(crate) fn before(&self, time: Millis) -> usize {
        self.columns.t[self.rows.clone()].partition_point(|open| *open < time.0)
    }

    /// A sub-view; indexes beyond the end are clamped.
    pub(crate) fn part(&self, part: Range<usize>) -> Self {
        let end = self.rows.start.saturating_add(part.end).min(self.rows.end);
        let start = self.rows.start.saturating_add(part.start).min(end);
        Self { columns: Arc::clone(&self.columns), rows: start..end }
    }

    /// The view in `ta`'s type.
    pub(crate) fn view(&self) -> Result<ta::Candles<'_>, Fault> {
        let Columns { t, o, h, l, c, v } = &*self.columns;
        let whole = ta::Candles::new(t, o, h, l, c, v).map_err(Fault::internal)?;
        Ok(whole.slice(self.rows.start, self.rows.end))
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = ta::Candle> {
        let Columns { t, o, h, l, c, v } = &*self.columns;
        self.rows.clone().map(|at| ta::Candle {
            t: t[at],
            o: o[at],
            h: h[at],
            l: l[at],
            c: c[at],
            v: v[at],
        })
    }
}
