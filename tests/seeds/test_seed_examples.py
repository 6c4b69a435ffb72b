"""The examples of the source documents, as written, each under the profile of its document."""

from decimal import Decimal
from typing import Any

from interlingua import (
    ImageBlock,
    MediaSource,
    Message,
    MessageMetadata,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    adapt,
    check,
    registry,
    visible,
)
from interlingua.canonical.ids import UlidSource

Data = dict[str, Any]
SONNET = "anthropic:claude-sonnet-4-6"
GPT = "openai:gpt-5"
IDS = UlidSource(lambda: 1_778_241_600_000, lambda bits: 7)


def stamped(message: Message, **metadata: Any) -> Data:
    """A message as a session would store it: id, session and time bound."""
    data = message.plain()
    data |= {
        "id": IDS.next(),
        "session_id": "sess_42",
        "created_at": "2026-05-08T12:00:00.000000Z",
        "schema_version": 1,
    }
    data["metadata"] = {"status": "complete", **data.get("metadata", {}), **metadata}
    return data


def provenance(model: str, reason: str = "workspace default", mode: str = "default", **usage: int) -> Data:
    """What a finished answer says about itself, priced with the table of the example."""
    counted = {"input_tokens": 8, "output_tokens": 42, "latency_ms": 820, **usage}
    return {
        "model": model,
        "provider": model.partition(":")[0],
        "routing": {"mode": mode, "chosen_model": model, "reason": reason},
        "usage": registry.priced(counted, model, version="2026-05-08"),
    }


def test_004_text_exchange() -> None:
    """Seed 004 §8.1: two messages, routing default, exactly 0.000654 dollars."""
    conversation = [
        stamped(Message.user("What's a ULID?")),
        stamped(Message.assistant("A ULID is a 128-bit identifier..."), **provenance(SONNET)),
    ]

    assert [] == check(conversation, "strict-004")
    assert Decimal("0.000654") == Decimal(conversation[1]["metadata"]["usage"]["cost_usd"])
    assert "2026-05-08" == conversation[1]["metadata"]["usage"]["pricing_version"]


def tool_turn() -> list[Data]:
    """Seed 004 §8.2: four messages of one turn."""
    call = IDS.tool_id()
    asked = ToolUseBlock(id=call, name="read_file", input={"path": "README.md"})
    return [
        stamped(Message.user("Summarize README.md")),
        stamped(Message.assistant(["I'll read the file.", asked]), **provenance(SONNET)),
        stamped(Message.tool(call, "# Project Foo\n\nA tool for...")),
        stamped(Message.assistant("The README describes Project Foo, a tool for..."), **provenance(SONNET)),
    ]


def test_004_tool_round_trip() -> None:
    """Seed 004 §8.2: the validator passes, and both wires pair call and result."""
    conversation = tool_turn()
    request = {"messages": conversation, "max_output_tokens": 1024}

    assert [] == check(conversation, "strict-004")
    anthropic = adapt(request, "anthropic_messages").wire["body"]["messages"]
    assert ["user", "assistant", "user", "assistant"] == [message["role"] for message in anthropic]
    assert anthropic[1]["content"][1]["id"] == anthropic[2]["content"][0]["tool_use_id"]
    openai = adapt(request, "openai_chat").wire["body"]["messages"]
    assert ["user", "assistant", "tool", "assistant"] == [message["role"] for message in openai]
    assert openai[1]["tool_calls"][0]["id"] == openai[2]["tool_call_id"]
    assert '{"path":"README.md"}' == openai[1]["tool_calls"][0]["function"]["arguments"]


def swapped() -> list[Data]:
    """Seed 004 §8.3: a third turn is answered by another provider."""
    call = ToolUseBlock(id=IDS.tool_id(), name="read_file", input={"path": "LICENSE"})
    return [
        *tool_turn(),
        stamped(Message.user("What about the LICENSE file?")),
        stamped(Message.assistant(call), **provenance(GPT, "user swap via /model command", "manual")),
    ]


def test_004_swap_loses_nothing() -> None:
    """Seed 004 §8.3: history made at one provider is sent to the other; nothing is dropped."""
    conversation = swapped()

    projection = adapt({"messages": conversation[:-1], "max_output_tokens": 1024}, "openai_chat")

    assert [] == check(conversation, "strict-004")
    assert [] == projection.loss
    assert conversation[-1]["content"][0]["id"] != conversation[1]["content"][1]["id"]


