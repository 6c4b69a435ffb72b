"""
Gemini generateContent.

Wire:  POST …/models/{model}:generateContent and :streamGenerateContent, documented version v1beta of 2026-11, Vertex AI included.
Spec:  spec/adapters/gemini_generate.md

Strategy: a wire content is one canonical message, except results of tools, which are messages of their own. Calls may
have no ids, so results are paired by id if there is one, else by name and position. Signatures stay on the part with
which they arrived. Many spellings mean the same here (two cases of every name, numbers for words, one object
for a list). The writer uses the plain spelling. The reader keeps a spelling that differs from it as `encoding`, and
the writer restores it as long as its meaning is the same. The reader also records there what is unusual about a
request; the writer repairs everything else.

Sections: tables · context · requests (members, generation, reasoning) · contents (messages, order, quirks) · parts
(blocks: calls, results, text, reasoning) · media · tools (and schemas) · responses (and citations) · stream reader and
writer · errors.
"""

from typing import Final

from interlingua.adapters.gemini_generate.errors import error, to_wire_error
from interlingua.adapters.gemini_generate.requests import estimate, from_wire_request, to_wire, wrong_type
from interlingua.adapters.gemini_generate.responses import from_wire_response, to_wire_response
from interlingua.adapters.gemini_generate.stream_reader import stream_decoder
from interlingua.adapters.gemini_generate.stream_writer import READ_BACK, stream_encoder
from interlingua.adapters.gemini_generate.tables import FRAMING, NAME

DATED: Final = False
"""Responses contain no time."""

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
