"""
Answers of a requested format, for targets that have no member for the format.

Such a format is requested (`asking`) with a forced call of a tool, or in the instructions. The tool has a reserved
name, and its arguments are the answer. The `encoding` of a request that was read keeps the spelling of both, so that
a reader recognises the format again (`finding`). A call of the reserved name is read as the text that it represents
(`answers`). If a caller uses the reserved words, they are escaped, so that they are not read as a format
(`reserved`).
"""

from interlingua.adapters._structured.answers import AnswerCalls, text_of, unwrap_answer_call
from interlingua.adapters._structured.asking import mentions_json, write_with_format
from interlingua.adapters._structured.finding import extract_format
from interlingua.adapters._structured.form import NAME, is_any_json
from interlingua.adapters._structured.reserved import escape_reserved

__all__ = [
    "NAME",
    "AnswerCalls",
    "escape_reserved",
    "extract_format",
    "is_any_json",
    "mentions_json",
    "text_of",
    "unwrap_answer_call",
    "write_with_format",
]
