"""Responses of a wire that may return several answers: a list of choices, each with its own message and finish
reason."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from interlingua.adapters._answers.answers import (
    Choice,
    Ends,
    Response,
    content_of,
    read_answer,
    read_by_itself,
    unreadable,
)
from interlingua.adapters._engine.items import ItemRow, Member, write_item
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings, imprint
from interlingua.adapters._engine.verbatim import came_of, keep_item, may_differ, put_back_item
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.loss import Entry, Loss, Path


def _write_number(_: Choice, __: Writing, path: Path) -> Any:
    return int(path[1]) + 1 if path else 0


_ABSENT: Final = object()
NUMBER: Final = Member("index", ("message",), read_by_itself, _write_number)
"""The number of a choice, which is its position in the list."""


class Choices:
    """The choices of a wire that may return several: elements of the list `name`.

    `answer` is the row of the body with its first choice, `choice` the row of every other choice.

    The first choice is the response itself: while the body is read, written and compared, this choice is its member
    `FIRST`. The others are read, written and compared separately.
    """

    FIRST: Final = "choice"

    def __init__(self, name: str, ends: Ends, answer: ItemRow, choice: ItemRow) -> None:
        self.name = name
        self.ends = ends
        self.answer = answer
        self.choice = choice

    def read(self, body: Wire, readings: Sequence[Reading]) -> list[Response]:
        """Read the response and the other choices, each with its own reader. Raises `InvalidAnswer` for one that
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
        if len(found) > 1:
            found[0]["alternatives"] = found[1:]
        return found

    def _view(self, body: Wire, choices: list[Any]) -> Wire:
        view = {**body}
        view.pop(self.name, None)
        if choices:
            view[self.FIRST] = choices[0]
        return view

    def write(self, response: Response, writing: Writing) -> tuple[Wire, list[Wire]]:
        """Write the body with its first choice, and the other choices, by the rules of the wire."""
        body = write_item(self.answer, response, writing, ())
        others: list[Wire] = []
        if alternatives := response.get("alternatives"):
            for position, choice in enumerate(alternatives):
                others.append(write_item(self.choice, choice, writing, ("alternatives", position)))
        return body, others

    def keep_unusual(
        self,
        found: list[Response],
        body: Wire,
        readings: Sequence[Reading],
        write: Callable[[Response, Endpoint, Loss], tuple[Wire, list[Wire]]],
        keep_message: Callable[[Any, Wire, Any], None],
    ) -> None:
        """Keep the differences between a response that was just read, with its choices, and what is written of it,
        if it must be compared. `keep_message` does so for the message in a choice of the wire
        (`answers.keep_unusual`)."""
        must_compare = False
        for reading in readings:
            must_compare = must_compare or reading.must_compare
        if not may_differ(must_compare):
            return
        response, endpoint, loss = found[0], readings[0].endpoint, Loss()
        choices: list[Any] = body.get(self.name) or []
        for choice, wire, read in zip(found, choices, readings, strict=False):
            keep_message(choice["message"], wire, read)
        first, others = write(response, endpoint, loss)
        came = self._view(body, choices) if choices else body
        keep_item(response, came, first, endpoint, _reported(loss, 0), content_of(response))
        for position, written in enumerate(others, 1):
            reported, choice = _reported(loss, position), found[position]
            keep_item(choice, choices[position], written, endpoint, reported, content_of(choice))

    def put_back(self, response: Response, written: tuple[Wire, list[Wire]], endpoint: Endpoint, loss: Loss) -> Wire:
        """Return the body with all its choices, each place as it came where it is written as it was then."""
        body, others = written
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
