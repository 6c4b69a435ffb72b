"""How many tokens a request takes: counted in characters, without a network and without the vendor's tokenizer."""

from typing import Any

from interlingua.adapters._kit import text_length
from interlingua.canonical.endpoint import Endpoint

_PER_MESSAGE = 4
_PER_MEDIUM = {"image": (85, 765, 1_600), "audio": (50, 600, 4_000), "video": (300, 3_000, 30_000)}
_BYTES_PER_PAGE = 40_000
_PER_PAGE = (300, 1_500, 3_000)


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    Text of European languages has about four characters a token, JSON three, Chinese or code fewer.
    """
    characters = text_length(block["text"] for block in request.get("system") or ())
    characters += text_length(
        (tool.get("name"), tool.get("description"), tool.get("input_schema"), tool.get("definition"))
        for tool in request.get("tools") or ()
    )
    characters += text_length([(request.get("response_format") or {}).get("schema") or {}])
    low = likely = high = 3 + _PER_MESSAGE * len(request["messages"])
    for message in request["messages"]:
        for block in message["content"]:
            count, media = _block(block)
            characters += count
            low, likely, high = low + media[0], likely + media[1], high + media[2]
    return {"low": low + characters // 6, "likely": likely + characters * 10 // 38, "high": high + characters // 2}


def _block(block: dict[str, Any]) -> tuple[int, tuple[int, int, int]]:
    """Characters of text, and tokens of media."""
    match block["type"]:
        case "tool_result":
            characters, low, likely, high = 0, 0, 0, 0
            for inner in block["content"]:
                count, media = _block(inner)
                characters += count
                low, likely, high = low + media[0], likely + media[1], high + media[2]
            return characters, (low, likely, high)
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
