"""
OpenAI Chat Completions, and the dialects of everybody else who speaks it.

Wire:  POST /chat/completions, answers as JSON or as server-sent events, documented state 2026-11.
Spec:  spec/adapters/openai_chat.md

Strategy: every wire message is one canonical message. What the contract has no word for rides along in `fields`. A request is
mended into what the wire accepts: results directly behind their calls, media out of tool messages, names and ids in the
grammar, nothing empty. What was read here is compared with that once, and goes back as it came (`_engine.verbatim`). The chunks of a
stream are patches on the answer as if it came whole, which is read at the end, so that both ways give the same.

The sections: tables · parts (content) · reasoning and its settings · tools · messages and turns (the blocks of an assistant
sorted into members) · requests · responses · stream choices, reader and writer.
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
    "stream_loss",
    "to_wire",
    "to_wire_error",
    "to_wire_response",
    "wrong_type",
]
