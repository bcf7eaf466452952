"""The Python MCP client against a running Stoa, in both eras of the protocol.

    mcp_client.py --url http://127.0.0.1:8080/mcp [--token TOKEN]
    mcp_client.py --stdio target/debug/stoa mcp

Prints what failed and, last, "N passed, M failed". scripts/e2e-tools installs what it needs.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import sys
import traceback
import warnings

import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ResourceTemplateReference

from tally import Tally

# How the client is told to connect, and the version that must come of it.
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
TOOLS = ["quotes_live", "quotes_historical"]
# Operator tools, which are listed only on request.
UNLISTED = ["system_health", "system_metadata"]
TICKER = "BTCUSDT"


def text(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def every_page(fetch, items):
    found, cursor = [], None
    for _ in range(1000):
        page = await fetch(cursor=cursor)
        found.extend(getattr(page, items))
        cursor = page.next_cursor
        if cursor is None:
            return found
    raise RuntimeError("the pages never end")


async def call(tally, client, schemas, label, name, arguments):
    """One call that must succeed, its result held against the listed output schema."""
    result = await client.call_tool(name, arguments)
    if not tally.check(f"{label} succeeds", not result.is_error, text(result)):
        return {}
    content = result.structured_content
    try:
        jsonschema.validate(content, schemas.get(name.replace(".", "_"), {}))
        tally.check(f"{label} fits its schema", True)
    except jsonschema.ValidationError as error:
        tally.check(f"{label} fits its schema", False, error.message)
    tally.check(f"{label} has a text", text(result) != "")
    # About 8,000 tokens; the structured content is whole.
    tally.check(f"{label} has a text that fits a model", len(text(result).encode()) < 32_000)
    return content or {}


async def refused(tally, client, label, name, arguments, kind):
    """One call that must fail in the contract's words, without structured content."""
    result = await client.call_tool(name, arguments)
    tally.check(f"{label} is an error", bool(result.is_error), text(result))
    tally.check(f"{label} has no structured content", result.structured_content is None)
    try:
        envelope = json.loads(text(result))
    except json.JSONDecodeError:
        envelope = {}
    tally.check(f"{label} is {kind}", envelope.get("type") == kind, text(result))


async def successes(tally, client, schemas, era):
    for name in ["quotes_live", "quotes.live"]:
        label = f"{era}: {name}"
        live = await call(tally, client, schemas, label, name, {"tickers": [TICKER]})
        tickers = [quote["ticker"] for quote in live.get("quotes", [])]
        tally.check(f"{label} answers for its ticker", tickers == [TICKER], live)
    window = {"tickers": [TICKER], "from": "2025-01-01", "to": "2025-01-10", "interval": "1d"}
    label = f"{era}: quotes_historical"
    bars = await call(tally, client, schemas, label, "quotes_historical", window)
    tally.check(f"{label} has every day", bars.get("total") == 10, bars.get("total"))
    page = {**window, "page": 2, "page_size": 4}
    bars = await call(tally, client, schemas, f"{label}, page 2", "quotes_historical", page)
    tally.check(f"{label}, page 2 has its size", len(bars.get("items", [])) == 4, bars)
    health = await call(tally, client, schemas, f"{era}: system_health", "system_health", {})
    tally.check(f"{era}: healthy", health.get("status") in ("ok", "degraded"), health)
    label = f"{era}: system_metadata"
    limits = await call(tally, client, schemas, label, "system_metadata", {})
    tally.check(f"{label} tells the limits", limits.get("max_tickers_per_request") == 50, limits)


async def failures(tally, client, era):
    day = {"tickers": [TICKER], "from": "2025-01-02", "to": "2025-01-03", "interval": "1d"}
    bad = {
        "a wrong type": ("quotes_live", {"tickers": TICKER}),
        "an unknown field": ("quotes_live", {"tickers": [TICKER], "limit": 5}),
        "51 tickers": ("quotes_live", {"tickers": [f"T{at}" for at in range(51)]}),
        "no arguments": ("quotes_live", None),
        "reversed dates": ("quotes_historical", {**day, "from": "2025-01-04"}),
        "page 0": ("quotes_historical", {**day, "page": 0}),
        "page_size 201": ("quotes_historical", {**day, "page_size": 201}),
    }
    for what, (name, arguments) in bad.items():
        await refused(tally, client, f"{era}: {what}", name, arguments, "VALIDATION_ERROR")
    try:
        answer = await client.call_tool("quotes_latest", {})
        tally.check(f"{era}: an unknown tool is a protocol error", False, answer)
    except MCPError as error:
        tally.check(f"{era}: an unknown tool is -32602", error.error.code == -32602, error)


