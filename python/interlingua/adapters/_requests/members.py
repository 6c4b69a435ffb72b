"""
Read and write the members of a request other than its messages: the rules that all wires share.

A wire has a table of rows. A row states the type and the meaning of a member of the body. A reader reads the members
that it understands; the others stay options. It keeps the spelling of a member without content (null, an empty list).
A member of another type than its row states also stays an option: it returns to its own wire unchanged. A request for
another wire is refused at that member, because its meaning is unknown (spec/2-requests.md#wrong-type).

A writer has a table by canonical member. A member without a row is a loss with the severity in `SEVERITY`.
"""

from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from typing import Any, Final, Generic, TypeVar

from interlingua.adapters._engine.kit import STRUCTURE, Wire, severity_of
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Loss, pointer

Request = dict[str, Any]
R = TypeVar("R", bound=Reading)
W = TypeVar("W", bound=Writing)

# ---------------------------------------------------------------------------------------------- types of members


class Kind:
    """The types of members, in the words of an error message."""

    TEXT: Final = "a string"
    TEXTS: Final = "a list of strings"
    TEXT_OR_TEXTS: Final = "a string or a list of strings"
    SWITCH: Final = "true or false"
    SWITCH_OR_TEXT: Final = "true, false or a string"
    NUMBER: Final = "a number"
    INTEGER: Final = "a whole number"
    COUNT: Final = "a whole number, zero or more"
    LIST: Final = "a list"
    OBJECT: Final = "an object"
    TEXT_OR_OBJECT: Final = "a string or an object"
    ANYTHING: Final = "any value"


def whole_number(value: Any) -> int | None:
    """Return a JSON number as a whole number, in whatever spelling (100.0 is 100); None for any other value."""
    if type(value) is int:
        return value
    if type(value) is float:
        return int(value) if value.is_integer() else None
    if type(value) is Decimal:
        return int(value) if value == value.to_integral_value() else None
    return None


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number; true and false are not."""
    return type(value) is int or type(value) is float or type(value) is Decimal


def _number_in(text: str) -> Any:
    """Return the number that a text represents; None for any other text."""
    try:
        return json.loads(text)
    except InvalidRequest:
        return None


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(text) is str for text in value)


def _is_count(value: Any) -> bool:
    number = whole_number(value)
    return number is not None and number >= 0


FITS: Final[dict[str, Callable[[Any], bool]]] = {
    Kind.TEXT: lambda value: type(value) is str,
    Kind.TEXTS: _are_texts,
    Kind.TEXT_OR_TEXTS: lambda value: type(value) is str or _are_texts(value),
    Kind.SWITCH: lambda value: type(value) is bool,
    Kind.SWITCH_OR_TEXT: lambda value: type(value) is bool or type(value) is str,
    Kind.NUMBER: is_number,
    Kind.INTEGER: lambda value: whole_number(value) is not None,
    Kind.COUNT: _is_count,
    Kind.LIST: lambda value: type(value) is list,
    Kind.OBJECT: lambda value: type(value) is dict,
    Kind.TEXT_OR_OBJECT: lambda value: type(value) is str or type(value) is dict,
    Kind.ANYTHING: lambda value: True,
}


class BodyMember:
    """A member of a wire's body: its type, and the canonical `member` that is its counterpart, or the rule that reads
    it.

    The type `kind` is a constant of `Kind`, or the rows of an object. `covers` names the canonical members that it
    represents, if that is not `member` alone. `plain` states which values of the type are written as received: a
    range (a bound of None: no bound; an empty tuple: every value), or a predicate of the value and the body. If that
    is not known, `plain` is None.

    `parse` returns the canonical value for a value of the type, or None if it does not understand it. `read` is the
    rule of a member that needs its own. The first row that names a canonical member writes it: with its `write`, else
    unchanged in the range `plain` (`places`). `as_text`: the wire also accepts a number as a text.
    """

    __slots__ = ("as_text", "kind", "member", "parse", "plain", "read", "covers", "write")

    def __init__(
        self,
        kind: Any,
        member: str = "",
        read: "Reader | None" = None,
        covers: tuple[str, ...] = (),
        plain: tuple[Any, ...] | Callable[[Any, Wire], bool] | None = None,
        parse: Callable[[Any], Any] | None = None,
        write: "Writer[Any] | None" = None,
        *,
        as_text: bool = False,
    ) -> None:
        self.as_text = as_text
        self.kind = kind
        self.member = member
        self.read = read
        self.covers = covers
        self.plain = plain
        self.parse = parse
        self.write = write


BodyMembers = dict[str, BodyMember]


def number_of_answers(value: int) -> int | None:
    """Parse a number of answers: 0 has no canonical counterpart and stays an option of the wire."""
    return value or None


def wrong_member(adapter: str, options: dict[str, Any], rows: BodyMembers) -> InvalidWire | None:
    """Return the error for a wire's options that hold a member of a wrong type; None if they hold none."""
    found = _misfit(options, rows)
    if found is None:
        return None
    path, wanted = found
    return InvalidWire(f"{path[-1]} must be {wanted}", path=pointer(path), adapter=adapter)


