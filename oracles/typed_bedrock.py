"""
Requests, answers and streams of Amazon Bedrock Converse, at random, from the service model that botocore ships.

Every member and variant of the shapes occurs. What the model cannot say and the service demands all the same (calls and
their results pair, turns alternate, a document has a name of its own) is built so.
"""

import base64
import json
import random
import string
from functools import cache
from typing import Any

from botocore.session import Session

Value = dict[str, Any]

DEPTH = 9  # beyond it only what is required
USER = (
    "text",
    "image",
    "document",
    "video",
    "audio",
    "guardContent",
    "searchResult",
    "cachePoint",
    "toolAddition",
    "toolRemoval",
)
ASSISTANT = ("text", "toolUse", "reasoningContent", "citationsContent", "cachePoint", "image", "toolResult")


@cache
def _model() -> Any:
    return Session().get_service_model("bedrock-runtime")


def shape_of(name: str) -> Any:
    """A shape of the service model."""
    return _model().shape_for(name)


class Maker:
    """Random values of one source of randomness."""

    def __init__(self, source: random.Random, *, nulls: float = 0.0) -> None:
        self.random = source
        self.share = 0.35  # of the optional members
        self.nulls = nulls  # … that are null
        self.count = 0

    # ------------------------------------------------------------------------------------------ values by their shape

    def value(self, shape: Any, depth: int = 0) -> Any:
        """A value of a shape of the service model."""
        if shape.name in _NAMED:
            return _NAMED[shape.name](self)
        if getattr(shape, "is_document_type", False):
            return self.free()
        match shape.type_name:
            case "structure":
                return self.structure(shape, depth)
            case "list":
                return [self.value(shape.member, depth + 1) for _ in range(self.size(shape, depth))]
            case "map":
                return {
                    self.value(shape.key): self.value(shape.value, depth + 1) for _ in range(self.size(shape, depth))
                }
            case "string":
                return self.random.choice(shape.enum) if shape.enum else self.text(1)
            case "blob":
                return self.blob()
            case "boolean":
                return self.random.random() < 0.5
            case "integer" | "long":
                return self.random.choice((1, self.random.randint(1, 5000)))
            case "float" | "double":
                return self.random.choice((0, 1, 0.5, round(self.random.random(), 3)))
            case other:
                raise AssertionError(f"{shape.name} is a {other}")

    def structure(self, shape: Any, depth: int = 0) -> Value:
        """An object; of a union exactly one member."""
        if shape.is_tagged_union:
            name = self.random.choice(list(shape.members))
            return self.alone(shape, name, self.value(shape.members[name], depth + 1))
        made: Value = {}
        for name, member in shape.members.items():
            if name in shape.required_members or (depth < DEPTH and self.random.random() < self.share):
                made[name] = self.value(member, depth + 1)
            elif self.random.random() < self.nulls:
                made[name] = None
        return made

    def alone(self, shape: Any, name: str, value: Any) -> Value:
        """A union of which one member is there, and others are null where nulls are asked for."""
        if self.random.random() >= self.nulls:
            return {name: value}
        members = self.random.sample(list(shape.members), self.random.randint(1, len(shape.members)))
        return {**{one: None for one in members if one != name}, name: value}

    def size(self, shape: Any, depth: int) -> int:
        """How many elements."""
        least = shape.metadata.get("min", 0)
        return max(least, 0 if depth >= DEPTH else self.random.choice((0, 1, 1, 2)))

    def text(self, least: int = 0) -> str:
        """A text, seldom an odd one."""
        odd = ("", " ", "\n", "\u2028", "é😀", "a\r\nb", "[tool_error]\nx", "{}", "null", "<x>", " end ")
        if self.random.random() < 0.15:
            return self.random.choice([one for one in odd if len(one) >= least])
        return " ".join(self.random.choice(_WORDS) for _ in range(self.random.randint(1, 4)))

    def word(self, characters: str, most: int) -> str:
        """A name of these characters, of which this maker gives none twice."""
        self.count += 1
        letters = "".join(self.random.choice(characters) for _ in range(self.random.randint(1, most)))
        return f"{letters}{self.count}"

    def blob(self) -> str:
        """Base64 text."""
        return base64.b64encode(self.random.randbytes(self.random.randint(1, 12))).decode()

    def free(self, depth: int = 0) -> Any:
        """Any JSON."""
        if depth < 3 and self.random.random() < 0.5:
            if self.random.random() < 0.7:
                return self.object(depth)
            return [self.free(depth + 1) for _ in range(self.random.randint(0, 3))]
        return self.random.choice((None, True, False, 0, -1, 1.5, 10**20, self.text()))

    def object(self, depth: int = 0) -> Value:
        """Any JSON object."""
        return {self.random.choice(_WORDS): self.free(depth + 1) for _ in range(self.random.randint(0, 3))}

    # ------------------------------------------------------------------------------------------ requests

    def request(self, *, stream: bool = False) -> Value:
        """A body of `Converse`, or of `ConverseStream`."""
        shape = _model().operation_model("ConverseStream" if stream else "Converse").input_shape
        body = self.structure(shape)
        body.pop("modelId", None)
        tools = body.get("toolConfig")
        if tools and (named := [one["toolSpec"]["name"] for one in tools["tools"] if one.get("toolSpec")]):
            if (tools.get("toolChoice") or {}).get("tool"):
                tools["toolChoice"]["tool"]["name"] = self.random.choice(named)
        names = named if tools else []
        body["messages"] = self.messages(names)
        return body

    def messages(self, names: list[str]) -> list[Value]:
        """Turns that alternate; every call has its result in the turn after it."""
        messages: list[Value] = []
        open_calls: list[str] = []
        for turn in range(self.random.randint(1, 6)):
            if turn % 2:
                content = self.content(ASSISTANT)
                open_calls = [
                    block["toolUse"]["toolUseId"]
                    for block in content
                    if block.get("toolUse") and not block["toolUse"].get("type")
                ]
                for block in content:
                    if block.get("toolUse") and names and self.random.random() < 0.8:
                        block["toolUse"]["name"] = self.random.choice(names)
                messages.append({"role": "assistant", "content": content})
            else:
                results = [{"toolResult": {**self.result(), "toolUseId": call}} for call in open_calls]
                open_calls = []
                content = results + (self.content(USER) if not results or self.random.random() < 0.4 else [])
                if any(block.get("document") for block in content) and self.random.random() < 0.9:
                    content.append({"text": "and this"})
                messages.append({"role": "user", "content": content})
        if open_calls:
            messages.append(
                {"role": "user", "content": [{"toolResult": {**self.result(), "toolUseId": c}} for c in open_calls]}
            )
        return messages

    def content(self, kinds: tuple[str, ...]) -> list[Value]:
        """Blocks of some kinds."""
        shape = shape_of("ContentBlock")
        blocks: list[Value] = []
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.choice(kinds)
            if kind == "cachePoint" and not blocks:
                kind = "text"
            value = self.value(shape.members[kind], 2)
            if kind == "toolResult":
                value.setdefault("type", "server_tool_use")
            blocks.append(self.alone(shape, kind, value))
        return blocks

    def result(self) -> Value:
        """A result of a tool of the caller."""
        made = self.structure(shape_of("ToolResultBlock"), 2)
        made.pop("type", None)
        if not made["content"]:
            made["content"] = [{"text": "done"}]
        return made

    # ------------------------------------------------------------------------------------------ answers

    def answer(self) -> Value:
        """A body that `Converse` answers."""
        body = self.structure(_model().operation_model("Converse").output_shape)
        blocks = [block for block in self.content(ASSISTANT) if _is_said(block)]
        body["output"] = {"message": {"role": "assistant", "content": blocks}}
        return body

    def stream(self, answer: Value) -> list[tuple[str, Value]]:
        """The events of `ConverseStream` that say an answer."""
        events: list[tuple[str, Value]] = [("messageStart", {"role": "assistant"})]
        for index, block in enumerate(answer["output"]["message"]["content"]):
            start, deltas = self.pieces(block)
            if start is not None:
                start = self.alone(shape_of("ContentBlockStart"), *next(iter(start.items())))
                events.append(("contentBlockStart", {"start": start, "contentBlockIndex": index}))
            for delta in deltas:
                delta = self.alone(shape_of("ContentBlockDelta"), *next(iter(delta.items())))
                events.append(("contentBlockDelta", {"delta": delta, "contentBlockIndex": index}))
            events.append(("contentBlockStop", {"contentBlockIndex": index}))
        stop = {name: answer[name] for name in ("stopReason", "additionalModelResponseFields") if name in answer}
        events.append(("messageStop", stop))
        rest = {name: value for name, value in answer.items() if name not in stop and name != "output"}
        events.append(("metadata", rest))
        return events

    def pieces(self, block: Value) -> tuple[Value | None, list[Value]]:
        """The beginning of a block, where it has one, and its deltas."""
        shape = shape_of("ReasoningContentBlockDelta")
        match {name: value for name, value in block.items() if value is not None}:
            case {"text": text}:
                return None, [{"text": piece} for piece in self.cut(text)]
            case {"toolUse": {"input": value, **use}}:
                text = _dumps(value) if value != {} or self.random.random() < 0.5 else ""
                return {"toolUse": use}, [{"toolUse": {"input": piece}} for piece in self.cut(text)]
            case {"toolResult": {"content": content, **result}}:
                return {"toolResult": result}, [{"toolResult": [part]} for part in content]
            case {"image": {"format": form, **image}}:
                return {"image": {"format": form}}, [{"image": image}]
            case {"reasoningContent": {"reasoningText": dict(inner)}}:
                deltas = [self.alone(shape, "text", piece) for piece in self.cut(inner["text"])]
                if "signature" in inner:
                    deltas.append(self.alone(shape, "signature", inner["signature"]))
                return None, [{"reasoningContent": delta} for delta in deltas]
            case {"reasoningContent": {"redactedContent": data}}:
                return None, [{"reasoningContent": self.alone(shape, "redactedContent", data)}]
            case {"citationsContent": inner}:
                texts = [{"text": piece} for part in inner.get("content") or [] for piece in self.cut(part["text"])]
                return None, texts + [{"citation": one} for one in inner.get("citations") or []]
            case _:
                raise AssertionError(f"no stream says {list(block)}")

    def cut(self, text: str) -> list[str]:
        """The pieces of a text."""
        if len(text) < 2 or self.random.random() < 0.3:
            return [text]
        at = self.random.randint(1, len(text) - 1)
        return [text[:at], text[at:]]


