"""
The envelope of a failed result, for wires whose results have no mark of failure.

The first line of the text states the failure. If the text of a successful result begins with such a line itself,
another line is written before it. So both are read back as they were (spec/adapters/openai_chat.md#envelope).
"""

from typing import Any, Final

from interlingua.adapters._engine.kit import Wire

TOOL_ERROR: Final = "[tool_error]"
TOOL_OK: Final = "[tool_ok]"

MARK: Final = "[tool_"
"""The beginning of every envelope: a text without it needs no further check."""


def is_enveloped(text: str) -> bool:
    """Whether a text begins like an envelope: one of a failure, or one that protects such a beginning."""
    if not text.startswith(MARK):
        return False
    while text.startswith(TOOL_OK + "\n"):
        text = text[len(TOOL_OK) + 1 :]
    return text == TOOL_ERROR or text.startswith(TOOL_ERROR + "\n")


def envelop(parts: list[Wire], kind: str, *, failed: bool) -> None:
    """Add the line that a result needs to its first text; `kind` is the type of a text part on the wire."""
    first = parts[0] if parts and parts[0].get("type") == kind and isinstance(parts[0].get("text"), str) else None
    if failed:
        line = TOOL_ERROR
    elif first is not None and is_enveloped(first["text"]):
        line = TOOL_OK
    else:
        return
    if first is None:
        parts.insert(0, {"type": kind, "text": line})
    else:
        parts[0] = {**first, "text": f"{line}\n{first['text']}"}


def open_envelope(blocks: list[dict[str, Any]]) -> bool:
    """Remove the envelope from the first text; return whether it stated a failure."""
    if not blocks or blocks[0]["type"] != "text" or not is_enveloped(blocks[0]["text"]):
        return False
    text = blocks[0]["text"]
    line, _, rest = text.partition("\n")
    if line == TOOL_ERROR and rest == "" and not text.endswith("\n"):
        if len(blocks[0]) > 2:  # the part has more than its text: it stays, with an empty text
            blocks[0] = {**blocks[0], "text": ""}
        else:
            del blocks[0]
        return True
    blocks[0] = {**blocks[0], "text": rest}
    return line == TOOL_ERROR
