"""
Amazon Bedrock Converse.

Wire:  POST /model/{model}/converse, answers as JSON; /converse-stream, answers as an AWS event stream.
       Documented version: service model bedrock-runtime 2023-09-30, as of botocore 1.44.5.
Spec:  spec/adapters/bedrock_converse.md

Strategy: a request is written top-down. Leading instructions leave the list and become `system`; each run of tool
results and the user message after it travel as one user message, results first; the turns of user and model alternate.
A mark for the cache is a block of its own on the wire and a hint on the block before it here.
What has no canonical meaning is kept: whole items as opaque blocks, members in provider state as trees of the same
shape, top-level members in options. Every request is made valid, and every repair is reported. What came from this wire
otherwise than it is written is kept (`_engine.verbatim`) and put back, and its repair is taken back, while the same is written.
The stream decoder puts the provider's own final message together and reads it as the unary answer is read.

Sections: tables · requests (members, reasoning, estimates) · turns (messages) · blocks (items and texts, media) · tools ·
responses · stream reader and writer · errors. What Anthropic's own wire does alike stands in `_claude`.
"""

from typing import Final

from interlingua.adapters.bedrock_converse.errors import error, to_wire_error
from interlingua.adapters.bedrock_converse.requests import estimate, from_wire_request, to_wire, wrong_type
from interlingua.adapters.bedrock_converse.responses import from_wire_response, to_wire_response
from interlingua.adapters.bedrock_converse.stream_reader import stream_decoder
from interlingua.adapters.bedrock_converse.stream_writer import stream_encoder, stream_loss
from interlingua.adapters.bedrock_converse.tables import FRAMING, NAME

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
