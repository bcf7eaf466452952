"""Files that cannot be kept or read, more than is allowed, and jobs that are stopped."""

import json
import time

import archive_papers as papers
from archive_http import NOBODY, endless, form

UPLOADS_A_MINUTE = 10


def mistaken(tally, door):
    """Files that cannot be kept or read, and ids that nobody has."""
    joe = door.newcomer("joe")
    refuse = joe.refused
    send = lambda name, content, **more: ("POST", "upload", form([(name, content)], **more))
    refuse("a program", "UNSUPPORTED_FILE_TYPE", *send("a.exe", b"MZ\x90\0\x03" + bytes(300)))
    refuse("a program named PDF", "UNSUPPORTED_FILE_TYPE", *send("a.pdf", b"\x7fELF" + bytes(300)))
    refuse("nothing", "INVALID_INPUT", "POST", "upload", form([]))
    refuse("metadata that is no JSON", "INVALID_INPUT", *send("a.txt", b"A text.", metadata="{"))
    cut = form([("a.txt", b"A text.")])[:-30]
    refuse("a form cut short", "INVALID_INPUT", "POST", "upload", cut)
    listed = joe.good("list", "list_files", "GET", "files")
    tally.check("nothing of these is kept", listed.get("total") == 0, listed)
    for name, content, word in [
        ("locked.pdf", papers.locked_pdf(), "encrypted"),
        ("broken.pdf", papers.broken_pdf(), ""),
    ]:
        kept = joe.upload(f"upload {name}", name, content)
        job = joe.processed(name, kept.get("fileId", "none"))
        tally.check(f"{name}: failed", job.get("status") == "failed", job)
        error = job.get("error", {})
        tally.check(f"{name}: PROCESSING_FAILED", error.get("code") == "PROCESSING_FAILED", job)
        tally.check(f"{name}: a reason", word in error.get("message", "") != "", job)
        status = joe.good(f"{name}: status", "file_status", "GET", f"files/{kept.get('fileId')}")
        file = status.get("file", {})
        tally.check(f"{name}: the file has failed", file.get("status") == "failed", file)
        tally.check(f"{name}: and says why", file.get("error", "") != "", file)
    sam = door.newcomer("sam")
    stream = {"headers": {"Transfer-Encoding": "chunked"}, "stream": endless("long.txt", 101)}
    sam.refused("101 MB, without a length", "FILE_TOO_LARGE", "POST", "upload", **stream)
    length = sum(len(piece) for piece in endless("long.txt", 101))
    stream = {"headers": {"Content-Length": str(length)}, "stream": endless("long.txt", 101)}
    sam.refused("101 MB, announced", "FILE_TOO_LARGE", "POST", "upload", **stream)
    listed = sam.good("list", "list_files", "GET", "files")
    tally.check("nothing of it is kept", listed.get("total") == 0, listed)
    for method, path in [("GET", ""), ("GET", "/content"), ("GET", "/export"), ("DELETE", "")]:
        refuse(f"no file: {method} {path}", "FILE_NOT_FOUND", method, f"files/{NOBODY}{path}")
    refuse("no job", "JOB_NOT_FOUND", "GET", f"jobs/{NOBODY}")
    refuse("cancelling no job", "JOB_NOT_FOUND", "DELETE", f"jobs/{NOBODY}")
    fast = {"extractionMode": "fast"}
    bad = {"fileId": NOBODY, "processingSettings": fast}
    refuse("processing no file", "FILE_NOT_FOUND", "POST", "process", bad)
    bad = {"fileId": NOBODY, "processingSettings": {"extractionMode": "slow"}}
    refuse("an unknown mode", "INVALID_INPUT", "POST", "process", bad)
    refuse("no settings", "INVALID_INPUT", "POST", "process", {"fileId": NOBODY})
    refuse("waiting too long", "INVALID_INPUT", "GET", f"jobs/{NOBODY}?waitSeconds=61")
    odd = {"X-Upload-Id": "a b"}
    refuse("an odd upload id", "INVALID_INPUT", *send("a.txt", b"A text."), headers=odd)


