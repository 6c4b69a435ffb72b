"""
The envelope of a failed result, for wires whose results have no mark of failure.

The failure is told in the first line of the text. A result of none that begins so itself is guarded by another line, so
both are read back as they were (spec/adapters/openai_chat.md#envelope).
"""

from typing import Any, Final

from interlingua.adapters._engine.kit import Wire

TOOL_ERROR: Final = "[tool_error]"
TOOL_OK: Final = "[tool_ok]"

MARK: Final = "[tool_"
"""How every envelope begins: a text that begins otherwise needs no second look."""


def is_enveloped(text: str) -> bool:
    """Whether a text begins like an envelope, be it one of a failure or one that guards such a beginning."""
    if not text.startswith(MARK):
        return False
    while text.startswith(TOOL_OK + "\n"):
        text = text[len(TOOL_OK) + 1 :]
    return text == TOOL_ERROR or text.startswith(TOOL_ERROR + "\n")


def envelop(parts: list[Wire], kind: str, *, failed: bool) -> None:
    """Writes the line that a result needs into its first text; `kind` is the type of a text part on the wire."""
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
    """Takes the envelope off the first text. Whether it told of a failure."""
    if not blocks or blocks[0]["type"] != "text" or not is_enveloped(blocks[0]["text"]):
        return False
    text = blocks[0]["text"]
    line, _, rest = text.partition("\n")
    if line == TOOL_ERROR and rest == "" and not text.endswith("\n"):
        if len(blocks[0]) > 2:  # the part has more than its text: it stays, without any
            blocks[0] = {**blocks[0], "text": ""}
        else:
            del blocks[0]
        return True
    blocks[0] = {**blocks[0], "text": rest}
    return line == TOOL_ERROR
