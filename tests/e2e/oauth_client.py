"""The Python client's own OAuth against a closed server: discovery, registration, consent, tokens.

    oauth_client.py --stoa PATH

Starts a server of its own with a user, and answers the consent page as a browser would. Prints what
failed and, last, "N passed, M failed".
"""

import argparse
import asyncio
import html.parser
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from mcp_client import ERAS, text
from tally import Tally

USER, PASSWORD = "ada", "a long enough secret"
CALLBACK = "http://127.0.0.1:33418/callback"


class Form(html.parser.HTMLParser):
    """The hidden fields of the only form of a page."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields = None, {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.action = attributes["action"]
        if tag == "input" and attributes.get("type") == "hidden":
            self.fields[attributes["name"]] = attributes["value"]


class Browser:
    """A user who allows what a client asks for."""

    def __init__(self, tally):
        self.tally, self.answer, self.pages = tally, None, 0

    async def open(self, url):
        async with httpx2.AsyncClient(follow_redirects=False) as http:
            page = await http.get(url)
            self.tally.check("the consent page is shown", page.status_code == 200, page.text)
            self.tally.check("it has no script", "<script" not in page.text, page.text)
            form = Form(page.text)
            fields = {**form.fields, "username": USER, "password": PASSWORD, "decision": "allow"}
            origin = "{0.scheme}://{0.netloc}".format(urlparse(url))
            # A page of another site cannot send the form.
            forged = await http.post(
                origin + form.action, data=fields, headers={"origin": "https://evil.example"}
            )
            self.tally.check("a form of another site is refused", forged.status_code == 403)
            sent = await http.post(origin + form.action, data=fields, headers={"origin": origin})
            self.tally.check("the browser is sent back", sent.status_code == 303, sent.text)
        query = parse_qs(urlparse(sent.headers["location"]).query)
        self.answer = {name: values[0] for name, values in query.items()}
        self.pages += 1

    async def back(self):
        return AuthorizationCodeResult(**self.answer)


class Storage:
    """What a client keeps between two runs."""

    def __init__(self):
        self.tokens, self.client = None, None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def provider(url, storage, browser):
    metadata = OAuthClientMetadata(redirect_uris=[CALLBACK], client_name="e2e")
    return OAuthClientProvider(url, metadata, storage, browser.open, browser.back)


async def session(tally, base, mode, era):
    # A session of the older protocol opens at /mcp/archive without a token, so nothing there sends
    # its client to the consent page.
    for path in ["/mcp"] if era == ERAS["legacy"] else ["/mcp", "/mcp/archive"]:
        label = f"{era} {path}"
        storage, browser = Storage(), Browser(tally)
        auth = provider(base + path, storage, browser)

        def connected():
            http = httpx2.AsyncClient(auth=auth, timeout=30)
            return Client(streamable_http_client(base + path, http_client=http), mode=mode)

        async with connected() as client:
            found = await client.call_tool("arkiver_query_insights", {})
            tally.check(f"{label}: reads as the user", not found.is_error, text(found))
            if path == "/mcp":
                quotes = await client.call_tool("quotes_live", {"tickers": ["BTCUSDT"]})
                tally.check(f"{label}: reads quotes", not quotes.is_error, text(quotes))
        tally.check(f"{label}: asked once", browser.pages == 1, browser.pages)
        tally.check(f"{label}: got only read", storage.tokens.scope == "read", storage.tokens)
        await other_services(tally, base, path, storage, label)
        # The access token is over, and the refresh token gets another without asking the user.
        before = storage.tokens.access_token
        auth.context.token_expiry_time = time.time() - 1
        async with connected() as client:
            found = await client.call_tool("arkiver_query_insights", {})
            tally.check(f"{label}: reads after a refresh", not found.is_error, text(found))
        tally.check(f"{label}: has another token", storage.tokens.access_token != before)
        tally.check(f"{label}: asked no second time", browser.pages == 1, browser.pages)


async def other_services(tally, base, path, storage, label):
    """A token for one service's endpoint opens no other service of a closed server."""
    headers = {"authorization": f"Bearer {storage.tokens.access_token}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        status = (await http.get(f"{base}/v1/quotes?tickers=BTCUSDT")).status_code
    expected = 200 if path == "/mcp" else 403
    tally.check(f"{label}: the audience of the token holds", status == expected, status)


async def challenged(tally, base):
    async with httpx2.AsyncClient() as http:
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/list"}
        answer = await http.post(f"{base}/mcp", json=message)
        challenge = answer.headers.get("www-authenticate", "")
        metadata = f'resource_metadata="{base}/.well-known/oauth-protected-resource/mcp"'
        tally.check("a stranger is refused", answer.status_code == 401, answer.text)
        tally.check("the challenge names the metadata", metadata in challenge, challenge)
        tally.check("and no error", "error=" not in challenge, challenge)
        headers = {"authorization": "Bearer stoa1_made-up"}
        answer = await http.post(f"{base}/mcp", json=message, headers=headers)
        challenge = answer.headers.get("www-authenticate", "")
        tally.check("a bad token is named", 'error="invalid_token"' in challenge, challenge)
        headers = {"authorization": "Bearer operator-token-0123"}
        call = {"name": "set_kill_switch", "arguments": {"enabled": True}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = await http.post(f"{base}/mcp", json=message, headers=headers)
        challenge = answer.headers.get("www-authenticate", "")
        tally.check("a missing scope is 403", answer.status_code == 403, answer.text)
        needed = 'error="insufficient_scope", scope="admin"'
        tally.check("the missing scope is named", needed in challenge, challenge)


def start(stoa, data):
    environment = {
        **os.environ,
        "STOA_DATA": data,
        "STOA_OAUTH": "true",
        "MCP_HTTP_TOKEN": "operator-token-0123",
    }
    add = [stoa, "user", "add", USER]
    subprocess.run(add, env=environment, input=PASSWORD.encode(), check=True, capture_output=True)
    serve = [stoa, "serve", "--listen", "127.0.0.1:0"]
    log = open(os.path.join(data, "log"), "w+")
    process = subprocess.Popen(serve, env=environment, stderr=log)
    for _ in range(300):
        with open(log.name) as lines:
            found = re.search(r'"mcp":"([^"]*)/mcp"', lines.read())
        if found:
            return process, found[1]
        time.sleep(0.1)
    process.kill()
    raise RuntimeError("the server did not start")


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stoa", required=True)
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as data:
        process, base = start(arguments.stoa, data)
        try:
            await challenged(tally, base)
            for mode, era in ERAS.items():
                await asyncio.wait_for(session(tally, base, mode, era), 120)
        except Exception:
            tally.check("runs to its end", False, traceback.format_exc())
        finally:
            process.terminate()
            process.wait()
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    asyncio.run(main())
