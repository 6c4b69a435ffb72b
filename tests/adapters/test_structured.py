"""Answers of a given form where the wire has no member for it: asked for otherwise, found again, and read."""

import json
from dataclasses import replace
from typing import Any

import pytest

from interlingua import adapters, registry, translate
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import apply, difference, visible

Data = dict[str, Any]
WIRES = adapters.names()
NAME = "interlingua_answer"
SCHEMA: Data = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SCHEMA_WANTED: Data = {"type": "json_schema", "schema": SCHEMA}
WITHOUT: Data = {"supports_structured_output": False}


def endpoint(wire: str, **capabilities: Any) -> Endpoint:
    return replace(registry.endpoint(adapter=wire), model="m", capabilities=capabilities)


def said(role: str, *texts: str) -> Data:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}


def asking(wanted: Data, *messages: Data, **more: Any) -> Data:
    return {"messages": list(messages or (said("user", "Where?"),)), "response_format": wanted, **more}


def there_and_back(request: Data, target: Endpoint) -> tuple[Data, Data, list[Data]]:
    """The wire, what is read of it, and the report; the loss law holds."""
    translate.load(request)
    projection = translate.project(request, target)
    back, _ = translate.from_wire_request(projection.wire, target)
    assert difference(visible(apply(request, projection.loss)), visible(back)) is None
    return projection.wire, back, projection.loss


