"""The door: what is not canonical is refused with a pointer and without a word of its content."""

from decimal import Decimal
from typing import Any

import pytest

from interlingua import InvalidRequest, InvalidWire, Message, Request, TextBlock, ToolUseBlock, load, read_request
from interlingua.canonical.validate import PATTERNS, schema, validate, violations

SECRET = "the launch code is 0000"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, ""),
        ([], ""),
        ({"messages": [{"role": "wizard", "content": []}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": {"text": SECRET}}]}, "/messages/0/content"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": [SECRET]}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": [{"type": 7}]}]}, "/messages/0/content/0/type"),
        ({"messages": [], "temperature": SECRET}, "/temperature"),
        ({"messages": [], "n": 0}, "/n"),
        ({"messages": [], "model": "bare"}, "/model"),
        (
            {
                "messages": [
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_1", "name": "f", "input": [1]}]}
                ]
            },
            "/messages/0/content/0/input",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image", "source": {"kind": "base64", "data": "#" + SECRET}}]}
                ]
            },
            "/messages/0/content/0/source/data",
        ),
    ],
)
def test_violations_point_at_the_member(value: Any, path: str) -> None:
    """The pointer names the place; the text holds no value of the input."""
    with pytest.raises(InvalidRequest) as caught:
        load(value if isinstance(value, dict) else b"[]")

    assert path == caught.value.path
    assert SECRET not in str(caught.value) + repr(caught.value.violations)


def test_broken_media_are_violations() -> None:
    """In a request, a message and a response, every one with its place."""
    good, bad = ({"type": "image", "source": {"kind": "base64", "data": data}} for data in ("aGk=", "#"))
    message = {
        "role": "assistant",
        "content": [good, bad, {"type": "tool_result", "tool_use_id": "tu_1", "content": [good, bad]}],
    }
    places = ["/content/1/source/data", "/content/2/content/1/source/data"]
    for value, name, prefix in (
        (message, "Message", ""),
        ({"message": message, "finish_reason": "stop"}, "Response", "/message"),
        ({"messages": [message]}, "Request", "/messages/0"),
    ):
        found = violations(value, name)
        assert [one["path"] for one in found] == [prefix + place for place in places]
        assert {one["rule"] for one in found} == {"schema.contentEncoding"}
    with pytest.raises(InvalidRequest) as caught:
        load({"messages": [message]})
    assert len(caught.value.violations) == 2


def test_numbers_that_json_does_not_have_are_refused_in_plain_data() -> None:
    """Python can hold NaN, JSON cannot."""
    with pytest.raises(InvalidRequest) as caught:
        load({"messages": [], "temperature": float("nan")})

    assert "/temperature" == caught.value.path


def test_blocks_of_later_versions_are_kept() -> None:
    """An unknown type is not an error, whatever it holds."""
    block = {"type": "hologram", "depth": {"text": 3}}

    assert block == load({"messages": [{"role": "user", "content": [block]}]})["messages"][0]["content"][0]


def test_unknown_members_are_kept() -> None:
    """On blocks, messages and requests."""
    value = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x", "tone": "warm"}], "mood": 1}],
        "later": [],
    }

    assert value == load(value)


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "\ud800"}]}]},
            "/messages/0/content/0/text",
        ),
        ({"messages": [], "metadata": {"\ud800": "x"}}, "/metadata"),
        ({"messages": [], "temperature": float("nan")}, "/temperature"),
        ({"messages": [], "options": {"openai_chat": {"x": Decimal("Infinity")}}}, "/options/openai_chat/x"),
        ({"messages": [], "later": {1: 2}}, "/later"),
        ({"messages": [], "later": [{1, 2}]}, "/later/0"),
        ({"messages": [], "later": object()}, "/later"),
    ],
)
def test_data_of_the_language_that_no_json_can_hold_is_refused(wrong: Any, path: str) -> None:
    """Where it comes in, and not when somebody writes it; plain data and the types alike."""
    with pytest.raises(InvalidRequest) as error:
        load(wrong)
    assert error.value.path == path
    with pytest.raises(InvalidWire):
        read_request(wrong, "openai_chat")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Message.user("\ud800"),
        lambda: TextBlock.of({"type": "text", "text": "\ud800"}),
        lambda: Message.user("x").model_copy(update={"name": "\udfff"}),
        lambda: ToolUseBlock(id="tu_1", name="f", input={"q": ["\ud800"]}),
        lambda: Request(messages=[], options={"openai_chat": {"x": float("nan")}}),
        lambda: Request(messages=[], metadata={"\ud800": "x"}),
        lambda: Request(messages=[], later={"x": float("inf")}),  # type: ignore[call-arg]
        lambda: Request(messages=[], later="\ud800"),  # type: ignore[call-arg]
    ],
)
def test_the_types_hold_nothing_that_no_json_can_hold(make: Any) -> None:
    """Text, free members and unknown ones: refused when the value is made (spec/1-values.md#typed)."""
    with pytest.raises(InvalidRequest) as error:
        make()
    assert any(word in str(error.value) for word in ("unicode", "surrogate", "NaN", "whole characters"))


def test_a_type_that_the_schema_does_not_have_is_told() -> None:
    """It is a slip of whoever calls."""
    with pytest.raises(InvalidRequest, match="no type 'Nope'"):
        load("{}", "Nope")


def test_every_pattern_of_the_schema_has_words() -> None:
    """Nobody has to read a regular expression to mend a request."""

    def patterns(node: Any) -> set[str]:
        if isinstance(node, list):
            return {found for item in node for found in patterns(item)}
        if not isinstance(node, dict):
            return set()
        own = {node["pattern"]} if isinstance(node.get("pattern"), str) else set[str]()
        return own | {found for item in node.values() for found in patterns(item)}

    assert patterns(schema()["$defs"]) == set(PATTERNS)
    (found,) = violations({"messages": [], "model": "bare"})
    assert found["message"] == "must be a model id, written provider:name"
    with pytest.raises(InvalidRequest, match="not a canonical stream event"):
        load("{}", "StreamEvent")


@pytest.mark.parametrize(("message", "block"), [(0, 0), (1_499, 2), (2_500, 3_999), (2_501, 0)])
def test_places_in_a_long_conversation(message: int, block: int) -> None:
    """Long conversations are looked at in parts; the pointers are those of the whole."""
    request: Any = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}] * 3} for _ in range(3_000)]
    }
    request["messages"][2_500]["content"] = [{"type": "text", "text": "a"}] * 4_000
    validate(request)
    request["messages"][message]["content"][block] = {"type": "text"}
    with pytest.raises(InvalidRequest) as caught:
        validate(request)
    assert [one["path"] for one in caught.value.violations] == [f"/messages/{message}/content/{block}"]
    del request["messages"][message]["role"]
    assert {one["path"] for one in violations(request)} >= {f"/messages/{message}"}
