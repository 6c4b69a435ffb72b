"""Estimates of prompts: what they count, on every wire."""

import base64
import struct
from typing import Any

import pytest

from interlingua import adapters
from interlingua.adapters._estimates import pictures
from interlingua.adapters._estimates.templates import template
from interlingua.adapters._estimates.tokens import APART, CL100K, O200K, count
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest

WIRES = adapters.names()


def estimate(request: dict[str, Any], wire: str = "openai_chat", model: str | None = "gpt-4o") -> dict[str, int]:
    return adapters.get(wire).estimate(request, Endpoint(wire, None, model))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def picture(data: bytes) -> dict[str, Any]:
    return {"type": "image", "source": {"kind": "base64", "data": base64.b64encode(data).decode()}}


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def wave(rate: int, seconds: int) -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate // 2, rate, 2, 16)
    return b"RIFF\0\0\0\0WAVE" + form + b"data\0\0\0\0" + bytes(rate * seconds)


CALL = {"type": "tool_use", "id": "tu_1", "name": "look_up", "input": {"word": "harbour"}}
RESULT = {"type": "tool_result", "tool_use_id": "tu_1", "content": [text("a place for ships"), picture(png(64, 64))]}
NOTE = {"type": "document", "source": {"kind": "text", "data": "The pier is closed."}, "citations_enabled": True}
PAPER = {"type": "document", "source": {"kind": "base64", "data": "JVBERi0x"}, "media_type": "application/pdf"}
FAR = {"type": "document", "source": {"kind": "url", "url": "https://example.com/a.pdf"}}
NESTED = {"type": "document", "source": {"kind": "blocks", "content": [text("one"), picture(b"none")]}}
TURNS: list[dict[str, Any]] = [
    {"role": "system", "content": [text("Answer briefly.")]},
    user(text("What is this?"), picture(png(640, 480))),
    {"role": "assistant", "content": [{"type": "thinking", "text": "A map, I think."}, text("A map."), CALL]},
    {"role": "tool", "content": [RESULT]},
    user(NOTE, PAPER, FAR, NESTED),
    user({"type": "audio", "source": {"kind": "base64", "data": "AAAA"}, "media_type": "audio/mpeg"}),
    user({"type": "video", "source": {"kind": "url", "url": "https://example.com/a.mp4"}}),
    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "eA==" * 50}]},
    user(
        {
            "type": "opaque",
            "adapter": "openai_chat",
            "kind": "future",
            "value": {"words": "some text", "data": "x" * 99},
        }
    ),
    user(text("И это? 这个呢? 🙂")),
    user(text("farewell " * 300)),
    user(text("A boat lies in the harbour; nobody is aboard. {} " * 60)),
]


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.4", "claude-opus-4-8", "gemini-3-flash-preview", "qwen3", None])
@pytest.mark.parametrize("wire", WIRES)
def test_one_more_message_lowers_nothing(wire: str, model: str | None) -> None:
    """A sum of parts: whatever a message holds, all three counts grow or stay."""
    before = {"low": 0, "likely": 0, "high": 0}
    for length in range(1, len(TURNS) + 1):
        found = estimate({"messages": TURNS[:length]}, wire, model)
        assert 0 < found["low"] <= found["likely"] <= found["high"]
        assert all(found[name] >= before[name] for name in found), (length, before, found)
        before = found


@pytest.mark.parametrize("wire", WIRES)
def test_nothing_is_too_deep(wire: str) -> None:
    """Documents in documents are counted; arguments that no wire could carry are refused by name."""
    content: dict[str, Any] = text("word")
    for _ in range(5_000):
        content = {"type": "document", "source": {"kind": "blocks", "content": [content]}}
    assert estimate({"messages": [user(content)]}, wire)["likely"] > 0

    arguments: dict[str, Any] = {}
    for _ in range(100_000):  # the limit is not the same in every Python
        arguments = {"a": arguments}
    with pytest.raises(InvalidRequest):
        estimate({"messages": [{"role": "assistant", "content": [{**CALL, "input": arguments}]}]}, wire)


# ---------------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("words", "tokens"),
    [
        # counted with the public vocabulary
        ("The ferry leaves the north pier at seven in the morning.", 12),
        ("for (const item of items) { total += item.price * item.quantity; }", 18),
        ('{"name":"Oslo","population":717710,"coast":true}', 16),
        ("Der Bus hält heute nicht am Rathaus.", 9),
        ("2026-03-14T08:15:00Z", 14),
    ],
)
def test_texts(words: str, tokens: int) -> None:
    """Words, marks and numbers, each as a tokenizer would cut them."""
    assert count(APART + words, O200K).tokens == pytest.approx(tokens, abs=max(2, tokens * 0.15))


def test_texts_that_are_counted_together_take_as_much_as_one_by_one() -> None:
    """Nothing merges across texts."""
    texts = ["One word", "and another: 12", "{}", "…и ещё", "  indented\n\n"]
    together = count(APART + APART.join(texts), CL100K)
    alone = [count(APART + one, CL100K) for one in texts]
    assert together.tokens == pytest.approx(sum(one.tokens for one in alone))
    assert together.foreign > 0


