//! One candle, and a series of candles as columns. Neither checks prices: indicators give NaN for
//! prices that make no sense.

use crate::Error;
use crate::indicator::finite;

/// A candle: opening time in milliseconds since the epoch (UTC), four prices and the volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candle {
    /// Opening time in milliseconds since the epoch, UTC.
    pub t: i64,
    /// Open.
    pub o: f64,
    /// High.
    pub h: f64,
    /// Low.
    pub l: f64,
    /// Close.
    pub c: f64,
    /// Volume.
    pub v: f64,
}

impl Candle {
    /// The mean of high, low and close.
    #[inline]
    pub fn typical(&self) -> f64 {
        (self.h + self.l + self.c) / 3.0
    }

    /// The largest of H - L and the distances of H and L to the previous close. A NaN distance does
    /// not count, so the first candle has H - L.
    #[inline(always)]
    pub(crate) fn true_range(&self, close_before: f64) -> f64 {
        true_range(self.h, self.l, close_before)
    }

    /// Position of the close in the range, from -1 (low) to 1 (high); 0 when it is not finite.
    #[inline(always)]
    pub(crate) fn location(&self) -> f64 {
        location(self.h, self.l, self.c)
    }
}

/// `Candle::true_range` of prices from columns.
#[inline(always)]
pub(crate) fn true_range(h: f64, l: f64, close_before: f64) -> f64 {
    (h - l).max((h - close_before).abs()).max((l - close_before).abs())
}

#[inline(always)]
fn location(h: f64, l: f64, c: f64) -> f64 {
    let value = ((c - l) - (h - c)) / (h - l);
    if finite(value) { value } else { 0.0 }
}

/// Candles as borrowed columns of one length.
#[derive(Clone, Copy, Debug)]
pub struct Candles<'a> {
    t: &'a [i64],
    o: &'a [f64],
    h: &'a [f64],
    l: &'a [f64],
    c: &'a [f64],
    v: &'a [f64],
}

impl<'a> Candles<'a> {
    /// Six columns, one per field of [`Candle`]. Refuses columns of different lengths.
    pub fn new(
        t: &'a [i64],
        o: &'a [f64],
        h: &'a [f64],
        l: &'a [f64],
        c: &'a [f64],
        v: &'a [f64],
    ) -> Result<Candles<'a>, Error> {
        let len = t.len();
        if [o, h, l, c, v].iter().any(|column| column.len() != len) {
            return Err(Error::Lengths);
        }
        Ok(Candles { t, o, h, l, c, v })
    }

    /// The number of candles.
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Whether there are no candles.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// The opening times.
    pub fn times(&self) -> &'a [i64] {
        self.t
    }

    /// The highs.
    pub fn highs(&self) -> &'a [f64] {
        self.h
    }

    /// The lows.
    pub fn lows(&self) -> &'a [f64] {
        self.l
    }

    /// The closes.
    pub fn closes(&self) -> &'a [f64] {
        self.c
    }

    /// The volumes.
    pub fn volumes(&self) -> &'a [f64] {
        self.v
    }

    /// Writes the volume times the position of the close in its range, for as many candles as `out`
    /// has slots.
    #[inline(always)]
    pub(crate) fn flows(&self, out: &mut [f64]) {
        let candles = self.h.iter().zip(self.l).zip(self.c).zip(self.v);
        for (slot, (((h, l), c), v)) in out.iter_mut().zip(candles) {
            *slot = location(*h, *l, *c) * v;
        }
    }

    /// The candles from `from` up to but not including `to`; both are clamped to the length.
    #[inline]
    pub fn slice(&self, from: usize, to: usize) -> Candles<'a> {
        let to = to.min(self.len());
        let from = from.min(to);
        Candles {
            t: &self.t[from..to],
            o: &self.o[from..to],
            h: &self.h[from..to],
            l: &self.l[from..to],
            c: &self.c[from..to],
            v: &self.v[from..to],
        }
    }

    /// The candles one by one, oldest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Candle> + 'a {
        let Candles { t, o, h, l, c, v } = *self;
        // Slicing all columns to one length leaves one bounds check per step instead of six.
        let len = t.len();
        let (o, h, l, c, v) = (&o[..len], &h[..len], &l[..len], &c[..len], &v[..len]);
        (0..len).map(move |i| Candle { t: t[i], o: o[i], h: h[i], l: l[i], c: c[i], v: v[i] })
    }
}
