"""
OpenAI Chat Completions, and the dialects of all other providers of this wire.

Wire:  POST /chat/completions, responses as JSON or as server-sent events, documented state 2026-11.
Spec:  spec/adapters/openai_chat.md

Strategy: every wire message is one canonical message. Members without a canonical counterpart are kept in `fields`. The
writer changes a request into one that the wire accepts: results directly after their calls, no media in tool messages,
names and ids in the grammar, nothing empty. The reader compares a request once with what the writer would make of it,
so that it is restored as received (`_engine.verbatim`). The stream reader applies the chunks as patches to the response
in its complete form and reads that form at the end. So a stream and a complete response give the same result.

The sections: tables · parts (content) · reasoning and its settings · tools · messages and turns (the blocks of an
assistant message, sorted into members) · requests · responses · stream choices, reader and writer.
"""

from typing import Final

from interlingua.adapters._estimates.estimate import estimate
from interlingua.adapters._openai.errors import error, to_wire_error
from interlingua.adapters.openai_chat.requests import from_wire_request, to_wire, wrong_type
from interlingua.adapters.openai_chat.responses import from_wire_response, to_wire_response
from interlingua.adapters.openai_chat.stream_reader import stream_decoder
from interlingua.adapters.openai_chat.stream_writer import stream_encoder, stream_loss
from interlingua.adapters.openai_chat.tables import NAME

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
    "stream_loss",
    "to_wire",
    "to_wire_error",
    "to_wire_response",
    "wrong_type",
]
