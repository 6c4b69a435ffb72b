"""What clients store and name by its id, over any provider (spec/11-gateway.md#stateful)."""

import asyncio
import hashlib
import itertools
import json
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from interlingua import read_stream
from interlingua.access import Key
from interlingua.client.fake import Bytes, Refuse, Say
from interlingua.sessions import Sessions
from tests.sessions import cluster

_NUMBERS = itertools.count()
CLAUDE = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
GPT = {"version": 1, "serve": {"*": "openai:gpt-4.1"}}
PLACE = "/v1/responses"
LIST = {"type": "function", "name": "list", "parameters": {"type": "object"}, "strict": False}


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """A PostgreSQL server, where there is one."""
    if cluster.programs() is None:
        pytest.skip(cluster.MISSING)
    with cluster.running() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/objects.db"
    import psycopg

    server = request.getfixturevalue("database")
    name = f"t{next(_NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options={quote(f'-csearch_path={name}')}"


def asked(text: str, **more: Any) -> dict[str, Any]:
    """A request of the Responses API."""
    return {"model": "gpt-5.4", "input": text, **more}


def sent(at: Any, number: int = -1) -> list[Any]:
    """The texts of the messages that the provider was sent, with their roles."""
    messages = at.fake.sent[number].request["messages"]
    return [(one["role"], "".join(block.get("text", "") for block in one["content"])) for one in messages]


def signed(*, stream: bool = False) -> Bytes:
    """An answer of Anthropic's with signed reasoning and a call."""
    content = [
        {"type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "toolu_9", "name": "list", "input": {"path": "."}},
    ]
    message: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": content,
        "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    if not stream:
        return Bytes([json.dumps(message).encode()], headers={"content-type": "application/json"})
    thinking, call = content
    frames: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**thinking, "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let me look."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2lnbmVk"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {**call, "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"path":"."}'}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]  # fmt: skip
    return Bytes([f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in frames])


def key(name: str, **more: Any) -> Key:
    """A key whose text is its name."""
    return Key(name, hashlib.sha256(name.encode()).hexdigest(), more.pop("tenant", name), **more)


def bearing(name: str) -> dict[str, str]:
    """The header with a key."""
    return {"authorization": f"Bearer {name}"}


async def until(holds: Callable[[], Any]) -> None:
    """Waits for something that will come."""
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


