"""A matter's files through the archive: sent, read, told, and gone."""

import json
import os
import time

import archive_papers as papers
from archive_http import CASE, NOBODY, form, sha256
from archive_papers import FAITHFUL


def uploaded(tally, ann):
    """Files of several types, one of them twice, two at once, and how far an upload is."""
    about = {"caseId": CASE, "tags": ["brief"], "description": "The brief as it was filed"}
    kept = {}
    kinds = {
        "brief.pdf": (papers.pdf(), "application/pdf"),
        "brief.docx": (
            papers.docx(),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        "brief.txt": (papers.plain(), "text/plain"),
        "letter.eml": (papers.eml(), "message/rfc822"),
    }
    for name, (content, mime) in kinds.items():
        answer = ann.upload(f"upload {name}", name, content, about)
        tally.check(f"{name} is {mime}", answer.get("mimeType", "").startswith(mime), answer)
        told = {field: answer.get(field) for field in about}
        tally.check(f"{name} keeps its metadata", told == about, answer)
        kept[name] = {**answer, "content": content}
    again = ann.upload("the same content", "copy.pdf", kinds["brief.pdf"][0])
    tally.check("the same content is kept once", again.get("storedBefore") is True, again)
    other = again.get("fileId") not in (None, kept["brief.pdf"].get("fileId"))
    tally.check("the same content is a file of its own", other, again)
    kept["copy.pdf"] = again
    batch = form([("one.md", b"# One\n\nA note.\n"), ("two.txt", b"Another note.\n")])
    named = {"X-Upload-Id": f"up-{os.urandom(4).hex()}"}
    answer = ann.good("two at once", "upload", "POST", "upload", batch, named)
    names = [file.get("fileName") for file in answer.get("files", [])]
    tally.check("both are told", names == ["one.md", "two.txt"], answer)
    far = ann.good("progress", "upload_progress", "GET", f"uploads/{named['X-Upload-Id']}")
    tally.check("progress says it is done", far.get("done") is True, far)
    tally.check("progress names the files", len(far.get("files", [])) == 2, far)
    return kept


def told(tally, ann, kept):
    """File status, the list, and the bytes as they were sent."""
    for name in ["brief.pdf", "brief.docx", "brief.txt"]:
        file_id = kept[name].get("fileId", "none")
        file = ann.good(f"status of {name}", "file_status", "GET", f"files/{file_id}")["file"]
        tally.check(f"{name} waits to be processed", file.get("status") == "uploaded", file)
        status, head, raw = ann.ask("GET", f"files/{file_id}/content")
        same = status == 200 and raw == kept[name]["content"]
        tally.check(f"{name} comes back as it was sent", same, (status, raw[:100]))
        safe = "attachment" in head.get("Content-Disposition", "")
        tally.check(f"{name} comes as an attachment", safe, head.items())
    listed = ann.good("list", "list_files", "GET", "files")
    tally.check("the list has all files", listed.get("total") == 7, listed.get("total"))
    of_case = ann.good("list of a case", "list_files", "GET", "files?caseId=Harlow%20v.%20Pike")
    tally.check("the case has its files", of_case.get("total") == 4, of_case.get("total"))
    page = ann.good("a page of the list", "list_files", "GET", "files?limit=3&offset=6")
    tally.check("the last page is short", len(page.get("files", [])) == 1, page)
    more = page.get("pagination", {}).get("hasMore")
    tally.check("the last page has no more", more is False, page)
    ann.refused("a limit of 0", "INVALID_INPUT", "GET", "files?limit=0")
    ann.refused("an unknown status", "INVALID_INPUT", "GET", "files?status=lost")


def grounded(tally, ann, label, file, insights):
    """Every source must be in the exported page, character for character."""
    status, _, raw = ann.ask("GET", f"files/{file.get('fileId')}/export")
    if not tally.check(f"{label}: export is 200", status == 200, (status, raw[:200])):
        return {}
    export = json.loads(raw)
    pages = {page["page"]: page["text"] for page in export["pages"]}
    sources = [source for insight in insights for source in insight.get("sources", [])]
    wrong = [
        source
        for source in sources
        if pages.get(source["page"], "")[source["start"] : source["end"]] != source["quote"]
        or source["fileHash"] != file.get("sha256")
        or not source["quote"]
    ]
    tally.check(f"{label}: there are sources", sources != [], insights)
    tally.check(f"{label}: every quote is where it says", not wrong, wrong[:3])
    found = [it for it in insights if it.get("category") != "summary"]
    bare = [it["title"] for it in found if "sources" not in it]
    tally.check(f"{label}: every finding has a source", not bare, bare[:3])
    dumb = [it["title"] for it in insights if not it.get("confidenceMeaning")]
    tally.check(f"{label}: confidence has a meaning", not dumb, dumb[:3])
    return export


def understood(tally, label, insights):
    """What the papers say is among what was found."""
    by_kind = {}
    for insight in insights:
        words = f"{insight['title']} {insight['content']} {' '.join(insight['citations'])}"
        by_kind.setdefault(insight.get("category"), []).append(words)
    said = lambda kind: "\n".join(by_kind.get(kind, []))
    tally.check(f"{label}: a summary", "summary" in by_kind, list(by_kind))
    for authority in papers.AUTHORITIES:
        cite = authority.split(", ")[1]
        tally.check(f"{label}: {cite}", cite in said("citation"), said("citation"))
    tally.check(f"{label}: the docket", papers.DOCKET in said("case_number"), said("case_number"))
    for kind, surname in [("party", "Harlow"), ("party", "Pike"), ("judge", "Tolliver")]:
        found = surname.lower() in said(kind).lower()
        tally.check(f"{label}: {surname}, a {kind}", found, said(kind))
    tally.check(f"{label}: the attorney", "Yates" in said("attorney"), said("attorney"))
    tally.check(f"{label}: the court", "wayne" in said("court").lower(), said("court"))


def in_time(tally, label, insights):
    kinds = [insight.get("category") for insight in insights]
    told = "\n".join(f"{it['title']} {it['content']}" for it in insights)
    tally.check(f"{label}: events", "event" in kinds, kinds)
    tally.check(f"{label}: a deadline", "deadline" in kinds, kinds)
    computed = any(day in told for day in ("2024-04-01", "April 1, 2024"))
    tally.check(f"{label}: the deadline's day is computed", computed, told)
    tally.check(f"{label}: the price", papers.PRICE in told or "48,500" in told, told)


def processed(tally, ann, kept):
    """All three modes; what they find is in the source and tells the matter."""
    ends = {}
    for mode, name in [("fast", "brief.txt"), ("standard", "brief.pdf"), ("deep", "brief.docx")]:
        label = f"{mode} on {name}"
        file = kept[name]
        job = ann.processed(label, file.get("fileId", "none"), mode)
        tally.check(f"{label}: completed", job.get("status") == "completed", job)
        tally.check(f"{label}: all of it", job.get("progress") == 100, job.get("progress"))
        result = job.get("result", {})
        insights = result.get("insights", [])
        meta = result.get("metadata", {})
        tally.check(f"{label}: it tells its mode", meta.get("extractionMode") == mode, meta)
        tally.check(f"{label}: words are counted", meta.get("wordCount", 0) > 100, meta)
        tally.check(f"{label}: it took its time", meta.get("processingTime", -1) >= 0, meta)
        tally.check(f"{label}: by somebody", bool(meta.get("processorsUsed")), meta)
        total = result.get("insightsTotal")
        tally.check(f"{label}: they are counted", total == len(insights), (total, len(insights)))
        export = grounded(tally, ann, label, file, insights)
        exported = {insight["insightId"] for insight in export.get("insights", [])}
        same = exported == {insight["insightId"] for insight in insights}
        tally.check(f"{label}: the export has the same insights", same, len(exported))
        understood(tally, label, insights)
        if mode != "fast":
            in_time(tally, label, insights)
        status = ann.good(f"{label}: status", "file_status", "GET", f"files/{file['fileId']}")
        after = status.get("file", {})
        tally.check(f"{label}: processed", after.get("status") == "processed", after)
        tally.check(f"{label}: its job is named", after.get("processingJobId") == job.get("jobId"))
        tally.check(f"{label}: insights are counted", after.get("insightCount") == total, after)
        ends[name] = job
    pages = ends["brief.pdf"].get("result", {}).get("metadata", {}).get("pageCount")
    tally.check("the PDF has its pages", pages == len(papers.PAGES), pages)
    job = ann.processed("a letter", kept["letter.eml"].get("fileId", "none"))
    insights = job.get("result", {}).get("insights", [])
    grounded(tally, ann, "a letter", kept["letter.eml"], insights)
    parts = {source.get("part") for it in insights for source in it.get("sources", [])}
    tally.check("a letter: its attachment is read", "brief.pdf" in parts, parts)
    return ends


def again(tally, ann, kept, ends):
    """Settings do what they say, and processing again replaces what processing made."""
    file_id = kept["brief.txt"].get("fileId", "none")
    off = {"extractCitations": False, "extractEntities": False, "extractTimeline": False}
    job = ann.processed("nothing wanted", file_id, "standard", **off, categories=["closed"])
    insights = job.get("result", {}).get("insights", [])
    kinds = {insight.get("category") for insight in insights}
    tally.check("nothing wanted, nothing but a summary", kinds <= {"summary"}, kinds)
    tagged = insights and all("closed" in insight["tags"] for insight in insights)
    tally.check("categories become tags", tagged, insights)
    found = ann.query("what is kept after it", {"fileId": file_id}, None, {"limit": 100})
    tally.check("what was found before is replaced", found.get("total") == len(insights), found)
    label = "a job that is over"
    done = ends["brief.pdf"].get("jobId", "none")
    ann.refused(label, "JOB_ALREADY_COMPLETED", "DELETE", f"jobs/{done}")
    started = time.monotonic()
    ann.good(label, "job_status", "GET", f"jobs/{done}?waitSeconds=30")
    tally.check(f"{label} is not waited for", time.monotonic() - started < 10)


def deleted(tally, ann, kept):
    """Gone means gone: the record, the bytes, the text, the insights, and the index."""
    file_id = kept["brief.pdf"].get("fileId", "none")
    before = ann.query("before", {"fileId": file_id}).get("total", 0)
    answer = ann.good("delete", "delete_file", "DELETE", f"files/{file_id}")
    gone = answer.get("insightsDeleted")
    tally.check("the insights are counted", gone == before > 0, (gone, before))
    for method, path in [("GET", ""), ("GET", "/content"), ("GET", "/export"), ("DELETE", "")]:
        label = f"deleted: {method} {path}"
        ann.refused(label, "FILE_NOT_FOUND", method, f"files/{file_id}{path}")
    found = ann.query("of the file", {"fileId": file_id})
    tally.check("no insight is left of the file", found.get("total") == 0, found)
    found = ann.query("of its notes", {"keywords": "wrongly"})
    tally.check("no insight is left in the index", found.get("total") == 0, found)
    copy = kept["copy.pdf"].get("fileId", "none")
    status, _, raw = ann.ask("GET", f"files/{copy}/content")
    same = status == 200 and raw == kept["brief.pdf"]["content"]
    tally.check("another's copy of the same content stays", same, status)


def versioned(tally, door):
    """The same paths under their version."""
    new = door.as_user(None, "v1/")
    vic = new.newcomer("vic")
    kept = vic.upload("v1: upload", "brief.txt", papers.plain())
    file_id = kept.get("fileId", "none")
    job = vic.processed("v1", file_id)
    tally.check("v1: completed", job.get("status") == "completed", job)
    vic.good("v1: list", "list_files", "GET", "files")
    vic.good("v1: status", "file_status", "GET", f"files/{file_id}")
    status, _, raw = vic.ask("GET", f"files/{file_id}/content")
    tally.check("v1: content", status == 200 and sha256(raw) == kept.get("sha256"), status)
    grounded(tally, vic, "v1", kept, job.get("result", {}).get("insights", []))
    insight = {"fileId": file_id, "insight": FAITHFUL}
    vic.good("v1: store", "store_insight", "POST", "insights", insight)
    tally.check("v1: query", vic.query("v1: query", {"fileId": file_id}).get("total", 0) > 1)
    ask = {"testType": "fact_check", "llmSource": "local", "fileId": file_id}
    vic.good("v1: integrity", "integrity_test", "POST", "integrity", ask)
    vic.refused("v1: no file", "FILE_NOT_FOUND", "GET", f"files/{NOBODY}")
    vic.good("v1: delete", "delete_file", "DELETE", f"files/{file_id}")