async def resources(tally, client, era):
    listed = await every_page(client.list_resources, "resources")
    uris = [str(resource.uri) for resource in listed]
    for uri in ["stoa://quotes/contract", "stoa://quotes/manifest"]:
        if tally.check(f"{era}: {uri} is listed", uri in uris, uris):
            read = await client.read_resource(uri)
            json.loads(read.contents[0].text)
            tally.check(f"{era}: {uri} reads", True)
    try:
        answer = await client.read_resource("stoa://quotes/nothing")
        tally.check(f"{era}: a missing resource is an error", False, answer)
    except MCPError:
        tally.check(f"{era}: a missing resource is an error", True)


def opening_times(result):
    return [event["candle"]["t"] for event in result.get("events", [])]


async def followed(tally, client, schemas, era):
    """Live candles by calls: bounded, continued without gap or repeat, heard while they run."""
    second = {"symbol": TICKER, "interval": "1s"}
    label = f"{era}: stream_klines"
    first = await call(tally, client, schemas, label, "stream_klines", {**second, "maxEvents": 3})
    tally.check(f"{label} ends with its events", first.get("ended") == "maxEvents", first)
    more = {**second, "maxEvents": 2, "after": first.get("resumeAfter", 0)}
    label = f"{label}, continued"
    second_part = await call(tally, client, schemas, label, "stream_klines", more)
    times = opening_times(first) + opening_times(second_part)
    steps = {later - sooner for sooner, later in zip(times, times[1:])}
    tally.check(f"{label} has no gap and no repeat", len(times) == 5 and steps == {1000}, times)

    reports, enough = [], asyncio.Event()

    async def heard(progress, total, message):
        reports.append((progress, json.loads(message)["type"]))
        if [kind for _, kind in reports].count("kline") == 3:
            enough.set()

    label = f"{era}: stream_klines with progress"
    endless = {**second, "maxEvents": 1000}
    calling = asyncio.create_task(client.call_tool("stream_klines", endless, progress_callback=heard))
    try:
        # The call would take a quarter of an hour, so what is heard now is heard while it runs.
        await asyncio.wait_for(enough.wait(), 60)
        tally.check(f"{label} is heard while it runs", not calling.done(), reports)
    except asyncio.TimeoutError:
        tally.check(f"{label} is heard while it runs", False, reports)
    numbers = [progress for progress, _ in reports]
    tally.check(f"{label} goes on and on", numbers == sorted(set(numbers)), numbers)
    calling.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await calling
    tools = await client.list_tools()
    tally.check(f"{label} can be given up", tools.tools != [])


async def refused_resource(tally, client, era, uri):
    try:
        answer = await client.read_resource(uri)
        tally.check(f"{era}: {uri} is not there", False, answer)
    except MCPError as error:
        code = -32602 if era >= "2026" else -32002
        tally.check(f"{era}: {uri} is {code}", error.error.code == code, error)
        told = (error.error.data or {}).get("uri")
        tally.check(f"{era}: {uri} is named in its refusal", told == uri, error.error.data)