# ---------------------------------------------------------------------------------------------------- responses


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_response_goes_on_from_another(serve: Any, store: str, stream: bool) -> None:
    """What was said before is sent; instructions are those of this request alone (#expanded)."""
    async with serve(Say("One."), Say("Two."), Say("Three."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A", instructions="Be brief."))).json()
        assert first["id"].startswith("resp_")
        assert first["store"] is True
        assert first["previous_response_id"] is None
        body = asked("B", previous_response_id=first["id"], instructions="Be long.", stream=stream)
        answer = await at.http.post(PLACE, json=body)
        assert sent(at) == [("system", "Be long."), ("user", "A"), ("assistant", "One."), ("user", "B")]
        if stream:
            events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
            second = events[-1]["response"]
            assert {one["response"]["id"] for one in events if "response" in one} == {second["id"]}
            assert events[0]["response"]["previous_response_id"] == first["id"]
        else:
            second = answer.json()
        assert second["previous_response_id"] == first["id"]
        assert (await at.http.get(f"{PLACE}/{second['id']}")).json() == second
        await at.http.post(PLACE, json=asked("C", previous_response_id=second["id"]))
        assert [text for _, text in sent(at)] == ["A", "One.", "B", "Two.", "C"]
        assert answer.headers["interlingua-loss"] in ("none", "representation=1")


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_the_state_of_the_provider_is_kept(serve: Any, store: str, stream: bool) -> None:
    """Signature and id of the provider behind come back to it, though the client names nothing but ids (#kept-state)."""
    async with serve(signed(stream=stream), Say("Done."), policy=CLAUDE, store=store) as at:
        answer = await at.http.post(PLACE, json=asked("A", tools=[LIST], stream=stream))
        first = answer.json() if not stream else json.loads(answer.text.split("data: ")[-1].split("\n")[0])["response"]
        call = next(item for item in first["output"] if item["type"] == "function_call")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "a.txt"}
        body = {"model": "gpt-5.4", "previous_response_id": first["id"], "input": [result], "tools": [LIST]}
        assert (await at.http.post(PLACE, json=body)).status_code == 200
        messages = at.fake.sent[-1].json["messages"]
        assert messages[1]["content"] == [
            {"type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmVk"},
            {"type": "tool_use", "id": "toolu_9", "name": "list", "input": {"path": "."}},
        ]
        assert messages[2]["content"][0]["tool_use_id"] == "toolu_9"
        calls = (await at.http.get("/v1/interlingua/calls")).json()["calls"]
        assert not [one for call in calls for one in call["answer_loss"] if one["code"] == "foreign_state"]


@pytest.mark.asyncio
async def test_a_conversation_goes_on_at_another_provider(serve: Any, store: str) -> None:
    """The policy may change between two responses; a call that Claude made is answered at OpenAI."""
    async with serve(signed(), Say("Done."), policy=dict(CLAUDE), store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A", tools=[LIST]))).json()
        at.gateway.routing._policy["serve"] = GPT["serve"]
        call = first["output"][-1]
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "a.txt"}
        body = {"model": "x", "previous_response_id": first["id"], "input": [result], "tools": [LIST]}
        assert (await at.http.post(PLACE, json=body)).json()["output"][0]["content"][0]["text"] == "Done."
        items = at.fake.sent[-1].json["input"]
        assert [one.get("type", "message") for one in items] == ["message", "function_call", "function_call_output"]
        assert items[1]["call_id"] == items[2]["call_id"]
        assert "previous_response_id" not in at.fake.sent[-1].json


@pytest.mark.asyncio
async def test_two_responses_that_go_on_from_one_are_two_branches(serve: Any, store: str) -> None:
    """Neither sees the other (#expanded)."""
    steps = [Say("Root."), Say("Left."), Say("Right."), Say("Leaf.")]
    async with serve(*steps, policy=CLAUDE, store=store) as at:
        root = (await at.http.post(PLACE, json=asked("A"))).json()["id"]
        left = (await at.http.post(PLACE, json=asked("B", previous_response_id=root))).json()["id"]
        await at.http.post(PLACE, json=asked("C", previous_response_id=root))
        assert [text for _, text in sent(at)] == ["A", "Root.", "C"]
        await at.http.post(PLACE, json=asked("D", previous_response_id=left))
        assert [text for _, text in sent(at)] == ["A", "Root.", "B", "Left.", "D"]


@pytest.mark.asyncio
async def test_what_is_not_to_be_stored_is_not(serve: Any, store: str) -> None:
    """`store: false` keeps nothing, though it may go on from what is kept."""
    async with serve(Say("One."), Say("Two."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A"))).json()["id"]
        second = (await at.http.post(PLACE, json=asked("B", store=False, previous_response_id=first))).json()
        assert [text for _, text in sent(at)] == ["A", "One.", "B"]
        assert second["store"] is False
        assert (await at.http.get(f"{PLACE}/{second['id']}")).status_code == 404


@pytest.mark.asyncio
async def test_input_items_are_what_was_said_before(serve: Any, store: str) -> None:
    """From the first request on, the newest first, page by page."""
    async with serve(Say("One."), Say("Two."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A"))).json()["id"]
        second = (await at.http.post(PLACE, json=asked("B", previous_response_id=first))).json()["id"]
        place = f"{PLACE}/{second}/input_items"
        listed = (await at.http.get(place)).json()
        assert [one["content"][0]["text"] for one in listed["data"]] == ["B", "One.", "A"]
        assert len({one["id"] for one in listed["data"]}) == 3
        page = (await at.http.get(place, params={"limit": 1, "order": "asc"})).json()
        assert (page["has_more"], page["data"][0]["content"][0]["text"]) == (True, "A")
        rest = (await at.http.get(place, params={"after": page["last_id"], "order": "asc"})).json()
        assert [one["content"][0]["text"] for one in rest["data"]] == ["One.", "B"]
        for wrong in ({"limit": "0"}, {"limit": "x"}, {"order": "up"}, {"after": "msg_none"}):
            assert (await at.http.get(place, params=wrong)).status_code == 400


@pytest.mark.asyncio
async def test_a_deleted_response_is_not_named_any_more(serve: Any, store: str) -> None:
    """Those that go on from it stay whole; with the last of them, what was said is removed (#lifetime)."""
    async with serve(Say("One."), Say("Two."), Say("Three."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("Secret A"))).json()["id"]
        second = (await at.http.post(PLACE, json=asked("B", previous_response_id=first))).json()["id"]
        gone = await at.http.delete(f"{PLACE}/{first}")
        assert gone.json() == {"id": first, "object": "response", "deleted": True}
        assert (await at.http.get(f"{PLACE}/{first}")).status_code == 404
        assert (await at.http.delete(f"{PLACE}/{first}")).status_code == 404
        refused = await at.http.post(PLACE, json=asked("C", previous_response_id=first))
        assert refused.json()["error"]["code"] == "previous_response_not_found"
        await at.http.post(PLACE, json=asked("C", store=False, previous_response_id=second))
        assert [text for _, text in sent(at)] == ["Secret A", "One.", "B", "Two.", "C"]
        await at.http.delete(f"{PLACE}/{second}")
        assert await _empty(at)


async def _empty(at: Any) -> bool:
    rows = await at.gateway.objects._sessions.read(lambda rows: rows._do.ask("SELECT COUNT(*) FROM objects"))
    return rows[0][0] == 0


@pytest.mark.asyncio
async def test_no_key_is_stored(serve: Any, store: str) -> None:
    """Neither that of the caller nor that of the provider, whatever is stored."""
    from interlingua.sessions.rows import _TABLE_OF

    async with serve(
        Say("One."), Say("Two."), policy=CLAUDE, store=store, keys=[key("sk-caller", tenant="acme")]
    ) as at:
        headers = bearing("sk-caller")
        assert (await at.http.post(PLACE, json=asked("A"), headers=headers)).status_code == 200
        chat = {"model": "x", "messages": [{"role": "user", "content": "Hi"}], "store": True}
        assert (await at.http.post("/v1/chat/completions", json=chat, headers=headers)).status_code == 200
        sent_key = {name.lower(): value for name, value in at.fake.sent[0].headers.items()}["x-api-key"]
        stored = await at.gateway.objects._sessions.read(
            lambda rows: str([rows._do.ask(f"SELECT * FROM {table}") for table in _TABLE_OF.values()])
        )
        assert "One." in stored
        assert "Two." in stored
        assert sent_key not in stored
        assert "sk-caller" not in stored


@pytest.mark.asyncio
async def test_answers_are_kept_for_a_time(serve: Any, store: str) -> None:
    """After that their ids are those of nothing; what goes on from them lives on (#lifetime)."""
    async with serve(Say("One."), Say("Two."), Say("Three."), Say("Four."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A"))).json()["id"]
        at.clock.today += timedelta(days=29)
        second = (await at.http.post(PLACE, json=asked("B", previous_response_id=first))).json()["id"]
        at.clock.today += timedelta(days=2)
        assert (await at.http.get(f"{PLACE}/{first}")).status_code == 404
        await at.http.post(PLACE, json=asked("C", previous_response_id=second))
        assert [text for _, text in sent(at)] == ["A", "One.", "B", "Two.", "C"]
        at.clock.today += timedelta(days=31)
        await at.http.post(PLACE, json=asked("D"))
        rows = await at.gateway.objects._sessions.read(lambda rows: rows._do.ask("SELECT COUNT(*) FROM objects"))
        assert rows[0][0] == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["get", "delete", "cancel", "items", "previous", "conversation", "item"])
async def test_another_tenants_id_is_one_that_never_was(serve: Any, store: str, method: str) -> None:
    """Bit for bit, but for the id that the call named itself (#strangers)."""
    keys = [key("ann"), key("bob")]
    async with serve(Say("One."), policy=CLAUDE, store=store, keys=keys) as at:
        response = (await at.http.post(PLACE, json=asked("A"), headers=bearing("ann"))).json()["id"]
        conversation = (await at.http.post("/v1/conversations", json={}, headers=bearing("ann"))).json()["id"]

        async def tried(response: str, conversation: str) -> Any:
            match method:
                case "get" | "delete":
                    return await at.http.request(method, f"{PLACE}/{response}", headers=bearing("bob"))
                case "cancel":
                    return await at.http.post(f"{PLACE}/{response}/cancel", headers=bearing("bob"))
                case "items":
                    return await at.http.get(f"{PLACE}/{response}/input_items", headers=bearing("bob"))
                case "previous":
                    body = asked("B", previous_response_id=response)
                    return await at.http.post(PLACE, json=body, headers=bearing("bob"))
                case "conversation":
                    body = asked("B", conversation=conversation)
                    return await at.http.post(PLACE, json=body, headers=bearing("bob"))
                case _:
                    place = f"/v1/conversations/{conversation}/items/msg_1"
                    return await at.http.get(place, headers=bearing("bob"))

        real = await tried(response, conversation)
        never = await tried("resp_" + "0" * 48, "conv_" + "0" * 48)
        assert real.status_code == never.status_code >= 400
        text = never.text.replace("resp_" + "0" * 48, response).replace("conv_" + "0" * 48, conversation)
        assert real.text == text
        known = {name: value for name, value in real.headers.items() if name not in ("interlingua-request-id", "date")}
        assert known == {name: value for name, value in never.headers.items() if name in known}
        assert (await at.http.get(f"{PLACE}/{response}", headers=bearing("ann"))).status_code == 200


@pytest.mark.asyncio
async def test_an_id_of_the_provider_goes_to_it(serve: Any, store: str) -> None:
    """An id that is not stored here is for a provider of the wire, and is none for all others (#whose-id)."""
    async with serve(Say("One."), policy=dict(GPT), store=store) as at:
        answer = await at.http.post(PLACE, json=asked("A", previous_response_id="resp_theirs"))
        assert answer.status_code == 200
        assert at.fake.sent[-1].json["previous_response_id"] == "resp_theirs"
        assert (await at.http.get(f"{PLACE}/{answer.json()['id']}")).status_code == 404
        at.gateway.routing._policy["serve"] = CLAUDE["serve"]
        refused = await at.http.post(PLACE, json=asked("A", previous_response_id="resp_theirs"))
        assert refused.status_code == 400
        assert refused.json()["error"] == {
            "message": "Previous response with id 'resp_theirs' not found.",
            "type": "invalid_request_error",
            "param": "previous_response_id",
            "code": "previous_response_not_found",
        }
        assert len(at.fake.sent) == 1


@pytest.mark.asyncio
async def test_a_provider_of_the_wire_is_sent_the_whole_conversation(serve: Any, store: str) -> None:
    """An id of the gateway's is one of the gateway's, also there; the items go out as they came."""
    body = {
        "id": "resp_own", "object": "response", "created_at": 5, "status": "completed", "model": "gpt-4.1",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "One.", "annotations": []}]},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}, "tools": [], "tool_choice": "auto",
        "parallel_tool_calls": True, "error": None, "incomplete_details": None, "metadata": {}, "store": True,
    }  # fmt: skip
    said = Bytes([json.dumps(body).encode()], headers={"content-type": "application/json"})
    async with serve(said, said, policy=GPT, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A"))).json()
        assert first["id"] != "resp_own"
        assert first["output"] == body["output"]
        await at.http.post(PLACE, json=asked("B", previous_response_id=first["id"]))
        items = at.fake.sent[-1].json["input"]
        assert items[1:3] == body["output"]
        assert "previous_response_id" not in at.fake.sent[-1].json


@pytest.mark.asyncio
async def test_without_a_store_nothing_changes(serve: Any) -> None:
    """The history of others is lost with a report, and what would be stored is no operation (#no-store)."""
    async with serve(Say("One."), policy=CLAUDE) as at:
        answer = await at.http.post(PLACE, json=asked("A", previous_response_id="resp_1"))
        assert "lost=1" in answer.headers["interlingua-loss"]
        for place in (f"{PLACE}/resp_1", "/v1/conversations/conv_1", "/v1/chat/completions/x"):
            assert "does not serve" in (await at.http.get(place)).json()["error"]["message"]


@pytest.mark.asyncio
async def test_a_failed_call_stores_nothing(serve: Any, store: str) -> None:
    """The client has the error of its wire and no id."""
    async with serve(Refuse(429, {"error": {"message": "no"}}), policy=CLAUDE, store=store) as at:
        assert (await at.http.post(PLACE, json=asked("A"))).status_code == 429
        assert await _empty(at)


@pytest.mark.asyncio
async def test_what_had_arrived_is_stored(serve: Any, store: str) -> None:
    """A stream that breaks off is there by its id, as failed; the conversation can go on from it (#partial)."""
    head = b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    start = b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
    delta = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Two"}}\n\n'
    broken = Bytes([head, start, delta], breaks="network")
    async with serve(broken, Say("Files."), policy=CLAUDE, store=store) as at:
        answer = await at.http.post(PLACE, json=asked("A", stream=True))
        identity = json.loads(answer.text.split("data: ")[1].split("\n")[0])["response"]["id"]
        found = (await at.http.get(f"{PLACE}/{identity}")).json()
        assert found["status"] == "failed"
        assert found["output"][0]["content"][0]["text"] == "Two"
        await at.http.post(PLACE, json=asked("Go on", previous_response_id=identity))
        assert [text for _, text in sent(at)] == ["A", "Two", "Go on"]


@pytest.mark.asyncio
async def test_what_a_client_did_not_wait_for_is_stored(serve: Any, store: str) -> None:
    """It is cancelled, with what had arrived."""
    slow = Say("One two three four five six seven eight", pause=0.05)
    async with serve(slow, policy=CLAUDE, store=store, connected=True) as at:
        async with at.http.stream("POST", PLACE, json=asked("A", stream=True)) as answer:
            lines = answer.aiter_lines()
            async for line in lines:
                if "output_text.delta" in line:
                    break
        await until(lambda: at.gateway.calls.of("anybody")[0].category == "cancelled")
        rows = await at.gateway.objects.listed("response")
        assert rows[0].body["status"] == "cancelled"
        assert rows[0].body["output"][0]["content"][0]["text"].startswith("One")


@pytest.mark.asyncio
async def test_a_response_is_streamed_again(serve: Any, store: str) -> None:
    """As the events that it would have come in, behind a number on request."""
    async with serve(Say("Two files."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A"))).json()
        again = await at.http.get(f"{PLACE}/{first['id']}", params={"stream": "true"})
        assert again.headers["content-type"].startswith("text/event-stream")
        events = list(read_stream([again.content], "openai_responses"))
        assert events[-1]["response"]["message"]["content"][0]["text"] == "Two files."
        rest = await at.http.get(f"{PLACE}/{first['id']}", params={"stream": "true", "starting_after": "1"})
        assert again.text.endswith(rest.text)
        assert '"sequence_number":2' in rest.text.split("\n\n")[0]
        odd = await at.http.get(f"{PLACE}/{first['id']}", params={"stream": "true", "starting_after": "x"})
        assert odd.status_code == 400


@pytest.mark.asyncio
async def test_nothing_runs_in_the_background(serve: Any, store: str) -> None:
    """What is whole cannot be cancelled, which the wire says so; what a provider of the wire runs is its own."""
    async with serve(Say("One."), Say("Two."), policy=dict(CLAUDE), store=store) as at:
        first = (await at.http.post(PLACE, json=asked("A", background=True))).json()
        assert first["status"] == "completed"
        refused = await at.http.post(f"{PLACE}/{first['id']}/cancel")
        assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request_error")
        at.gateway.routing._policy["serve"] = GPT["serve"]
        theirs = (await at.http.post(PLACE, json=asked("B", background=True))).json()
        assert (await at.http.get(f"{PLACE}/{theirs['id']}")).status_code == 404


@pytest.mark.asyncio
async def test_two_answers_of_the_same_words_have_items_of_their_own(serve: Any, store: str) -> None:
    """Items are told apart by their ids, whole and streamed."""
    async with serve(*[Say("Hi.")] * 4, policy=CLAUDE, store=store) as at:
        ids: list[str] = []
        for stream in (False, True, False, True):
            answer = await at.http.post(PLACE, json=asked("A", stream=stream))
            text = answer.text if not stream else answer.text.split("data: ")[-1].split("\n")[0]
            body = json.loads(text)
            ids += [item["id"] for item in body.get("response", body)["output"]]
        assert len(set(ids)) == 4


@pytest.mark.asyncio
async def test_a_store_that_fails_is_told(serve: Any, store: str) -> None:
    """Nobody is given an id of what is not stored: whole, it is an error; streamed, the last event is one."""
    async with serve(Say("One."), Say("Two."), policy=CLAUDE, store=store) as at:
        await at.http.post("/v1/conversations")  # the database is open
        await at.gateway.objects._sessions.write(lambda rows: rows._do.run("DROP TABLE objects"))
        whole = await at.http.post(PLACE, json=asked("A"))
        assert whole.status_code == 500
        streamed = await at.http.post(PLACE, json=asked("A", stream=True))
        assert "response.completed" not in streamed.text
        assert list(read_stream([streamed.content], "openai_responses"))[-1]["type"] == "error"


# ---------------------------------------------------------------------------------------------------- conversations


@pytest.mark.asyncio
async def test_a_conversation_grows_by_its_responses(serve: Any, store: str) -> None:
    """Its items are those that were put in, said and answered, in their order (#conversations)."""
    async with serve(Say("One."), Say("Two."), Say("Three."), policy=CLAUDE, store=store) as at:
        given = {"metadata": {"topic": "x"}, "items": [{"role": "user", "content": "Zero"}]}
        made = (await at.http.post("/v1/conversations", json=given)).json()
        assert made["id"].startswith("conv_")
        assert (made["object"], made["metadata"]) == ("conversation", {"topic": "x"})
        place = f"/v1/conversations/{made['id']}"
        first = (await at.http.post(PLACE, json=asked("A", conversation=made["id"]))).json()
        assert first["conversation"] == {"id": made["id"]}
        await at.http.post(PLACE, json=asked("B", conversation={"id": made["id"]}, stream=True))
        assert [text for _, text in sent(at)] == ["ZeroA", "One.", "B"] or [text for _, text in sent(at)] == [
            "Zero",
            "A",
            "One.",
            "B",
        ]
        listed = (await at.http.get(f"{place}/items", params={"order": "asc"})).json()["data"]
        assert [one["content"][0]["text"] for one in listed] == ["Zero", "A", "One.", "B", "Two."]
        # a response of a conversation may be gone on from as any other
        await at.http.post(PLACE, json=asked("C", previous_response_id=first["id"]))
        assert "Two." not in [text for _, text in sent(at)]
        items = (await at.http.get(f"{PLACE}/{first['id']}/input_items", params={"order": "asc"})).json()["data"]
        assert [one["content"][0]["text"] for one in items] == ["Zero", "A"]


@pytest.mark.asyncio
async def test_items_of_a_conversation_come_and_go(serve: Any, store: str) -> None:
    """What is removed is not sent any more."""
    async with serve(Say("One."), Say("Two."), policy=CLAUDE, store=store) as at:
        place = f"/v1/conversations/{(await at.http.post('/v1/conversations')).json()['id']}"
        added = await at.http.post(
            f"{place}/items", json={"items": [{"role": "user", "content": "A"}, {"role": "user", "content": "B"}]}
        )
        first, second = added.json()["data"]
        assert (await at.http.get(f"{place}/items/{second['id']}")).json() == second
        removed = await at.http.delete(f"{place}/items/{first['id']}")
        assert removed.json()["object"] == "conversation"
        assert (await at.http.get(f"{place}/items/{first['id']}")).status_code == 404
        conversation = place.rpartition("/")[2]
        await at.http.post(PLACE, json=asked("C", conversation=conversation))
        assert "A" not in "".join(text for _, text in sent(at))
        assert "B" in "".join(text for _, text in sent(at))
        updated = await at.http.post(place, json={"metadata": {"n": "1"}})
        assert updated.json()["metadata"] == {"n": "1"}
        assert (await at.http.get(place)).json() == updated.json()
        wrong = [{"items": "x"}, {"items": []}, {"items": [1]}, {"items": [{"role": "user", "content": "x"}] * 21}, {}]
        for body in wrong:
            assert (await at.http.post(f"{place}/items", json=body)).status_code == 400
        assert (await at.http.post(place, json={"metadata": {"n": 1}})).status_code == 400
        gone = (await at.http.delete(place)).json()
        assert gone == {"id": conversation, "object": "conversation.deleted", "deleted": True}
        assert (await at.http.get(f"{place}/items")).status_code == 404
        refused = await at.http.post(PLACE, json=asked("D", conversation=conversation))
        assert refused.status_code == 404


@pytest.mark.asyncio
async def test_a_call_in_a_conversation_is_answered_after_an_item_was_removed(serve: Any, store: str) -> None:
    """The rest of an answer stays what it was to its client: the result comes under the id of its call."""
    async with serve(signed(), Say("Done."), policy=CLAUDE, store=store) as at:
        conversation = (await at.http.post("/v1/conversations")).json()["id"]
        first = (await at.http.post(PLACE, json=asked("A", conversation=conversation, tools=[LIST]))).json()
        reasoning, call = first["output"]
        await at.http.delete(f"/v1/conversations/{conversation}/items/{reasoning['id']}")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "a.txt"}
        body = {"model": "x", "conversation": conversation, "input": [result], "tools": [LIST]}
        assert (await at.http.post(PLACE, json=body)).status_code == 200
        blocks = [block for one in at.fake.sent[-1].request["messages"] for block in one["content"]]
        called = [one["id"] for one in blocks if one["type"] == "tool_use"]
        assert called == [one["tool_use_id"] for one in blocks if one["type"] == "tool_result"]


@pytest.mark.asyncio
async def test_a_response_and_a_conversation_exclude_each_other(serve: Any, store: str) -> None:
    """As at OpenAI."""
    async with serve(policy=CLAUDE, store=store) as at:
        body = asked("A", conversation="conv_1", previous_response_id="resp_1")
        assert (await at.http.post(PLACE, json=body)).status_code == 400


# ---------------------------------------------------------------------------------------------------- completions


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_completions_are_stored_on_request(serve: Any, store: str, stream: bool) -> None:
    """Listed by model and metadata, changed, deleted (#what-is-stored)."""
    place = "/v1/chat/completions"
    async with serve(Say("One."), Say("Two."), Say("Three."), policy=CLAUDE, store=store) as at:
        body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "A"}], "stream": stream}
        await at.http.post(place, json=body)
        assert (await at.http.get(place)).json()["data"] == []
        kept = body | {"store": True, "metadata": {"run": "7"}}
        answer = await at.http.post(place, json=kept)
        assert not [one for one in at.gateway.calls.of("anybody")[0].request_loss if "store" in one["path"]]
        await at.http.post(place, json=body | {"store": True})
        listed = (await at.http.get(place)).json()["data"]
        assert [one["choices"][0]["message"]["content"] for one in listed] == ["Two.", "Three."]
        some = (await at.http.get(place, params={"metadata[run]": "7", "model": "gpt-4.1"})).json()["data"]
        assert [one["metadata"] for one in some] == [{"run": "7"}]
        assert (await at.http.get(place, params={"model": "other"})).json()["data"] == []
        one = f"{place}/{some[0]['id']}"
        assert some[0]["id"] in answer.text
        assert (await at.http.get(one)).json() == some[0]
        messages = (await at.http.get(f"{one}/messages")).json()["data"]
        assert [(row["role"], row["content"]) for row in messages] == [("user", "A")]
        changed = await at.http.post(one, json={"metadata": {"run": "8"}})
        assert changed.json()["metadata"] == {"run": "8"}
        page = (await at.http.get(place, params={"limit": 1})).json()
        assert page["has_more"]
        rest = (await at.http.get(place, params={"after": page["last_id"]})).json()
        assert [row["choices"][0]["message"]["content"] for row in rest["data"]] == ["Three."]
        assert (await at.http.delete(one)).json()["deleted"] is True
        assert (await at.http.get(one)).status_code == 404


# ---------------------------------------------------------------------------------------------------- caches


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_cache_is_put_before_the_request(serve: Any, store: str, stream: bool) -> None:
    """Instructions, tools and contents of it, over any provider (#caches)."""
    async with serve(Say("One."), policy=CLAUDE, store=store) as at:
        cached = {
            "model": "models/gemini-2.5-pro",
            "displayName": "Book",
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "A long book."}]}],
            "tools": [{"functionDeclarations": [{"name": "look", "parameters": {"type": "object"}}]}],
            "ttl": "600s",
        }
        made = (await at.http.post("/v1beta/cachedContents", json=cached)).json()
        assert made["name"].startswith("cachedContents/")
        assert made["expireTime"] == "2026-05-08T12:10:00.000000Z"
        assert made["usageMetadata"]["totalTokenCount"] > 0
        assert "contents" not in made
        verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
        body = {"contents": [{"role": "user", "parts": [{"text": "Who?"}]}], "cachedContent": made["name"]}
        answer = await at.http.post(f"/v1beta/models/gemini-2.5-pro:{verb}", json=body)
        assert answer.status_code == 200
        assert "".join(text for _, text in sent(at)) == "Be brief.A long book.Who?"
        assert [tool["name"] for tool in at.fake.sent[-1].request["tools"]] == ["look"]
        assert "lost" not in answer.headers["interlingua-loss"]


