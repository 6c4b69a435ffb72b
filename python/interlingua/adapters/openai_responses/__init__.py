"""
OpenAI Responses, and the other servers of this wire.

Wire:  POST /responses, responses as JSON or as server-sent events, documented state 2026-11.
Spec:  spec/adapters/openai_responses.md

Strategy: the wire is a flat list of items. A run of items that a model produced (messages, calls, reasoning, and the
items of the provider's own tools) is one assistant message; every other item is a message of its own. The first block
of an item marks where the item begins, so the list is restored item by item. The reader compares each item with what
the writer would make of it, and keeps the difference. An item that has no canonical meaning, or that cannot be read in
full, is an opaque block in its place. The stream decoder reads the same items when they are done, so a stream and a
complete response give the same result.

The sections: tables · parts · items · messages · tools · requests · responses · stream reader and writer · estimates.
Errors are those of all wires of OpenAI.
"""

from typing import Final

from interlingua.adapters._openai.errors import error, to_wire_error
from interlingua.adapters.openai_responses.estimates import estimate
from interlingua.adapters.openai_responses.requests import from_wire_request, to_wire, wrong_type
from interlingua.adapters.openai_responses.responses import from_wire_response, to_wire_response
from interlingua.adapters.openai_responses.stream_reader import stream_decoder
from interlingua.adapters.openai_responses.stream_writer import stream_encoder
from interlingua.adapters.openai_responses.tables import NAME

FRAMING: Final = "sse"
DATED: Final = True
"""Responses have a time of creation. A response without one gets the time that is given as `created`."""

__all__ = [
    "DATED",
    "FRAMING",
    "NAME",
    "error",
    "estimate",
    "from_wire_request",
    "from_wire_response",
    "stream_decoder",
    "stream_encoder",
    "to_wire",
    "to_wire_error",
    "to_wire_response",
    "wrong_type",
]
