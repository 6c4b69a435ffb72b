"""What the cases of ollama_chat cannot say: own state edited, clients of every age, schemas, capabilities, odd streams."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from encoding import frames_of
from hypothesis import given
from hypothesis import strategies as st

from interlingua import registry
from interlingua.adapters import ollama_chat as adapter
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, InvalidWire, ProviderError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import apply, difference, visible
from interlingua.translate import StreamReader, load, project, read_response, read_stream, write_response, write_stream

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "laws"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance"))

from runner.oracles import violations
from strategies import requests

Data = dict[str, Any]
HERE = Endpoint("ollama_chat", "ollama", "qwen3:4b")
PNG = "iVBORw0KGgo="


def text(words: str) -> Data:
    return {"type": "text", "text": words}


def said(role: str, *blocks: Any) -> Data:
    return {"role": role, "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def use(identity: str, name: str = "look_up", **members: Any) -> Data:
    return {"type": "tool_use", "id": identity, "name": name, "input": {}, **members}


def result(identity: str, *blocks: Any) -> Data:
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    return {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": identity, "content": content}]}


def read(*messages: Data, **members: Any) -> Data:
    body = {"model": "qwen3:4b", "stream": False, "messages": list(messages), **members}
    request, loss = adapter.from_wire_request({"path": "/api/chat", "body": body}, HERE, DERIVED_IDS)
    assert loss == []
    load(request)
    return request


def write(request: Data, endpoint: Endpoint = HERE) -> tuple[Data, list[Data]]:
    """The body and the report; the loss law holds."""
    load(request)
    wire, loss = adapter.to_wire(request, endpoint)
    again, _ = adapter.from_wire_request(wire, endpoint, DERIVED_IDS)
    assert difference(visible(apply(request, loss)), visible(again)) is None
    return wire["body"], loss


def codes(loss: list[Data]) -> list[tuple[str, str]]:
    return [(entry["path"], entry["code"]) for entry in loss]


# ---------------------------------------------------------------------------------------------------- the law


def as_ours(value: Any) -> Any:
    """A request of the strategies in which one origin is this wire."""
    names = {"openai_chat": "ollama_chat", "openai": "ollama"}
    if isinstance(value, dict):
        return {names.get(key, key): as_ours(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_ours(item) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


@given(request=requests.map(as_ours))
def test_the_law_holds_for_state_of_this_wire(request: Data) -> None:
    load(request)
    try:
        projection = project(request, HERE)
    except InvalidRequest as refusal:
        if refusal.path is None:
            raise AssertionError("a refusal points somewhere") from refusal
        return
    again, _ = adapter.from_wire_request(projection.wire, HERE, DERIVED_IDS)

    assert difference(visible(apply(request, projection.loss)), visible(again)) is None
    assert [] == violations("ollama_chat", projection.wire)


types = st.sampled_from(["string", "integer", "object", ["string", "null"]])
leaves = st.fixed_dictionaries(
    {},
    optional={
        "type": types,
        "description": st.just("What."),
        "enum": st.just(["a"]),
        "const": st.just("b"),
        "minimum": st.integers(0, 9),
        "format": st.just("date"),
        "title": st.just("T"),
        "$ref": st.sampled_from(["#/$defs/node", "#/$defs/leaf", "#/elsewhere"]),
        "additionalProperties": st.booleans(),
    },
)
schemas = st.recursive(
    leaves,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from(["a", "b/c", "d~"]), st.one_of(inner, st.booleans())),
            "required": st.just(["a"]),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "items": inner,
            "pattern": st.just("^a"),
        },
    ),
    max_leaves=12,
)
DEFINITIONS = {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}, "leaf": {"const": 1}}


@given(schema=schemas, defined=st.booleans())
def test_any_schema_is_fitted_and_accounted_for(schema: Data, defined: bool) -> None:
    if defined:
        schema = {**schema, "$defs": DEFINITIONS}
    tool = {"name": "f", "input_schema": schema}

    body, _ = write({"messages": [said("user", "Hi.")], "tools": [tool]})

    wire = {"body": {**body, "model": "m"}}
    assert [] == violations("ollama_chat", wire)


def test_a_result_finds_a_call_that_has_an_id_since_its_state_was_taken_away() -> None:
    """The second call has none: a result that says nothing is read as that of the first call without an id."""
    calls = [{"function": {"name": "f", "arguments": {}}} for _ in range(2)]
    asked = [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": calls}]
    asked += [{"role": "tool", "content": "ok"}] * 2
    request = read(*asked)
    del request["messages"][1]["content"][0]["provider_state"]
    body, _ = write(request)
    again = read(*body["messages"])["messages"]
    called = [block["id"] for block in again[1]["content"]]
    assert called == [message["content"][0]["tool_use_id"] for message in again[2:]]


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"type": "object", "$defs": DEFINITIONS, "properties": {"root": {"$ref": "#/$defs/node"}}}

    body, loss = write({"messages": [said("user", "Hi.")], "tools": [{"name": "f", "input_schema": schema}]})

    assert "$ref" not in json.dumps(body["tools"][0]["function"]["parameters"]["properties"])
    assert len(loss) < 100


# ---------------------------------------------------------------------------------------------------- calls and results


def call(name: str, wire_id: str | None = None, **arguments: Any) -> Data:
    return {**({"id": wire_id} if wire_id else {}), "function": {"name": name, "arguments": arguments}}


def pairs(request: Data) -> list[tuple[str, str]]:
    """The name of each result's call, and what the result says."""
    names = {b["id"]: b["name"] for m in request["messages"] for b in m["content"] if b["type"] == "tool_use"}
    results = [m["content"][0] for m in request["messages"] if m["role"] == "tool"]
    return [(names.get(block["tool_use_id"], "?"), block["content"][0]["text"]) for block in results]


