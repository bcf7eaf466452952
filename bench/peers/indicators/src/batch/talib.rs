//! The crate `ta-lib`: TA-Lib's own code, translated.

use ta_lib::{
    Core,
    MAType::{EMA, SMA},
};

use super::made;
use crate::{Clock, Data};

pub(super) fn all(d: &Data, t: &Clock<'_>) {
    averages(d, t);
    ranges(d, t);
    volumes(d, t);
}

const WHO: &str = "ta-lib";

fn averages(Data { c, v, .. }: &Data, t: &Clock<'_>) {
    let (core, n) = (Core::new(), c.len());
    let e = n - 1;
    t.time(WHO, "macd", || {
        made(n, |[a, b, x]| _ = core.macd(0, e, c, 12, 26, 9, a, b, x).unwrap())
    });
    t.time(WHO, "rsi", || made(n, |[a]| _ = core.rsi(0, e, c, 14, a).unwrap()));
    t.time(WHO, "stochRsi", || {
        made(n, |[a, b]| _ = core.stochrsi(0, e, c, 14, 14, 3, SMA, a, b).unwrap())
    });
    t.time(WHO, "bollinger", || {
        made(n, |[a, b, x]| _ = core.bbands(0, e, c, 20, 2.0, 2.0, SMA, a, b, x).unwrap())
    });
    t.time(WHO, "ppo", || made(n, |[a]| _ = core.ppo(0, e, c, 12, 26, EMA, a).unwrap()));
    t.time(WHO, "pvo", || made(n, |[a]| _ = core.pvo(0, e, v, 12, 26, EMA, a).unwrap()));
    t.time(WHO, "dpo", || made(n, |[a]| _ = core.dpo(0, e, c, 20, a).unwrap()));
    t.time(WHO, "ema", || made(n, |[a]| _ = core.ema(0, e, c, 14, a).unwrap()));
    t.time(WHO, "sma", || made(n, |[a]| _ = core.sma(0, e, c, 12, a).unwrap()));
    t.time(WHO, "wma", || made(n, |[a]| _ = core.wma(0, e, c, 9, a).unwrap()));
    t.time(WHO, "trix", || made(n, |[a]| _ = core.trix(0, e, c, 15, a).unwrap()));
    t.time(WHO, "kama", || made(n, |[a]| _ = core.kama(0, e, c, 10, a).unwrap()));
    t.time(WHO, "roc", || made(n, |[a]| _ = core.roc(0, e, c, 12, a).unwrap()));
    t.time(WHO, "tsi", || made(n, |[a]| _ = core.tsi(0, e, c, 25, 13, a).unwrap()));
    t.time(WHO, "dailyReturn", || made(n, |[a]| _ = core.roc(0, e, c, 1, a).unwrap()));
}

fn ranges(Data { h, l, c, .. }: &Data, t: &Clock<'_>) {
    let (core, n) = (Core::new(), c.len());
    let e = n - 1;
    t.time(WHO, "atr", || made(n, |[a]| _ = core.atr(0, e, h, l, c, 14, a).unwrap()));
    t.time(WHO, "stoch", || {
        made(n, |[a, b]| _ = core.stochf(0, e, h, l, c, 14, 3, SMA, a, b).unwrap())
    });
    t.time(WHO, "adx", || {
        made(n, |[a, b, x]| {
            core.adx(0, e, h, l, c, 14, a).unwrap();
            core.plus_di(0, e, h, l, c, 14, b).unwrap();
            core.minus_di(0, e, h, l, c, 14, x).unwrap();
        })
    });
    t.time(WHO, "aroon", || made(n, |[a, b]| _ = core.aroon(0, e, h, l, 25, a, b).unwrap()));
    t.time(WHO, "cci", || made(n, |[a]| _ = core.cci(0, e, h, l, c, 20, a).unwrap()));
    t.time(WHO, "massIndex", || made(n, |[a]| _ = core.massi(0, e, h, l, 9, 25, a).unwrap()));
    t.time(WHO, "psar", || made(n, |[a]| _ = core.sar(0, e, h, l, 0.02, 0.2, a).unwrap()));
    t.time(WHO, "vortex", || made(n, |[a, b]| _ = core.vortex(0, e, h, l, c, 14, a, b).unwrap()));
    t.time(WHO, "awesome", || made(n, |[a]| _ = core.ao(0, e, h, l, 5, 34, a).unwrap()));
    t.time(WHO, "ultimate", || {
        made(n, |[a]| _ = core.ultosc(0, e, h, l, c, 7, 14, 28, a).unwrap())
    });
    t.time(WHO, "williamsR", || made(n, |[a]| _ = core.willr(0, e, h, l, c, 14, a).unwrap()));
    t.time(WHO, "donchian", || {
        made(n, |[a, b, x]| _ = core.donchian(0, e, h, l, 20, a, b, x).unwrap())
    });
    t.time(WHO, "keltner", || {
        made(n, |[a, b, x]| _ = core.kc(0, e, h, l, c, 20, 10, 2.0, a, b, x).unwrap())
    });
}

fn volumes(Data { h, l, c, v, .. }: &Data, t: &Clock<'_>) {
    let (core, n) = (Core::new(), c.len());
    let e = n - 1;
    t.time(WHO, "vwap", || made(n, |[a]| _ = core.vwap(0, e, h, l, c, v, a).unwrap()));
    t.time(WHO, "adl", || made(n, |[a]| _ = core.ad(0, e, h, l, c, v, a).unwrap()));
    t.time(WHO, "chaikin", || made(n, |[a]| _ = core.adosc(0, e, h, l, c, v, 3, 10, a).unwrap()));
    t.time(WHO, "cmf", || made(n, |[a]| _ = core.cmf(0, e, h, l, c, v, 20, a).unwrap()));
    t.time(WHO, "force", || made(n, |[a]| _ = core.efi(0, e, c, v, 13, a).unwrap()));
    t.time(WHO, "mfi", || made(n, |[a]| _ = core.mfi(0, e, h, l, c, v, 14, a).unwrap()));
    t.time(WHO, "nvi", || made(n, |[a]| _ = core.nvi(0, e, c, v, a).unwrap()));
    t.time(WHO, "obv", || made(n, |[a]| _ = core.obv(0, e, c, v, a).unwrap()));
    t.time(WHO, "vpt", || made(n, |[a]| _ = core.pvt(0, e, c, v, a).unwrap()));
}
