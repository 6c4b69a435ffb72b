"""
What a wire offers: the functions of its package (or of an adapter that somebody else installed), with what they take and give.

Canonical values are typed at this border; inside, an adapter looks at them as the plain data that they are (`_engine.kit.data_of`).
`adapters.get` gives an `Adapter`. The wires of this package offer all of `CompleteAdapter`, and one more where its stream says
more or less than the whole answer: `stream_loss`, a `StreamLoss`. `make check` holds
each of them to that (`tests/typing/adapters.py`).

All functions are pure and deterministic. Losses are entries with pointers into what is written, for an answer that was
read there are none.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Any, Protocol, TypeAlias

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.types import Error, LossEntry, Request, Response, StreamEvent, TokenEstimate, WireRequest

Body: TypeAlias = dict[str, Any]
"""A body of the wire, decoded: its own format, of which the contract says nothing."""

Decoder: TypeAlias = Generator[list[StreamEvent], Any, None]
"""Give it the frames of a stream, and None at the end; it gives the events that each frame completes."""

Encoder: TypeAlias = Generator[list[Any], StreamEvent | None, None]
"""Give it events, and None at the end; it gives the frames that each event completes."""

StreamLoss: TypeAlias = Callable[[Response, Endpoint], list[LossEntry]]
"""What a stream does not say of an answer, where that is more or less than what the whole answer does not say."""


class Adapter(Protocol):
    """What every adapter offers."""

    @property
    def FRAMING(self) -> str:  # noqa: N802
        """How its streams are framed: a module of `interlingua.wire`."""
        ...

    def from_wire_request(
        self, wire: WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, /
    ) -> tuple[Request, list[LossEntry]]:
        """Reads a request. Raises `InvalidWire` with a pointer into the body."""
        ...

    def to_wire(self, request: Request, endpoint: Endpoint, /) -> tuple[WireRequest, list[LossEntry]]:
        """Writes a request, valid by the rules of the wire. Raises `InvalidRequest` where there is no valid one, and
        `CannotAdapt` where the model refuses it, each with a pointer into the request."""
        ...

    def from_wire_response(
        self, body: Body, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, /
    ) -> tuple[Response, list[LossEntry]]:
        """Reads a whole answer. Raises `InvalidAnswer` with a pointer into the body, and `ProviderError` for an error that
        came with the status of a success."""
        ...

    def to_wire_response(self, response: Response, endpoint: Endpoint, /) -> tuple[Body, list[LossEntry]]:
        """Writes a whole answer."""
        ...

    def stream_decoder(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, /) -> Decoder:
        """Reads a stream. The last event is `message_complete` or `error`; it never raises for what it reads."""
        ...

    def stream_encoder(self, endpoint: Endpoint, /) -> Encoder:
        """Writes a stream. Raises `InvalidRequest` for events that are not those of one stream."""
        ...

    def error(self, status: int, headers: Mapping[str, str], body: bytes | str, endpoint: Endpoint, /) -> Error:
        """Reads the answer of a failed call: any status, any body, pages and nothing included."""
        ...

    def estimate(self, request: Request, endpoint: Endpoint, /) -> TokenEstimate:
        """How many prompt tokens a request takes."""
        ...


class ErrorWriter(Adapter, Protocol):
    """An adapter that tells clients of its wire of failures."""

    def to_wire_error(self, error: Error, endpoint: Endpoint, /) -> tuple[Body, list[LossEntry]]:
        """Writes an error as `{status, headers, body}`."""
        ...


class CompleteAdapter(ErrorWriter, Protocol):
    """What the wires of this package offer."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """Its name."""
        ...

    @property
    def DATED(self) -> bool:  # noqa: N802
        """Whether its answers bear the time at which they were made: such a wire is a `DatedAdapter`."""
        ...

    def wrong_type(self, options: Body, encoding: Body, /) -> InvalidWire | None:
        """The member of a request that was read here with a wrong type, which no other wire can be given."""
        ...


class DatedAdapter(Adapter, Protocol):
    """A wire whose answers bear the time at which they were made: `created`, in seconds since 1970, where they bring none."""

    def to_wire_response(
        self, response: Response, endpoint: Endpoint, /, *, created: int = 0
    ) -> tuple[Body, list[LossEntry]]: ...

    def stream_encoder(self, endpoint: Endpoint, /, *, created: int = 0) -> Encoder: ...
