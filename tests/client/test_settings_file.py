"""Files that a person writes, in JSON or YAML."""

from pathlib import Path
from typing import Any

import pytest

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.settings_file import read_settings

YAML, JSON = Path("policy.yaml"), Path("policy.json")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("NULL", "NULL"),
        ("2026-05-08", "2026-05-08"),
        ("2026-05-08T12:00:00Z", "2026-05-08T12:00:00Z"),
        ("12:30", "12:30"),
        ("0755", "0755"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        (".inf", ".inf"),
        ("=", "="),
        ("true", True),
        ("null", None),
        ("~", None),
        ("", None),
        ("-12", -12),
        ("0.25", 0.25),
        ("1e3", 1000.0),
        ("'12'", "12"),
        ("[a, 1]", ["a", 1]),
        ("{a: {b: no}}", {"a": {"b": "no"}}),
    ],
)
def test_yaml_says_what_json_can_say(text: str, value: Any) -> None:
    """Bare words, dates, times and octals are texts."""
    found = read_settings(f"x: {text}\n".encode(), YAML)["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "a name occurs twice in line 2"),
        ("a: &x [1]\nb: *x\n", "anchors are not allowed"),
        ("a: !!python/object:os.system x\n", "tags are not allowed"),
        ("a: !!binary eA==\n", "tags are not allowed"),
        ("1: a\n", "put it in quotes"),
        ("? [a]\n: b\n", "put it in quotes"),
        ("a: [1\n", "expected ',' or '\\]', but got '<stream end>' in line 2"),
        ("a:\n\t- b\n", r"found character '\\t' that cannot start any token in line 2, column 1"),
        ("a: 'my secret\n", "line"),
        ("a: \x00\n", "not valid YAML"),
        ("[" * 5_000, "nested too deeply"),
    ],
)
def test_what_yaml_can_say_beyond_is_refused(text: str, said: str) -> None:
    """With the place, and without a word of the file."""
    with pytest.raises(InvalidRequest, match=said) as refused:
        read_settings(text.encode(), YAML)
    assert "secret" not in str(refused.value)


def test_the_ending_says_which_it_is() -> None:
    """YAML is not guessed; a byte order mark is no part of either."""
    policy = {"version": 1, "global": {"default": "sonnet"}}
    assert read_settings(b"\xef\xbb\xbf" + json.dumps(policy), JSON) == policy
    assert read_settings(b"\xef\xbb\xbfversion: 1\nglobal: {default: sonnet}\n", YAML) == policy
    with pytest.raises(InvalidRequest):
        read_settings(b"version: 1\n", JSON)
    with pytest.raises(InvalidRequest):
        read_settings(b"version: 1\n", Path("policy"))
