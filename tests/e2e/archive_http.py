"""The archive over plain HTTP, as somebody would ask it who has only the contract in hand."""

import hashlib
import http.client
import json
import os
import pathlib
from urllib.parse import urlencode, urlsplit

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What the contract says of each code.
STATUSES = {
    "FILE_NOT_FOUND": 404,
    "FILE_TOO_LARGE": 413,
    "UNSUPPORTED_FILE_TYPE": 400,
    "JOB_NOT_FOUND": 404,
    "JOB_ALREADY_COMPLETED": 400,
    "PROCESSING_FAILED": 500,
    "INVALID_INPUT": 400,
    "RATE_LIMIT_EXCEEDED": 429,
    "AUTHENTICATION_FAILED": 401,
    "AUTHORIZATION_FAILED": 403,
}
CASE = "Harlow v. Pike"
NOBODY = "01900000-0000-7000-8000-000000000000"
BOUNDARY = "----a-boundary-of-the-archive-client"
PIECE = 1024 * 1024


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def form(files, metadata=None):
    """A multipart body; `files` are names with their content."""
    parts = []
    for name, content in files:
        head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
        kind = "Content-Type: application/octet-stream"
        parts.append(f"--{BOUNDARY}\r\n{head}\r\n{kind}\r\n\r\n".encode() + content + b"\r\n")
    if metadata is not None:
        text = metadata if isinstance(metadata, str) else json.dumps(metadata)
        head = 'Content-Disposition: form-data; name="metadata"'
        parts.append(f"--{BOUNDARY}\r\n{head}\r\n\r\n{text}\r\n".encode())
    parts.append(f"--{BOUNDARY}--\r\n".encode())
    return b"".join(parts)


def endless(name, megabytes):
    """The body of one large file, piece by piece, without its length."""
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    yield f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode()
    line = b"The court finds that the motion is without merit and denies it. "
    piece = (line * (PIECE // len(line) + 1))[:PIECE]
    for _ in range(megabytes):
        yield piece
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


class Door:
    """One user's way in: every answer is held against the contract's schemas."""

    def __init__(self, base, tally, token=None, version=""):
        self.base = base
        self.tally = tally
        self.token = token
        # "" or "v1/": the same paths stand under both.
        self.version = version
        self.schemas = json.loads((ROOT / "contracts/archive/schemas.json").read_text())

    def as_user(self, token, version=None):
        return Door(self.base, self.tally, token, self.version if version is None else version)

    def ask(self, method, path, body=None, headers=None, stream=None):
        """Status, headers and bytes of the answer."""
        where = urlsplit(self.base)
        link = http.client.HTTPConnection(where.hostname, where.port, timeout=120)
        headers = dict(headers or {})
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if stream is not None:
            headers["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
        elif isinstance(body, bytes):
            headers.setdefault("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
        elif body is not None:
            headers.setdefault("Content-Type", "application/json")
            body = json.dumps(body).encode()
        try:
            try:
                url = f"/api/{self.version}arkiver/{path}"
                chunked = stream is not None and "Content-Length" not in headers
                link.request(method, url, stream or body, headers, encode_chunked=chunked)
            except (BrokenPipeError, ConnectionResetError):
                pass  # Refused before all of it was sent; the reason is still there to be read.
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            link.close()

    def good(self, label, schema, method, path, body=None, headers=None):
        """One request that must succeed; its answer."""
        status, _, raw = self.ask(method, path, body, headers)
        if not self.tally.check(f"{label} is 200", status == 200, (status, raw[:400])):
            return {}
        answer = json.loads(raw)
        self.fits(f"{label} fits its schema", answer, self.schemas[schema]["output"])
        return answer

    def fits(self, label, answer, schema):
        try:
            jsonschema.validate(answer, schema)
            self.tally.check(label, True)
        except jsonschema.ValidationError as error:
            self.tally.check(label, False, f"{error.message} at {error.json_path}")

    def refused(self, label, code, method, path, body=None, headers=None, stream=None):
        """One request that must fail with this code; what the answer says about it."""
        try:
            told, head, raw = self.ask(method, path, body, headers, stream)
        except OSError as error:
            self.tally.check(f"{label} is {code}", False, repr(error))
            return {}
        expected = STATUSES[code]
        self.tally.check(f"{label} has status {expected}", told == expected, (told, raw[:400]))
        try:
            answer = json.loads(raw)
        except json.JSONDecodeError:
            answer = {}
        self.fits(f"{label} fits the error's schema", answer, self.schemas["error"])
        error = answer.get("error", {})
        self.tally.check(f"{label} is {code}", error.get("code") == code, raw[:400])
        self.tally.check(f"{label} says why", error.get("message", "") != "", raw[:400])
        return {**error, "headers": head}

    def upload(self, label, name, content, metadata=None, headers=None):
        body = form([(name, content)], metadata)
        answer = self.good(label, "upload", "POST", "upload", body, headers)
        self.tally.check(f"{label}: its size", answer.get("fileSize") == len(content), answer)
        self.tally.check(f"{label}: its name", answer.get("fileName") == name, answer)
        self.tally.check(f"{label}: its hash", answer.get("sha256") == sha256(content), answer)
        self.tally.check(f"{label}: it is uploaded", answer.get("status") == "uploaded", answer)
        return answer

    def processed(self, label, file_id, mode="standard", **settings):
        """Has a file processed and waits for the end; the finished job."""
        ask = {"fileId": file_id, "processingSettings": {"extractionMode": mode, **settings}}
        begun = self.good(f"{label}: process", "process_file", "POST", "process", ask)
        self.tally.check(f"{label}: queued", begun.get("status") == "queued", begun)
        self.tally.check(f"{label}: names its file", begun.get("fileId") == file_id, begun)
        return self.finished(label, begun.get("jobId", "none"))

    def finished(self, label, job_id):
        job = {}
        query = urlencode({"waitSeconds": 20})
        for _ in range(6):
            job = self.good(f"{label}: job", "job_status", "GET", f"jobs/{job_id}?{query}")
            if job.get("status") not in ("queued", "processing"):
                break
        return job

    def query(self, label, filters=None, sort=None, pagination=None):
        ask = {"filters": filters, "sort": sort, "pagination": pagination}
        ask = {name: value for name, value in ask.items() if value is not None}
        return self.good(label, "query_insights", "POST", "insights/query", ask)

    def auth(self, label, action, **fields):
        return self.good(label, "auth", "POST", "auth", {"action": action, **fields})

    def newcomer(self, name):
        """A user nobody had before, and their way in."""
        username = f"{name}-{os.urandom(4).hex()}"
        given = {"username": username, "password": "a long enough password"}
        answer = self.auth(f"register {name}", "register", **given)
        door = self.as_user(answer.get("token", "none"))
        door.username = username
        door.password = given["password"]
        door.refresh_token = answer.get("refreshToken", "none")
        return door
