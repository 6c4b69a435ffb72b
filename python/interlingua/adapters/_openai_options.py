"""
Options of both wires of OpenAI: a wire's own members that the contract has no word for, as they are written.

An option that the contract has a word for, or that stands beside a member of the request, is written where it can be, and
reported as what is read of it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from interlingua.adapters._kit import NOTHING, Wire, report_foreign_option, report_foreign_options
from interlingua.adapters._members import Rows
from interlingua.adapters._openai_writing import Target
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Request = dict[str, Any]

_SHARED_MEMBERS: Final = frozenset(
    (
        "moderation",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "safety_identifier",
        "store",
        "stream_options",
    )
)
"""OpenAI's own members of both wires that the contract has no word for."""
_SAID_ALREADY: Final = "another member of the request says it already"


class Options(NamedTuple):
    """What a wire says of its options.

    `members` are OpenAI's own beside those of both wires; to another provider no others go. `needed` names the member beside
    which alone another one is taken, `said` those beside which another one says nothing more, `merged` those that may hold
    what the contract has a word for beside other things, and `rows` all that have a canonical word. `read` reads a body without
    its messages, and what an option means depends on the members `beside` it.
    """

    members: frozenset[str]
    needed: Mapping[str, str]
    said: Mapping[str, str]
    merged: frozenset[str]
    rows: Rows
    read: Callable[[Wire, Target], Request]
    beside: tuple[str, ...] = ()


def options_to_wire(request: Request, body: Wire, wire: Options, writing: Target) -> None:
    """Writes own options, verbatim, and reports those of other wires."""
    endpoint, loss = writing.endpoint, writing.loss
    silenced: tuple[str, ...] = tuple(endpoint.dialect.get("unsupported") or ())
    if endpoint.dialect.get("stream_options") is False:
        silenced += ("stream_options",)
    carried = _carry_shared(request, body, endpoint, loss)
    report_foreign_options(request, endpoint, loss, carried)
    for name, value in ((request.get("options") or NOTHING).get(endpoint.adapter) or NOTHING).items():
        path: Path = ("options", endpoint.adapter, name)
        present = body.get(name)
        if writing.from_another and name not in _SHARED_MEMBERS and name not in wire.members:
            message = "an option of another provider has no meaning here"
            report_foreign_option(endpoint.adapter, name, value, loss, message)
        elif name in silenced:
            loss.drop(path, "unsupported_field", "weakened", "the provider takes no such member")
        elif name in wire.needed and not body.get(wire.needed[name]):
            message = f"without {wire.needed[name]} it says nothing, and is refused"
            loss.drop(path, "combination", "representation", message)
        elif name in wire.merged and type(value) is dict and type(present) is dict:
            _add_to_object(name, value, body, path, wire, writing)
        elif name in wire.merged and type(value) is list and type(present) is list:
            _add_to_list(name, value, body, path, writing)
        elif name in body or (wire.said.get(name) in body and not writing.same_origin):
            loss.drop(path, "combination", "weakened", _SAID_ALREADY)
        else:
            body[name] = value
            if name in wire.rows:
                _report_meaning(name, value, body, path, wire, writing)


def _add_to_object(name: str, value: Wire, body: Wire, path: Path, wire: Options, writing: Target) -> None:
    """What an option adds to an object that a member of the request is written into. What it says again is left out."""
    said: Wire = body[name]
    added = {member: item for member, item in value.items() if member not in said}
    if not added:
        writing.loss.drop(path, "combination", "weakened" if value else "representation", _SAID_ALREADY)
        return
    for member in value:
        if member in said:
            writing.loss.drop((*path, member), "combination", "weakened", _SAID_ALREADY)
    body[name] = {**said, **added}
    if not wire.beside:
        _report_meaning(name, added, body, path, wire, writing)


def _add_to_list(name: str, value: list[Any], body: Wire, path: Path, writing: Target) -> None:
    """What an option adds to a list that a member of the request is written into."""
    added = [item for item in value if item not in body[name]]
    body[name] = [*added, *body[name]]
    if not added:
        writing.loss.drop(path, "combination", "representation", _SAID_ALREADY)
    elif len(added) != len(value):
        writing.loss.replace(path, added, "combination", "representation", _SAID_ALREADY)


def _report_meaning(name: str, value: Any, body: Wire, path: Path, wire: Options, writing: Target) -> None:
    """An option that the contract has a word for is read back as that word."""
    beside = {other: body[other] for other in wire.beside if other != name and body.get(other) is not None}
    before = wire.read(beside, writing) if beside else NOTHING
    read = wire.read({**beside, name: value}, writing)
    left = (read.get("options") or NOTHING).get(writing.endpoint.adapter, NOTHING).get(name)
    message = "the member is read back as part of the request"
    if left is None:
        writing.loss.drop(path, "combination", "representation", message)
    elif left == value:
        return
    elif isinstance(value, dict) and isinstance(left, dict) and not wire.beside:
        for member in [member for member in value if member not in left]:
            writing.loss.drop((*path, member), "combination", "representation", message)
    else:
        writing.loss.replace(path, left, "combination", "representation", message)
    message = "an option that the contract has a word for"
    for member, item in read.items():
        if member == "reasoning":
            known = before.get(member) or NOTHING
            for key, part in item.items():
                if known.get(key) != part:
                    writing.loss.replace((member, key), part, "combination", "representation", message)
        elif member in ("options", "stream") or member in beside or item == before.get(member):
            continue
        elif not (member == "tools" and "functions" in beside):
            writing.loss.replace((member,), item, "combination", "representation", message)


# ---------------------------------------------------------------------------------------------- of the other wire

_SIBLINGS: Final = {"openai_chat": "openai_responses", "openai_responses": "openai_chat"}
_SHARED_OPTIONS: Final = frozenset(
    ("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "store")
)


def from_sibling(request: Mapping[str, Any], endpoint: Endpoint) -> bool:
    """Whether a request was read from the other wire of the same provider."""
    state = request.get("provider_state") or {}
    provider = state.get("provider")
    return provider is not None and provider == endpoint.provider and state["adapter"] == _SIBLINGS[endpoint.adapter]


def _carry_shared(request: Mapping[str, Any], body: Wire, endpoint: Endpoint, loss: Loss) -> set[tuple[str, str]]:
    """Writes the options that both wires of a provider have with one meaning, and gives them as pairs of adapter and name
    (spec/2-requests.md#shared-options)."""
    sibling = _SIBLINGS[endpoint.adapter]
    carried: set[tuple[str, str]] = set()
    options = request.get("options") or {}
    if not from_sibling(request, endpoint):
        return carried
    own = options.get(endpoint.adapter) or {}
    for name, value in (options.get(sibling) or {}).items():
        if name in _SHARED_OPTIONS and name not in own and name not in endpoint.dialect.get("unsupported", ()):
            body[name] = value
            carried.add((sibling, name))
            message = "both wires of the provider have this member"
            loss.move(
                ("options", sibling, name),
                ("options", endpoint.adapter, name),
                "foreign_options",
                "representation",
                message,
            )
    return carried