@pytest.mark.parametrize("odd", ["", "\ud800", "\x00\x00", "\U0010ffff", "\r\n\t", "a" * 100_000])
def test_odd_texts(odd: str) -> None:
    """No text is a problem."""
    found = count(APART + odd, O200K)
    assert found.tokens >= found.foreign >= 0


def test_scripts_are_less_sure() -> None:
    """How well a tokenizer knows a script varies, so the range is wider."""
    plain = estimate({"messages": [user(text("harbour " * 200))]})
    chinese = estimate({"messages": [user(text("港口" * 100))]})
    assert chinese["high"] / chinese["low"] > plain["high"] / plain["low"]


# ---------------------------------------------------------------------------------------------------- templates


@pytest.mark.parametrize(
    ("wire", "provider", "model", "vocabulary_like", "tools"),
    [
        ("anthropic_messages", "anthropic", "claude-sonnet-4-20250514", "claude-3-7-sonnet-latest", 320),
        ("anthropic_messages", "anthropic", "claude-haiku-4-5", "claude-opus-4-6", 495),
        ("bedrock_converse", "bedrock", "us.anthropic.claude-sonnet-4-6", "claude-opus-4-6", 495),
        ("openai_chat", "openrouter", "anthropic/claude-opus-4.8", "claude-fable-5-2", 710),
        ("anthropic_messages", "anthropic", "claude-sonnet-5-5", "claude-opus-5", 710),
        ("openai_chat", "openai", "gpt-5-nano", "gpt-6-astra", 88),
        ("openai_responses", "openai", "gpt-5-nano", "gpt-6-astra", 15),
        ("openai_chat", "groq", "llama-3.3-70b-versatile", "meta-llama/Llama-3.1-8B-Instruct", 150),
        ("ollama_chat", "ollama", "qwen3:4b", "qwen2.5", 62),
    ],
)
def test_a_model_is_known_by_its_name(wire: str, provider: str, model: str, vocabulary_like: str, tools: float) -> None:
    """The same model behind another wire is asked in the same way."""
    found = template(wire, provider, model)
    assert found.vocabulary == template(wire, provider, vocabulary_like).vocabulary
    assert found.tools[1] == tools


@pytest.mark.parametrize("wire", WIRES)
def test_an_unknown_model_has_a_wider_range(wire: str) -> None:
    """What is not known is told by the width."""
    request = {"messages": [user(text("A harbour is a place where ships find shelter. " * 20))]}
    known = adapters.get("openai_chat").estimate(request, Endpoint("openai_chat", "openai", "gpt-4o"))
    unknown = adapters.get(wire).estimate(request, Endpoint(wire, "elsewhere", "a-model"))
    assert unknown["high"] - unknown["low"] >= known["high"] - known["low"]


def test_a_model_may_stand_in_the_request() -> None:
    """An endpoint without a model takes it from the request."""
    request = {"model": "openai:gpt-4.1-mini", "messages": [user(picture(png(1024, 1024)))]}
    assert estimate(request, model=None)["likely"] == estimate(request, model="gpt-4.1-mini")["likely"]


def test_functions_bring_instructions_and_count_when_they_may_be_called() -> None:
    """Claude reads a page about calling; where no call is wanted most others leave functions out."""
    asked = {"messages": [user(text("Go."))]}
    tools = [{"name": "f", "description": "Does it.", "input_schema": {"type": "object", "properties": {}}}]
    silent = {"tools": tools, "tool_choice": {"type": "none"}}
    for model, least in (("claude-sonnet-4-6", 450), ("mistral-large-latest", 5)):
        without = estimate(asked, model=model)["likely"]
        assert estimate({**asked, "tools": tools}, model=model)["likely"] - without > least
        assert (estimate({**asked, **silent}, model=model)["likely"] > without) is (model == "claude-sonnet-4-6")


def test_what_another_provider_has_sealed_stays_behind() -> None:
    """Reasoning and items that cannot go here take nothing here."""
    state = {"adapter": "openai_responses", "provider": "openai"}
    content = [
        {"type": "thinking", "text": "A long thought. " * 50, "signature": "s" * 9_000, "provider_state": state},
        {"type": "opaque", **state, "kind": "web_search_call", "value": {"query": "lighthouses " * 50}},
    ]
    request = {"messages": [user(text("Go.")), {"role": "assistant", "content": content}]}
    here = adapters.get("openai_responses").estimate(request, Endpoint("openai_responses", "openai", "gpt-5.4"))
    there = adapters.get("anthropic_messages").estimate(
        request, Endpoint("anthropic_messages", "anthropic", "claude-opus-5")
    )
    assert there["high"] < 60 < here["likely"]


