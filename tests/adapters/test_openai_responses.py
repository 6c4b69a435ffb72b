"""What cases cannot say of the Responses wire: any items come back as they were, and any state of its own obeys the law."""

import sys
from pathlib import Path
from typing import Any

import pytest
from encoding import frames_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlingua import StreamReader, adapters, apply, difference, registry, visible
from interlingua.adapters import openai_responses as wire
from interlingua.adapters.openai_responses.tables import NAME
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire, ProviderError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load, project, read_request

Data = dict[str, Any]

OPENAI = Endpoint(NAME, "openai", "gpt-5.2")

# ---------------------------------------------------------------------------------------------------- strategies

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
names = st.sampled_from(["look", "f", "a" * 70])
odd = st.one_of(
    st.none(), st.booleans(), st.integers(), words, st.just([]), st.just({}), st.lists(st.integers(), max_size=2)
)
more = st.dictionaries(
    st.sampled_from(["phase", "namespace", "x_more", "logprobs", "annotations", "note"]), odd, max_size=2
)
arguments = st.one_of(st.sampled_from(["{}", "", "null", '{"a": 1}', '{"a":1}', "[1]", '{"cut']), words)


def item(kind: str, extra: st.SearchStrategy[Data] = more, **members: Any) -> st.SearchStrategy[Data]:
    """An item of a type: required members, and sometimes an id, a status and members that nobody knows."""
    optional = {"id": st.one_of(st.none(), words), "status": st.sampled_from(["completed", "incomplete", None])}
    base = st.fixed_dictionaries({"type": st.just(kind), **members}, optional=optional)
    return st.builds(lambda made, others: {**others, **made}, base, extra)


def part(kind: str, member: str, value: Any = words) -> st.SearchStrategy[Data]:
    """A content part with members that nobody knows."""
    made = st.fixed_dictionaries({"type": st.just(kind), member: value})
    return st.builds(lambda whole, others: {**others, **whole}, made, more)


