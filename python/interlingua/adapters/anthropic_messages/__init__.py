"""
Anthropic Messages.

Wire:  POST /v1/messages, answers as JSON or server-sent events, documented versions 2023-06-01 and 2026-10-21.
Spec:  spec/adapters/anthropic_messages.md

Strategy: a request is written top-down. Leading instructions leave the list and become `system`; each run of tool
results and the user message after it travel as one user message, results first; blocks keep their order.
What has no canonical meaning is kept: whole items as opaque blocks, members in provider state, top-level members in
options. Every request is made valid, and every repair is reported. What came from this wire otherwise than it is written
is kept (`_engine.verbatim`) and put back, and its repair is taken back, while the same is written.
The stream decoder puts the provider's own final message together and reads it as the unary answer is read.

Sections: tables · requests (members, reasoning, estimates) · turns (messages) · blocks (items and texts, media) · tools (and
schemas) · responses · stream reader and writer · errors. What Bedrock's wire does alike stands in `_claude`.
"""

from typing import Final

from interlingua.adapters.anthropic_messages.errors import error, to_wire_error
from interlingua.adapters.anthropic_messages.requests import estimate, from_wire_request, to_wire, wrong_type
from interlingua.adapters.anthropic_messages.responses import from_wire_response, to_wire_response
from interlingua.adapters.anthropic_messages.stream_reader import stream_decoder
from interlingua.adapters.anthropic_messages.stream_writer import stream_encoder, stream_loss
from interlingua.adapters.anthropic_messages.tables import FRAMING, NAME

DATED: Final = False
"""Answers bear no time."""

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
