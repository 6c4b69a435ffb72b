"""
Options of a request: a wire's own members that the contract has no word for, as they are written.

Either they are written, and what the contract has a word for is reported as what is read of it (`options_to_wire`); or they are
laid over what is written, where they are read as options again (`lay_over`).
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from interlingua.adapters._kit import (
    NOTHING,
    Wire,
    is_stored,
    report_foreign_option,
    report_foreign_options,
    stored_elsewhere,
)
from interlingua.adapters._members import Members, Rows
from interlingua.adapters._writing import Item, Writing
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path

Request = dict[str, Any]

_ALREADY_COVERED: Final = "another member of the request says it already"


class Options(NamedTuple):
    """What a wire says of its options.

    `rows` are all members that have a canonical word, `read` reads a body without its messages, and `merged` may hold what the
    contract has a word for beside other things. `members` alone go to another provider of the wire; None: all do. `needed`
    names the member beside which alone another one is taken, `said` those beside which another one says nothing more. What an
    option means depends on the members `beside` it.
    """

    rows: Rows
    read: Callable[[Wire, Any], Request]
    merged: frozenset[str]
    members: frozenset[str] | None = None
    needed: Mapping[str, str] = NOTHING
    covered: Mapping[str, str] = NOTHING
    beside: tuple[str, ...] = ()


def options_to_wire(
    request: Request, body: Wire, wire: Options, writing: Writing, carried: Collection[tuple[str, str]] = ()
) -> None:
    """Writes own options, verbatim, and reports those of other wires but for those that are `carried` already.

    An option that the contract has a word for, or that stands beside a member of the request, is written where it can be, and
    reported as what is read of it.
    """
    endpoint, loss = writing.endpoint, writing.loss
    silenced: tuple[str, ...] = tuple(endpoint.dialect.get("unsupported") or ())
    if endpoint.dialect.get("stream_options") is False:
        silenced += ("stream_options",)
    report_foreign_options(request, endpoint, loss, carried)
    for name, value in ((request.get("options") or NOTHING).get(endpoint.adapter) or NOTHING).items():
        path: Path = ("options", endpoint.adapter, name)
        present = body.get(name)
        if writing.from_another and wire.members is not None and name not in wire.members:
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
        elif name in body or (wire.covered.get(name) in body and not writing.same_origin):
            loss.drop(path, "combination", "weakened", _ALREADY_COVERED)
        else:
            body[name] = value
            if name in wire.rows:
                _report_meaning(name, value, body, path, wire, writing)


def _add_to_object(name: str, value: Wire, body: Wire, path: Path, wire: Options, writing: Writing) -> None:
    """What an option adds to an object that a member of the request is written into. What it says again is left out."""
    present: Wire = body[name]
    added = {member: item for member, item in value.items() if member not in present}
    if not added:
        writing.loss.drop(path, "combination", "weakened" if value else "representation", _ALREADY_COVERED)
        return
    for member in value:
        if member in present:
            writing.loss.drop((*path, member), "combination", "weakened", _ALREADY_COVERED)
    body[name] = {**present, **added}
    if not wire.beside:
        _report_meaning(name, added, body, path, wire, writing)


def _add_to_list(name: str, value: list[Any], body: Wire, path: Path, writing: Writing) -> None:
    """What an option adds to a list that a member of the request is written into."""
    added = [item for item in value if item not in body[name]]
    body[name] = [*added, *body[name]]
    if not added:
        writing.loss.drop(path, "combination", "representation", _ALREADY_COVERED)
    elif len(added) != len(value):
        writing.loss.replace(path, added, "combination", "representation", _ALREADY_COVERED)


def _report_meaning(name: str, value: Any, body: Wire, path: Path, wire: Options, writing: Writing) -> None:
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
        if member == "reasoning" and wire.beside:
            known = before.get(member) or NOTHING
            for key, part in item.items():
                if known.get(key) != part:
                    writing.loss.replace((member, key), part, "combination", "representation", message)
        elif member in ("options", "stream") or member in beside or item == before.get(member):
            continue
        elif not (member == "tools" and "functions" in beside):
            writing.loss.replace((member,), item, "combination", "representation", message)


# ---------------------------------------------------------------------------------------------------- laid over


def lay_over(body: Item, rows: Rows, settings: tuple[str, ...], writing: Writing) -> None:
    """Lays the wire's own members over those that are written, where they are read as options again.

    `settings` are members that are nothing without what of them is canonical.
    """
    report_foreign_options(writing.source, writing.endpoint, writing.loss)
    adapter = writing.endpoint.adapter
    stored = stored_elsewhere(writing.source, writing.endpoint) is not None
    for name, value in (writing.source["options"].get(adapter) or {}).items():
        if value is None:
            continue
        if stored and is_stored(adapter, name, value):
            report_foreign_option(adapter, name, value, writing.loss, "")
            continue
        where = ("options", writing.endpoint.adapter, name)
        if name in settings and name not in body and not writing.had_quirk(f"options/{name}", "combination"):
            writing.loss.drop(where, "combination", "lost", "what this stood beside is gone")
            continue
        made = _laid_over(body.get(name), value)
        if _is_option(name, value, made, body, rows, writing):
            body[name] = made
        else:
            message = "the request has a member of its own for this"
            writing.loss.drop(where, "combination", "lost" if value else "representation", message)


def _is_option(name: str, value: Any, made: Any, body: Wire, rows: Rows, writing: Writing) -> bool:
    """Whether a member that was made with an option says what it said without it, and the option beside."""
    without, with_it = (Members(body, writing.endpoint, writing.reader()) for _ in range(2))
    try:
        if name in body:
            without.read_member(name, body[name], rows)
        with_it.read_member(name, made, rows)
    except InvalidWire:
        return False
    return with_it.request == without.request and with_it.options == {**without.options, name: value}


def _laid_over(present: Any, option: Any) -> Any:
    if isinstance(present, dict) and isinstance(option, dict):
        return {**present, **{name: _laid_over(present.get(name), value) for name, value in option.items()}}
    return option
