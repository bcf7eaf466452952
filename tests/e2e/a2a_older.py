"""The agent card as clients of A2A 0.3 read it, with a2a-sdk 0.3.26.

    a2a_older.py --url http://127.0.0.1:8080

Several frameworks still install that version. It reads who the agent is and where it answers; the
protocol itself is 1.0. Prints what failed and, last, "N passed, M failed".
"""

import argparse
import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver

PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"]


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    base = parser.parse_args().url
    passed, failed = 0, 0

    def check(name, holds, told=None):
        nonlocal passed, failed
        passed += bool(holds)
        failed += not holds
        if not holds:
            print(f"FAILED {name}: {told}", file=sys.stderr)

    async with httpx.AsyncClient(timeout=30) as http:
        for path in PATHS:
            try:
                card = await A2ACardResolver(http, base, agent_card_path=path).get_agent_card()
            except Exception as error:
                check(f"{path} is read", False, error)
                continue
            check(f"{path} is read", True)
            check(f"{path} has an address here", card.url.startswith(base), card.url)
            check(f"{path} names its transport", card.preferred_transport == "JSONRPC", card)
            others = [interface.transport for interface in card.additional_interfaces or []]
            check(f"{path} lists both bindings", set(others) == {"JSONRPC", "HTTP+JSON"}, others)
            check(f"{path} says how to sign in", "bearer" in (card.security_schemes or {}), card)
            check(f"{path} has skills", len(card.skills) > 0, card)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
