"""Chat Completions: what the cases of the suite cannot say, because it needs a dialect, an edit or a refusal."""

from typing import Any
from unittest.mock import ANY

import pytest
from encoding import frames_of
from numbered import texts_of_choices

from interlingua import apply, difference, read_stream, registry, visible, write_stream
from interlingua.adapters import openai_chat as adapter
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, InvalidWire, ProviderError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.validate import validate
from interlingua.wire.sse import Frame

OPENAI = Endpoint("openai_chat", "openai", "gpt-x")
ANY_MODEL = Endpoint("openai_chat", "openai")


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def said(role: str, *blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks), **members}


def call(number: int, name: str = "look", **members: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"tu_{number:02}", "name": name, "input": {"n": number}, **members}


def result(number: int, *content: dict[str, Any], **members: Any) -> dict[str, Any]:
    block = {
        "type": "tool_result",
        "tool_use_id": f"tu_{number:02}",
        "content": list(content or [text("ok")]),
        **members,
    }
    return said("tool", block)


def image() -> dict[str, Any]:
    return {"type": "image", "source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"}


def lawful(request: dict[str, Any], endpoint: Endpoint = OPENAI) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The body for a request, which must obey the loss law; and the report."""
    validate(request)
    wire, loss = adapter.to_wire(request, endpoint)
    read, _ = adapter.from_wire_request(json.loads(json.dumps(wire)), endpoint, DERIVED_IDS)
    validate(read)
    assert difference(visible(apply(request, loss)), visible(read)) is None
    return wire["body"], loss


def again(body: dict[str, Any], endpoint: Endpoint = ANY_MODEL) -> dict[str, Any]:
    """The canonical reading of a body, which must be written back as it was."""
    read, _ = adapter.from_wire_request({"body": body}, endpoint, DERIVED_IDS)
    validate(read)
    wire, loss = adapter.to_wire(read, endpoint)
    assert difference(body, wire["body"]) is None
    assert loss == []
    return read


def roles(body: dict[str, Any]) -> list[str]:
    return [message.get("tool_call_id") or message["role"] for message in body["messages"]]


# ---------------------------------------------------------------------------------------------------- order


def test_what_stands_between_calls_and_results_comes_after_them() -> None:
    messages = [
        said("assistant", call(1), call(2)),
        said("system", text("a")),
        result(2),
        said("user", text("b")),
        result(1),
    ]
    body, loss = lawful({"messages": messages})

    assert roles(body) == ["assistant", "call_01", "call_02", "system", "user"]
    assert [(entry["path"], entry["to"]) for entry in loss] == [
        ("/messages/4", "/messages/2"),
        ("/messages/1", "/messages/3"),
    ]


def test_crossing_turns_are_put_in_order() -> None:
    messages = [
        said("assistant", call(1)),
        said("assistant", call(2)),
        result(2),
        result(1),
        said("user", text("go on")),
    ]
    body, _ = lawful({"messages": messages})

    assert roles(body) == ["assistant", "call_01", "assistant", "call_02", "user"]


def test_media_of_a_result_that_was_moved_behind_others_are_not_lost_silently() -> None:
    messages = [said("assistant", call(1)), said("assistant", call(2)), result(2, image()), result(1, image())]

    lawful({"messages": [*messages, said("user", text("go on"))]})
    lawful({"messages": messages})


def test_media_join_the_user_turn_that_follows_and_are_numbered_anew_in_each_turn() -> None:
    messages = [
        said("assistant", call(1)),
        result(1, text("shot"), image()),
        said("user", text("and")),
        said("assistant", call(2)),
        result(2, image()),
        said("assistant", text("Hm.")),
    ]
    body, _ = lawful({"messages": messages})

    assert [part["type"] for part in body["messages"][2]["content"]] == ["image_url", "text"]
    assert body["messages"][4]["content"] == "[image 1: see the next user message]"
    assert roles(body)[5:] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([said("user", text("a")), result(1)], "/messages/1/content/0/tool_use_id"),
        ([said("assistant", call(1)), result(1), result(1)], "/messages/2/content/0/tool_use_id"),
        ([said("assistant", call(1)), said("user", text("a"))], "/messages/0/content/0"),
        ([said("assistant", call(1), call(2)), result(2)], "/messages/0/content/0"),
        ([said("user", call(1))], "/messages/0/content/0"),
        ([said("tool", text("a"))], "/messages/0/content"),
        ([said("assistant", result(1)["content"][0])], "/messages/0/content/0"),
        ([], "/messages"),
    ],
)
def test_a_conversation_without_a_valid_wire_is_refused_at_its_place(messages: list[dict[str, Any]], path: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        adapter.to_wire({"messages": messages}, OPENAI)
    assert refusal.value.path == path


def test_a_request_that_was_read_here_is_not_mended() -> None:
    calls = [{"id": "call_a", "type": "function", "function": {"name": "f.g", "arguments": "{}"}}]
    again({"model": "m", "messages": [{"role": "assistant", "tool_calls": calls}, {"role": "user", "content": "x"}]})
    again({"model": "m", "messages": [{"role": "tool", "tool_call_id": "nobody", "content": "x"}]})


def test_a_legacy_call_that_is_answered_twice_comes_back_as_it_was() -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    answer = {"role": "function", "name": "f", "content": "x"}
    again({"model": "m", "messages": [asked, answer, answer]})
    again({"model": "m", "messages": [asked, answer, {"role": "user", "content": "u"}, answer, asked, answer]})


@pytest.mark.parametrize(
    ("content", "member", "answer"),
    [
        ([text("x")], "function_call", {"role": "function", "name": "f", "content": "x"}),
        ([text("x"), text("y")], "tool_calls", {"role": "tool", "tool_call_id": ANY}),
    ],
)
def test_an_answer_with_a_legacy_call_goes_on_with_its_result(
    content: list[dict[str, Any]], member: str, answer: dict[str, Any]
) -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    body = {"id": "c", "model": "m", "choices": [{"index": 0, "message": asked, "finish_reason": "function_call"}]}
    response, _ = adapter.from_wire_response(body, OPENAI, DERIVED_IDS)
    identity = response["message"]["content"][0]["id"]
    block = {"type": "tool_result", "tool_use_id": identity, "content": content}
    request = {"messages": [said("user", text("hi")), response["message"], said("tool", block)]}
    wire, loss = adapter.to_wire(request, OPENAI)

    assert not loss
    assert member in wire["body"]["messages"][1]
    assert wire["body"]["messages"][2] | answer == wire["body"]["messages"][2]
    again, _ = adapter.from_wire_request(wire, OPENAI, DERIVED_IDS)
    assert difference(visible(request), visible(again)) is None


# ---------------------------------------------------------------------------------------------------- edits


def test_a_kept_spelling_gives_way_to_an_edit() -> None:
    arguments = '{"city": "Oslo",  "days": 1.0}'
    calls = [{"id": "call_a", "type": "function", "function": {"name": "f", "arguments": arguments}}]
    body = {"model": "m", "messages": [{"role": "assistant", "content": "", "tool_calls": calls}]}
    read = again(body)
    read["messages"][0]["content"][0]["input"]["city"] = "Bergen"
    read["messages"][0]["content"].insert(0, text("Let me see."))
    wire, _ = adapter.to_wire(read, ANY_MODEL)

    written = wire["body"]["messages"][0]
    assert written["tool_calls"][0]["function"]["arguments"] == '{"city":"Bergen","days":1.0}'
    assert written["content"] == "Let me see."


def test_true_is_not_1_when_an_edit_is_looked_for() -> None:
    calls = [{"id": "call_a", "type": "function", "function": {"name": "f", "arguments": '{"on": true}'}}]
    read = again({"model": "m", "messages": [{"role": "assistant", "content": None, "tool_calls": calls}]})
    read["messages"][0]["content"][0]["input"]["on"] = 1
    wire, _ = adapter.to_wire(read, ANY_MODEL)

    assert wire["body"]["messages"][0]["tool_calls"][0]["function"]["arguments"] == '{"on":1}'


def test_media_that_a_caller_adds_to_a_result_move_although_the_request_was_read_here() -> None:
    calls = [{"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    tool = {"role": "tool", "tool_call_id": "call_a", "content": "ok"}
    read = again({"model": "m", "messages": [{"role": "assistant", "content": None, "tool_calls": calls}, tool]})
    read["messages"][1]["content"][0]["content"].append(image())
    wire, loss = adapter.to_wire(read, ANY_MODEL)

    assert [message["role"] for message in wire["body"]["messages"]] == ["assistant", "tool", "user"]
    assert [entry["code"] for entry in loss] == ["media_moved"]


# ---------------------------------------------------------------------------------------------------- ids and names


def test_results_find_their_calls_by_id_by_name_and_by_order() -> None:
    calls = [{"id": "", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("a", "b")]
    tools = [{"role": "tool", "tool_call_id": "", "content": "1"}, {"role": "tool", "name": "b", "content": "2"}]
    read = again({"model": "m", "messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *tools]})

    asked = [block["id"] for block in read["messages"][0]["content"]]
    assert asked == [message["content"][0]["tool_use_id"] for message in read["messages"][1:]]
    assert len(set(asked)) == 2


def test_an_id_that_is_too_long_is_shortened_the_same_on_both_sides() -> None:
    long = "tu_" + "A" * 60
    messages = [
        said("assistant", {**call(1), "id": long}),
        said("tool", {"type": "tool_result", "tool_use_id": long, "content": [text("ok")]}),
    ]
    body, _ = lawful({"messages": messages})

    assert body["messages"][0]["tool_calls"][0]["id"] == body["messages"][1]["tool_call_id"]
    assert len(body["messages"][1]["tool_call_id"]) <= 40


def test_an_id_of_a_fixed_length() -> None:
    mistral = Endpoint("openai_chat", "mistral", "m", {"tool_id": {"pattern": "^[a-zA-Z0-9]{9}$", "length": 9}})
    body, _ = lawful({"messages": [said("assistant", call(1), call(2)), result(1), result(2)]}, mistral)

    ids = [wire["id"] for wire in body["messages"][0]["tool_calls"]]
    assert all(len(wire_id) == 9 and wire_id.isalnum() for wire_id in ids)
    assert ids == [message["tool_call_id"] for message in body["messages"][1:]]


def test_a_rewritten_name_is_the_same_everywhere_and_no_others() -> None:
    tools = [{"name": "files.read"}, {"name": "files_read"}, {"name": "x" * 70}]
    messages = [said("assistant", call(1, "files.read")), result(1)]
    choice = {"type": "tool", "name": "files.read"}
    body, loss = lawful({"messages": messages, "tools": tools, "tool_choice": choice})

    names = [tool["function"]["name"] for tool in body["tools"]]
    assert names[1] == "files_read"
    assert len(set(names)) == 3
    assert (
        names[0] == body["messages"][0]["tool_calls"][0]["function"]["name"] == body["tool_choice"]["function"]["name"]
    )
    assert {entry["code"] for entry in loss} == {"name_rewritten"}


# ---------------------------------------------------------------------------------------------------- dialects


def test_free_text_tools_travel_as_functions_where_there_are_none() -> None:
    tools = [{"kind": "custom", "name": "sql", "format": {"type": "grammar", "grammar": {"syntax": "lark"}}}]
    asked = {"type": "tool_use", "id": "tu_01", "name": "sql", "input": {}, "input_raw": "select 1", "kind": "custom"}
    request = {
        "messages": [said("assistant", asked), result(1)],
        "tools": tools,
        "tool_choice": {"type": "tool", "name": "sql", "kind": "custom"},
    }

    body, _ = lawful(request)
    assert body["tool_choice"] == {"type": "custom", "custom": {"name": "sql"}}
    body, _ = lawful(request, Endpoint("openai_chat", "other", "m", {"custom_tools": False}))
    assert body["tool_choice"] == {"type": "function", "function": {"name": "sql"}}
    assert json.loads(body["messages"][0]["tool_calls"][0]["function"]["arguments"]) == {"input": "select 1"}


@pytest.mark.parametrize(
    ("dialect", "member"),
    [
        ({"reasoning_replay": "reasoning_content"}, {"reasoning_content": "Hm."}),
        ({"reasoning_replay": "reasoning"}, {"reasoning": "Hm."}),
        ({"reasoning_replay": "reasoning_details"}, {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}),
    ],
)
def test_reasoning_goes_where_the_dialect_has_a_place(dialect: dict[str, Any], member: dict[str, Any]) -> None:
    request = {"messages": [said("assistant", {"type": "thinking", "text": "Hm."}, text("Yes."))]}
    body, loss = lawful(request, Endpoint("openai_chat", "other", "m", {**dialect, "prefill": True}))

    assert body["messages"][0] == {"role": "assistant", "content": "Yes.", **member}
    assert loss == []


def test_a_turn_with_calls_carries_its_reasoning_where_it_must() -> None:
    dialect = {"reasoning_replay": "reasoning_content", "reasoning_replay_required": True}
    body, _ = lawful(
        {"messages": [said("assistant", call(1)), result(1)]}, Endpoint("openai_chat", "other", "m", dialect)
    )

    assert body["messages"][0]["reasoning_content"] == ""


def test_reasoning_with_calls_before_it_and_text_after_is_put_in_the_order_of_the_wire() -> None:
    blocks = [call(1), text("a"), {"type": "thinking", "text": "b"}, text("c")]
    endpoint = Endpoint("openai_chat", "other", "m", {"reasoning_replay": "reasoning_content"})
    _, loss = lawful({"messages": [said("assistant", *blocks), result(1)]}, endpoint)

    assert [entry["path"] for entry in loss] == [
        "/messages/0/content/2",
        "/messages/0/content/0",
    ]


@pytest.mark.parametrize("hints", ["cache_control", "prompt_cache_breakpoint"])
def test_cache_hints_where_they_are_honoured(hints: str) -> None:
    marked = {**text("a"), "cache": {"ttl": "1h"}}
    tools = [{"name": "f", "cache": {}}]
    endpoint = Endpoint("openai_chat", "other", "m", {"cache_hints": hints})
    body, _ = lawful({"messages": [said("user", *[marked] * 5)], "tools": tools}, endpoint)

    marks = [hints in part for part in body["messages"][0]["content"]]
    assert marks == ([True] * 5 if hints == "cache_control" else [True] * 4 + [False])
    assert (hints in body["tools"][0]) is (hints == "cache_control")


def test_more_marks_than_the_wire_takes_go_back_where_they_came() -> None:
    mark = {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "1h"}}
    parts = [{"type": "text", "text": f"{n}", **mark} for n in range(6)]
    read = again({"model": "m", "messages": [{"role": "user", "content": parts}]})
    read["messages"][0]["content"].append({**text("new"), "cache": {}})
    read["messages"][0]["content"][0]["text"] = "edited"
    body, loss = lawful(read)
    assert {entry["code"] for entry in loss} == {"cache_hint", "limit_exceeded"}
    assert len([part for part in body["messages"][0]["content"] if "prompt_cache_breakpoint" in part]) == 4


def test_what_the_provider_and_the_model_refuse_is_left_out_and_reported() -> None:
    request = {
        "messages": [said("user", text("a"))],
        "tools": [{"name": "f"}],
        "user": "me",
        "stop": ["a", "b"],
        "temperature": 0.5,
        "seed": 7,
        "top_logprobs": 3,
        "max_output_tokens": 9_000,
        "reasoning": {"effort": "xhigh", "display": "omitted"},
        "tool_choice": {"type": "required"},
        "service_tier": "standard_only",
        "metadata": {"a": "b", "c": 7},
        "parallel_tool_calls": False,
    }
    dialect = {"unsupported": ["user"], "max_stop": 1, "seed_name": "random_seed", "tool_choice_required": "any"}
    capabilities = {
        "supports_temperature": False,
        "supports_logprobs": False,
        "max_output_tokens": 4_096,
        "reasoning_efforts": ["low", "high"],
        "supports_parallel_tool_calls": False,
    }
    body, loss = lawful(request, Endpoint("openai_chat", "other", "m", dialect, capabilities))

    del body["messages"], body["tools"], body["model"]
    assert body == {
        "stop": ["a"],
        "random_seed": 7,
        "max_completion_tokens": 4_096,
        "reasoning_effort": "high",
        "tool_choice": "any",
        "metadata": {"a": "b"},
    }
    assert len(loss) == 10


def test_a_model_that_calls_tools_only_without_reasoning() -> None:
    request = {"messages": [said("user", text("a"))], "tools": [{"name": "f"}], "temperature": 1}
    endpoint = Endpoint("openai_chat", "openai", "m", {}, {"tools_with_reasoning": False})
    body, loss = lawful(request, endpoint)

    assert body["reasoning_effort"] == "none"
    assert [entry["code"] for entry in loss] == ["combination"]


def test_a_schema_that_cannot_be_enforced_is_sent_without_the_demand() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    request = {
        "messages": [said("user", text("a"))],
        "tools": [{"name": "f", "input_schema": schema, "strict": True}],
        "response_format": {"type": "json_schema", "name": "a b", "schema": schema, "strict": True},
    }
    body, _ = lawful(request)

    assert "strict" not in body["tools"][0]["function"]
    assert body["response_format"]["json_schema"] == {"name": "a_b", "schema": schema}


def test_options_that_the_contract_has_a_word_for() -> None:
    options = {"temperature": 1, "max_tokens": 5, "logit_bias": {"1": 2}, "stream_options": {"include_usage": True}}
    request = {
        "messages": [said("user", text("a"))],
        "temperature": 0.5,
        "options": {"openai_chat": options, "x": {"y": 1}},
    }
    body, _ = lawful(request)

    assert body["temperature"] == 0.5
    assert body["logit_bias"] == {"1": 2}


# ---------------------------------------------------------------------------------------------------- malformed wires


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": {}}, "/messages"),
        ({}, "/messages"),
        ({"messages": [7]}, "/messages/0"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "chef", "content": "a"}]}, "/messages/1"),
        ({"messages": [{"role": "user", "content": 7}]}, "/messages/0"),
        ({"messages": [{"role": "assistant", "tool_calls": [7]}]}, "/messages/0"),
        ({"messages": [{"role": "assistant", "tool_calls": 7}]}, "/messages/0"),
        ({"messages": [], "tools": [7]}, "/tools/0"),
    ],
)
def test_a_malformed_request_is_refused_at_its_place(body: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidWire) as refusal:
        adapter.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    assert refusal.value.path == path


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": 7},
        {"type": "image_url", "image_url": {}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,not base64"}},
        {"type": "image_url", "image_url": "https://example.com/a.png"},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "a/b"}},
        {"type": "file", "file": {"file_id": "f", "file_data": "x"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0x"}},
        {"type": "hologram", "beams": 3},
        {"role": "user", "content": "a message in a message"},
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "soon"}},
        {"type": "text", "text": ""},
        {"type": "refusal", "refusal": "No."},
        {"type": "input_audio", "input_audio": "https://example.com/a.wav"},
        {"type": "document_url", "document_url": "https://example.com/a.pdf", "document_name": "a"},
    ],
)
def test_a_part_that_cannot_be_read_is_kept_whole(part: dict[str, Any]) -> None:
    for role in ("user", "assistant", "system"):
        again({"model": "m", "messages": [{"role": role, "content": [part]}, {"role": "user", "content": "a"}]})


@pytest.mark.parametrize(
    "member",
    [
        {"temperature": "0.5"},
        {"max_tokens": -1},
        {"max_tokens": 5, "max_completion_tokens": 6},
        {"stop": None, "tools": [], "tool_choice": "none"},
        {"tool_choice": {"type": "auto"}},
        {"tool_choice": {"function": {"name": "f"}}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": None, "schema": {}}}},
        {"response_format": {"type": "json_schema", "schema": {}}},
        {"functions": [{"name": "f"}], "function_call": {"name": "f"}},
        {"functions": [{"name": "f"}], "tools": [{"type": "function", "function": {"name": "g"}}]},
        {"stream": True},
        {"stream": False, "stream_options": {"include_usage": True}},
        {"metadata": {}},
        {"model": ""},
        {"seed": 2**70},
    ],
)
def test_members_of_unexpected_shapes_go_back_as_they_came(member: dict[str, Any]) -> None:
    again({"messages": [{"role": "user", "content": "a"}], **member})


# ---------------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("first", [{"role": "user", "content": "a"}, {"role": "assistant", "content": "a"}])
def test_a_result_without_id_that_answers_no_call(first: dict[str, Any]) -> None:
    again({"messages": [first, {"role": "function", "name": "look", "content": "b"}]})
    again({"messages": [first, {"role": "tool", "content": "b"}]})


@pytest.mark.parametrize(
    ("body", "category"),
    [
        ({"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "billing"),
        ({"choices": None, "error_type": "BadRequestError", "error_message": "no"}, "invalid_request"),
    ],
)
def test_a_failure_beside_no_choices(body: dict[str, Any], category: str) -> None:
    with pytest.raises(ProviderError) as failure:
        adapter.from_wire_response(body, OPENAI)
    assert failure.value.error["category"] == category


def test_an_error_that_came_with_status_200() -> None:
    with pytest.raises(ProviderError) as failure:
        adapter.from_wire_response({"error": {"message": "no", "code": 402}}, OPENAI, DERIVED_IDS)
    assert failure.value.error["category"] == "billing"
    with pytest.raises(InvalidAnswer):
        adapter.from_wire_response({"choices": [{"message": 7}]}, OPENAI, DERIVED_IDS)


def test_an_answer_of_another_wire_played() -> None:
    foreign = {"adapter": "anthropic_messages", "provider": "anthropic", "fields": {"container": {"id": "c"}}}
    response = {
        "model": "anthropic:claude",
        "message": said("assistant", {"type": "thinking", "text": "Hm.", "provider_state": foreign}, call(1)),
        "finish_reason": "tool_calls",
        "usage": {"input_tokens": 3, "cached_input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 2},
        "provider_state": foreign,
    }
    body, loss = adapter.to_wire_response(response, OPENAI, created=1_753_000_000)

    assert body["model"] == "claude"
    assert body["created"] == 1_753_000_000
    assert body["usage"]["prompt_tokens"] == 15
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert [entry["path"] for entry in loss] == ["/message/content/0", "/provider_state/fields/container"]

    shows = Endpoint("openai_chat", "other", None, {"reasoning_replay": "reasoning_content"})
    body, _ = adapter.to_wire_response(response, shows)
    assert body["choices"][0]["message"]["reasoning_content"] == "Hm."


def test_several_texts_of_another_wire_are_one() -> None:
    """Clients of this wire read one text; a list of parts is none to them."""
    texts = [{"type": "text", "text": "One. "}, call(1), {"type": "text", "text": "Two."}]
    response = {"model": "anthropic:claude", "message": said("assistant", *texts), "finish_reason": "tool_calls"}
    body, loss = adapter.to_wire_response(response, OPENAI)

    assert body["choices"][0]["message"]["content"] == "One. Two."
    assert [(entry["op"], entry["path"], entry["code"]) for entry in loss] == [
        ("replace", "/message/content/0/text", "merged_turn"),
        ("drop", "/message/content/2", "merged_turn"),
    ]


def test_log_probabilities_of_another_wire_have_lists_of_others() -> None:
    response = {
        "message": said("assistant", {"type": "text", "text": "a"}),
        "finish_reason": "stop",
        "logprobs": {"content": [{"token": "a", "logprob": -0.5}]},
    }
    body, _ = adapter.to_wire_response(response, OPENAI)
    assert body["choices"][0]["logprobs"]["content"][0]["top_logprobs"] == []


# ---------------------------------------------------------------------------------------------------- streams


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **members: Any) -> Frame:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return Frame(None, json.dumps({"id": "c", "model": "m", "choices": choices, **members}).decode())


def decoded(*frames: Frame, endpoint: Endpoint = OPENAI) -> list[dict[str, Any]]:
    decoder = adapter.stream_decoder(endpoint, DERIVED_IDS)
    next(decoder)
    events: list[dict[str, Any]] = []
    for frame in (*frames, None):
        try:
            events += decoder.send(frame)
        except StopIteration:
            break
    for event in events:
        validate(event, "KnownEvent")
    return events


DONE = Frame(None, "[DONE]")


def test_the_end_mark_is_demanded_of_whom_it_is_known() -> None:
    frames = (chunk({"content": "a"}), chunk({}, "stop"))
    known = Endpoint("openai_chat", "known", None, {"end_mark": "required"})
    lax = Endpoint("openai_chat", "lax", None, {"end_mark": "optional"})
    silent = Endpoint("openai_chat", "silent", None, {"token_limit": "max_tokens"})

    assert decoded(*frames, endpoint=known)[-1]["error"]["category"] == "stream_truncated"
    assert decoded(*frames, endpoint=lax)[-1]["type"] == "message_complete"
    assert decoded(*frames, endpoint=silent)[-1]["type"] == "message_complete"
    assert decoded(*frames)[-1]["type"] == "message_complete"
    assert decoded(frames[0])[-1]["response"]["message"]["metadata"] == {"status": "error"}
    assert decoded(DONE)[-1]["type"] == "error"


def test_text_after_the_finish_reason_goes_on_with_the_text() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    events = decoded(chunk({"content": "a"}), chunk({}, "stop"), chunk({"content": "b"}), chunk(usage=usage), DONE)

    assert [event["type"] for event in events][-3:] == ["block_stop", "usage_update", "message_complete"]
    assert events[-1]["response"]["message"]["content"] == [text("ab")]


def piece(arguments: str, **members: Any) -> dict[str, Any]:
    name = members.pop("name", None)
    return {**members, "function": {"arguments": arguments, **({"name": name} if name else {})}}


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece('{"a"', index=0, id="x", name="f"), piece(":1}", index=0, id="x")], [("f", {"a": 1})]),
        ([piece("{}", index=-1, id="x", name="f"), piece("{}", index=-1, id="y", name="g")], [("f", {}), ("g", {})]),
        ([piece("{}", index=0, id="", name="f"), piece("{}", index=0, id="", name="f")], [("f", {}), ("f", {})]),
        ([piece("{}", index=0, name="f"), piece("{}", index=1, name="g")], [("f", {}), ("g", {})]),
        ([piece("", index=0, id="x"), piece("{}", index=0, name="f")], [("f", {})]),
        ([piece("null", index=0, id="x", name="f")], [("f", {})]),
        (
            [
                piece('{"a":', index=0, id="x", name="f"),
                piece('{"b":', index=1, id="y", name="g"),
                piece("1}", index=0),
                piece("2}", index=1),
            ],
            [("f", {"a": 1}), ("g", {"b": 2})],
        ),
    ],
)
def test_calls_in_pieces(pieces: list[dict[str, Any]], calls: list[tuple[str, Any]]) -> None:
    events = decoded(*(chunk({"tool_calls": [one]}) for one in pieces), chunk({}, "stop"), DONE)

    content = events[-1]["response"]["message"]["content"]
    assert [(block["name"], block["input"]) for block in content] == calls
    assert events[-1]["response"]["finish_reason"] == "tool_calls"


def test_a_call_that_is_cut_off_is_none_to_run() -> None:
    events = decoded(chunk({"tool_calls": [piece("", index=0, id="x", name="f")]}))

    assert events[-1]["error"]["category"] == "stream_truncated"
    assert events[-1]["response"]["message"]["content"][0]["input_raw"] == ""
    assert "tool_use_end" not in [event["type"] for event in events]


def test_a_whole_message_in_a_chunk() -> None:
    whole = Frame(
        None, '{"choices":[{"index":0,"message":{"role":"assistant","content":"abc"},"finish_reason":"stop"}]}'
    )
    events = decoded(chunk({"content": "ab"}), whole, DONE)

    assert [event["text"] for event in events if event["type"] == "text_delta"] == ["ab", "c"]


@pytest.mark.parametrize(
    ("frame", "category"),
    [
        (Frame(None, '{"error":{"message":"x","type":"server_error"}}'), "server_error"),
        (Frame(None, '{"x_groq":{"error":"Failed","error_status_code":400}}'), "other"),
        (Frame(None, '{"object":"error","message":"x","code":400}'), "invalid_request"),
        (Frame("error", '{"message":"x","code":429}'), "rate_limit"),
        (Frame(None, "<html>"), "invalid_response"),
        (Frame(None, "7"), "invalid_response"),
        (Frame(None, '{"choices":7}'), "invalid_response"),
    ],
)
def test_an_error_inside_a_stream(frame: Frame, category: str) -> None:
    events = decoded(chunk({"content": "a"}), frame, chunk({"content": "b"}), DONE)

    assert [event["type"] for event in events][-1] == "error"
    assert events[-1]["error"]["category"] == category
    assert events[-1]["response"]["message"]["content"] == [text("a")]


def test_events_of_another_wire_played_and_read_back() -> None:
    events = [
        {"type": "message_start", "model": "anthropic:claude", "response_id": "msg_1"},
        {"type": "block_start", "index": 0, "block": text("")},
        {"type": "text_delta", "index": 0, "text": "Hi"},
        {"type": "block_stop", "index": 0, "block": text("Hi")},
        {"type": "block_start", "index": 1, "block": {**call(1), "input": {}}},
        {"type": "tool_use_start", "index": 1, "id": "tu_01", "name": "look"},
        {"type": "tool_use_end", "index": 1, "id": "tu_01", "name": "look", "input": {"n": 1}},
        {"type": "block_stop", "index": 1, "block": call(1)},
    ]
    response = {"message": said("assistant", text("Hi"), call(1)), "finish_reason": "tool_calls"}
    frames = frames_of(adapter, [*events, {"type": "message_complete", "response": response}], OPENAI)

    assert frames[-1] == DONE
    read = decoded(*frames)[-1]["response"]
    assert [block.get("text") or block["input"] for block in read["message"]["content"]] == ["Hi", {"n": 1}]
    assert read["message"]["content"][1]["id"] == "tu_01"


# ---------------------------------------------------------------------------------------------------- errors, estimates


def test_free_text_calls_are_streamed_as_functions_where_there_are_none() -> None:
    """Whole, because the text is quoted as one argument."""
    mistral = registry.endpoint(provider="mistral")
    block = {**call(1), "kind": "custom", "input": {}, "input_raw": 'say "hi"'}
    events = [
        {"type": "message_start"},
        {"type": "block_start", "index": 0, "block": {**block, "input_raw": ""}},
        {"type": "tool_use_start", "index": 0, "id": block["id"], "name": "look"},
        {"type": "tool_use_input_delta", "index": 0, "id": block["id"], "text": 'say "hi"'},
        {"type": "tool_use_end", "index": 0, "id": block["id"], "name": "look", "input": {}, "input_raw": 'say "hi"'},
        {"type": "block_stop", "index": 0, "block": block},
        {"type": "message_complete", "response": {"message": said("assistant", block), "finish_reason": "tool_calls"}},
    ]

    told = decoded(*frames_of(adapter, events, mistral), endpoint=mistral)[-1]["response"]["message"]["content"]

    assert [(item["name"], item.get("kind"), item["input"]) for item in told] == [("look", None, {"input": 'say "hi"'})]


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (429, {"Retry-After": "7"}, '{"error":{"code":"rate_limit_exceeded"}}', ("rate_limit", True, 7.0)),
        (429, {"retry-after-ms": "250"}, "", ("rate_limit", True, 0.25)),
        (429, {}, '{"error":{"code":"insufficient_quota"}}', ("billing", False, None)),
        (
            503,
            {"retry-after": "Fri, 21 Nov 2025 10:00:30 GMT", "date": "Fri, 21 Nov 2025 10:00:00 GMT"},
            "<html>busy</html>",
            ("overloaded", True, 30.0),
        ),
        (503, {"retry-after": "soon"}, b"\xff", ("overloaded", True, None)),
        (409, {"x-should-retry": "false"}, "[]", ("server_error", False, None)),
        (418, {}, "7", ("invalid_request", False, None)),
        (599, {}, "null", ("server_error", True, None)),
    ],
)
def test_errors_of_every_shape(
    status: int, headers: dict[str, str], body: bytes | str, expected: tuple[Any, ...]
) -> None:
    error = adapter.error(status, headers, body, OPENAI)

    validate(error, "Error")
    assert (error["category"], error["retryable"], error.get("retry_after")) == expected


def test_an_estimate_counts_text_tools_and_media() -> None:
    short = adapter.estimate({"messages": [said("user", text("Hello there."))]}, OPENAI)
    tools = [{"name": "f", "description": "Does it.", "input_schema": {"type": "object"}}]
    long = adapter.estimate({"messages": [said("user", text("Hello there."), image())], "tools": tools}, OPENAI)

    validate(short, "TokenEstimate")
    assert short["low"] <= 10 <= short["high"]
    assert all(long[name] > short[name] for name in ("low", "likely", "high"))


def test_calls_are_streamed_whole_where_the_provider_does() -> None:
    mistral = registry.endpoint(adapter="openai_chat", provider="mistral")
    block = call(1)
    events = [
        {"type": "message_start"},
        {"type": "block_start", "index": 0, "block": {**block, "input": {}}},
        {"type": "tool_use_start", "index": 0, "id": block["id"], "name": block["name"]},
        {"type": "tool_use_input_delta", "index": 0, "id": block["id"], "text": json.dumps(block["input"]).decode()},
        {"type": "tool_use_end", "index": 0, **{name: block[name] for name in ("id", "name", "input")}},
        {"type": "block_stop", "index": 0, "block": block},
        {"type": "message_complete", "response": {"message": said("assistant", block), "finish_reason": "tool_calls"}},
    ]
    frames = [json.loads(frame.data) for frame in frames_of(adapter, events, mistral) if frame.data != "[DONE]"]
    deltas = [delta for frame in frames for delta in frame["choices"][0]["delta"].get("tool_calls", ())]

    assert [delta["function"]["name"] for delta in deltas] == [block["name"]]
    assert json.loads(deltas[0]["function"]["arguments"]) == block["input"]


# ---------------------------------------------------------------------------------------------------- edits of own turns


def test_a_result_that_bears_the_name_of_its_call_bears_the_new_one() -> None:
    """Some providers want it there; it says nothing that the call does not."""
    body = {
        "model": "gpt-x",
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "call_1", "name": "look", "content": "ok"},
        ],
    }
    read = again(body)
    read["messages"][1]["content"][0]["name"] = "see"
    written, _ = lawful(read)
    assert written["messages"][2]["name"] == "see"

    del read["messages"][1]
    with pytest.raises(InvalidRequest, match="no call before"):
        lawful(read)


def test_an_own_turn_without_its_calls_is_filled() -> None:
    """An empty text beside calls goes back; without the calls the message is as empty as any other, and that is reported."""
    calls = [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    body = {"model": "gpt-x", "messages": [{"role": "assistant", "content": "", "tool_calls": calls}]}
    read = again(body)
    read["messages"][0]["content"].clear()
    written, loss = lawful(read)
    assert written["messages"] == [{"role": "assistant", "content": "(empty)"}]
    assert [entry["code"] for entry in loss] == ["filler"]


def test_members_that_say_nothing_stay_with_the_role_that_they_came_in() -> None:
    read = again({"model": "gpt-x", "messages": [{"role": "assistant", "content": "Hi.", "refusal": None}]})
    read["messages"][0]["role"] = "user"
    written, _ = lawful(read)
    assert written["messages"] == [{"role": "user", "content": "Hi."}]


def test_an_index_says_where_a_call_stands_now() -> None:
    calls = [
        {"index": n, "id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in (0, 1)
    ]
    tools = [{"role": "tool", "tool_call_id": f"c{n}", "content": "ok"} for n in (0, 1)]
    read = again({"model": "gpt-x", "messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *tools]})
    assert "encoding" not in read["messages"][0]["content"][0]["provider_state"]
    del read["messages"][0]["content"][0], read["messages"][1]
    written, _ = lawful(read)
    assert [(one["index"], one["id"]) for one in written["messages"][0]["tool_calls"]] == [(0, "c1")]


@pytest.mark.parametrize("wire_id", [{}, {"id": None}])
def test_calls_that_came_without_ids_get_some_where_a_new_result_names_one(wire_id: dict[str, Any]) -> None:
    calls = [{**wire_id, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("a", "b")]
    tools = [{"role": "tool", "content": name} for name in ("a", "b")]
    read = again({"model": "gpt-x", "messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *tools]})
    answered = read["messages"][2]["content"][0]["tool_use_id"]
    read["messages"][2] = said("tool", {"type": "tool_result", "tool_use_id": answered, "content": [text("c")]})
    written, loss = lawful(read)
    assert not loss
    asked = [one["id"] for one in written["messages"][0]["tool_calls"]]
    assert asked == [message["tool_call_id"] for message in written["messages"][1:]]


def test_media_of_results_stand_where_they_came_until_one_of_them_is_edited() -> None:
    """What is written of a run of results is put back as a whole: a medium is neither lost nor told twice."""
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in (0, 1)]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    tools: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": "c0", "content": [{"type": "text", "text": "shot"}, picture]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    read = again({"model": "gpt-x", "messages": [asked, *tools, {"role": "user", "content": "and?"}]})
    read["messages"][2]["content"][0]["content"] = [text("done")]
    written, loss = lawful(read)
    assert [entry["code"] for entry in loss] == ["media_moved"]
    assert written["messages"][3]["content"] == [picture, {"type": "text", "text": "and?"}]


def test_free_text_calls_of_a_provider_go_back_to_it() -> None:
    """What others' calls are folded into is no reason to change the provider's own."""
    endpoint = registry.endpoint(adapter="openai_chat", provider="openrouter")
    assert endpoint.dialect["custom_tools"] is False
    calls = [{"id": "call_1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}]
    body = {"model": "m", "messages": [{"role": "assistant", "content": None, "tool_calls": calls}]}
    again(body, endpoint)


def test_a_medium_that_has_no_part_is_left_out_of_a_stream() -> None:
    """Also one that says it came from here: a stream tells parts, and no nulls among them."""
    sound = {"type": "audio", "source": {"kind": "url", "data": "https://example.com/a.wav"}, "media_type": "audio/wav"}
    sound["provider_state"] = {"adapter": "openai_chat", "provider": "openai"}
    answer = {"message": {"role": "assistant", "content": [sound]}, "finish_reason": "stop"}
    events: list[dict[str, Any]] = [{"type": "message_start"}, {"type": "block_start", "index": 0, "block": sound}]
    events += [{"type": "block_stop", "index": 0, "block": sound}, {"type": "message_complete", "response": answer}]
    loss: list[dict[str, Any]] = []
    data = b"".join(write_stream(events, "openai_chat", loss=loss))
    assert [entry["path"] for entry in loss] == ["/message/content/0"]
    assert list(read_stream([data], "openai_chat"))[-1]["type"] == "message_complete"


def test_arguments_that_came_as_an_object_are_whole() -> None:
    begun = {"index": 0, "id": "c", "type": "function", "function": {"name": "look", "arguments": {"n": 1}}}
    more = {"index": 0, "function": {"arguments": "}"}}

    events = decoded(*(chunk({"tool_calls": [one]}) for one in (begun, begun, more)), chunk({}, "tool_calls"), DONE)

    assert [event["text"] for event in events if event["type"] == "tool_use_input_delta"] == ['{"n":1}']
    assert events[-1]["response"]["message"]["content"][0]["input"] == {"n": 1}


def test_reasoning_beside_its_details_is_not_told_twice() -> None:
    """Where it says more than they do, a stream says the rest of it."""
    router = registry.endpoint(adapter="openai_chat", provider="openrouter", model="vendor/model")
    detail = {"type": "reasoning.text", "text": "The table", "index": 0}
    pieces = (
        {"reasoning": "The table", "reasoning_details": [detail]},
        {"reasoning": " says two."},
        {"content": "Two."},
    )
    given = decoded(*map(chunk, pieces), chunk({}, "stop"), DONE, endpoint=router)

    read = decoded(*frames_of(adapter, given, router), endpoint=router)[-1]["response"]

    assert read["message"]["provider_state"]["fields"] == {"reasoning": "The table says two."}


GAPS = {
    "first and third": [(0, "Al", None), (2, "Bo", None), (0, "ice", "stop"), (2, "ris", "length")],
    "second alone": [(1, "Al", None), (1, "ice", "stop")],
    "fourth before second": [(3, "Bo", None), (1, "Al", None), (3, "ris", "length"), (1, "ice", "stop")],
    "second before first": [(1, "Boris", "length"), (0, "Al", None), (0, "ice", "stop")],
}


def chunks_of(told: list[tuple[int, str, str | None]]) -> list[bytes]:
    chunks: list[bytes] = []
    for index, words, finish in told:
        choice = {"index": index, "delta": {"content": words}, "finish_reason": finish}
        body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        chunks.append(b"data: " + json.dumps(body) + b"\n\n")
    return chunks


@pytest.mark.parametrize("told", GAPS.values(), ids=GAPS)
def test_choices_are_numbered_by_their_order_though_indices_have_gaps(told: list[tuple[int, str, str | None]]) -> None:
    events = list(read_stream([*chunks_of(told), b"data: [DONE]\n\n"], "openai_chat"))
    said = texts_of_choices(events)
    assert said == ["Alice", "Boris"][: len(said)]
    for target in ("openai_chat", "gemini_generate"):
        assert texts_of_choices(list(read_stream(list(write_stream(events, target)), target))) == said


@pytest.mark.parametrize("told", GAPS.values(), ids=GAPS)
def test_what_waited_for_another_choice_is_told_when_the_stream_breaks_off(
    told: list[tuple[int, str, str | None]],
) -> None:
    events = list(read_stream(chunks_of(told)[:-2], "openai_chat"))
    begun = {event.get("choice", 0) for event in events if event["type"] == "message_start"}
    assert events[-1]["type"] == "error"
    assert begun == set(range(len({index for index, *_ in told[:-2]})))


def test_a_data_uri_of_sound_or_of_a_file_is_the_bytes_that_it_holds() -> None:
    sound = {"kind": "url", "data": "data:audio/mpeg;base64,SUQzBAAA"}
    file = {"kind": "url", "data": "data:application/pdf;base64,JVBERi0x"}
    content = [{"type": "audio", "source": sound}, {"type": "document", "source": file}]
    body, loss = lawful({"messages": [{"role": "user", "content": content}]})
    parts = body["messages"][0]["content"]
    assert parts == [
        {"type": "input_audio", "input_audio": {"data": "SUQzBAAA", "format": "mp3"}},
        {"type": "file", "file": {"file_data": file["data"], "filename": "document"}},
    ]
    assert {(entry["path"].rpartition("/")[2], entry["code"]) for entry in loss} == {
        ("source", "unsupported_source"),
        ("media_type", "required_default"),
        ("name", "required_default"),
    }
