"""
Ollama's native chat.

Wire:  POST /api/chat, answers as JSON or as JSON lines, documented state 2026-08.
Spec:  spec/adapters/ollama_chat.md

Strategy: every wire message is one canonical message. The wire has one text for each message, images and calls beside
it, and no order among them, so blocks are read in the order in which the server puts them before the model: thinking,
images, text, calls. Blocks in another order are moved and several texts become one, both reported. Calls and results
find each other by id, by name or by position, whatever the client and the age of the server left of it.

The sections: tables · blocks (and images) · tools (schemas, calls) · messages · requests · responses · stream reader and
writer · errors.
"""

from typing import Final

from interlingua.adapters._estimates.estimate import estimate
from interlingua.adapters.ollama_chat.errors import error, to_wire_error
from interlingua.adapters.ollama_chat.requests import from_wire_request, to_wire, wrong_type
from interlingua.adapters.ollama_chat.responses import from_wire_response, to_wire_response
from interlingua.adapters.ollama_chat.stream_reader import stream_decoder
from interlingua.adapters.ollama_chat.stream_writer import READ_BACK, stream_encoder
from interlingua.adapters.ollama_chat.tables import NAME

FRAMING: Final = "jsonl"
DATED: Final = True
"""Answers bear the time at which they were made: it is given as `created` where they bring none."""

__all__ = [
    "DATED",
    "FRAMING",
    "NAME",
    "READ_BACK",
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