async def watched(tally, client, era, updates):
    """Candles as resources: listed, read, and told of when they change."""
    templates = await every_page(client.list_resource_templates, "resource_templates")
    listed = [template.uri_template for template in templates]
    tally.check(f"{era}: klines are a family", "klines://{symbol}/{interval}" in listed, listed)
    for uri in [f"klines://{TICKER}/1m", f"klines://BINANCE%3A{TICKER}/1m"]:
        read = await client.read_resource(uri)
        candles = json.loads(read.contents[0].text).get("candles", [])
        tally.check(f"{era}: {uri} has candles", len(candles) == 100, len(candles))
    family = ResourceTemplateReference(type="ref/resource", uri="klines://{symbol}/{interval}")
    for name, typed, expected in [("symbol", TICKER[:5].lower(), TICKER), ("interval", "1", "1s")]:
        found = await client.complete(family, {"name": name, "value": typed})
        values = found.completion.values
        tally.check(f"{era}: {typed} may become {expected}", expected in values, values)
    for uri in ["klines://NOSUCHCOIN/1m", f"klines://{TICKER}/7x", f"klines://{TICKER}"]:
        await refused_resource(tally, client, era, uri)

    uri = f"klines://{TICKER}/1s"
    label = f"{era}: {uri} tells of its changes"
    changes = listened(client, uri, 3) if era >= "2026" else subscribed(client, uri, 3, updates)
    try:
        await asyncio.wait_for(changes, 60)
        tally.check(label, True)
    except Exception:
        tally.check(label, False, traceback.format_exc())


async def listened(client, uri, times):
    async with client.listen(resource_subscriptions=[uri]) as changes:
        async for change in changes:
            times -= change.uri == uri
            if times == 0:
                return


async def subscribed(client, uri, times, updates):
    with warnings.catch_warnings():
        # The client discourages what only the older protocol has.
        warnings.simplefilter("ignore")
        await client.subscribe_resource(uri)
        while times > 0:
            times -= await updates.get() == uri
        await client.unsubscribe_resource(uri)


async def session(tally, server, mode, version):
    updates = asyncio.Queue()

    async def on_message(message):
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            updates.put_nowait(str(uri))

    async with Client(server, mode=mode, message_handler=on_message) as client:
        era = version
        tally.check(f"{era}: negotiated", client.protocol_version == version, client.protocol_version)
        tally.check(f"{era}: names itself", client.server_info.name == "stoa", client.server_info)
        told = client.instructions or ""
        tally.check(f"{era}: says where to begin", "quotes_live" in told, told)
        tools = await every_page(client.list_tools, "tools")
        names = [tool.name for tool in tools]
        missing = [name for name in TOOLS if name not in names]
        tally.check(f"{era}: lists the tools", not missing, names)
        extra = [name for name in UNLISTED if name in names]
        tally.check(f"{era}: lists no operator tools", not extra, names)
        odd = [name for name in names if not re.fullmatch("[a-z][a-z0-9_]{0,39}", name)]
        tally.check(f"{era}: lists only names that hosts accept", not odd, odd)
        schemas = {tool.name: tool.output_schema for tool in tools}
        prompts = [prompt.name for prompt in await every_page(client.list_prompts, "prompts")]
        tally.check(f"{era}: has prompts", "market_brief" in prompts, prompts)
        brief = await client.get_prompt("market_brief", {"symbol": TICKER})
        tally.check(f"{era}: fills a prompt in", TICKER in brief.messages[0].content.text, brief)
        await successes(tally, client, schemas, era)
        await failures(tally, client, era)
        await resources(tally, client, era)
        await followed(tally, client, schemas, era)
        await watched(tally, client, era, updates)


def over(arguments):
    """What the client connects to; made afresh for each connection."""
    if arguments.stdio:
        command, *rest = arguments.stdio
        # The client would pass on only a few variables, and the server is configured by them.
        return StdioServerParameters(command=command, args=rest, env=dict(os.environ))
    if arguments.token:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        headers = {"authorization": f"Bearer {arguments.token}"}
        http = httpx2.AsyncClient(headers=headers, timeout=30)
        return streamable_http_client(arguments.url, http_client=http)
    return arguments.url


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url")
    where.add_argument("--stdio", nargs=argparse.REMAINDER, metavar="COMMAND")
    parser.add_argument("--token", help="sent as a bearer token, with --url")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each era")
    arguments = parser.parse_args()
    tally = Tally()
    for mode, version in ERAS.items():
        try:
            run = session(tally, over(arguments), mode, version)
            await asyncio.wait_for(run, arguments.timeout)
        except Exception:
            tally.check(f"{version}: runs to its end", False, traceback.format_exc())
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(asyncio.run(main()))
