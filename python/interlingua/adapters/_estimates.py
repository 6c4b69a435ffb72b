"""How many tokens a request takes: counted in characters, without a network and without the vendor's tokenizer."""

from typing import Any

from interlingua.adapters._kit import text_length
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint

_PER_MESSAGE = 4
_PER_TOOL = (4, 8, 24)
_WITH_TOOLS = (0, 8, 400)
"""What a provider writes around the tools: a line at OpenAI, a page of instructions at others."""
_PER_MEDIUM = {"image": (85, 765, 1_600), "audio": (50, 600, 4_000), "video": (300, 3_000, 30_000)}
_BYTES_PER_PAGE = 40_000
_PER_PAGE = (300, 1_500, 3_000)

Counts = tuple[int, int, int]


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    Text of European languages has about four characters a token, JSON three and a half, Chinese fewer.
    """
    characters = sum(len(block["text"]) for block in request.get("system") or ())
    media: Counts = (0, 0, 0)
    for message in request["messages"]:
        for block in message["content"]:
            count, tokens = _block(block)
            characters += count
            media = _sum(media, tokens)
    structure = len(json.dumps((request.get("response_format") or {}).get("schema") or {})) - 2
    tools = request.get("tools") or ()
    for tool in tools:
        said = {name: tool[name] for name in ("name", "description", "input_schema", "definition") if tool.get(name)}
        structure += len(json.dumps(said))
        media = _sum(media, _PER_TOOL)
    if tools:
        media = _sum(media, _WITH_TOOLS)
    around = 3 + _PER_MESSAGE * len(request["messages"])
    return {
        "low": around // 2 + characters // 6 + structure // 10 + media[0],
        "likely": around + characters * 10 // 42 + structure // 6 + media[1],
        "high": around * 2 + characters // 2 + structure // 2 + media[2],
    }


def _sum(left: Counts, right: Counts) -> Counts:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _block(block: dict[str, Any]) -> tuple[int, Counts]:
    """Characters of text, and tokens of media."""
    match block["type"]:
        case "tool_result":
            characters, media = 0, (0, 0, 0)
            for inner in block["content"]:
                count, tokens = _block(inner)
                characters += count
                media = _sum(media, tokens)
            return characters, media
        case "image" | "audio" | "video":
            return 0, _PER_MEDIUM[block["type"]]
        case "document":
            pages = max(len(block["source"].get("data") or "") // _BYTES_PER_PAGE, 1)
            return 0, (_PER_PAGE[0] * pages, _PER_PAGE[1] * pages, _PER_PAGE[2] * pages)
        case "thinking" | "redacted_thinking" | "opaque":
            # not replayed by most; where it is, it counts like text
            return text_length([block.get("text") or ""]), (0, 0, 0)
        case _:
            said = (value for name, value in block.items() if name in ("text", "name", "input", "input_raw"))
            return text_length(said), (0, 0, 0)


def text_of(block: dict[str, Any]) -> Any:
    """What a block says, as plain data whose characters are counted; media say nothing."""
    match block["type"]:
        case "text" | "thinking":
            return block.get("text", "")
        case "tool_use":
            return [block.get("name", ""), block.get("input") or block.get("input_raw") or ""]
        case "document":
            source = block.get("source") or {}
            text = source.get("data", "") if source.get("kind") == "text" else ""
            return [block.get("title", ""), block.get("context", ""), [text]]
        case "opaque":
            return block.get("value", "")
        case _:
            return ""