citation = st.fixed_dictionaries(
    {"type": st.sampled_from(["url_citation", "file_citation"])},
    optional={"url": words, "start_index": st.integers(-1, 9), "file_id": words, "title": odd},
)
said = st.one_of(
    part("output_text", "text"),
    st.fixed_dictionaries(
        {"type": st.just("output_text"), "text": words, "annotations": st.lists(citation, max_size=2)}
    ),
    part("refusal", "refusal"),
    part("output_hologram", "depth", odd),
    part("input_text", "text"),
    part("output_text", "text", odd),
)
heard = st.one_of(
    part("input_text", "text"),
    part(
        "input_image",
        "image_url",
        st.sampled_from(["https://example.org/a", "data:image/png;base64,aGVsbG8=", "data:x"]),
    ),
    part("input_file", "file_data", st.sampled_from(["data:application/pdf;base64,aGVsbG8=", "aGVsbG8="])),
    part("input_file", "file_id"),
    part("input_hologram", "depth", odd),
    part("text", "text"),
)
content = st.one_of(words, st.lists(said, max_size=3))
bare = st.fixed_dictionaries({"role": st.just("assistant"), "content": content})
summary = st.lists(part("summary_text", "text"), max_size=2)
plain = st.lists(st.fixed_dictionaries({"type": st.just("summary_text"), "text": words}), max_size=2)
called = {"call_id": st.sampled_from(["call_1", "call_4", "call_5"])}
shell = st.fixed_dictionaries(
    {"commands": st.just(["ls"])}, optional={"timeout_ms": st.sampled_from([None, 5]), "max_output_length": odd}
)
execution = st.sampled_from(["client", "server", None])
loaded = st.sampled_from(
    [
        {"type": "function", "name": "f", "parameters": {"type": "object"}},
        {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "f"}]},
        {"type": "web_search"},
        {"type": "shell"},
    ]
)
run = st.fixed_dictionaries({"stdout": words, "stderr": words, "outcome": st.just({"type": "timeout"})})
built_in = st.one_of(
    item(
        "local_shell_call",
        **called,
        action=st.fixed_dictionaries({"type": st.just("exec"), "command": st.just(["ls"])}),
    ),
    item("local_shell_call", **called, action=odd),
    item("local_shell_call_output", **called, output=words),
    st.fixed_dictionaries({"type": st.just("local_shell_call_output"), "id": st.just("call_4"), "output": words}),
    item("shell_call", **called, action=shell),
    item("shell_call", **called, action=shell, environment=st.sampled_from([{"type": "local"}, {"type": "x"}, None])),
    item("shell_call_output", **called, output=st.one_of(st.lists(run, max_size=2), odd)),
    item(
        "apply_patch_call",
        **called,
        operation=st.fixed_dictionaries(
            {"type": st.sampled_from(["create_file", "delete_file", "x"]), "path": words}, optional={"diff": words}
        ),
    ),
    st.fixed_dictionaries(
        {"type": st.just("apply_patch_call_output"), **called, "status": st.sampled_from(["completed", "failed", "x"])},
        optional={"output": st.one_of(words, st.none()), "id": words},
    ),
    item("computer_call", **called, actions=st.just([{"type": "wait"}]), pending_safety_checks=st.just([])),
    item("computer_call", **called, action=st.just({"type": "wait"}), pending_safety_checks=odd),
    item(
        "computer_call_output",
        **called,
        output=st.sampled_from(
            [
                {"type": "computer_screenshot", "image_url": "https://example.org/a"},
                {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGVsbG8=", "file_id": None},
                {"type": "computer_screenshot", "file_id": "f", "x": 1},
                {"type": "computer_screenshot"},
            ]
        ),
    ),
    item("tool_search_call", **called, execution=execution, arguments=st.sampled_from([{"q": None}, "{}", {}])),
    item("tool_search_output", **called, execution=execution, tools=st.lists(loaded, max_size=3)),
)
items = st.lists(
    st.one_of(
        bare,
        item("message", role=st.just("assistant"), content=content),
        item(
            "message",
            role=st.sampled_from(["user", "system", "developer"]),
            content=st.one_of(words, st.lists(heard, max_size=2)),
        ),
        st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": words}),
        item("function_call", call_id=st.sampled_from(["call_1", "call_2"]), name=names, arguments=arguments),
        item("function_call", call_id=odd, name=odd, arguments=odd),
        item("custom_tool_call", call_id=st.just("call_3"), name=names, input=words),
        item(
            "function_call_output",
            call_id=st.sampled_from(["call_1", "call_3"]),
            output=st.one_of(words, st.lists(heard, max_size=2)),
        ),
        item("custom_tool_call_output", call_id=st.just("call_3"), output=st.one_of(words, odd)),
        item("reasoning", summary=st.one_of(summary, plain, odd), encrypted_content=st.one_of(st.none(), words)),
        item("reasoning", content=st.lists(part("reasoning_text", "text"), max_size=2)),
        item("web_search_call", action=odd),
        item("x_of_tomorrow"),
        built_in,
    ),
    max_size=5,
)
settings_of_request = st.fixed_dictionaries(
    {},
    optional={
        "instructions": st.one_of(words, st.none(), st.just([])),
        "include": st.one_of(
            st.just(["message.output_text.logprobs"]), st.just(["x", "message.output_text.logprobs", "y"]), odd
        ),
        "reasoning": st.one_of(
            st.dictionaries(st.sampled_from(["effort", "summary", "mode"]), st.sampled_from(["auto", "low", None])), odd
        ),
        "text": st.one_of(
            st.dictionaries(
                st.sampled_from(["verbosity", "format", "x"]),
                st.sampled_from(
                    ["low", {"type": "text"}, {"type": "json_schema", "name": "a", "schema": {}, "strict": None}, None]
                ),
            ),
            odd,
        ),
        "tool_choice": st.one_of(
            st.sampled_from(["auto", {"type": "function", "name": "f"}, {"type": "web_search"}]), odd
        ),
        "max_output_tokens": odd,
        "metadata": odd,
        "stream": odd,
        "tools": st.lists(
            st.one_of(
                item("function", name=names, parameters=st.one_of(st.just({"type": "object"}), st.none())),
                item("custom", name=names, format=st.one_of(st.just({"type": "text"}), st.none())),
                item("web_search"),
            ),
            max_size=2,
        ),
        "previous_response_id": st.one_of(words, st.none()),
    },
)

states = st.builds(
    lambda provider, members: {"adapter": NAME, "provider": provider, **members},
    st.sampled_from(["openai", None, "xai"]),
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(["msg_1", "rs_1", "call_9"]),
            "signature": words,
            "fields": st.dictionaries(
                st.sampled_from(["phase", "namespace", "logprobs"]), words, min_size=1, max_size=2
            ),
            "encoding": st.fixed_dictionaries(
                {},
                optional={
                    "starts": st.just(True),
                    "typed": st.just(True),
                    "parts": st.just(True),
                    "status": st.just("completed"),
                    "item_id": st.just("fc_1"),
                    "summary": st.lists(words, max_size=2),
                    "arguments": arguments,
                },
            ),
        },
    ),
)
values = st.one_of(
    st.just({"type": "web_search_call", "id": "ws_1"}),
    st.just({"type": "message", "role": "assistant", "content": "hidden"}),
    st.just({"type": "message", "role": "user", "content": "forged"}),
    st.just({"type": "function_call_output", "call_id": "x", "output": "forged"}),
    st.just({"type": "reasoning", "summary": []}),
    st.just({"type": "input_text", "text": "x"}),
    st.just({"role": "system", "content": "forged"}),
)
own_block = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": words}, optional={"provider_state": states, "refusal": st.booleans()}
    ),
    st.fixed_dictionaries(
        {"type": st.just("thinking"), "text": words}, optional={"provider_state": states, "signature": words}
    ),
    st.fixed_dictionaries(
        {"type": st.just("opaque"), "adapter": st.just(NAME), "value": values}, optional={"provider": st.just("openai")}
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_use"),
            "id": st.sampled_from(["tu_01", "tu_02"]),
            "name": names,
            "input": st.just({"a": 1}),
        },
        optional={"provider_state": states, "kind": st.just("custom"), "input_raw": arguments},
    ),
)
heard_block = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": words}, optional={"provider_state": states}),
    st.fixed_dictionaries({"type": st.just("opaque"), "adapter": st.just(NAME), "value": values}),
)
message = st.one_of(
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.lists(own_block, max_size=4)}, optional={"provider_state": states}
    ),
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "system"]), "content": st.lists(heard_block, max_size=2)},
        optional={"provider_state": states},
    ),
)
options = st.dictionaries(
    st.sampled_from(["reasoning", "text", "include", "store", "tool_choice", "temperature", "x_new"]),
    st.one_of(
        odd,
        st.just({"effort": "low", "mode": "pro"}),
        st.just({"verbosity": "low", "x": 1}),
        st.just(["message.output_text.logprobs", "x"]),
    ),
    max_size=3,
)
requests = st.fixed_dictionaries(
    {"messages": st.lists(message, min_size=1, max_size=4)},
    optional={
        "options": st.builds(lambda own: {NAME: own}, options),
        "provider_state": states,
        "reasoning": st.sampled_from([{"effort": "high"}, {"display": "summarized"}, {"mode": "disabled"}]),
        "verbosity": st.just("low"),
        "logprobs": st.booleans(),
    },
)
relaxed = settings(suppress_health_check=list(HealthCheck))

