"""Amazon Bedrock Converse: by which written rules the service refuses a request.

Sources: the published service model (members, kinds of blocks, patterns, limits), the reference of Converse, and what
recorded traffic adds. What only some models refuse (files in S3, video, white space) is not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from . import Violation

TOP_LEVEL = frozenset(
    "messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables "
    "additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig".split()
)
SYSTEM_BLOCKS = frozenset(("text", "guardContent", "cachePoint"))
BLOCKS = frozenset(
    "text image document video audio toolUse toolResult guardContent cachePoint reasoningContent citationsContent "
    "searchResult toolAddition toolRemoval".split()
)
ONLY_USER = frozenset(("toolResult", "document", "image", "video", "audio", "searchResult", "guardContent"))
ONLY_ASSISTANT = frozenset(("toolUse", "reasoningContent", "citationsContent"))
RESULT_BLOCKS = frozenset(("json", "text", "image", "document", "video", "searchResult"))
FORMATS = {
    "image": frozenset("png jpeg gif webp".split()),
    "document": frozenset("pdf csv doc docx xls xlsx html txt md".split()),
    "video": frozenset("mkv mov mp4 webm flv mpeg mpg wmv three_gp".split()),
    "audio": frozenset("mp3 opus wav aac flac mp4 ogg mkv mka x-aac m4a mpeg mpga pcm webm".split()),
}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOOL_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
DOCUMENT_NAME = re.compile(r"(?!.*\s\s)[a-zA-Z0-9\s()\[\]-]{1,200}")
S3 = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?", re.DOTALL)
PATH = re.compile(r"/model/([^/?]+)/(converse|converse-stream)")
METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}")
MOST_MARKS = 4


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = wire["body"]
    if not PATH.fullmatch(wire["path"]):
        # reported where other wires name the model, so that a request without one is known as such
        yield "/body/model", "the path is /model/{model}/converse or /model/{model}/converse-stream"
    for name in body:
        if name not in TOP_LEVEL and not name.startswith("x_"):
            yield f"/body/{name}", "is not a member of this wire"
    yield from _inference(body.get("inferenceConfig") or {})
    yield from _output(_said(body.get("outputConfig") or {}))
    yield from _metadata(body.get("requestMetadata") or {})
    for index, block in enumerate(body.get("system") or []):
        yield from _system(_said(block), f"/body/system/{index}")
    yield from _tools(_said(body.get("toolConfig")))
    messages = _said(body.get("messages") or [])
    if not messages:
        yield "/body/messages", "at least one message is required"
    yield from _messages(messages)
    yield from _pairs(messages)
    held = {
        kind
        for message in messages
        for block in message["content"]
        for kind in ("toolUse", "toolResult")
        if kind in block and not _is_of_server(block[kind])
    }
    if not held.isdisjoint(("toolUse", "toolResult")) and not (body.get("toolConfig") or {}).get("tools"):
        yield "/body/toolConfig", "is required when the messages hold calls or results"
    yield from _marks(body, messages)


def _said(value: Any) -> Any:
    """The value without members that are null, which say nothing; the content of a message stays."""
    if isinstance(value, list):
        return [_said(item) for item in value]
    if isinstance(value, dict):
        return {name: _said(item) for name, item in value.items() if item is not None or name == "content"}
    return value


def _inference(config: dict[str, Any]) -> Iterator[Violation]:
    at = "/body/inferenceConfig"
    limit = config.get("maxTokens")
    if limit is not None and (type(limit) is not int or limit < 1):
        yield f"{at}/maxTokens", "is a whole number from 1"
    for name in ("temperature", "topP"):
        value = config.get(name)
        if value is not None and (isinstance(value, bool) or not 0 <= value <= 1):
            yield f"{at}/{name}", "is between 0 and 1"
    for index, text in enumerate(config.get("stopSequences") or []):
        if not isinstance(text, str) or not text:
            yield f"{at}/stopSequences/{index}", "must not be empty"


def _output(config: dict[str, Any]) -> Iterator[Violation]:
    form = config.get("textFormat")
    if form is None:
        return
    at = "/body/outputConfig/textFormat"
    schema = form["structure"]["jsonSchema"]["schema"]
    if form["type"] != "json_schema" or not isinstance(schema, str):
        yield at, "is a json_schema whose schema is a text"
        return
    try:
        value = json.loads(schema)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        yield f"{at}/structure/jsonSchema/schema", "is the text of a JSON object"
    for name in ("name", "description"):
        if form["structure"]["jsonSchema"].get(name) == "":
            yield f"{at}/structure/jsonSchema/{name}", "must not be empty"


def _metadata(metadata: dict[str, Any]) -> Iterator[Violation]:
    if len(metadata) > 16:
        yield "/body/requestMetadata", "holds at most sixteen members"
    for name, value in metadata.items():
        if not isinstance(value, str) or not METADATA.fullmatch(name) or not METADATA.fullmatch(value):
            yield "/body/requestMetadata", "names and values are short texts of plain characters"


# --- tools ------------------------------------------------------------------------------------------------------------------


def _tools(config: Any) -> Iterator[Violation]:
    if config is None:
        return
    tools = config.get("tools")
    if not tools:
        yield "/body/toolConfig/tools", "at least one tool is required"
        return
    names: list[str] = []
    for index, tool in enumerate(tools):
        at = f"/body/toolConfig/tools/{index}"
        kinds = [kind for kind in tool if kind in ("toolSpec", "systemTool", "cachePoint")]
        if len(kinds) != 1:
            yield at, "holds exactly one of toolSpec, systemTool and cachePoint"
        elif kinds[0] == "toolSpec":
            names.append(tool["toolSpec"].get("name"))
            yield from _tool(tool["toolSpec"], f"{at}/toolSpec")
        elif kinds[0] == "cachePoint":
            yield from _cache_point(tool["cachePoint"], f"{at}/cachePoint")
            if index == 0:
                yield at, "a mark stands behind what it is for"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "/body/toolConfig/tools", f"the name {name!r} is there twice"
    choice = config.get("toolChoice")
    if choice is not None:
        if len(choice) != 1 or next(iter(choice)) not in ("auto", "any", "tool"):
            yield "/body/toolConfig/toolChoice", "holds exactly one of auto, any and tool"
        elif "tool" in choice and choice["tool"].get("name") not in names:
            yield "/body/toolConfig/toolChoice/tool/name", "names no tool of the request"


def _tool(spec: dict[str, Any], at: str) -> Iterator[Violation]:
    if not isinstance(spec.get("name"), str) or not TOOL_NAME.fullmatch(spec["name"]):
        yield f"{at}/name", f"does not match {TOOL_NAME.pattern}"
    if spec.get("description") == "":
        yield f"{at}/description", "must not be empty"
    schema = (spec.get("inputSchema") or {}).get("json")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{at}/inputSchema/json", "must be a JSON Schema with type object"


# --- messages ---------------------------------------------------------------------------------------------------------------


def _system(block: dict[str, Any], at: str) -> Iterator[Violation]:
    kinds = [kind for kind in block if kind in BLOCKS]
    if len(kinds) != 1 or kinds[0] not in SYSTEM_BLOCKS:
        yield at, "holds exactly one of text, guardContent and cachePoint"
    elif kinds[0] == "text" and not block["text"]:
        yield f"{at}/text", "must not be empty"
    elif kinds[0] == "cachePoint":
        yield from _cache_point(block["cachePoint"], f"{at}/cachePoint")


def _messages(messages: list[Any]) -> Iterator[Violation]:
    previous = None
    for index, message in enumerate(messages):
        at = f"/body/messages/{index}"
        role, content = message.get("role"), message.get("content")
        if role not in ("user", "assistant", "system"):
            yield f"{at}/role", "is user, assistant or system"
        if role == previous:
            yield f"{at}/role", "the turns of user and assistant alternate"
        if previous is None and role != "user":
            yield f"{at}/role", "a conversation begins with the user"
        previous = role if role != "system" else previous
        if not isinstance(content, list) or not content:
            yield f"{at}/content", "is a list that is not empty"
            continue
        for number, block in enumerate(content):
            yield from _block(block, role, f"{at}/content/{number}")
        if any("document" in block for block in content) and not any("text" in block for block in content):
            yield f"{at}/content", "a message with a document also holds a text"
        if "cachePoint" in content[0]:
            yield f"{at}/content/0", "a mark stands behind what it is for"


def _block(block: dict[str, Any], role: Any, at: str) -> Iterator[Violation]:
    kinds = [kind for kind in block if kind in BLOCKS]
    if len(kinds) != 1:
        if not any(kind.startswith("x_") or block.get("type") == "x_planted" for kind in block):
            yield at, "holds exactly one member that names its kind"
        return
    kind = kinds[0]
    inner = block[kind]
    if role == "assistant" and kind in ONLY_USER and not (kind == "toolResult" and inner.get("type")):
        yield at, f"{kind} stands in user messages only"
    if role == "user" and kind in ONLY_ASSISTANT:
        yield at, f"{kind} stands in assistant messages only"
    match kind:
        case "text" if not isinstance(inner, str) or not inner:
            yield f"{at}/text", "must not be empty"
        case "toolUse":
            yield from _tool_use(inner, f"{at}/toolUse")
        case "toolResult":
            yield from _tool_result(inner, f"{at}/toolResult")
        case "image" | "video" | "audio" | "document":
            yield from _medium(inner, kind, f"{at}/{kind}")
        case "reasoningContent":
            yield from _reasoning(inner, f"{at}/reasoningContent")
        case "cachePoint":
            yield from _cache_point(inner, f"{at}/cachePoint")


def _tool_use(use: dict[str, Any], at: str) -> Iterator[Violation]:
    if not isinstance(use.get("toolUseId"), str) or not TOOL_ID.fullmatch(use["toolUseId"]):
        yield f"{at}/toolUseId", f"does not match {TOOL_ID.pattern}"
    if not isinstance(use.get("name"), str) or not TOOL_NAME.fullmatch(use["name"]):
        yield f"{at}/name", f"does not match {TOOL_NAME.pattern}"
    if not isinstance(use.get("input"), dict):
        yield f"{at}/input", "must be an object"


def _tool_result(result: dict[str, Any], at: str) -> Iterator[Violation]:
    if not isinstance(result.get("toolUseId"), str) or not TOOL_ID.fullmatch(result["toolUseId"]):
        yield f"{at}/toolUseId", f"does not match {TOOL_ID.pattern}"
    if result.get("status") not in (None, "success", "error"):
        yield f"{at}/status", "is success or error"
    content = result.get("content")
    if not isinstance(content, list) or not content:
        yield f"{at}/content", "is a list that is not empty"
        return
    for index, part in enumerate(content):
        kinds = [kind for kind in part if kind in BLOCKS | RESULT_BLOCKS]
        where = f"{at}/content/{index}"
        if len(kinds) != 1 or kinds[0] not in RESULT_BLOCKS:
            yield where, "has no form in a result"
        elif kinds[0] == "text" and not part["text"]:
            yield f"{where}/text", "must not be empty"
        elif kinds[0] in FORMATS:
            yield from _medium(part[kinds[0]], kinds[0], f"{where}/{kinds[0]}")


def _medium(medium: dict[str, Any], kind: str, at: str) -> Iterator[Violation]:
    if medium.get("format") not in FORMATS[kind] and not (kind == "document" and "format" not in medium):
        yield f"{at}/format", f"is no format of {kind}"
    sources = ("bytes", "s3Location", "text", "content") if kind == "document" else ("bytes", "s3Location")
    source = medium["source"]
    if len(source) != 1 or next(iter(source)) not in sources:
        yield f"{at}/source", f"holds exactly one of {', '.join(sources)}"
    elif "s3Location" in source and not S3.fullmatch(source["s3Location"]["uri"]):
        yield f"{at}/source/s3Location/uri", "is no address of S3"
    elif not next(iter(source.values())):
        yield f"{at}/source", "must not be empty"
    if kind == "document":
        if not isinstance(medium.get("name"), str) or not DOCUMENT_NAME.fullmatch(medium["name"]):
            yield f"{at}/name", "holds letters, digits, single spaces, hyphens and brackets only"
        if medium.get("context") == "":
            yield f"{at}/context", "must not be empty"


def _reasoning(reasoning: dict[str, Any], at: str) -> Iterator[Violation]:
    if len(reasoning) != 1 or next(iter(reasoning)) not in ("reasoningText", "redactedContent"):
        yield at, "holds exactly one of reasoningText and redactedContent"
    elif "reasoningText" in reasoning:
        inner = reasoning["reasoningText"]
        if not isinstance(inner.get("text"), str):
            yield f"{at}/reasoningText/text", "is required"
        if inner.get("signature", "-") == "":
            yield f"{at}/reasoningText/signature", "must not be empty"


# --- calls and results ------------------------------------------------------------------------------------------------------


def _pairs(messages: list[Any]) -> Iterator[Violation]:
    """Every call is answered in the next user message, nothing else is, and results stand before all else."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        content = message.get("content") or []
        if message.get("role") == "assistant":
            if waiting:
                yield f"/body/messages/{index}", "calls before it have no results"
            waiting = [
                block["toolUse"]["toolUseId"]
                for block in content
                if "toolUse" in block and not _is_of_server(block["toolUse"])
            ]
            if len(set(waiting)) != len(waiting):
                yield f"/body/messages/{index}", "two calls have one id"
        elif message.get("role") == "user":
            answers = [block["toolResult"]["toolUseId"] for block in content if "toolResult" in block]
            if sorted(answers) != sorted(waiting):
                yield f"/body/messages/{index}", "the results are not those of the calls before it"
            kinds = ["toolResult" in block for block in content if "cachePoint" not in block]
            if kinds != sorted(kinds, reverse=True):
                yield f"/body/messages/{index}", "results stand before other content"
            waiting = []


def _is_of_server(item: dict[str, Any]) -> bool:
    """Whether the provider itself ran the tool."""
    return item.get("type", "tool_use") != "tool_use"


def _cache_point(point: Any, at: str) -> Iterator[Violation]:
    if not isinstance(point, dict) or point.get("type") != "default":
        yield f"{at}/type", "is default"
    elif point.get("ttl") not in (None, "5m", "1h"):
        yield f"{at}/ttl", "is 5m or 1h"


def _marks(body: dict[str, Any], messages: list[Any]) -> Iterator[Violation]:
    lists = [(body.get("toolConfig") or {}).get("tools") or [], body.get("system") or []]
    lists += [message.get("content") or [] for message in messages]
    marks = [block["cachePoint"] for blocks in lists for block in blocks if isinstance(block.get("cachePoint"), dict)]
    if len(marks) > MOST_MARKS:
        yield "/body", "holds more than four marks for the cache"
    short = False
    for mark in marks:
        if mark.get("ttl") == "1h" and short:
            yield "/body", "a mark of one hour stands before marks of five minutes"
        short = short or mark.get("ttl") != "1h"