def _misfit(options: dict[str, Any], rows: BodyMembers) -> tuple[tuple[str, ...], str] | None:
    """Return the path of the first member of a wrong type, and the type that it must have. Null is of every type."""
    for name, value in options.items():
        row = rows.get(name)
        if row is None or value is None:
            continue
        if isinstance(row.kind, str):
            if not FITS[row.kind](value):
                return (name,), row.kind
        elif not isinstance(value, dict):
            return (name,), Kind.OBJECT
        elif (found := _misfit(value, row.kind)) is not None:
            return (name, *found[0]), found[1]
    return None


def one_of(words: Container[Any]) -> Callable[[Any, Wire], bool]:
    """Return a predicate: whether a value is one of these words."""

    def is_known(value: Any, _: Wire) -> bool:
        return value in words

    return is_known


def are_words(texts: list[str], _: Wire) -> bool:
    """Whether the list has texts, and each has visible characters."""
    return bool(texts) and all(text.strip() for text in texts)


# ---------------------------------------------------------------------------------------------- from the wire


class Members(Generic[R]):
    """What was read of a request besides its messages: its members, the `options` that are left, and `words`: the
    names under which the wire has a member. An edited value keeps its name.
    """

    __slots__ = ("body", "endpoint", "options", "reading", "request", "words")

    def __init__(self, body: Wire, reading: R) -> None:
        self.body = body
        self.endpoint = reading.endpoint
        self.reading = reading
        self.request: Request = {}
        self.words: dict[str, Any] = {}
        self.options: dict[str, Any] = {}

    def read(self, rows: BodyMembers, skip: frozenset[str]) -> None:
        """Read the members of the body, except those in `skip`, which are read elsewhere."""
        for name, value in self.body.items():
            if value is not None and name not in skip:
                self.read_member(name, value, rows)
        if self.options:
            self.request["options"] = {self.endpoint.adapter: self.options}

    def read_member(self, name: str, value: Any, rows: BodyMembers) -> None:
        """Read one member that is not null."""
        row = rows.get(name)
        if row is None:
            self.options[name] = value
        elif type(row.kind) is str or row.read is not None or row.parse is not None:
            if not is_empty(value, row) and not self._takes(name, value, row):
                self.options[name] = value
        elif type(value) is not dict:
            self.options[name] = value
        else:
            self._read_object(name, value, row.kind)

    def _read_object(self, name: str, value: Wire, rows: BodyMembers) -> None:
        left: Wire = {}
        for member, item in value.items():
            row = rows.get(member)
            if item is None or (row is not None and (is_empty(item, row) or self._takes(member, item, row))):
                continue
            left[member] = item
        if left:
            self.options[name] = left

    def _takes(self, name: str, value: Any, row: BodyMember) -> bool:
        if row.read is not None:
            return row.read(name, value, self)
        kind = row.kind
        if row.as_text and type(value) is str:
            value = _number_in(value)
        if kind in WHOLE:
            value = whole_number(value)
            if value is None or (kind != Kind.INTEGER and value < 0):
                return False
        elif not (type(value) is dict if type(kind) is dict else FITS[kind](value)):
            return False
        if row.parse is not None:
            value = row.parse(value)
            if value is None:
                return False
            if row.member == REASONING:
                return self.add_reasoning(value)
        self.request[row.member] = value
        return True

    def add_reasoning(self, settings: Wire) -> bool:
        """Add the reasoning settings of a member to the request; False if another member states one of them already."""
        present: Wire | None = self.request.get(REASONING)
        if present is None:
            if settings:
                self.request[REASONING] = settings
            return True
        if not settings.keys().isdisjoint(present):
            return False
        present.update(settings)
        return True


