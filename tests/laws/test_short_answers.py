"""The loss law on streams of answers that nobody made up on purpose: every short sequence of blocks, empty ones among them.

Where a stream cannot say where a block ends, what follows its like is one with it; the report says so.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from interlingua import adapters, apply
from interlingua.canonical.loss import same_answer
from interlingua.client.unfold import unfold
from interlingua.translate import read_stream, write_stream

Data = dict[str, Any]

BLOCKS: dict[str, Data] = {
    "text": {"type": "text", "text": "a"},
    "nothing": {"type": "text", "text": ""},
    "refusal": {"type": "text", "text": "b", "refusal": True},
    "no words": {"type": "text", "text": "", "refusal": True},
    "reasoning": {"type": "thinking", "text": "c"},
    "no reasoning": {"type": "thinking", "text": ""},
    "call": {"type": "tool_use", "name": "f", "input": {}},
}
TARGETS = [(adapter, None) for adapter in adapters.names()] + [
    ("openai_chat", provider) for provider in ("openrouter", "mistral", "deepseek", "databricks", "vllm")
]


def short_answers() -> Iterator[Data]:
    for length in range(4):
        for names in itertools.product(BLOCKS, repeat=length):
            content = [BLOCKS[name] | ({"id": f"tu_{n}"} if name == "call" else {}) for n, name in enumerate(names)]
            message = {"role": "assistant", "content": content}
            for reason in ("tool_calls",) if "call" in names else ("stop", "refusal"):
                yield {"message": message, "finish_reason": reason}
            yield {"message": message, "finish_reason": "stop_sequence", "stop_sequence": "END"}


@pytest.mark.parametrize(("adapter", "provider"), TARGETS)
def test_what_a_client_reads_of_a_stream_is_what_was_reported(adapter: str, provider: str | None) -> None:
    broken: list[tuple[str | None, Data]] = []
    for response in short_answers():
        loss: list[Data] = []
        chunks = list(write_stream(unfold(response), adapter, provider=provider, loss=loss))
        last = list(read_stream(chunks, adapter, provider=provider))[-1]
        assert last["type"] == "message_complete", response
        read = {name: value for name, value in last["response"].items() if name != "provider_state"}
        if (place := same_answer(apply(response, loss), read)) is not None:
            broken.append((place, response))
    assert not broken