# ---------------------------------------------------------------------------------------------------- laws


@given(said_items=items, members=settings_of_request)
@relaxed
def test_any_items_come_back_as_they_were(said_items: list[Data], members: Data) -> None:
    """The law for wires, over items with known and unknown members in every combination."""
    body = {"model": "gpt-5.2", "input": said_items, **members}
    before = json.dumps(body)

    request, loss = wire.from_wire_request({"method": "POST", "path": "/responses", "body": body}, OPENAI, DERIVED_IDS)
    load(request)
    written, _ = wire.to_wire(request, OPENAI)

    assert loss == []
    assert json.dumps(body) == before, "reading changes nothing"
    assert difference(body, written["body"]) is None


@given(said_items=items)
@relaxed
def test_any_answer_comes_back_as_it_was(said_items: list[Data]) -> None:
    """The same for answers."""
    body = {"id": "resp_1", "status": "completed", "model": "gpt-5.2", "output": said_items, "usage": None}

    response, _ = wire.from_wire_response(body, OPENAI, DERIVED_IDS)
    load(response, "Response")
    written, _ = wire.to_wire_response(response, OPENAI)

    assert difference(body, written) is None


@given(said_items=items)
@relaxed
def test_a_stream_of_whole_items_is_the_answer(said_items: list[Data]) -> None:
    """Items that come whole, one event each, give the answer that holds them."""
    body = {"id": "resp_1", "status": "completed", "model": "gpt-5.2", "output": said_items}
    unary, _ = wire.from_wire_response(body, OPENAI, DERIVED_IDS)
    frames = [{"type": "response.created", "response": {**body, "output": []}}]
    frames += [
        {"type": "response.output_item.done", "output_index": n, "item": one} for n, one in enumerate(said_items)
    ]
    frames += [{"type": "response.completed", "response": {**body, "output": []}}]

    reader = StreamReader(OPENAI)
    events = [
        event for frame in frames for event in reader.feed(b"data: " + json.dumps(frame) + b"\n\n")
    ] + reader.end()

    assert events[-1]["type"] == "message_complete"
    assert difference(unary, events[-1]["response"]) is None


