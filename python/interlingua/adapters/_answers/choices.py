"""Responses of a wire that may return several answers: a list of choices, each with its own message and finish
reason."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from interlingua.adapters._answers.answers import (
    AROUND,
    Block,
    Choice,
    Ends,
    ReadError,
    Response,
    body_of,
    content_of,
    put_content,
    read_answer,
    read_by_itself,
    unreadable,
    write_answer,
)
from interlingua.adapters._engine.items import ItemRow, Member, inside, write_item
from interlingua.adapters._engine.kit import Wire, data_of
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings, imprint
from interlingua.adapters._engine.verbatim import came_of, keep_item, may_differ, put_back_item
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.loss import Entry, Loss, Path


def _write_number(_: Choice, __: Writing, path: Path) -> Any:
    return int(path[1]) + 1 if path else 0


_ABSENT: Final = object()
_NUMBER: Final = Member("index", ("message",), read_by_itself, _write_number)
"""The number of a choice, which is its position in the list."""
_ELSEWHERE: Final = (*AROUND, "alternatives")


class Choices:
    """The responses of a wire that may return several answers: elements of the list `name`.

    - `around`: the members of a response around its choices; `choice`: those of a choice.
    - `optional`: the list may be absent.
    - `ends`, `writing`, `error` and `is_error` are those of `single.Single`. `read_beside` and `write_beside`, too; they
      get all choices, and all readers.
    - `keep_message`, too; it gets a message, its choice on the wire, and its reader.

    The first choice is the response itself: while the body is read, written and compared, this choice is its member
    `FIRST`. The others are read, written and compared separately.
    """

    FIRST: Final = "choice"

    def __init__(
        self,
        name: str,
        ends: Ends,
        around: tuple[Member, ...],
        choice: tuple[Member, ...],
        writing: Callable[[Response, Endpoint, Loss], Writing],
        error: ReadError,
        is_error: Callable[[Wire], Any],
        *,
        optional: bool = False,
        read_beside: Callable[[list[Response], Wire, Any], None],
        write_beside: Callable[[Response, Wire, list[Wire], Any, int], None],
        keep_message: Callable[[Any, Wire, Any], None],
    ) -> None:
        self.name = name
        self.ends = ends
        self.choice = ItemRow({}, _NUMBER, *choice, elsewhere=_ELSEWHERE)
        self.answer = ItemRow({}, *around, inside(self.FIRST, self.choice, optional=True), elsewhere=_ELSEWHERE)
        self.writing = writing
        self.error = error
        self.is_error = is_error
        self.optional = optional
        self.read_beside = read_beside
        self.write_beside = write_beside
        self.keep_message = keep_message

    # ------------------------------------------------------------------------------------------ from the wire

    def from_wire(
        self, body: Any, endpoint: Endpoint, reading: Callable[[Wire, int], Reading]
    ) -> tuple[types.Response, list[Entry]]:
        """Read a body. `reading` makes the reader of the choice at a position. Raises `InvalidAnswer` with a pointer into
        a body that cannot be read, and `ProviderError` for one that is an error."""
        wire = body_of(body, endpoint, self.error, self.is_error)
        return unwrap_answer_call(self.read_whole(wire, endpoint, reading)), []

    def read_whole(self, body: Wire, endpoint: Endpoint, reading: Callable[[Wire, int], Reading]) -> Response:
        """Read a body that is no error, and keep what is unusual in it."""
        listed = body.get(self.name)
        if type(listed) is not list and not (listed is None and self.optional):
            raise InvalidAnswer(f"{self.name} must be a list", path=f"/{self.name}", adapter=endpoint.adapter)
        readings = [reading(body, position) for position in range(len(listed or "1"))]
        found = self.read(body, readings)
        must_compare = False
        for one in readings:
            must_compare = must_compare or one.must_compare
        if may_differ(must_compare):
            self._keep_unusual(found, body, readings)
        return found[0]

    def read(
        self, body: Wire, readings: Sequence[Reading], contents: Sequence[list[Block]] | None = None
    ) -> list[Response]:
        """Read the response and the other choices, each with its own reader. `contents` are the blocks of each, if they
        have been read from a stream: the choices in the body have none then. Raises `InvalidAnswer` for a choice that
        cannot be read."""
        found: list[Response] = []
        choices: list[Any] = body.get(self.name) or []
        for position, reading in enumerate(readings):
            row, wire = (self.choice, choices[position]) if position else (self.answer, self._view(body, choices))
            number: Any = None
            spellings: Spellings = {}
            try:
                if choices:
                    number = choices[position].get("index", _ABSENT)
                if number is _ABSENT:
                    place = "/index" if position else f"/{self.FIRST}/index"
                    spellings[place], number = {"written": imprint(position)}, position
                found.append(read_answer(row, self.ends, wire, {}, reading, (), spellings))
            except (InvalidAnswer, AttributeError) as problem:
                raise unreadable((self.name, position), reading.endpoint) from problem
            reading.must_compare = reading.must_compare or type(number) is not int or number != position
        if contents is not None:
            for choice, content in zip(found, contents, strict=False):
                put_content(choice, content, self.ends)
        if len(found) > 1:
            found[0]["alternatives"] = found[1:]
        self.read_beside(found, body, readings)
        return found

    def _view(self, body: Wire, choices: list[Any]) -> Wire:
        view = {**body}
        view.pop(self.name, None)
        if choices:
            view[self.FIRST] = choices[0]
        return view

    def _keep_unusual(self, found: list[Response], body: Wire, readings: Sequence[Reading]) -> None:
        """Keep the differences between a response that was just read, with its choices, and what is written of it."""
        response, endpoint, loss = found[0], readings[0].endpoint, Loss()
        choices: list[Any] = body.get(self.name) or []
        for choice, wire, read in zip(found, choices, readings, strict=False):
            self.keep_message(choice["message"], wire, read)
        first, others = self.write(response, endpoint, loss)
        came = self._view(body, choices) if choices else body
        keep_item(response, came, first, endpoint, _reported(loss, 0), content_of(response))
        for position, written in enumerate(others, 1):
            reported, choice = _reported(loss, position), found[position]
            keep_item(choice, choices[position], written, endpoint, reported, content_of(choice))

    # ------------------------------------------------------------------------------------------ to the wire

    def to_wire(self, answer: types.Response, endpoint: Endpoint, created: int = 0) -> tuple[Wire, list[Entry]]:
        """Write a response, with each place as it came, where it is written as it was when it was read; return the body
        and the loss report. `created` is the time of a response that has none, in seconds since 1970."""
        return write_answer(endpoint, lambda loss: self._body(data_of(answer), endpoint, loss, created))

    def write(self, response: Response, endpoint: Endpoint, loss: Loss, created: int = 0) -> tuple[Wire, list[Wire]]:
        """Write the body with its first choice, and the other choices, by the rules of the wire."""
        writing = self.writing(response, endpoint, loss)
        body = write_item(self.answer, response, writing, ())
        others: list[Wire] = []
        if alternatives := response.get("alternatives"):
            for position, choice in enumerate(alternatives):
                others.append(write_item(self.choice, choice, writing, ("alternatives", position)))
        self.write_beside(response, body, others, writing, created)
        return body, others

    def _body(self, response: Response, endpoint: Endpoint, loss: Loss, created: int) -> Wire:
        body, others = self.write(response, endpoint, loss, created)
        if came_of(response, endpoint) is not None:
            body = put_back_item(response, body, endpoint, _reported(loss, 0), loss, content_of(response))
        if self.FIRST not in body:
            return body
        listed = body[self.name] = [body.pop(self.FIRST)]
        for position, wire in enumerate(others, 1):
            choice = response["alternatives"][position - 1]
            reported = _reported(loss, position)
            listed.append(put_back_item(choice, wire, endpoint, reported, loss, content_of(choice)))
        return body


def _reported(loss: Loss, position: int) -> list[Entry]:
    """The entries about a choice; those of the first are all that are not about another one."""
    if not loss.entries:
        return []
    here = f"/alternatives/{position - 1}/" if position else ""
    of_others = "" if position else "/alternatives/"
    return [
        entry
        for entry in loss.entries
        if entry["path"].startswith(here) and not (of_others and entry["path"].startswith(of_others))
    ]
