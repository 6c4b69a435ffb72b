"""
Write the options of a request: a wire's own members without a canonical counterpart.

A canonical member wins over an option of the same meaning. An option that has a canonical counterpart, which the
request does not set, is written; it is reported as the member that is read from it.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from interlingua.adapters._engine.kit import NOTHING, Wire, is_stored, report_foreign_option, report_foreign_options
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._requests.members import REASONING, Members
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Loss, Path

Request = dict[str, Any]


class Options(NamedTuple):
    """The rules of a wire for its options.

    `read` reads the members of a body; `worded` are all that have a canonical counterpart. `shared` are the options
    that are also sent to another provider of the wire; None: all are. `needed` maps an option to the member of the
    body without which the wire does not accept it.
    """

    read: Callable[[Wire, Any], Members[Any]]
    worded: Collection[str]
    shared: Collection[str] | None
    needed: Mapping[str, str]


def options_to_wire(
    request: Request, body: Wire, wire: Options, writing: Writing, carried: Collection[tuple[str, str]] = ()
) -> None:
    """Write the wire's own options verbatim, and report those of other wires, except those that are `carried`
    already."""
    endpoint, loss = writing.endpoint, writing.loss
    report_foreign_options(request, endpoint, loss, carried)
    stays = "provider_state" in request and not writing.same_origin
    for name, value in ((request.get("options") or NOTHING).get(endpoint.adapter) or NOTHING).items():
        path: Path = ("options", endpoint.adapter, name)
        unknown = writing.from_another and wire.shared is not None and name not in wire.shared
        if unknown or (stays and is_stored(endpoint.adapter, name, value)):
            message = "an option of another provider has no meaning here"
            report_foreign_option(endpoint.adapter, name, value, loss, message)
        elif name in endpoint.dialect.get("unsupported", ()) or endpoint.dialect.get(name) is False:
            loss.drop(path, "unsupported_field", "weakened", "the provider does not accept this member")
        elif name in wire.needed and not body.get(wire.needed[name]):
            message = f"without {wire.needed[name]} it has no effect and would be refused"
            loss.drop(path, "combination", "representation", message)
        elif name in wire.worded:
            _write_beside(name, value, body, path, wire, writing)
        elif name in body:
            loss.drop(path, "combination", "weakened" if value else "representation", _MEMBER_WINS)
        else:
            body[name] = value


def _write_beside(name: str, value: Any, body: Wire, path: Path, wire: Options, writing: Writing) -> None:
    """Write an option in a place that a member of the request has or may have, unless it changes the meaning of that
    member."""
    made = {**body, name: _beside(body.get(name), value)}
    before = wire.read(body, writing.reader())
    read = _read(made, wire, writing)
    if read is None or not _holds(read.request, before.request):
        writing.loss.drop(path, "combination", "weakened" if value else "representation", _MEMBER_WINS)
        return
    _report_left(value, read.options.get(name), body.get(name), path, writing.loss)
    body[name] = made[name]
    for member, found in read.request.items():
        known = before.request.get(member)
        if member == "options" or found == known:
            continue
        if known is None:
            writing.loss.replace((member,), found, "combination", "representation", _READ_BACK)
            continue
        for part, item in found.items():
            if part not in known:
                writing.loss.replace((member, part), item, "combination", "representation", _READ_BACK)


def _read(body: Wire, wire: Options, writing: Writing) -> Members[Any] | None:
    """Read the members of a body; None if they cannot be read."""
    try:
        return wire.read(body, writing.reader())
    except InvalidWire:
        return None


_MEMBER_WINS: Final = "another member of the request states it already"
_READ_BACK: Final = "an option with a canonical counterpart is read back as that member of the request"


def _beside(present: Any, option: Any) -> Any:
    """Merge the value that is present in a place of the body with an option. In objects, the present value wins."""
    if type(present) is dict and type(option) is dict:
        shared = {name: _beside(present[name], value) for name, value in option.items() if name in present}
        return {**option, **present, **shared}
    if type(present) is list and type(option) is list:
        return [*(item for item in option if item not in present), *present]
    return option if present is None else present


def _holds(after: Request, before: Request) -> bool:
    """Whether the members of a request have the same meaning as before; reasoning may have more members."""
    for member, known in before.items():
        if member == REASONING and member in after:
            if after[member] != {**after[member], **known}:
                return False
        elif member != "options" and after.get(member) != known:
            return False
    return True


def _report_left(value: Any, left: Any, present: Any, path: Path, loss: Loss) -> None:
    """Report the part of an option that is not read back as one. `left` is the part that is, `present` the value that
    was in its place."""
    if value == left:
        return
    if type(value) is dict and type(left) is dict and left:
        for name, item in value.items():
            beside = present.get(name) if type(present) is dict else None
            _report_left(item, left.get(name), beside, (*path, name), loss)
    elif left is None or left == {}:
        overruled = type(value) is not list and present is not None and _beside(present, value) == present
        loss.drop(path, "combination", "weakened" if overruled else "representation", _MEMBER_WINS)
    else:
        loss.replace(path, left, "combination", "representation", _MEMBER_WINS)
