"""
OpenAI Responses, and the servers that speak it too.

Wire:  POST /responses, answers as JSON or as server-sent events, documented state 2026-11.
Spec:  spec/adapters/openai_responses.md

Strategy: the wire is a flat list of items. A run of items that a model said (messages, calls, reasoning, and whatever
the provider's own tools left) is one assistant message; every other item is a message of its own. Where an item begins,
its first block says, so the list comes back item for item; how it came otherwise than it is written is kept by comparison. An item that has no
canonical meaning, or that cannot be read in full, is an opaque block in its place. The stream decoder reads the same
items when they are done, so both ways give the same.

The sections: tables · parts · items · messages · tools · requests · responses · stream reader and writer ·
estimates. Errors are those of all wires of OpenAI.
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
"""Answers bear the time at which they were made: it is given as `created` where they bring none."""

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
