"""
Requests, answers and streams of Anthropic Messages, at random, from the types of the SDK, stable and beta.

Turns alternate, a call has its result in the turn after it, ids and names are within their grammar.
"""

import json
import random
from functools import cache
from typing import Any

from anthropic.types import Message
from anthropic.types.beta import BetaMessage
from anthropic.types.beta import message_create_params as beta_params
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from typed_values import ABSENT, Maker, schema

Data = dict[str, Any]
LATER = 0.03
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="


SCHEMAS: list[Data] = [
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
    {
        "type": "object",
        "properties": {"n": {"type": ["integer", "null"]}, "l": {"type": "array", "items": {"enum": [1, "a"]}}},
    },
    {"type": "object", "properties": {"r": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string", "minLength": 2}}},
]
TEXTS = (
    "hello",
    "two words",
    "Zürich 東京 🦜",
    '{"a": 1}',
    "a\nb\r\nc",
    "\u2028",
    "null",
    "[tool_error]\nx",
    " x ",
    "(empty)",
)
OBJECTS: list[Data] = [{}, {"a": 1}, {"a": {"b": [1, 2.5, None]}, "ü": "x"}, {"city": "Oslo"}]


def one_of(*values: Any) -> Any:
    """One of them."""
    return lambda draw: draw.rng.choice(values)


def numbered(prefix: str) -> Any:
    """A name that is given once."""

    def make(draw: Maker) -> str:
        draw.count = getattr(draw, "count", 0) + 1
        return f"{prefix}{draw.count}"

    return make


MEANT: Data = {
    "*.id": numbered("id_"),
    "*.text": one_of(*TEXTS),
    "*.input_schema": one_of(*SCHEMAS),
    "*.schema": one_of(*SCHEMAS),
    "*.input": one_of(*OBJECTS),
    "*.max_tokens": one_of(2048, 4096, 64000),
    "*.budget_tokens": one_of(1024, 2000),
    "*.temperature": one_of(0, 0.3, 1),
    "*.top_p": one_of(0, 0.5, 1.0),
    "*.top_k": one_of(0, 5),
    "*.stop_sequences": one_of([], ["END"], ["a", "\n\nHuman:"]),
    "*.signature": one_of("c2ln", "sig=="),
    "*.url": one_of("https://example.org/a.png", "https://example.org/x?y=1#z"),
    "*.model": one_of("claude-sonnet-4-5", "claude-opus-4-8"),
    "*.file_id": one_of("file_011", "file_abc"),
    "*.tool_use_id": numbered("srvtoolu_"),
    "*.user_profile_id": one_of(ABSENT),
    "*.workspace_id": one_of(ABSENT),
    "*.betas": one_of(ABSENT),
    "*.stream": one_of(ABSENT, ABSENT, True, False),
}
for _kind in ("", "Beta"):
    MEANT |= {
        f"{_kind}ToolParam.name": numbered("tool_"),
        f"{_kind}Base64ImageSourceParam.data": one_of(PNG),
        f"{_kind}Base64PDFSourceParam.data": one_of("JVBERi0x"),
        f"{_kind}Base64PDFSource.data": one_of("JVBERi0x"),
        f"{_kind}RedactedThinkingBlockParam.data": one_of("cmVk"),
        f"{_kind}ToolUseBlockParam.name": one_of("tool_1", "tool_2", "look_up"),
        f"{_kind}ToolUseBlock.name": one_of("tool_1", "tool_2", "look_up"),
        f"{_kind}ToolChoiceToolParam.name": one_of("tool_1"),
    }

USER = (
    "TextBlockParam",
    "ImageBlockParam",
    "DocumentBlockParam",
    "SearchResultBlockParam",
    "ContainerUploadBlockParam",
)
BETA_USER = (
    "BetaTextBlockParam",
    "BetaImageBlockParam",
    "BetaRequestDocumentBlockParam",
    "BetaSearchResultBlockParam",
    "BetaContainerUploadBlockParam",
)
NOT_ASSISTANT = (
    "Image",
    "Document",
    "SearchResult",
    "ToolResultBlock",
    "ContainerUploadBlockParam",
    "ToolAddition",
    "ToolRemoval",
    "BrowserState",
)


@cache
def _params(*, beta: bool) -> Any:
    return beta_params.MessageCreateParamsNonStreaming if beta else MessageCreateParamsNonStreaming


@cache
def assistant_kinds(*, beta: bool) -> tuple[str, ...]:
    """The types of blocks that stand in turns of the assistant."""
    definitions = schema(_params(beta=beta))["$defs"]
    found = []
    for name, one in definitions.items():
        tag = one.get("properties", {}).get("type", {})
        if "const" not in tag or "Block" not in name or "Source" in name:
            continue
        plain = name.removeprefix("Beta").removeprefix("Request")
        held = (plain.endswith(("Block", "BlockParam"))) and not plain.startswith(NOT_ASSISTANT)
        inner = ("ResultBlock", "OutputBlock", "ReferenceBlock", "FetchBlock", "ErrorBlock", "SearchResultBlock")
        if (
            held
            and (not any(word in plain for word in inner) or "ToolResultBlock" in plain)
            and "ResultError" not in plain
        ):
            found.append(name)
    return tuple(found)


def request(seed: int) -> Data:
    """A body of `POST /v1/messages`."""
    rng = random.Random(seed)
    beta = rng.random() < 0.5
    meant = MEANT | {
        "MessageCreateParamsNonStreaming.messages": lambda draw: messages(draw, beta=beta),
        "MessageCreateParamsNonStreaming.tools": lambda draw: _tools(draw, beta=beta),
    }
    draw = Maker(_params(beta=beta), rng, meant, null=0.1, later=LATER)
    return draw.value()


@cache
def tool_kinds(*, beta: bool) -> tuple[str, ...]:
    """The types of tools."""
    definitions = schema(_params(beta=beta))["$defs"]
    arms = schema(_params(beta=beta))["properties"]["tools"]["items"]
    found = [arm["$ref"].removeprefix("#/$defs/") for arm in arms["anyOf"]]
    return tuple(name for name in found if name in definitions)


def _tools(draw: Maker, *, beta: bool) -> list[Data]:
    custom = "BetaToolParam" if beta else "ToolParam"
    return [
        draw.named(custom if draw.chance(0.6) else draw.rng.choice(tool_kinds(beta=beta)))
        for _ in range(draw.rng.randint(0, 3))
    ]


def messages(draw: Maker, *, beta: bool) -> list[Data]:
    """Turns that alternate, mostly; every call has its result."""
    prefix = "Beta" if beta else ""
    made: list[Data] = []
    waiting: list[str] = []
    for turn in range(draw.rng.randint(1, 6)):
        if turn % 2:
            content, waiting = _answer(draw, beta=beta)
            made.append({"role": "assistant", "content": content})
            if waiting:
                continue
        else:
            results = [draw.named(f"{prefix}ToolResultBlockParam", tool_use_id=call) for call in waiting]
            waiting = []
            if not results and draw.chance(0.3):
                made.append({"role": "user", "content": draw.rng.choice(TEXTS[:4])})
                continue
            kinds = BETA_USER if beta else USER
            others = [draw.named(draw.rng.choice(kinds)) for _ in range(draw.rng.randint(0 if results else 1, 3))]
            made.append({"role": "user", "content": results + others})
        if draw.chance(0.1):
            made.append(made[-1] | {"content": [{"type": "text", "text": "and"}]})
    if waiting:
        made.append(
            {"role": "user", "content": [draw.named(f"{prefix}ToolResultBlockParam", tool_use_id=c) for c in waiting]}
        )
    if draw.chance(0.1):
        made.append(
            {"role": "system", "content": draw.rng.choice(["Be brief.", [{"type": "text", "text": "Be brief."}]])}
        )
    return made


def _answer(draw: Maker, *, beta: bool) -> tuple[Any, list[str]]:
    if draw.chance(0.2):
        return draw.rng.choice(TEXTS[:4]), []
    kinds = assistant_kinds(beta=beta)
    prefix = "Beta" if beta else ""
    usual = tuple(
        prefix + name for name in ("TextBlockParam", "ThinkingBlockParam", "ToolUseBlockParam", "ToolUseBlock")
    )
    content = [draw.named(draw.rng.choice(draw.rng.choice((usual, kinds)))) for _ in range(draw.rng.randint(1, 4))]
    return content, [block["id"] for block in content if block["type"] == "tool_use"]


# --- answers -----------------------------------------------------------------------------------------------------------


def answer(seed: int) -> Data:
    """A body that `POST /v1/messages` answers."""
    rng = random.Random(seed)
    meant = MEANT | {
        "*.output_tokens": one_of(7, 100),
        "*.thinking_tokens": one_of(0, 5),
        "*.input_tokens": one_of(0, 20),
    }
    draw = Maker(BetaMessage if rng.random() < 0.5 else Message, rng, meant, null=0.3, later=LATER)
    return draw.value()


streamed_answer = answer


_GROWS = {"text": ("text", "text_delta", "text"), "thinking": ("thinking", "thinking_delta", "thinking")}


def stream(body: Data, rng: random.Random) -> str:
    """An answer, as events."""
    usage = body.get("usage") or {}
    late = [name for name in ("context_management", "input_transformations") if name in body and rng.random() < 0.5]
    begun = {name: value for name, value in body.items() if name not in late}
    begun |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    for name in ("stop_details", "container"):
        if name in begun:
            begun[name] = None
    events: list[Data] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(body["content"]):
        events += [{**event, "index": index} for event in _block(block, rng)]
        if rng.random() < 0.1:
            events.append({"type": "ping"})
    delta = {
        name: body.get(name) for name in ("stop_reason", "stop_sequence", "stop_details", "container") if name in body
    }
    counts = usage if rng.random() < 0.5 else {"output_tokens": usage.get("output_tokens", 0)}
    after = {name: body[name] for name in late}
    events.append({"type": "message_delta", "delta": delta, "usage": counts, **after})
    events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)


def _block(block: Data, rng: random.Random) -> list[Data]:
    begun, deltas = dict(block), []
    match block["type"]:
        case "text" | "thinking" as kind:
            member, delta, name = _GROWS[kind]
            begun[member] = ""
            deltas = [{"type": delta, name: piece} for piece in cut(block[member], rng)]
            if kind == "thinking":
                begun["signature"] = ""
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            elif block.get("citations"):
                begun["citations"] = []
                deltas += [{"type": "citations_delta", "citation": one} for one in block["citations"]]
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            begun["input"] = {}
            text = json.dumps(block["input"], ensure_ascii=False)
            text = "" if text == "{}" and rng.random() < 0.5 else text
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *cut(text, rng)]]
        case "compaction":
            told = {name: value for name, value in block.items() if name != "type"}
            begun = {"type": "compaction", **dict.fromkeys(told)}
            deltas = [{"type": "compaction_delta", **told}]
        case _:
            pass
    return [
        {"type": "content_block_start", "content_block": begun},
        *({"type": "content_block_delta", "delta": delta} for delta in deltas),
        {"type": "content_block_stop"},
    ]


def cut(text: str, rng: random.Random) -> list[str]:
    """The pieces of a text."""
    if len(text) < 2 or rng.random() < 0.3:
        return [text]
    at = rng.randint(1, len(text) - 1)
    return [text[:at], text[at:]]