@pytest.mark.parametrize(
    ("calls", "results"),
    [
        ([call("a", "c1"), call("b", "c2")], [{"tool_call_id": "c2"}, {"tool_call_id": "c1"}]),
        ([call("a", "c1"), call("b", "c2")], [{"tool_name": "b"}, {"tool_name": "a"}]),
        ([call("a"), call("b")], [{"tool_name": "b"}, {"tool_name": "a"}]),
        ([call("b"), call("a")], [{}, {}]),
        ([call("b"), call("a")], [{"tool_call_id": "x", "tool_name": "b"}, {"tool_call_id": "y", "tool_name": "a"}]),
    ],
    ids=["by id", "by name, with ids", "by name, without ids", "by position", "by name, with foreign ids"],
)
def test_results_find_their_calls(calls: list[Data], results: list[Data]) -> None:
    told = [{"role": "tool", "content": words, **members} for words, members in zip("BA", results, strict=True)]
    assistant = {"role": "assistant", "content": "", "tool_calls": calls}

    request = read(assistant, *told)

    assert pairs(request) == [("b", "B"), ("a", "A")]
    assert adapter.to_wire(request, HERE)[0]["body"]["messages"] == [assistant, *told]


def test_a_result_without_its_call_keeps_what_it_says() -> None:
    alone = {"role": "tool", "content": "rain", "tool_name": "get_weather", "tool_call_id": "call_gone0001"}

    request = read(alone)

    assert adapter.to_wire(request, HERE)[0]["body"]["messages"] == [alone]
    assert request["messages"][0]["provider_state"]["fields"] == {"tool_name": "get_weather"}


def test_results_of_no_call_are_not_one() -> None:
    request = read(
        {"role": "assistant", "content": "", "tool_calls": [call("f")]},
        {"role": "assistant", "content": "No."},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": "two"},
    )
    identities = [message["content"][0].get("tool_use_id") for message in request["messages"][2:]]

    assert len({request["messages"][0]["content"][0]["id"], *identities}) == 3


def test_the_same_id_in_two_turns_names_two_calls() -> None:
    turn = {"role": "assistant", "content": "", "tool_calls": [call("a", "call_0")]}
    answer = {"role": "tool", "content": "A", "tool_name": "a", "tool_call_id": "call_0"}

    request = read(turn, answer, turn, answer)

    first, _, second, _ = (message["content"][0] for message in request["messages"])
    assert first["id"] != second["id"]
    assert [message["content"][0].get("tool_use_id") for message in request["messages"]][1::2] == [
        first["id"],
        second["id"],
    ]


def test_calls_without_ids_of_two_answers_differ() -> None:
    def answer(created: str) -> Data:
        message = {"role": "assistant", "content": "", "tool_calls": [call("a")]}
        body = {"model": "m", "created_at": created, "message": message, "done": True, "done_reason": "stop"}
        return adapter.from_wire_response(body, HERE)[0]["message"]["content"][0]

    assert answer("2026-01-01T00:00:00Z")["id"] != answer("2026-01-01T00:00:01Z")["id"]
    assert answer("2026-01-01T00:00:00Z") == answer("2026-01-01T00:00:00Z")


