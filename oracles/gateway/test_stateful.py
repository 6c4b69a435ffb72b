"""
The official SDKs as clients that store at a gateway and name what they stored, over each provider's wire
(spec/11-gateway.md#stateful).
"""

from collections.abc import Iterator
from typing import Any

import pytest

from interlingua.client.fake import Say
from oracles.gateway.serving import Gate, serving
from oracles.gateway.test_sdks import BEHIND

TOOL: dict[str, Any] = {
    "type": "function",
    "name": "list",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    "strict": False,
}

every_wire = pytest.mark.parametrize("behind", BEHIND)
whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="module")
def gate() -> Iterator[Gate]:
    """One gateway for all tests."""
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def openai(gate: Gate) -> Any:
    """OpenAI's client."""
    import openai

    return openai.OpenAI(base_url=f"{gate.url}/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def gemini(gate: Gate) -> Any:
    """Google's client."""
    from google import genai

    return genai.Client(api_key="none", http_options={"base_url": gate.url})


def asked(openai: Any, stream: bool, **members: Any) -> Any:
    """The response to a request, whole or streamed."""
    if not stream:
        return openai.responses.create(model="gpt-4.1", **members)
    with openai.responses.stream(model="gpt-4.1", **members) as events:
        for _ in events:
            pass
        return events.get_final_response()


def texts(gate: Gate) -> list[str]:
    """What the provider was sent, message by message."""
    found = ["".join(block.get("text", "") for block in one["content"]) for one in gate.asked["messages"]]
    return [text for text in found if text]


@every_wire
@whole_and_streamed
def test_responses_go_on_from_each_other(gate: Gate, openai: Any, behind: str, stream: bool) -> None:
    """A tool loop in which the client sends nothing but what is new."""
    called = Say("Let me look.", calls=[("list", {"path": "."})])
    gate.behind(BEHIND[behind], called, Say("Two files."), Say("Yes."))
    first = asked(openai, stream, input="What is in here?", tools=[TOOL])
    call = next(item for item in first.output if item.type == "function_call")
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "a.txt b.txt"}
    second = asked(openai, stream, input=[result], tools=[TOOL], previous_response_id=first.id)
    assert second.output_text == "Two files."
    assert second.previous_response_id == first.id
    blocks = [block for message in gate.asked["messages"] for block in message["content"]]
    ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert ids == [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    third = asked(openai, stream, input="Sure?", previous_response_id=second.id)
    assert texts(gate) == ["What is in here?", "Let me look.", "Two files.", "Sure?"]
    items = list(openai.responses.input_items.list(third.id, order="asc", limit=2))
    assert [item.type for item in items] == [
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]
    found = openai.responses.retrieve(third.id)
    assert (found.output_text, found.id, found.status) == ("Yes.", third.id, "completed")


def test_a_stored_response_is_streamed_and_deleted(gate: Gate, openai: Any) -> None:
    """The SDK's own events; after the end its own error."""
    import openai as package

    gate.behind("anthropic:claude-sonnet-4-6", Say("Two files."))
    first = openai.responses.create(model="gpt-4.1", input="Hi", metadata={"run": "7"})
    assert openai.responses.retrieve(first.id).metadata == {"run": "7"}
    with openai.responses.retrieve(first.id, stream=True) as events:
        kinds = [event.type for event in events]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    with pytest.raises(package.BadRequestError):
        openai.responses.cancel(first.id)
    openai.responses.delete(first.id)
    for gone in (openai.responses.retrieve, openai.responses.delete, openai.responses.cancel):
        with pytest.raises(package.NotFoundError):
            gone(first.id)
    with pytest.raises(package.BadRequestError) as refused:
        openai.responses.create(model="gpt-4.1", input="Hi", previous_response_id=first.id)
    assert refused.value.code == "previous_response_not_found"


@every_wire
@whole_and_streamed
def test_conversations_grow(gate: Gate, openai: Any, behind: str, stream: bool) -> None:
    """By items and by responses; the SDK reads each of them."""
    import openai as package

    gate.behind(BEHIND[behind], Say("One."), Say("Two."))
    made = openai.conversations.create(
        metadata={"topic": "x"}, items=[{"type": "message", "role": "user", "content": "Zero"}]
    )
    assert openai.conversations.retrieve(made.id).metadata == {"topic": "x"}
    assert openai.conversations.update(made.id, metadata={"topic": "y"}).metadata == {"topic": "y"}
    answer = asked(openai, stream, input="A", conversation=made.id)
    assert answer.conversation.id == made.id
    added = openai.conversations.items.create(
        made.id, items=[{"type": "message", "role": "user", "content": "Remember this."}]
    )
    asked(openai, stream, input="B", conversation=made.id)
    assert "".join(texts(gate)) == "ZeroAOne.Remember this.B"
    items = list(openai.conversations.items.list(made.id, order="asc", limit=2))
    assert [item.content[0].text for item in items] == ["Zero", "A", "One.", "Remember this.", "B", "Two."]
    one = openai.conversations.items.retrieve(added.data[0].id, conversation_id=made.id)
    assert one.content[0].text == "Remember this."
    openai.conversations.items.delete(one.id, conversation_id=made.id)
    with pytest.raises(package.NotFoundError):
        openai.conversations.items.retrieve(one.id, conversation_id=made.id)
    assert openai.conversations.delete(made.id).deleted
    with pytest.raises(package.NotFoundError):
        openai.conversations.retrieve(made.id)


@whole_and_streamed
def test_completions_are_stored(gate: Gate, openai: Any, stream: bool) -> None:
    """Listed, read, changed and deleted."""
    import openai as package

    gate.behind("anthropic:claude-sonnet-4-6", Say("Two files."))
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "What is in here?"}]}]
    run = f"stream {stream}"
    made = openai.chat.completions.create(
        model="gpt-4.1", messages=messages, store=True, metadata={"run": run}, stream=stream
    )
    if stream:
        _, *_, made = made
    listed = list(openai.chat.completions.list(metadata={"run": run}))
    assert [one.id for one in listed] == [made.id]
    assert openai.chat.completions.retrieve(made.id).choices[0].message.content == "Two files."
    said = list(openai.chat.completions.messages.list(made.id))
    assert said[0].content_parts[0].text == "What is in here?"
    assert openai.chat.completions.update(made.id, metadata={"run": "z"}).metadata == {"run": "z"}
    assert openai.chat.completions.delete(made.id).deleted
    with pytest.raises(package.NotFoundError):
        openai.chat.completions.retrieve(made.id)


