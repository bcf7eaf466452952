"""A newcomer's way through the archive: over HTTP, and with the Python MCP client in both eras.

    archive_client.py --url http://127.0.0.1:8080 [--stoa PATH --data DIR]

Registers users of its own, so registration has to be open, as it is on loopback. With --stoa it
also mints tokens. Prints what failed and, last, "N passed, M failed".
"""

import argparse
import asyncio
import json
import os
import sys
import traceback

from mcp import Client

import archive_papers as papers
from archive_files import again, deleted, grounded, processed, told, uploaded, versioned
from archive_http import CASE, NOBODY, Door
from archive_insights import TESTS, asked, tested
from archive_mistakes import cancelled, edges, limited, mistaken
from archive_papers import CORRUPTED, FAITHFUL
from archive_people import minted, refreshed, shared, signed_in, stolen, unknown
from archive_tasks import followed
from mcp_client import ERAS, call, every_page, over, text
from tally import Tally

TOOLS = [
    "arkiver_process_file",
    "arkiver_job_status",
    "arkiver_store_insight",
    "arkiver_query_insights",
    "arkiver_integrity_test",
    "arkiver_auth",
    "arkiver_add_file",
    "arkiver_read_page",
    "arkiver_update_insight",
    "arkiver_list_files",
    "arkiver_delete_file",
]


async def refused_call(tally, client, label, code, name, arguments, meta=None):
    result = await client.call_tool(name, arguments, meta=meta)
    tally.check(f"{label} is an error", bool(result.is_error), text(result))
    try:
        error = json.loads(text(result)).get("error", {})
    except json.JSONDecodeError:
        error = {}
    tally.check(f"{label} is {code}", error.get("code") == code, text(result))
    return error


async def stranger(tally, client, door, schemas, era):
    """Without a token only `auth` answers; the token it gives goes into the context."""
    fast = {"extractionMode": "fast"}
    every = {
        "arkiver_process_file": {"fileId": NOBODY, "processingSettings": fast},
        "arkiver_job_status": {"jobId": NOBODY},
        "arkiver_store_insight": {"fileId": NOBODY, "insight": FAITHFUL},
        "arkiver_query_insights": {},
        "arkiver_integrity_test": {"testType": "bias", "llmSource": "local", "fileId": NOBODY},
    }
    for name, arguments in every.items():
        label = f"{era}: {name} without a token"
        await refused_call(tally, client, label, "AUTHENTICATION_FAILED", name, arguments)
    who = {"username": f"mia-{os.urandom(4).hex()}", "password": "a long enough password"}
    ask = {"action": "register", **who}
    given = await call(tally, client, schemas, f"{era}: register", "auth", ask)
    ask = {"action": "login", **who}
    given = await call(tally, client, schemas, f"{era}: login", "auth", ask) or given
    token = given.get("token", "none")
    context = {"auth": {"token": token}}
    result = await client.call_tool("arkiver_query_insights", {}, meta=context)
    tally.check(f"{era}: the token in the context opens", not result.is_error, text(result))
    label = f"{era}: a made-up token in the context"
    bad = {"auth": {"token": "made up"}}
    name = "arkiver_query_insights"
    await refused_call(tally, client, label, "AUTHENTICATION_FAILED", name, {}, bad)
    await lasting(tally, client, era)
    given = await call(tally, client, schemas, f"{era}: login again", "auth", ask)
    return door.as_user(given.get("token", "none"))


async def lasting(tally, client, era):
    """A session is logged in until its logout; a request without a session never is."""
    name = "arkiver_query_insights"
    label = f"{era}: after the login"
    if era != ERAS["legacy"]:
        await refused_call(tally, client, label, "AUTHENTICATION_FAILED", name, {})
        return
    result = await client.call_tool(name, {})
    tally.check(f"{label} the session needs no token", not result.is_error, text(result))
    await client.call_tool("auth", {"action": "logout"})
    label = f"{era}: after the logout"
    await refused_call(tally, client, label, "AUTHENTICATION_FAILED", name, {})


