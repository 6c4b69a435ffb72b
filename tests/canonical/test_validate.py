"""The door: what is not canonical is refused with a pointer and without a word of its content."""

from typing import Any

import pytest

from interlingua import InvalidRequest, load
from interlingua.canonical.validate import violations

SECRET = "the launch code is 0000"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, ""),
        ([], ""),
        ({"messages": [{"role": "wizard", "content": []}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": SECRET}]}, "/messages/0/content"),
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
        "role": "user",
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
