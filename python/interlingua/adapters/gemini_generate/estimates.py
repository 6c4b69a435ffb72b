"""How many tokens a request takes, without the provider's tokeniser."""

from collections.abc import Iterator
from typing import Any

from interlingua.adapters._estimates import text_of
from interlingua.adapters._kit import text_length
from interlingua.canonical.endpoint import Endpoint

_LIKELY = 4.6  # characters a token, over prose, code and JSON
_SCHEMA = 3.0  # characters a token of the definitions of tools
_FUNCTION = 12  # tokens around a function
_CALL = 12  # tokens around a call or a result
_SIGNATURE = 12.0  # characters a token: a signature stands for thoughts, which are sometimes counted
_IMAGE = (
    258,
    560,
    1806,
)  # least, likely and most tokens of an image: one tile, the default of later models, many tiles
_PAGE_BYTES = 60_000
_PAGE = 400  # tokens of a PDF page
_AUDIO_BYTES = 16_000  # of a second
_AUDIO = 32  # tokens of a second
_VIDEO_BYTES = 250_000  # of a second
_VIDEO = 280  # tokens of a second
_MESSAGE = 1.3


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """How many prompt tokens a request will take, without the provider's tokeniser."""
    del endpoint  # every model of this wire counts nearly alike
    messages = request.get("messages") or []
    tools = request.get("tools") or []
    characters = text_length([request.get("system") or [], *(_said_in(message) for message in messages)])
    defined = text_length({k: v for k, v in tool.items() if k != "provider_state"} for tool in tools)
    signed, calls = 0, 0
    for message in messages:
        for block in message["content"]:
            calls += block["type"] in ("tool_use", "tool_result")
            state = block.get("provider_state") or {}
            signed += len(block.get("signature") or state.get("signature") or "")
    low, likely, high = (sum(each) for each in zip(*_media(messages), strict=True))
    around = _MESSAGE * len(messages) + _FUNCTION * len(tools) + _CALL * calls
    tokens = characters / _LIKELY + defined / _SCHEMA + around
    return {
        "low": int(tokens * 0.5 + low),
        "likely": int(tokens + signed / _SIGNATURE + likely) + 1,
        "high": int(tokens * 2 + signed / 3 + high) + 10,
    }


def _media(messages: list[dict[str, Any]]) -> Iterator[tuple[float, float, float]]:
    yield 0, 0, 0
    for message in messages:
        for block in _blocks(message["content"]):
            yield _medium(block)


def _said_in(message: dict[str, Any]) -> list[Any]:
    return [text_of(block) for block in _blocks(message["content"])]


def _blocks(content: list[Any]) -> Iterator[dict[str, Any]]:
    for block in content:
        yield block
        if block["type"] == "tool_result":
            yield from _blocks(block.get("content") or [])


def _medium(block: dict[str, Any]) -> tuple[float, float, float]:
    source = block.get("source") or {}
    size = len(source.get("data") or "") * 3 // 4 if source.get("kind") == "base64" else 0
    match block["type"]:
        case "image":
            return _IMAGE
        case "audio":
            seconds = max(1, size / _AUDIO_BYTES)
            return _AUDIO * seconds / 12, _AUDIO * seconds, _AUDIO * seconds * 12
        case "video":
            seconds = max(1, size / _VIDEO_BYTES)
            return _VIDEO * seconds / 8, _VIDEO * seconds, _VIDEO * seconds * 8
        case "document" if source.get("kind") != "text":
            pages = max(1, size / _PAGE_BYTES)
            return 258, _PAGE * pages, 1200 * pages * 5
        case _:
            return 0, 0, 0
