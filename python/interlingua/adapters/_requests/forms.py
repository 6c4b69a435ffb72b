"""
The format of an answer on a wire (spec/2-requests.md#form-native).

A wire declares the formats that can be requested on it, and how they are written (`Formats`). A format that cannot be
requested is reported as a whole, and requested in another way (`_structured.write_with_format`).
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from interlingua.adapters._engine.kit import Wire, report_unknown
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._requests.members import Writer

Form = dict[str, Any]

FORMAT: Final = "response_format"
_MEMBERS: Final = {
    "name": "representation",
    "description": "weakened",
    "strict": "representation",
    "schema": "representation",
}
_KNOWN: Final = frozenset(("type", *_MEMBERS))
_BARE: Final = {"text": "text", "json_object": "json"}
_ALL: Final = ("json", "json_schema")


class Formats(NamedTuple):
    """The formats of an answer that can be requested on a wire.

    `schema` writes the request for an answer with a schema; `members` are the members of a format that it expresses.
    If `fits` is false for a schema, the provider does not enforce it. `text` and `json` are the wire's values for
    free text and for any JSON object, if it has them. `enforced`: a model that enforces no schema does not accept
    `json` either. `excludes` are members of the body that the wire does not accept together with a format.
    """

    schema: Callable[[Form, Wire, Any], Any]
    members: tuple[str, ...] = ("schema",)
    fits: Callable[[Any], bool] | None = None
    text: Any = None
    json: Any = None
    enforced: bool = False
    excludes: tuple[str, ...] = ()


def form_writer(forms: Formats) -> Writer[Any]:
    """Return a writer of the format of an answer: it writes as much as the target accepts, and reports the rest."""

    def write(name: str, value: Form, body: Wire, writing: Any) -> Any:
        kind, schema, loss = value["type"], value.get("schema"), writing.loss
        if kind == "text":
            _report_unwritten(value, (), writing)
            return forms.text
        if kind == "json_schema" and forms.json is not None and _asks_nothing(schema, forms):
            message = "without a schema the response format is a JSON object"
            loss.replace((name, "type"), "json", "unsupported_value", "weakened", message)
            kind = "json"
        taken = _taken(kind, schema, forms, body, writing)
        if taken == "json_schema":
            written = forms.schema(value, body, writing)
            _report_unwritten(value, forms.members, writing)
            return written
        if taken == "":
            loss.drop((name,), "unsupported_value", "lost", "the target does not support this response format")
            return None
        if taken == kind:
            _report_unwritten(value, (), writing)
        else:
            message = "the response format is a JSON object without a schema"
            loss.replace((name,), {"type": "json"}, "unsupported_value", "weakened", message)
        return forms.json

    return write


def _asks_nothing(schema: Any, forms: Formats) -> bool:
    """Whether a schema requires nothing. A wire that accepts every schema also accepts an empty one."""
    return schema is None or (not schema and forms.fits is not None)


def _taken(kind: str, schema: Any, forms: Formats, body: Wire, writing: Writing) -> str:
    """Return the type of format that can be requested for this type; an empty text if there is none."""
    for member in forms.excludes:
        if body.get(member):
            return ""
    taken = writing.dialect.get("response_formats") or _ALL
    enforced = not writing.refuses("structured_output", FORMAT)
    if kind == "json_schema" and schema is not None and enforced and kind in taken:
        return kind if forms.fits is None or forms.fits(schema) else ""
    return "json" if forms.json is not None and "json" in taken and (enforced or not forms.enforced) else ""


def _report_unwritten(value: Form, covered: tuple[str, ...], writing: Writing) -> None:
    """Report the members of a format that have no counterpart on the wire. They have a meaning only with a schema."""
    for member, severity in _MEMBERS.items():
        if member not in covered and value.get(member) is not None and value[member] is not False:
            severity = severity if value["type"] == "json_schema" else "representation"
            message = f"the response format has no {member} on this wire"
            writing.loss.drop((FORMAT, member), "unsupported_field", severity, message)
    report_unknown(value, _KNOWN, writing.loss, (FORMAT,))


def bare_form(value: Any) -> Form | None:
    """Return the format of an answer that consists of its type alone, in the spelling of several wires; else None."""
    kind = value.get("type") if type(value) is dict and len(value) == 1 else None
    return {"type": _BARE[kind]} if type(kind) is str and kind in _BARE else None