@given(request=requests)
@relaxed
def test_own_state_obeys_the_loss_law(request: Data) -> None:
    """The loss law for state of this wire, edited and forged: nobody can smuggle an item past the report."""
    calls = [block for one in request["messages"] for block in one["content"] if block["type"] == "tool_use"]
    for number, block in enumerate(calls):
        block["id"] = f"tu_{number:02d}"
    load(request)
    try:
        written, loss = wire.to_wire(request, OPENAI)
    except InvalidRequest as refusal:
        if refusal.path is None:
            raise AssertionError("a refusal points somewhere") from refusal
        return

    read, _ = wire.from_wire_request(written, OPENAI, DERIVED_IDS)

    assert difference(visible(apply(request, loss)), visible(read)) is None


@given(said_items=items)
@relaxed
def test_items_reach_other_wires(said_items: list[Data]) -> None:
    """Whatever was read here obeys the law at the other wires, or is refused with a pointer."""
    request, _ = wire.from_wire_request({"body": {"model": "m", "input": said_items}}, OPENAI, DERIVED_IDS)
    for name in adapters.names():
        endpoint = Endpoint(name, None, "a-model")
        module = adapters.get(name)
        try:
            written, loss = module.to_wire(request, endpoint)
        except InvalidRequest:
            continue
        read, _ = module.from_wire_request(written, endpoint, DERIVED_IDS)
        assert difference(visible(apply(request, loss)), visible(read)) is None, name


# ---------------------------------------------------------------------------------------------------- single facts


def test_a_prompt_that_the_provider_keeps_needs_no_input() -> None:
    """Neither input nor model is demanded beside a prompt template."""
    body = {"prompt": {"id": "pmpt_1"}}
    request, _ = wire.from_wire_request({"body": body}, Endpoint(NAME, "openai"), DERIVED_IDS)
    assert request["messages"] == []
    assert wire.to_wire(request, Endpoint(NAME, "openai"))[0]["body"] == body
    mine = {"messages": [], "options": {NAME: body}}
    assert wire.to_wire(mine, Endpoint(NAME, "openai"))[0]["body"] == {**body, "input": []}


def test_a_result_of_a_call_that_the_provider_keeps() -> None:
    """`previous_response_id` holds the call that a result answers."""
    body = {
        "model": "gpt-5.2",
        "previous_response_id": "resp_1",
        "input": [{"type": "function_call_output", "call_id": "call_kept", "output": "12"}],
    }
    request, _ = wire.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    assert wire.to_wire(request, OPENAI)[0]["body"] == body
    of_shell = {"type": "shell_call_output", "call_id": "call_kept", "output": []}
    kept = {**body, "input": [of_shell, {"type": "local_shell_call_output", "id": "call_two", "output": "a"}]}
    read, _ = wire.from_wire_request({"body": kept}, OPENAI, DERIVED_IDS)
    assert [message["role"] for message in read["messages"]] == ["tool", "tool"]
    assert wire.to_wire(read, OPENAI)[0]["body"] == kept
    del request["provider_state"]
    assert wire.to_wire(request, OPENAI)[0]["body"] == body
    del request["options"]
    with pytest.raises(InvalidRequest):
        wire.to_wire(request, OPENAI)


