"""
The value of a structured answer, validated against the requested format (spec/3-responses.md#structured-value).

It makes no difference whether the provider enforced the format or only received it as an instruction.
"""

from itertools import islice
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.caller_schemas import UNCHECKED, schema_errors
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.validate import validate

_MOST: Final = 20  # violations in one error
_FENCE: Final = "```"
_UNFINISHED: Final = {
    "length": "the answer was cut off before its end; allow more tokens",
    "refusal": "the model declined to answer",
    "content_filter": "the provider withheld the answer",
}


def structured(response: Any, request: Any) -> Any:
    """Return the value of an answer, in the format that the request's `response_format` requires.

    Both arguments are canonical: one of the types, plain data or JSON text.

    Raises `InvalidAnswer` if the answer is not JSON or does not fit: `path` points into the value, `violations` lists
    the violations, and no text of the error holds a word of the answer. The fault is the model's; the request is not
    repeated. Raises `InvalidRequest` if the request has no format, or one whose schema is invalid, or one whose
    validity cannot be decided because a regular expression of the schema cannot be run.
    """
    response_format = _plain(request, "request").get("response_format")
    response_format = response_format if isinstance(response_format, dict) else {}
    if response_format.get("type") not in ("json", "json_schema"):
        raise InvalidRequest(
            "the request has no format for its answer; give it a response_format", path="/response_format"
        )
    answer = _plain(response, "response")
    validate(answer, "Response")
    value = _parsed(_text(answer["message"]["content"]), answer.get("finish_reason"))
    schema = response_format.get("schema") if response_format["type"] == "json_schema" else None
    if schema is None:
        if not isinstance(value, dict):
            raise InvalidAnswer("the answer is not a JSON object, which the request requires", path="")
        return value
    broken = _violations(value, schema)
    if broken:
        first = broken[0]
        raise InvalidAnswer(f"the answer {first['message']}", path=first["path"], violations=broken)
    return value


def _plain(value: Any, name: str) -> dict[str, Any]:
    if callable(plain := getattr(value, "plain", None)):
        value = plain()
    elif isinstance(value, (bytes, str)):
        value = json.loads(value)
    if not isinstance(value, dict):
        raise InvalidRequest(f"a {name} must be JSON text, plain data or one of the types, not {type(value).__name__}")
    return value


def _text(content: list[Any]) -> str:
    """Return the text of the answer: of the blocks that `encoding` marks as the answer, or else of all texts."""
    texts = [block for block in content if block["type"] == "text" and not block.get("refusal")]
    marked = [
        block
        for block in texts
        if ((block.get("provider_state") or {}).get("encoding") or {}).get("answer") is not None
    ]
    return "".join(block["text"] for block in marked or texts)


def _parsed(text: str, reason: str | None) -> Any:
    text = text.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text.partition("\n")[2].removesuffix(_FENCE)
    try:
        return json.loads(text)
    except InvalidRequest:
        message = _UNFINISHED.get(
            reason or "", "the answer is not JSON; repeat the request, or use a model that enforces the format"
        )
        raise InvalidAnswer(message, path="") from None


def _violations(value: Any, schema: Any) -> list[dict[str, str]]:
    try:
        errors = list(islice(schema_errors(value, schema), _MOST))
    except ValueError:
        message = "the schema is not a valid JSON Schema, or refers to something outside of itself"
        raise InvalidRequest(message, path="/response_format/schema") from None
    unchecked = [message for rule, _, message in errors if rule == UNCHECKED]
    if unchecked and len(unchecked) == len(errors):
        raise InvalidRequest(f"the answer cannot be validated: {unchecked[0]}", path="/response_format/schema")
    return [
        {"rule": f"schema.{rule}", "path": where, "message": message}
        for rule, where, message in errors
        if rule != UNCHECKED
    ]
