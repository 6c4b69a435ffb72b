"""
Answers of a given form, for targets that cannot be told so in a member of their own.

Such a form is asked for (`asking`) by a call that is forced, of a tool with a reserved name whose arguments are the
answer, or in the instructions. How both are spelt stands in `encoding`, so that a reader finds the form again (`finding`);
and a call of the reserved name is read as the text that it stands for (`answers`). What a caller says in these words is
kept apart from a form (`reserved`).
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