REASONING: Final = "reasoning"


WHOLE: Final = (Kind.INTEGER, Kind.COUNT)
_LISTS: Final = (Kind.LIST, Kind.TEXTS, Kind.TEXT_OR_TEXTS)


def is_empty(value: Any, row: BodyMember) -> bool:
    """Whether a value has no content: an empty list, object of members, or text where the wire also accepts an
    object."""
    if value or type(value) not in (list, dict, str):
        return False
    if type(value) is list:
        return row.kind in _LISTS
    in_rows = type(row.kind) is dict and row.read is None and row.parse is None
    return row.kind == Kind.TEXT_OR_OBJECT or (type(value) is dict and in_rows)


Reader = Callable[[str, Any, Members[Any]], bool]
"""Reads a member into the request. Returns False for a member of an unexpected shape, which stays an option."""


def read_model(name: str, value: Any, members: Members[Any]) -> bool:
    """Read the name of the model. The canonical id begins with the provider."""
    if type(value) is not str or not value:
        return False
    members.request["model"] = members.endpoint.model_id(value)
    return True


MODEL: Final = BodyMember(Kind.TEXT, read=read_model, covers=("model",), plain=())
"""The row of the model, for wires whose body names it."""


# ---------------------------------------------------------------------------------------------- to the wire


def model_to_wire(request: Request, endpoint: Endpoint) -> str | None:
    """Return the name of the model: that of the endpoint, else that of the request without the provider before it."""
    model: str | None = endpoint.model or request.get("model")
    return model if model is None or endpoint.model else model.partition(":")[2] or model


SEVERITY: Final[Mapping[str, str]] = {
    "temperature": "weakened",
    "top_p": "weakened",
    "top_k": "weakened",
    "min_p": "weakened",
    "frequency_penalty": "weakened",
    "presence_penalty": "weakened",
    "seed": "weakened",
    "stop": "weakened",
    "n": "weakened",
    "logprobs": "lost",
    "top_logprobs": "lost",
    "verbosity": "weakened",
    "service_tier": "weakened",
    "user": "weakened",
    "metadata": "weakened",
    "cache": "weakened",
}
"""The severity of the loss if a wire has no such member of a request."""

Writer = Callable[[str, Any, Wire, W], Any]
"""Returns the wire's value for a canonical member, fitted, with its losses reported. Returns None if there is no
value, or if the writer put it into the body itself."""


class Place:
    """The place where a canonical member is written: its `name`, the object of the body that it is in (`inside`), and
    its range, or the rule that writes it."""

    __slots__ = ("highest", "inside", "is_limit", "lowest", "name", "write")

    def __init__(self, name: str, inside: str, row: BodyMember) -> None:
        self.name = name
        self.inside = inside
        self.write = row.write
        self.is_limit = row.member == "max_output_tokens"
        self.lowest: Any = None
        self.highest: Any = None
        if isinstance(row.plain, tuple) and len(row.plain) == 2:
            self.lowest, self.highest = row.plain


Places = dict[str, Place]


def places(rows: BodyMembers, inside: str = "") -> dict[str, Place]:
    """Return the place of each canonical member that a row names: that of the first such row."""
    found: dict[str, Place] = {}
    for name, row in rows.items():
        if row.member:
            found.setdefault(row.member, Place(name, inside, row))
        if type(row.kind) is dict:
            for member, place in places(row.kind, name).items():
                found.setdefault(member, place)
    return found


