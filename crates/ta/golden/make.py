"""Makes the golden tables beside this file from Python `ta` 0.11.0 and TA-Lib.

    python3 -m venv .tools/ta-venv
    .tools/ta-venv/bin/pip install ta==0.11.0 TA-Lib pandas numpy
    .tools/ta-venv/bin/python crates/ta/golden/make.py

The candles are made here, from a generator written out below, so every machine makes the same.
A table's first line names the indicator and its parameters as `ta::Spec` reads them; the second
names the outputs. A value that is not available is empty; a question mark stands where a library
shows no value yet and we do. Four things differ from what the
libraries print: their infinities are empty; values that a library shows during warm-up, made of
zeros or of the mean of the whole series, are empty; where a price range is zero, values that are
rounding errors divided by each other are empty; and a close that has not moved lies on the bands
around it.
"""

import pathlib

import numpy as np
import pandas as pd
import ta
import talib

HERE = pathlib.Path(__file__).parent
ROWS = 240


def candles():
    """A random walk with a flat stretch, a stretch without volume, and equal closes."""
    state = 20240229

    def random():
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 11) / 2**53

    rows, close = [], 100.0
    for i in range(ROWS):
        start = close
        if 120 <= i < 150:
            # Nothing moves; between 130 and 150 nothing trades either.
            rows.append((start, start, start, start, 5.0 if i < 130 else 0.0))
            continue
        close = round(start * (1 + 0.03 * (random() - 0.5) + 0.004 * np.sin(i / 9)), 2)
        if i % 17 == 5:
            close = start
        high = round(max(start, close) * (1 + 0.01 * random()), 2)
        low = round(min(start, close) * (1 - 0.01 * random()), 2)
        volume = round(10 + 990 * random() ** 3, 3)
        rows.append((start, high, low, close, volume))
    frame = pd.DataFrame(rows, columns=["o", "h", "l", "c", "v"])
    # Six candles a day, from a Thursday morning.
    frame.insert(0, "t", 1_709_190_000_000 + 4 * 3_600_000 * np.arange(ROWS))
    return frame


D = candles()
T, O, H, L, C, V = (D[k] for k in "tohlcv")
TP = (H + L + C) / 3


def write(file, header, columns, warmup=0):
    """`warmup` empties the first rows of every column, or of one where it is a dictionary."""
    names = list(columns)
    lines = [header, ",".join(names)]
    data = {}
    for name in names:
        values = np.array(columns[name], dtype=float)
        values[~np.isfinite(values)] = np.nan
        first = warmup.get(name, 0) if isinstance(warmup, dict) else warmup
        values[:first] = np.nan
        data[name] = values
    for i in range(ROWS):
        row = [data[name][i] for name in names]
        lines.append(",".join("" if np.isnan(x) else "?" if x == EARLY else f"{x:.14g}" for x in row))
    (HERE / f"{file}.csv").write_text("\n".join(lines) + "\n")


# Stands for a question mark.
EARLY = -1e300


def like(ours, theirs):
    """TA-Lib's values where there is one by `ours`. TA-Lib has 0 where a range is zero."""
    ours, theirs = pd.Series(np.array(ours)), pd.Series(np.array(theirs))
    return theirs.fillna(EARLY).where(np.isfinite(ours))


def flat(n):
    """Where the typical price has been the same for n candles."""
    return TP.rolling(n).max() == TP.rolling(n).min()