@every_wire
@whole_and_streamed
def test_caches_are_used(gate: Gate, gemini: Any, behind: str, stream: bool) -> None:
    """What is cached stands before what is asked."""
    from google.genai import errors, types

    gate.behind(BEHIND[behind], Say("Ishmael."))
    config = types.CreateCachedContentConfig(
        contents=["A long book."], system_instruction="Be brief.", ttl="300s", display_name="Book"
    )
    made = gemini.caches.create(model="gemini-2.5-pro", config=config)
    assert made.usage_metadata.total_token_count > 0
    longer = gemini.caches.update(name=made.name, config=types.UpdateCachedContentConfig(ttl="3600s"))
    assert longer.expire_time > made.expire_time
    assert made.name in [one.name for one in gemini.caches.list()]
    using = types.GenerateContentConfig(cached_content=made.name)
    members: dict[str, Any] = {"model": "gemini-2.5-pro", "contents": "Who?", "config": using}
    if stream:
        text = "".join(chunk.text or "" for chunk in gemini.models.generate_content_stream(**members))
    else:
        text = gemini.models.generate_content(**members).text
    assert text == "Ishmael."
    assert "".join(texts(gate)) == "Be brief.A long book.Who?"
    assert gemini.caches.get(name=made.name).display_name == "Book"
    gemini.caches.delete(name=made.name)
    with pytest.raises(errors.ClientError) as gone:
        gemini.caches.get(name=made.name)
    assert gone.value.code == 403
