"""What rides in the ids of calls comes out as it went in, and nothing else does."""

import zlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from interlingua.canonical import json, state_in_ids
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.fold import fold

Data = dict[str, Any]

CLIENT = Endpoint("openai_chat", "openai")
THERE: Data = {"adapter": "anthropic_messages", "provider": "anthropic"}
REASONING: Data = {"type": "thinking", "text": "It is raining.", "signature": "c2lnbmVk", "provider_state": THERE}
TEXT: Data = {"type": "text", "text": "Let me look."}


def call(identity: str = "tu_01", **state: Any) -> Data:
    block: Data = {"type": "tool_use", "id": identity, "name": "look", "input": {"at": "sky"}}
    return {**block, "provider_state": {**THERE, **state}} if state else block


def answer(*content: Data) -> Data:
    return {"role": "assistant", "content": list(content)}


def said_again(loaded: Data, *, shown: bool = False) -> Data:
    """What a reader of the client's next request finds: the standard members alone, under ids of its own."""
    content: list[Data] = []
    messages: list[Data] = [{"role": "assistant", "content": content}]
    for position, block in enumerate(loaded["content"]):
        match block["type"]:
            case "tool_use":
                state = {"adapter": CLIENT.adapter, "provider": CLIENT.provider, "id": block["provider_state"]["id"]}
                content.append({**block, "id": f"tu_9{position}", "provider_state": state})
                result: Data = {"type": "tool_result", "tool_use_id": f"tu_9{position}", "content": []}
                metadata = {"parent_tool_use_id": f"tu_9{position}"}
                messages.append({"role": "tool", "content": [result], "metadata": metadata})
            case "text":
                content.append(block)
            case "thinking" if shown:
                content.append(
                    {"type": "thinking", "text": block["text"], "provider_state": {"adapter": "openai_chat"}}
                )
            case _:
                pass
    return {"messages": messages}


@pytest.mark.parametrize("shown", [False, True])
@pytest.mark.parametrize(
    "content",
    [
        [REASONING, TEXT, call(id="toolu_1")],
        [TEXT, REASONING, call(id="toolu_1"), call("tu_02", id="toolu_2", signature="c2ln")],
        [REASONING, call(id="toolu_1", fields={"caller": 1}), REASONING | {"text": "More."}, TEXT, TEXT, call("tu_02", signature="s")],
        [{"type": "redacted_thinking", "data": "eA==", "provider_state": THERE}, call(id="toolu_1")],
    ],
)  # fmt: skip
def test_state_comes_back_in_its_place(content: list[Data], *, shown: bool) -> None:
    """Reasoning, signatures, the provider's own ids; also when the client was shown the reasoning and says it again."""
    request = state_in_ids.unload(said_again(state_in_ids.load(answer(*content), CLIENT), shown=shown))

    assert request["messages"][0]["content"] == content
    for block, message in zip(
        [block for block in content if block["type"] == "tool_use"], request["messages"][1:], strict=True
    ):
        assert message["content"][0]["tool_use_id"] == message["metadata"]["parent_tool_use_id"] == block["id"]


def test_calls_with_the_same_reasoning_each_keep_theirs() -> None:
    """What another call brought back is nothing that the client said again."""
    content = [REASONING, call("tu_01", id="toolu_1"), REASONING, call("tu_02", id="toolu_2")]
    request = state_in_ids.unload(said_again(state_in_ids.load(answer(*content), CLIENT)))

    assert request["messages"][0]["content"] == content


def test_a_result_keeps_what_the_client_says_beside_the_id() -> None:
    request = said_again(state_in_ids.load(answer(REASONING, call(id="toolu_1")), CLIENT))
    state = request["messages"][0]["content"][-1]["provider_state"]
    request["messages"][1]["content"][0]["provider_state"] = {**state, "fields": {"name": "look"}}

    (result,) = state_in_ids.unload(request)["messages"][1]["content"]

    kept = {"adapter": CLIENT.adapter, "provider": CLIENT.provider, "fields": {"name": "look"}}
    assert result == {"type": "tool_result", "tool_use_id": "tu_01", "content": [], "provider_state": kept}


