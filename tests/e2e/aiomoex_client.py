"""The Python client aiomoex against a simulated Moscow exchange.

    stoa sim --listen 127.0.0.1:8777
    aiomoex_client.py --url http://127.0.0.1:8777 --stoa stoa

A client written for the real exchange, by others, keeps the simulated one honest. With a stoa at
hand, what its own adapter reads from the same exchange is compared. Prints what failed and, last,
"N passed, M failed". Needs aiomoex 2.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile

import aiohttp
import aiomoex

from tally import Tally

REAL = "https://iss.moex.com"
SECURITY = "SBER"
# A finished month, so that nothing moves between two questions.
FROM, TILL = "2024-09-02", "2024-09-30"
PRICES = ["open", "high", "low", "close"]


class Session:
    """Asks the simulated exchange what the client means to ask the real one."""

    def __init__(self, inner, base):
        self.inner = inner
        self.base = base

    def get(self, url, **options):
        return self.inner.get(url.replace(REAL, self.base), **options)


def joined(candles, longer):
    """Candles made from shorter ones, by the beginning of the longer one."""
    found = {}
    for candle in candles:
        whole = found.setdefault(longer(candle["begin"]), dict(candle, volume=0))
        whole["high"] = max(whole["high"], candle["high"])
        whole["low"] = min(whole["low"], candle["low"])
        whole["close"] = candle["close"]
        whole["volume"] += candle["volume"]
    return found


def same(left, right):
    return left["volume"] == right["volume"] and all(
        abs(left[name] - right[name]) < 1e-6 for name in PRICES
    )


async def candles(tally, session):
    ask = aiomoex.get_board_candles
    lengths = {
        interval: await ask(session, SECURITY, interval=interval, start=FROM, end=TILL)
        for interval in (1, 10, 60, 24)
    }
    tally.check("minutes need many pages", len(lengths[1]) > 10_000, len(lengths[1]))
    begins = [candle["begin"] for candle in lengths[1]]
    tally.check("no page repeats or loses rows", begins == sorted(set(begins)))
    for short, long, longer in [
        (1, 10, lambda begin: begin[:15] + "0:00"),
        (10, 60, lambda begin: begin[:13] + ":00:00"),
        (60, 24, lambda begin: begin[:10] + " 00:00:00"),
    ]:
        made = joined(lengths[short], longer)
        whole = {candle["begin"]: candle for candle in lengths[long]}
        tally.check(f"{short} makes up {long}: when", made.keys() == whole.keys())
        differing = [begin for begin in whole if not same(made[begin], whole[begin])]
        tally.check(f"{short} makes up {long}: what", not differing, differing[:3])
    market = await aiomoex.get_market_candles(session, SECURITY, interval=24, start=FROM, end=TILL)
    tally.check("the market's candles are the board's", market == lengths[24])
    borders = await aiomoex.get_board_candle_borders(session, SECURITY)
    intervals = sorted(border["interval"] for border in borders)
    tally.check("borders of every length", intervals == [1, 4, 7, 10, 24, 31, 60], intervals)
    return lengths[24]


async def history(tally, session, days):
    columns = ["TRADEDATE", "CLOSE", "VOLUME"]
    ask = aiomoex.get_board_history
    rows = await ask(session, SECURITY, start="2024-01-01", end="2024-12-31", columns=columns)
    tally.check("a year needs three pages", len(rows) == 256, len(rows))
    rows = await ask(session, SECURITY, start=FROM, end=TILL, columns=columns)
    closes = {day["begin"][:10]: day["close"] for day in days}
    differing = [row for row in rows if abs(row["CLOSE"] - closes[row["TRADEDATE"]]) > 1e-6]
    tally.check("history closes where its candle does", rows and not differing, differing[:3])
    span = await aiomoex.get_board_dates(session)
    tally.check("the record's span", span[0]["from"] < "2014" < span[0]["till"], span)


async def securities(tally, session):
    ask = aiomoex.get_board_securities
    board = await ask(session)
    columns = {"SECID", "REGNUMBER", "LOTSIZE", "SHORTNAME"}
    tally.check("the board", len(board) > 100 and set(board[0]) == columns, board[:1])
    prices = await ask(session, table="marketdata", columns=["SECID", "LAST"])
    names = [row["SECID"] for row in board]
    tally.check("its prices", [row["SECID"] for row in prices] == names)
    for sought in (SECURITY, "сбербанк", "RU0009029540"):
        found = await aiomoex.find_securities(session, sought, columns=["secid", "isin"])
        tally.check(f"finding {sought}", found and found[0]["secid"] == SECURITY, found[:2])
    boards = await aiomoex.get_reference(session, "boards")
    tally.check("the reference", any(row["boardid"] == "TQBR" for row in boards))
    nothing = await aiomoex.get_board_candles(session, "NOPE", start=FROM, end=TILL)
    tally.check("an unknown code has no candles", nothing == [], nothing[:1])


def told(stoa, base, tool, arguments):
    """What stoa answers over its own adapter to the same exchange."""
    with tempfile.TemporaryDirectory() as data:
        environment = dict(os.environ, MOEX_PROVIDER="iss", MOEX_ISS_URL=f"{base}/iss")
        command = [stoa, "--data", data, "--log", "error", "call", tool, json.dumps(arguments)]
        output = subprocess.run(command, env=environment, capture_output=True, check=True)
        return json.loads(output.stdout)["data"]


async def adapter(tally, session, stoa, base):
    period = {"ticker": SECURITY, "from_date": FROM, "to_date": TILL}
    for interval, name in [(24, "1d"), (60, "1h")]:
        theirs = await aiomoex.get_board_candles(
            session, SECURITY, interval=interval, start=FROM, end=TILL
        )
        ours = told(stoa, base, "get_ohlcv_timeseries", dict(period, interval=name))
        begins = [candle["begin"].replace(" ", "T") + "+03:00" for candle in theirs]
        tally.check(f"{name}: our adapter's times", [it["ts"] for it in ours] == begins)
        differing = [pair for pair in zip(ours, theirs) if not same(*pair)]
        tally.check(f"{name}: our adapter's prices", theirs and not differing, differing[:2])
    for sought in ("сбербанк", "RU0009029540"):
        theirs = await aiomoex.find_securities(session, sought, columns=["secid", "isin"])
        ours = told(stoa, base, "search_securities", {"query": sought, "limit": 50})
        names = {(it["ticker"], it.get("isin")) for it in ours}
        lost = [it for it in theirs if (it["secid"], it["isin"]) not in names]
        tally.check(f"our adapter finds {sought}", theirs and not lost, lost)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--stoa", help="a stoa whose adapter reads the same exchange")
    options = parser.parse_args()
    base = options.url.rstrip("/")
    tally = Tally()
    async with aiohttp.ClientSession() as inner:
        session = Session(inner, base)
        days = await candles(tally, session)
        await history(tally, session, days)
        await securities(tally, session)
        if options.stoa:
            await adapter(tally, session, options.stoa, base)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
