"""How many tokens a request takes, without the model's tokeniser."""

from collections.abc import Iterator
from typing import Any

from interlingua.adapters._kit import text_length
from interlingua.canonical.endpoint import Endpoint

Range = tuple[int, int, int]

_LIKELY = 3.8  # characters a token, over prose, code and JSON
_MESSAGE = 4
# what the models add by themselves, low, likely and high: to every prompt, and for what is asked of them
_PROMPT: Range = (0, 8, 60)
_TOOLS: Range = (150, 520, 950)
_PROVIDER_TOOLS: Range = (50, 300, 1500)
_CITED: Range = (0, 600, 1400)
_FORMAT: Range = (0, 140, 300)
_REASONING: Range = (0, 30, 150)
# tokens of a picture, a film, and of a page of a document with its picture
_IMAGE: Range = (30, 600, 1800)
_VIDEO: Range = (500, 3000, 30_000)
_PAGE: Range = (40, 1600, 3500)
_PAGE_BYTES = 20_000


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """How many prompt tokens a request will take, without the model's tokeniser.

    The models behind this wire add up to a thousand tokens of their own for tools, and none tells how many; the
    dialect says it of those that were measured.
    """
    messages = request.get("messages") or []
    tools = request.get("tools") or []
    characters = text_length([request.get("system") or [], *(_said_in(message) for message in messages)])
    characters += text_length({k: v for k, v in tool.items() if k != "provider_state"} for tool in tools)
    extras = [_measured(endpoint, "prompt_overhead", _PROMPT)]
    if tools:
        provided = all(tool.get("kind") == "provider" for tool in tools)
        extras.append(_PROVIDER_TOOLS if provided else _measured(endpoint, "tools_overhead", _TOOLS))
    if "response_format" in request:
        characters += text_length([request["response_format"]])
        extras.append(_FORMAT)
    if "reasoning" in request or "options" in request:
        extras.append(_REASONING)
    blocks = [block for message in messages for block in _blocks(message["content"])]
    if any(_is_cited(block) for block in blocks):
        extras.append(_CITED)
    extras += [size for block in blocks if (size := _medium(block))]
    low, likely, high = (sum(extra[at] for extra in extras) for at in range(3))
    text, turns = characters / _LIKELY, _MESSAGE * len(messages)
    return {
        "low": int(text * 0.65 + low),
        "likely": int(text + turns + likely),
        "high": int(text * 1.6 + turns * 2 + high) + 1,
    }


def _measured(endpoint: Endpoint, switch: str, unknown: Range) -> Range:
    count = endpoint.dialect.get(switch)
    return unknown if count is None else (min(unknown[0], count), count, max(unknown[2], count))


def _said_in(message: dict[str, Any]) -> list[Any]:
    return [_text(block) for block in _blocks(message["content"])]


def _text(block: dict[str, Any]) -> Any:
    match block["type"]:
        case "text" | "thinking":
            return block.get("text", "")
        case "tool_use":
            return [block.get("name", ""), block.get("input") or block.get("input_raw") or ""]
        case "document":
            source = block.get("source") or {}
            text = source.get("data") or "" if source.get("kind") == "text" else ""
            if _is_text(block):
                text = "x" * (len(source.get("data") or "") * 3 // 4)
            return [block.get("name") or block.get("title") or "", block.get("context", ""), [text]]
        case "opaque":
            return block.get("value", "")
        case _:
            return ""


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


def _is_text(block: dict[str, Any]) -> bool:
    """Whether a document is a text that travels as bytes."""
    source = block.get("source") or {}
    return source.get("kind") == "base64" and (block.get("media_type") or "").startswith("text/")


def _is_cited(block: dict[str, Any]) -> bool:
    match block["type"]:
        case "document":
            return bool(block.get("citations_enabled"))
        case "opaque":
            return "searchResult" in (block.get("value") or ())
        case _:
            return False


def _medium(block: dict[str, Any]) -> Range | None:
    match block["type"]:
        case "image":
            return _IMAGE
        case "video":
            return _VIDEO
        case "document" if not _is_text(block) and block["source"]["kind"] in ("base64", "url", "file_id"):
            size = len(block["source"].get("data") or "") * 3 // 4 if block["source"]["kind"] == "base64" else 0
            pages = max(1, size // _PAGE_BYTES)
            return (_PAGE[0] * pages, _PAGE[1] * pages, _PAGE[2] * pages)
        case _:
            return None
