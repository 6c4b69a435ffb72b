"""A stream of one wire, served to a client of another: the same words, the same calls, the same end.

The suite writes each stream back in its own wire; here every answer of the suite is written in every wire, and the frames
are also judged by rules of their wire that the adapters do not share code with.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters
from interlingua.canonical import json
from interlingua.translate import read_stream, write_stream
from interlingua.wire import sse

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
STREAMS = sorted(CASES.glob("*/*/stream.wire.*"))
SERVED = [
    pytest.param(path, adapter, id=f"{path.parent.parent.name}/{path.parent.name}-{adapter}")
    for path in STREAMS
    for adapter in adapters.names()
]


def events_of(path: Path) -> list[dict[str, Any]]:
    provider = json.loads((path.parent / "case.json").read_bytes()).get("provider")
    return list(read_stream([path.read_bytes()], path.parent.parent.name, provider=provider))


def written(path: Path, adapter: str) -> tuple[dict[str, Any], bytes, dict[str, Any]]:
    """The last event of the case, the bytes of it in the wire of `adapter`, and the last event that is read from these."""
    given = events_of(path)
    data = b"".join(write_stream(given, adapter))
    return given[-1], data, list(read_stream([data], adapter))[-1]


def words(response: dict[str, Any]) -> str:
    return "".join(block["text"] for block in response["message"]["content"] if block["type"] == "text")


def calls(response: dict[str, Any]) -> list[tuple[str, Any]]:
    """Name and arguments of each call in order; None for arguments that are no object, which some wires cannot say."""
    found = [block for block in response["message"]["content"] if block["type"] == "tool_use"]
    return [(block["name"], None if "input_raw" in block else block["input"]) for block in found]


def same_calls(one: dict[str, Any], two: dict[str, Any]) -> bool:
    before, after = calls(one), calls(two)
    return len(before) == len(after) and all(
        name == written_name and arguments in (None, written_arguments)
        for (name, arguments), (written_name, written_arguments) in zip(before, after, strict=True)
    )


@pytest.mark.share(5)
@pytest.mark.parametrize(("path", "adapter"), SERVED)
def test_an_answer_is_the_same_on_every_wire(path: Path, adapter: str) -> None:
    """litellm#15315, litellm#13638: calls stay apart, and arguments are never text."""
    end, _, last = written(path, adapter)

    failed = end["type"] == "error" or end["response"]["finish_reason"] == "error"
    assert last["type"] == end["type"] or failed, "a failed answer is an error on wires that have no word for it"
    if end["type"] == "message_complete":
        assert words(last["response"]) == words(end["response"])
        assert same_calls(end["response"], last["response"])


@pytest.mark.share(5)
@pytest.mark.parametrize(("path", "adapter"), SERVED)
def test_what_ended_badly_never_looks_like_a_good_end(path: Path, adapter: str) -> None:
    """A call that was cut, a refusal, a limit, an unknown word: whatever wire says it, a client is not told `stop`."""
    end, _, last = written(path, adapter)
    if end["type"] != "message_complete" or last["type"] != "message_complete":
        return

    before, after = end["response"]["finish_reason"], last["response"]["finish_reason"]
    if before not in ("stop", "stop_sequence"):
        assert after not in ("stop", "stop_sequence"), f"{before} became {after}"


def messages_frames(data: bytes) -> Iterator[dict[str, Any]]:
    decoder = sse.Decoder()
    for frame in [*decoder.feed(data), *decoder.end()]:
        if frame.data and frame.data != "[DONE]":
            yield json.loads(frame.data)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_messages_frames_keep_the_grammar_of_their_wire(path: Path) -> None:
    """bifrost#5638: one block at a time, each with start, deltas of its own kind and stop; a signature in its own delta."""
    kinds = {
        "text": {"text_delta", "citations_delta"},
        "thinking": {"thinking_delta", "signature_delta"},
        "tool_use": {"input_json_delta"},
        "server_tool_use": {"input_json_delta"},
    }
    _, data, _ = written(path, "anthropic_messages")
    open_block: tuple[int, str] | None = None
    following = 0
    for frame in messages_frames(data):
        match frame["type"]:
            case "content_block_start":
                assert open_block is None, "a block begins before the one before it has ended"
                assert frame["index"] == following
                open_block = (following, frame["content_block"]["type"])
                assert frame["content_block"].get("input", {}) == {} or open_block[1] not in kinds
            case "content_block_delta":
                assert open_block is not None and frame["index"] == open_block[0]
                assert frame["delta"]["type"] in kinds.get(open_block[1], {frame["delta"]["type"]})
                assert frame["delta"].get("signature") != "", "an empty signature would be replayed"
            case "content_block_stop":
                assert open_block is not None and frame["index"] == open_block[0]
                open_block, following = None, following + 1
            case "message_delta" | "message_stop":
                assert open_block is None
            case _:
                pass


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_chat_chunks_keep_the_grammar_of_their_wire(path: Path) -> None:
    """dynamo#4723: a call has its id and name once, its arguments are pieces of one JSON text, its index is its own."""
    end, data, _ = written(path, "openai_chat")
    seen: dict[int, list[str]] = {}
    ids: dict[int, str] = {}
    hosted: set[int] = set()  # what is no call to run is told among the calls, and whole
    for chunk in messages_frames(data):
        for choice in chunk.get("choices", []):
            for piece in choice.get("delta", {}).get("tool_calls") or [] if choice["index"] == 0 else []:
                index = piece["index"]
                if index not in seen:
                    assert "id" in piece and (piece.get("function") or piece.get("custom"))["name"]
                    assert index == len(seen), "indices count up from nought"
                    seen[index], ids[index] = [], piece["id"]
                    if piece["type"] not in ("function", "custom"):
                        hosted.add(index)
                assert piece.get("id", ids[index]) == ids[index]
                seen[index].append(piece.get("function", {}).get("arguments", ""))
    if path.parent.parent.name != "openai_chat":  # its own answers go out as they came
        assert len(set(ids.values())) == len(ids) and all(ids.values())
    if end["type"] == "message_complete":
        wanted = [arguments for _, arguments in calls(end["response"])]
        texts = ["".join(pieces) for index, pieces in sorted(seen.items()) if index not in hosted]
        for text, arguments in zip(texts, wanted, strict=True):
            if isinstance(arguments, dict):
                assert (json.loads(text) if text else {}) == arguments
