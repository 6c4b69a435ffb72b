"""
The contract of a wire: the functions of its package, or of an adapter that somebody else installed, with their types.

Canonical values are typed at this border. Inside, an adapter handles them as plain data (`_engine.kit.data_of`).
`adapters.get` returns an `Adapter`. The wires of this package offer all of `CompleteAdapter`; `make check` enforces
that (`tests/typing/adapters.py`).

A wire may also offer one of two names for the losses of its streams; `interlingua/stream_loss.py` uses them:

- `stream_loss`, a `StreamLoss`: the wire's own rule, if its stream expresses more or less than the complete response.
- `READ_BACK`, true: the pieces of its stream do not mark where a block ends and the next begins, or in which order
  the blocks came. The losses of a stream are then found by reading it back, unless each block is separate from those
  before it (reasoning, one text, calls; none empty).

All functions are pure and deterministic. Losses are entries with pointers into the canonical value that is written.
For a response that is read there are none.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, Protocol, TypeAlias

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.types import Error, LossEntry, Request, Response, StreamEvent, TokenEstimate, WireRequest

Body: TypeAlias = dict[str, Any]
"""A body of the wire, decoded. The contract does not define its format."""

Decoder: TypeAlias = Generator[list[StreamEvent], Any, None]
"""A generator: send it the frames of a stream, and None at the end; it yields the events that each frame completes."""

Encoder: TypeAlias = Generator[list[Any], StreamEvent | None, None]
"""A generator: send it events, and None at the end; it yields the frames that each event completes."""

StreamLoss: TypeAlias = Callable[[Response, Endpoint], list[LossEntry]]
"""Returns the losses of a streamed response, for a wire on which they differ from those of the complete response."""


class Adapter(Protocol):
    """The functions that every adapter offers."""

    @property
    def FRAMING(self) -> str:  # noqa: N802
        """The framing of its streams: the name of a module of `interlingua.wire`."""
        ...

    def from_wire_request(
        self, wire: WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, /
    ) -> tuple[Request, list[LossEntry]]:
        """Read a request. Raises `InvalidWire` with a pointer into the body."""
        ...

    def to_wire(self, request: Request, endpoint: Endpoint, /) -> tuple[WireRequest, list[LossEntry]]:
        """Write a request that is valid by the rules of the wire. Raises `InvalidRequest` if there is no valid one, and
        `CannotAdapt` if the model refuses it, each with a pointer into the request."""
        ...

    def from_wire_response(
        self, body: Body, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, /
    ) -> tuple[Response, list[LossEntry]]:
        """Read a complete response. Raises `InvalidAnswer` with a pointer into the body, and `ProviderError` for an
        error that came with a status of success."""
        ...

    def to_wire_response(self, response: Response, endpoint: Endpoint, /) -> tuple[Body, list[LossEntry]]:
        """Write a complete response."""
        ...

    def stream_decoder(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, /) -> Decoder:
        """Return a reader of a stream. The last event is `message_complete` or `error`. No input makes the reader
        raise."""
        ...

    def stream_encoder(self, endpoint: Endpoint, /) -> Encoder:
        """Return a writer of a stream. The writer raises `InvalidRequest` for events that are not those of one
        stream."""
        ...

    def error(self, status: int, headers: Mapping[str, str], body: bytes | str, endpoint: Endpoint, /) -> Error:
        """Read the response to a failed provider call: any status and any body, including HTML pages and an empty
        body."""
        ...

    def estimate(self, request: Request, endpoint: Endpoint, /) -> TokenEstimate:
        """Estimate the number of prompt tokens of a request."""
        ...


class ErrorWriter(Adapter, Protocol):
    """An adapter that also writes errors for clients of its wire."""

    def to_wire_error(self, error: Error, endpoint: Endpoint, /) -> tuple[Body, list[LossEntry]]:
        """Write an error as `{status, headers, body}`."""
        ...


class CompleteAdapter(ErrorWriter, Protocol):
    """The functions and names that the wires of this package offer."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of the wire."""
        ...

    @property
    def DATED(self) -> bool:  # noqa: N802
        """Whether its responses contain their time of creation. Such a wire is a `DatedAdapter`."""
        ...

    def wrong_type(self, options: Body, encoding: Body, /) -> InvalidWire | None:
        """Return the error for a member of a wrong type in a request that was read here; None if there is none. Such
        a request cannot be written to another wire."""
        ...


class DatedAdapter(Adapter, Protocol):
    """A wire whose responses contain their time of creation. `created`, in seconds since 1970, is used if a response
    has none."""

    def to_wire_response(
        self, response: Response, endpoint: Endpoint, /, *, created: int = 0
    ) -> tuple[Body, list[LossEntry]]: ...

    def stream_encoder(self, endpoint: Endpoint, /, *, created: int = 0) -> Encoder: ...
