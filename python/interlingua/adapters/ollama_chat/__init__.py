"""
Ollama's native chat.

Wire:  POST /api/chat, responses as JSON or as JSON lines, documented state 2026-08.
Spec:  spec/adapters/ollama_chat.md

Strategy: every wire message is one canonical message. A wire message has one text, with images and calls next to it and
no order among them. So the reader returns blocks in the order in which the server gives them to the model: thinking,
images, text, calls. The writer moves blocks in another order and joins several texts into one; it reports both.
Calls and results are paired by id, by name or by position, depending on what the client and the server's version send.

The sections: tables · blocks (and images) · tools (schemas, calls) · messages · requests · responses · stream reader
and writer · errors.
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
"""Responses contain the time of their creation: the caller passes it as `created` for a response that has none."""

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
