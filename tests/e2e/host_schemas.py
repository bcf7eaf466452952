"""The tools that `/mcp` lists, given to the converters of model providers.

    host_schemas.py --url http://127.0.0.1:8080/mcp

Every tool has to convert with google-genai (whichever version is installed), to fit the older Gemini
subset, and, where openai-agents is installed, to become a strict function. Prints what failed, the
size of the list and, last, "N passed, M failed". scripts/e2e-tools installs the converters.
"""

import argparse
import copy
import json
import re
import sys
import types
import urllib.request

VERSION = "2026-07-28"
# The keywords of the Schema message that Gemini's API had first.
GEMINI = {"type", "description", "enum", "items", "properties", "required", "anyOf"}
GEMINI |= {"minimum", "maximum", "minItems", "maxItems"}
TYPES = ["string", "number", "integer", "boolean", "array", "object"]
TOKENS_MAX = 6000


def listed(url, services=None):
    tools, cursor = [], None
    while True:
        meta = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": "host_schemas", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"_meta": meta, **({"cursor": cursor} if cursor else {})}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
            "mcp-method": "tools/list",
            **({"x-stoa-services": services} if services else {}),
        }
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            result = json.load(response)["result"]
        tools += result["tools"]
        cursor = result.get("nextCursor")
        if cursor is None:
            return tools


def gemini_problems(at, schema):
    """What the older Gemini subset does not have."""
    problems = [f"{at}: {keyword}" for keyword in schema if keyword not in GEMINI]
    if "type" in schema and schema["type"] not in TYPES:
        problems.append(f"{at}: type {schema['type']}")
    if "type" not in schema and "anyOf" not in schema:
        problems.append(f"{at}: no type")
    if "enum" in schema and not all(isinstance(value, str) for value in schema["enum"]):
        problems.append(f"{at}: enum {schema['enum']}")
    if schema.get("type") == "array" and "items" not in schema:
        problems.append(f"{at}: no items")
    for name, part in schema.get("properties", {}).items():
        problems += gemini_problems(f"{at}.{name}", part)
    for part in [*([schema["items"]] if "items" in schema else []), *schema.get("anyOf", [])]:
        problems += gemini_problems(f"{at}[]", part)
    return problems


def genai(tool):
    from google.genai import _mcp_utils

    shape = types.SimpleNamespace(
        name=tool["name"],
        description=tool["description"],
        inputSchema=tool["inputSchema"],
        input_schema=tool["inputSchema"],
    )
    return _mcp_utils.mcp_to_gemini_tool(shape)


def strict(tool):
    from agents.strict_schema import ensure_strict_json_schema

    schema = copy.deepcopy(tool["inputSchema"])
    if not schema.get("properties"):
        return ensure_strict_json_schema({})
    return ensure_strict_json_schema(schema, _reject_open_objects=True)


def attempt(converter, tool):
    try:
        converter(tool)
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    url = parser.parse_args().url
    converters = {}
    for name, converter, module in [
        ("google-genai", genai, "google.genai"),
        ("OpenAI strict", strict, "agents.strict_schema"),
    ]:
        try:
            __import__(module)
            converters[name] = converter
        except ImportError:
            print(f"{name} is not installed here")
    if not converters:
        sys.exit("no converter is installed")
    passed, failed = 0, []
    tools = listed(url)
    services = "quotes,indicators,moex,analyst,collector,optimizer,archive"
    for tool in tools + [tool for tool in listed(url, services) if tool not in tools]:
        name = tool["name"]
        found = {label: attempt(converter, tool) for label, converter in converters.items()}
        found["the name"] = None if re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) else name
        found["the older Gemini subset"] = gemini_problems(name, tool["inputSchema"]) or None
        for label, problem in found.items():
            if problem is None:
                passed += 1
            else:
                failed.append(f"FAILED {name}: {label}: {problem}")
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    compact = [json.dumps(tool, separators=(",", ":"), ensure_ascii=False) for tool in shown]
    tokens = sum(-(-len(text.encode()) // 4) for text in compact)
    if tokens >= TOKENS_MAX:
        failed.append(f"FAILED the default list has {tokens} tokens, at most {TOKENS_MAX} are allowed")
    print(*failed, sep="\n", file=sys.stderr)
    print(f"{len(tools)} tools are listed by default, {tokens} tokens")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
