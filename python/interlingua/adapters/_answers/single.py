"""Responses of a wire that returns one answer."""

from collections.abc import Callable
from typing import Any

from interlingua.adapters._answers.answers import (
    Block,
    Ends,
    ReadError,
    Response,
    body_of,
    content_of,
    ending,
    put_content,
    read_answer,
    write_answer,
)
from interlingua.adapters._engine.items import ItemRow, write_item
from interlingua.adapters._engine.kit import Wire, data_of, response_of
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.verbatim import came_of, keep_item, may_differ, put_back_item
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path


class Single:
    """The responses of a wire that returns one answer.

    - `row`: the members of a response.
    - `ends`: its finish reasons; None if `read_beside` finds out the finish reason.
    - `writing`: makes the `Writing` for a response.
    - `error`: reads an error, and `is_error` tells whether a body is one in spite of its status of success; None if
      none is.
    - `read_beside`: reads what is beyond the row into a response; `write_beside`: writes it into a body. The latter gets
      the time for a response that has none, in seconds since 1970.
    - `keep_message`: keeps the differences between the message that was received and the one that a request writes,
      because the message becomes one of a conversation.
    - `place`: the path of the content, for the error about a body without it.
    """

    def __init__(
        self,
        row: ItemRow,
        ends: Ends | None,
        writing: Callable[[Response, Endpoint, Loss], Writing],
        error: ReadError,
        is_error: Callable[[Wire], Any] | None = None,
        *,
        read_beside: Callable[[Response, Wire, Any], None] | None = None,
        write_beside: Callable[[Response, Wire, Any, int], None] | None = None,
        keep_message: Callable[[Any, Wire, Endpoint], None] | None = None,
        place: Path = (),
    ) -> None:
        self.row = row
        self.ends = ends
        self.writing = writing
        self.error = error
        self.is_error = is_error
        self.read_beside = read_beside
        self.write_beside = write_beside
        self.keep_message = keep_message
        self.place = place

    # ------------------------------------------------------------------------------------------ from the wire

    def from_wire(self, body: Any, reading: Reading) -> tuple[types.Response, list[Entry]]:
        """Read a body, and keep what is unusual in it. Raises `InvalidAnswer` with a pointer into a body that cannot be
        read, and `ProviderError` for one that is an error."""
        endpoint = reading.endpoint
        wire = body_of(body, endpoint, self.error, self.is_error)
        response = self.read(wire, reading)
        if may_differ(reading.must_compare):
            if self.keep_message is not None:
                self.keep_message(response["message"], wire["message"], endpoint)
            loss = Loss()
            written = self.write(response, endpoint, loss)
            keep_item(response, wire, written, endpoint, loss.entries, content_of(response))
        return unwrap_answer_call(response), []

    def read(self, body: Wire, reading: Reading, content: list[Block] | None = None) -> Response:
        """Read a body. `content` are the blocks of its message, if they have been read from a stream: the message in
        the body is empty then."""
        response = read_answer(self.row, self.ends, body, {}, reading, self.place)
        if content is not None:
            put_content(response, content, self.ends)
        if self.read_beside is not None:
            self.read_beside(response, body, reading)
        return response

    # ------------------------------------------------------------------------------------------ to the wire

    def to_wire(self, answer: types.Response, endpoint: Endpoint, created: int = 0) -> tuple[Wire, list[Entry]]:
        """Write a response, with each place as it came, where it is written as it was when it was read; return the body
        and the loss report. `created` is the time of a response that has none."""
        return write_answer(endpoint, lambda loss: self._body(data_of(answer), endpoint, loss, created))

    def _body(self, response: Response, endpoint: Endpoint, loss: Loss, created: int) -> Wire:
        written = self.write(response, endpoint, loss, created)
        if came_of(response, endpoint) is None:
            return written
        body: Wire = put_back_item(response, written, endpoint, loss.entries, loss, content_of(response))
        return body

    def write(self, response: Response, endpoint: Endpoint, loss: Loss, created: int = 0) -> Wire:
        """Write a response by the rules of the wire."""
        writing = self.writing(response, endpoint, loss)
        body = write_item(self.row, response, writing, ())
        if self.write_beside is not None:
            self.write_beside(response, body, writing, created)
        return body

    def end_to_wire(self, response: Response, endpoint: Endpoint, created: int = 0) -> Wire:
        """Write the members around the content of a response: its stream, which ends, has sent the content."""
        return self.to_wire(response_of(ending(response)), endpoint, created)[0]
