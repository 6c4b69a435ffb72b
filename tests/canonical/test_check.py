"""Each invariant has a named rule; each rule is broken here once and kept once."""

import socket
from pathlib import Path
from typing import Any

import pytest

from interlingua import (
    InvalidRequest,
    Message,
    Request,
    Tool,
    ToolUseBlock,
    check,
    check_call,
    register_tools,
    tool_input_violations,
    tool_schema_violations,
)
from interlingua.canonical.check import profiles

Data = dict[str, Any]
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FA"


def text(words: str = "x") -> Data:
    return {"type": "text", "text": words}


def call(identity: str = "tu_1", **members: Any) -> Data:
    return {"type": "tool_use", "id": identity, "name": "look_up", "input": {}, **members}


def result(identity: str = "tu_1", *content: Data) -> Data:
    block = {"type": "tool_result", "tool_use_id": identity, "content": list(content)}
    return {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": identity}}


def assistant(*content: Data, **metadata: Any) -> Data:
    return {"role": "assistant", "content": list(content), "metadata": metadata}


def rules(value: Any, profile: str = "core") -> set[str]:
    return {violation["rule"] for violation in check(value, profile)}


BLOCKS = {
    "text": text(),
    "image": {"type": "image", "source": {"kind": "base64", "data": "YQ=="}, "media_type": "image/png"},
    "tool_use": call("tu_" + ULID + "V"),
    "tool_result": {"type": "tool_result", "tool_use_id": "tu_" + ULID + "V", "content": []},
    "thinking": {"type": "thinking", "text": "hm"},
    "redacted_thinking": {"type": "redacted_thinking", "data": "…"},
}


@pytest.mark.parametrize("kind", BLOCKS)
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_every_role_takes_its_blocks_and_no_others(role: str, kind: str) -> None:
    """The matrix of seed 004 §5.1(3), cell by cell."""
    allowed = profiles()["strict-004"]["blocks"][role]

    broken = rules({"role": role, "content": [BLOCKS[kind]]}, "strict-004")

    assert (kind not in allowed) is ("block_in_role" in broken)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("content_not_empty", {"role": "user", "content": []}),
        ("content_not_empty", {"role": "assistant", "content": []}),
        (
            "one_result_per_message",
            {"role": "tool", "content": [result()["content"][0]] * 2, "metadata": {"parent_tool_use_id": "tu_1"}},
        ),
        ("parent_tool_use_id", {"role": "tool", "content": result()["content"]}),
        ("parent_tool_use_id", result() | {"metadata": {"parent_tool_use_id": "tu_2"}}),
        ("block_in_role", result("tu_1", call("tu_2"))),
        ("media_type", {"role": "user", "content": [{"type": "image", "source": {"kind": "base64", "data": ""}}]}),
        ("media_source", {"role": "user", "content": [{"type": "image", "source": {"kind": "url"}}]}),
        ("tool_input_invalid", assistant(call(input_raw="{"))),
        (
            "chosen_model",
            assistant(text(), model="a:b", routing={"mode": "manual", "chosen_model": "a:c", "reason": ""}),
        ),
        ("rule_name", assistant(text(), routing={"mode": "rule", "chosen_model": "a:c", "reason": ""})),
        ("confidence", assistant(text(), routing={"mode": "pattern", "chosen_model": "a:c", "reason": ""})),
        ("result_has_call", [result("tu_9")]),
        ("result_has_call", [result("tu_1"), assistant(call())]),
        ("one_result_per_call", [assistant(call()), result(), result()]),
        ("tool_id_unique", [assistant(call(), call())]),
        ("id_order", [{"id": ULID + "W", **assistant(text())}, {"id": ULID + "V", **assistant(text())}]),
        ("one_session", [{"session_id": "a", **assistant(text())}, {"session_id": "b", **assistant(text())}]),
        ("tool_name_unique", {"messages": [], "tools": [{"name": "f"}, {"name": "f"}]}),
    ],
)
def test_each_rule_of_the_core_can_be_broken(rule: str, value: Any) -> None:
    """The rule is reported, with a pointer into the value."""
    assert rule in rules(value)


