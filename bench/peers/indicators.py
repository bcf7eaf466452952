"""Times TA-Lib (C, through its Python package) and Python `ta` over candles in a file.

Each line `round NAME [INDICATOR...]` on standard input is answered with one line `indicator<TAB>ns per candle`
per measurement and a line `end`. The name is `talib`, `ta` or `ta-slow`: what `ta` does in a loop of Python, over
the first 100,000 candles, its lines marked with a star. Outputs are allocated in the call, as both packages do.
"""

import sys
import time

import numpy as np

path, rows = sys.argv[1], int(sys.argv[2])
O, H, L, C, V = np.fromfile(path, dtype="<f8").reshape(5, rows)

# Of `ta`, those that would take minutes over all candles.
SLOW = {"atr", "adx", "aroon", "cci", "kama", "keltner", "mfi", "nvi", "psar", "ulcer", "wma"}
SLOW_ROWS = 100_000


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


def ta_calls(rows):
    import pandas as pd
    import ta

    h, l, c, v = (pd.Series(x[:rows]) for x in (H, L, C, V))
    m, tr, vl, vol, oth = ta.momentum, ta.trend, ta.volatility, ta.volume, ta.others

    def of(make, *names):
        """The series of those names, which is how the classes are used."""

        def call():
            it = make()
            return [getattr(it, name)() for name in names]

        return call

    def keltner(original):
        make = lambda: vl.KeltnerChannel(h, l, c, original_version=original)
        names = ["channel_mband", "channel_hband", "channel_lband"]
        if original:
            names += ["channel_wband", "channel_pband", "channel_hband_indicator", "channel_lband_indicator"]
        return of(make, *("keltner_" + name for name in names))

    ichimoku = ("conversion_line", "base_line", "a", "b")
    return {
        "macd": of(lambda: tr.MACD(c), "macd", "macd_signal", "macd_diff"),
        "rsi": of(lambda: m.RSIIndicator(c), "rsi"),
        "atr": of(lambda: vl.AverageTrueRange(h, l, c), "average_true_range"),
        "stoch": of(lambda: m.StochasticOscillator(h, l, c), "stoch", "stoch_signal"),
        "stochRsi": of(lambda: m.StochRSIIndicator(c), "stochrsi", "stochrsi_k"),
        "bollinger": of(
            lambda: vl.BollingerBands(c), "bollinger_mavg", "bollinger_hband", "bollinger_lband"
        ),
        "ppo": of(lambda: m.PercentagePriceOscillator(c), "ppo"),
        "pvo": of(lambda: m.PercentageVolumeOscillator(v), "pvo"),
        "adx": of(lambda: tr.ADXIndicator(h, l, c), "adx", "adx_pos", "adx_neg"),
        "aroon": of(lambda: tr.AroonIndicator(h, l), "aroon_up", "aroon_down"),
        "cci": of(lambda: tr.CCIIndicator(h, l, c), "cci"),
        "dpo": of(lambda: tr.DPOIndicator(c), "dpo"),
        "ema": of(lambda: tr.EMAIndicator(c), "ema_indicator"),
        "ichimoku": of(lambda: tr.IchimokuIndicator(h, l), *("ichimoku_" + x for x in ichimoku)),
        "kst": of(lambda: tr.KSTIndicator(c), "kst", "kst_sig", "kst_diff"),
        "massIndex": of(lambda: tr.MassIndex(h, l), "mass_index"),
        "psar": of(lambda: tr.PSARIndicator(h, l, c), "psar"),
        "sma": of(lambda: tr.SMAIndicator(c, 12), "sma_indicator"),
        "stc": of(lambda: tr.STCIndicator(c), "stc"),
        "trix": of(lambda: tr.TRIXIndicator(c), "trix"),
        "vortex": of(lambda: tr.VortexIndicator(h, l, c), "vortex_indicator_pos", "vortex_indicator_neg"),
        "wma": of(lambda: tr.WMAIndicator(c), "wma"),
        "awesome": of(lambda: m.AwesomeOscillatorIndicator(h, l), "awesome_oscillator"),
        "kama": of(lambda: m.KAMAIndicator(c), "kama"),
        "roc": of(lambda: m.ROCIndicator(c), "roc"),
        "tsi": of(lambda: m.TSIIndicator(c), "tsi"),
        "ultimate": of(lambda: m.UltimateOscillator(h, l, c), "ultimate_oscillator"),
        "williamsR": of(lambda: m.WilliamsRIndicator(h, l, c), "williams_r"),
        "donchian": of(
            lambda: vl.DonchianChannel(h, l, c),
            "donchian_channel_hband", "donchian_channel_lband", "donchian_channel_mband",
        ),
        "keltner": keltner(False),
        "keltner, bands=original": keltner(True),
        "ulcer": of(lambda: vl.UlcerIndex(c), "ulcer_index"),
        "adl": of(lambda: vol.AccDistIndexIndicator(h, l, c, v), "acc_dist_index"),
        "cmf": of(lambda: vol.ChaikinMoneyFlowIndicator(h, l, c, v), "chaikin_money_flow"),
        "eom": of(lambda: vol.EaseOfMovementIndicator(h, l, v), "ease_of_movement", "sma_ease_of_movement"),
        "force": of(lambda: vol.ForceIndexIndicator(c, v), "force_index"),
        "mfi": of(lambda: vol.MFIIndicator(h, l, c, v), "money_flow_index"),
        "nvi": of(lambda: vol.NegativeVolumeIndexIndicator(c, v), "negative_volume_index"),
        "obv": of(lambda: vol.OnBalanceVolumeIndicator(c, v), "on_balance_volume"),
        "vpt": of(lambda: vol.VolumePriceTrendIndicator(c, v), "volume_price_trend"),
        "cumulativeReturn": of(lambda: oth.CumulativeReturnIndicator(c), "cumulative_return"),
        "dailyReturn": of(lambda: oth.DailyReturnIndicator(c), "daily_return"),
        "logReturn": of(lambda: oth.DailyLogReturnIndicator(c), "daily_log_return"),
    }


def measure(call, rows):
    start = time.thread_time_ns()
    result = call()
    spent = time.thread_time_ns() - start
    del result
    return spent / rows


def contenders(name):
    """Label, call, candles and times in a row of each measurement."""
    if name == "talib":
        # Ten times: the first calls find the caches as others left them, which differs by the order.
        return [(label, call, rows, 10) for label, call in talib_calls().items() if call]
    if name == "ta":
        return [(label, call, rows, 1) for label, call in ta_calls(rows).items() if label not in SLOW]
    return [(label + "*", call, SLOW_ROWS, 1) for label, call in ta_calls(SLOW_ROWS).items() if label in SLOW]


ready = {}
for line in sys.stdin:
    _, name, *only = line.split()
    if name not in ready:
        ready[name] = contenders(name)
    for label, call, candles, times in ready[name]:
        if only and label.split(",")[0].rstrip("*") not in only:
            continue
        for _ in range(times):
            print(f"{label}\t{measure(call, candles):.4f}")
    print("end", flush=True)
