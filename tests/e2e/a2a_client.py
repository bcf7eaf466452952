"""The Python A2A client against an agent that Stoa serves, over both bindings.

    a2a_client.py --url http://127.0.0.1:8080/conformance [--token TOKEN] [--question TEXT]

`--url` is where `.well-known/agent-card.json` is found. The fixture agent of `--conformance-fixtures`
does what the first letters of a message's id say; with `--question` an agent that answers questions
is asked one instead, and asked again in the same conversation.
Prints what failed and, last, "N passed, M failed".
"""

import argparse
import asyncio
import sys
import traceback
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError

from tally import Tally

BINDINGS = ["JSONRPC", "HTTP+JSON"]
COMPLETED = pb.TASK_STATE_COMPLETED


class AgentTally(Tally):
    async def refused(self, name, call):
        try:
            told = await call
        except (A2AError, A2AClientError) as error:
            self.check(name, True)
            return error
        self.check(name, False, told)


def request(prefix, text="hello", **message):
    return pb.SendMessageRequest(
        message=pb.Message(
            message_id=f"{prefix}-{uuid.uuid4()}",
            role=pb.ROLE_USER,
            parts=[pb.Part(text=text)],
            **message,
        )
    )


async def told(events):
    return [event async for event in events]


def states(events):
    shown = []
    for event in events:
        kind = event.WhichOneof("payload")
        inside = getattr(event, kind)
        state = pb.TaskState.Name(inside.status.state)[11:] if "artifact" not in kind else ""
        shown.append(f"{kind} {state}".strip())
    return shown


async def fixture(client, plain, tally, name):
    events = await told(client.send_message(request("tck-stream-001")))
    expected = ["task SUBMITTED", "status_update WORKING", "artifact_update", "status_update COMPLETED"]
    tally.check(f"{name}: a stream in order", states(events) == expected, states(events))

    task = (await told(plain.send_message(request("tck-artifact-data"))))[-1].task
    tally.check(f"{name}: an answer without a stream", task.status.state == COMPLETED, task)
    data = task.artifacts[0].parts[0].data
    tally.check(f"{name}: data arrives", data.struct_value["count"] == 42, data)
    again = await client.get_task(pb.GetTaskRequest(id=task.id))
    tally.check(f"{name}: the task is kept", again == task, again)
    page = await client.list_tasks(pb.ListTasksRequest(context_id=task.context_id))
    tally.check(f"{name}: the task is listed", [it.id for it in page.tasks] == [task.id], page)

    asking = (await told(plain.send_message(request("tck-input-required"))))[-1].task
    waiting = asking.status.state == pb.TASK_STATE_INPUT_REQUIRED
    tally.check(f"{name}: an agent can ask back", waiting, asking)
    more = request("tck-complete-task", task_id=asking.id, context_id=asking.context_id)
    done = (await told(plain.send_message(more)))[-1].task
    tally.check(f"{name}: and be answered", done.status.state == COMPLETED, done)
    tally.check(f"{name}: both messages are kept", len(done.history) == 2, done.history)

    asking = (await told(plain.send_message(request("tck-input-required"))))[-1].task
    gone = await client.cancel_task(pb.CancelTaskRequest(id=asking.id))
    tally.check(f"{name}: a task is cancelled", gone.status.state == pb.TASK_STATE_CANCELED, gone)
    await tally.refused(
        f"{name}: and only once", client.cancel_task(pb.CancelTaskRequest(id=asking.id))
    )
    await tally.refused(f"{name}: unknown tasks", client.get_task(pb.GetTaskRequest(id="none")))

    slow = client.send_message(request("test-resubscribe-message-id"))
    first = await anext(slow)
    follow = pb.SubscribeToTaskRequest(id=first.task.id)
    late = await told(client.subscribe(follow))
    tally.check(f"{name}: who joins late is shown the task", late[0].HasField("task"), late[0])
    tally.check(f"{name}: and hears the end", states(late)[-1] == "status_update COMPLETED", late)
    rest = await told(slow)
    tally.check(f"{name}: as the first one does", states(rest)[-1] == states(late)[-1], rest)


async def question(client, plain, tally, name, text):
    events = await told(client.send_message(request("ask", text)))
    last = events[-1].status_update
    tally.check(f"{name}: the question is answered", last.status.state == COMPLETED, events[-1])
    task = await client.get_task(pb.GetTaskRequest(id=last.task_id))
    kinds = [part.WhichOneof("content") for part in task.artifacts[0].parts]
    tally.check(f"{name}: in words and data", kinds == ["text", "data"], kinds)
    output = task.artifacts[0].parts[1].data.struct_value["output"]
    words = task.artifacts[0].parts[0].text
    tally.check(f"{name}: which say the same", output["text"] == words and words, words)
    again = request("ask", text, context_id=task.context_id)
    more = (await told(plain.send_message(again)))[-1].task
    tally.check(f"{name}: the conversation goes on", more.context_id == task.context_id, more)


async def run(args, tally):
    headers = {"Authorization": f"Bearer {args.token}"} if args.token else {}
    for binding in BINDINGS:
        async with httpx.AsyncClient(headers=headers, timeout=60) as http:
            made = []
            for streaming in (True, False):
                config = ClientConfig(
                    streaming=streaming,
                    httpx_client=http,
                    supported_protocol_bindings=[binding],
                    use_client_preference=True,
                )
                made.append(await create_client(args.url, config))
            client, plain = made
            card = await client.get_extended_agent_card(pb.GetExtendedAgentCardRequest())
            tally.check(f"{binding}: the card", card.capabilities.streaming and card.skills, card)
            if args.question:
                await question(client, plain, tally, binding, args.question)
            else:
                await fixture(client, plain, tally, binding)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--token")
    parser.add_argument("--question")
    args = parser.parse_args()
    tally = AgentTally()
    try:
        asyncio.run(run(args, tally))
    except Exception:
        traceback.print_exc()
        tally.check("the run", False, "it broke off")
    print(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