@pytest.mark.parametrize("name", ["model", "provider", "routing", "usage"])
def test_a_finished_answer_says_where_it_comes_from(name: str) -> None:
    """In the strict profile; an unfinished, cancelled or failed one need not."""
    finished = assistant(text(), status="complete")
    cancelled = assistant(text(), status="cancelled")

    assert f"complete_{name}" in rules(finished, "strict-004")
    assert f"complete_{name}" not in rules(cancelled, "strict-004")
    assert f"complete_{name}" not in rules(finished)


def test_an_unfinished_message_may_be_anything() -> None:
    """The same content is accepted while streaming and refused when complete."""
    assert not check({"role": "user", "content": [], "metadata": {"status": "partial"}})
    assert check({"role": "user", "content": [], "metadata": {"status": "complete"}})


def test_a_good_conversation_has_no_violations() -> None:
    """Calls, results in order, an empty system message."""
    assert not check(
        [{"role": "system", "content": []}, assistant(text(), call()), result("tu_1", text()), assistant(text())]
    )


@pytest.mark.parametrize(
    ("profile", "block"),
    [
        (
            "bytes-only",
            {
                "type": "image",
                "source": {"kind": "url", "data": "https://example.org/a.png"},
                "media_type": "image/png",
            },
        ),
        ("strict-004", {"type": "audio", "source": {"kind": "base64", "data": ""}, "media_type": "audio/wav"}),
        ("strict-004", {"type": "hologram"}),
        ("single-content", {"type": "image", "source": {"kind": "base64", "data": ""}, "media_type": "image/png"}),
    ],
)
def test_profiles_restrict_the_core(profile: str, block: Data) -> None:
    """What the core takes, a narrower profile refuses."""
    message = {"role": "user", "content": [block]}

    assert not check(message)
    assert check(message, profile)


def test_an_unknown_profile_is_named() -> None:
    """With the ones that exist."""
    with pytest.raises(InvalidRequest, match="strict-004"):
        check([], "strict")


@pytest.mark.parametrize(
    "keyword", ["allOf", "anyOf", "oneOf", "not", "if", "$ref", "patternProperties", "minimum", "title"]
)
@pytest.mark.parametrize("depth", ["", "/properties/a", "/properties/a/items"])
def test_keywords_outside_the_subset_are_refused_at_any_depth(keyword: str, depth: str) -> None:
    """With the pointer of the keyword."""
    node: Data = {keyword: {}}
    for step in reversed(depth.split("/")[1:]):
        node = {step: node}

    assert f"{depth}/{keyword}" in [violation["path"] for violation in tool_schema_violations(node)]


def test_keywords_of_the_subset_are_accepted() -> None:
    """Also a property that is named like a forbidden keyword, and a closed object."""
    schema = {
        "type": "object",
        "description": "d",
        "properties": {"anyOf": {"type": "array", "items": {"type": "string", "enum": ["a"], "format": "date"}}},
        "required": ["anyOf"],
        "additionalProperties": False,
    }

    assert not tool_schema_violations(schema)
    assert tool_schema_violations(schema | {"additionalProperties": {"type": "string"}})


def test_every_way_of_a_choice_is_looked_at() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"oneOf": []}]}}}
    found = tool_schema_violations(schema, extended=True)
    assert [violation["path"] for violation in found] == ["/properties/a/anyOf/1/oneOf"]


def test_the_core_takes_any_schema_of_a_tool() -> None:
    """The subset is a rule of a narrower profile."""
    request = {"messages": [], "tools": [{"name": "look", "input_schema": {"oneOf": []}}]}
    assert check(request) == []
    assert "tool_schema" in {one["rule"] for one in check(request, "strict-004")}


