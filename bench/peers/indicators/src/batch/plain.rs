//! The crates `ta` and `yata`, which have no batch form.

use peer_ta::Next;
use peer_ta::indicators::*;
use yata::core::{IndicatorConfig, IndicatorInstance, Method};

use crate::{Clock, Data};

pub(super) fn ta(Data { c, v, items, .. }: &Data, t: &Clock<'_>) {
    fn each<'a, X, I: Next<&'a X>>(xs: &'a [X], mut it: I) -> Vec<I::Output> {
        xs.iter().map(|x| it.next(x)).collect()
    }
    fn numbers<I: Next<f64>>(xs: &[f64], mut it: I) -> Vec<I::Output> {
        xs.iter().map(|x| it.next(*x)).collect()
    }
    t.time("ta", "macd", || {
        numbers(c, MovingAverageConvergenceDivergence::new(12, 26, 9).unwrap())
    });
    t.time("ta", "rsi", || numbers(c, RelativeStrengthIndex::new(14).unwrap()));
    t.time("ta", "atr", || each(items, AverageTrueRange::new(14).unwrap()));
    t.time("ta", "stoch", || each(items, SlowStochastic::new(14, 3).unwrap()));
    t.time("ta", "bollinger", || numbers(c, BollingerBands::new(20, 2.0).unwrap()));
    t.time("ta", "ppo", || numbers(c, PercentagePriceOscillator::new(12, 26, 9).unwrap()));
    t.time("ta", "pvo", || numbers(v, PercentagePriceOscillator::new(12, 26, 9).unwrap()));
    t.time("ta", "cci", || each(items, CommodityChannelIndex::new(20).unwrap()));
    t.time("ta", "ema", || numbers(c, ExponentialMovingAverage::new(14).unwrap()));
    t.time("ta", "sma", || numbers(c, SimpleMovingAverage::new(12).unwrap()));
    t.time("ta", "roc", || numbers(c, RateOfChange::new(12).unwrap()));
    t.time("ta", "keltner", || each(items, KeltnerChannel::new(20, 2.0).unwrap()));
    t.time("ta", "mfi", || each(items, MoneyFlowIndex::new(14).unwrap()));
    t.time("ta", "obv", || each(items, OnBalanceVolume::new()));
}

pub(super) fn yata(Data { c, yata, .. }: &Data, t: &Clock<'_>) {
    use yata::indicators::*;
    use yata::methods::{EMA, RMA, RateOfChange, SMA, TR, WMA};

    /// Some of the numbers that an indicator gives, each into a column of its own.
    fn values<I: IndicatorConfig, const N: usize>(
        candles: &[yata::core::Candle],
        config: I,
        which: [usize; N],
    ) -> [Vec<f64>; N] {
        let mut it = config.init(&candles[0]).unwrap();
        let mut out = [const { Vec::new() }; N];
        out.iter_mut().for_each(|column| column.reserve_exact(candles.len()));
        for candle in candles {
            let result = it.next(candle);
            out.iter_mut().zip(which).for_each(|(column, i)| column.push(result.value(i)));
        }
        out
    }
    fn numbers<M: Method<Input = f64, Output = f64>>(xs: &[f64], mut it: M) -> Vec<f64> {
        xs.iter().map(|x| it.next(x)).collect()
    }
    t.time("yata", "macd", || values(yata, MACD::default(), [0, 1]));
    t.time("yata", "rsi", || values(yata, RSI::default(), [0]));
    t.time("yata", "atr", || {
        let (mut tr, mut rma) = (TR::new(&yata[0]).unwrap(), RMA::new(14, &0.0).unwrap());
        yata.iter().map(|x| rma.next(&tr.next(x))).collect::<Vec<_>>()
    });
    t.time("yata", "stoch", || values(yata, StochasticOscillator::default(), [0, 1]));
    t.time("yata", "bollinger", || values(yata, BollingerBands::default(), [0, 1, 2]));
    t.time("yata", "aroon", || values(yata, Aroon { period: 25, ..Aroon::default() }, [0, 1]));
    t.time("yata", "psar", || values(yata, ParabolicSAR::default(), [0]));
    t.time("yata", "tsi", || values(yata, TrueStrengthIndex::default(), [0]));
    t.time("yata", "awesome", || values(yata, AwesomeOscillator::default(), [0]));
    t.time("yata", "donchian", || values(yata, DonchianChannel::default(), [0, 1, 2]));
    t.time("yata", "cmf", || values(yata, ChaikinMoneyFlow::default(), [0]));
    t.time("yata", "chaikin", || values(yata, ChaikinOscillator::default(), [0]));
    t.time("yata", "force", || values(yata, EldersForceIndex::default(), [0]));
    t.time("yata", "mfi", || values(yata, MoneyFlowIndex::default(), [0, 1, 2]));
    t.time("yata", "ema", || numbers(c, EMA::new(14, &c[0]).unwrap()));
    t.time("yata", "sma", || numbers(c, SMA::new(12, &c[0]).unwrap()));
    t.time("yata", "wma", || numbers(c, WMA::new(9, &c[0]).unwrap()));
    t.time("yata", "roc", || numbers(c, RateOfChange::new(12, &c[0]).unwrap()));
}
