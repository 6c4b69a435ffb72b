"""
Streams of answers that nobody gave: any blocks in any order, whatever wire they are of.

The recorded streams of the suite hold what providers say together; a gateway may be asked to stream anything else.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import answers
from test_answers import is_sound, without_fields

from interlingua import apply
from interlingua.canonical.loss import same_answer
from interlingua.translate import read_stream, write_stream

Data = dict[str, Any]
WIRES = ("anthropic_messages", "bedrock_converse")


def told(answer: Data) -> Iterator[Data]:
    """The events of an answer that is told block by block."""
    yield {"type": "message_start"}
    for index, block in enumerate(answer["message"]["content"]):
        kind = block["type"]
        if kind == "tool_use":
            yield {"type": "block_start", "index": index, "block": {**block, "input": {}}}
            yield {"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]}
            yield {
                "type": "tool_use_end",
                "index": index,
                "id": block["id"],
                "name": block["name"],
                "input": block["input"],
            }
        elif kind in ("text", "thinking"):
            yield {"type": "block_start", "index": index, "block": {"type": kind, "text": ""}}
            yield {"type": f"{kind}_delta", "index": index, "text": block["text"]}
        else:
            yield {"type": "block_start", "index": index, "block": block}
        yield {"type": "block_stop", "index": index, "block": block}
    yield {"type": "message_complete", "response": answer}


@pytest.mark.parametrize("adapter", WIRES)
@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(answer=answers())
def test_what_a_client_reads_is_what_was_reported(adapter: str, answer: Data) -> None:
    answer.pop("alternatives", None)
    if not is_sound(answer["message"]):
        return
    loss: list[Data] = []
    last = list(read_stream(list(write_stream(told(answer), adapter, loss=loss)), adapter))[-1]
    reported, read = (without_fields(one) for one in (apply(answer, loss), last["response"]))
    assert same_answer(reported, read) is None


@pytest.mark.parametrize(
    ("picture", "lost"),
    [
        ({"source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"}, []),
        ({"source": {"kind": "url", "data": "https://example.com/a.png"}}, ["/message/content/0"]),
    ],
)
def test_a_picture_from_elsewhere_is_streamed_where_the_wire_has_a_form_for_it(picture: Data, lost: list[str]) -> None:
    answer = {"message": {"role": "assistant", "content": [{"type": "image", **picture}]}, "finish_reason": "stop"}
    loss: list[Data] = []
    chunks = list(write_stream(told(answer), "bedrock_converse", loss=loss))
    content = list(read_stream(chunks, "bedrock_converse"))[-1]["response"]["message"]["content"]
    assert content == ([] if lost else answer["message"]["content"])
    assert [entry["path"] for entry in loss] == lost
