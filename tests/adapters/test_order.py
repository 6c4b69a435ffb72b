"""What calls and results that do not pair are refused with: the same on every wire."""

from typing import Any

import pytest

from interlingua import adapters, apply, difference, registry, visible
from interlingua.adapters._history.order import ANSWER_IT
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall

Message = dict[str, Any]


def said(text: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def calls(*ids: str) -> Message:
    blocks = [{"type": "tool_use", "id": one, "name": "look", "input": {}} for one in ids]
    return {"role": "assistant", "content": blocks}


def result(*ids: str) -> Message:
    content = [{"type": "text", "text": "Nothing."}]
    return {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": one, "content": content} for one in ids]}


REFUSED: dict[str, tuple[list[Message], type[InvalidRequest], str, str]] = {
    "a result without a call": (
        [said("Look."), result("tu_1")],
        ResultWithoutCall,
        "/messages/1/content/0/tool_use_id",
        "no call before this result has its id",
    ),
    "a result before its call": (
        [said("Look."), result("tu_1"), calls("tu_1"), said("And?")],
        ResultWithoutCall,
        "/messages/1/content/0/tool_use_id",
        "no call before this result has its id",
    ),
    "two results of a call": (
        [said("Look."), calls("tu_1"), result("tu_1"), result("tu_1")],
        InvalidRequest,
        "/messages/3/content/0/tool_use_id",
        "the call already has a result; send one result for each call",
    ),
    "two calls of one id": (
        [said("Look."), calls("tu_1"), result("tu_1"), calls("tu_1"), result("tu_1")],
        InvalidRequest,
        "/messages/3/content/0/id",
        "an earlier call has this id; give each call its own id",
    ),
    "a call that nobody answered": (
        [said("Look."), calls("tu_1", "tu_2"), result("tu_1"), said("And?")],
        InvalidRequest,
        "/messages/1/content/1",
        f"the call has no result, and other turns follow; {ANSWER_IT}",
    ),
    "two results in one message": (
        [said("Look."), calls("tu_1", "tu_2"), result("tu_1", "tu_2")],
        InvalidRequest,
        "/messages/2/content",
        "a tool message holds exactly one tool_result",
    ),
}


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_pair_is_refused_alike_on_every_wire(adapter: str, what: str) -> None:
    """The kind of the error, its place and its words."""
    messages, kind, path, words = REFUSED[what]
    endpoint = registry.endpoint(adapter=adapter)

    with pytest.raises(InvalidRequest) as refused:
        adapters.get(adapter).to_wire({"messages": messages}, endpoint)

    assert (type(refused.value), refused.value.path, refused.value.message) == (kind, path, words)


@pytest.mark.parametrize("adapter", adapters.names())
def test_a_turn_of_which_nothing_is_left_does_not_move(adapter: str) -> None:
    """The report of what moves fits the request where a turn that would move is dropped."""
    thought: Message = {"role": "assistant", "content": [{"type": "thinking", "text": ""}]}
    system: Message = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}
    request: dict[str, Any] = {"messages": [calls("tu_1"), system, thought, result("tu_1"), said("And?")]}
    wire = adapters.get(adapter)
    endpoint = registry.endpoint(adapter=adapter)

    body, loss = wire.to_wire(request, endpoint)

    read, _ = wire.from_wire_request(body, endpoint)
    assert difference(visible(apply(request, loss)), visible(read)) is None
