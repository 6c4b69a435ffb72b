"""
Streams as values: events folded into the response, and two narrower views of the same events (spec/4-streams.md).

`fold` builds the response from the parts and not from the last event. So a test that a stream equals its unary response
is not a tautology.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from interlingua.canonical.errors import ProviderError, StreamTruncated

Event = dict[str, Any]
Response = dict[str, Any]

SEED_EVENTS: Final = frozenset(
    (
        "text_delta",
        "tool_use_start",
        "tool_use_input_delta",
        "tool_use_end",
        "thinking_delta",
        "message_complete",
        "usage_update",
        "error",
    )
)
"""The eight event types of seed 004; the others are additions."""


def fold(events: Iterable[Event]) -> Response:
    """Fold the events of one stream into the response.

    The content comes from block events and deltas, everything else from `message_complete`.
    Raises `StreamTruncated` with what had arrived when the stream breaks off, `ProviderError` when the provider failed.
    """
    blocks: dict[int, Event] = {}
    for event in events:
        if event.get("choice"):
            continue
        match event["type"]:
            case "block_start":
                blocks[event["index"]] = dict(event["block"])
            case "text_delta" | "thinking_delta":
                blocks[event["index"]]["text"] = blocks[event["index"]].get("text", "") + event["text"]
            case "tool_use_end":
                blocks[event["index"]]["input"] = event["input"]
            case "block_stop":
                blocks[event["index"]] = _settled(blocks[event["index"]], event["block"])
            case "message_complete":
                response: Response = event["response"]
                message = response["message"] | {"content": _content(blocks, event.get("places"))}
                return response | {"message": message}
            case "error":
                raise _failure(event)
            case _:
                pass  # events of later versions are skipped
    raise StreamTruncated(
        {
            "category": "stream_truncated",
            "message": "the events end without message_complete; call again",
            "retryable": True,
        },
        None,
    )


def _content(blocks: dict[int, Event], places: list[int] | None) -> list[Event]:
    """Return the blocks in their order; a block that came in pieces is one block."""
    if places is None:
        return [blocks[index] for index in sorted(blocks)]
    content: dict[int, Event] = {}
    for index in sorted(blocks):
        place, block = places[index], blocks[index]
        before = content.get(place)
        content[place] = block if before is None else {**before, **block, "text": before["text"] + block["text"]}
    return [content[place] for place in sorted(content)]


def _settled(grown: Event, final: Event) -> Event:
    # block_stop is authoritative for everything except the text of the deltas, which must already agree
    streamed = {key: grown[key] for key in ("text",) if key in grown and final.get("type") in ("text", "thinking")}
    return {**final, **streamed}


def _failure(event: Event) -> ProviderError:
    error, response = event["error"], event.get("response")
    if error["category"] == "stream_truncated" or response is not None:
        return StreamTruncated(error, response)
    return ProviderError(error)


def buffered(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the coarse view of seed 000: text as it arrives, tool calls only when they are whole, the response last.

    No event of this view holds a fragment of JSON.
    """
    for event in events:
        if event["type"] in ("text_delta", "tool_use_end", "message_complete", "error"):
            yield event


def strict_004(events: Iterable[Event]) -> Iterator[Event]:
    """Yield only the events of the eight types of seed 004."""
    for event in events:
        if event["type"] in SEED_EVENTS:
            yield event
