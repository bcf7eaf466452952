"""People and what is theirs: signing in, refreshing, sharing a case, tokens of the operator."""

import os
import subprocess
import time

import archive_papers as papers
from archive_http import CASE, NOBODY, form
from archive_papers import FAITHFUL

# A refresh token that was used a moment ago may be a retry; after this it is theft.
THEFT_SECONDS = 11


def signed_in(tally, door):
    """Registering, logging in, and what is refused on the way."""
    ann = door.newcomer("ann")
    who = {"username": ann.username, "password": ann.password}
    wrong = {**who, "password": "not the password"}
    nobody = {"username": f"nobody-{os.urandom(4).hex()}", "password": "not the password"}
    refuse = door.refused
    auth = lambda action, fields: ("POST", "auth", {"action": action, **fields})
    refuse("the same name again", "INVALID_INPUT", *auth("register", who))
    refuse("a short password", "INVALID_INPUT", *auth("register", {**nobody, "password": "short"}))
    refuse("a name too short", "INVALID_INPUT", *auth("register", {**nobody, "username": "a"}))
    refuse("no password", "INVALID_INPUT", *auth("login", {"username": ann.username}))
    refuse("an unknown action", "INVALID_INPUT", *auth("become", who))
    refuse("an unknown field", "INVALID_INPUT", *auth("login", {**who, "admin": True}))
    one = refuse("a wrong password", "AUTHENTICATION_FAILED", *auth("login", wrong))
    two = refuse("an unknown user", "AUTHENTICATION_FAILED", *auth("login", nobody))
    same = one.get("message") == two.get("message")
    tally.check("nobody learns who is registered", same, (one, two))
    session = door.auth("login", "login", **who)
    tally.check("a day of token", 86_000 < session.get("expiresIn", 0) <= 86_400, session)
    tally.check("a bearer token", session.get("tokenType") == "Bearer", session)
    named = session.get("user", {}).get("username")
    tally.check("the user is named", named == ann.username, session)
    mine = door.as_user(session.get("token"))
    mine.good("the token opens", "list_files", "GET", "files")
    door.auth("log out by the refresh token", "logout", refreshToken=session.get("refreshToken"))
    mine.refused("a session that was ended", "AUTHENTICATION_FAILED", "GET", "files")
    session = door.auth("log in again", "login", **who)
    mine = door.as_user(session.get("token"))
    mine.auth("log out by the token", "logout")
    mine.refused("a session that was logged out", "AUTHENTICATION_FAILED", "GET", "files")
    used = {"refreshToken": session.get("refreshToken")}
    refuse("refreshing what was ended", "AUTHENTICATION_FAILED", *auth("refresh", used))
    return ann


def refreshed(tally, door):
    """Tokens are changed for new ones; gives what must be used again later."""
    fay = door.newcomer("fay")
    second = door.auth("refresh", "refresh", refreshToken=fay.refresh_token)
    changed = second.get("refreshToken") not in (None, fay.refresh_token)
    tally.check("a refresh token is good once", changed, second)
    fay.token = second.get("token")
    fay.good("the new token opens", "list_files", "GET", "files")
    again = {"action": "refresh", "refreshToken": fay.refresh_token}
    door.refused("the old refresh token", "AUTHENTICATION_FAILED", "POST", "auth", again)
    fay.good("a retry ends nothing", "list_files", "GET", "files")
    made_up = {"action": "refresh", "refreshToken": "made up"}
    door.refused("a made-up refresh token", "AUTHENTICATION_FAILED", "POST", "auth", made_up)
    fay.stolen = fay.refresh_token
    fay.refresh_token = second.get("refreshToken")
    fay.refreshed_at = time.monotonic()
    return fay


def stolen(tally, door, fay):
    """A refresh token that comes back long after it was used ends the session."""
    time.sleep(max(0, fay.refreshed_at + THEFT_SECONDS - time.monotonic()))
    again = {"action": "refresh", "refreshToken": fay.stolen}
    door.refused("a stolen refresh token", "AUTHENTICATION_FAILED", "POST", "auth", again)
    fay.refused("the session it was of", "AUTHENTICATION_FAILED", "GET", "files")
    last = {"action": "refresh", "refreshToken": fay.refresh_token}
    door.refused("and the last refresh token", "AUTHENTICATION_FAILED", "POST", "auth", last)


def unknown(door):
    """Without a good token nothing is told."""
    paths = [
        ("GET", "files", None),
        ("GET", f"files/{NOBODY}", None),
        ("GET", f"files/{NOBODY}/content", None),
        ("GET", f"files/{NOBODY}/export", None),
        ("DELETE", f"files/{NOBODY}", None),
        ("GET", f"jobs/{NOBODY}", None),
        ("DELETE", f"jobs/{NOBODY}", None),
        ("POST", "upload", form([("a.txt", b"text")])),
        ("POST", "insights/query", {}),
        ("POST", "integrity", {"testType": "bias", "llmSource": "local", "fileId": NOBODY}),
    ]
    for method, path, body in paths:
        for name, token in [("no token", None), ("a made-up token", "stoa1.made.up")]:
            label = f"{name}: {method} {path}"
            door.as_user(token).refused(label, "AUTHENTICATION_FAILED", method, path, body)


