"""The same lookup as `quotes_live`, written the way FastMCP's guide shows, over HTTP or stdio.

Usage: fastmcp_server.py QUOTES_FILE [PORT]    (stdio without a port)

It is given every advantage it offers: an async tool, no sessions, plain JSON answers, no banner, no
access log.
"""

import json
import sys
from typing import Annotated

from fastmcp import FastMCP
from pydantic import Field
from typing_extensions import TypedDict


class Quote(TypedDict):
    ticker: str
    price: str
    currency: str
    as_of: str
    volume: int | None


class Live(TypedDict):
    quotes: list[Quote]
    request_id: str | None
    source_status: int


with open(sys.argv[1], encoding="utf-8") as file:
    QUOTES: dict[str, Quote] = {row["ticker"]: row for row in json.load(file)}

mcp = FastMCP("quotes")


@mcp.tool(description="Fetch latest quotes (snapshots) for up to 50 tickers.")
async def quotes_live(
    tickers: Annotated[list[str], Field(min_length=1, max_length=50)],
) -> Live:
    found = [QUOTES[name] for name in (ticker.upper() for ticker in tickers) if name in QUOTES]
    status = 200 if len(found) == len(tickers) else 206
    return {"quotes": found, "request_id": None, "source_status": status}


if __name__ == "__main__":
    if len(sys.argv) > 2:
        mcp.run(
            transport="http",
            host="127.0.0.1",
            port=int(sys.argv[2]),
            path="/mcp",
            stateless_http=True,
            json_response=True,
            show_banner=False,
            log_level="error",
            uvicorn_config={"access_log": False},
        )
    else:
        mcp.run(transport="stdio", show_banner=False, log_level="error")
