//! The crate `kand`. Most functions want room for what they find on the way, which is allocated too,
//! because they cannot be called without.

use kand::ohlcv::*;

use super::made;
use crate::{Clock, Data};

const WHO: &str = "kand";

pub(super) fn all(d: &Data, t: &Clock<'_>) {
    closes(d, t);
    ranges(d, t);
}

fn closes(Data { c, v, .. }: &Data, t: &Clock<'_>) {
    let n = c.len();
    t.time(WHO, "macd", || {
        made(n, |[a, b, x, y, z]| macd::macd(c, 12, 26, 9, a, b, x, y, z).unwrap())
    });
    t.time(WHO, "rsi", || made(n, |[a, b, x]| rsi::rsi(c, 14, a, b, x).unwrap()));
    t.time(WHO, "bollinger", || {
        made(n, |[a, b, x, s, p, q, r]| {
            bbands::bbands(c, 20, 2.0, 2.0, a, b, x, s, p, q, r).unwrap();
        })
    });
    t.time(WHO, "ema", || made(n, |[a]| ema::ema(c, 14, None, a).unwrap()));
    t.time(WHO, "sma", || made(n, |[a]| sma::sma(c, 12, a).unwrap()));
    t.time(WHO, "wma", || made(n, |[a]| wma::wma(c, 9, a).unwrap()));
    t.time(WHO, "trix", || made(n, |[a, x, y, z]| trix::trix(c, 15, a, x, y, z).unwrap()));
    t.time(WHO, "roc", || made(n, |[a]| roc::roc(c, 12, a).unwrap()));
    t.time(WHO, "dailyReturn", || made(n, |[a]| roc::roc(c, 1, a).unwrap()));
    t.time(WHO, "obv", || made(n, |[a]| obv::obv(c, v, a).unwrap()));
}

fn ranges(Data { h, l, c, v, .. }: &Data, t: &Clock<'_>) {
    let n = c.len();
    t.time(WHO, "atr", || made(n, |[a]| atr::atr(h, l, c, 14, a).unwrap()));
    t.time(WHO, "aroon", || {
        let (mut highs, mut lows) = (vec![0; n], vec![0; n]);
        made(n, |[a, b, x, y]| {
            aroon::aroon(h, l, 25, a, b, x, y, &mut highs, &mut lows).unwrap();
        })
    });
    t.time(WHO, "cci", || made(n, |[a, x, y, z]| cci::cci(h, l, c, 20, a, x, y, z).unwrap()));
    t.time(WHO, "psar", || {
        let mut long = vec![false; n];
        made(n, |[a, x, y]| sar::sar(h, l, 0.02, 0.2, a, &mut long, x, y).unwrap())
    });
    t.time(WHO, "williamsR", || made(n, |[a, x, y]| willr::willr(h, l, c, 14, a, x, y).unwrap()));
    t.time(WHO, "vwap", || made(n, |[a, x, y]| vwap::vwap(h, l, c, v, a, x, y).unwrap()));
    t.time(WHO, "adl", || made(n, |[a]| ad::ad(h, l, c, v, a).unwrap()));
    t.time(WHO, "chaikin", || {
        made(n, |[a, x, y, z]| adosc::adosc(h, l, c, v, 3, 10, a, x, y, z).unwrap())
    });
    t.time(WHO, "mfi", || {
        made(n, |[a, x, y, z, w]| mfi::mfi(h, l, c, v, 14, a, x, y, z, w).unwrap())
    });
}
