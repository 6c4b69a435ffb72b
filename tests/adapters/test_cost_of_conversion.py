"""What it costs to write a long conversation (R-020), in what does not depend on the machine: calls and memory.

`make bench` measures the time against budgets of its own. The figures here were 64 to 73 calls and 280 to 680 bytes for
each message.
"""

import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from interlingua import adapt, translate

_CALLS, _BYTES, _GROWTH = 90, 900, 1.2
"""The budget of a message; and how much more it may be in a conversation of ten times the length."""


def _conversation(messages: int) -> dict[str, Any]:
    """Rounds of a question, a call, its result and an answer."""
    found: list[dict[str, Any]] = []
    for number in range(messages // 4):
        call = f"tu_{number:026d}"
        arguments = {"at": [number, {"deep": [1, 2, 3]}]}
        result = {"type": "tool_result", "tool_use_id": call, "content": [_text("result", number)], "is_error": False}
        found += [
            {"role": "user", "content": [_text("question", number)]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "look", "input": arguments}]},
            {"role": "tool", "content": [result]},
            {"role": "assistant", "content": [_text("answer", number)]},
        ]
    tool = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}, "side_effects": "read"}
    return translate.load({"messages": found, "tools": [tool], "max_output_tokens": 100})


def _text(word: str, number: int) -> dict[str, str]:
    return {"type": "text", "text": " ".join([word, str(number)] * 30)}


def _write(request: dict[str, Any], adapter: str) -> Any:
    return adapt(request, adapter).wire["body"]


def _calls(request: dict[str, Any], adapter: str) -> int:
    """How many functions are called; those of compiled modules are not seen."""
    count = 0

    def called(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        _write(request, adapter)
    finally:
        sys.setprofile(before)
    return count


def _bytes(request: dict[str, Any], adapter: str) -> int:
    """The most memory that is taken beside the request."""
    tracemalloc.start()
    try:
        _write(request, adapter)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)


@pytest.mark.parametrize(
    "adapter",
    ["anthropic_messages", "bedrock_converse", "gemini_generate", "ollama_chat", "openai_chat", "openai_responses"],
)
def test_a_message_costs_little_in_a_conversation_of_any_length(adapter: str) -> None:
    """Within the budget, and not more in a long one than in a short one."""
    short, long = _conversation(100), _conversation(1_000)
    _write(long, adapter)  # what is made once is made
    calls, memory = _calls(long, adapter) / 1_000, _bytes(long, adapter) / 1_000
    assert calls <= _CALLS
    assert memory <= _BYTES
    assert calls <= _GROWTH * _calls(short, adapter) / 100


@pytest.mark.parametrize(
    "adapter",
    ["anthropic_messages", "bedrock_converse", "gemini_generate", "ollama_chat", "openai_chat", "openai_responses"],
)
def test_what_does_not_change_is_not_copied(adapter: str) -> None:
    """The texts of a wire are those of the request."""
    request = _conversation(8)
    given = {id(text) for text in _texts(request) if text.startswith(("question", "answer", "result"))}
    written = {id(text) for text in _texts(_write(request, adapter))}
    assert given <= written
