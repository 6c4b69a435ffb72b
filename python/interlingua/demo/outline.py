"""A request at a glance: wires as outlines, and what became of each piece."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

Data = Mapping[str, Any]
Lines = list[Text]


def anthropic_messages(body: Data, width: int) -> Lines:
    """The outline of a request on Anthropic's wire, lines at most so wide."""
    lines: Lines = []
    for tool in body.get("tools", []):
        lines.append(_head("tool", tool["name"], _marks(tool)))
    lines.append(_head("system"))
    lines += [_item(width, "text", block["text"], _marks(block)) for block in body["system"]]
    for message in body["messages"]:
        lines.append(_head(message["role"]))
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            lines += _anthropic_block(block, width)
    return lines


def _anthropic_block(block: Data, width: int) -> Lines:
    match block["type"]:
        case "text":
            return [_item(width, "text", block["text"], _marks(block))]
        case "thinking":
            return [_item(width, "thinking", block["thinking"], "signed")]
        case "tool_use":
            return [_item(width, "tool_use", f"{block['name']} {_flat(block['input'])}", _marks(block))]
        case "tool_result":
            content = block["content"]
            if isinstance(content, str):
                return [_item(width, "tool_result", content, _marks(block))]
            inner = [_anthropic_block(part, width - 2) for part in content]
            return [
                _item(width, "tool_result", "", _marks(block)),
                *(Text("  ").append_text(line) for lines in inner for line in lines),
            ]
        case "image":
            source = block["source"]
            return [_item(width, "image", f"{source['media_type']}, {len(source['data'])} characters")]
        case kind:
            return [_item(width, kind, "")]


def openai_chat(body: Data, width: int) -> Lines:
    """The outline of a request on OpenAI's wire, lines at most so wide."""
    lines: Lines = []
    for tool in body.get("tools", []):
        lines.append(_head("tool", tool["function"]["name"]))
    for message in body["messages"]:
        lines.append(_head(message["role"]))
        content: Any = message.get("content") or []
        parts: list[Data] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            match part["type"]:
                case "text":
                    lines.append(_item(width, "text", part["text"]))
                case "image_url":
                    address = part["image_url"]["url"]
                    lines.append(_item(width, "image_url", f"{address[:21]}… {len(address)} characters"))
                case kind:
                    lines.append(_item(width, kind, ""))
        for call in message.get("tool_calls", []):
            function = call["function"]
            lines.append(_item(width, "tool_call", f"{function['name']} {function['arguments']}"))
    return lines


def _head(role: str, name: str = "", marks: str = "") -> Text:
    line = Text.assemble((role, "bold blue"))
    if name:
        line.append(f" {name}")
    if marks:
        line.append(f" ·{marks}", style="magenta")
    return line


def _item(width: int, kind: str, value: str, marks: str = "") -> Text:
    room = width - len(kind) - 3 - (len(marks) + 2 if marks else 0)
    value = " ".join(value.split())
    line = Text.assemble("  ", (kind, "dim"), " ", value if len(value) <= room else f"{value[: room - 1]}…")
    if marks:
        line.append(f" ·{marks}", style="magenta")
    return line


def _marks(item: Data) -> str:
    hint = item.get("cache_control")
    return "" if hint is None else f"cache {hint.get('ttl', '')}".rstrip()


def _flat(value: Data) -> str:
    return ", ".join(f"{key}={item}" for key, item in value.items())


# ---------------------------------------------------------------------------------------------------- fates


def pieces(request: Data) -> Iterator[tuple[str, str]]:
    """The pieces of a canonical request that a person would name, each with its JSON Pointer."""
    for position, tool in enumerate(request.get("tools", [])):
        yield f"/tools/{position}", f"tool {tool['name']}"
        if "cache" in tool:
            yield f"/tools/{position}/cache", "its cache hint"
    for name in request.get("reasoning", ()):
        yield f"/reasoning/{name}", f"the {name} of reasoning"
    for i, message in enumerate(request["messages"]):
        for j, block in enumerate(message["content"]):
            at = f"/messages/{i}/content/{j}"
            yield at, f"{message['role']}: {_named(block)}"
            for k, inner in enumerate(block.get("content", []) if block["type"] == "tool_result" else []):
                yield f"{at}/content/{k}", f"in the result: {_named(inner)}"
            if "cache" in block:
                yield f"{at}/cache", "its cache hint"


def _named(block: Data) -> str:
    match block["type"]:
        case "text":
            return f"“{block['text'][:26]}…”" if len(block["text"]) > 27 else f"“{block['text']}”"
        case "tool_use":
            return f"call {block['name']}({_flat(block['input'])})"
        case "tool_result":
            return "result of a call"
        case "thinking":
            return "signed thinking" if block.get("signature") else "thinking"
        case kind:
            return kind


def fate(pointer: str, loss: list[Data]) -> tuple[str, str]:
    """What became of a piece, and why: `kept`, or the severity of the entry that speaks of it."""
    for entry in loss:
        path: str = entry["path"]
        if pointer == path or pointer.startswith(path + "/"):
            return entry["severity"], entry["message"]
    return "kept", ""
