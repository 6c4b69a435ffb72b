"""Numbers and texts keep every digit and character, or are refused."""

from decimal import Decimal

import pytest

from interlingua import InvalidRequest
from interlingua.canonical import json


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551616",
        "-123456789012345678901234567890",
        "1.5",
        "0.1",
        "1e-7",
        "0",
        "0.0",
        "1e-400",
        "3e-324",
        "5e-324",
    ],
)
def test_numbers_come_back_with_their_value(text: str) -> None:
    """What goes in comes out as the same number, however large."""
    value = json.loads('{"a":' + text + "}")

    assert Decimal(text) == Decimal(json.dumps(value).decode()[5:-1])


def test_decimals_beyond_a_binary_float_stay_exact() -> None:
    """Twenty digits after the point survive."""
    assert b'{"a":0.12345678901234567891}' == json.dumps(json.loads('{"a":0.12345678901234567891}'))


@pytest.mark.parametrize(
    "text", ['{"a":NaN}', '{"a":Infinity}', '{"a":1e400}', '{"a":"\\ud800"}', '{"a":', "", "{'a':1}"]
)
def test_what_json_cannot_mean_is_refused(text: str) -> None:
    """Typed error, never a wrong value."""
    with pytest.raises(InvalidRequest):
        json.loads(text)


@pytest.mark.parametrize(
    ("text", "words", "path"),
    [
        (b"", "the text is empty", None),
        (b" \n", "the text is empty", None),
        (b"\xef\xbb\xbf{}", "byte order mark; save it as UTF-8", None),
        (b"\xff\xfe{\x00", "UTF-16", None),
        ('{"ä": 1}'.encode("utf-16-be"), "UTF-16", None),
        (b"\n<html>", "HTML", None),
        (b'{"a": [', "ends before it is complete", None),
        (
            b'{"a":\n  NaN}',
            "NaN and infinities are not numbers of JSON; write null or a string (line 2, column 3)",
            None,
        ),
        (b'{"a": -Infinity}', "NaN and infinities", None),
        ('{"ä":\n "ä" x}', "(line 2, column 6)", None),
        (b'{"a/b": [1, {"c": -1e400}]}', "too large", "/a~1b/1/c"),
        (b"1e999", "too large", ""),
        (b'{"a":\n "\xc3\xa4\xff"}', "not UTF-8 (line 2, column 4); save it as UTF-8", None),
        ('{"a": "\ud800"}', "half of a surrogate pair", None),
        (b'{"a": "\\ud800 and more"}', "half of a surrogate pair; write the whole character (line 1, column 14)", None),
        (b'{"a": ' + b"9" * 5000 + b"}", "more than 4300 digits; write it as a string", None),
    ],
)
def test_the_error_says_what_to_mend(text: bytes | str, words: str, path: str | None) -> None:
    """In the words of whoever made the file, and never with a part of it."""
    with pytest.raises(InvalidRequest) as error:
        json.loads(text)
    assert error.value.message.startswith("not valid JSON: ")
    assert words in error.value.message
    assert not any(word in error.value.message for word in ("malformed", "codec", "out of range"))
    assert error.value.path == path


def test_deep_nesting_is_a_typed_error() -> None:
    """No recursion error escapes."""
    with pytest.raises(InvalidRequest):
        json.loads('{"a":' * 100_000 + "1" + "}" * 100_000)


def test_a_lone_surrogate_is_refused_on_the_way_out() -> None:
    """Nobody can send half a character."""
    with pytest.raises(InvalidRequest):
        json.dumps({"text": "\ud800"})


def test_sorted_text_does_not_depend_on_the_order_of_members() -> None:
    """Also where the exact writer has to take over."""
    big = 2**70

    assert json.dumps_sorted({"b": big, "a": 1}) == json.dumps_sorted({"a": 1, "b": big})