def write_members(request: Request, body: Wire, table: Places, writing: Writing, skip: Container[str] = ()) -> None:
    """Write the members of a request besides its structure, each in its place, by its rule or in its range. Those in
    `skip` are written elsewhere. Members that the wire does not have are reported."""
    for name, value in request.items():
        if value is None or name in STRUCTURE or name in skip:
            continue
        place = table.get(name)
        if place is None:
            if value or value not in _NOTHING_ASKED or name == "cache" or name not in SEVERITY:
                report_absent(name, value, writing.loss)
            continue
        if writing.refuses(name):
            if value not in _NOTHING_ASKED:
                writing.report_refused(name, value, SEVERITY.get(name, "weakened"))
            continue
        if place.write is not None:
            value = place.write(name, value, body, writing)
        elif place.is_limit:
            value = within(name, within_limit(name, value, writing), place.lowest, None, writing, "limit_exceeded")
        elif (place.lowest is not None and value < place.lowest) or (
            place.highest is not None and value > place.highest
        ):
            value = within(name, value, place.lowest, place.highest, writing)
        if value is None or value == []:
            continue
        if place.inside:
            put(body, place.inside, place.name, value)
        else:
            body[place.name] = value


def put(body: Wire, inside: str, name: str, value: Any) -> None:
    """Write a member of an object in the body."""
    body.setdefault(inside, {})[name] = value


_NOTHING_ASKED: Final[tuple[Any, ...]] = ([], {})


_MEANT: Final = {
    "contents": "messages",
    "functions": "tools",
    "input": "messages",
    "instructions": "a message of the role system",
    "max_completion_tokens": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "num_predict": "max_output_tokens",
    "reasoning_effort": "reasoning",
    "stop_sequences": "stop",
    "system": "a message of the role system",
    "thinking": "reasoning",
}
"""What providers call members of a request otherwise; `maxTokens` is looked up as `max_tokens`."""


_MEMBERS: Final = (
    *SEVERITY,
    *"max_output_tokens messages model parallel_tool_calls reasoning response_format stream tool_choice tools".split(),
)


def _meant(name: str) -> str:
    """A hint at the member that an unknown one was probably meant to be; empty if none is like it."""
    from difflib import get_close_matches  # only for a mistake

    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    meant = _MEANT.get(words) or next(iter(get_close_matches(words, _MEMBERS, 1, 0.75)), "")
    return f"; did you mean {meant}?" if meant else ""


def report_absent(name: str, value: Any, loss: Loss) -> None:
    """Report a member that the wire does not have, or that this version does not know."""
    severity = SEVERITY.get(name)
    if severity is None:
        loss.drop((name,), "unknown_field", "lost", f"a member that this version does not know{_meant(name)}")
    else:
        code = "cache_hint" if name == "cache" else "unsupported_field"
        loss.drop((name,), code, severity_of(name, value, severity), f"the wire has no {name.replace('_', ' ')}")


def within(name: str, value: Any, lowest: Any, highest: Any, writing: Writing, code: str = "unsupported_value") -> Any:
    """Return a number fitted into the range of the wire; report it if it was outside."""
    fitted = value
    if lowest is not None and value < lowest:
        fitted = lowest
    elif highest is not None and value > highest:
        fitted = highest
    if fitted is value:
        return value
    writing.loss.replace((name,), fitted, code, "weakened", "the target's range is narrower")
    return fitted


def within_limit(name: str, value: int, writing: Writing) -> int:
    """Return the limit of the response, or the highest limit of the model if that is lower."""
    highest = writing.capabilities.get("max_output_tokens")
    if highest is None or value <= highest or writing.verbatim(name):
        return value
    writing.loss.replace((name,), highest, "limit_exceeded", "weakened", "the model gives fewer tokens")
    return highest


def write_nothing(name: str, value: Any, body: Wire, writing: Writing) -> None:
    """Write nothing: the member is written elsewhere."""