def shared(tally, door, ann, kept):
    """What is somebody else's, and what sharing a case changes about that."""
    bob, eve = door.newcomer("bob"), door.newcomer("eve")
    file_id = kept["brief.pdf"].get("fileId", "none")
    status = ann.good("its job", "file_status", "GET", f"files/{file_id}")
    job_id = status["file"]["processingJobId"]
    note = {"fileId": file_id, "insight": {**FAITHFUL, "title": "A note of Bob's"}}
    process = {"fileId": file_id, "processingSettings": {"extractionMode": "fast"}}

    def closed(who, label):
        for method, path, body in [
            ("GET", f"files/{file_id}", None),
            ("GET", f"files/{file_id}/content", None),
            ("GET", f"files/{file_id}/export", None),
            ("DELETE", f"files/{file_id}", None),
            ("GET", f"jobs/{job_id}", None),
            ("DELETE", f"jobs/{job_id}", None),
            ("POST", "insights", note),
            ("POST", "process", process),
            ("POST", "integrity", {"testType": "bias", "llmSource": "local", "fileId": file_id}),
        ]:
            who.refused(f"{label}: {method} {path}", "AUTHORIZATION_FAILED", method, path, body)
        for filters in [{"fileId": file_id}, {"caseId": CASE}, {"keywords": "complaint"}, {}]:
            found = who.query(f"{label}: query {filters}", filters)
            tally.check(f"{label}: finds nothing by {filters}", found.get("total") == 0, found)
        listed = who.good(f"{label}: list", "list_files", "GET", "files")
        tally.check(f"{label}: lists nothing", listed.get("total") == 0, listed)

    closed(bob, "a stranger")
    path = "cases/Harlow%20v.%20Pike/share"

    def share(access):
        ask = {"username": bob.username, "access": access}
        return ann.good(f"share: {access}", "share_case", "POST", path, ask).get("members")

    members = share("read")
    expected = [{"username": bob.username, "access": "read"}]
    tally.check("the member is named", members == expected, members)
    bob.good("a reader: status", "file_status", "GET", f"files/{file_id}")
    status, _, raw = bob.ask("GET", f"files/{file_id}/content")
    tally.check("a reader: content", status == 200 and raw == kept["brief.pdf"]["content"])
    found = bob.query("a reader: query", {"caseId": CASE, "keywords": "complaint"})
    tally.check("a reader: finds it", found.get("total", 0) > 0, found)
    bob.good("a reader: its job", "job_status", "GET", f"jobs/{job_id}")
    for method, where, body in [
        ("POST", "insights", note),
        ("POST", "process", process),
        ("DELETE", f"files/{file_id}", None),
        ("POST", path, {"username": eve.username, "access": "read"}),
        ("POST", "upload", form([("mine.txt", b"Bob was here.")], {"caseId": CASE})),
    ]:
        bob.refused(f"a reader: {method} {where}", "AUTHORIZATION_FAILED", method, where, body)
    closed(eve, "a stranger beside it")
    share("write")
    bob.good("a writer: stores", "store_insight", "POST", "insights", note)
    found = ann.query("the owner finds it", {"keywords": '"A note of Bob\'s"'})
    tally.check("the owner finds what a member stored", found.get("total") == 1, found)
    bob.refused("a writer: deletes", "AUTHORIZATION_FAILED", "DELETE", f"files/{file_id}")
    members = share("none")
    tally.check("nobody is a member", members == [], members)
    bob.refused("no longer a member", "AUTHORIZATION_FAILED", "GET", f"files/{file_id}")
    same = form([("same.txt", b"Bob has a case of that name.")], {"caseId": CASE})
    bob.good("a case of the same name", "upload", "POST", "upload", same)
    twice = {"username": bob.username, "access": "read"}
    ann.refused("sharing a name twice", "INVALID_INPUT", "POST", path, twice)
    lost = {"username": f"nobody-{os.urandom(4).hex()}", "access": "read"}
    ann.refused("sharing with nobody", "INVALID_INPUT", "POST", path, lost)
    other = {"username": bob.username, "access": "read"}
    ann.refused("sharing no case", "INVALID_INPUT", "POST", "cases/None/share", other)


def minted(tally, door, arguments):
    """Tokens of the operator: one for all, one that may only read, one for another service."""

    def mint(*more):
        command = [arguments.stoa, "--data", arguments.data, "token", "mint", *more]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    subject = f"e2e-{os.urandom(4).hex()}"
    writer = door.as_user(mint("--subject", subject, "--scope", "read,write"))
    kept = writer.upload("minted: upload", "brief.txt", papers.plain())
    job = writer.processed("minted", kept.get("fileId", "none"))
    tally.check("minted: completed", job.get("status") == "completed", job)
    reader = door.as_user(mint("--subject", subject, "--scope", "read"))
    reader.good("minted to read: list", "list_files", "GET", "files")
    body = form([("a.txt", b"A text.")])
    reader.refused("minted to read: upload", "AUTHORIZATION_FAILED", "POST", "upload", body)
    delete = ("DELETE", f"files/{kept.get('fileId')}")
    reader.refused("minted to read: delete", "AUTHORIZATION_FAILED", *delete)