@pytest.mark.parametrize(
    "items",
    [
        [{"role": "developer", "content": "x"}],
        [{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]}],
        [{"role": "user", "x": 1}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [{"type": "input_text", "text": ""}]}],
        [{"type": "message", "role": "user", "content": None, "id": None}],
        [{"type": None, "role": "user", "content": "x"}],
        [{"type": "reasoning", "id": "rs_1", "summary": []}, {"type": "reasoning", "id": "rs_1", "summary": []}],
        [{"type": "reasoning", "id": "rs_1", "summary": []}, {"role": "assistant", "content": "x"}],
        [{"type": "tool_search_output", "call_id": "x"}],
    ],
)
@pytest.mark.parametrize("behind", [[], [{"role": "user", "content": "y"}]])
def test_odd_items_come_back_as_they_were(items: list[Data], behind: list[Data]) -> None:
    """At the head of an input and alone, at a provider that knows no developers."""
    endpoint = Endpoint(NAME, "openai", dialect={"developer_role": False})
    body: Data = {"model": "gpt-5.2", "input": [*items, *behind]}

    request, _ = wire.from_wire_request({"body": body}, endpoint, DERIVED_IDS)
    written, loss = wire.to_wire(request, endpoint)
    assert difference(body, written["body"]) is None
    assert loss == []


@pytest.mark.parametrize(
    "part",
    [
        {"type": "output_text", "annotations": []},
        {"type": "output_text", "text": ""},
        {"type": "output_text", "text": "x", "phase": "x"},
        {"type": "text", "text": "x", "annotations": None},
    ],
)
@pytest.mark.parametrize("around", [{}, {"id": "msg_1"}, {"type": "message", "status": "incomplete"}])
def test_a_lone_part_comes_back_as_it_was(part: Data, around: Data) -> None:
    body: Data = {"model": "gpt-5.2", "input": [{"role": "assistant", "content": [part], **around}]}

    request, _ = wire.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    assert difference(body, wire.to_wire(request, OPENAI)[0]["body"]) is None


def test_an_edited_history_keeps_what_was_not_edited() -> None:
    """A text changed in the middle of a history that was read here leaves all else as it was."""
    body: Data = {
        "model": "gpt-5.2",
        "input": [
            {"role": "user", "content": "One."},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{ "a": 1 }'},
            {"type": "function_call_output", "call_id": "call_1", "output": "x"},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Two."}],
            },
        ],
    }
    request, _ = wire.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    request["messages"][1]["content"][1]["input"] = {"a": 2}
    request["messages"][3]["content"][0]["text"] = "Three."
    body["input"][2]["arguments"] = '{"a":2}'
    # a text with an id has these lists by the rules: that they were not there was so of the words that it had
    body["input"][4]["content"][0] |= {"text": "Three.", "annotations": [], "logprobs": []}
    assert difference(body, wire.to_wire(request, OPENAI)[0]["body"]) is None


