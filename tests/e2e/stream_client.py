"""Live candles through the usual Python clients of server-sent events and WebSocket.

    stream_client.py --url http://127.0.0.1:8080

Each follows candles of one second with indicators, breaks off in the middle, comes back with the
last id it has, and must have every candle once. Prints what failed and, last, "N passed, M failed".
"""

import argparse
import asyncio
import json
import sys
import traceback

import httpx
import websockets
from httpx_sse import aconnect_sse

from tally import Tally

SECOND = 1000
# Longer than anything here takes.
PATIENCE = 60
# How long a client is away.
AWAY = 1.5


def is_closed(event):
    return event.get("type") == "kline" and event["candle"]["closed"]


def consecutive(times):
    return all(after - before == SECOND for before, after in zip(times, times[1:]))


async def sse(http, path, query, count, last_id=None):
    """So many closed candles, each with its id; then the line is cut."""
    headers = {"Last-Event-ID": last_id} if last_id else {}
    told = []
    async with aconnect_sse(http, "GET", path, params=query, headers=headers) as source:
        source.response.raise_for_status()
        async for event in source.aiter_sse():
            data = json.loads(event.data)
            if is_closed(data):
                told.append((event.id, data))
            if len(told) == count:
                return told
    raise RuntimeError(f"{path} ended after {len(told)} candles")


async def events_resume(tally, http):
    query = {"symbol": "BTCUSDT", "interval": "1s", "indicators": "macd,rsi"}
    first = await sse(http, "/stream/klines", query, 2)
    tally.check("SSE: an id is its candle's time", all(i == str(e["candle"]["t"]) for i, e in first), first)
    await asyncio.sleep(AWAY)
    told = first + await sse(http, "/stream/klines", query, 3, first[-1][0])
    times = [event["candle"]["t"] for _, event in told]
    tally.check("SSE: nothing is lost or comes twice", consecutive(times), times)
    values = [event["deltas"].get(name) for _, event in told for name in ("macd", "signal", "rsi")]
    tally.check("SSE: indicators are warm from the first event", None not in values, values)
    # What was told live is what history says, once the exchange's record has settled.
    told = told[:-2]
    span = {"symbol": "BTCUSDT", "interval": "1s", "start": times[0], "end": times[-2]}
    history = (await http.get("/klines", params=span)).json().get("candles")
    live = [{key: value for key, value in e["candle"].items() if key != "closed"} for _, e in told]
    tally.check("SSE: live and history agree", history == live, (history, live))
    body = {**span, "windows": {"rsi": {}}, "warm": True, "includeCandles": False}
    computed = (await http.post("/indicators", json=body)).json()
    pairs = list(zip(computed["series"]["rsi"], (event["deltas"]["rsi"] for _, event in told)))
    close = len(pairs) == len(told) and all(abs(a - b) < 1e-6 for a, b in pairs)
    tally.check("SSE: live and computed indicators agree", close, pairs)


async def batches_resume(tally, http):
    query = {"symbols": "BTCUSDT,ETHUSDT", "interval": "1s"}
    first = await sse(http, "/stream/klines/batch", query, 3)
    await asyncio.sleep(AWAY)
    told = first + await sse(http, "/stream/klines/batch", query, 6, first[-1][0])
    for symbol in ("BTCUSDT", "ETHUSDT"):
        times = [event["candle"]["t"] for _, event in told if event["symbol"] == symbol]
        tally.check(f"batch: {symbol} is whole", len(times) > 1 and consecutive(times), times)


class Socket:
    """A WebSocket with what came on it, by subscription."""

    def __init__(self, socket):
        self.socket = socket

    async def say(self, **message):
        await self.socket.send(json.dumps(message))

    async def next_of(self, kind):
        while True:
            message = json.loads(await self.socket.recv())
            if message["type"] == kind:
                return message

    async def closed(self, counts):
        """So many closed candles for each subscription, and those that formed meanwhile."""
        told, forming = {name: [] for name in counts}, []
        while any(len(told[name]) < count for name, count in counts.items()):
            event = await self.next_of("kline")
            if is_closed(event):
                told[event["id"]].append(event)
            else:
                forming.append(event["id"])
        return told, forming


async def sockets_resume(tally, url):
    asks = {
        "a": {"symbol": "BTCUSDT", "indicators": {"rsi": {"period": 7}}},
        "b": {"symbol": "ETHUSDT", "indicators": {"atr": {}}},
    }
    address = url.replace("http://", "ws://") + "/ws"
    async with websockets.connect(address) as connection:
        socket = Socket(connection)
        await socket.say(type="ping")
        tally.check("WS: a ping is answered", (await socket.next_of("pong")) == {"type": "pong"})
        await socket.say(type="subscribe", symbol="NOSUCHCOIN", interval="1s", id="c")
        error = await socket.next_of("error")
        refused = (error.get("id"), error["error"]["code"]) == ("c", "unknown_symbol")
        tally.check("WS: what is wrong is said of its subscription", refused, error)
        for name, ask in asks.items():
            await socket.say(type="subscribe", id=name, interval="1s", **ask)
        told, forming = await socket.closed({"a": 2, "b": 2})
        tally.check("WS: nothing that forms comes unasked", forming == [], forming)
        await socket.say(type="subscribe", id="d", symbol="BTCUSDT", interval="1M", closedOnly=False)
        while (event := await socket.next_of("kline"))["id"] != "d":
            told[event["id"]].append(event)
        tally.check("WS: what forms comes where it is wanted", not is_closed(event), event)
        # As a broken line does: nobody says goodbye.
        connection.transport.abort()
    await asyncio.sleep(AWAY)
    async with websockets.connect(address) as connection:
        socket = Socket(connection)
        for name, ask in asks.items():
            after = told[name][-1]["candle"]["t"]
            await socket.say(type="subscribe", id=name, interval="1s", after=after, **ask)
        more, _ = await socket.closed({"a": 3, "b": 3})
        for name, series in (("a", "rsi"), ("b", "atr")):
            events = told[name] + more[name]
            times = [event["candle"]["t"] for event in events]
            tally.check(f"WS: {name} is whole", consecutive(times), times)
            values = [event["deltas"].get(series) for event in events]
            tally.check(f"WS: {series} is warm", None not in values, values)
        await socket.say(type="unsubscribe", id="a")
        tally.check("WS: a is ended", (await socket.next_of("unsubscribed"))["id"] == "a")
        later = {(await socket.next_of("kline"))["id"] for _ in range(2)}
        tally.check("WS: b goes on alone", later == {"b"}, later)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    url = parser.parse_args().url
    tally = Tally()
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
        checks = (events_resume(tally, http), batches_resume(tally, http), sockets_resume(tally, url))
        all_of_them = asyncio.gather(*checks, return_exceptions=True)
        for outcome in await asyncio.wait_for(all_of_them, PATIENCE):
            if isinstance(outcome, BaseException):
                traceback.print_exception(outcome)
                tally.check("nothing breaks", False, outcome)
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    asyncio.run(main())
