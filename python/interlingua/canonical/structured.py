"""
The value of an answer whose form was asked for, measured by what was asked (spec/3-responses.md#structured-value).

Whether a provider enforces a form or was merely asked for it is all the same here: the answer is believed when it fits.
"""

from itertools import islice
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.measured import UNCHECKED, measured
from interlingua.canonical.validate import validate

_MOST: Final = 20  # violations in one error
_FENCE: Final = "```"
_UNFINISHED: Final = {
    "length": "the answer was cut off before its end; allow more tokens",
    "refusal": "the model declined to answer",
    "content_filter": "the provider withheld the answer",
}


def structured(response: Any, request: Any) -> Any:
    """The value that an answer holds, in the form that the request asked for with its `response_format`.

    Both are canonical: one of the types, plain data or JSON text.

    Raises `InvalidAnswer` when the answer is no JSON, or does not fit: `path` points into the value, `violations` lists
    all that is wrong, and no text of it holds a word of the answer. It is the model's fault and is not asked again here.
    Raises `InvalidRequest` when the request asked for no form, for one by a schema that is none, or for one that cannot be
    measured because a regular expression of it cannot be run.
    """
    wanted = _plain(request, "request").get("response_format")
    wanted = wanted if isinstance(wanted, dict) else {}
    if wanted.get("type") not in ("json", "json_schema"):
        raise InvalidRequest(
            "the request asks for no form of answer; give it a response_format", path="/response_format"
        )
    answer = _plain(response, "response")
    validate(answer, "Response")
    value = _parsed(_text(answer["message"]["content"]), answer.get("finish_reason"))
    schema = wanted.get("schema") if wanted["type"] == "json_schema" else None
    if schema is None:
        if not isinstance(value, dict):
            raise InvalidAnswer("the answer is not the JSON object that was asked for", path="")
        return value
    found = _violations(value, schema)
    if found:
        first = found[0]
        raise InvalidAnswer(f"the answer {first['message']}", path=first["path"], violations=found)
    return value


def _plain(value: Any, name: str) -> dict[str, Any]:
    if callable(plain := getattr(value, "plain", None)):
        value = plain()
    elif isinstance(value, (bytes, str)):
        value = json.loads(value)
    if not isinstance(value, dict):
        raise InvalidRequest(f"a {name} is JSON text, plain data or one of the types, not {type(value).__name__}")
    return value


def _text(content: list[Any]) -> str:
    """What the answer says: the call that stood for it, where there was one, else its texts."""
    texts = [block for block in content if block["type"] == "text" and not block.get("refusal")]
    called = [
        block
        for block in texts
        if ((block.get("provider_state") or {}).get("encoding") or {}).get("answer") is not None
    ]
    return "".join(block["text"] for block in called or texts)


def _parsed(text: str, reason: str | None) -> Any:
    text = text.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text.partition("\n")[2].removesuffix(_FENCE)
    try:
        return json.loads(text)
    except InvalidRequest:
        told = _UNFINISHED.get(reason or "", "the answer is not JSON; ask again, or ask a model that enforces the form")
        raise InvalidAnswer(told, path="") from None


def _violations(value: Any, schema: Any) -> list[dict[str, str]]:
    try:
        found = list(islice(measured(value, schema), _MOST))
    except ValueError:
        message = "the schema is no JSON Schema, or refers to something outside of itself"
        raise InvalidRequest(message, path="/response_format/schema") from None
    unchecked = [message for rule, _, message in found if rule == UNCHECKED]
    if unchecked and len(unchecked) == len(found):
        raise InvalidRequest(f"the answer cannot be measured: {unchecked[0]}", path="/response_format/schema")
    return [
        {"rule": f"schema.{rule}", "path": where, "message": message}
        for rule, where, message in found
        if rule != UNCHECKED
    ]
