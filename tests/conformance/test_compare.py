"""The suite's own reading of spec/6-loss.md: JSON equality, the loss report applied, and what a model can see."""

from typing import Any

import pytest
from runner.compare import MISSING, ReportError, apply, difference, get, loads, pointer_of, visible, visible_events


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def entry(op: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": op, "path": path, "code": "unsupported_field", "severity": "lost", "message": "", **more}


def texts(request: dict[str, Any]) -> list[list[str]]:
    return [[block["text"] for block in turn["content"]] for turn in request["messages"]]


# --- reading and equality ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ['{"a":1,"a":2}', "NaN", "Infinity", "1e999", "[1,]", "[" * 100_000])
def test_what_is_not_exact_json_is_refused(bad: str) -> None:
    with pytest.raises(ValueError):
        loads(bad)


def test_integers_are_exact() -> None:
    assert loads("123456789012345678901234567890") == 123456789012345678901234567890


@pytest.mark.parametrize(
    ("one", "two", "pointer"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 1}, {"a": True}, "/a"),
        ({"a": 0}, {"a": False}, "/a"),
        ({"a": None}, {}, "/a"),
        ([1, 2], [2, 1], "/0"),
        ([1], [1, None], "/1"),
        ({"a": {"b/c": [{"d~": 1}]}}, {"a": {"b/c": [{"d~": 2}]}}, "/a/b~1c/0/d~0"),
        ("1", 1, ""),
        ({}, [], ""),
    ],
)
def test_difference_is_the_first_place(one: Any, two: Any, pointer: str | None) -> None:
    found = difference(one, two)

    assert (found.pointer if found else None) == pointer


@pytest.mark.parametrize(
    ("rule", "one", "two", "same"),
    [
        ({"as": "ignore"}, "x", MISSING, True),
        ({"as": "any-string"}, "x", "y", True),
        ({"as": "any-string"}, "x", 5, False),
        ({"as": "unordered"}, [1, 2, 2], [2, 1, 2], True),
        ({"as": "unordered"}, [1, 2, 2], [2, 1, 1], False),
        ({"as": "json-string"}, '{"a":1,"b":2}', '{ "b": 2, "a": 1 }', True),
        ({"as": "json-string"}, '{"a":1}', '{"a":2}', False),
        ({"as": "decimal"}, "0.10", "0.1", True),
        ({"as": "decimal"}, "0.1", 0.1, False),
        ({"as": "within", "tolerance": 2}, 10, 12, True),
        ({"as": "within", "tolerance": 2}, 10, 13, False),
    ],
)
def test_comparators(rule: dict[str, Any], one: Any, two: Any, same: bool) -> None:
    expected = {"list": [{"value": one}]}
    actual = {"list": [{"value": two} if two is not MISSING else {}]}

    assert (difference(expected, actual, [{"path": "/list/*/value", **rule}]) is None) is same


def test_pointers_escape() -> None:
    assert pointer_of(["a/b", "~", 0]) == "/a~1b/~0/0"
    assert get({"a/b": {"~": [7]}}, "/a~1b/~0/0") == 7
    assert get({"a": []}, "/a/0") is MISSING


# --- applying a report ---------------------------------------------------------------------------------------------------


def test_positions_are_those_of_the_request_as_written() -> None:
    request = {"messages": [user(text("a"), text("b"), text("c"))]}

    result = apply(request, [entry("drop", "/messages/0/content/0"), entry("drop", "/messages/0/content/2")])

    assert texts(result) == [["b"]]
    assert texts(request) == [["a", "b", "c"]], "the request as written stays as it is"


def test_replace_adds_an_absent_member_and_its_parents() -> None:
    result = apply({"messages": []}, [entry("replace", "/a/b/c", value=None), entry("replace", "/max", value=1)])

    assert result == {"messages": [], "a": {"b": {"c": None}}, "max": 1}


def test_an_entry_sees_what_earlier_entries_left() -> None:
    report = [
        entry("replace", "/messages/0/content/0", value=text("new", cache={})),
        entry("drop", "/messages/0/content/0/cache"),
    ]

    assert apply({"messages": [user(text("old"))]}, report)["messages"][0]["content"] == [text("new")]


def test_move_in_a_list_inserts_before_the_written_element_in_order_of_arrival() -> None:
    request = {"messages": [user(text(word)) for word in "abcd"]}

    result = apply(
        request, [entry("move", "/messages/3", to="/messages/1"), entry("move", "/messages/0", to="/messages/1")]
    )

    assert texts(result) == [["d"], ["a"], ["b"], ["c"]]


@pytest.mark.parametrize("end", ["-", "2"])
def test_move_to_the_end_appends(end: str) -> None:
    request = {"messages": [user(text("a")), user(text("b"))]}

    assert texts(apply(request, [entry("move", "/messages/0", to=f"/messages/{end}")])) == [["b"], ["a"]]


def test_blocks_moved_between_messages_arrive_in_one_new_user_message() -> None:
    request = {"messages": [{"role": "tool", "content": [text("a"), text("b")]}, user(text("c"))]}
    left = text("[see the next turn]")

    result = apply(
        request,
        [
            entry("move", "/messages/0/content/0", to="/messages/1", value=left),
            entry("move", "/messages/0/content/1", to="/messages/1"),
        ],
    )

    assert texts(result) == [["[see the next turn]"], ["a", "b"], ["c"]]
    assert [turn["role"] for turn in result["messages"]] == ["tool", "user", "user"]


def test_move_into_a_content_list_and_to_a_member() -> None:
    request = {"messages": [user(text("a")), user(text("b"))], "user": "u"}

    result = apply(
        request,
        [
            entry("move", "/messages/0/content/0", to="/messages/1/content/0"),
            entry("move", "/user", to="/metadata/user_id"),
        ],
    )

    assert texts(result) == [[], ["a", "b"]]
    assert result["metadata"] == {"user_id": "u"}
    assert "user" not in result


