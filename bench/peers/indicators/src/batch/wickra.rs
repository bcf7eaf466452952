//! The crate `wickra`, by the fastest of its batch forms where an indicator has several.

use wickra::{BatchExt, BatchNanExt, Indicator};

use super::made;
use crate::{Clock, Data};

const WHO: &str = "wickra";

pub(super) fn all(d: &Data, t: &Clock<'_>) {
    closes(d, t);
    columns(d, t);
    single(d, t);
    several(d, t);
}

fn closes(Data { c, v, .. }: &Data, t: &Clock<'_>) {
    let rsi = || wickra::Rsi::new(14).unwrap();
    t.time(WHO, "rsi", || rsi().batch_fast(c));
    t.time(WHO, "stochRsi", || wickra::StochRsi::new(14, 14).unwrap().batch_fast(c));
    t.time(WHO, "ppo", || wickra::Ppo::new(12, 26).unwrap().batch_fast(c));
    t.time(WHO, "pvo", || wickra::Ppo::new(12, 26).unwrap().batch_fast(v));
    t.time(WHO, "dpo", || wickra::Dpo::new(20).unwrap().batch_fast(c));
    t.time(WHO, "ema", || wickra::Ema::new(14).unwrap().batch_fast(c));
    t.time(WHO, "sma", || wickra::Sma::new(12).unwrap().batch_fast(c));
    t.time(WHO, "trix", || wickra::Trix::new(15).unwrap().batch_fast(c));
    t.time(WHO, "wma", || wickra::Wma::new(9).unwrap().batch_fast(c));
    t.time(WHO, "kama", || wickra::Kama::new(10, 2, 30).unwrap().batch_fast(c));
    t.time(WHO, "roc", || wickra::Roc::new(12).unwrap().batch_fast(c));
    t.time(WHO, "tsi", || wickra::Tsi::new(25, 13).unwrap().batch_fast(c));
    t.time(WHO, "ulcer", || wickra::UlcerIndex::new(14).unwrap().batch_fast(c));
    t.time(WHO, "dailyReturn", || wickra::Roc::new(1).unwrap().batch_fast(c));
    t.time(WHO, "logReturn", || wickra::LogReturn::new(1).unwrap().batch_fast(c));
}

/// Those that take columns.
fn columns(Data { h, l, c, v, .. }: &Data, t: &Clock<'_>) {
    t.time(WHO, "macd", || wickra::MacdIndicator::new(12, 26, 9).unwrap().batch_macd_fast(c));
    t.time(WHO, "bollinger", || wickra::BollingerBands::new(20, 2.0).unwrap().batch_bands_fast(c));
    t.time(WHO, "atr", || wickra::Atr::new(14).unwrap().batch_atr_fast(h, l, c));
    t.time(WHO, "chaikin", || {
        let mut chaikin = wickra::ChaikinOscillator::new(3, 10).unwrap();
        made(c.len(), |[a]| chaikin.batch_hlcv_fast_into(h, l, c, v, a))
    });
}

/// Those of candles that give one number.
fn single(d: &Data, t: &Clock<'_>) {
    fn one<I>(d: &Data, mut it: I) -> [Vec<f64>; 1]
    where
        I: Indicator<Input = wickra::Candle, Output = f64>,
    {
        made(d.candles.len(), |[a]| it.batch_fast_into(&d.candles, a))
    }
    t.time(WHO, "vwap", || one(d, wickra::Vwap::new()));
    t.time(WHO, "vwap, session=day", || one(d, wickra::SessionVwap::new(0)));
    t.time(WHO, "cci", || one(d, wickra::Cci::new(20).unwrap()));
    t.time(WHO, "massIndex", || one(d, wickra::MassIndex::new(9, 25).unwrap()));
    t.time(WHO, "psar", || one(d, wickra::Psar::new(0.02, 0.02, 0.2).unwrap()));
    t.time(WHO, "awesome", || one(d, wickra::AwesomeOscillator::new(5, 34).unwrap()));
    t.time(WHO, "ultimate", || one(d, wickra::UltimateOscillator::new(7, 14, 28).unwrap()));
    t.time(WHO, "williamsR", || one(d, wickra::WilliamsR::new(14).unwrap()));
    t.time(WHO, "adl", || one(d, wickra::Adl::new()));
    t.time(WHO, "cmf", || one(d, wickra::ChaikinMoneyFlow::new(20).unwrap()));
    t.time(WHO, "force", || one(d, wickra::ForceIndex::new(13).unwrap()));
    t.time(WHO, "mfi", || one(d, wickra::Mfi::new(14).unwrap()));
    t.time(WHO, "nvi", || one(d, wickra::Nvi::new()));
    t.time(WHO, "obv", || one(d, wickra::Obv::new()));
    t.time(WHO, "vpt", || one(d, wickra::VolumePriceTrend::new()));
}

/// Those that give several numbers, which come as a row for each candle.
fn several(d: &Data, t: &Clock<'_>) {
    t.time(WHO, "stoch", || wickra::Stochastic::new(14, 3).unwrap().batch(&d.candles));
    t.time(WHO, "adx", || wickra::Adx::new(14).unwrap().batch(&d.candles));
    t.time(WHO, "aroon", || wickra::Aroon::new(25).unwrap().batch(&d.candles));
    t.time(WHO, "vortex", || wickra::Vortex::new(14).unwrap().batch(&d.candles));
    t.time(WHO, "donchian", || wickra::Donchian::new(20).unwrap().batch(&d.candles));
    t.time(WHO, "keltner", || wickra::Keltner::new(20, 10, 2.0).unwrap().batch(&d.candles));
    t.time(WHO, "kst", || {
        let kst = wickra::Kst::new(10, 15, 20, 30, 10, 10, 10, 15, 9);
        kst.unwrap().batch(&d.c)
    });
}
