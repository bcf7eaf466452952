"""A call that becomes a task, as a client with the tasks extension meets it: in this client one
calls a tool and is given its end, and what lies between is the extension's."""

import argparse
import asyncio
from typing import Any, Literal

from mcp import Client, MCPError
from mcp.client.extension import ClientExtension, ResultClaim
from mcp_types import CallToolResult, Request, RequestParams, Result
from pydantic import TypeAdapter

import archive_papers as papers
from mcp_client import over, text

TOOL = "arkiver_process_file"
PATIENCE = 120


class Begun(Result):
    result_type: Literal["task"]
    task_id: str
    status: str
    ttl_ms: int | None
    poll_interval_ms: int


class TaskParams(RequestParams):
    task_id: str


class Ask(Request[TaskParams, str]):
    method: str
    params: TaskParams
    name_param = "taskId"


async def ask(session, method, task_id):
    request = Ask(method=method, params=TaskParams(task_id=task_id))
    return await session.send_request(request, TypeAdapter(dict[str, Any]))


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self):
        self.begun = []
        self.seen = []

    def claims(self):
        return [ResultClaim(result_type="task", model=Begun, resolve=self.finish)]

    async def finish(self, begun, context):
        self.begun.append(begun)
        for _ in range(PATIENCE * 1000 // begun.poll_interval_ms):
            task = await ask(context.session, "tasks/get", begun.task_id)
            self.seen.append(task)
            if task["status"] != "working":
                return CallToolResult.model_validate(task["result"])
            await asyncio.sleep(begun.poll_interval_ms / 1000)
        raise RuntimeError("the task never ends")


def client_of(door, tasks, mode):
    token = argparse.Namespace(stdio=None, url=f"{door.base}/mcp", token=door.token)
    return Client(over(token), mode=mode, extensions=[tasks])


async def followed(tally, door):
    tom = await asyncio.to_thread(door.newcomer, "tom")
    kept = await asyncio.to_thread(tom.upload, "task: upload", "brief.pdf", papers.pdf())
    settings = {"extractionMode": "deep"}
    arguments = {"fileId": kept.get("fileId", "none"), "processingSettings": settings}
    tasks = Tasks()
    async with client_of(tom, tasks, "auto") as client:
        result = await client.call_tool(TOOL, arguments)
        answer = result.structured_content or {}
        tally.check("task: the call ends well", not result.is_error, text(result))
        tally.check("task: its status is completed", answer.get("status") == "completed", answer)
        found = answer.get("result", {}).get("insights", [])
        tally.check("task: what was found comes with it", len(found) > 5, answer)
        tally.check("task: the text tells it too", found and found[0]["title"] in text(result))
        if not tally.check("task: it was one", len(tasks.begun) == 1, tasks.begun):
            return
        begun = tasks.begun[0]
        tally.check("task: it began as working", begun.status == "working", begun)
        told = [task.get("statusMessage", "") for task in tasks.seen]
        tally.check("task: every look says how far it is", all(told), told)
        acknowledged = await ask(client.session, "tasks/cancel", begun.task_id)
        complete = acknowledged.get("resultType") == "complete"
        tally.check("task: cancelling what is done is no error", complete, acknowledged)
        locked = await asyncio.to_thread(tom.upload, "task: locked", "l.pdf", papers.locked_pdf())
        arguments = {**arguments, "fileId": locked.get("fileId", "none")}
        result = await client.call_tool(TOOL, arguments)
        tally.check("task: a failed job is a failed call", bool(result.is_error), result)
        tally.check("task: in the contract's words", "PROCESSING_FAILED" in text(result), result)
    eve = await asyncio.to_thread(door.newcomer, "eve")
    async with client_of(eve, Tasks(), "auto") as client:
        for method in ["tasks/get", "tasks/cancel"]:
            for task_id in [begun.task_id, begun.task_id[:-4] + "0000", "none"]:
                label = f"task: {method} of somebody else's"
                try:
                    answer = await ask(client.session, method, task_id)
                    tally.check(label, False, answer)
                except MCPError as error:
                    tally.check(label, error.code == -32602, error)
    async with client_of(tom, Tasks(), "legacy") as client:
        arguments = {**arguments, "fileId": kept.get("fileId", "none")}
        result = await client.call_tool(TOOL, arguments)
        answer = result.structured_content or {}
        tally.check("task: the older protocol has none", answer.get("status") == "queued", answer)