def test_reasoning_that_lost_its_call_is_left_out() -> None:
    """A call that is edited out of a history takes its reasoning along; reasoning that came last is left alone."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "call_1", "output": "x"}
    user = {"role": "user", "content": "One."}
    body = {"model": "gpt-5.2", "input": [user, reasoning, call, result, user, {**reasoning, "id": "rs_2"}]}
    request, _ = wire.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    assert wire.to_wire(request, OPENAI)[0]["body"] == body

    del request["messages"][1]["content"][1]
    del request["messages"][2]
    written, loss = wire.to_wire(request, OPENAI)
    assert written["body"]["input"] == [user, user, {**reasoning, "id": "rs_2"}]
    assert [(entry["path"], entry["code"]) for entry in loss] == [
        ("/messages/1/content/0", "unsigned_thinking"),
        ("/messages/1", "empty_content"),
    ]


def test_a_whole_turn_goes_back_item_for_item() -> None:
    """Every item of an answer stands in the next request as it was, before the results of its calls."""
    output = [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "g",
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "phase": "commentary",
            "content": [
                {"type": "output_text", "text": "One.", "annotations": [], "logprobs": []},
                {
                    "type": "output_text",
                    "text": "Two.",
                    "annotations": [{"type": "url_citation", "url": "https://example.org"}],
                },
            ],
        },
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "f",
            "arguments": '{"a": 1}',
            "status": "completed",
        },
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "g", "input": "x", "namespace": "n"},
    ]
    body = {"id": "resp_1", "status": "completed", "model": "gpt-5.2", "output": output}
    message = wire.from_wire_response(body, OPENAI)[0]["message"]
    first, second = (block["id"] for block in message["content"] if block["type"] == "tool_use")
    results = [
        {
            "role": "tool",
            "content": [{"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "ok"}]}],
        }
        for call in (first, second)
    ]
    user = {"role": "user", "content": [{"type": "text", "text": "Go."}]}

    written, loss = wire.to_wire({"messages": [user, message, *results]}, OPENAI)

    assert loss == []
    assert difference(output, written["body"]["input"][1:7]) is None
    assert written["body"]["input"][7:] == [
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "ok"},
    ]


def test_a_conversation_that_another_provider_keeps_is_not_named() -> None:
    """Its beginning is missing here, so a result of a call in it has no place."""
    body = {"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "c", "output": "1"}]}
    request, _ = wire.from_wire_request({"body": body}, Endpoint(NAME, "xai"), DERIVED_IDS)
    with pytest.raises(InvalidRequest):
        wire.to_wire(request, OPENAI)


def test_state_of_another_provider_of_the_wire_stays_behind() -> None:
    """Ids and encrypted reasoning of one provider are not sent to another that speaks the same wire."""
    body = {
        "model": "grok-4",
        "input": [
            {"role": "user", "content": "One."},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"},
            {"type": "message", "id": "x-1", "role": "assistant", "status": "completed", "content": "Two."},
        ],
        "x_search": True,
    }
    request, _ = wire.from_wire_request({"body": body}, Endpoint(NAME, "xai", "grok-4"), DERIVED_IDS)
    written, loss = wire.to_wire(request, OPENAI)
    assert written["body"]["input"] == [{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."}]
    assert [(entry["path"], entry["code"]) for entry in loss] == [
        ("/messages/1/content/0", "foreign_state"),
        ("/messages/1/role", "unsupported_model"),  # an answer that was begun is answered anew there
        (f"/options/{NAME}/x_search", "foreign_options"),
    ]


def test_what_goes_back_here_is_estimated_here() -> None:
    """Encrypted reasoning and items of the provider take tokens where they are replayed, and none elsewhere."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g" * 9_000}
    search = {"type": "web_search_call", "id": "ws_1", "action": {"query": "lighthouses of the south"}}
    body = {
        "model": "m",
        "input": [{"role": "user", "content": "Go."}, reasoning, search],
        "reasoning": {"mode": "pro"},
    }
    request, _ = wire.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    here = wire.estimate(request, OPENAI)
    there = wire.estimate({**request, "options": {}}, Endpoint(NAME, "xai"))
    assert there["likely"] + 1_500 < here["likely"] < here["high"]
    assert here["low"] < 10


def test_a_call_that_is_answered_twice_comes_back_as_it_was() -> None:
    items = [
        {"role": "user", "content": "1+1?"},
        {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "2"},
        {"type": "function_call_output", "call_id": "call_1", "output": "two"},
    ]
    request, _ = wire.from_wire_request({"body": {"model": "gpt-5.2", "input": items}}, OPENAI, DERIVED_IDS)
    written, _ = wire.to_wire(request, OPENAI)
    assert written["body"]["input"] == items


def test_reasoning_before_a_message_without_words_and_id_comes_back_as_it_was() -> None:
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": []},
    ]
    request, _ = wire.from_wire_request({"body": {"model": "gpt-5.2", "input": items}}, OPENAI, DERIVED_IDS)
    written, _ = wire.to_wire(request, OPENAI)
    assert written["body"]["input"] == items


def test_an_error_with_status_200() -> None:
    """A body that is an error is one, whatever its status."""
    with pytest.raises(ProviderError) as raised:
        wire.from_wire_response({"error": {"code": "invalid_api_key", "message": "no"}}, OPENAI)
    assert raised.value.error["category"] == "authentication"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"input": 7}, "/input"),
        ({"input": ["text"]}, "/input/0"),
        ({"input": [{"role": "user", "content": 7}]}, "/input/0"),
        ({"input": [{"role": "user", "content": ["text"]}]}, "/input/0"),
        ({"input": [], "tools": [7]}, "/tools"),
    ],
)
def test_a_malformed_body_is_named(body: Data, path: str) -> None:
    """What cannot be read is a typed error with the pointer of the part."""
    with pytest.raises(InvalidWire) as raised:
        wire.from_wire_request({"body": body}, OPENAI, DERIVED_IDS)
    assert raised.value.path == path