def test_a_new_result_for_an_own_call() -> None:
    request = read({"role": "assistant", "content": "", "tool_calls": [call("a"), call("b", "call_b")]})
    first, second = request["messages"][0]["content"]
    request["messages"] += [result(first["id"], "A"), result(second["id"], "B")]

    body, _ = write(request)

    assert body["messages"][1:] == [
        {"role": "tool", "content": "A", "tool_name": "a"},
        {"role": "tool", "content": "B", "tool_name": "b", "tool_call_id": "call_b"},
    ]


def test_results_leave_other_turns_where_they_are() -> None:
    messages = [
        said("user", "Hi."),
        said("assistant", use("tu_01", "a"), use("tu_02", "b")),
        said("user", "Hurry."),
        result("tu_02", "B"),
        said("system", "Be brief."),
        result("tu_01", "A"),
        said("assistant", "Done."),
    ]

    body, loss = write({"messages": messages})

    assert [message["content"] for message in body["messages"]] == [
        "Hi.", "", "A", "B", "Hurry.", "Be brief.", "Done."
    ]  # fmt: skip
    assert {entry["code"] for entry in loss} == {"reordered"}


def test_calls_and_results_that_do_not_pair_go_back_as_they_came() -> None:
    wire = [
        {"role": "user", "content": "Add."},
        {"role": "tool", "content": "4", "tool_name": "add", "tool_call_id": "call_0"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "function": {"name": "add", "arguments": {}}}]},
        {"role": "user", "content": "Never mind."},
    ]  # fmt: skip
    body = read(*wire)

    assert write(body)[0]["messages"] == wire

    body["messages"][2]["content"][0]["provider_state"].pop("encoding")
    with pytest.raises(InvalidRequest, match="no result") as refusal:
        write(body)
    assert refusal.value.path == "/messages/2/content/0"


def test_arguments_as_text_are_kept_unless_the_call_was_edited() -> None:
    body = read(
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "a", "arguments": '{"x": 1}'}}]}
    )
    block = body["messages"][0]["content"][0]
    assert block["input"] == {"x": 1}

    block["input"] = {"x": 2}

    assert write(body)[0]["messages"][0]["tool_calls"][0]["function"]["arguments"] == {"x": 2}


def test_members_that_nobody_knows_survive_inside_of_calls() -> None:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "a", "arguments": {}, "x_planted": [1]}, "x_planted": None}],
    }

    assert write(read(message))[0]["messages"] == [message]


# ---------------------------------------------------------------------------------------------------- other parts


def test_an_own_message_that_was_edited() -> None:
    request = read({"role": "Assistant", "content": None, "thinking": "", "tool_calls": [call("a", "c")]})
    request["messages"][0]["content"].insert(0, text("One moment."))

    body, loss = write(request)

    assert body["messages"][0]["content"] == "One moment."
    assert body["messages"][0]["role"] == "Assistant"
    assert loss == []


def test_own_images_that_are_no_data_go_back_as_they_came() -> None:
    message = {
        "role": "user",
        "content": "",
        "images": [PNG, f"data:image/png;base64,{PNG}", "https://example.com/a.png"],
    }

    request = read(message)

    assert [block["source"]["kind"] for block in request["messages"][0]["content"]] == ["base64", "base64", "url"]
    assert write(request)[0]["messages"] == [message]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": "Hi."}, "/messages"),
        ({"messages": [{"role": "user", "content": [text("Hi.")]}]}, "/messages/0"),
        ({"messages": [{"role": "judge", "content": "Hi."}]}, "/messages/0"),
        ({"messages": [{"role": "user", "content": "Hi."}, {"role": "tool", "tool_name": 7}]}, "/messages/1"),
        ({"messages": [{"role": "user", "content": "Hi.", "images": PNG}]}, "/messages/0"),
    ],
)
def test_what_cannot_be_read_is_named(body: Data, path: str) -> None:
    with pytest.raises(InvalidWire) as caught:
        adapter.from_wire_request({"body": body}, HERE, DERIVED_IDS)

    assert caught.value.path == path


def test_a_request_needs_a_message_unless_it_came_from_this_wire() -> None:
    with pytest.raises(InvalidRequest, match="at least one message"):
        adapter.to_wire({"messages": []}, HERE)

    for body in ({"model": "m"}, {"model": "m", "messages": []}, {"model": "m", "messages": None, "keep_alive": 0}):
        request, _ = adapter.from_wire_request({"body": body}, HERE, DERIVED_IDS)
        assert adapter.to_wire(request, Endpoint("ollama_chat", "ollama"))[0]["body"] == body


