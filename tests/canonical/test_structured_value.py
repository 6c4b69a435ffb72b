"""The value of an answer whose form was asked for."""

from typing import Any

import pytest

from interlingua import InvalidAnswer, InvalidRequest, Request, structured

Data = dict[str, Any]
SCHEMA: Data = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}}},
    "required": ["city"],
    "additionalProperties": False,
}
ASKED: Data = {"messages": [], "response_format": {"type": "json_schema", "schema": SCHEMA}}


def answer(*texts: str, **more: Any) -> Data:
    content = [{"type": "text", "text": text} for text in texts]
    return {"message": {"role": "assistant", "content": content}, "finish_reason": "stop", **more}


@pytest.mark.parametrize(
    "texts",
    [
        ('{"city": "Oslo"}',),
        ('{"city": ', '"Oslo"}'),
        ('```json\n{"city": "Oslo"}\n```',),
        ('\n {"city":"Oslo"}\n',),
    ],
)
def test_a_value_that_fits(texts: tuple[str, ...]) -> None:
    assert structured(answer(*texts), ASKED) == {"city": "Oslo"}


def test_the_types_are_taken_as_well() -> None:
    request = Request(messages=[], response_format={"type": "json"})  # pyright: ignore[reportArgumentType]
    assert structured(answer("{}"), request) == {}


def test_the_call_that_stood_for_the_answer_counts_and_not_what_was_said_beside_it() -> None:
    response = answer("Here it is:", '{"city": "Oslo"}')
    state = {"adapter": "anthropic_messages", "provider": "anthropic", "encoding": {"answer": {}}}
    response["message"]["content"][1]["provider_state"] = state
    assert structured(response, ASKED) == {"city": "Oslo"}


@pytest.mark.parametrize(
    ("text", "path", "rules"),
    [
        ("secret words", "", []),
        ('{"city": "secret"', "", []),
        ('{"city": 1}', "/city", ["schema.type"]),
        ('{"city": "a", "days": [1, "secret"]}', "/days/1", ["schema.type"]),
        ('{"secret": 1}', "", ["schema.additionalProperties", "schema.required"]),
        ('["secret"]', "", ["schema.type"]),
    ],
)
def test_an_answer_that_does_not_fit(text: str, path: str, rules: list[str]) -> None:
    """A typed error at its place in the value, not to be asked again, and without a word of the answer."""
    with pytest.raises(InvalidAnswer) as caught:
        structured(answer(text), ASKED)
    error = caught.value.to_dict()
    assert (error["category"], error["retryable"], error["path"]) == ("invalid_response", False, path)
    assert [violation["rule"] for violation in error.get("violations", [])] == rules
    assert "secret" not in str(error)


def test_json_without_a_schema_is_an_object() -> None:
    with pytest.raises(InvalidAnswer):
        structured(answer("[1]"), {"response_format": {"type": "json"}})


def test_why_there_is_no_value() -> None:
    """An answer that was cut off or refused says so."""
    with pytest.raises(InvalidAnswer, match="cut off"):
        structured(answer('{"city": "O', finish_reason="length"), ASKED)
    with pytest.raises(InvalidAnswer, match="declined"):
        structured(answer("No.", finish_reason="refusal"), ASKED)


@pytest.mark.parametrize("wanted", [None, {"type": "text"}, 7])
def test_a_request_that_asked_for_no_form(wanted: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        structured(answer("{}"), {"messages": [], "response_format": wanted})
    assert caught.value.path == "/response_format"


@pytest.mark.parametrize("schema", [{"type": 5}, {"$ref": "https://localhost:1/schema.json"}, {"$ref": "#/nowhere"}])
def test_a_schema_that_cannot_measure(schema: Data) -> None:
    """Nothing is fetched, and a schema that is none is the caller's fault."""
    with pytest.raises(InvalidRequest) as caught:
        structured(answer("{}"), {"response_format": {"type": "json_schema", "schema": schema}})
    assert caught.value.path == "/response_format/schema"


@pytest.mark.parametrize("response", [{}, {"message": {}}, 7, "[]", "{"])
def test_an_answer_that_is_none(response: Any) -> None:
    with pytest.raises(InvalidRequest):
        structured(response, ASKED)