def nine():
    for fast, slow, signal in [(12, 26, 9), (3, 10, 4)]:
        args = f"fast={fast} slow={slow} signal={signal}"
        file = "" if fast == 12 else "_short"
        m = ta.trend.MACD(C, slow, fast, signal)
        write(f"macd{file}", f"macd {args}", {"macd": m.macd(), "signal": m.macd_signal(), "hist": m.macd_diff()})
        p = ta.momentum.PercentagePriceOscillator(C, slow, fast, signal)
        write(f"ppo{file}", f"ppo {args}", {"ppo": p.ppo(), "ppo_signal": p.ppo_signal(), "ppo_hist": p.ppo_hist()})
        p = ta.momentum.PercentageVolumeOscillator(V, slow, fast, signal)
        write(f"pvo{file}", f"pvo {args}", {"pvo": p.pvo(), "pvo_signal": p.pvo_signal(), "pvo_hist": p.pvo_hist()})
        m = talib.MACD(C, fast, slow, signal)
        write(f"macd{file}_talib", f"macd {args} parity=talib", dict(zip(["macd", "signal", "hist"], m)))
        # TA-Lib has the lines alone; its own average makes the signals.
        for name, line in [("ppo", talib.PPO(C, fast, slow, 1)), ("pvo", talib.PVO(V, fast, slow, 1))]:
            mean = talib.EMA(line, signal)
            write(f"{name}{file}_talib", f"{name} {args} parity=talib", {name: line, f"{name}_signal": mean, f"{name}_hist": line - mean})
    for n in [14, 5]:
        file = "" if n == 14 else f"_{n}"
        write(f"rsi{file}", f"rsi period={n}", {"rsi": ta.momentum.rsi(C, n)})
        write(f"rsi{file}_talib", f"rsi period={n} parity=talib", {"rsi": talib.RSI(C, n)})
        write(f"atr{file}", f"atr period={n}", {"atr": ta.volatility.average_true_range(H, L, C, n)}, n - 1)
        write(f"atr{file}_talib", f"atr period={n} parity=talib", {"atr": talib.ATR(H, L, C, n)})
        s = ta.momentum.StochasticOscillator(H, L, C, n, 3)
        write(f"stoch{file}", f"stoch k={n} smooth=3", {"stoch_k": s.stoch(), "stoch_d": s.stoch_signal()})
        k, d = talib.STOCHF(H, L, C, n, 3)
        write(f"stoch{file}_talib", f"stoch k={n} d=3", {"stoch_k": like(s.stoch(), k), "stoch_d": like(s.stoch_signal(), d)})
        # The slow form, which Python `ta` has not; where values are is told by means of its values.
        slow = s.stoch().rolling(4).mean()
        k, d = talib.STOCH(H, L, C, n, 4, 0, 3, 0)
        write(f"stoch{file}_slow", f"stoch k={n} d=3 smooth=4", {"stoch_k": like(slow, k), "stoch_d": like(slow.rolling(3).mean(), d)})
        s = ta.momentum.StochRSIIndicator(C, n, 3, 4)
        # Over a flat stretch the RSI stays the same but for rounding, whose range means nothing.
        still = C.rolling(n).max() == C.rolling(n).min()
        raw = s.stochrsi().mask(still)
        k = raw.rolling(3).mean()
        write(f"stochRsi{file}", f"stochRsi rsi={n} k=3 d=4", {"stochrsi": raw, "stochrsi_k": k, "stochrsi_d": k.rolling(4).mean()})
        # TA-Lib has no third series, which is the mean of its second.
        r = pd.Series(talib.RSI(C, n))
        raw = (r - r.rolling(n).min()).where(r.rolling(n).max() > r.rolling(n).min()).mask(still)
        first, second = (like(x, y / 100) for x, y in zip((raw, raw.rolling(3).mean()), talib.STOCHRSI(C, n, n, 3)))
        third = second.where(second != EARLY).rolling(4).mean().where(raw.rolling(3).mean().rolling(4).mean().notna())
        write(f"stochRsi{file}_talib", f"stochRsi rsi={n} k=3 d=4 parity=talib", {"stochrsi": first, "stochrsi_k": second, "stochrsi_d": third})
        write(f"vwap_rolling{file}", f"vwap period={n}", {"vwap": ta.volume.volume_weighted_average_price(H, L, C, V, n)})
    for n, dev in [(20, 2), (7, 1.5)]:
        b = ta.volatility.BollingerBands(C, n, dev)
        # Where the close has not moved pandas keeps a deviation of 6e-7 from earlier moves.
        mean, still = b.bollinger_mavg(), C.rolling(n).max() == C.rolling(n).min()
        high, low = (x.mask(still, C) for x in (b.bollinger_hband(), b.bollinger_lband()))
        write(f"bollinger_{n}", f"bollinger period={n} stdev={dev}", {"bb_mavg": mean, "bb_hband": high, "bb_lband": low})
        width, place = b.bollinger_wband().mask(still, 0), b.bollinger_pband().mask(still)
        above, below = (x.mask(still, 0) for x in (b.bollinger_hband_indicator(), b.bollinger_lband_indicator()))
        write(f"bollingerBandwidth_{n}", f"bollingerBandwidth period={n} stdev={dev}", {"bb_wband": width, "bb_pband": place, "bb_hind": above, "bb_lind": below}, n - 1)
        high, mean, low = talib.BBANDS(C, n, dev, dev)
        write(f"bollinger_{n}_talib", f"bollinger period={n} stdev={dev}", {"bb_mavg": mean, "bb_hband": high, "bb_lband": low})
    traded = (TP * V).cumsum() / V.cumsum()
    write("vwap_continuous", "vwap session=continuous", {"vwap": traded})
    day = T // 86_400_000
    write("vwap_day", "vwap session=day", {"vwap": (TP * V).groupby(day).cumsum() / V.groupby(day).cumsum()})