def test_calls_and_results_stand_in_messages_of_their_roles() -> None:
    for message in (said("user", use("tu_01")), said("tool", "rain"), result("tu_01", use("tu_02"))):
        with pytest.raises(InvalidRequest) as caught:
            adapter.to_wire({"messages": [message]}, HERE)
        assert (caught.value.path or "").startswith("/messages/0/content")


def test_a_model_that_takes_less() -> None:
    small = Endpoint(
        "ollama_chat",
        "ollama",
        "small",
        capabilities={
            "supports_images": False,
            "supports_tools": False,
            "supports_thinking": False,
            "supports_structured_output": False,
            "supports_seed": False,
            "supports_logprobs": False,
            "max_output_tokens": 100,
        },
    )
    image = {"type": "image", "source": {"kind": "base64", "data": PNG}, "media_type": "image/png"}
    request = {
        "messages": [said("user", "Look.", image)],
        "tools": [{"name": "f"}],
        "reasoning": {"effort": "high"},
        "response_format": {"type": "json_schema", "schema": {"type": "object"}},
        "seed": 1,
        "logprobs": True,
        "max_output_tokens": 500,
    }

    body, loss = write(request, small)

    assert '{"type":"object"}' in body["messages"].pop(0)["content"]
    assert body == {
        "model": "small",
        "messages": [{"role": "user", "content": "Look."}],
        "format": "json",
        "stream": False,
        "options": {"num_predict": 100},
    }
    assert {entry["code"] for entry in loss} == {"unsupported_model", "limit_exceeded", "response_format"}

    own = read({"role": "user", "content": "Look.", "images": [PNG]}, think=True)
    assert codes(write(own, small)[1]) == [
        ("/messages/0/content/0", "unsupported_model"),
        ("/reasoning", "unsupported_model"),
    ]
    assert write(own)[1] == []


# ---------------------------------------------------------------------------------------------------- answers and streams


def test_an_error_with_status_200() -> None:
    with pytest.raises(ProviderError) as caught:
        adapter.from_wire_response({"error": "model runner has unexpectedly stopped"}, HERE)
    assert caught.value.to_dict()["category"] == "server_error"

    bodies: list[dict[str, Any]] = [{}, {"message": "Hi."}, {"message": {"content": 7}}]
    for body in bodies:
        with pytest.raises(InvalidAnswer):
            adapter.from_wire_response(body, HERE)


def test_an_answer_of_another_provider_is_played() -> None:
    state = {"adapter": "anthropic_messages", "provider": "anthropic", "id": "toolu_1"}
    response = {
        "id": "msg_1",
        "model": "anthropic:claude-x",
        "message": said(
            "assistant",
            {"type": "thinking", "text": "Hm.", "signature": "c2ln", "provider_state": {**state}},
            "Rain.",
            use("tu_01", "look_up", input={"q": 1}, provider_state=state),
        ),
        "finish_reason": "tool_calls",
        "usage": {"input_tokens": 5, "cached_input_tokens": 10, "output_tokens": 3},
        "alternatives": [{"message": said("assistant", "Sun."), "finish_reason": "stop"}],
    }
    load(response, "Response")

    body, loss = adapter.to_wire_response(response, HERE, created=1_767_225_600)

    assert body == {
        "model": "claude-x",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {
            "role": "assistant",
            "content": "Rain.",
            "thinking": "Hm.",
            "tool_calls": [{"id": "call_01", "function": {"name": "look_up", "arguments": {"q": 1}}}],
        },
        "prompt_eval_count": 15,
        "eval_count": 3,
        "done": True,
        "done_reason": "stop",
    }
    assert codes(loss) == [
        ("/message/content/0/signature", "unsupported_field"),
        ("/usage/cached_input_tokens", "unsupported_field"),
        ("/usage/input_tokens", "unsupported_field"),
        ("/alternatives", "unsupported_field"),
    ]


def stream(*lines: Any, end: bytes = b"\n") -> list[Data]:
    reader = StreamReader(registry.endpoint(adapter="ollama_chat"))
    raw = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + end
    return reader.feed(raw) + reader.end()


def test_a_last_line_without_an_end() -> None:
    done = {"model": "m", "message": {"role": "assistant", "content": "Hi."}, "done": True, "done_reason": "stop"}

    events = stream(done, end=b"")

    assert [event["type"] for event in events] == [
        "message_start", "block_start", "text_delta", "block_stop", "message_complete"
    ]  # fmt: skip