def test_merge_appends_messages_in_order() -> None:
    request = {"messages": [user(text("a")), user(text("b")), user(text("c"))]}

    result = apply(
        request, [entry("merge", "/messages/1", to="/messages/0"), entry("merge", "/messages/2", to="/messages/0")]
    )

    assert texts(result) == [["a", "b", "c"]]


def test_merge_into_absent_system() -> None:
    result = apply(
        {"messages": [{"role": "system", "content": [text("s")]}]}, [entry("merge", "/messages/0", to="/system")]
    )

    assert result == {"messages": [], "system": [text("s")]}


@pytest.mark.parametrize(
    "bad",
    [
        entry("drop", "/messages/9"),
        entry("drop", "/temperature"),
        entry("drop", ""),
        entry("drop", "messages"),
        entry("replace", "/messages/5", value=1),
        entry("replace", "/model"),
        entry("move", "/messages/0"),
        entry("move", "/messages/0", to="/messages/7"),
        entry("merge", "/messages/0", to="/messages/0"),
        entry("merge", "/messages/0", to="/tools"),
        entry("change", "/messages/0"),
        entry("drop", "/messages/00"),
    ],
)
def test_an_entry_that_does_not_fit_is_an_error_of_the_report(bad: dict[str, Any]) -> None:
    with pytest.raises(ReportError):
        apply({"messages": [user(text("a"))]}, [bad])


def test_a_value_cannot_be_dropped_twice() -> None:
    with pytest.raises(ReportError, match="entry 1"):
        apply({"seed": 1, "messages": []}, [entry("drop", "/seed"), entry("drop", "/seed")])


# --- what a model can see --------------------------------------------------------------------------------------------------


def test_system_is_a_first_message() -> None:
    one = visible({"system": [text("s")], "messages": [user(text("a"))]})
    two = visible({"messages": [{"role": "system", "content": [text("s")]}, user(text("a"))]})

    assert one == two
    assert visible({"system": [], "messages": []}) == {"messages": []}


def test_the_envelope_is_not_seen() -> None:
    message = {
        **user(text("a", critical=True)),
        "id": "X",
        "metadata": {"status": "complete"},
        "extra": {},
        "priority": 1,
        "critical": True,
    }
    request = {"model": "a:b", "stream": True, "loss_policy": {"on_drop": "drop"}, "messages": [message]}

    assert visible(request) == {"messages": [user(text("a"))]}


def test_defaults_are_absent() -> None:
    request = {
        "messages": [
            user(text("a", citations=[], refusal=False)),
            {
                "role": "tool",
                "content": [{"type": "tool_result", "tool_use_id": "tu_9", "content": [], "is_error": False}],
            },
        ],
        "tools": [],
        "stop": [],
        "options": {"openai_chat": {}},
        "reasoning": {"effort": None},
        "metadata": {},
        "response_format": {"type": "text"},
        "seed": None,
    }

    assert visible(request) == {
        "messages": [
            user(text("a")),
            {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": []}]},
        ]
    }


def test_a_state_keeps_fields_and_signature_only() -> None:
    state = {"adapter": "a", "provider": "p", "id": "1", "encoding": {"x": 1}, "signature": "s", "fields": {"f": None}}

    seen = visible(
        {"messages": [user(text("a", provider_state=state), text("b", provider_state={"adapter": "a", "id": "2"}))]}
    )

    assert seen["messages"][0]["content"] == [
        text("a", provider_state={"signature": "s", "fields": {"f": None}}),
        text("b"),
    ]


def test_free_json_is_left_alone() -> None:
    call = {
        "type": "tool_use",
        "id": "tu_x",
        "name": "f",
        "input": {"a": None, "kind": "function", "provider_state": {"id": 1}},
    }
    request = {
        "messages": [{"role": "assistant", "content": [call]}],
        "tools": [
            {
                "kind": "function",
                "name": "f",
                "input_schema": {"default": None, "citations": []},
                "side_effects": "none",
            }
        ],
        "options": {"a": {"x": {"y": None}, "z": None}},
    }

    seen = visible(request)

    assert seen["messages"][0]["content"][0]["input"] == call["input"]
    assert seen["tools"] == [{"name": "f", "input_schema": {"default": None, "citations": []}}]
    assert seen["options"] == {"a": {"x": {"y": None}}}


def test_tool_ids_are_numbered_by_first_occurrence() -> None:
    def conversation(one: str, two: str) -> dict[str, Any]:
        calls = [{"type": "tool_use", "id": tool_id, "name": "f", "input": {}} for tool_id in (one, two)]
        result = {"type": "tool_result", "tool_use_id": two, "content": []}
        return {"messages": [{"role": "assistant", "content": calls}, {"role": "tool", "content": [result]}]}

    assert visible(conversation("tu_A", "tu_B")) == visible(conversation("tu_Z", "tu_C"))
    assert visible(conversation("tu_A", "tu_B")) != visible(conversation("tu_A", "tu_A"))


def test_ids_of_events_and_of_their_answer_are_numbered_together() -> None:
    block = {"type": "tool_use", "id": "tu_X", "name": "f", "input": {}}
    events = [
        {"type": "tool_use_start", "index": 0, "id": "tu_X", "name": "f", "message_id": "M"},
        {
            "type": "message_complete",
            "response": {"message": {"role": "assistant", "content": [block]}, "finish_reason": "tool_calls"},
        },
    ]

    seen = visible_events(events)

    assert seen[0] == {"type": "tool_use_start", "index": 0, "id": "tu_1", "name": "f"}
    assert seen[1]["response"]["message"]["content"][0]["id"] == "tu_1"
