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

import jsonschema
from mcp import Client, MCPError, StdioServerParameters

# How the client is told to connect, and the version that must come of it.
ERAS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
TOOLS = ["quotes_live", "quotes_historical", "system_health", "system_metadata"]
TICKER = "BTCUSDT"


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, name, holds, told=None):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {told}", file=sys.stderr)
        return holds


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
        jsonschema.validate(content, schemas[name.replace(".", "_")])
        tally.check(f"{label} fits its schema", True)
    except jsonschema.ValidationError as error:
        tally.check(f"{label} fits its schema", False, error.message)
    tally.check(f"{label} has a text", text(result) != "")
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


async def session(tally, server, mode, version):
    async with Client(server, mode=mode) as client:
        era = version
        tally.check(f"{era}: negotiated", client.protocol_version == version, client.protocol_version)
        tally.check(f"{era}: names itself", client.server_info.name == "stoa", client.server_info)
        told = client.instructions or ""
        tally.check(f"{era}: says where to begin", "quotes_live" in told, told)
        tools = await every_page(client.list_tools, "tools")
        names = [tool.name for tool in tools]
        missing = [name for name in TOOLS if name not in names]
        tally.check(f"{era}: lists the tools", not missing, names)
        odd = [name for name in names if not re.fullmatch("[a-z][a-z0-9_]{0,39}", name)]
        tally.check(f"{era}: lists only names that hosts accept", not odd, odd)
        schemas = {tool.name: tool.output_schema for tool in tools}
        await successes(tally, client, schemas, era)
        await failures(tally, client, era)
        await resources(tally, client, era)


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
