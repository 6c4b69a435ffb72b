"""Blocks: the arguments of calls that are no object."""

from typing import Any, Final

from interlingua.adapters._claude.values import Item
from interlingua.adapters._kit import arguments_text
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Loss, Path


def raw_arguments(value: Any) -> str:
    """What `input_raw` says of arguments that are no object: the JSON of the value, or the text that is no JSON itself."""
    return value if type(value) is str and _spelt(value) is NOT_SPELT else arguments_text(value)


def spelt_arguments(text: str, own: bool) -> Any:
    """The value that `input_raw` was read from; `NOT_SPELT` when it is an object, or text that another wire broke off."""
    value = _spelt(text)
    if type(value) is dict:
        return NOT_SPELT
    return text if value is NOT_SPELT and own else value


def _spelt(text: str) -> Any:
    try:
        value = json.loads(text)
    except InvalidRequest:
        return NOT_SPELT
    return value if arguments_text(value) == text else NOT_SPELT


NOT_SPELT: Final = object()
"""Stands for: no JSON value is spelt so."""


def free_text_call(block: Item, loss: Loss, path: Path) -> Item:
    """The arguments of a call to such a tool."""
    arguments = {"input": block.get("input_raw", "")}
    message = "a free-text call travels as a call with one text argument"
    loss.replace((*path, "input"), arguments, "custom_tool", "shape", message)
    loss.drop((*path, "kind"), "custom_tool", "shape", message)
    if "input_raw" in block:
        loss.drop((*path, "input_raw"), "custom_tool", "shape", message)
    return arguments
