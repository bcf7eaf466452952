"""The Python MCP client through both pricing services, in both eras of the protocol.

    STOA_TOKEN=... pricing_client.py --url http://127.0.0.1:8080

Prints what failed and, last, "N passed, M failed". The token carries every scope.
"""

import argparse
import asyncio
import json
import os
import sys
import traceback
from decimal import Decimal

from mcp import Client

from mcp_client import ERAS, call, every_page, over, text
from tally import Tally

JOB_PATIENCE = 30


async def refused(tally, client, label, name, arguments, word):
    """One call that must fail in the contract's words; returns what it says."""
    result = await client.call_tool(name, arguments)
    tally.check(f"{label} is an error", bool(result.is_error), text(result))
    try:
        envelope = json.loads(text(result))
    except json.JSONDecodeError:
        envelope = {}
    holds = envelope.get("ok") is False and envelope.get("error_code") == word
    tally.check(f"{label} is {word}", holds, text(result))
    return envelope.get("message", "")


async def collected(tally, ask, era, sku):
    """The catalogue, a tick, a collection until it is done, and what the market looks like."""
    row = {"sku": sku, "name": "A lamp", "category": "lamps", "price": 20, "cost": 9}
    done = await ask("import_product_catalog", {"rows": [row, {"sku": f"{sku}-2", "price": -1}]})
    counts = [done.get(name) for name in ("count", "processed", "total_input")]
    tally.check(f"{era}: the good row is imported", counts == [1, 1, 2], done)
    tick = {"sku": sku, "our_price": 20, "competitor": "shop", "competitor_price": 18.5, "units": 3}
    await ask("ingest_tick", {"d": tick})
    named = {"sku": sku, "connector": "mock", "depth": 3}
    started = await ask("start_collection", named)
    job = {}
    for _ in range(JOB_PATIENCE * 5):
        job = (await ask("get_job_status", {"job_id": started.get("job_id", "none")})).get("job") or {}
        if job.get("status") in ("DONE", "FAILED", "CANCELLED"):
            break
        await asyncio.sleep(0.2)
    tally.check(f"{era}: the collection is done", job.get("status") == "DONE", job)
    seen = await ask("fetch_market_features", {"sku": sku})
    expected = 1 + job.get("new", 0)
    tally.check(f"{era}: every tick is in the window", seen.get("sample_count") == expected, seen)
    tally.check(f"{era}: the window is fresh", seen.get("fresh") is True, seen)


async def proposed(tally, ask, refuse, era, sku):
    """A proposal from its making to its end, and a second one that comes too late."""
    question = {"sku": sku, "our_price": 20, "competitor_price": 17.5, "cost": 9}
    first = (await ask("propose_price", question)).get("proposal", {})
    second = (await ask("propose_price", question)).get("proposal", {})
    which = {"proposal_id": first.get("proposal_id", "none")}
    told = (await ask("explain_proposal", which)).get("explanation", {})
    effects = sum(Decimal(str(factor["effect"])) for factor in told.get("factors", []))
    moved = Decimal(str(first.get("proposed_price", 0))) - Decimal(str(first.get("current_price", 0)))
    tally.check(f"{era}: the waterfall adds up", moved != 0 and effects == moved, told)
    applied = await ask("apply_proposal", which)
    again = await ask("apply_proposal", which)
    tally.check(f"{era}: applying twice is the same as once", applied == again, again)
    late = {"proposal_id": second.get("proposal_id", "none")}
    said = await refuse("apply_proposal", late, "proposal_stale")
    tally.check(f"{era}: a stale proposal names the price", "not 20" in said, said)
    reverted = await ask("revert_proposal", which)
    tally.check(f"{era}: the price is back", reverted["result"]["price"] == 20, reverted)
    await ask("cancel_proposal", late)
    listed = (await ask("list_proposals", {"sku": sku})).get("proposals", [])
    states = [proposal["status"] for proposal in listed]
    tally.check(f"{era}: both proposals have ended", states == ["cancelled", "reverted"], states)
    trail = (await ask("list_price_changes", {"sku": sku})).get("changes", [])
    deeds = [change["action"] for change in trail]
    expected = ["cancelled", "reverted", "applied", "proposed", "proposed"]
    tally.check(f"{era}: the trail has every deed", deeds == expected, deeds)
    tally.check(f"{era}: the trail names who did it", {it["by"] for it in trail} == {"e2e"}, trail)
    await refuse("apply_proposal", {"proposal_id": "nothing"}, "proposal_not_found")


async def session(tally, base, token, mode, era):
    header = argparse.Namespace(stdio=None, url=f"{base}/mcp", token=token)
    async with Client(over(header), mode=mode) as client:
        schemas = {tool.name: tool.output_schema for tool in await every_page(client.list_tools, "tools")}

        async def ask(name, arguments):
            return await call(tally, client, schemas, f"{era}: {name}", name, arguments)

        async def refuse(name, arguments, word):
            return await refused(tally, client, f"{era}: {name}", name, arguments, word)

        sku = f"E2E-{era}"
        await collected(tally, ask, era, sku)
        await proposed(tally, ask, refuse, era, sku)
    plain = argparse.Namespace(stdio=None, url=f"{base}/mcp/optimizer", token=None)
    async with Client(over(plain), mode=mode) as client:
        which = {"sku": 7}
        label = f"{era}: without a token"
        said = await refused(tally, client, label, "propose_price", which, "auth_error")
        tally.check(f"{label} it is told how to get one", "stoa token mint" in said, said)
        with_token = {"sku": f"E2E-{era}", "capability_token": token}
        label = f"{era}: with a token among the arguments"
        listed = await client.call_tool("list_proposals", with_token)
        tally.check(f"{label} it is answered", listed.structured_content["count"] == 2, listed)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each era")
    arguments = parser.parse_args()
    tally = Tally()
    for mode, version in ERAS.items():
        try:
            run = session(tally, arguments.url, os.environ["STOA_TOKEN"], mode, version)
            await asyncio.wait_for(run, arguments.timeout)
        except Exception:
            tally.check(f"{version}: runs to its end", False, traceback.format_exc())
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