async def session(tally, base, mode, era):
    door = Door(base, tally)
    plain = argparse.Namespace(stdio=None, url=f"{base}/mcp", token=None)
    async with Client(over(plain), mode=mode) as client:
        tools = await every_page(client.list_tools, "tools")
        names = [tool.name for tool in tools]
        missing = [name for name in TOOLS if name not in names]
        tally.check(f"{era}: lists the tools of the contract", not missing, names)
        known = {*TOOLS, "arkiver_search_documents"}
        extra = [name for name in names if name.startswith("arkiver_") and name not in known]
        tally.check(f"{era}: lists no others", not extra, extra)
        schemas = {tool.name: tool.output_schema for tool in tools}
        mia = await stranger(tally, client, door, schemas, era)
    made_up = argparse.Namespace(stdio=None, url=f"{base}/mcp", token="stoa1_made-up")
    async with Client(over(made_up), mode=mode) as client:
        await barred(tally, client, schemas, era)
    header = argparse.Namespace(stdio=None, url=f"{base}/mcp", token=mia.token)
    async with Client(over(header), mode=mode) as client:
        await elsewhere(tally, client, era)
        await matter(tally, client, mia, schemas, era)


async def barred(tally, client, schemas, era):
    """A header that does not hold keeps nobody from signing in."""
    label = f"{era}: a made-up token in the header"
    name = "arkiver_query_insights"
    await refused_call(tally, client, label, "AUTHENTICATION_FAILED", name, {})
    who = {"username": f"lou-{os.urandom(4).hex()}", "password": "a long enough password"}
    for action in ["register", "login"]:
        ask = {"action": action, **who}
        given = await call(tally, client, schemas, f"{label}: {action}", "auth", ask)
    context = {"auth": {"token": given.get("token", "none")}}
    result = await client.call_tool(name, {}, meta=context)
    tally.check(f"{label}: the token in the context opens", not result.is_error, text(result))


async def matter(tally, client, mia, schemas, era):
    """A file through all tools of the contract, as a model would use them."""

    async def ask(name, arguments):
        return await call(tally, client, schemas, f"{era}: {name}", name, arguments)

    async def refuse(name, arguments, code):
        label = f"{era}: {name}, {code}"
        return await refused_call(tally, client, label, code, name, arguments)

    kept = await asyncio.to_thread(mia.upload, f"{era}: upload", "brief.pdf", papers.pdf())
    file_id = kept.get("fileId", "none")
    for extraction in ["fast", "standard", "deep"]:
        settings = {"extractionMode": extraction, "caseId": CASE}
        process = {"fileId": file_id, "processingSettings": settings}
        begun = await ask("arkiver_process_file", process)
        job = await polled(tally, client, ask, era, begun.get("jobId", "none"), extraction)
        insights = job.get("result", {}).get("insights", [])
        tally.check(f"{era}: {extraction} finds something", len(insights) > 5, job)
        label = f"{era}: {extraction}"
        await asyncio.to_thread(grounded, tally, mia, label, kept, insights)
    stored = {}
    for name, insight in [("faithful", FAITHFUL), ("corrupted", CORRUPTED)]:
        made = await ask("arkiver_store_insight", {"fileId": file_id, "insight": insight})
        stored[name] = made.get("insightId", "none")
    query = {
        "filters": {"keywords": "complaint price", "caseId": CASE, "tags": ["pleadings"]},
        "sort": {"field": "confidence", "order": "desc"},
        "pagination": {"limit": 1, "offset": 0},
    }
    found = await ask("arkiver_query_insights", query)
    tally.check(f"{era}: the total is exact", found.get("total") == 2, found)
    first = [it["insightId"] for it in found.get("insights", [])]
    tally.check(f"{era}: the surest is first", first == [stored["faithful"]], found)
    tally.check(f"{era}: there is more", found.get("pagination", {}).get("hasMore") is True, found)
    for test in TESTS:
        both = {"testType": test, "llmSource": "local", "insightIds": list(stored.values())}
        answer = await ask("arkiver_integrity_test", both)
        judged = answer.get("results", {}).get("insightsTested")
        tally.check(f"{era}: {test} judges both", judged == 2, answer)
        if test == "fact_check":
            details = answer.get("results", {}).get("details", [])
            verdicts = {it["insightId"]: it["status"] for it in details}
            expected = {stored["faithful"]: "passed", stored["corrupted"]: "failed"}
            tally.check(f"{era}: fact_check tells them apart", verdicts == expected, details)
    every = {"testType": "bias", "llmSource": "local", "insightIds": [], "fileId": file_id}
    answer = await ask("arkiver_integrity_test", every)
    many = answer.get("results", {}).get("insightsTested", 0)
    tally.check(f"{era}: no ids mean the whole file", many > 2, answer)
    model = {"testType": "bias", "llmSource": "gpt-4", "fileId": file_id}
    await refuse("arkiver_integrity_test", model, "INVALID_INPUT")
    process["fileId"] = NOBODY
    await refuse("arkiver_process_file", process, "FILE_NOT_FOUND")
    await refuse("arkiver_job_status", {"jobId": NOBODY}, "JOB_NOT_FOUND")
    await refuse("arkiver_store_insight", {"fileId": file_id}, "INVALID_INPUT")
    await refuse("auth", {"action": "login"}, "INVALID_INPUT")
    tells = {"action": "refresh", "refreshToken": "made up"}
    await refuse("auth", tells, "AUTHENTICATION_FAILED")
    await asyncio.to_thread(mia.good, f"{era}: delete", "delete_file", "DELETE", f"files/{file_id}")
    found = await ask("arkiver_query_insights", {"filters": {"keywords": "complaint"}})
    tally.check(f"{era}: nothing is left", found.get("total") == 0, found)