@pytest.mark.asyncio
async def test_a_cache_lives_as_long_as_it_is_to(serve: Any, store: str) -> None:
    """An hour, unless it says otherwise; then it is not there, in the words of the wire."""
    async with serve(policy=CLAUDE, store=store) as at:
        place = "/v1beta/cachedContents"
        body = {"model": "models/gemini-2.5-pro", "contents": [{"role": "user", "parts": [{"text": "Book"}]}]}
        made = (await at.http.post(place, json=body)).json()
        one = f"/v1beta/{made['name']}"
        assert (await at.http.get(one)).json() == made
        at.clock.today += timedelta(minutes=59)
        longer = (await at.http.patch(f"{one}?updateMask=ttl", json={"ttl": "3600s"})).json()
        assert longer["expireTime"] == "2026-05-08T13:59:00.000000Z"
        at.clock.today += timedelta(minutes=59)
        assert [row["name"] for row in (await at.http.get(place)).json()["cachedContents"]] == [made["name"]]
        asked = {"contents": body["contents"], "cachedContent": made["name"]}
        at.clock.today += timedelta(minutes=2)
        gone = {
            "error": {
                "code": 403,
                "message": "CachedContent not found (or permission denied)",
                "status": "PERMISSION_DENIED",
            }
        }
        for answer in (
            await at.http.get(one),
            await at.http.patch(one, json={"ttl": "1s"}),
            await at.http.delete(one),
            await at.http.post("/v1beta/models/gemini-2.5-pro:generateContent", json=asked),
        ):
            assert (answer.status_code, answer.json()) == (403, gone)
        again = (await at.http.post(place, json=body | {"expireTime": "2026-05-08T20:00:00Z"})).json()
        assert (await at.http.delete(f"/v1beta/{again['name']}")).json() == {}
        for wrong in (
            {"ttl": "x"},
            {"ttl": "0s"},
            {"ttl": 5},
            {"expireTime": "never"},
            {"expireTime": "2020-01-01T00:00:00Z"},
        ):
            assert (await at.http.post(place, json=body | wrong)).status_code == 400
        assert (await at.http.post(place, json={"contents": []})).status_code == 400