FORMS: list[Data] = [
    {"type": "json"},
    SCHEMA_WANTED,
    {**SCHEMA_WANTED, "name": "place", "description": 'A "place",\nof a kind.', "strict": True},
    {"type": "json_schema", "schema": {"type": "array", "items": {"const": 1.0}}},
    {"type": "json_schema", "schema": {"type": "object", "properties": {"of": {"$ref": "#"}}}},
]
CONVERSATIONS: list[list[Data]] = [
    [said("user", "Where?")],
    [said("system", "Be brief."), said("user", "Where?")],
    [said("system", "Be brief.", "Be kind."), said("developer", "Be right.", " "), said("user", "Where?")],
    [said("system", "Be brief.")],
    [said("system", " "), said("user", "Where?")],
    [said("system", ""), said("developer", ""), said("user", "Where?")],
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("more", [WITHOUT, {**WITHOUT, "supports_tools": False}], ids=["tools", "no tools"])
@pytest.mark.parametrize("wanted", FORMS)
@pytest.mark.parametrize("messages", CONVERSATIONS)
def test_a_form_is_never_lost_and_found_again(wire: str, more: Data, wanted: Data, messages: list[Data]) -> None:
    """Whatever the way: the reader finds the form, nothing is lost, and it goes back as it came without a report."""
    target = endpoint(wire, **more)
    wire_request, back, loss = there_and_back(asking(wanted, *messages), target)

    assert back["response_format"]["type"] == wanted["type"]
    assert back["response_format"].get("schema") == wanted.get("schema")
    assert all(entry["severity"] != "lost" for entry in loss)
    again = translate.project(back, target)
    assert again.wire == wire_request
    assert again.loss == []


@pytest.mark.parametrize("wire", WIRES)
def test_one_report_on_every_wire(wire: str) -> None:
    """Code and severity do not tell by which way nothing is enforced."""
    _, _, loss = there_and_back(asking(SCHEMA_WANTED), endpoint(wire, **WITHOUT))
    about = [(entry["op"], entry["code"], entry["severity"]) for entry in loss if entry["path"] == "/response_format"]
    assert about == [("replace", "response_format", "weakened")]


@pytest.mark.parametrize("wire", WIRES)
def test_a_form_survives_a_wire_that_does_not_enforce_it(wire: str) -> None:
    """There, and back to a wire that has it as a member."""
    _, back, _ = there_and_back(asking(SCHEMA_WANTED), endpoint(wire, **WITHOUT))
    other = "ollama_chat" if wire == "gemini_generate" else "gemini_generate"
    body = translate.project(back, endpoint(other)).wire["body"]
    assert "<response-format>" not in str(body) and "tools" not in body
    assert (body["format"] if other == "ollama_chat" else body["generationConfig"]["responseJsonSchema"]) == SCHEMA


@pytest.mark.parametrize("wire", WIRES)
def test_a_form_that_was_changed_is_asked_for_anew(wire: str) -> None:
    """What the wire had fits the form that it had, and no other; a request that took on tools forces none."""
    target = endpoint(wire, **WITHOUT)
    _, back, _ = there_and_back(asking(SCHEMA_WANTED), target)
    changed: Data = {"type": "object", "properties": {"land": {"type": "string"}}}
    back["response_format"] = {"type": "json_schema", "schema": changed}
    assert there_and_back(back, target)[1]["response_format"]["schema"] == changed
    back["tools"] = [{"name": "look", "description": "Looks.", "input_schema": SCHEMA}]
    wire_request, again, _ = there_and_back(back, target)
    assert NAME not in json.dumps(wire_request["body"])
    assert again["response_format"]["schema"] == changed


INSTRUCTIONS: list[list[Data]] = [
    [said("system", "")],
    [said("system", ""), said("developer", "")],
    [said("system", "Be brief."), said("developer", "")],
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("wanted", FORMS)
@pytest.mark.parametrize("messages", INSTRUCTIONS)
@pytest.mark.parametrize("system", ["", "Be kind."])
def test_a_form_stands_with_instructions_in_every_place(
    wire: str, wanted: Data, messages: list[Data], system: str
) -> None:
    """Empty texts of the instructions hide it from no reader, and it goes back to where it was found."""
    target = endpoint(wire, **WITHOUT, supports_tools=False)
    conversation = [*messages, said("user", "Where?")]
    given = asking(wanted, *conversation, system=[{"type": "text", "text": system}])
    wire_request, back, _ = there_and_back(given, target)
    assert back["response_format"]["type"] == wanted["type"]
    again = translate.project(back, target)
    assert again.wire == wire_request
    assert again.loss == []


ALONE: dict[str, tuple[str, Data]] = {
    "anthropic_messages": ("messages", {"system": [{"type": "text", "text": "Be brief.\n\n{}"}], "max_tokens": 9}),
    "bedrock_converse": ("messages", {"system": [{"text": "Be brief.\n\n{}"}]}),
    "openai_responses": ("input", {"instructions": "Be brief.\n\n{}"}),
}


@pytest.mark.parametrize("wire", ALONE)
def test_a_form_in_instructions_alone_goes_back_to_its_place(wire: str) -> None:
    """Also where no message follows them; with one that does, it stays behind them."""
    target = endpoint(wire)
    member, body = ALONE[wire]
    told: str = there_and_back(asking({"type": "json"}), endpoint("anthropic_messages"))[0]["body"]["system"][0]["text"]
    body = json.loads(json.dumps({**body, member: []}).replace("{}", json.dumps(told)[1:-1]))
    path = there_and_back(asking({"type": "text"}), target)[0]["path"]
    back, _ = translate.from_wire_request({"method": "POST", "path": path, "headers": {}, "body": body}, target)
    assert back["response_format"] == {"type": "json"}
    again = translate.project(back, target)
    assert {**again.wire["body"], "model": "m"} == {**body, "model": "m"}
    assert again.loss == []
    back["messages"].append(said("user", "Where?"))
    assert there_and_back(back, target)[1]["response_format"] == {"type": "json"}


@pytest.mark.parametrize("at", [7, [], [0], [0, 0], [0, 9], [9, 0], [-1, -1], ["0", 0], {}])
@pytest.mark.parametrize("block", [{}, {"block": 7}, {"block": {}}, {"block": {"type": "text"}}])
@pytest.mark.parametrize("wire", WIRES)
def test_a_place_that_nobody_wrote_does_no_harm(wire: str, at: Any, block: Data) -> None:
    """The place that a request carries is advice too."""
    target = endpoint(wire, **WITHOUT)
    state = target.state(encoding={"structured": {"at": at, **block}})
    there_and_back(asking({"type": "json"}, said("system", ""), said("user", "Where?"), provider_state=state), target)


@pytest.mark.parametrize("form", [7, [], "x", {}, {"tool": 7}, {"tool": {}, "choice": 7}, {"message": 7}])
@pytest.mark.parametrize("wire", WIRES)
def test_a_form_that_nobody_wrote_does_no_harm(wire: str, form: Any) -> None:
    """The spelling that a request carries is advice."""
    target = endpoint(wire, **WITHOUT)
    there_and_back(asking(SCHEMA_WANTED, provider_state=target.state(encoding={"structured": form})), target)


def test_a_provider_that_wants_to_hear_of_json_hears_of_it() -> None:
    """Where nothing speaks of it, the fixed text does; where it is spoken of, nothing is added."""
    silent, speaking = asking({"type": "json"}), asking({"type": "json"}, said("user", "Where? In json."))
    for wire, place in (("openai_chat", "response_format"), ("openai_responses", "text")):
        body = there_and_back(speaking, endpoint(wire))[0]["body"]
        assert place in body and "<response-format>" not in json.dumps(body)
    wire_request, back, loss = there_and_back(silent, endpoint("openai_chat"))
    assert wire_request["body"]["response_format"] == {"type": "json_object"}
    assert "JSON" in wire_request["body"]["messages"][0]["content"]
    assert [(entry["code"], entry["severity"]) for entry in loss] == [("required_default", "representation")]
    assert translate.project(back, endpoint("openai_chat")).wire == wire_request
    wire_request, _, loss = there_and_back(silent, endpoint("openai_responses"))
    assert wire_request["body"]["text"] == {"format": {"type": "json_object"}}
    assert "instructions" not in wire_request["body"]  # the provider looks for the word in the input
    assert "JSON" in wire_request["body"]["input"][0]["content"]
    assert [(entry["code"], entry["severity"]) for entry in loss] == [("required_default", "representation")]


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_was_begun_goes_on_in_text(wire: str) -> None:
    """A call cannot go on with it."""
    request = asking(SCHEMA_WANTED, said("user", "Where?"), said("assistant", '{"city":'))
    wire_request, back, _ = there_and_back(request, endpoint(wire, **WITHOUT))
    assert NAME not in json.dumps(wire_request["body"])
    assert back["response_format"] == SCHEMA_WANTED


@pytest.mark.parametrize("wire", WIRES)
def test_what_nobody_here_would_have_written_stays_as_it_is(wire: str) -> None:
    """A text of that form in another place, beside another tool, or said otherwise, is what it is."""
    target = endpoint(wire)
    [first, *_] = there_and_back(asking({"type": "json"}), endpoint("anthropic_messages"))[0]["body"]["system"]
    told: str = first["text"]
    tool: Data = {"name": NAME, "description": "Mine.", "input_schema": SCHEMA}
    other: Data = {**tool, "name": "look"}
    chosen: Data = {"type": "tool", "name": NAME}
    for request in (
        {"messages": [said("user", told)]},
        {"messages": [said("system", told + " "), said("user", "Where?")]},
        {"messages": [said("system", "Be brief.", told, "Be kind."), said("user", "Where?")]},
        {"messages": [said("system", told.replace("one JSON", "some JSON")), said("user", "Where?")]},
        {"messages": [said("user", "Where?")], "tools": [tool]},
        {"messages": [said("user", "Where?")], "tools": [tool, other], "tool_choice": chosen},
    ):
        assert "response_format" not in there_and_back(request, target)[1]


FRAMES: list[Data] = [
    {
        "type": "message_start",
        "message": {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "usage": {}},
    },
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"city": '}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '"Oslo"}'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]


def streamed(frames: list[Data]) -> list[Data]:
    chunks = [f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n".encode() for frame in frames]
    return list(translate.read_stream(chunks, "anthropic_messages"))


def test_a_streamed_answer_keeps_the_spelling_of_the_model() -> None:
    """Blanks that the model made are in the deltas, in the block and in the answer."""
    events = streamed(FRAMES)
    text = '{"city": "Oslo"}'
    assert "".join(event["text"] for event in events if event["type"] == "text_delta") == text
    assert [event["block"]["text"] for event in events if event["type"] == "block_stop"] == [text]
    response = events[-1]["response"]
    assert [block["text"] for block in response["message"]["content"]] == [text]
    assert (response["finish_reason"], response["finish_reason_raw"]) == ("stop", "end_turn")
    assert not any(event["type"].startswith("tool_use") for event in events)


def test_a_streamed_answer_that_breaks_off_keeps_its_beginning() -> None:
    """What had arrived of the answer is the text of the error's response."""
    last = streamed(FRAMES[:3])[-1]
    assert last["type"] == "error"
    assert [(block["type"], block["text"]) for block in last["response"]["message"]["content"]] == [
        ("text", '{"city": ')
    ]


def test_a_call_beside_the_answer_is_still_a_call() -> None:
    """An answer that waits for results ends in calls, whatever else it holds."""
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": [
            {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {"city": "Oslo"}},
            {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    response, _ = translate.read_response(body, "anthropic_messages")
    assert [block["type"] for block in response["message"]["content"]] == ["text", "tool_use"]
    assert (response["finish_reason"], response["finish_reason_raw"]) == ("tool_calls", "tool_use")


@pytest.mark.parametrize("wire", WIRES)
def test_the_answer_stands_as_text_in_the_next_request(wire: str) -> None:
    """Also where it came from: a call would wait for a result."""
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": NAME, "input": {"city": "Oslo"}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    response, _ = translate.read_response(body, "anthropic_messages")
    conversation = [said("user", "Where?"), response["message"], said("user", "And then?")]
    wire_request, back, _ = there_and_back(asking(SCHEMA_WANTED, *conversation), endpoint(wire))
    assert NAME not in json.dumps(wire_request["body"])
    assert [block["text"] for block in back["messages"][1]["content"]] == ['{"city":"Oslo"}']


RESERVED = "<response-format>\nThe answer is one JSON object and nothing else: no other words, no code fence.\n</response-format>"
SPOKEN: list[Data] = [
    {"messages": [said("system", RESERVED), said("user", "Where?")]},
    {"messages": [said("system", "Be brief."), said("developer", f"Be kind.\n\n{RESERVED}"), said("user", "Where?")]},
    {"messages": [said("user", "Where?")], "system": [{"type": "text", "text": RESERVED}]},
    {"messages": [said("system", RESERVED)]},
    {"messages": [said("assistant", ""), said("system", RESERVED), said("user", "Where?")]},
    {"messages": [said("system", RESERVED), said("user", "Where?")], "response_format": {"type": "json"}},
    {"messages": [said("system", RESERVED), said("user", "Where?")], "response_format": SCHEMA_WANTED},
]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("more", [{}, WITHOUT], ids=["enforced", "not enforced"])
@pytest.mark.parametrize("request_", SPOKEN)
def test_what_a_caller_says_in_the_reserved_words_is_a_text(wire: str, more: Data, request_: Data) -> None:
    """The law holds, the report says what was put behind the text, and no form is found that nobody asked for."""
    _, back, loss = there_and_back(request_, endpoint(wire, **more))

    assert (back.get("response_format") or {}).get("type") == (request_.get("response_format") or {}).get("type")
    assert next(entry["value"] for entry in loss if entry["path"].endswith("/text")).endswith(f"{RESERVED}\n")


@pytest.mark.parametrize("wire", WIRES)
def test_a_choice_of_the_reserved_name_is_refused(wire: str) -> None:
    """Where it would be read as the form of the answer; beside another tool it is a choice, and a form stands beside it."""
    request: Data = {"messages": [said("user", "Where?")], "tools": [{"name": NAME, "input_schema": SCHEMA}]}
    request["tool_choice"] = {"type": "tool", "name": NAME}
    there_and_back(
        request | {"tools": [*request["tools"], {"name": "look"}], "response_format": {"type": "json"}}, endpoint(wire)
    )
    with pytest.raises(InvalidRequest) as refused:
        translate.project(request, endpoint(wire))
    assert refused.value.path == "/tool_choice/name"