async def elsewhere(tally, client, era):
    """A user's token opens the archive and nothing else."""
    result = await client.call_tool("propose_price", {"sku": "none"})
    tally.check(f"{era}: a user's token prices nothing", bool(result.is_error), text(result))
    tally.check(f"{era}: and it is told why", "auth" in text(result), text(result))


async def polled(tally, client, ask, era, job_id, extraction):
    """Asked again and again as the contract says, and by waiting; with progress on the way."""
    label = f"{era}: {extraction}"
    if extraction == "fast":
        job = {}
        for _ in range(100):
            job = await ask("arkiver_job_status", {"jobId": job_id})
            if job.get("status") not in ("queued", "processing"):
                break
            await asyncio.sleep(0.2)
    else:
        heard = []

        async def progress(done, total, message):
            heard.append(done)

        arguments = {"jobId": job_id, "waitSeconds": 30}
        result = await client.call_tool("arkiver_job_status", arguments, progress_callback=progress)
        job = result.structured_content or {}
        tally.check(f"{label}: progress only grows", heard == sorted(set(heard)), heard)
        tally.check(f"{label}: progress is heard", heard != [], heard)
    tally.check(f"{label} is completed", job.get("status") == "completed", job)
    tally.check(f"{label} is at 100", job.get("progress") == 100, job)
    return job


def over_http(tally, arguments):
    door = Door(arguments.url, tally)
    ann = signed_in(tally, door)
    fay = refreshed(tally, door)
    unknown(door)
    kept = uploaded(tally, ann)
    told(tally, ann, kept)
    ends = processed(tally, ann, kept)
    again(tally, ann, kept, ends)
    stored = asked(tally, ann, kept, ends)
    tested(tally, ann, kept, stored)
    shared(tally, door, ann, kept)
    for part in [mistaken, edges, limited, cancelled, versioned]:
        attempted(tally, part.__name__, part, tally, door)
    deleted(tally, ann, kept)
    if arguments.stoa:
        minted(tally, door, arguments)
    stolen(tally, door, fay)


def attempted(tally, name, part, *rest):
    try:
        return part(*rest)
    except Exception:
        tally.check(f"{name} runs to its end", False, traceback.format_exc())


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--stoa", help="the binary, to mint tokens with")
    parser.add_argument("--data", help="the server's data folder")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for each era")
    arguments = parser.parse_args()
    tally = Tally()
    attempted(tally, "HTTP", over_http, tally, arguments)
    try:
        await asyncio.wait_for(followed(tally, Door(arguments.url, tally)), arguments.timeout)
    except Exception:
        tally.check("tasks run to their end", False, traceback.format_exc())
    for mode, version in ERAS.items():
        try:
            run = session(tally, arguments.url, mode, version)
            await asyncio.wait_for(run, arguments.timeout)
        except Exception:
            tally.check(f"{version}: runs to its end", False, traceback.format_exc())
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
