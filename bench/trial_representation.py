"""
The trial behind spec/decisions/0001: how canonical values are held inside, in four ways, doing the same work.

Each way reads the same canonical JSON, validates it, and writes the hearts of two wires (text, tool calls, results and
tools of Anthropic Messages and of Chat Completions) with a report of what was dropped. Outputs are compared before
anything is timed. Run: `python bench/trial_representation.py`.
"""

import json as standard_json
import statistics
import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
import orjson
from pydantic import Field, TypeAdapter
from workload import conversation

from interlingua.canonical import json as canonical_json
from interlingua.canonical.models import Request as PydanticRequest
from interlingua.canonical.validate import validate

Data = dict[str, Any]
Written = tuple[Data, Data, list[str]]


# ------------------------------------------------------------------------------------------------ plain data


def plain_read(text: bytes) -> Data:
    request = canonical_json.loads(text)
    validate(request)
    return request


def plain_write(request: Data) -> Written:
    return _plain_anthropic(request), _plain_openai(request), [name for name in ("seed",) if name in request]


def _plain_anthropic(request: Data) -> Data:
    turns: list[Data] = []
    for message in request["messages"]:
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = [_plain_anthropic_block(block) for block in message["content"]]
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    tools = [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["input_schema"]}
        for tool in request["tools"]
    ]
    return {"messages": turns, "tools": tools}


def _plain_anthropic_block(block: Data) -> Data:
    match block["type"]:
        case "text":
            return {"type": "text", "text": block["text"]}
        case "tool_use":
            return {"type": "tool_use", "id": block["id"], "name": block["name"], "input": block["input"]}
        case _:
            content = [_plain_anthropic_block(inner) for inner in block["content"]]
            return {"type": "tool_result", "tool_use_id": block["tool_use_id"], "content": content}


def _plain_openai(request: Data) -> Data:
    messages: list[Data] = []
    for message in request["messages"]:
        written: Data = {"role": message["role"], "content": ""}
        for block in message["content"]:
            match block["type"]:
                case "text":
                    written["content"] += block["text"]
                case "tool_use":
                    call = {"name": block["name"], "arguments": orjson.dumps(block["input"]).decode()}
                    written.setdefault("tool_calls", []).append(
                        {"id": block["id"], "type": "function", "function": call}
                    )
                case _:
                    written["tool_call_id"] = block["tool_use_id"]
                    written["content"] = "".join(inner["text"] for inner in block["content"])
        messages.append(written)
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["input_schema"],
            },
        }
        for tool in request["tools"]
    ]
    return {"messages": messages, "tools": tools}


# ------------------------------------------------------------------------------------------------ objects of any kind


def object_write(request: Any) -> Written:
    return (
        _object_anthropic(request),
        _object_openai(request),
        [n for n in ("seed",) if getattr(request, n) is not None],
    )


def _object_anthropic(request: Any) -> Data:
    turns: list[Data] = []
    for message in request.messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [_object_anthropic_block(block) for block in message.content]
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    tools = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in request.tools]
    return {"messages": turns, "tools": tools}


def _object_anthropic_block(block: Any) -> Data:
    match block.type:
        case "text":
            return {"type": "text", "text": block.text}
        case "tool_use":
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case _:
            content = [_object_anthropic_block(inner) for inner in block.content]
            return {"type": "tool_result", "tool_use_id": block.tool_use_id, "content": content}


def _object_openai(request: Any) -> Data:
    messages: list[Data] = []
    for message in request.messages:
        written: Data = {"role": str(message.role), "content": ""}
        for block in message.content:
            match block.type:
                case "text":
                    written["content"] += block.text
                case "tool_use":
                    call = {"name": block.name, "arguments": orjson.dumps(block.input).decode()}
                    written.setdefault("tool_calls", []).append({"id": block.id, "type": "function", "function": call})
                case _:
                    written["tool_call_id"] = block.tool_use_id
                    written["content"] = "".join(inner.text for inner in block.content)
        messages.append(written)
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.input_schema}}
        for t in request.tools
    ]
    return {"messages": messages, "tools": tools}