def test_registration_names_tool_path_and_keyword() -> None:
    """A bad schema fails loudly and early."""
    with pytest.raises(InvalidRequest) as caught:
        register_tools([{"name": "look_up", "input_schema": {"type": "object", "properties": {"a": {"oneOf": []}}}}])

    assert "look_up" in str(caught.value)
    assert "oneOf" in str(caught.value)
    assert "/0/input_schema/properties/a/oneOf" == caught.value.path


SCHEMA: Data = {"type": "object", "properties": {}}


@pytest.mark.parametrize("name", ["a", "Look_Up2", "a" * 64])
def test_good_names_are_registered(name: str) -> None:
    """The whole tool stands under its name."""
    tool = {"name": name, "input_schema": SCHEMA}
    assert register_tools([tool]) == {name: tool}


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        *(
            ({"name": name, "input_schema": SCHEMA}, "/0/name")
            for name in ("", "1x", "a b", "a-b", "_a", "a" * 65, "a\n")
        ),
        ({"name": None, "input_schema": SCHEMA}, "/0/name"),
        ({}, "/0/name"),
        ("look_up", "/0"),
        ({"name": "look_up"}, "/0"),
        ({"name": "look_up", "input_schema": None}, "/0"),
        ({"name": "look_up", "input_schema": {}}, "/0"),
        ({"name": "look_up", "input_schema": {"type": "array"}}, "/0/input_schema/type"),
    ],
)
def test_what_cannot_be_registered(tool: Any, path: str) -> None:
    """Names and schemas are looked at when a tool is defined, not when a provider refuses them."""
    with pytest.raises(InvalidRequest) as caught:
        register_tools([tool])
    assert caught.value.path == path


def test_other_kinds_of_tools_are_registered() -> None:
    """A provider's own keeps its name, one of free text has no schema."""
    tools = [{"kind": "provider", "name": "$web_search"}, {"kind": "custom", "name": "shell"}]
    assert list(register_tools(tools)) == ["$web_search", "shell"]
    with pytest.raises(InvalidRequest, match="two tools"):
        register_tools([tools[1], tools[1]])


