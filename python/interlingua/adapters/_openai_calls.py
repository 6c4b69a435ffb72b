"""What a model of OpenAI writes to call a tool: a text that should be a JSON object, or free text; on both wires alike."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _free_text as free_text
from interlingua.adapters._kit import arguments_text, keep_spelling, parse_arguments
from interlingua.canonical.loss import Loss, Path

Block = dict[str, Any]

NO_ARGUMENTS: Final = ("", "null")
"""What models write for a call without arguments."""


def custom_input(block: Block, path: Path, loss: Loss) -> str:
    """The text of a free-text call."""
    if block["input"]:
        message = "a free-text call has no arguments beside its text"
        loss.replace((*path, "input"), {}, "unsupported_value", "lost", message)
    if block.get("input_raw") is None:
        loss.replace((*path, "input_raw"), "", "required_default", "representation", "the wire demands a text")
        return ""
    return block["input_raw"]


def arguments_to_wire(block: Block, encoding: Mapping[str, Any], path: Path, loss: Loss) -> str:
    """The argument text of a call: what could not be read, the text that it had while it still fits, else our own."""
    raw: str | None = block.get("input_raw")
    if block.get("kind") == "custom":
        written = arguments_text(free_text.call_as_arguments(raw, loss, path))
    elif raw is not None:
        _report_raw(block, raw, path, loss)
        return raw
    else:
        written = arguments_text(block["input"])
    text = encoding.get("arguments")
    return text if text is not None and _same(text, written) else written


def _same(text: str, written: str) -> bool:
    """Whether a kept spelling still says what the call says; the conversation may have been edited."""
    if text.strip() in NO_ARGUMENTS:
        return written == "{}"
    parsed = parse_arguments(text)
    return parsed is not None and arguments_text(parsed) == written


def _report_raw(block: Block, raw: str, path: Path, loss: Loss) -> None:
    parsed = {} if raw.strip() in NO_ARGUMENTS else parse_arguments(raw)
    message = "the argument text is what the model sees"
    if parsed is not None:
        loss.drop((*path, "input_raw"), "arguments_invalid", "representation", message)
    if block["input"] != (parsed or {}):
        loss.replace((*path, "input"), parsed or {}, "arguments_invalid", "representation", message)


def read_arguments(text: str, block: Block, state: dict[str, Any]) -> None:
    """Reads an argument text into `input`, parsed once; keeps a text that we would not write so, or that is no object.

    `state` is the provider state of the call.
    """
    value = parse_arguments(text)
    block["input"] = value or {}
    if value is not None:
        if arguments_text(value) != text:
            keep_spelling(state, "arguments", text)
    elif text.strip() in NO_ARGUMENTS:
        keep_spelling(state, "arguments", text)
    else:
        block["input_raw"] = text
