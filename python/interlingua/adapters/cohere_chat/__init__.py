"""
Cohere's Chat API.

Wire:  POST /v2/chat, responses as JSON or as server-sent events, documented state 2026-11.
Spec:  spec/adapters/cohere_chat.md

Strategy: every wire message is one canonical message. Items (parts, calls, tools) are rows of members, which `_engine.items` reads and
writes. An assistant message has parts, a plan next to calls, and calls, in this order; the plan is the text before the calls.
On the wire the citations are next to the content of a message; in canonical form they are members of its texts.

The sections: tables · parts · tools and calls · citations · messages · requests · responses · stream reader and writer ·
errors · estimates.
"""

from typing import Final

from interlingua.adapters._estimates.estimate import estimate
from interlingua.adapters.cohere_chat.errors import error, to_wire_error
from interlingua.adapters.cohere_chat.requests import from_wire_request, to_wire, wrong_type
from interlingua.adapters.cohere_chat.responses import from_wire_response, to_wire_response
from interlingua.adapters.cohere_chat.stream_reader import stream_decoder
from interlingua.adapters.cohere_chat.stream_writer import stream_encoder, stream_loss
from interlingua.adapters.cohere_chat.tables import NAME

FRAMING: Final = "sse"

DATED: Final = False
"""A response of this wire has no creation time."""

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
    "stream_loss",
    "to_wire",
    "to_wire_error",
    "to_wire_response",
    "wrong_type",
]
