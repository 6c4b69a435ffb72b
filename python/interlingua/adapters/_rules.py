"""Rules that several wires have for members of a request: what is taken of a value, and how the rest is reported."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from interlingua.adapters._kit import Wire, report_unknown, severity_of
from interlingua.adapters._members import SEVERITY, within
from interlingua.adapters._writing import Writing

Format = dict[str, Any]

FORMAT: Final = "response_format"
_KINDS: Final[Mapping[Any, str]] = {"text": "text", "json_object": "json"}
_FORMAT_MEMBERS: Final = {
    "name": "representation",
    "description": "weakened",
    "strict": "representation",
    "schema": "representation",
}
_FORMAT_KNOWN: Final = frozenset(("type", *_FORMAT_MEMBERS))

# ---------------------------------------------------------------------------------------------------- stop texts


def kept_stops(
    stop: list[str],
    writing: Writing,
    most: int | None = None,
    fits: Callable[[str], Any] = bool,
    code: str = "unsupported_value",
) -> list[str]:
    """The stop texts that the wire takes: those that fit, and no more than so many; all others are reported."""
    kept: list[str] = []
    for position, text in enumerate(stop):
        if not fits(text):
            writing.loss.drop(("stop", position), code, "weakened", "the target takes no stop text without words")
        elif most is not None and len(kept) == most:
            message = f"the target takes {most} stop texts"
            writing.loss.drop(("stop", position), "limit_exceeded", "weakened", message)
        else:
            kept.append(text)
    return kept


# ---------------------------------------------------------------------------------------------------- log probabilities

MOST_LOGPROBS: Final = 20


def top_logprobs(name: str, value: int, body: Wire, writing: Writing) -> None:
    """How many alternatives are given beside each token, under the same name."""
    if writing.refuses("logprobs", name) or writing.refuses(name):
        code = "unsupported_field" if name in writing.dialect.get("unsupported", ()) else "unsupported_model"
        severity = severity_of(name, value, SEVERITY[name])
        writing.loss.drop((name,), code, severity, "the target gives no log probabilities")
    else:
        body[name] = within(name, value, 0, MOST_LOGPROBS, writing, "limit_exceeded")


# ---------------------------------------------------------------------------------------------------- service classes


def known_tier(tier: str, words: Sequence[str], usual: str | None, writing: Writing) -> str | None:
    """The service class in the words of the wire, of which `usual` is what others call default; None for none of them."""
    if tier in words:
        return tier
    path = ("service_tier",)
    if tier == "default" and usual is not None:
        writing.loss.replace(path, usual, "unsupported_value", "representation", "the same service class")
        return usual
    severity = "representation" if tier == "auto" else "weakened"
    writing.loss.drop(path, "unsupported_value", severity, "the target has no such service class")
    return None


# ---------------------------------------------------------------------------------------------------- metadata


def given(name: str, writing: Writing) -> Any:
    """What a request says of a member; None where the provider or the model does not take it, which is reported."""
    value = writing.source.get(name)
    if not value or not writing.refuses(name):
        return value
    writing.report_refused(name, value, SEVERITY[name])
    return None


def kept_metadata(
    value: Mapping[str, Any],
    writing: Writing,
    fits: Callable[[str, Any], Any],
    message: str,
    most: int | None = None,
    code: str = "unsupported_value",
) -> dict[str, Any]:
    """The data that the provider keeps with a request: what fits, and no more than so many; all else is reported."""
    kept: dict[str, Any] = {}
    for name, item in value.items():
        if not fits(name, item):
            writing.loss.drop(("metadata", name), code, "weakened", message)
        elif most is not None and len(kept) == most:
            writing.loss.drop(("metadata", name), "limit_exceeded", "weakened", f"the wire keeps {most} pairs")
        else:
            kept[name] = item
    return kept


# ---------------------------------------------------------------------------------------------------- the form of an answer


def named_format(value: Any) -> Format | None:
    """The form of an answer that is a type alone."""
    kind = value.get("type") if type(value) is dict and len(value) == 1 else None
    return {"type": _KINDS[kind]} if type(kind) is str and kind in _KINDS else None


def report_format(value: Format, writing: Writing, *covered: str) -> None:
    """Reports the members of a form of answer that the wire has no place for, but for those that are `said`."""
    for member, severity in _FORMAT_MEMBERS.items():
        if member not in covered and value.get(member) is not None and value[member] is not False:
            message = f"the form of an answer has no {member} on this wire"
            writing.loss.drop((FORMAT, member), "unsupported_field", severity, message)
    report_unknown(value, _FORMAT_KNOWN, writing.loss, (FORMAT,))


def asked_schema(value: Format, writing: Writing) -> Any:
    """The schema that is asked for, None where JSON is to have none; that is reported, and what else has no place."""
    schema = (value.get("schema") or None) if value["type"] == "json_schema" else None
    if value["type"] == "json_schema" and schema is None:
        message = "without a schema the answer is asked for as a JSON object"
        writing.loss.replace((FORMAT, "type"), "json", "unsupported_value", "weakened", message)
    report_format(value, writing, *(() if schema is None else ("schema",)))
    return schema