# ------------------------------------------------------------------------------------------------ slotted dataclasses


@dataclass(frozen=True, slots=True)
class TextData:
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ToolUseData:
    id: str
    name: str
    input: dict[str, Any]
    type: Literal["tool_use"] = "tool_use"


@dataclass(frozen=True, slots=True)
class ToolResultData:
    tool_use_id: str
    content: list[TextData]
    type: Literal["tool_result"] = "tool_result"


BlockData = Annotated[TextData | ToolUseData | ToolResultData, Field(discriminator="type")]


@dataclass(frozen=True, slots=True)
class MessageData:
    role: Literal["system", "user", "assistant", "tool"]
    content: list[BlockData]
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolData:
    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RequestData:
    model: str
    messages: list[MessageData]
    tools: list[ToolData]
    system: list[TextData]
    tool_choice: dict[str, Any]
    max_output_tokens: int
    temperature: float
    seed: int | None = None


_dataclass_door = TypeAdapter(RequestData)


# ------------------------------------------------------------------------------------------------ msgspec structs


class TextStruct(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    text: str

    @property
    def type(self) -> str:
        return "text"


class ToolUseStruct(msgspec.Struct, frozen=True, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: dict[str, Any]

    @property
    def type(self) -> str:
        return "tool_use"


class ToolResultStruct(msgspec.Struct, frozen=True, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: list[TextStruct]

    @property
    def type(self) -> str:
        return "tool_result"


class MessageStruct(msgspec.Struct, frozen=True):
    role: Literal["system", "user", "assistant", "tool"]
    content: list[TextStruct | ToolUseStruct | ToolResultStruct]
    metadata: dict[str, Any] | None = None


class ToolStruct(msgspec.Struct, frozen=True):
    name: str
    description: str
    input_schema: dict[str, Any]


class RequestStruct(msgspec.Struct, frozen=True):
    model: str
    messages: list[MessageStruct]
    tools: list[ToolStruct]
    system: list[TextStruct]
    tool_choice: dict[str, Any]
    max_output_tokens: int
    temperature: float
    seed: int | None = None


_struct_door = msgspec.json.Decoder(RequestStruct)

WAYS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], Written]]] = {
    "plain data, schema validator": (plain_read, plain_write),
    "frozen pydantic models": (PydanticRequest.model_validate_json, object_write),
    "slotted dataclasses, TypeAdapter": (_dataclass_door.validate_json, object_write),
    "msgspec structs": (_struct_door.decode, object_write),
}


def best(work: Callable[[], Any], rounds: int = 9, number: int = 60) -> list[float]:
    """Microseconds of one run of the work, one figure a round."""
    return [seconds / number * 1e6 for seconds in timeit.repeat(work, repeat=rounds, number=number)]


def main() -> None:
    text = standard_json.dumps(conversation(20)).encode()
    expected = plain_write(plain_read(text))
    for name, (read, write) in WAYS.items():
        if write(read(text)) != expected:
            raise SystemExit(f"{name} writes something else")
    print(
        f"20 messages with tools, {len(text)} bytes; ratio to orjson.loads + orjson.dumps of the same bytes, median [best]"
    )
    ratios: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for _ in range(5):
        floor = min(best(lambda: orjson.dumps(orjson.loads(text))))
        for name, (read, write) in WAYS.items():
            door = min(best(lambda read=read: read(text))) / floor
            whole = (
                min(best(lambda read=read, write=write: [orjson.dumps(body) for body in write(read(text))[:2]])) / floor
            )
            ratios[name].append((door, whole))
    for name, rows in ratios.items():
        door, whole = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"  {name:34} read and validate {door:5.2f}x   … and write both wires {whole:5.2f}x")


if __name__ == "__main__":
    main()
