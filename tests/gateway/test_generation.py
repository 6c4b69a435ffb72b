"""Generations: any client of any wire, any provider behind (spec/11-gateway.md#generation)."""

import asyncio
import json
import threading
from typing import Any

import httpx
import pytest

from interlingua.client.fake import Bytes, Fail, Refuse, Say
from tests.gateway import wires

SAID = Say("Two files.", calls=[("list", {"path": "."})], usage={"input_tokens": 10, "output_tokens": 5})


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("behind", wires.WIRES)
@pytest.mark.parametrize("wire", wires.WIRES)
async def test_any_client_is_answered_by_any_provider(serve: Any, wire: str, behind: str, stream: bool) -> None:
    """The client reads the answer in its own wire, and the record of the call says who gave it."""
    policy = {"version": 1, "serve": {"*": wires.BEHIND[behind]}}
    async with serve(SAID, policy=policy) as at:
        answer = await at.http.post(wires.path(wire, stream=stream), json=wires.body(wire, stream=stream))
        assert answer.status_code == 200, answer.text
        response = wires.answer(wire, answer.content, stream=stream)
        assert wires.text(response) == "Two files."
        assert wires.calls(response) == [("list", {"path": "."})]
        assert response["finish_reason"] == "tool_calls"
        assert response["usage"]["output_tokens"] == 5
        assert answer.headers["interlingua-model"] == wires.BEHIND[behind]
        assert at.fake.sent[0].request["messages"][-1]["content"][0]["text"] == "What is in here?"
        record = (await at.http.get(f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}")).json()
        assert (record["model"], record["status"], record["streamed"]) == (wires.BEHIND[behind], 200, stream)
        assert record["usage"]["output_tokens"] == 5


@pytest.mark.asyncio
@pytest.mark.parametrize("wire", wires.WIRES)
async def test_a_request_to_its_own_wire_goes_out_as_it_came(serve: Any, wire: str) -> None:
    """Members that nobody knows are sent on (spec/11-gateway.md#same-wire)."""
    policy = {"version": 1, "serve": {"*": wires.BEHIND[wire]}}
    body = wires.body(wire) | {"never_heard_of": {"a": [1, None]}}
    async with serve(Say("Yes."), policy=policy) as at:
        assert (await at.http.post(wires.path(wire), json=body)).status_code == 200
        name = wires.BEHIND[wire].partition(":")[2]
        assert at.fake.sent[0].json == (body | {"model": name} if "model" in body else body)


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_bears_the_time_of_the_call(serve: Any, stream: bool) -> None:
    """On wires whose answers have one, where the provider behind says none: clients sort and show by it."""
    wanted = {
        "openai_chat": b'"created":1778241600',
        "openai_responses": b'"created_at":1778241600',
        "ollama_chat": b'"created_at":"2026-05-08T12:00:00Z"',
    }
    async with serve(*[Say("Yes.")] * len(wanted)) as at:
        for wire, words in wanted.items():
            body = wires.body(wire, model="anthropic:claude-sonnet-4-6") | {"stream": stream}
            answer = await at.http.post(wires.path(wire), json=body)
            assert answer.status_code == 200
            assert words in answer.content
            assert b"1970" not in answer.content


@pytest.mark.asyncio
async def test_a_provider_of_the_same_wire_is_asked_in_its_own_dialect(serve: Any) -> None:
    """A client that speaks Chat to groq is a client of groq: what only groq knows arrives there."""
    body = wires.body("openai_chat", model="groq:llama-3.3-70b-versatile") | {"service_tier": "flex"}
    async with serve(Say("Yes.")) as at:
        answer = await at.http.post("/v1/chat/completions", json=body)
        assert answer.headers["interlingua-loss"] == "none"
        assert at.fake.sent[0].json == body | {"model": "llama-3.3-70b-versatile"}


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_state_of_the_provider_behind_comes_back(serve: Any, stream: bool) -> None:
    """A signature that the client's wire has no place for rides in the id of the call (spec/11-gateway.md#state-in-ids)."""
    signed = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "stop_reason": "tool_use",
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [
            {"type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmVk"},
            {"type": "tool_use", "id": "toolu_9", "name": "list", "input": {}},
        ],
    }  # fmt: skip
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    tools = [{"type": "function", "function": {"name": "list", "parameters": {"type": "object"}}}]
    first = Bytes([json.dumps(signed).encode()], headers={"content-type": "application/json"})
    async with serve(first, Say("Done."), policy=policy) as at:
        body = wires.body("openai_chat") | {"tools": tools}
        message = (await at.http.post("/v1/chat/completions", json=body)).json()["choices"][0]["message"]
        call = message["tool_calls"][0]
        # a client that keeps the standard members alone
        kept = {"role": "assistant", "content": None, "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": call["id"], "content": "a.txt"}
        again = body | {"messages": [*wires.TURN, kept, result], "stream": stream}
        assert (await at.http.post("/v1/chat/completions", json=again)).status_code == 200
        sent = at.fake.sent[1].json["messages"]
        assert sent[1]["content"] == signed["content"]
        assert sent[2]["content"][0]["tool_use_id"] == "toolu_9"


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_an_answer_names_the_model_that_was_asked_for_and_has_an_id_of_its_own(serve: Any, stream: bool) -> None:
    """Where the policy maps a name, the header says who answered (spec/11-gateway.md#shown-model). Ollama gives no id,
    and clients take two answers of one id for one message."""
    policy = {"version": 1, "serve": {"claude-*": "ollama-cloud:qwen3"}}
    body = wires.body("anthropic_messages", stream=stream)
    line = {"model": "qwen3", "message": {"role": "assistant", "content": "Yes."}, "done": True, "done_reason": "stop"}
    step = Bytes([json.dumps(line).encode() + b"\n"], headers={"content-type": "application/x-ndjson"})
    async with serve(step, step, policy=policy) as at:
        answers = [await at.http.post("/v1/messages", json=body) for _ in range(2)]
        read = [wires.answer("anthropic_messages", answer.content, stream=stream) for answer in answers]
        assert [response["model"] for response in read] == ["anthropic:claude-sonnet-4-6"] * 2
        assert [answer.headers["interlingua-model"] for answer in answers] == ["ollama-cloud:qwen3"] * 2
        assert read[0]["id"] != read[1]["id"]