def trend():
    write("sma", "sma period=12", {"sma": ta.trend.sma_indicator(C, 12)})
    write("ema", "ema period=14", {"ema": ta.trend.ema_indicator(C, 14)})
    write("ema_talib", "ema period=14 parity=talib", {"ema": talib.EMA(C, 14)})
    write("wma", "wma period=9", {"wma": ta.trend.wma_indicator(C, 9)})
    write("trix", "trix period=15", {"trix": ta.trend.trix(C, 15)})
    write("trix_talib", "trix period=15 parity=talib", {"trix": talib.TRIX(C, 15)})
    for fast, slow in [(9, 25), (4, 7)]:
        file = "" if fast == 9 else "_short"
        write(f"massIndex{file}", f"massIndex fast={fast} slow={slow}", {"mass_index": ta.trend.mass_index(H, L, fast, slow)})
        write(f"massIndex{file}_talib", f"massIndex fast={fast} slow={slow} parity=talib", {"mass_index": talib.MASSI(H, L, fast, slow)})
    i = ta.trend.IchimokuIndicator(H, L, 9, 26, 52)
    write("ichimoku", "ichimoku conversion=9 base=26 span=52", {"ichimoku_conv": i.ichimoku_conversion_line(), "ichimoku_base": i.ichimoku_base_line(), "ichimoku_a": i.ichimoku_a(), "ichimoku_b": i.ichimoku_b()}, {"ichimoku_b": 51})
    i = ta.trend.IchimokuIndicator(H, L, 9, 26, 52, visual=True)
    write("ichimoku_ahead", "ichimoku conversion=9 base=26 span=52 spans=ahead", {"ichimoku_conv": i.ichimoku_conversion_line(), "ichimoku_base": i.ichimoku_base_line(), "ichimoku_a": i.ichimoku_a(), "ichimoku_b": i.ichimoku_b()}, {"ichimoku_a": 51, "ichimoku_b": 77})
    write("stc", "stc slow=50 fast=23 cycle=10 smooth1=3 smooth2=3", {"stc": ta.trend.stc(C, 50, 23, 10, 3, 3)})
    write("dpo", "dpo period=20", {"dpo": ta.trend.dpo(C, 20)})
    k = ta.trend.KSTIndicator(C)
    write("kst", "kst roc1=10 roc2=15 roc3=20 roc4=30 window1=10 window2=10 window3=10 window4=15 signal=9", {"kst": k.kst(), "kst_sig": k.kst_sig(), "kst_diff": k.kst_diff()}, {"kst": 44, "kst_sig": 52, "kst_diff": 52})
    a = ta.trend.AroonIndicator(H, L, 25)
    write("aroon", "aroon period=25", {"aroon_up": a.aroon_up(), "aroon_down": a.aroon_down(), "aroon_ind": a.aroon_indicator()})
    for n in [25, 4]:
        file = "" if n == 25 else f"_{n}"
        down, up = talib.AROON(H, L, n)
        write(f"aroon{file}_talib", f"aroon period={n} parity=talib", {"aroon_up": up, "aroon_down": down, "aroon_ind": talib.AROONOSC(H, L, n)})
    v = ta.trend.VortexIndicator(H, L, C, 14)
    write("vortex", "vortex period=14", {"vip": v.vortex_indicator_pos(), "vin": v.vortex_indicator_neg(), "vid": v.vortex_indicator_diff()})
    p = ta.trend.PSARIndicator(H, L, C, 0.02, 0.2)
    write("psar", "psar step=0.02 max_step=0.2", {"psar": p.psar(), "psar_up": p.psar_up(), "psar_down": p.psar_down(), "psar_up_indicator": p.psar_up_indicator(), "psar_down_indicator": p.psar_down_indicator()}, 2)
    for step, most in [(0.02, 0.2), (0.11, 0.3)]:
        stop = pd.Series(talib.SAR(H, L, step, most))
        # The stop of a falling trend is negative in TA-Lib's longer form, which is otherwise the same.
        signed = pd.Series(talib.SAREXT(H, L, 0, 0, step, step, most, step, step, most))
        assert (signed.abs() - stop).abs().max() == 0
        up, down = signed > 0, signed < 0
        first = stop.index == 1
        starts = [(1.0 * (x & (first | ~x.shift(fill_value=False)))).where(stop.notna()) for x in (up, down)]
        file = "" if step == 0.02 else "_wide"
        write(f"psar{file}_talib", f"psar step={step} max_step={most} parity=talib", {"psar": stop, "psar_up": stop.where(up), "psar_down": stop.where(down), "psar_up_indicator": starts[0], "psar_down_indicator": starts[1]})
    # The last row of +DI and -DI is left at 0 by `ta`, so it is made with one candle more.
    more = [pd.concat([x, x.iloc[-1:]], ignore_index=True) for x in (H, L, C)]
    a = ta.trend.ADXIndicator(*more, 14)
    write("adx", "adx period=14", {"adx": a.adx()[:ROWS], "adx_pos": a.adx_pos()[:ROWS], "adx_neg": a.adx_neg()[:ROWS]}, {"adx": 27, "adx_pos": 15, "adx_neg": 15})
    for n in [14, 3]:
        file = "" if n == 14 else f"_{n}"
        write(f"adx{file}_talib", f"adx period={n} parity=talib", {"adx": talib.ADX(H, L, C, n), "adx_pos": talib.PLUS_DI(H, L, C, n), "adx_neg": talib.MINUS_DI(H, L, C, n)})
    write("cci", "cci period=20 constant=0.015", {"cci": ta.trend.cci(H, L, C, 20, 0.015).mask(flat(20))})


