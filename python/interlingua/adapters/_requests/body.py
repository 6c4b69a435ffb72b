"""
The members of a request as they came.

A writer of members does not ask where a request came from. When a request was read, its members are written once, unless they
are seen to be plain. A member that comes out otherwise than it came in was spelt in another way, or is odd and would be
repaired: it is kept raw, by its place in the body, with an imprint of what the request says there, of what is written and of
what is reported of it. It is put back where all of that is so again, and the report is taken back. A member that says nothing,
and of which nothing is written, needs no imprint. Why: spec/decisions/0048-as-it-came.md.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling
from interlingua.adapters._engine.spelling import are_same, imprint
from interlingua.adapters._engine.verbatim import may_differ
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._requests.members import FITS, WHOLE, BodyMember, BodyMembers, Request, is_empty
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss


class Body:
    """The members of a wire's body, beside those whose places stand `apart`: messages, which are first, and tools.

    `write` writes the members of a request into a body that holds what stands apart; `writing` makes what it writes with;
    `always` are members that it writes whatever is asked. `switches` names switches of a dialect, and by each the members that are
    not known to be plain at a provider that has it, beside those that the switch itself lists.
    """

    def __init__(
        self,
        rows: BodyMembers,
        apart: tuple[str, ...],
        write: Callable[[Request, Wire, Any], None],
        writing: Callable[[Request, Endpoint, Loss], Writing],
        always: tuple[str, ...] = (),
        *,
        switches: Mapping[str, tuple[str, ...]] = NOTHING,
    ) -> None:
        self.rows = rows
        self.apart = apart
        self._apart = frozenset(apart)
        self.write = write
        self.writing = writing
        self.always = always
        self.switches = dict(switches)

    def keep(self, request: Request, body: Wire, endpoint: Endpoint, *, must_compare: bool = False) -> None:
        """Keeps, in the state of a request that was just read, the members of its body that would be written otherwise;
        `must_compare` says that some may be, for what stands beside them."""
        spellings: Wire = {}
        if may_differ(must_compare or not self._is_plain(body, endpoint, spellings)):
            loss = Loss()
            written = self._written_again(request, body, endpoint, loss)
            spellings = {}
            self._compare("", body, written, self.rows, spellings)
            for place, kept in spellings.items():
                silent = place in body and place not in written and self._is_silent(place, body[place])
                if not silent or loss.about(self._covered_by(place), _option(place, endpoint)):
                    kept["written"] = self._imprint(place, request, written, endpoint, loss)
        _leave_to_messages(spellings, request)
        if spellings:
            keep_spelling(request["provider_state"], "members", spellings)

    def put_back(self, body: Wire, writing: Writing) -> None:
        """Writes the members that were kept as they came, while they say what the request says, and no rule changes them that
        did not change them then."""
        spellings: Wire | None = writing.encoding.get("members")
        if not spellings:
            return
        endpoint, loss = writing.endpoint, writing.loss
        fits = {
            place: writing.whole or kept["written"] == self._imprint(place, writing.source, body, endpoint, loss)
            for place, kept in spellings.items()
            if "written" in kept
        }
        # what is said in two places is put back in both or in none
        changed = {member for place, fit in fits.items() if not fit for member in self._covered_by(place)}
        for place, fit in fits.items():
            covered = self._covered_by(place)
            item, name = _inner(body, place, copied=True) if fit and changed.isdisjoint(covered) else (None, "")
            if item is None:
                continue
            if "raw" in spellings[place]:
                item[name] = spellings[place]["raw"]
            else:
                item.pop(name, None)
            loss.retract(covered, _option(place, endpoint))
        for place, kept in spellings.items():
            if "written" in kept or place in body:
                continue
            if not loss.entries or not loss.about(self._covered_by(place), _option(place, endpoint)):
                body[place] = kept["raw"]  # it said nothing, as now

    def _is_plain(self, body: Wire, endpoint: Endpoint, silent: Wire) -> bool:
        """Whether every member is written as it came, or says nothing, and so is not written: these go to `silent`."""
        if not body.get(self.apart[0]):
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
            row = self.rows.get(name)
            apart = name in self._apart
            if apart and value:
                continue
            if self._is_silent(name, value):
                silent[name] = {"raw": value}
            elif apart or not _is_plain(value, row, body):
                return False
        return True

    def _is_silent(self, name: str, value: Any) -> bool:
        """Whether a member says nothing."""
        if value is None or (name in self._apart and type(value) is list and not value):
            return True
        row = self.rows.get(name)
        return row is not None and is_empty(value, row)

    def _written_again(self, request: Request, body: Wire, endpoint: Endpoint, loss: Loss) -> Wire:
        """The members as they are written to their own wire, and to a model of which nothing is known."""
        if endpoint.model is not None or endpoint.capabilities:
            endpoint = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
        written: Wire = {self.apart[0]: []}
        left = (request.get("options") or NOTHING).get(endpoint.adapter) or NOTHING  # no list: it is an option
        for place in self.apart:
            item, name = _inner(body, place)
            if item is not None and item.get(name) and not (left and name in (_inner(left, place)[0] or NOTHING)):
                there = written
                for step in place.split("/")[:-1]:
                    there = there.setdefault(step, {})
                there[name] = item[name]
        self.write(request, written, self.writing(request, endpoint, loss))
        return written

    def _compare(self, above: str, body: Wire, written: Wire, rows: BodyMembers, spellings: Wire) -> None:
        """Notes each place that is written otherwise than it came, in objects member by member; what was not there has no
        `raw`."""
        for name, raw in body.items():
            if raw and name in written and above + name in self.apart:
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
        """What a place is known by: what the request says there, what is written there, and what is reported of it."""
        covered, option = self._covered_by(place), _option(place, endpoint)
        item, name = _inner(body, place)
        asked: Any = request
        for step in option:
            asked = asked.get(step) if type(asked) is dict else None
        written = [item[name]] if item is not None and name in item else []
        reported = [{**entry, "message": ""} for entry in loss.about(covered, option)]  # wording is free
        return imprint([asked, [request.get(member) for member in covered], written, reported])

    def _covered_by(self, place: str) -> tuple[str, ...]:
        """The canonical members that a member of the body says; what is in an object, at least what that says as a whole."""
        covered: tuple[str, ...] = ("messages",) if place == self.apart[0] else ()
        rows: Any = self.rows
        for step in place.split("/"):
            row: BodyMember | None = rows.get(step) if type(rows) is dict else None
            if row is None:
                return covered
            covered, rows = row.covers or ((row.member,) if row.member else covered), row.kind
        return covered or _covered_by_all(rows)


_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def _is_plain(value: Any, row: BodyMember | None, body: Wire) -> bool:
    """Whether a member is seen to be written as it came; one without a row is an option, which is."""
    if row is None:
        return value is not None
    if type(row.kind) is dict:
        if type(value) is not dict or not value:
            return False
        if row.plain is not None and not isinstance(row.plain, tuple):
            return row.plain(value, body)
        for name, item in value.items():  # noqa: SIM110 a generator costs more than what it asks
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
    """Takes out instructions without a word that are the first message of the request: it says how they were spelt, and an
    edit may take it away."""
    messages: list[Wire] = request["messages"]
    if not messages or messages[0]["role"] != "system" or any(block.get("text") for block in messages[0]["content"]):
        return
    for name in _INSTRUCTIONS:
        if spellings.get(name, NOTHING).get("raw") is not None:
            del spellings[name]


def _inner(body: Mapping[str, Any], place: str, *, copied: bool = False) -> tuple[Wire | None, str]:
    """The object that holds a place, where there is one, and the name of the place in it. `copied`: to be written into, for
    what an option says is the caller's."""
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
    """Where a member stands that has no canonical meaning."""
    return ("options", endpoint.adapter, *place.split("/"))


def _covered_by_all(rows: Any) -> tuple[str, ...]:
    """What an object of these rows says."""
    if type(rows) is not dict:
        return ()
    found: tuple[str, ...] = ()
    for row in rows.values():
        found += row.covers or ((row.member,) if row.member else _covered_by_all(row.kind))
    return found