REFUSED = {
    "type": "error",
    "error": {"type": "rate_limit_error", "message": "Slow down, please."},
    "request_id": "req_1",
}


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", wires.WIRES)
async def test_a_failure_is_one_of_the_clients_wire(serve: Any, wire: str, stream: bool) -> None:
    """Before the first event it is a status, a body, and how long to wait (spec/11-gateway.md#errors)."""
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    async with serve(Refuse(429, REFUSED, {"retry-after": "7"}), policy=policy) as at:
        answer = await at.http.post(wires.path(wire, stream=stream), json=wires.body(wire, stream=stream))
        from interlingua import read_error

        assert answer.status_code == 429
        error = read_error(answer.status_code, answer.headers, answer.content, wire)
        assert error["category"] == "rate_limit"
        if wire == "anthropic_messages":
            assert answer.json() == REFUSED
            assert answer.headers["retry-after"] == "7"


@pytest.mark.asyncio
async def test_a_failure_after_the_first_event_ends_the_stream(serve: Any) -> None:
    """What had arrived stays, and the client's own reader finds the error at the end."""
    head = b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    start = b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
    delta = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Two"}}\n\n'
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    async with serve(Bytes([head, start, delta], breaks="network"), policy=policy) as at:
        answer = await at.http.post("/v1/chat/completions", json=wires.body("openai_chat", stream=True))
        assert answer.status_code == 200
        from interlingua import read_stream

        events = list(read_stream([answer.content], "openai_chat"))
        assert events[-1]["type"] == "error"
        assert "Two" in answer.text
        record = (await at.http.get("/v1/interlingua/calls")).json()["calls"][0]
        assert record["category"] == "network"


