"""Times TA-Lib (C, through its Python package) and Python `ta` over candles in a file.

Each line `round NAME [INDICATOR...]` on standard input is answered with one line `indicator<TAB>ns per candle`
per indicator and a line `end`. Outputs are allocated in the call, as both packages do.
"""

import sys
import time

import numpy as np

path, rows = sys.argv[1], int(sys.argv[2])
O, H, L, C, V = np.fromfile(path, dtype="<f8").reshape(5, rows)


def talib_calls():
    import talib as t

    def newer(name, *args):
        """A function that older cores do not have."""
        function = getattr(t, name, None)
        return (lambda: function(*args)) if function else None

    return {
        "sma": lambda: t.SMA(C, 12),
        "ema": lambda: t.EMA(C, 14),
        "wma": lambda: t.WMA(C, 9),
        "kama": lambda: t.KAMA(C, 10),
        "trix": lambda: t.TRIX(C, 15),
        "macd": lambda: t.MACD(C, 12, 26, 9),
        "ppo": lambda: t.PPO(C, 12, 26, 1),
        "pvo": newer("PVO", V, 12, 26, 1),
        "rsi": lambda: t.RSI(C, 14),
        "stoch": lambda: t.STOCHF(H, L, C, 14, 3),
        "stochRsi": lambda: t.STOCHRSI(C, 14, 14, 3),
        "roc": lambda: t.ROC(C, 12),
        "williamsR": lambda: t.WILLR(H, L, C, 14),
        "ultimate": lambda: t.ULTOSC(H, L, C, 7, 14, 28),
        "aroon": lambda: t.AROON(H, L, 25),
        "adx": lambda: (t.ADX(H, L, C, 14), t.PLUS_DI(H, L, C, 14), t.MINUS_DI(H, L, C, 14)),
        "cci": lambda: t.CCI(H, L, C, 20),
        "psar": lambda: t.SAR(H, L, 0.02, 0.2),
        "atr": lambda: t.ATR(H, L, C, 14),
        "bollinger": lambda: t.BBANDS(C, 20, 2, 2),
        "donchian": newer("DONCHIAN", H, L, 20),
        "keltner": newer("KC", H, L, C, 20, 10, 2.0),
        "massIndex": newer("MASSI", H, L, 9, 25),
        "dpo": newer("DPO", C, 20),
        "vortex": newer("VORTEX", H, L, C, 14),
        "awesome": newer("AO", H, L, 5, 34),
        "tsi": newer("TSI", C, 25, 13),
        "cmf": newer("CMF", H, L, C, V, 20),
        "force": newer("EFI", C, V, 13),
        "nvi": newer("NVI", C, V),
        "vpt": newer("PVT", C, V),
        "dailyReturn": lambda: t.ROC(C, 1),
        "obv": lambda: t.OBV(C, V),
        "adl": lambda: t.AD(H, L, C, V),
        "chaikin": lambda: t.ADOSC(H, L, C, V, 3, 10),
        "mfi": lambda: t.MFI(H, L, C, V, 14),
        "vwap": newer("VWAP", H, L, C, V),
    }


def ta_calls():
    import pandas as pd
    import ta

    h, l, c, v = (pd.Series(x) for x in (H, L, C, V))

    def macd():
        m = ta.trend.MACD(c)
        return m.macd(), m.macd_signal(), m.macd_diff()

    def oscillator(make, *names):
        def call():
            it = make()
            return [getattr(it, name)() for name in names]

        return call

    m, vol = ta.momentum, ta.volume
    return {
        "sma": lambda: ta.trend.sma_indicator(c, 12),
        "ema": lambda: ta.trend.ema_indicator(c, 14),
        "macd": macd,
        "ppo": oscillator(lambda: m.PercentagePriceOscillator(c), "ppo", "ppo_signal", "ppo_hist"),
        "pvo": oscillator(lambda: m.PercentageVolumeOscillator(v), "pvo", "pvo_signal", "pvo_hist"),
        "rsi": lambda: m.rsi(c, 14),
        "stoch": oscillator(lambda: m.StochasticOscillator(h, l, c), "stoch", "stoch_signal"),
        "stochRsi": oscillator(lambda: m.StochRSIIndicator(c), "stochrsi", "stochrsi_k", "stochrsi_d"),
        "bollinger": oscillator(
            lambda: ta.volatility.BollingerBands(c),
            "bollinger_mavg", "bollinger_hband", "bollinger_lband",
        ),
        "williamsR": lambda: m.williams_r(h, l, c),
        "obv": lambda: vol.on_balance_volume(c, v),
        "cmf": lambda: vol.chaikin_money_flow(h, l, c, v),
    }


calls = {"talib": talib_calls, "ta": ta_calls}
ready = {}
for line in sys.stdin:
    _, name, *only = line.split()
    if name not in ready:
        ready[name] = {k: f for k, f in calls[name]().items() if f}
    for indicator, call in ready[name].items():
        if only and indicator not in only:
            continue
        # Five times: the first call finds the caches as the one before it left them, which differs by the order.
        for _ in range(5 if name == "talib" else 1):
            start = time.thread_time_ns()
            result = call()
            spent = time.thread_time_ns() - start
            del result
            print(f"{indicator}\t{spent / rows:.4f}")
    print("end", flush=True)