@pytest.mark.asyncio
async def test_a_cache_is_one_of_a_model(serve: Any, store: str) -> None:
    """Another model is refused, and so is a request that has instructions or tools of its own beside it."""
    async with serve(policy=CLAUDE, store=store) as at:
        body = {"model": "models/gemini-2.5-pro", "contents": [{"role": "user", "parts": [{"text": "Book"}]}]}
        name = (await at.http.post("/v1beta/cachedContents", json=body)).json()["name"]
        asked = {"contents": body["contents"], "cachedContent": name}
        other = await at.http.post("/v1beta/models/gemini-2.5-flash:generateContent", json=asked)
        assert other.status_code == 400
        both = asked | {"systemInstruction": {"parts": [{"text": "x"}]}}
        assert (await at.http.post("/v1beta/models/gemini-2.5-pro:generateContent", json=both)).status_code == 400
        pages = [(await at.http.post("/v1beta/cachedContents", json=body)).json()["name"] for _ in range(2)]
        first = (await at.http.get("/v1beta/cachedContents", params={"pageSize": 2})).json()
        rest = (await at.http.get("/v1beta/cachedContents", params={"pageToken": first["nextPageToken"]})).json()
        names = [row["name"] for row in first["cachedContents"] + rest["cachedContents"]]
        assert sorted(names) == sorted([name, *pages])


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["%00", "a%00b", "x" * 5000, "..", "%2e%2e", "'; DROP TABLE objects"])
async def test_odd_ids_are_ids_of_nothing(serve: Any, store: str, name: str) -> None:
    """Whatever stands in a path or a body."""
    async with serve(policy=CLAUDE, store=store) as at:
        for place in (f"{PLACE}/{name}", f"/v1/conversations/{name}/items", f"/v1/chat/completions/{name}"):
            assert (await at.http.get(place)).status_code in (404, 405)
        refused = await at.http.post(PLACE, json=asked("A", previous_response_id=f"resp_{name}\0"))
        assert refused.json()["error"]["code"] == "previous_response_not_found"