@pytest.mark.asyncio
async def test_what_is_lost_is_counted_and_told_in_full(serve: Any) -> None:
    """The header counts, the record has every entry, without the values (spec/11-gateway.md#visible-loss)."""
    policy = {"version": 1, "serve": {"*": "openai:gpt-4.1"}}
    body = wires.body("anthropic_messages") | {"top_k": 5}
    async with serve(Say("Yes."), Say("Yes."), policy=policy) as at:
        answer = await at.http.post("/v1/messages", json=body)
        entries = (await at.http.get(f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}")).json()
        assert [(one["op"], one["path"]) for one in entries["request_loss"]] == [("drop", "/top_k")]
        assert "weakened=" in answer.headers["interlingua-loss"]
        assert all("value" not in one for one in entries["request_loss"] + entries["answer_loss"])
        streamed = await at.http.post("/v1/messages", json=body | {"stream": True})
        comments = [line for line in streamed.text.splitlines() if line.startswith(":")]
        assert comments[-1].startswith(": interlingua-loss ")
        assert "weakened=" in comments[-1]


@pytest.mark.asyncio
async def test_strict_refuses_before_anything_is_sent(serve: Any) -> None:
    """The header refuses a projection; the provider is not asked (spec/11-gateway.md#strict-header)."""
    policy = {"version": 1, "serve": {"*": "openai:gpt-4.1"}}
    body = wires.body("anthropic_messages") | {"top_k": 5}
    async with serve(policy=policy) as at:
        answer = await at.http.post("/v1/messages", json=body, headers={"interlingua-strict": "weakened"})
        assert answer.status_code == 400
        assert not at.fake.sent
        odd = await at.http.post("/v1/messages", json=body, headers={"interlingua-strict": "very"})
        assert odd.status_code == 400
        assert "representation, weakened, lost" in odd.json()["error"]["message"]


@pytest.mark.asyncio
async def test_headers_go_to_a_provider_of_the_same_wire_alone(serve: Any) -> None:
    """A beta goes along and limits come back on the same wire (spec/11-gateway.md#request-headers, #answer-headers)."""
    said = {"x-ratelimit-remaining-requests": "9", "request-id": "req_7", "set-cookie": "a=b"}
    body = {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    step = Bytes([json.dumps(body).encode()], headers={"content-type": "application/json", **said})
    policy = {
        "version": 1,
        "serve": {"claude-*": "anthropic:claude-sonnet-4-6", "gpt-*": "anthropic:claude-sonnet-4-6"},
    }
    async with serve(step, step, policy=policy) as at:
        beta = {"anthropic-beta": "context-1m-2025-08-07", "x-private": "1", "anthropic-version": "2023-06-01"}
        own = await at.http.post("/v1/messages", json=wires.body("anthropic_messages"), headers=beta)
        other = await at.http.post("/v1/chat/completions", json=wires.body("openai_chat"), headers=beta)
        assert at.fake.sent[0].headers["anthropic-beta"] == "context-1m-2025-08-07"
        assert "anthropic-beta" not in at.fake.sent[1].headers
        assert all("x-private" not in sent.headers for sent in at.fake.sent)
        assert own.headers["request-id"] == "req_7"
        assert own.headers["x-ratelimit-remaining-requests"] == "9"
        assert "set-cookie" not in own.headers
        assert "request-id" not in other.headers


@pytest.mark.asyncio
async def test_a_gemini_stream_is_an_array_or_events(serve: Any) -> None:
    """The query says which (spec/11-gateway.md#gemini-array)."""
    place = "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    async with serve(SAID, SAID, Refuse(500), policy=policy) as at:
        array = await at.http.post(place, json=wires.body("gemini_generate"))
        assert array.headers["content-type"] == "application/json"
        assert [part["text"] for part in array.json()[0]["candidates"][0]["content"]["parts"]] == ["Two"]
        assert wires.text(wires.answer("gemini_generate", array.content, stream=True)) == "Two files."
        events = await at.http.post(f"{place}?alt=sse", json=wires.body("gemini_generate"))
        assert events.headers["content-type"].startswith("text/event-stream")
        failed = await at.http.post(place, json=wires.body("gemini_generate"))
        assert failed.status_code == 500
        assert failed.json()["error"]["code"] == 500


@pytest.mark.asyncio
async def test_a_client_that_goes_away_ends_the_call(serve: Any) -> None:
    """Whole or streamed, the call to the provider is closed (spec/11-gateway.md#disconnect)."""
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    slow = Say("One two three four five six seven eight", pause=0.05)
    async with serve(slow, Say("Later.", delay=30), policy=policy, connected=True) as at:
        body = wires.body("openai_chat", stream=True)
        async with at.http.stream("POST", "/v1/chat/completions", json=body) as answer:
            async for _ in answer.aiter_lines():
                break
        await _until(lambda: at.fake.answers and at.fake.answers[0].closed)
        await _until(lambda: at.gateway.calls.of("anybody")[0].category == "cancelled")
        with pytest.raises(httpx.ReadTimeout):
            await at.http.post("/v1/chat/completions", json=wires.body("openai_chat"), timeout=0.2)
        await _until(lambda: at.gateway.calls.of("anybody")[0].category == "cancelled")


async def _until(holds: Any) -> None:
    for _ in range(200):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.mark.asyncio
async def test_a_client_that_does_not_read_stops_the_provider(serve: Any) -> None:
    """At most what the buffers between them hold is read ahead (spec/11-gateway.md#disconnect)."""
    taken = 0

    def endless() -> Any:
        nonlocal taken
        yield b'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"gpt-4.1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n'
        piece = json.dumps({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1",
                            "choices": [{"index": 0, "delta": {"content": "x" * 4000}, "finish_reason": None}]})  # fmt: skip
        for _ in range(20_000):
            taken += 1
            yield f"data: {piece}\n\n".encode()

    async with serve(Bytes(endless()), connected=True) as at:
        body = wires.body("openai_chat", stream=True)
        async with at.http.stream("POST", "/v1/chat/completions", json=body) as answer:
            assert answer.status_code == 200
            await asyncio.sleep(0.5)
            seen = taken
            await asyncio.sleep(0.3)
            assert taken == seen < 10_000


@pytest.mark.asyncio
async def test_a_large_request_is_decided_where_the_observers_are(serve: Any) -> None:
    """It is read in another thread, and its decision is published in that of the event loop, once."""
    body = wires.body("anthropic_messages") | {"messages": [{"role": "user", "content": "x" * 400_000}]}
    seen: list[int] = []
    async with serve(Say("Yes.")) as at:
        at.gateway.routing.events.subscribe(lambda _: seen.append(threading.get_ident()))
        assert (await at.http.post("/v1/messages", json=body)).status_code == 200
    assert seen == [threading.get_ident()]


@pytest.mark.asyncio
async def test_a_network_failure_is_told_in_the_wires_words(serve: Any) -> None:
    """Nobody answered: the status is one of a gateway, and no content stands in it."""
    async with serve(Fail("network")) as at:
        answer = await at.http.post("/v1/messages", json=wires.body("anthropic_messages"))
        assert answer.status_code >= 500
        assert answer.json()["type"] == "error"
