//! Ichimoku: conversion and base lines are the middles between highest high and lowest low over
//! `conversion` and `base` candles; span A is the middle of the two lines, span B the middle over
//! `span` candles. Spans stand at the candle they were computed at, or, with `spans=ahead`, `base`
//! candles later, where charts draw them.

use crate::block::{Block, Highest, Lowest, UpdateOf, check_period};
use crate::delayed::Delayed;
use crate::indicator::erase;
use crate::spec::{Entry, Memory, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "ichimoku",
    params: &[
        Param::period("conversion", 9),
        Param::period("base", 26),
        Param::period("span", 52),
        Param::choice("spans", &["here", "ahead"]),
    ],
    outputs: &["ichimoku_conv", "ichimoku_base", "ichimoku_a", "ichimoku_b"],
    memory: |_| Memory::Windowed,
    build: |v| match (Ichimoku::new(v.period(0), v.period(1), v.period(2))?, v.chosen(3)) {
        (ichimoku, false) => Ok(erase(ichimoku)),
        (ichimoku, true) => {
            Ok(erase(Delayed::new(ichimoku, v.period(1), [false, false, true, true])))
        }
    },
};

/// Ichimoku.
#[derive(Clone, Debug)]
pub struct Ichimoku {
    high1: Highest,
    low1: Lowest,
    high2: Highest,
    low2: Lowest,
    high3: Highest,
    low3: Lowest,
    warmup: usize,
}

impl Ichimoku {
    /// Windows of `conversion`, `base` and `span` candles.
    pub fn new(conversion: usize, base: usize, span: usize) -> Result<Ichimoku, Error> {
        check_period("conversion", conversion)?;
        check_period("base", base)?;
        check_period("span", span)?;
        Ok(Ichimoku {
            high1: Highest::new(conversion),
            low1: Lowest::new(conversion),
            high2: Highest::new(base),
            low2: Lowest::new(base),
            high3: Highest::new(span),
            low3: Lowest::new(span),
            warmup: conversion.max(base).max(span) - 1,
        })
    }
}

impl Indicator<4> for Ichimoku {
    type Update = (
        UpdateOf<Highest>,
        UpdateOf<Lowest>,
        UpdateOf<Highest>,
        UpdateOf<Lowest>,
        UpdateOf<Highest>,
        UpdateOf<Lowest>,
    );

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 4], Self::Update) {
        let (high1, high1_next) = self.high1.step(candle.h);
        let (low1, low1_next) = self.low1.step(candle.l);
        let (high2, high2_next) = self.high2.step(candle.h);
        let (low2, low2_next) = self.low2.step(candle.l);
        let (high3, high3_next) = self.high3.step(candle.h);
        let (low3, low3_next) = self.low3.step(candle.l);
        let conversion = 0.5 * (high1 + low1);
        let base = 0.5 * (high2 + low2);
        (
            [conversion, base, 0.5 * (conversion + base), 0.5 * (high3 + low3)],
            (high1_next, low1_next, high2_next, low2_next, high3_next, low3_next),
        )
    }

    #[inline(always)]
    fn commit(&mut self, (high1, low1, high2, low2, high3, low3): Self::Update) {
        self.high1.commit(high1);
        self.low1.commit(low1);
        self.high2.commit(high2);
        self.low2.commit(low2);
        self.high3.commit(high3);
        self.low3.commit(low3);
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}