def test_004_swap_drops_thinking_with_a_warning(caplog: Any) -> None:
    """Seed 004 §8.3 and §7.3: thinking has no place at the other provider: five fields, level WARN."""
    conversation = tool_turn()
    conversation[1]["content"].insert(0, {"type": "thinking", "text": "a file…", "signature": "c2ln"})

    projection = adapt({"messages": conversation}, "openai_chat")

    assert ["/messages/1/content/0"] == [entry["path"] for entry in projection.loss if entry["severity"] == "lost"]
    (record,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "sess_42" == record.session_id
    assert conversation[1]["id"] == record.message_id
    assert "thinking" == record.block_type
    assert "openai_chat" == record.adapter
    assert record.reason
    assert "a file…" not in record.getMessage()


def test_002_builder() -> None:
    """Seed 002: a chain of modifiers equals explicit construction; skipping them gives the defaults."""
    built = Message.user("Hello").cacheable().with_priority(10).build()

    assert Message(role="user", content=[TextBlock(text="Hello")], priority=10, cache={}) == built
    assert Message.user("Hello") == Message.user("Hello").build()
    assert [] == check(built.plain(), "single-content")


def test_002_views() -> None:
    """Seed 002: one content value per message; messages of several blocks split and join exactly."""
    asked = ToolUseBlock(id="tu_01", name="look_up", input={})
    message = Message.assistant(["Let me see.", asked, "…"])

    assert ("user", TextBlock(text="Hello")) == Message.user("Hello").single()[:2]
    assert [message] == Message.join(message.split())
    assert all([] == check(single.plain(), "single-content") for single in message.split())


def test_002_cache_marks_change_nothing_elsewhere() -> None:
    """Seed 002: a cache hint reaches the provider that has a place for it; for the other the bytes are the same."""
    plain = {"messages": [Message.user("Hello").plain()], "max_output_tokens": 9}
    hinted = {"messages": [Message.user("Hello").cacheable("1h").plain()], "max_output_tokens": 9}

    assert adapt(plain, "openai_chat").body == adapt(hinted, "openai_chat").body
    block = adapt(hinted, "anthropic_messages").wire["body"]["messages"][0]["content"][0]
    assert {"type": "ephemeral", "ttl": "1h"} == block["cache_control"]


def test_003_text_and_multimodal() -> None:
    """Seed 003: a text message and one with an image by URL."""
    multimodal = Message.user(
        [
            TextBlock(text="What do you see?"),
            ImageBlock(source=MediaSource(kind="url", data="https://example.com/photo.jpg")),
        ]
    )

    assert [TextBlock(text="What is 2 + 2?")] == Message.user("What is 2 + 2?").content
    assert [] == check(multimodal.plain(), "unified")
    part = adapt({"messages": [multimodal.plain()]}, "openai_chat").wire["body"]["messages"][0]["content"][1]
    assert {"type": "image_url", "image_url": {"url": "https://example.com/photo.jpg"}} == part


def test_003_roles_of_the_table() -> None:
    """Seed 003: developer and tool messages at both wires."""
    messages = [
        Message.developer("Be brief.").plain(),
        Message.user("hi").plain(),
        Message.assistant(ToolUseBlock(id="tu_01", name="look_up", input={})).plain(),
        Message.tool("tu_01", "found").plain(),
    ]
    request = {"messages": messages, "max_output_tokens": 9}

    assert ["developer", "user", "assistant", "tool"] == [
        message["role"] for message in adapt(request, "openai_chat").wire["body"]["messages"]
    ]
    anthropic = adapt(request, "anthropic_messages").wire["body"]
    assert "Be brief." in str(anthropic["system"])
    assert ["user", "assistant", "user"] == [message["role"] for message in anthropic["messages"]]


def test_000_three_lists() -> None:
    """Seed 000: parts, calls and results as lists; building from them gives valid messages."""
    call = ToolUseBlock(id="tu_01", name="look_up", input={"q": 1})
    built = Message.from_lists("assistant", ["Let me see."], [call])
    answered = Message.from_lists(
        "tool", tool_results=[ToolResultBlock(tool_use_id="tu_01", content=[TextBlock(text="1")])]
    )

    assert ("assistant", [TextBlock(text="Let me see.")], [call], []) == built[0].lists()
    assert [] == check([message.plain() for message in built + answered], "bytes-only")


def test_000_request_level_system_comes_first() -> None:
    """Seed 000: both spellings of instructions are kept, the request's first, on either wire."""
    request = {
        "system": [TextBlock(text="One.").plain()],
        "messages": [Message.system("Two.").plain(), Message.user("hi").plain()],
        "max_output_tokens": 9,
    }

    for adapter in ("anthropic_messages", "openai_chat"):
        text = adapt(request, adapter).body.decode()

        assert 0 < text.index("One.") < text.index("Two.")
    assert ["One.", "Two."] == [m["content"][0]["text"] for m in visible(request)["messages"][:2]]


def test_000_images_are_bytes() -> None:
    """Seed 000: bytes and media type go in, the same bytes come out, and the profile takes no address."""
    image = ImageBlock.from_bytes(b"\x89PNG", "image/png")
    by_address = Message.user(ImageBlock.from_url("https://example.com/a.png", "image/png"))

    assert b"\x89PNG" == image.bytes()
    assert [] == check(Message.user(image).plain(), "bytes-only")
    assert ["media_source"] == [violation["rule"] for violation in check(by_address.plain(), "bytes-only")]


def test_004_defaults_of_metadata() -> None:
    """Seed 004 §4.3: everything absent, status complete."""
    fresh = MessageMetadata()

    assert "complete" == fresh.status
    assert all(getattr(fresh, name) is None for name in ("model", "provider", "routing", "usage", "user_id", "team_id"))
