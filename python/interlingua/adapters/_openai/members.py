"""Members of a request that have one meaning on both wires of OpenAI: what is written, and especially what is not."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.writing import PLAIN_NAMES
from interlingua.adapters._openai.writing import Target, can_be_enforced
from interlingua.adapters._requests.forms import FORMAT, Form, Formats
from interlingua.adapters._requests.members import (
    MODEL,
    BodyMember,
    BodyMembers,
    Kind,
    one_of,
    within,
)
from interlingua.adapters._requests.reasoning import level_of
from interlingua.adapters._requests.rules import MOST_LOGPROBS, kept_metadata, top_logprobs

Request = dict[str, Any]

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
VERBOSITIES: Final = ("low", "medium", "high")
_MOST_PAIRS: Final = 16
TIERS: Final = ("auto", "default", "flex", "priority")
_RANGES: Final = {"temperature": (0, 2), "top_p": (0, 1), "frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}


# ---------------------------------------------------------------------------------------------------- to the wire


def sampling(name: str, value: Any, body: Wire, writing: Target, *, reasons: bool | None = None) -> Any:
    """Return a sampling setting fitted into the range of the wire; some models accept none while they reason.

    `reasons` states whether the model will reason, if that is known.
    """
    lowest, highest = writing.dialect.get("ranges", NOTHING).get(name) or _RANGES[name]
    value = within(name, value, lowest, highest, writing)
    taken = writing.capabilities.get("sampling_with_reasoning") is not False or writing.verbatim(name, "reasoning")
    if not taken and (_reasons(writing) if reasons is None else reasons):
        message = "the model uses these sampling settings only without reasoning"
        writing.loss.drop((name,), "combination", "weakened", message)
        return None
    return value


def _reasons(writing: Target) -> bool:
    """Whether the model will reason: by the request, else by the model's default. An unknown model is assumed to
    reason."""
    asked = effort(writing.source.get("reasoning") or NOTHING, writing)
    return (asked or writing.capabilities.get("default_reasoning_effort")) != "none"


def metadata(name: str, value: dict[str, Any], body: Wire, writing: Target) -> Wire | None:
    """Return the texts that the provider stores with the response."""
    message = "the wire accepts texts of up to 512 characters under names of up to 64"
    return kept_metadata(writing, _is_pair, message, _MOST_PAIRS) or None


def _is_pair(key: str, item: Any) -> bool:
    return type(item) is str and len(item) <= 512 and len(key) <= 64


def effort(value: Mapping[str, Any], writing: Target) -> str | None:
    """Return the effort, the only reasoning setting of these wires; a budget and a mode are converted into it.

    An unknown word gives None. An effort that the model does not accept becomes the nearest accepted one.
    """
    asked = value.get("effort")
    if asked is None:
        if value.get("mode") == "disabled":
            asked = "none"
        elif (budget := value.get("budget_tokens")) is not None:
            asked = level_of(budget)
        else:
            return None
    accepted = writing.capabilities.get("reasoning_efforts")
    if (accepted and asked in accepted) or writing.verbatim("reasoning"):
        return asked
    if asked not in EFFORTS:
        return None
    if not accepted:
        return asked
    wanted = EFFORTS.index(asked)
    known = [word for word in accepted if word in EFFORTS] or list(accepted)
    return min(known, key=lambda word: abs(EFFORTS.index(word) - wanted) if word in EFFORTS else len(EFFORTS))


def forms(schema: Callable[[Form, Wire, Any], Any]) -> Formats:
    """Return the formats of an answer that both wires have; `schema` writes the format with a schema."""
    return Formats(schema, _OF_SCHEMAS, text={"type": "text"}, json={"type": "json_object"})


_OF_SCHEMAS: Final = ("name", "description", "schema", "strict")


def schema_to_wire(value: Form, writing: Target) -> Wire:
    """Write the name, description, schema and strictness of a format. The wire requires a name of a fixed grammar."""
    name = value.get("name")
    path = (FORMAT, "name")
    if name is None:
        name = "response"
        writing.loss.replace(
            path, name, "required_default", "representation", "the wire requires a name for the schema"
        )
    elif not PLAIN_NAMES.fit(name):
        name = PLAIN_NAMES.fitted(name)[: PLAIN_NAMES.longest] or "response"
        writing.loss.replace(path, name, "name_rewritten", "representation", "the name does not fit the wire's grammar")
    schema: Wire = {"name": name}
    for member in ("description", "schema", "strict"):
        if value.get(member) is not None:
            schema[member] = value[member]
    if schema.get("strict") and writing.refuses_strict(schema["schema"], (FORMAT, "strict")):
        del schema["strict"]
    return schema


# ---------------------------------------------------------------------------------------------------- from the wire


def beside_tools(value: Any, body: Wire) -> bool:
    """Whether a word or a switch comes together with tools; without tools it is refused."""
    return type(value) is not dict and bool(body.get("tools")) and type(body["tools"]) is list


def is_choice(value: Any, body: Wire) -> bool:
    """Whether a value is a word for a tool choice, and there are tools."""
    return value in ("auto", "none", "required") and beside_tools(value, body)


def _is_kept(value: Wire, _: Wire) -> bool:
    return 0 < len(value) <= _MOST_PAIRS and all(_is_pair(key, item) for key, item in value.items())


def is_bare_format(value: Wire) -> bool:
    """Whether a format of an answer has only a type."""
    return len(value) == 1 and value.get("type") in ("text", "json_object")


def is_named_schema(schema: Any) -> bool:
    """Whether a format with a schema has a valid name and only known members."""
    if type(schema) is not dict or None in schema.values() or schema_from_wire(schema) is None:
        return False
    name = schema.get("name")
    fits = type(name) is str and PLAIN_NAMES.fit(name) and "schema" in schema
    return fits and (not schema.get("strict") or can_be_enforced(schema["schema"]))


SHARED_ROWS: Final[BodyMembers] = {
    "model": MODEL,
    "temperature": BodyMember(Kind.NUMBER, "temperature", plain=(0, 2), write=sampling),
    "top_p": BodyMember(Kind.NUMBER, "top_p", plain=(0, 1), write=sampling),
    "top_logprobs": BodyMember(Kind.COUNT, "top_logprobs", plain=(0, MOST_LOGPROBS), write=top_logprobs),
    "stream": BodyMember(Kind.SWITCH, "stream", plain=()),
    "parallel_tool_calls": BodyMember(Kind.SWITCH, "parallel_tool_calls", plain=beside_tools),
    "service_tier": BodyMember(Kind.TEXT, "service_tier", plain=one_of(TIERS)),
    "user": BodyMember(Kind.TEXT, "user", plain=()),
    "metadata": BodyMember(Kind.OBJECT, "metadata", plain=_is_kept, write=metadata),
}
"""The members that have the same spelling on both wires."""
SWITCHES: Final[Mapping[str, tuple[str, ...]]] = {
    "unsupported": ("reasoning", "reasoning_effort"),
    "ranges": tuple(_RANGES),
    "response_formats": ("response_format", "text"),
    "service_tiers": ("service_tier",),
}
"""The switches of both wires with which members may be written differently than they were received."""


_SCHEMA_TYPES: Final[dict[str, type]] = {"name": str, "description": str, "schema": dict, "strict": bool}


def schema_from_wire(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read a format with a schema; None if it has other members, or one of an unexpected type."""
    if not schema.keys() <= _SCHEMA_TYPES.keys():
        return None
    present = {name: item for name, item in schema.items() if item is not None}
    if not all(isinstance(item, _SCHEMA_TYPES[name]) for name, item in present.items()):
        return None
    return {"type": "json_schema", **present}


def report_prefill(position: int, writing: "Target") -> None:
    """Report that the response will not continue the assistant turn at the end of the request."""
    if writing.dialect.get("prefill"):
        return
    path = ("messages", position, "role")
    message = "the provider does not continue a prefill, but starts a new response"
    writing.loss.replace(path, "assistant", "unsupported_model", "weakened", message)