def momentum():
    write("kama", "kama period=10 fast=2 slow=30", {"kama": ta.momentum.kama(C, 10, 2, 30)})
    for n in [10, 3]:
        file = "" if n == 10 else f"_{n}"
        write(f"kama{file}_talib", f"kama period={n} fast=2 slow=30 parity=talib", {"kama": talib.KAMA(C, n)})
    write("roc", "roc period=12", {"roc": ta.momentum.roc(C, 12)})
    for slow, fast in [(25, 13), (7, 4)]:
        file = "" if slow == 25 else "_short"
        write(f"tsi{file}", f"tsi slow={slow} fast={fast}", {"tsi": ta.momentum.tsi(C, slow, fast)})
        write(f"tsi{file}_talib", f"tsi slow={slow} fast={fast} parity=talib", {"tsi": talib.TSI(C, slow, fast)})
    write("ultimate", "ultimate short=7 middle=14 long=28", {"uo": ta.momentum.ultimate_oscillator(H, L, C, 7, 14, 28)})
    write("ultimate_weights", "ultimate short=3 middle=9 long=11 weight1=1 weight2=2.5 weight3=3", {"uo": ta.momentum.ultimate_oscillator(H, L, C, 3, 9, 11, 1, 2.5, 3)})
    write("williamsR", "williamsR period=14", {"wr": ta.momentum.williams_r(H, L, C, 14)})
    write("awesome", "awesome fast=5 slow=34", {"ao": ta.momentum.awesome_oscillator(H, L, 5, 34)})


def volatility():
    for form, original in [("original", True), ("atr", False)]:
        k = ta.volatility.KeltnerChannel(H, L, C, 20, 10, original_version=original, multiplier=2)
        pband = k.keltner_channel_pband().mask((H.rolling(20).max() == L.rolling(20).min()) & original)
        wband = k.keltner_channel_wband()
        above, below = (x.mask(flat(20) & original, 0) for x in (k.keltner_channel_hband_indicator(), k.keltner_channel_lband_indicator()))
        write(f"keltner_{form}", f"keltner period=20 atr=10 multiplier=2 bands={form}", {"kc_mband": k.keltner_channel_mband(), "kc_hband": k.keltner_channel_hband(), "kc_lband": k.keltner_channel_lband(), "kc_wband": wband, "kc_pband": pband, "kc_hind": above, "kc_lind": below}, 19)
    for n, atr, by in [(20, 10, 2), (4, 11, 0.5)]:
        high, middle, low = (pd.Series(x) for x in talib.KC(H, L, C, n, atr, by))
        # What `ta` makes of the bands, made of TA-Lib's.
        rest = {"kc_wband": (high - low) / middle * 100, "kc_pband": (C - low) / (high - low), "kc_hind": 1.0 * (C > high), "kc_lind": 1.0 * (C < low)}
        write(f"keltner_{n}_talib", f"keltner period={n} atr={atr} multiplier={by} bands=atr parity=talib", {"kc_mband": middle, "kc_hband": high, "kc_lband": low, **rest}, max(n - 1, atr))
    for by, offset in [(0, ""), (3, "_late")]:
        d = ta.volatility.DonchianChannel(H, L, C, 20, by)
        write(f"donchian{offset}", f"donchian period=20 offset={by}", {"dc_hband": d.donchian_channel_hband(), "dc_lband": d.donchian_channel_lband(), "dc_mband": d.donchian_channel_mband(), "dc_wband": d.donchian_channel_wband(), "dc_pband": d.donchian_channel_pband()})
    write("ulcer", "ulcer period=14", {"ui": ta.volatility.ulcer_index(C, 14)})


