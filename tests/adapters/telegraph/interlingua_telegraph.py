"""
A whole adapter outside of the package: the wire of a telegraph office, which nobody speaks.

Wire: `POST /telegraph` with `{"model", "lines": [{"from": role, "words": [text]}]}`; an answer is `{"words", "end"}`; a
stream is JSON lines `{"word"}`, the last one `{"end"}`. It carries words and says of everything else that it is lost.
"""

from collections.abc import Generator, Mapping
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path
from interlingua.wire.sse import Frame

NAME = "telegraph"
FRAMING = "jsonl"

Data = dict[str, Any]

_CARRIED = frozenset(("model", "messages", "system", "stream", "loss_policy"))
_ENVELOPE = frozenset(
    ("id", "session_id", "created_at", "schema_version", "metadata", "priority", "critical", "extra", "role", "content")
)
_ROLES = ("system", "developer", "user", "assistant", "tool")
_ENDS = {"over": "stop", "paper": "length"}


def to_wire(request: Data, endpoint: Endpoint) -> tuple[Data, list[Entry]]:
    """Words go, everything else is reported."""
    loss = Loss(request.get("loss_policy"))
    model = endpoint.model or (request.get("model") or "").partition(":")[2]
    lines: list[Data] = []
    if request.get("system"):
        lines.append({"from": "system", "words": _words(request["system"], ("system",), loss)})
    for position, message in enumerate(request["messages"]):
        path: Path = ("messages", position)
        lines.append({"from": message["role"], "words": _words(message["content"], (*path, "content"), loss)})
        _drop_members(message, _ENVELOPE, path, loss)
    _drop_members(request, _CARRIED, (), loss)
    return {
        "method": "POST",
        "path": "/telegraph",
        "headers": {},
        "body": {"model": model, "lines": lines},
    }, loss.entries


def _words(blocks: list[Data], path: Path, loss: Loss) -> list[str]:
    words: list[str] = []
    for index, block in enumerate(blocks):
        where = (*path, index)
        if block["type"] == "text":
            words.append(block["text"])
            _drop_members(block, frozenset(("type", "text", "critical")), where, loss)
        elif (left := loss.block(where, block, "unsupported_block", "lost", "a telegraph carries words")) is not None:
            words.append(left["text"])
    return words


def _drop_members(item: Mapping[str, Any], known: frozenset[str], path: Path, loss: Loss) -> None:
    for name in item.keys() - known:
        loss.drop((*path, name), "unsupported_field", "weakened", "a telegraph carries words")


def from_wire_request(wire: Data, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> tuple[Data, list[Entry]]:
    """Reads a telegram. Raises `InvalidWire`."""
    body = wire.get("body")
    lines = body.get("lines") if isinstance(body, dict) else None
    if not isinstance(lines, list):
        raise InvalidWire("a telegram needs lines", path="/body/lines", adapter=NAME)
    messages: list[Data] = []
    for number, line in enumerate(lines):
        if not isinstance(line, dict) or line.get("from") not in _ROLES or not _are_words(line.get("words")):
            raise InvalidWire("a line says from whom and which words", path=f"/body/lines/{number}", adapter=NAME)
        messages.append({"role": line["from"], "content": _texts(line["words"])})
    request: Data = {"messages": messages, "provider_state": endpoint.state()}
    if isinstance(model := wire["body"].get("model"), str) and model:
        request["model"] = endpoint.model_id(model)
    return request, []


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _texts(words: list[str]) -> list[Data]:
    return [{"type": "text", "text": word} for word in words]


def from_wire_response(body: Data, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> tuple[Data, list[Entry]]:
    """Reads an answer. Raises `InvalidAnswer`."""
    if not isinstance(body, dict) or not _are_words(body.get("words")):
        raise InvalidAnswer("an answer needs words", path="/words", adapter=NAME)
    return _response(body["words"], body.get("end")), []


def _response(words: list[str], end: Any) -> Data:
    reason = _ENDS.get(end, "other") if isinstance(end, str) else "other"
    response: Data = {"message": {"role": "assistant", "content": _texts(words)}, "finish_reason": reason}
    return response if not isinstance(end, str) else {**response, "finish_reason_raw": end}


def to_wire_response(response: Data, endpoint: Endpoint) -> tuple[Data, list[Entry]]:
    """The answer in words."""
    loss = Loss()
    words = _words(response["message"]["content"], ("message", "content"), loss)
    end = _end(response)
    if (read := _response(words, end)["finish_reason"]) != response["finish_reason"]:
        loss.replace(("finish_reason",), read, "unsupported_value", "weakened", "a telegraph has two ends")
    _drop_members(response["message"], _ENVELOPE, ("message",), loss)
    _drop_members(response, _AROUND, (), loss)
    return {"words": words, "end": end}, loss.entries


_AROUND = frozenset(
    (
        "message",
        "finish_reason",
        "finish_reason_raw",
        "id",
        "model",
        "requested_model",
        "loss",
        "skipped",
        "attempts",
        "raw",
    )
)


def _end(response: Data) -> str:
    return next((word for word, reason in _ENDS.items() if reason == response["finish_reason"]), "torn")


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Data], Frame | None, None]:
    """Each line is a word of its own, the last one the end."""
    words: list[str] = []
    frame = yield []
    events: list[Data] = [{"type": "message_start"}]
    while frame is not None:
        try:
            line = json.loads(frame.data)
        except InvalidRequest:
            line = None
        if not isinstance(line, dict):
            break
        if isinstance(line.get("end"), str):
            yield [*events, {"type": "message_complete", "response": _response(words, line["end"])}]
            return
        if isinstance(word := line.get("word"), str):
            index, block = len(words), {"type": "text", "text": word}
            events += [
                {"type": "block_start", "index": index, "block": {**block, "text": ""}},
                {"type": "text_delta", "index": index, "text": word},
                {"type": "block_stop", "index": index, "block": block},
            ]
            words.append(word)
        frame = yield events
        events = []
    error = {"category": "stream_truncated", "message": "the line went dead", "retryable": True, "adapter": NAME}
    message = {"role": "assistant", "content": _texts(words), "metadata": {"status": "error"}}
    yield [{"type": "error", "error": error, "response": {"message": message, "finish_reason": "error"}}]


def stream_encoder(endpoint: Endpoint) -> Generator[list[Frame], Data | None, None]:
    """Each text is a line of its own."""
    event = yield []
    while event is not None:
        lines: list[Data] = []
        match event["type"]:
            case _ if event.get("choice"):
                pass  # one answer goes over the line
            case "block_stop" if event["block"]["type"] == "text":
                lines.append({"word": event["block"]["text"]})
            case "message_complete":
                lines.append({"end": _end(event["response"])})
            case _:
                pass
        event = yield [Frame(None, json.dumps(line).decode()) for line in lines]


def error(status: int, headers: Mapping[str, str], body: bytes | str | None, endpoint: Endpoint) -> Data:
    """The office says nothing but a number."""
    category = "server_error" if status >= 500 else "invalid_request"
    message = "the office did not take the telegram"
    return {"category": category, "message": message, "retryable": status >= 500, "status": status, "adapter": NAME}


def estimate(request: Data, endpoint: Endpoint) -> dict[str, int]:
    """By the word."""
    wire, _ = to_wire(request, endpoint)
    count = sum(len(word.split()) + 1 for line in wire["body"]["lines"] for word in line["words"])
    return {"low": count, "likely": count * 4 // 3, "high": count * 4}
