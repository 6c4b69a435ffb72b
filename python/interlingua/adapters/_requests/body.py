"""
Keep the members of a request verbatim, and put them back.

A writer of members does not check where a request came from. After a request was read, its members are written once,
unless they are known to be plain. For each place of the body that is written otherwise than it was received, the state
of the request keeps one of these:

- `raw` alone: a silent member. It came without content (null, an empty list), and is not written. It is restored if it
  is absent again.
- `raw` and `written`: a member that had another spelling, or that is unusual and was repaired or left out.
- `written` alone: a member that did not come, and that the writer adds.

`written` is an imprint of three things: the value in the request, the written value, and the losses that are reported
for it. If all three are the same again, the place is restored, and the report is retracted. Why:
spec/decisions/0048-as-it-came.md.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling
from interlingua.adapters._engine.spelling import are_same, imprint
from interlingua.adapters._engine.verbatim import may_differ
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._requests.members import FITS, WHOLE, BodyMember, BodyMembers, Request, is_empty
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss


class Body:
    """The members of a wire's body, except the structural ones.

    `structural` are the places of the structural members: messages, tools and, on some wires, instructions and others.
    `write` does not write them: other functions of the wire do, and they read those without a row in `rows`. A place
    is the name of a member of the body, or a path such as `toolConfig/tools`. The FIRST place must be that of the
    messages: it stands for the canonical member `messages`, and a body without messages is never plain. A wire whose
    messages are in several members brings them into one list first, and names that.

    `write` writes the members of a request into a body that already holds the structural ones. `writing` makes the
    `Writing` for it. `always` are members that `write` writes for every request. `switches` maps switches of a
    dialect to members: at a provider with the switch, these members, and those that the switch itself lists, are not
    known to be plain.
    """

    def __init__(
        self,
        rows: BodyMembers,
        structural: tuple[str, ...],
        write: Callable[[Request, Wire, Any], None],
        writing: Callable[[Request, Endpoint, Loss], Writing],
        always: tuple[str, ...] = (),
        *,
        switches: Mapping[str, tuple[str, ...]] = NOTHING,
    ) -> None:
        self.rows = rows
        self.structural = structural
        self._structural = frozenset(structural)
        self.write = write
        self.writing = writing
        self.always = always
        self.switches = dict(switches)

    def keep(self, request: Request, body: Wire, endpoint: Endpoint, *, must_compare: bool = False) -> None:
        """Keep the members of the body that would be written differently, in the state of a request that was just read.
        `must_compare`: some may be, because of other parts of the body."""
        spellings: Wire = {}
        if may_differ(must_compare or not self._is_plain(body, endpoint, spellings)):
            loss = Loss()
            written = self._written_again(request, body, endpoint, loss)
            spellings = {}
            self._compare("", body, written, self.rows, spellings)
            for place, kept in spellings.items():
                silent = place in body and place not in written and self._is_silent(place, body[place])
                if not silent or self._reported(place, endpoint, loss):
                    kept["written"] = self._imprint(place, request, written, endpoint, loss)
        _leave_to_messages(spellings, request)
        if spellings:
            keep_spelling(request["provider_state"], "members", spellings)

    def put_back(self, body: Wire, writing: Writing) -> None:
        """Restore the kept members verbatim, if they still express the request, and no rule changes them now that did
        not change them when they were read."""
        spellings: Wire | None = writing.encoding.get("members")
        if not spellings:
            return
        for place in self._unedited(spellings, body, writing):
            self._restore(place, spellings[place], body, writing)
        for place, kept in spellings.items():
            if "written" in kept or place in body:
                continue
            if not self._reported(place, writing.endpoint, writing.loss):
                body[place] = kept["raw"]

    def _unedited(self, spellings: Wire, body: Wire, writing: Writing) -> list[str]:
        """The places that are written and reported as when the request was read. If a value is in several places,
        either all of them are returned, or none."""
        endpoint, loss = writing.endpoint, writing.loss
        same: list[str] = []
        edited: set[str] = set()
        for place, kept in spellings.items():
            if "written" not in kept:
                continue
            if writing.untouched or kept["written"] == self._imprint(place, writing.source, body, endpoint, loss):
                same.append(place)
            else:
                edited.update(self._covered_by(place))
        return [place for place in same if edited.isdisjoint(self._covered_by(place))]

    def _restore(self, place: str, kept: Wire, body: Wire, writing: Writing) -> None:
        """Restore a place as it came, and retract what is reported of it."""
        item, name = _inner(body, place, copied=True)
        if item is None:
            return
        if "raw" in kept:
            item[name] = kept["raw"]
        else:
            item.pop(name, None)
        writing.loss.retract(self._covered_by(place), _option(place, writing.endpoint))

    def _is_plain(self, body: Wire, endpoint: Endpoint, silent: Wire) -> bool:
        """Whether every member is written as received, or has no content and is not written. The latter are put in
        `silent`."""
        if not body.get(self.structural[0]):
            return False
        for name in self.always:
            if body.get(name) in _EMPTY:
                return False
        for switch, value in endpoint.dialect.items():
            if value is None or switch not in self.switches:
                continue
            listed = value if type(value) is list else ()
            if not (body.keys().isdisjoint(self.switches[switch]) and body.keys().isdisjoint(listed)):
                return False
        for name, value in body.items():
            structural = name in self._structural
            if structural and value:
                continue
            if self._is_silent(name, value):
                silent[name] = {"raw": value}
            elif structural or not _is_plain(value, self.rows.get(name), body):
                return False
        return True

    def _is_silent(self, name: str, value: Any) -> bool:
        """Whether a member has no content."""
        if value is None or (name in self._structural and type(value) is list and not value):
            return True
        row = self.rows.get(name)
        return row is not None and is_empty(value, row)

    def _written_again(self, request: Request, body: Wire, endpoint: Endpoint, loss: Loss) -> Wire:
        """Return the members as they are written to the wire they came from, for a model without known capabilities."""
        if endpoint.model is not None or endpoint.capabilities:
            endpoint = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
        written: Wire = {self.structural[0]: []}
        left = (request.get("options") or NOTHING).get(endpoint.adapter) or NOTHING  # of a wrong type
        for place in self.structural:
            item, name = _inner(body, place)
            if item is not None and item.get(name) and not (left and name in (_inner(left, place)[0] or NOTHING)):
                there = written
                for step in place.split("/")[:-1]:
                    there = there.setdefault(step, {})
                there[name] = item[name]
        self.write(request, written, self.writing(request, endpoint, loss))
        return written

    def _compare(self, above: str, body: Wire, written: Wire, rows: BodyMembers, spellings: Wire) -> None:
        """Record each place where the written value differs from the received one; objects are compared member by
        member. A place that the received body did not have gets no `raw`."""
        for name, raw in body.items():
            if raw and name in written and above + name in self.structural:
                continue
            now, row = written.get(name, _ABSENT), rows.get(name)
            if row is not None and type(row.kind) is dict and type(raw) is dict and type(now) is dict:
                self._compare(f"{above}{name}/", raw, now, row.kind, spellings)
            elif now is _ABSENT or not are_same(raw, now):
                spellings[above + name] = {"raw": raw}
        for name in written:
            if name not in body:
                spellings[above + name] = {}

    def _imprint(self, place: str, request: Request, body: Wire, endpoint: Endpoint, loss: Loss) -> str:
        """Return the imprint of a place: of the request's value for it, of the written value, and of the reported
        losses."""
        option: Any = request
        for step in _option(place, endpoint):
            option = option.get(step) if type(option) is dict else None
        members = [request.get(member) for member in self._covered_by(place)]
        item, name = _inner(body, place)
        written = [item[name]] if item is not None and name in item else []
        reported = [{**entry, "message": ""} for entry in self._reported(place, endpoint, loss)]  # free wording
        return imprint([option, members, written, reported])

    def _reported(self, place: str, endpoint: Endpoint, loss: Loss) -> list[Entry]:
        """Return what is reported of a place."""
        return loss.about(self._covered_by(place), _option(place, endpoint)) if loss.entries else []

    def _covered_by(self, place: str) -> tuple[str, ...]:
        """Return the canonical members that a place of the body represents. A member of an object without its own
        ones has those of the object."""
        covered: tuple[str, ...] = ("messages",) if place == self.structural[0] else ()
        rows: Any = self.rows
        for step in place.split("/"):
            row: BodyMember | None = rows.get(step) if type(rows) is dict else None
            if row is None:
                return covered
            covered, rows = row.covers or ((row.member,) if row.member else covered), row.kind
        return covered or _covered_by_all(rows)


_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def _is_plain(value: Any, row: BodyMember | None, body: Wire) -> bool:
    """Whether it is known that a member is written as received. A member without a row is an option, and options
    are."""
    if row is None:
        return value is not None
    if type(row.kind) is dict:
        if type(value) is not dict or not value:
            return False
        if row.plain is not None and not isinstance(row.plain, tuple):
            return row.plain(value, body)
        for name, item in value.items():  # noqa: SIM110 a generator costs more than the checks
            if not _is_plain(item, row.kind.get(name), body):
                return False
        return True
    plain = row.plain
    kind = row.kind
    if plain is None or value == "" or not FITS[kind](value) or (type(value) is list and not value):
        return False
    if type(value) is not int and kind in WHOLE:
        return False
    if not isinstance(plain, tuple):
        return plain(value, body)
    if not plain:
        return True
    lowest, highest = plain
    return (lowest is None or value >= lowest) and (highest is None or value <= highest)


_ABSENT: Final = object()
_INSTRUCTIONS: Final = ("system", "instructions")


def _leave_to_messages(spellings: Wire, request: Request) -> None:
    """Remove kept instructions without text that became the first message of the request. That message keeps their
    spelling, and an edit may remove it."""
    messages: list[Wire] = request["messages"]
    if not messages or messages[0]["role"] != "system" or any(block.get("text") for block in messages[0]["content"]):
        return
    for name in _INSTRUCTIONS:
        if spellings.get(name, NOTHING).get("raw") is not None:
            del spellings[name]


def _inner(body: dict[str, Any], place: str, *, copied: bool = False) -> tuple[Wire | None, str]:
    """Return the object that holds a place, or None, and the name of the place in it. `copied`: the objects on the
    path are copied first, so that the object can be changed: the value of an option belongs to the caller."""
    item: Any = body
    if "/" not in place:
        return item, place
    *above, name = place.split("/")
    for step in above:
        inner = item.get(step)
        if type(inner) is not dict:
            return None, name
        if copied:
            item[step] = inner = {**inner}
        item = inner
    return item, name


def _option(place: str, endpoint: Endpoint) -> tuple[str, ...]:
    """Return the path in the request of a member without canonical meaning."""
    return ("options", endpoint.adapter, *place.split("/"))


def _covered_by_all(rows: Any) -> tuple[str, ...]:
    """Return the canonical members that an object with these rows represents."""
    if type(rows) is not dict:
        return ()
    found: tuple[str, ...] = ()
    for row in rows.values():
        found += row.covers or ((row.member,) if row.member else _covered_by_all(row.kind))
    return found