def volume():
    write("obv", "obv", {"obv": ta.volume.on_balance_volume(C, V)})
    write("obv_talib", "obv parity=talib", {"obv": talib.OBV(C, V)})
    write("adl", "adl", {"adl": ta.volume.acc_dist_index(H, L, C, V)})
    write("cmf", "cmf period=20", {"cmf": ta.volume.chaikin_money_flow(H, L, C, V, 20)})
    for n in [13, 2]:
        file = "" if n == 13 else f"_{n}"
        write(f"force{file}", f"force period={n}", {"fi": ta.volume.force_index(C, V, n)})
        write(f"force{file}_talib", f"force period={n} parity=talib", {"fi": talib.EFI(C, V, n)})
    e = ta.volume.EaseOfMovementIndicator(H, L, V, 14)
    write("eom", "eom period=14", {"eom": e.ease_of_movement(), "sma_eom": e.sma_ease_of_movement()})
    write("vpt", "vpt", {"vpt": ta.volume.volume_price_trend(C, V)})
    write("vpt_smooth", "vpt smoothing=6", {"vpt": ta.volume.volume_price_trend(C, V, smoothing_factor=6)})
    write("mfi", "mfi period=14", {"mfi": ta.volume.money_flow_index(H, L, C, V, 14)})
    write("nvi", "nvi", {"nvi": ta.volume.negative_volume_index(C, V)})
    # Python `ta` has no such oscillator; TA-Lib's starts its averages at the first value.
    write("chaikin", "chaikin fast=3 slow=10", {"chaikin": talib.ADOSC(H, L, C, V, 3, 10)})


def returns():
    write("dailyReturn", "dailyReturn", {"d_ret": ta.others.daily_return(C)})
    write("logReturn", "logReturn", {"d_logret": ta.others.daily_log_return(C)})
    write("cumulativeReturn", "cumulativeReturn", {"cum_ret": ta.others.cumulative_return(C)})


def agree():
    """What TA-Lib gives where it has the same as Python `ta`, but for where the first value is."""
    write("sma_talib", "sma period=12", {"sma": talib.SMA(C, 12)})
    write("wma_talib", "wma period=9", {"wma": talib.WMA(C, 9)})
    write("dpo_talib", "dpo period=20", {"dpo": talib.DPO(C, 20)})
    v = ta.trend.VortexIndicator(H, L, C, 14)
    up, down = (like(x, y) for x, y in zip((v.vortex_indicator_pos(), v.vortex_indicator_neg()), talib.VORTEX(H, L, C, 14)))
    write("vortex_talib", "vortex period=14", {"vip": up, "vin": down, "vid": up - down})
    write("cci_talib", "cci period=20", {"cci": like(ta.trend.cci(H, L, C, 20).mask(flat(20)), talib.CCI(H, L, C, 20))})
    write("roc_talib", "roc period=12", {"roc": talib.ROC(C, 12)})
    write("ultimate_talib", "ultimate", {"uo": like(ta.momentum.ultimate_oscillator(H, L, C), talib.ULTOSC(H, L, C))})
    write("williamsR_talib", "williamsR period=14", {"wr": like(ta.momentum.williams_r(H, L, C, 14), talib.WILLR(H, L, C, 14))})
    write("awesome_talib", "awesome", {"ao": talib.AO(H, L)})
    high, middle, low = talib.DONCHIAN(H, L, 20)
    write("donchian_talib", "donchian period=20", {"dc_hband": high, "dc_lband": low, "dc_mband": middle})
    write("adl_talib", "adl", {"adl": talib.AD(H, L, C, V)})
    write("cmf_talib", "cmf period=20", {"cmf": like(ta.volume.chaikin_money_flow(H, L, C, V, 20), talib.CMF(H, L, C, V, 20))})
    # TA-Lib has 0 at the first candle, before there is a change.
    write("vpt_talib", "vpt", {"vpt": talib.PVT(C, V)}, 1)
    write("mfi_talib", "mfi period=14", {"mfi": like(ta.volume.money_flow_index(H, L, C, V, 14), talib.MFI(H, L, C, V, 14))})
    write("nvi_talib", "nvi", {"nvi": talib.NVI(C, V)})
    write("vwap_talib", "vwap session=continuous", {"vwap": talib.VWAP(H, L, C, V)})


for part in (nine, trend, momentum, volatility, volume, returns, agree):
    part()
D.to_csv(HERE / "candles.csv", index=False)