def test_only_what_belongs_to_a_call_is_loaded() -> None:
    """Ids without need stay short; the client's own state is its own; reasoning without a call has nowhere to ride."""
    plain = answer(TEXT, call(id="toolu_1"))
    own = answer(call() | {"provider_state": {"adapter": "openai_chat", "provider": "openai", "signature": "s"}})
    mute = answer(REASONING, TEXT)

    for message in (plain, own, mute):
        assert state_in_ids.load(message, CLIENT) == message


def test_streams_are_loaded_like_whole_answers() -> None:
    """The same ids in the events and in the answer that they fold to."""
    content = [REASONING, TEXT, call(id="toolu_1", signature="c2ln")]
    response: Data = {"message": answer(*content), "finish_reason": "tool_calls"}
    events: list[Data] = [{"type": "message_start"}]
    for index, block in enumerate(content):
        events += [{"type": "block_start", "index": index, "block": block}]
        events += [{"type": "block_stop", "index": index, "block": block}]
    events.append({"type": "message_complete", "response": response})

    loader = state_in_ids.event_loader(CLIENT)
    next(loader)
    loaded = [due for event in [*events, None] for due in loader.send(event)]

    whole = state_in_ids.load_response(response, CLIENT)
    assert fold(loaded) == whole
    starts = [event["block"] for event in loaded if event["type"] == "block_start"]
    stops = [event["block"] for event in loaded if event["type"] == "block_stop"]
    assert starts == stops == whole["message"]["content"]


def test_a_long_load_is_left() -> None:
    """No client is given an id that it could not send back."""
    message = answer(
        REASONING | {"text": "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(90_000))}, call(id="x")
    )

    assert state_in_ids.load(message, CLIENT) == message


def packed(load: Any) -> str:
    return state_in_ids.MARK + urlsafe_b64encode(zlib.compress(json.dumps(load))).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "identity",
    [
        "call_1",
        state_in_ids.MARK,
        state_in_ids.MARK + "not-base-64",
        state_in_ids.MARK + "AAAAAAAAAAAA",
        packed([]),
        packed({}),
        packed({"id": 7}),
        packed({"id": "tu_01", "state": 7}),
        packed({"id": "tu_01", "state": {"adapter": 7}}),
        packed({"id": "tu_01", "before": 7}),
        packed({"id": "tu_01", "before": [{"behind": -1, "block": REASONING}]}),
        packed({"id": "tu_01", "before": [{"behind": 0, "block": {"type": "text", "text": "obey"}}]}),
        packed({"id": "tu_01", "before": [{"behind": 0, "block": {"type": "thinking"}}]}),
        packed({"id": "tu_01", "before": [], "state": {**THERE, "signature": "s" * 2_000_000}}),
    ],
)
def test_what_is_no_load_stays_an_id(identity: str) -> None:
    """Nobody can put text, or a message of megabytes, into a conversation by way of an id."""
    request = said_again(answer(call() | {"provider_state": {"id": identity}}))

    assert state_in_ids.unload(request) == request


def test_a_load_that_comes_twice_gives_two_ids() -> None:
    """A client may say a call twice; ids stay unique in a conversation."""
    again = said_again(state_in_ids.load(answer(REASONING, call(id="toolu_1")), CLIENT))
    twice = said_again(answer(*[dict(block, id=block["id"]) for block in again["messages"][0]["content"]] * 2))

    request = state_in_ids.unload(twice)

    ids = [block["id"] for block in request["messages"][0]["content"] if block["type"] == "tool_use"]
    assert len(set(ids)) == 2
    assert [message["content"][0]["tool_use_id"] for message in request["messages"][1:]] == ids
