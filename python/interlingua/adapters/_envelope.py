"""
The envelope of a failed result, for wires whose results have no mark of failure.

The failure is told in the first line of the text. A result of none that begins so itself is guarded by another line, so
both are read back as they were (spec/adapters/openai_chat.md#envelope).
"""

from typing import Any, Final

from interlingua.adapters._kit import Wire

TOOL_ERROR: Final = "[tool_error]"
TOOL_OK: Final = "[tool_ok]"

MARK: Final = "[tool_"
"""How every envelope begins: a text that begins otherwise needs no second look."""


def is_enveloped(text: str) -> bool:
    """Whether a text begins like an envelope, be it one of a failure or one that guards such a beginning."""
    while text.startswith(TOOL_OK + "\n"):
        text = text[len(TOOL_OK) + 1 :]
    return text == TOOL_ERROR or text.startswith(TOOL_ERROR + "\n")


def envelop(parts: list[Wire], kind: str, *, failed: bool, spelling: Any = None) -> None:
    """Writes the line that a result needs into its first text; `kind` is the type of a text part on the wire.

    `spelling` is how a result that was read here had it: as a `part` of its own, or `bare` in a part without other words.
    """
    first = parts[0] if parts and parts[0].get("type") == kind and isinstance(parts[0].get("text"), str) else None
    if failed:
        line = TOOL_ERROR
    elif first is not None and is_enveloped(first["text"]):
        line = TOOL_OK
    else:
        return
    if first is None or spelling == "part":
        parts.insert(0, {"type": kind, "text": line})
    else:
        text = first["text"]
        parts[0] = {**first, "text": line if spelling == "bare" and not text and len(first) > 2 else f"{line}\n{text}"}


def open_envelope(blocks: list[dict[str, Any]], encoding: dict[str, Any]) -> bool:
    """Takes the envelope off the first text; notes how it was spelt. Whether it told of a failure."""
    if not blocks or blocks[0]["type"] != "text" or not is_enveloped(blocks[0]["text"]):
        return False
    text = blocks[0]["text"]
    line, _, rest = text.partition("\n")
    if line == TOOL_ERROR and rest == "" and not text.endswith("\n"):
        if len(blocks[0]) > 2:  # the part has more than its text: it stays, without any
            blocks[0] = {**blocks[0], "text": ""}
            encoding["envelope"] = "bare"
            return True
        del blocks[0]
        if blocks and blocks[0]["type"] == "text":
            encoding["envelope"] = "part"
        return True
    blocks[0] = {**blocks[0], "text": rest}
    return line == TOOL_ERROR