def request(seed: int) -> Value:
    """A body of `Converse` or `ConverseStream`."""
    return Maker(random.Random(seed), nulls=0.1 if seed % 4 == 0 else 0.0).request(stream=seed % 2 == 1)


def answer(seed: int) -> Value:
    """A body that `Converse` answers."""
    return Maker(random.Random(seed), nulls=0.1 if seed % 4 == 0 else 0.0).answer()


def streamed_answer(seed: int) -> Value:
    """An answer as a stream can say it."""
    return Maker(random.Random(seed)).answer()


def stream(body: Value, source: random.Random) -> list[tuple[str, Value]]:
    """The events of `ConverseStream` that say an answer."""
    return Maker(source, nulls=source.choice((0.0, 0.0, 0.1))).stream(body)


def _is_said(block: Value) -> bool:
    """Whether a stream can say that there is such a block."""
    inner = block.get("citationsContent", {"content": True}) or {}
    return "cachePoint" not in block and bool(inner.get("content") or inner.get("citations"))


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_WORDS = ("alpha", "beta", "Gamma", "delta", "über", "x", "name", "type", "content", "count", "日本")
_PLAIN = string.ascii_letters + string.digits + "_-"
_NAMED: dict[str, Any] = {
    "ToolName": lambda maker: maker.word(_PLAIN, 8),
    "ToolUseId": lambda maker: maker.word(_PLAIN + ".:", 8),
    "DocumentBlockNameString": lambda maker: maker.word(string.ascii_letters + "[]()-", 6),
    "S3Uri": lambda maker: "s3://bucket-1" + maker.random.choice(("", "/", "/folder/file.pdf")),
    "AccountId": lambda maker: "123456789012",
    "ToolInputSchema": lambda maker: {"json": maker.random.choice(_SCHEMAS)},
    "ToolUseBlock": lambda maker: {
        "toolUseId": maker.word(_PLAIN + ".:", 8),
        "name": maker.word(_PLAIN, 8),
        "input": maker.object(),
        **({"type": "server_tool_use"} if maker.random.random() < 0.15 else {}),
    },
    "RequestMetadata": lambda maker: {
        maker.word(string.ascii_letters, 5): "some value" for _ in range(maker.random.randint(1, 3))
    },
    "GuardrailIdentifier": lambda maker: "abc123",
    "GuardrailVersion": lambda maker: "DRAFT",
    "InvokedModelId": lambda maker: "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3",
    "ConversationRole": lambda maker: "assistant",
    "Messages": lambda maker: [],
    "JsonSchemaDefinition": lambda maker: {
        "schema": _dumps(maker.random.choice(_SCHEMAS)),
        **{name: maker.text(1) for name in ("name", "description") if maker.random.random() < 0.5},
    },
    "OutputConfigEffortString": lambda maker: maker.random.choice(("low", "medium", "high", "xhigh", "max")),
}
_SCHEMAS: list[Value] = [
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {
        "type": "object",
        "properties": {
            "n": {"type": ["integer", "null"], "minimum": 1},
            "l": {"type": "array", "items": {"enum": [1, "a"]}},
        },
    },
    {
        "type": "object",
        "properties": {"r": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"type": "object", "additionalProperties": False}},
    },
]