def test_arguments_are_asked_twice() -> None:
    """A call that fitted when it was read is told when the tool has changed before the call is carried out."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    given = {"city": "Oslo"}

    assert tool_input_violations(given, schema) == []
    (found,) = tool_input_violations(given, {**schema, "properties": {"city": {"type": "string", "maxLength": 2}}})
    assert (found["rule"], found["path"]) == ("tool_input_invalid", "/city")
    assert "Oslo" not in found["message"]


def test_a_schema_that_is_none_has_no_say_about_arguments() -> None:
    assert tool_input_violations({"a": 1}, {"type": "no such type"}) == []
    assert tool_input_violations({"a": 1}, {"$ref": "#/$defs/nowhere"}) == []
    assert tool_input_violations({"a": 1}, {"type": "object", "properties": 7}) == []


@pytest.mark.parametrize("reference", ["http://127.0.0.1:{port}/schema", "file://{file}"])
def test_a_schema_outside_of_the_schema_is_not_fetched(reference: str, tmp_path: Path) -> None:
    """A caller's schema makes nobody open a file or a connection, and measures nothing when it would have to."""
    (tmp_path / "schema").write_text('{"type": "string"}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        where = reference.format(port=server.getsockname()[1], file=tmp_path / "schema")
        assert tool_input_violations({"a": 1}, {"type": "object", "properties": {"a": {"$ref": where}}}) == []
        with pytest.raises(BlockingIOError):
            server.accept()


def test_schemas_outside_of_the_subset_measure_nothing() -> None:
    """One that would take for ever is told, and nothing is measured by it."""
    definitions = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 8} for n in range(12)}
    schema = {"type": "object", "$defs": definitions, "$ref": "#/$defs/d0"}
    call = {"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}
    request = {
        "messages": [{"role": "assistant", "content": [call]}],
        "tools": [{"name": "f", "input_schema": schema, "side_effects": "none"}],
    }
    assert {"tool_schema"} <= {one["rule"] for one in check(request, "strict-004")}


# ---------------------------------------------------------------------------------------------------- before a call is carried out

TOOLS = register_tools(
    [
        {
            "name": "get_weather",
            "input_schema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
        {"name": "shell", "kind": "custom"},
        {"name": "bash", "kind": "provider", "definition": {"type": "bash_20250124"}},
    ]
)
CALL: dict[str, Any] = {"type": "tool_use", "id": "tu_1", "name": "get_weather", "input": {"city": "Oslo"}}


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({}, []),
        ({"input": {"city": "Oslo", "days": 3}}, []),
        ({"name": "shell", "kind": "custom", "input": {}, "input_raw": "ls"}, []),
        ({"name": "bash", "input": {"command": "ls"}}, []),
        ({"input": {}}, ["/input"]),
        ({"input": {"city": 7, "days": "Oslo"}}, ["/input/city", "/input/days"]),
        ({"input": {}, "input_raw": '{"city": "Os'}, ["/input_raw"]),
        ({"name": "Oslo"}, ["/name"]),
        ({"name": "shell"}, ["/kind"]),
        ({"kind": "custom", "input": {}, "input_raw": "Oslo"}, ["/kind"]),
    ],
)
def test_a_call_is_checked_before_it_is_carried_out(changes: dict[str, Any], paths: list[str]) -> None:
    """What is wrong gives one event, with the tool's name and all that is wrong, and no word of the arguments."""
    events: list[dict[str, Any]] = []
    found = check_call({**CALL, **changes}, TOOLS, events.append)
    assert sorted(one["path"] for one in found) == paths
    assert check_call({**CALL, **changes}, list(TOOLS.values())) == found
    if not paths:
        assert events == []
        return
    (event,) = events
    assert event == {
        "type": "tool_input_invalid",
        "alias": "tool.input_invalid",
        "tool_use_id": "tu_1",
        "name": changes.get("name", "get_weather"),
        "violations": found,
    }
    assert {one["rule"] for one in found} == {"tool_input_invalid"}
    assert not any("Oslo" in one["message"] for one in found)


def test_a_tool_that_changed_since_the_call_was_read_is_caught_at_dispatch() -> None:
    """R-095, R-096: the two points of the check, and the event at the second."""
    block = ToolUseBlock.model_validate(CALL)
    assert check_call(block, TOOLS) == []
    changed = {**TOOLS["get_weather"], "input_schema": {"type": "object", "required": ["region"]}}
    events: list[dict[str, Any]] = []
    assert check_call(block, {"get_weather": changed}, events.append)
    assert len(events) == 1


def test_what_is_no_call_is_refused() -> None:
    for value in ({}, None, "x", {"type": "text", "text": ""}, {**CALL, "input": 7}):
        with pytest.raises(InvalidRequest):
            check_call(value, TOOLS)


# ---------------------------------------------------------------------------------------------------- what is taken


def test_values_of_the_types_and_answers_are_checked_as_plain_data_are() -> None:
    message = Message.user("Hello.")
    assert check(message) == check([message]) == check(Request(messages=[message])) == []
    answer = {"message": {"role": "assistant", "content": []}, "finish_reason": "stop"}
    assert {one["path"] for one in check(answer)} == {"/message/content"}
    tool = Tool(name="f", input_schema={"type": "object"})
    assert list(register_tools([tool])) == ["f"]
    assert check_call({**CALL, "name": "f"}, [tool]) == check_call({**CALL, "name": "f"}, {"f": tool}) == []


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ""),
        ("x", ""),
        ({}, ""),
        ([None], "/0"),
        ({"messages": None}, "/messages"),
        ({"role": "user", "content": "x"}, "/content"),
        ({"message": {"role": "assistant", "content": 7}, "finish_reason": "stop"}, "/message/content"),
    ],
)
def test_what_does_not_fit_the_schema_is_told_so(value: Any, path: str) -> None:
    assert {one["path"] for one in check(value)} == {path}
    assert all(one["rule"].startswith("schema.") for one in check(value))
