"""When messages are the same."""

from decimal import Decimal
from typing import Any

import pytest

from interlingua import ImageBlock, InvalidRequest, Message, TextBlock, ToolUseBlock, content_hash


def test_the_hash_does_not_depend_on_key_order() -> None:
    """Equal values, equal hash."""
    one = {"role": "user", "content": [{"type": "text", "text": "ü"}]}
    two = {"content": [{"text": "ü", "type": "text"}], "role": "user"}

    assert content_hash(one) == content_hash(two)


def test_the_hash_is_the_same_everywhere() -> None:
    """A fixed vector: SHA-256 of the canonical text."""
    message = {"role": "user", "content": [{"type": "text", "text": "hi"}]}

    assert "da3ac0b4d79dbe28c3c6684e1e4d037992df0e519e410c56436a23ecadf5c3c1" == content_hash(message)


def test_members_that_hold_their_default_do_not_count() -> None:
    """Whether they were set or left out."""
    result = {"type": "tool_result", "tool_use_id": "tu_1", "content": [{"type": "text", "text": "5"}]}
    metadata = {"parent_tool_use_id": "tu_1"}
    one = Message.of({"role": "tool", "metadata": metadata, "content": [result]})
    two = Message.of(
        {
            "role": "tool",
            "schema_version": 1,
            "critical": False,
            "extra": {},
            "metadata": {**metadata, "status": "complete", "provider_raw": None},
            "content": [{**result, "is_error": False}],
        }
    )

    assert one == two
    assert one.content_hash() == two.content_hash()
    assert one != Message.of({"role": "tool", "metadata": metadata, "content": [{**result, "is_error": True}]})


@pytest.mark.parametrize(("one", "two"), [(1, 1.0), (100, Decimal("1e2")), (0.1, Decimal("0.10")), (0, -0.0)])
def test_numbers_are_compared_by_value(one: object, two: object) -> None:
    """However they are spelt, and whatever type holds them."""
    calls = [Message.assistant(ToolUseBlock(id="tu_1", name="f", input={"n": value})) for value in (one, two)]

    assert calls[0] == calls[1]
    assert calls[0].content_hash() == calls[1].content_hash()


@pytest.mark.parametrize(
    ("one", "two"), [(1, True), (0.1, Decimal("0.10000000000000000001")), (2**53, 2**53 + 1), (1, "1"), (0, None)]
)
def test_values_that_differ_have_another_hash(one: object, two: object) -> None:
    """Also where a binary float or Python itself takes them for the same."""
    calls = [Message.assistant(ToolUseBlock(id="tu_1", name="f", input={"n": value})) for value in (one, two)]

    assert calls[0] != calls[1]
    assert calls[0].content_hash() != calls[1].content_hash()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, object(), "\ud800"])
def test_what_is_no_json_has_no_hash(value: object) -> None:
    """It is refused, wherever it is."""
    call = {"type": "tool_use", "id": "tu_1", "name": "f", "input": {"n": value}}
    with pytest.raises(InvalidRequest):
        content_hash({"role": "assistant", "content": [call]})


def test_one_text_stands_for_its_list() -> None:
    """As everywhere in plain data of Python."""
    assert content_hash({"role": "user", "content": "hi"}) == Message.user("hi").content_hash()


def test_order_of_blocks_has_meaning() -> None:
    """Permuted content is another message."""
    one, two = Message.user(["a", "b"]), Message.user(["b", "a"])

    assert one.content_hash() != two.content_hash()
    assert one != two


def test_provider_raw_and_cache_do_not_count() -> None:
    """Two messages that differ only there are equal and hash the same."""
    plain = Message.user("hi")
    raw = Message.user("hi", metadata={"provider_raw": {"secret": 1}})
    assert raw == Message.user("hi")
    bare = Message.user("hi", metadata={})

    assert raw == bare
    assert plain.content_hash() == raw.content_hash() == plain.cacheable("1h").content_hash()
    assert plain == plain.cacheable()


def test_tool_input_counts_whole() -> None:
    """An argument that is called cache is an argument."""
    one = Message.assistant(ToolUseBlock(id="tu_1", name="f", input={"cache": 1}))
    two = Message.assistant(ToolUseBlock(id="tu_1", name="f", input={}))

    assert one != two


def test_bytes_and_their_base64_are_the_same_image() -> None:
    """Construction from bytes equals construction from their text."""
    image = ImageBlock.from_bytes(b"abc", "image/png")

    assert ImageBlock(source={"kind": "base64", "data": "YWJj"}, media_type="image/png") == image
    assert b"abc" == image.bytes()
    assert TextBlock(text="x") == Message.user("x").content[0]


def test_tuples_are_lists() -> None:
    """Programs write them where JSON has arrays."""

    def message(given: Any) -> dict[str, Any]:
        call = {"type": "tool_use", "id": "tu_01", "name": "f", "input": {"x": given}}
        return {"role": "assistant", "content": [call]}

    assert content_hash(message([{"b": 1, "a": [1.0]}])) == content_hash(message(({"a": (1,), "b": 1},)))
