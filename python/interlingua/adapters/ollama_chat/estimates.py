"""How many tokens a request takes: counted in characters, without a network and without the model's tokenizer."""

from typing import Any

from interlingua.adapters._kit import arguments_text, text_length
from interlingua.canonical.endpoint import Endpoint

_PER_MESSAGE = (2, 5, 10)
_PER_IMAGE = (64, 600, 4_100)
_FOR_TOOLS = (20, 85, 400)
"""The template explains the tools to the model; how, is a matter of the model."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    Models differ in tokenizer and template, so the range is wider than that of a provider with one of each.
    Reasoning of earlier turns is left out by some templates, so it does not count for the least.
    """
    messages = request["messages"]
    said = text_length(block["text"] for block in request.get("system") or ())
    thought = images = 0
    for message in messages:
        for block in message["content"]:
            if block["type"] == "thinking":
                thought += text_length([block["text"]])
            else:
                count, pictures = _block(block)
                said, images = said + count, images + pictures
    tools = request.get("tools") or ()
    offered = sum(
        len(arguments_text([tool["name"], tool.get("description"), tool.get("input_schema")])) for tool in tools
    )
    low, likely, high = (
        4 + message * len(messages) + image * images + (template if tools else 0)
        for message, image, template in zip(_PER_MESSAGE, _PER_IMAGE, _FOR_TOOLS, strict=True)
    )
    return {
        "low": low + said // 6 + offered // 8,
        "likely": likely + (said + thought + offered) * 10 // 42,
        "high": high + (said + thought + offered) // 2,
    }


def _block(block: dict[str, Any]) -> tuple[int, int]:
    """Characters of text, and images."""
    match block["type"]:
        case "tool_result":
            counts = [_block(inner) for inner in block["content"]]
            return sum(count for count, _ in counts), sum(images for _, images in counts)
        case "image":
            return 0, 1
        case "text":
            return text_length([block["text"]]), 0
        case "tool_use":
            return text_length([block["name"], block["input"], block.get("input_raw") or ""]), 0
        case _:
            return 0, 0