def test_reasoning_and_text_may_take_turns() -> None:
    pieces = [{"thinking": "A"}, {"content": "b"}, {"thinking": "C"}, {"thinking": "D"}, {"content": "e"}]
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "", **piece}, "done": False} for piece in pieces
    ]

    events = stream(*lines, {"model": "m", "done": True, "done_reason": "stop"})

    content = events[-1]["response"]["message"]["content"]
    assert [(block["type"], block["text"]) for block in content] == [("thinking", "ACD"), ("text", "be")]
    assert events[-1]["places"] == [0, 1, 0, 1]
    told = [event["block"]["text"] for event in events if event["type"] == "block_stop"]
    assert told == ["A", "b", "CD", "e"]


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'"done"', {"message": "Hi.", "done": False}, {"message": {"content": 1}}]
)
def test_a_line_that_cannot_be_read_ends_the_stream(line: Any) -> None:
    first = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": False}

    events = stream(first, line, {"done": True})

    assert events[-1]["type"] == "error"
    assert events[-1]["error"]["category"] == "invalid_response"
    assert events[-1]["response"]["message"]["content"] == [text("Hi")]


def test_events_of_another_wire_are_told_whole() -> None:
    """Another wire may tell a block only at its end, or a call in pieces."""
    call_block = use("tu_01", "look_up", input={"q": 1})
    events = [
        {"type": "message_start", "model": "openai:gpt"},
        {"type": "block_start", "index": 0, "block": {"type": "thinking", "text": "H"}},
        {"type": "block_stop", "index": 0, "block": {"type": "thinking", "text": "Hm."}},
        {"type": "block_start", "index": 1, "block": {**call_block, "input": {}}},
        {"type": "tool_use_start", "index": 1, "id": "tu_01", "name": "look_up"},
        {"type": "tool_use_input_delta", "index": 1, "id": "tu_01", "text": '{"q"'},
        {"type": "tool_use_input_delta", "index": 1, "id": "tu_01", "text": ":1}"},
        {"type": "tool_use_end", "index": 1, "id": "tu_01", "name": "look_up", "input": {"q": 1}},
        {"type": "block_stop", "index": 1, "block": call_block},
        {
            "type": "message_complete",
            "response": {
                "model": "openai:gpt",
                "message": said("assistant", {"type": "thinking", "text": "Hm."}, call_block),
                "finish_reason": "tool_calls",
            },
        },
    ]

    lines = [json.loads(frame.data) for frame in frames_of(adapter, events, HERE)]

    assert [line["message"] for line in lines] == [
        {"role": "assistant", "content": "", "thinking": "H"},
        {"role": "assistant", "content": "", "thinking": "m."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call_01", "function": {"name": "look_up", "arguments": {"q": 1}}}],
        },
        {"role": "assistant", "content": ""},
    ]
    assert lines[-1]["done"] is True
    assert {line["model"] for line in lines} == {"gpt"}


@pytest.mark.parametrize("role", ["", None, False, "Assistant", "odd"])
def test_the_role_of_an_answer_comes_back_as_it_was(role: Any) -> None:
    body = {"model": "m", "created_at": "t", "message": {"role": role, "content": "Hi."}, "done": True}
    endpoint = registry.endpoint(adapter="ollama_chat")
    assert adapter.to_wire_response(adapter.from_wire_response(body, endpoint, DERIVED_IDS)[0], endpoint)[0] == body


def test_an_answer_has_no_images_for_a_client_but_those_that_came_on_this_wire() -> None:
    """The official client for Python fails on the base64 text that the server's own type is written as."""
    told = {"role": "assistant", "content": "Here.", "images": [PNG]}
    body = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": told, "done": True, "done_reason": "stop"}
    own, _ = read_response(body, "ollama_chat")
    assert write_response(own, "ollama_chat") == (body, [])
    line = json.dumps({**body, "done": True})
    events = list(read_stream([line.encode() + b"\n"], "ollama_chat"))
    assert PNG in b"".join(write_stream(events, "ollama_chat")).decode()

    foreign = {"type": "image", "source": {"kind": "base64", "data": PNG}, "media_type": "image/png"}
    content = [{"type": "text", "text": "Here."}, foreign]
    answer = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    written, loss = write_response(answer, "ollama_chat")
    assert "images" not in written["message"]
    assert [(entry["op"], entry["path"], entry["code"], entry["severity"]) for entry in loss] == [
        ("drop", "/message/content/1", "unsupported_block", "lost")
    ]


def test_log_probabilities_that_are_no_list_go_back_as_they_came() -> None:
    body = {
        "model": "qwen3:4b",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": "Yes."},
        "logprobs": {"tokens": 1},
        "done": True,
        "done_reason": "stop",
    }
    response, _ = read_response(json.dumps(body), "ollama_chat")
    assert write_response(response, "ollama_chat")[0] == body
