"""The archive's whole job from a chat: the Python MCP client starts `stoa mcp`, without a login.

    archive_chat.py --stoa PATH [--sample samples/complaint.pdf]

Prints what failed and, last, "N passed, M failed".
"""

import argparse
import asyncio
import json
import pathlib
import sys
import tempfile
import traceback

from mcp import Client

from mcp_client import ERAS, call, every_page, over, text
from tally import Tally

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = {"extractionMode": "standard"}


def following(result, tool):
    """The arguments of the call that a text names in its last line."""
    line = text(result).splitlines()[-1]
    assert line.startswith(f"next: {tool} "), line
    return json.loads(line.removeprefix(f"next: {tool} "))


async def refused(tally, client, label, arguments, code):
    result = await client.call_tool("arkiver_add_file", arguments)
    error = json.loads(text(result)).get("error", {}) if result.is_error else {}
    tally.check(f"{label} is {code}", error.get("code") == code, text(result))


async def job(tally, client, era, sample):
    tools = await every_page(client.list_tools, "tools")
    schemas = {tool.name: tool.output_schema for tool in tools}

    async def ask(name, arguments):
        return await call(tally, client, schemas, f"{era}: {name}", name, arguments)

    added = await ask("arkiver_add_file", {"path": str(sample), "caseId": f"Roe {era}"})
    file_id = added.get("fileId", "none")
    begun = await ask("arkiver_process_file", {"fileId": file_id, "processingSettings": SETTINGS})
    done = await ask("arkiver_job_status", {"jobId": begun.get("jobId"), "waitSeconds": 60})
    tally.check(f"{era}: the document is read", done.get("status") == "completed", done)
    listed = await ask("arkiver_list_files", {"caseId": f"Roe {era}"})
    tally.check(f"{era}: it is listed", listed.get("total") == 1, listed)
    page = await ask("arkiver_read_page", {"fileId": file_id, "page": 1})
    words = page.get("pages", [{}])[0].get("text", "")
    tally.check(f"{era}: page 1 has its words", "Jane Roe" in words or "JANE ROE" in words, page)
    query = {"filters": {"category": "deadline", "caseId": f"Roe {era}"}}
    found = await ask("arkiver_query_insights", query)
    tally.check(f"{era}: a deadline is found", found.get("total", 0) > 0, found)
    insight = found.get("insights", [{}])[0]
    for source in insight.get("sources", []):
        page = await ask("arkiver_read_page", {"fileId": file_id, "page": source["page"]})
        words = page.get("pages", [{}])[0].get("text", "")
        quote = words[source["start"]:source["end"]]
        tally.check(f"{era}: its quote is on the page", quote == source["quote"], source)
    change = {"insightId": insight.get("insightId", "none"), "title": "Answer is due", "confidence": 1}
    changed = await ask("arkiver_update_insight", change)
    by = changed.get("insight", {}).get("correctedBy")
    tally.check(f"{era}: it says who corrected it", by == "local", changed)
    result = await client.call_tool("arkiver_export", {"fileId": file_id})
    result = await client.call_tool("arkiver_export", following(result, "arkiver_export"))
    tally.check(f"{era}: the export has the correction", "Answer is due" in text(result), text(result))
    await ask("arkiver_delete_insight", {"insightId": change["insightId"]})
    await refused(tally, client, f"{era}: a folder", {"path": str(sample.parent)}, "INVALID_INPUT")
    await refused(tally, client, f"{era}: a device", {"path": "/dev/zero"}, "INVALID_INPUT")
    await refused(tally, client, f"{era}: no such path", {"path": "/no/such"}, "INVALID_INPUT")
    deleted = await ask("arkiver_delete_file", {"fileId": file_id})
    tally.check(f"{era}: it is deleted", deleted.get("success") is True, deleted)
    listed = await ask("arkiver_list_files", {"caseId": f"Roe {era}"})
    tally.check(f"{era}: nothing is left", listed.get("total") == 0, listed)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoa", required=True)
    parser.add_argument("--sample", default=str(ROOT / "samples/complaint.pdf"))
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as data:
        command = argparse.Namespace(stdio=[arguments.stoa, "--data", data, "mcp"])
        for mode, era in ERAS.items():
            try:
                async with Client(over(command), mode=mode) as client:
                    sample = pathlib.Path(arguments.sample).resolve()
                    await asyncio.wait_for(job(tally, client, era, sample), 180)
            except Exception:
                tally.check(f"{era}: runs to its end", False, traceback.format_exc())
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
