"""
Amazon Bedrock Converse.

Wire:  POST /model/{model}/converse, responses as JSON; /converse-stream, responses as an AWS event stream.
       Documented version: service model bedrock-runtime 2023-09-30, as of botocore 1.44.5.
Spec:  spec/adapters/bedrock_converse.md

Strategy: the writer writes a request top-down. It takes leading instructions out of the list and writes them as `system`.
It writes each run of tool results and the user message after it as one user message, results first. The turns of user and
model alternate. A cache mark is a block of its own on the wire; in canonical form it is a hint on the block before it.
The reader keeps everything that has no canonical meaning: whole items as opaque blocks, members in provider state as trees of
the same shape, top-level members in options. The writer makes every request valid and reports every repair. If a value was
read from this wire in another spelling than the writer uses, the reader keeps that spelling (`_engine.verbatim`). As long as the
writer writes the same value, it restores the spelling and reverts the repair.
The stream decoder assembles the provider's own final message and reads it in the same way as a unary response.

Sections: tables · requests (members, reasoning, estimates) · turns (messages) · blocks (items and texts, media) · tools ·
responses · stream reader and writer · errors. The code that this wire shares with Anthropic's own wire is in `_claude`.
"""

from typing import Final

from interlingua.adapters.bedrock_converse.errors import error, to_wire_error
from interlingua.adapters.bedrock_converse.requests import estimate, from_wire_request, to_wire, wrong_type
from interlingua.adapters.bedrock_converse.responses import from_wire_response, to_wire_response
from interlingua.adapters.bedrock_converse.stream_reader import stream_decoder
from interlingua.adapters.bedrock_converse.stream_writer import stream_encoder, stream_loss
from interlingua.adapters.bedrock_converse.tables import FRAMING, NAME

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
