"""Regular expressions of callers: dialect, limits, and what is said of those that cannot be run."""

import time
from typing import Any

import pytest

from interlingua import InvalidAnswer, InvalidRequest, structured, tool_input_violations, tool_schema_violations
from interlingua.canonical.check import register_tools
from interlingua.canonical.patterns import pattern

EXPLODES = "((a{1,40}){1,40}){1,40}$"


@pytest.mark.parametrize(
    ("written", "text", "found"),
    [
        (r"^\d$", "3", True),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\s$", "\u00a0", True),
        (r"^\s$", "\v", True),
        (r"^[\s]$", "\ufeff", True),
        (r"^\S$", "\u2003", False),
        (r"^[\S]$", "\u2003", False),
        (r"^[^\S]$", "\u2003", True),
        (r"^[\s\S]$", "\u2003", True),
        (r"^.$", "\u2028", False),
        (r"(?s)^.$", "\n", True),
        (r"^[.]$", "a", False),
        (r"\u00e9", "é", True),
        (r"\u{1F600}", "😀", True),
        (r"\ud83d\ude00", "😀", True),
        (r"\cA", "\x01", True),
        (r"\0", "\0", True),
        (r"[\b]", "\b", True),
        (r"[[a]", "[", True),
        (r"[[:alpha:]]", "b", False),
        (r"[[:alpha:]]", "a]", True),
        ("[^]", "\n", True),
        ("[]", "a", False),
        (r"a\/b", "a/b", True),
        (r"(?<year>\d{4})", "2026", True),
        (r"(?i)ÉTÉ", "été", True),
        (r"\p{Script=Greek}", "α", True),
        (r"\p{Letter}", "α", True),
        (r"^a$", "a\n", False),
        ("a{", "a{", True),
    ],
)
def test_the_dialect_is_that_of_ecmascript(written: str, text: str, found: bool) -> None:
    compiled = pattern(written)
    assert compiled is not None
    assert compiled.found_in(text) is found


@pytest.mark.parametrize(
    "written",
    [EXPLODES, "(", "[a", r"(?=a)b", r"(?!a)b", r"(?<=a)b", r"(?<!a)b", r"(a)\1", r"(?<n>a)\k<n>", r"\Qa", r"\C", r"\Z",
     r"\ud83d", "\ud83d", "a{1001}", "(?P<n>a)", "a" * 2_001, r"\p{L}" * 100],
)  # fmt: skip
def test_what_is_no_pattern_here(written: str) -> None:
    assert pattern(written) is None


def test_half_a_character_is_no_text() -> None:
    compiled = pattern("a")
    assert compiled is not None
    with pytest.raises(ValueError, match="surrogates"):
        compiled.found_in("a\ud800")


def of(member: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": member}}


LONG = {"a": "a" * 4_000 + "!"}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (of({"pattern": EXPLODES}), "/a"),
        (of({"pattern": "^(?!x)"}), "/a"),
        (of({"anyOf": [{"pattern": EXPLODES}, {"type": "integer"}]}), "/a"),
        (of({"not": {"pattern": EXPLODES}}), ""),
        (of({"$ref": "#/$defs/b"}) | {"$defs": {"b": {"pattern": EXPLODES}}}, "/a"),
        ({"type": "object", "patternProperties": {EXPLODES: {"type": "integer"}}}, ""),
        ({"type": "object", "patternProperties": {"^(?!x)": False}}, ""),
    ],
)
def test_a_pattern_that_cannot_be_run_is_said_to_be_unchecked(schema: dict[str, Any], path: str) -> None:
    begin = time.process_time()
    found = tool_input_violations(LONG, schema)
    assert time.process_time() - begin < 1
    assert [(one["rule"], one["path"]) for one in found] == [("tool_input_unchecked", path)]
    assert "attern" in found[0]["message"]


def test_what_is_broken_besides_is_told_as_broken() -> None:
    schema = of({"pattern": "(?=a)", "maxLength": 3}) | {"required": ["b"]}
    rules = [one["rule"] for one in tool_input_violations(LONG, schema)]
    assert sorted(rules) == ["tool_input_invalid", "tool_input_invalid", "tool_input_unchecked"]


def test_a_pattern_that_does_not_matter_is_not_told() -> None:
    assert tool_input_violations({"b": 1}, of({"pattern": EXPLODES})) == []
    assert tool_input_violations({"a": 1}, of({"pattern": EXPLODES})) == []


def test_registration_names_the_pattern() -> None:
    assert tool_schema_violations(of({"type": "string", "pattern": "^[a-z]+$"}), extended=True) == []
    (found,) = tool_schema_violations(of({"type": "string", "pattern": "(?=a)"}), extended=True)
    assert (found["rule"], found["path"]) == ("tool_schema", "/properties/a/pattern")
    with pytest.raises(InvalidRequest) as caught:
        register_tools([{"name": "look", "input_schema": of({"pattern": EXPLODES})}], extended=True)
    assert caught.value.path == "/0/input_schema/properties/a/pattern"


def answered(text: str, schema: dict[str, Any]) -> Any:
    response = {"message": {"role": "assistant", "content": [{"type": "text", "text": text}]}, "finish_reason": "stop"}
    form = {"type": "json_schema", "name": "n", "schema": schema}
    return structured(
        response | {"usage": {"input_tokens": 1, "output_tokens": 1}}, {"messages": [], "response_format": form}
    )


def test_a_structured_answer_that_cannot_be_measured_is_the_fault_of_the_request() -> None:
    with pytest.raises(InvalidRequest) as caught:
        answered('{"a": "b"}', of({"pattern": "(?=b)"}))
    assert caught.value.path == "/response_format/schema"
    assert "/properties/a/pattern" in caught.value.message
    with pytest.raises(InvalidAnswer):
        answered('{"a": "b"}', of({"pattern": "(?=b)"}) | {"required": ["c"]})
    assert answered('{"a": "b"}', of({"pattern": "^b$"})) == {"a": "b"}