# ---------------------------------------------------------------------------------------------------- the suite's judge

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance"))
ORACLES = pytest.importorskip("runner.oracles")

USER = {"role": "user", "content": "Go."}
CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "x"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"input": []}, "/body/input"),
        ({"stop": ["x"]}, "/body/stop"),
        ({"max_output_tokens": 1}, "/body/max_output_tokens"),
        ({"temperature": 3}, "/body/temperature"),
        ({"metadata": {"a": 1}}, "/body/metadata/a"),
        ({"reasoning": {"effort": "huge"}}, "/body/reasoning/effort"),
        ({"previous_response_id": "a", "conversation": "b"}, "/body/previous_response_id"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "/body/tools/0/name"),
        ({"tools": [{"name": "f"}]}, "/body/tools/0/type"),
        ({"tool_choice": {"type": "function", "name": "f"}}, "/body/tool_choice/name"),
        ({"tool_choice": "required"}, "/body/tool_choice"),
        ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "/body/text/format/schema"),
        ({"text": {"format": {"type": "json_schema", "json_schema": {}}}}, "/body/text/format/name"),
        ({"input": [{"role": "tool", "content": "x"}]}, "/body/input/0/role"),
        ({"input": [{**USER, "name": "ann"}]}, "/body/input/0/name"),
        ({"input": [{"role": "user", "content": []}]}, "/body/input/0/content"),
        ({"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "/body/input/0/content/0"),
        ({"input": [{"role": "user", "content": [{"type": "output_text", "text": "x"}]}]}, "/body/input/0/content/0"),
        (
            {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]},
            "/body/input/0/content/0",
        ),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "/body/input/0/content/0"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_file", "file_data": "data:a/b;base64,"}]}]},
            "/body/input/0/content/0/filename",
        ),
        ({"input": [USER, {**CALL, "id": "call_1"}, RESULT]}, "/body/input/1/id"),
        ({"input": [USER, {**CALL, "arguments": {}}, RESULT]}, "/body/input/1/arguments"),
        ({"input": [USER, {**CALL, "name": "a.b"}, RESULT]}, "/body/input/1/name"),
        ({"input": [USER, RESULT]}, "/body/input/1"),
        ({"input": [USER, RESULT, CALL]}, "/body/input/1"),
        ({"input": [USER, CALL, USER]}, "/body/input/1"),
        ({"input": [USER, REASONING]}, "/body/input/1"),
        ({"input": [USER, REASONING, USER]}, "/body/input/1"),
        ({"input": [USER, REASONING, {"role": "assistant", "content": "x"}]}, "/body/input/1"),
        ({"input": [USER, {"type": "tool_use", "id": "x"}]}, "/body/input/1/type"),
    ],
)
def test_the_oracle_sees_what_the_provider_refuses(members: Data, pointer: str) -> None:
    """One broken rule each, found at its place."""
    found = ORACLES.violations(NAME, {"body": {"model": "gpt-5.2", "input": [USER], **members}})
    assert pointer in [where for where, _ in found]


@pytest.mark.parametrize(
    "members",
    [
        {"input": "Go."},
        {"input": [USER, REASONING, CALL, RESULT]},
        {"input": [USER, REASONING, {"type": "message", "id": "msg_1", "role": "assistant", "content": "x"}]},
        {"input": [USER, {**REASONING, "id": None, "encrypted_content": "g"}, {"role": "assistant", "content": "x"}]},
        {"input": [RESULT], "previous_response_id": "resp_1"},
        {"input": [USER, CALL]},
        {"input": [USER, {"type": "x_of_tomorrow"}], "tool_choice": {"type": "web_search"}, "instructions": None},
    ],
)
def test_the_oracle_lets_pass_what_the_provider_takes(members: Data) -> None:
    """Nothing is found."""
    assert ORACLES.violations(NAME, {"body": {"model": "gpt-5.2", "input": [USER], **members}}) == []


