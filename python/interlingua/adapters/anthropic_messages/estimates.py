"""How many tokens a request takes, without the provider's tokeniser."""

from collections.abc import Iterator
from typing import Any

from interlingua.adapters._estimates import text_of
from interlingua.adapters._kit import text_length
from interlingua.canonical.endpoint import Endpoint

_LIKELY = 3.6  # characters a token, over prose, code and JSON
_IMAGE = 1500  # tokens of an image that fills the provider's largest size
_PAGE_BYTES = 60_000
_PAGE = 2200  # tokens of a PDF page, its text and its picture
_MESSAGE = 4
_TOOLS = 350  # the provider's own instructions for tools


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """How many prompt tokens a request will take, without the provider's tokeniser."""
    del endpoint  # every model of this wire counts nearly alike
    messages = request.get("messages") or []
    tools = request.get("tools") or []
    characters = text_length([request.get("system") or [], *(_said_in(message) for message in messages)])
    characters += text_length({k: v for k, v in tool.items() if k != "provider_state"} for tool in tools)
    media = sum(_medium(block) for message in messages for block in _blocks(message["content"]))
    fixed = _MESSAGE * len(messages) + (_TOOLS if tools else 0)
    likely = characters / _LIKELY
    return {
        "low": int(likely * 0.75 + media * 0.5 + fixed),
        "likely": int(likely + media + fixed),
        "high": int(likely * 1.4 + media * 1.6 + fixed) + 1,
    }


def _said_in(message: dict[str, Any]) -> list[Any]:
    return [text_of(block) for block in _blocks(message["content"])]


def _blocks(content: list[Any]) -> Iterator[dict[str, Any]]:
    for block in content:
        yield block
        match block["type"]:
            case "tool_result":
                yield from _blocks(block.get("content") or [])
            case "document":
                yield from _blocks((block.get("source") or {}).get("content") or [])
            case _:
                pass


def _medium(block: dict[str, Any]) -> int:
    match block["type"]:
        case "image":
            return _IMAGE
        case "document" if (block.get("source") or {}).get("kind") in ("base64", "url", "file_id"):
            size = len(block["source"].get("data") or "") * 3 // 4 if block["source"]["kind"] == "base64" else 0
            return _PAGE * max(1, size // _PAGE_BYTES)
        case _:
            return 0
