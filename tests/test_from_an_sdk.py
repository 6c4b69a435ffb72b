"""Each line of the tables in examples/from-an-sdk.md is what the readers do."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from interlingua import StreamReader, read_error, read_request, read_response

PAGE = (Path(__file__).resolve().parents[1] / "examples" / "from-an-sdk.md").read_text("utf-8")
WIRES = ("anthropic_messages", "openai_chat")
TOOL = {"name": "f", "input_schema": {"type": "object"}}
BASES: dict[str, dict[str, Any]] = {
    "anthropic_messages": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [TOOL],
    },
    "openai_chat": {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    },
}
CALLS = {
    "anthropic_messages": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_01", "name": "f", "input": {}}],
    },
    "openai_chat": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_01", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
}


def rows(heading: str) -> list[list[list[str]]]:
    """The rows of the table below a heading: for each cell its spans of code."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (table,) = [part for part in section if part.startswith(f"{heading}\n")]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[re.findall(r"`([^`]+)`", cell) for cell in line.strip("|").split("|")] for line in lines]


def cases(heading: str) -> list[Any]:
    """Each row of a table once for each wire that it speaks of: the wire, its JSON, and the canonical JSON."""
    found: list[Any] = []
    for cells in rows(heading):
        *sides, canonical = [[_read(span) for span in cell if span.startswith(("{", '"'))] for cell in cells]
        for at, (wire, spans) in enumerate(zip(WIRES, sides, strict=True)):
            for span in spans:
                wanted = canonical[min(at, len(canonical) - 1)]
                found.append(pytest.param(wire, span, wanted, id=f"{wire} {json.dumps(span)[:60]}"))
    assert len(found) >= 8
    return found


def _read(span: str) -> Any:
    return json.loads(span if span.startswith("{") else f"{{{span}}}")


def holds(wanted: Any, value: Any) -> bool:
    """Whether a value has all members that are wanted."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            name in value and holds(item, value[name]) for name, item in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(value, list) and len(value) == len(wanted) and all(map(holds, wanted, value))
        )  # a list is compared whole
    return wanted == value


@pytest.mark.parametrize(("wire", "given", "wanted"), cases("Requests"))
def test_members_of_a_request(wire: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A body with the member is read as the canonical request with its counterpart, and nothing is among the options."""
    request, _ = read_request({**BASES[wire], **given}, wire)

    assert holds(wanted, request), request
    assert "options" not in request


@pytest.mark.parametrize(("wire", "given", "wanted"), cases("Messages"))
def test_messages(wire: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A message of the wire is the canonical message; instructions of Anthropic are the first one."""
    body = dict(BASES[wire])
    if "role" in given:
        before = [CALLS[wire]] if "tool_result" in json.dumps(given) or given["role"] == "tool" else []
        body["messages"] = [*body["messages"], *before, given]
    else:
        body.update(given)
    messages = read_request(body, wire)[0]["messages"]

    assert holds(wanted, messages[-1 if "role" in given else 0]), messages


@pytest.mark.parametrize(("wire", "given", "wanted"), cases("Answers"))
def test_answers(wire: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    """A member of a response, or of its only choice, is the member of the canonical response."""
    body: dict[str, Any] = {"id": "a", "model": "m"}
    if wire == "openai_chat":
        choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
        body |= {"choices": [choice | given if "finish_reason" in given else choice]}
        body |= {} if "finish_reason" in given else given
    else:
        body |= {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
        body |= {"stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}} | given
    response, _ = read_response(body, wire)

    assert holds(wanted, response), response


def _frame(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _chunk(delta: dict[str, Any], **members: Any) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": None}]
    return f"data: {json.dumps({'id': 'a', 'model': 'm', 'choices': choices, **members})}\n\n".encode()


BLOCKS = {
    "text_delta": ({"type": "text", "text": ""}, {"text": "Hi"}),
    "thinking_delta": ({"type": "thinking", "thinking": "", "signature": ""}, {"thinking": "Hm."}),
    "input_json_delta": ({"type": "tool_use", "id": "toolu_01", "name": "f", "input": {}}, {"partial_json": "{}"}),
}
MESSAGE = {"id": "a", "type": "message", "role": "assistant", "model": "m", "content": []}
START = _frame({"type": "message_start", "message": {**MESSAGE, "usage": {"input_tokens": 1, "output_tokens": 1}}})
OPENAI = {
    "delta.content": {"content": "Hi"},
    "delta.reasoning_content": {"reasoning_content": "Hm."},
    "delta.tool_calls[].function.arguments": {
        "tool_calls": [{"index": 0, "id": "call_01", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    },
}


def _types(reader: StreamReader, chunk: bytes) -> list[str]:
    return [event["type"] for event in reader.feed(chunk)]


def _of_anthropic() -> dict[str, set[str]]:
    """The types of events that each frame becomes, with the kind of its delta as its second word."""
    seen: dict[str, set[str]] = {}
    for kind, (block, delta) in BLOCKS.items():
        reader = StreamReader("anthropic_messages")
        frames = {
            "message_start": START,
            "content_block_start": _frame({"type": "content_block_start", "index": 0, "content_block": block}),
            f"content_block_delta {kind}": _frame(
                {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **delta}}
            ),
            "content_block_stop": _frame({"type": "content_block_stop", "index": 0}),
            "message_delta": _frame(
                {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}
            ),
            "message_stop": _frame({"type": "message_stop"}),
        }
        for name, frame in frames.items():
            seen.setdefault(name, set()).update(_types(reader, frame))
    failing = StreamReader("anthropic_messages")
    failing.feed(START)
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    return {**seen, "error": set(_types(failing, _frame(error)))}


def test_events_of_streams() -> None:
    """Each frame becomes the events that its line names."""
    anthropic = _of_anthropic()
    lines = rows("Streams")
    for ours, theirs, events in lines:
        assert anthropic.pop(" ".join(ours)) == set(events) - {"response"}, ours
        for name in theirs:
            if name in OPENAI:
                reader = StreamReader("openai_chat", provider="deepseek")
                assert set(events) <= set(_types(reader, _chunk(OPENAI[name]))), name
    assert not anthropic

    reader = StreamReader("openai_chat")
    assert _types(reader, _chunk({"role": "assistant", "content": ""}))[0] == "message_start"
    _types(reader, _chunk({"content": "Hi"}))
    _types(reader, _chunk({}, choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]))
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert "usage_update" in _types(reader, _chunk({}, choices=[], usage=usage))
    assert _types(reader, b"data: [DONE]\n\n")[-1] == "message_complete"
    failing = StreamReader("openai_chat")
    failing.feed(_chunk({"content": "Hi"}))
    assert _types(failing, b'data: {"error": {"message": "busy", "type": "server_error"}}\n\n')[-1] == "error"


@pytest.mark.parametrize("wire", WIRES)
def test_errors(wire: str) -> None:
    """A status is the category of its line, on both wires."""
    lines = re.findall(r"^\| (\d+) \| `\w+` \| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert len(lines) == 8
    for status, category in lines:
        assert read_error(int(status), {}, b"", wire)["category"] == category, status