def edges(tally, door):
    """The last that is allowed, odd names, and an upload that is watched while it comes in."""
    liz = door.newcomer("liz")
    most = 100 * 1024 * 1024
    text = (b"The court denies the motion. " * (most // 29 + 1))[:most]
    liz.upload("100 MB to the byte", "large.txt", text)
    one_more = form([("larger.txt", text + b".")])
    liz.refused("one byte more", "FILE_TOO_LARGE", "POST", "upload", one_more)
    name = "Решение суда № 5.txt"
    kept = liz.upload("a Russian name", name, "Суд решил: иск удовлетворить.\n".encode())
    status, head, raw = liz.ask("HEAD", f"files/{kept.get('fileId')}/content")
    whole = status == 200 and raw == b"" and head.get("Content-Length") == str(kept.get("fileSize"))
    tally.check("HEAD tells the length alone", whole, (status, head.items()))
    odd = form([("../../etc/passwd.txt", b"A text that would like to be elsewhere.\n")])
    answer = liz.good("a name with folders", "upload", "POST", "upload", odd)
    tally.check("folders are left out of a name", answer.get("fileName") == "passwd.txt", answer)
    bare = form([("brief", papers.pdf())])
    liz.refused("a PDF without an ending", "UNSUPPORTED_FILE_TYPE", "POST", "upload", bare)
    odd = form([("picture.png", papers.pdf())])
    said = liz.refused("a PDF named PNG", "UNSUPPORTED_FILE_TYPE", "POST", "upload", odd)
    words = said.get("message", "")
    tally.check("both types are named", "PNG" in words and "PDF" in words, words)
    liz.refused("an empty file", "INVALID_INPUT", "POST", "upload", form([("empty.txt", b"")]))
    watched(tally, liz)


def watched(tally, liz):
    named = {"X-Upload-Id": "watched", "Transfer-Encoding": "chunked"}
    seen = []

    def pieces():
        for at, piece in enumerate(endless("slow.txt", 6)):
            yield piece
            if at in (2, 5):
                # Only what the server has read counts, so it is asked until it has read enough.
                seen.append(waited(at - 1))

    def waited(megabytes):
        far = {}
        for _ in range(100):
            status, _, raw = liz.ask("GET", "uploads/watched")
            far = json.loads(raw) if status == 200 else {}
            if far.get("receivedBytes", 0) >= megabytes * 1024 * 1024:
                break
            time.sleep(0.1)
        return far

    status, _, raw = liz.ask("POST", "upload", None, named, pieces())
    tally.check("a slow upload is kept", status == 200, (status, raw[:300]))
    counts = [far.get("receivedBytes", -1) for far in seen]
    tally.check("its progress grows", len(counts) == 2 and 0 <= counts[0] < counts[1], seen)
    early = [far for far in seen if far.get("done") is not False]
    tally.check("it is not done before its end", not early, seen)
    far = liz.good("its progress at the end", "upload_progress", "GET", "uploads/watched")
    tally.check("it is done at its end", far.get("done") is True, far)


def limited(tally, door):
    """Ten uploads a minute, and then it is said when to come back."""
    rob = door.newcomer("rob")
    for at in range(UPLOADS_A_MINUTE):
        rob.upload(f"upload {at + 1} of a minute", f"note-{at}.txt", f"Note {at}.\n".encode())
    body = form([("note.txt", b"One more.\n")])
    said = rob.refused("the upload after", "RATE_LIMIT_EXCEEDED", "POST", "upload", body)
    head = said.get("headers", {}).get("Retry-After", "")
    tally.check("it says when to come back", head.isdigit() and 0 < int(head) <= 60, head)
    rob.good("reading goes on", "list_files", "GET", "files")


def cancelled(tally, door):
    """A job that is stopped, and the file that can be processed again."""
    kim = door.newcomer("kim")
    large = b"".join(papers.plain() + b"\f" for _ in range(12_000))[: 16 * 1024 * 1024]
    file_id = kim.upload("upload a long one", "long.txt", large).get("fileId", "none")
    ask = {"fileId": file_id, "processingSettings": {"extractionMode": "deep"}}
    begun = kim.good("process a long one", "process_file", "POST", "process", ask)
    job_id = begun.get("jobId", "none")
    same = kim.good("process it once more", "process_file", "POST", "process", ask)
    tally.check("equal settings are the same job", same.get("jobId") == job_id, same)
    answer = kim.good("cancel", "cancel_job", "DELETE", f"jobs/{job_id}")
    tally.check("cancelling names the job", answer.get("jobId") == job_id, answer)
    job = kim.finished("a cancelled job", job_id)
    tally.check("a cancelled job has failed", job.get("status") == "failed", job)
    refuse = kim.refused
    refuse("cancelling twice", "JOB_ALREADY_COMPLETED", "DELETE", f"jobs/{job_id}")
    found = kim.query("nothing came of it", {"fileId": file_id})
    tally.check("a cancelled job leaves nothing", found.get("total") == 0, found.get("total"))
    job = kim.processed("after the cancelled one", file_id, "fast")
    tally.check("it can be processed again", job.get("status") == "completed", job)
