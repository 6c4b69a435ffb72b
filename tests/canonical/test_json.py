"""Numbers and texts keep every digit and character, or are refused."""

from decimal import Decimal

import pytest

from interlingua import InvalidRequest
from interlingua.canonical import json


@pytest.mark.parametrize("text", ["18446744073709551616", "-123456789012345678901234567890", "1.5", "0.1", "1e-7", "0"])
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
