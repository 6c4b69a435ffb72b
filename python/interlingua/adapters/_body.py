"""
The members of a request as they came: those of a body that would be written otherwise.

A writer of members does not ask where a request came from. When a request is read, its members are written once, unless they are
seen to be plain. A member that comes out otherwise than it came in was spelt in another way, or is odd and would be repaired: it
is kept as it came (`raw`), and put back while the request still says the same there, and the same would be `written` and reported
of it. Messages, tools and answers are kept so by `_verbatim`. Why: spec/decisions/0048-as-it-came.md.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._as_read import note
from interlingua.adapters._kit import NOTHING, Wire
from interlingua.adapters._members import Row, Rows, is_empty, is_plain
from interlingua.adapters._spelling import are_same, imprint
from interlingua.adapters._verbatim import may_differ
from interlingua.adapters._writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

Request = dict[str, Any]


class Body:
    """How the members of a wire's body are written, beside those whose places stand `apart`: messages, which are first, and
    tools.

    `write` writes the members of a request into a body that holds what stands apart; `writing` makes what it writes with;
    `always` are members that it writes whatever is asked.
    `switches` names switches of a dialect, and by each the members that are not known to be plain at a provider that has it,
    beside those that the switch itself lists.
    """

    def __init__(
        self,
        rows: Rows,
        apart: tuple[str, ...],
        write: Callable[[Request, Wire, Any], None],
        writing: Callable[[Request, Endpoint, Loss], Writing],
        always: tuple[str, ...] = (),
        *,
        switches: Mapping[str, tuple[str, ...]] = NOTHING,
    ) -> None:
        self.rows = rows
        self.apart = apart
        self.write = write
        self.writing = writing
        self.always = always
        self.switches = switches

    def keep(self, request: Request, body: Wire, endpoint: Endpoint, *, unusual: bool = False) -> None:
        """Keeps, in the state of a request that was just read, the members of its body that would be written otherwise;
        `unusual` says that some may be, for what stands beside them."""
        silent: Wire = {}
        if not may_differ(unusual or not self._is_plain(body, endpoint, silent)):
            _leave_to_messages(silent, request)
            if silent:
                note(request, "members", endpoint.state, silent)
            return
        loss, spellings = Loss(), Wire()
        written = self._written_again(request, body, endpoint, loss)
        self._compare("", body, written, self.rows, spellings)
        _leave_to_messages(spellings, request)
        if spellings:
            for place, kept in spellings.items():
                unsaid = place not in written and self._is_silent(place, body.get(place))
                if place not in body or not unsaid or loss.about(self._covered_by(place), _option(place, endpoint)):
                    kept["written"] = self._imprint(place, request, written, endpoint, loss)
            note(request, "members", endpoint.state, spellings)

    def put_back(self, body: Wire, writing: Writing) -> None:
        """Writes the members that were kept as they came, while they say what the request says, and no rule changes them that
        did not change them then."""
        spellings: Wire | None = writing.encoding.get("members")
        if not spellings:
            return
        endpoint, loss = writing.endpoint, writing.loss
        fits: dict[str, bool] = {}
        for place, kept in spellings.items():
            if "written" in kept:
                known = writing.whole or kept["written"] == self._imprint(place, writing.source, body, endpoint, loss)
                fits[place] = known
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
            if _has_no_effect(body.get(name)):
                return False
        if not self.switches.keys().isdisjoint(endpoint.dialect):
            for switch, names in self.switches.items():
                value = endpoint.dialect.get(switch)
                listed = value if type(value) is list else ()
                if value is not None and not (body.keys().isdisjoint(names) and body.keys().isdisjoint(listed)):
                    return False
        for name, value in body.items():
            if self._is_silent(name, value):
                silent[name] = {"raw": value}
            elif name in self.apart:
                if not value:
                    return False
            elif not is_plain(value, self.rows.get(name), body):
                return False
        return True

    def _is_silent(self, name: str, value: Any) -> bool:
        """Whether a member says nothing."""
        if value is None or (name in self.apart and type(value) is list and not value):
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

    def _compare(self, above: str, body: Wire, written: Wire, rows: Rows, spellings: Wire) -> None:
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
            row: Row | None = rows.get(step) if type(rows) is dict else None
            if row is None:
                return covered
            covered, rows = row.covers or ((row.member,) if row.member else covered), row.kind
        return covered or _covered_by_all(rows)


_EMPTY: Final[tuple[Any, ...]] = ("", [], {})


def _has_no_effect(value: Any) -> bool:
    return value is None or (not value and value in _EMPTY)


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