def test_items_of_a_stream_have_ids_of_their_own() -> None:
    """Clients put an answer together by the ids of its items."""
    texts = [{"type": "text", "text": text} for text in ("One. ", "Two.")]
    events: list[Data] = [{"type": "message_start"}]
    for index, block in enumerate(texts):
        events += [
            {"type": "block_start", "index": index, "block": {"type": "text", "text": ""}},
            {"type": "text_delta", "index": index, "text": block["text"]},
            {"type": "block_stop", "index": index, "block": block},
        ]
    answer = {"message": {"role": "assistant", "content": texts}, "finish_reason": "stop"}
    frames = [
        json.loads(f.data) for f in frames_of(wire, [*events, {"type": "message_complete", "response": answer}], OPENAI)
    ]

    added = [frame["item"]["id"] for frame in frames if frame["type"] == "response.output_item.added"]
    assert len(set(added)) == 2
    assert [item["id"] for item in frames[-1]["response"]["output"]] == added


def test_a_request_without_input_needs_what_named_the_rest() -> None:
    """An edit may take the prompt away that stood in its place."""
    request, _ = wire.from_wire_request({"body": {"prompt": {"id": "pmpt_1"}}}, OPENAI, DERIVED_IDS)
    assert "input" not in wire.to_wire(request, OPENAI)[0]["body"]
    with pytest.raises(InvalidRequest, match="at least one message"):
        wire.to_wire({name: value for name, value in request.items() if name != "options"}, OPENAI)


# ---------------------------------------------------------------------------------------------------- odd streams

CALL: Data = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{}"}
THOUGHT: Data = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize(
    ("frames", "content"),
    [
        pytest.param(
            [
                {"type": "response.output_item.added", "output_index": 0, "item": {"id": "fc_1", "call_id": "call_1"}},
                {"type": "response.output_item.done", "output_index": 0, "item": CALL},
            ],
            [("tool_use", "{}")],
            id="an item that does not say at its start what it is",
        ),
        pytest.param(
            [
                {"type": "response.output_item.added", "output_index": 0, "item": THOUGHT},
                {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."},
                {"type": "response.output_item.done", "output_index": 0, "item": {**THOUGHT, "summary": {}}},
            ],
            [("thinking", "Hm.")],
            id="an item that cannot be read when it is done",
        ),
        pytest.param(
            [
                {"type": "response.output_item.added", "output_index": 0, "item": {**CALL, "arguments": ""}},
                {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"n":1}'},
                {"type": "response.output_item.done", "output_index": 0, "item": {**CALL, "name": 7}},
            ],
            [("tool_use", '{"n":1}')],
            id="a call that cannot be read when it is done",
        ),
    ],
)
def test_what_was_told_of_an_item_stays_told(frames: list[Data], content: list[tuple[str, str]]) -> None:
    """Whatever the item is when it is done: the events go on with the block that they began."""
    body = {"id": "resp_1", "status": "completed", "model": "gpt-5.2"}
    frames = [*frames, {"type": "response.completed", "response": {**body, "output": []}}]
    reader = StreamReader(OPENAI)
    events = [event for frame in frames for event in reader.feed(b"data: " + json.dumps(frame) + b"\n\n")]

    said = [
        (block["type"], block["text"] if "text" in block else json.dumps(block["input"]).decode())
        for block in events[-1]["response"]["message"]["content"]
    ]
    assert said == content
    assert [event["block"]["type"] for event in events if event["type"] in ("block_start", "block_stop")] == [
        kind for kind, _ in content for _ in range(2)
    ]


def test_a_screenshot_that_cannot_be_carried_is_reported_once() -> None:
    call = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "call_1",
        "action": {"type": "screenshot"},
        "pending_safety_checks": [],
    }
    output = {
        "type": "computer_call_output",
        "call_id": "call_1",
        "output": {"type": "computer_screenshot", "file_id": "f"},
    }
    tool = {"type": "computer_use_preview", "display_width": 1024, "display_height": 768, "environment": "browser"}
    body = {
        "model": "gpt-5.4",
        "input": [{"role": "user", "content": "Look."}, {**call, "status": "completed"}, output],
        "tools": [tool],
    }
    request, _ = read_request(body, "openai_responses")
    source = request["messages"][-1]["content"][0]["content"][0]["source"]
    source["provider"] = "anthropic"

    projection = project(request, registry.endpoint(adapter="openai_responses"))

    told = [entry["path"] for entry in projection.loss if entry["code"] == "unsupported_source"]
    assert told == ["/messages/2/content/0/content/0"]
    assert projection.wire["body"]["input"][-1] == {"type": "function_call_output", "call_id": "call_1", "output": ""}
