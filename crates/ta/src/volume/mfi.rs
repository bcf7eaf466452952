//! Money flow index: 100 - 100 / (1 + P / N), where P and N are the sums over `period` candles of
//! typical price times volume on candles whose typical price rose and fell.

use crate::block::{Block, Of, Sum, check_period};
use crate::indicator::erase;
use crate::spec::{Entry, Param};
use crate::{Candle, Error, Indicator};

pub(crate) const ENTRY: Entry = Entry {
    name: "mfi",
    params: &[Param::period("period", 14)],
    outputs: &["mfi"],
    build: |v| Ok(erase(Mfi::new(v.period(0))?)),
};

#[derive(Clone, Debug)]
pub struct Mfi {
    up: Sum,
    down: Sum,
    price: f64,
    warmup: usize,
}

impl Mfi {
    pub fn new(period: usize) -> Result<Mfi, Error> {
        check_period("period", period)?;
        Ok(Mfi {
            up: Sum::new(period),
            down: Sum::new(period),
            price: f64::NAN,
            warmup: period - 1,
        })
    }
}

impl Indicator<1> for Mfi {
    type Next = (Of<Sum>, Of<Sum>, f64);

    #[inline(always)]
    fn step(&self, candle: &Candle) -> ([f64; 1], Self::Next) {
        let price_next = candle.typical();
        let flow = price_next * candle.v;
        // A flow that is not known stays unknown in both sums; one without direction counts in neither.
        let none = flow * 0.0;
        let (up, up_next) = self.up.step(if price_next > self.price { flow } else { none });
        let (down, down_next) = self.down.step(if price_next < self.price { flow } else { none });
        ([100.0 - 100.0 / (1.0 + up / down)], (up_next, down_next, price_next))
    }

    #[inline(always)]
    fn commit(&mut self, (up, down, price): Self::Next) {
        self.up.commit(up);
        self.down.commit(down);
        self.price = price;
    }

    fn warmup(&self) -> usize {
        self.warmup
    }
}