# ---------------------------------------------------------------------------------------------------- servers and databases


def _post(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def test_a_conversation_survives_its_server(store: str) -> None:
    """Killed between two calls: another server on the same database goes on (spec/12-sessions.md#durable)."""
    command = [sys.executable, "-m", "interlingua", "serve", "--replay", "--json", "--no-grpc", "--http-port", "0"]
    previous: dict[str, Any] = {}
    for text in ("Hello", "And then?", "At last?"):
        process = subprocess.Popen([*command, "--sessions", store], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            assert process.stdout is not None
            port = json.loads(process.stdout.readline())["http_port"]
            body = {"model": "replay:gpt-5.4", "input": text, **previous}
            answer = _post(port, PLACE, body)
            previous = {"previous_response_id": answer["id"]}
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{PLACE}/{answer['id']}/input_items") as listed:
                said = [item for item in json.loads(listed.read())["data"] if item.get("role") == "user"]
        finally:
            process.kill()
            process.wait(60)
            if process.stdout is not None:
                process.stdout.close()
    assert [item["content"][0]["text"] for item in said] == ["At last?", "And then?", "Hello"]


@pytest.mark.asyncio
async def test_a_database_of_the_version_before_gets_the_table(serve: Any, tmp_path: Path) -> None:
    """What is in it stays."""
    path = tmp_path / "old.db"
    async with Sessions(f"sqlite:///{path}", model="replay:claude-sonnet-4-6") as sessions:
        kept = (await sessions.create()).id
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE objects")
        database.execute("DELETE FROM storage_version")
        database.execute("INSERT INTO storage_version VALUES (1)")
    database.close()
    async with serve(Say("One."), policy=CLAUDE, store=f"sqlite:///{path}") as at:
        answer = (await at.http.post(PLACE, json=asked("A"))).json()
        assert (await at.http.get(f"{PLACE}/{answer['id']}")).status_code == 200
    async with Sessions(f"sqlite:///{path}", model="replay:claude-sonnet-4-6") as sessions:
        assert (await sessions.info(kept)).id == kept


@pytest.mark.asyncio
async def test_what_the_client_answers_to_a_stored_call_of_a_built_in_tool_is_its_result(
    serve: Any, store: str
) -> None:
    """The call is stored with the answer, and its output comes alone (spec/1-values.md#built-in-tools)."""
    tools = [{"type": "shell", "environment": {"type": "local"}}]
    ran = [{"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    async with serve(Say(calls=[("shell", {"commands": ["ls"]})]), Say("One file."), policy=CLAUDE, store=store) as at:
        first = (await at.http.post(PLACE, json=asked("Look.", tools=tools))).json()
        [call] = first["output"]
        assert call["type"] == "shell_call"
        output = {"type": "shell_call_output", "call_id": call["call_id"], "output": ran}
        again = {"model": "gpt-5.4", "previous_response_id": first["id"], "input": [output], "tools": tools}
        answer = await at.http.post(PLACE, json=again)
        assert answer.status_code == 200, answer.text
        assert "lost" not in answer.headers["interlingua-loss"]
        blocks = [block for message in at.fake.sent[1].request["messages"] for block in message["content"]]
        assert [block["type"] for block in blocks] == ["text", "tool_use", "tool_result"]
        assert json.loads(blocks[2]["content"][0]["text"]) == ran