@pytest.mark.parametrize(
    ("wire", "options"),
    [
        ("openai_responses", {"previous_response_id": "resp_1"}),
        ("openai_responses", {"conversation": "conv_1"}),
        ("gemini_generate", {"cachedContent": "cachedContents/1"}),
    ],
)
def test_what_the_provider_keeps_may_be_as_long_as_the_model_allows(wire: str, options: dict[str, Any]) -> None:
    """Nobody here knows how long that is."""
    endpoint = Endpoint(wire, None, "a-model", capabilities={"max_context_tokens": 50_000})
    found = adapters.get(wire).estimate({"messages": [user(text("Go on."))], "options": {wire: options}}, endpoint)
    assert found["low"] < 10 < 50_000 < found["high"] < 51_000


def test_a_tool_that_searches_may_bring_anything() -> None:
    """A provider's own tool that runs inside the call adds what it finds."""
    tool = {"kind": "provider", "name": "web_search", "adapter": "anthropic_messages"}
    searching = {"tools": [{**tool, "definition": {"type": "web_search_20260318", "name": "web_search"}}]}
    typing = {"tools": [{**tool, "definition": {"type": "text_editor_20250728", "name": "edit"}}]}
    asked = {"messages": [user(text("Go."))]}
    assert estimate({**asked, **searching}, "anthropic_messages", "claude-opus-5")["high"] > 900_000
    assert estimate({**asked, **typing}, "anthropic_messages", "claude-opus-5")["high"] < 3_000


def test_what_gpt_4o_at_times_counts_for_enforced_tools_is_in_the_highest_count() -> None:
    tool = {"name": "look_up", "input_schema": {"type": "object"}}
    asked, enforced = ({"messages": [user(text("Go."))], "tools": [{**tool, "strict": on}]} for on in (False, True))
    free, bound = estimate(asked, "openai_responses"), estimate(enforced, "openai_responses")
    assert (bound["likely"], bound["high"]) == (free["likely"], free["high"] + 220)
    assert estimate(enforced, "openai_responses", "gpt-5") == estimate(asked, "openai_responses", "gpt-5")


# ---------------------------------------------------------------------------------------------------- media


@pytest.mark.parametrize(
    ("model", "size", "detail", "tokens"),
    [
        ("gpt-4o", (1024, 1024), None, 765),
        ("gpt-4o", (2048, 4096), None, 1105),
        ("gpt-4o", (4096, 8192), "low", 85),
        ("gpt-4o-mini", (512, 512), None, 2833 + 5667),
        ("gpt-4.1-mini", (1024, 1024), None, 1024 * 1.62),
        ("gpt-4.1-nano", (128, 128), None, 16 * 2.46),
        ("o4-mini", (4000, 4000), None, 1536 * 1.72),
        ("claude-sonnet-4-6", (200, 200), None, 64 + 2),
        ("claude-sonnet-4-6", (3000, 2000), None, 1568 + 2),
        ("claude-opus-4-8", (3000, 2000), None, 4784 + 2),
        ("gemini-2.5-flash", (640, 480), None, 258),
        ("gemini-2.0-flash", (960, 540), None, 7 * 258),
        ("mistral-large-latest", (64, 64), None, 12),
    ],
)
def test_pictures_by_the_documented_formulas(
    model: str, size: tuple[int, int], detail: str | None, tokens: float
) -> None:
    """The size stands in the first bytes."""
    block = picture(png(*size))
    low, likely, high = template("openai_chat", "gemini", model).sight(pictures.size_of(block["source"]), detail)
    assert likely == pytest.approx(tokens)
    assert low <= likely <= high


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-5.4", "claude-opus-5", "gemini-3.8-flash", "gemini-2.0-flash", "pixtral"]
)
@pytest.mark.parametrize(
    "source", [{"kind": "url", "url": "https://example.com/a.png"}, {"kind": "base64", "data": "!"}]
)
def test_a_picture_of_unknown_size_has_the_range_of_all(model: str, source: dict[str, Any]) -> None:
    """An address, or bytes that no header makes sense of."""
    unknown = estimate({"messages": [user({"type": "image", "source": source})]}, model=model)
    for size in ((32, 32), (640, 480), (4000, 4000)):
        known = estimate({"messages": [user(picture(png(*size)))]}, model=model)
        assert unknown["low"] <= known["likely"] <= unknown["high"]


def test_sound_lasts_as_long_as_its_header_says() -> None:
    """Gemini takes about thirty tokens a second."""

    def sound(rate: int) -> dict[str, int]:
        data = base64.b64encode(wave(rate, 20)).decode()
        block = {"type": "audio", "source": {"kind": "base64", "data": data}, "media_type": "audio/wav"}
        return estimate({"messages": [user(block)]}, "gemini_generate", "gemini-2.5-flash")

    assert sound(16_000)["likely"] == pytest.approx(600, rel=0.05)
    assert sound(64_000) == sound(16_000)


@pytest.mark.parametrize("data", ["UklGR", "UklGRg==", "UklGR" + "A" * 60, base64.b64encode(wave(0, 0)).decode()])
def test_a_broken_header_of_sound_says_nothing(data: str) -> None:
    """Then the bytes are looked at, not the seconds."""
    assert pictures.wave_rate({"kind": "base64", "data": data}) is None
