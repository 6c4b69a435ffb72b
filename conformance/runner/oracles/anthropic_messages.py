"""Anthropic Messages: by which written rules the provider refuses a request.

Sources: the published reference of the Messages API, its types, and what recorded traffic adds.
Where traffic passes although documents say otherwise (a first assistant turn, whitespace in assistant text, an id that
comes again in a later turn), the rule is not applied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import Violation

TOP_LEVEL = frozenset(
    "model max_tokens messages system stop_sequences stream thinking output_config tools tool_choice metadata service_tier "
    "speed cache_control container inference_geo diagnostics temperature top_p top_k context_management mcp_servers "
    "fallbacks fallback_credit_token compaction thread billing_policy output_format anthropic_version anthropic_beta".split()
)
SYSTEM_BLOCKS = frozenset("text tool_addition tool_removal".split())
NEVER_ASSISTANT = frozenset("image tool_result search_result container_upload".split())
RESULT_BLOCKS = frozenset("text image document search_result tool_reference browser_state".split())
IMAGE_TYPES = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
SAMPLING = ("temperature", "top_p", "top_k")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
ADDRESS = re.compile(r"https://\S+", re.IGNORECASE)
FILE_ID = re.compile(r"[^\s/:]+")
STRICT_FORBIDDEN = ("minimum", "maximum", "minLength", "maxLength", "multipleOf", "maxItems", "oneOf")


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = wire["body"]
    for name in ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            yield f"/body/{name}", "is required"
    for name in body:
        if name not in TOP_LEVEL and not name.startswith("x_"):
            yield f"/body/{name}", "is not a member of this wire (400 Extra inputs are not permitted)"
    yield from _limits(wire, body)
    yield from _system(body.get("system"))
    yield from _tools(body)
    yield from _thinking(body)
    messages = body.get("messages")
    if isinstance(messages, list):
        if not messages:
            yield "/body/messages", "at least one message is required"
        yield from _messages(messages)
    yield from _cache_marks(body)


def _limits(wire: dict[str, Any], body: dict[str, Any]) -> Iterator[Violation]:
    limit = body.get("max_tokens")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        yield "/body/max_tokens", "is a whole number from 0"
    for index, text in enumerate(body.get("stop_sequences") or []):
        if not isinstance(text, str) or not text.strip():
            yield f"/body/stop_sequences/{index}", "must hold more than white space"
    version = {name.lower(): value for name, value in (wire.get("headers") or {}).items()}.get("anthropic-version")
    for name in SAMPLING:
        if name in body and version is not None and version >= "2026-10-21":
            yield f"/body/{name}", f"was removed in API version {version}"
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and not 0 <= temperature <= 1:
        yield "/body/temperature", "is between 0 and 1"


def _system(system: Any) -> Iterator[Violation]:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        yield "/body/system", "is a text or a list of text blocks"
        return
    for index, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            yield f"/body/system/{index}", "only text blocks stand here"
        elif not block.get("text"):
            yield f"/body/system/{index}/text", "must not be empty"


def _tools(body: dict[str, Any]) -> Iterator[Violation]:
    names: list[Any] = []
    for index, tool in enumerate(body.get("tools") or []):
        at = f"/body/tools/{index}"
        names.append(tool.get("name"))
        yield from _toolset(tool, body, at)
        if tool.get("type") in (None, "custom"):
            yield from _custom_tool(tool, at)
    named = [name for name in names if name is not None]
    for name in sorted({name for name in named if named.count(name) > 1}):
        yield "/body/tools", f"the name {name!r} is there twice"
    choice = body.get("tool_choice")
    if choice is None:
        return
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        yield "/body/tool_choice/type", "is auto, any, tool or none"
    if choice.get("type") in ("any", "tool") and not body.get("tools"):
        yield "/body/tool_choice", "tools are required for this choice"
    if choice.get("type") == "tool" and choice.get("name") not in names:
        yield "/body/tool_choice/name", "names no tool of the request"
    if choice.get("type") == "none" and "disable_parallel_tool_use" in choice:
        yield "/body/tool_choice/disable_parallel_tool_use", "does not go with none"


def _toolset(tool: dict[str, Any], body: dict[str, Any], at: str) -> Iterator[Violation]:
    """A set of tools that the client runs: it has no name, and nobody else has that of its calls."""
    family, version, _ = str(tool.get("type")).partition("_toolset_")
    if family not in ("computer", "browser") or not version:
        return
    for name in tool:
        if name not in ("type", "configs", "cache_control", "allowed_callers"):
            yield f"{at}/{name}", "is not a member of a set of tools"
    configs = tool.get("configs") or {}
    for name, config in configs.items():
        if set(config or {}) - {"enabled", "defer_loading"}:
            yield f"{at}/configs/{name}", "holds enabled and defer_loading alone"
    for other in body.get("tools") or []:
        if other is not tool and (other.get("name") == family or other.get("type") == tool["type"]):
            yield at, f"another tool has the name {family!r}"


def _custom_tool(tool: dict[str, Any], at: str) -> Iterator[Violation]:
    if not isinstance(tool.get("name"), str) or not NAME.fullmatch(tool["name"]):
        yield f"{at}/name", f"does not match {NAME.pattern}"
    schema = tool.get("input_schema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{at}/input_schema", "must be a JSON Schema with type object"
        return
    for word in ("oneOf", "anyOf", "allOf"):
        if word in schema:
            yield f"{at}/input_schema/{word}", "is not taken at the root"
    if tool.get("strict") is True:
        yield from strict_violations(schema, f"{at}/input_schema")


def strict_violations(schema: Any, at: str) -> Iterator[Violation]:
    """The dialect of schemas that the provider enforces."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{at}/additionalProperties", "must be false in a strict schema"
    for word in STRICT_FORBIDDEN:
        if word in schema:
            yield f"{at}/{word}", "is not taken in a strict schema"
    if schema.get("minItems", 0) > 1:
        yield f"{at}/minItems", "is 0 or 1 in a strict schema"
    for name, part in (schema.get("properties") or {}).items():
        yield from strict_violations(part, f"{at}/properties/{name}")
    for name, part in (schema.get("$defs") or {}).items():
        yield from strict_violations(part, f"{at}/$defs/{name}")
    for word in ("anyOf", "allOf"):
        for index, part in enumerate(schema.get(word) or []):
            yield from strict_violations(part, f"{at}/{word}/{index}")
    yield from strict_violations(schema.get("items"), f"{at}/items")


def _thinking(body: dict[str, Any]) -> Iterator[Violation]:
    thinking = body.get("thinking")
    if isinstance(thinking, dict):
        if thinking.get("type") not in ("adaptive", "enabled", "disabled", "between_tools"):
            yield "/body/thinking/type", "is adaptive, enabled, disabled or between_tools"
        if thinking.get("type") == "enabled":
            yield from _enabled_thinking(body, thinking)
    form = (body.get("output_config") or {}).get("format")
    if isinstance(form, dict):
        if form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
            yield "/body/output_config/format", "is a json_schema with a schema"
        else:
            yield from strict_violations(form["schema"], "/body/output_config/format/schema")
    effort = (body.get("output_config") or {}).get("effort")
    if effort not in (None, "low", "medium", "high", "xhigh", "max"):
        yield "/body/output_config/effort", "is low, medium, high, xhigh or max"


def _enabled_thinking(body: dict[str, Any], thinking: dict[str, Any]) -> Iterator[Violation]:
    budget, limit = thinking.get("budget_tokens"), body.get("max_tokens")
    if not isinstance(budget, int) or budget < 1024:
        yield "/body/thinking/budget_tokens", "is at least 1024"
    elif isinstance(limit, int) and budget >= limit and not _interleaved(body):
        yield "/body/thinking/budget_tokens", "must be below max_tokens"
    if body.get("temperature") not in (None, 1):
        yield "/body/temperature", "is only 1 while thinking is enabled"
    if "top_k" in body:
        yield "/body/top_k", "does not go with enabled thinking"
    if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
        yield "/body/tool_choice", "cannot be forced while thinking is enabled"


def _interleaved(body: dict[str, Any]) -> bool:
    return bool(body.get("tools"))


# --- messages ---------------------------------------------------------------------------------------------------------------


def _messages(messages: list[Any]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        at = f"/body/messages/{index}"
        role = message.get("role")
        if role not in ("user", "assistant", "system"):
            yield f"{at}/role", "is user, assistant or system"
        content = message.get("content")
        if isinstance(content, str):
            if not content or (role == "user" and not content.strip()):
                yield f"{at}/content", "must not be blank"
            continue
        if not isinstance(content, list):
            yield f"{at}/content", "is a text or a list of blocks"
            continue
        if not content and not (role == "assistant" and index == len(messages) - 1):
            yield f"{at}/content", "must not be empty"
        for number, block in enumerate(content):
            yield from _block(block, role, f"{at}/content/{number}")
    yield from _system_turns(messages)
    yield from _pairs(messages)


def _block(block: Any, role: Any, at: str) -> Iterator[Violation]:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        yield at, "is a block with a type"
        return
    kind = block["type"]
    if role == "user" and kind in ("thinking", "redacted_thinking", "tool_use", "server_tool_use"):
        yield at, f"{kind} does not stand in a user message"
    if role == "assistant" and kind in NEVER_ASSISTANT:
        yield at, f"{kind} does not stand in an assistant message"
    if role == "system" and kind not in SYSTEM_BLOCKS:
        yield at, f"{kind} does not stand in a system message"
    match kind:
        case "text":
            text = block.get("text")
            if not isinstance(text, str) or text == "" or (role == "user" and not text.strip()):
                yield f"{at}/text", "must not be blank"
        case "tool_use":
            yield from _tool_use(block, at)
        case "tool_result":
            yield from _tool_result(block, at)
        case "thinking":
            if not isinstance(block.get("signature"), str) or not block["signature"]:
                yield f"{at}/signature", "thinking is only taken back with its signature"
            if not isinstance(block.get("thinking"), str):
                yield f"{at}/thinking", "is a text"
        case "redacted_thinking" if not isinstance(block.get("data"), str):
            yield f"{at}/data", "is required"
        case "image" | "document":
            yield from _source(block, at)
        case "audio" | "video" | "opaque" | "refusal" | "image_url" | "input_audio" | "file":
            yield at, f"{kind} is no block of this wire"


def _tool_use(block: dict[str, Any], at: str) -> Iterator[Violation]:
    if not isinstance(block.get("id"), str) or not TOOL_ID.fullmatch(block["id"]):
        yield f"{at}/id", f"does not match {TOOL_ID.pattern}"
    if not isinstance(block.get("name"), str) or not NAME.fullmatch(block["name"]):
        yield f"{at}/name", f"does not match {NAME.pattern}"
    if not isinstance(block.get("input"), dict):
        yield f"{at}/input", "must be an object"


def _tool_result(block: dict[str, Any], at: str) -> Iterator[Violation]:
    if not isinstance(block.get("tool_use_id"), str) or not TOOL_ID.fullmatch(block["tool_use_id"]):
        yield f"{at}/tool_use_id", f"does not match {TOOL_ID.pattern}"
    content = block.get("content")
    if not isinstance(content, list):
        return
    for number, item in enumerate(content):
        kind = item.get("type") if isinstance(item, dict) else None
        if kind in ("thinking", "redacted_thinking", "tool_use", "tool_result", "audio", "video", "opaque"):
            yield f"{at}/content/{number}", f"{kind} does not stand in a result"
        elif kind == "text" and not item.get("text"):
            yield f"{at}/content/{number}/text", "must not be empty"
        elif kind in ("image", "document"):
            yield from _source(item, f"{at}/content/{number}")


def _source(block: dict[str, Any], at: str) -> Iterator[Violation]:
    source = block.get("source")
    if not isinstance(source, dict):
        yield f"{at}/source", "is required"
        return
    needed = {
        "base64": ("media_type", "data"),
        "url": ("url",),
        "file": ("file_id",),
        "text": ("media_type", "data"),
        "content": ("content",),
    }
    kind = source.get("type")
    if kind not in needed or (block["type"] == "image" and kind in ("text", "content")):
        yield f"{at}/source/type", "is not a kind of source taken here"
        return
    for name in needed[kind]:
        if not source.get(name):
            yield f"{at}/source/{name}", "is required"
    if kind == "base64" and block["type"] == "image" and source.get("media_type") not in IMAGE_TYPES:
        yield f"{at}/source/media_type", "is jpeg, png, gif or webp"
    if kind == "base64" and block["type"] == "document" and source.get("media_type") != "application/pdf":
        yield f"{at}/source/media_type", "is application/pdf"
    if kind == "url" and source.get("url") and not ADDRESS.fullmatch(str(source["url"])):
        yield f"{at}/source/url", "is an address that begins with https://"
    if kind == "file" and source.get("file_id") and not FILE_ID.fullmatch(str(source["file_id"])):
        yield f"{at}/source/file_id", "is the id of a file and no address"


def _system_turns(messages: list[Any]) -> Iterator[Violation]:
    for index, message in enumerate(messages):
        if message.get("role") != "system":
            continue
        if index == 0:
            yield f"/body/messages/{index}", "a system message is not the first"
            continue
        if index + 1 < len(messages) and messages[index + 1].get("role") == "user":
            yield f"/body/messages/{index}", "a system message is the last or before an assistant message"


def _turns(messages: list[Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Neighbours of one role make one turn. System messages stand beside the turns."""
    turns: list[tuple[str, list[tuple[str, Any]]]] = []
    for index, message in enumerate(messages):
        content = message.get("content")
        blocks = (
            [(f"/body/messages/{index}/content/{number}", block) for number, block in enumerate(content)]
            if isinstance(content, list)
            else []
        )
        if isinstance(content, str):
            blocks = [(f"/body/messages/{index}/content", {"type": "text", "text": content})]
        role = message.get("role")
        if role == "system":
            continue
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    return turns


def _pairs(messages: list[Any]) -> Iterator[Violation]:
    """Every call is answered in the next turn, results first; no result without its call."""
    turns = _turns(messages)
    for number, (role, blocks) in enumerate(turns):
        results = [
            (at, block.get("tool_use_id"))
            for at, block in blocks
            if isinstance(block, dict) and block.get("type") == "tool_result"
        ]
        calls_before = _calls(turns[number - 1]) if number and role == "user" else []
        for at, tool_id in results:
            if tool_id not in calls_before:
                yield at, "answers no call of the turn before"
        if results and number:
            yield from _sets_named(turns[number - 1][1], blocks)
        ids = [tool_id for _, tool_id in results]
        for tool_id in {tool_id for tool_id in ids if ids.count(tool_id) > 1}:
            yield next(at for at, other in reversed(results) if other == tool_id), "answers a call a second time"
        if results:
            yield from _results_first(blocks)
        if role == "assistant":
            calls = _calls((role, blocks))
            for tool_id in {tool_id for tool_id in calls if calls.count(tool_id) > 1}:
                yield blocks[0][0], f"the call id {tool_id!r} is there twice"
            if calls and number + 1 < len(turns):
                answered = {block.get("tool_use_id") for _, block in turns[number + 1][1] if isinstance(block, dict)}
                for tool_id in calls:
                    if tool_id not in answered:
                        yield blocks[0][0], f"the call {tool_id!r} has no result in the next turn"


def _sets_named(asked: list[tuple[str, Any]], blocks: list[tuple[str, Any]]) -> Iterator[Violation]:
    """A result names the set of tools that its call names."""
    sets = {
        block.get("id"): block.get("toolset_name")
        for _, block in asked
        if isinstance(block, dict) and block.get("type") == "tool_use"
    }
    for at, block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            called = block.get("tool_use_id")
            if called in sets and block.get("toolset_name") != sets[called]:
                yield f"{at}/toolset_name", "is that of the call"


def _calls(turn: tuple[str, list[tuple[str, Any]]]) -> list[Any]:
    return [block.get("id") for _, block in turn[1] if isinstance(block, dict) and block.get("type") == "tool_use"]


def _results_first(blocks: list[tuple[str, Any]]) -> Iterator[Violation]:
    other_seen = False
    for at, block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            if other_seen:
                yield at, "a result stands behind another block of the turn"
        else:
            other_seen = True


def _cache_marks(body: dict[str, Any]) -> Iterator[Violation]:
    found = list(_marks(body, ""))
    explicit = [at for at, _ in found if at != "/body"]
    if len(explicit) > 4:
        yield explicit[4], "more than four cache marks"
    for at, holder in found:
        if holder.get("type") in ("thinking", "redacted_thinking"):
            yield at, "thinking takes no cache mark"
        if holder.get("type") == "text" and not holder.get("text"):
            yield at, "empty text takes no cache mark"
    lives = [
        holder["cache_control"].get("ttl", "5m") for _, holder in found if isinstance(holder["cache_control"], dict)
    ]
    if "1h" in lives and "5m" in lives and lives.index("5m") < len(lives) - 1 - lives[::-1].index("1h"):
        yield "/body", "a cache mark with a longer life stands behind one with a shorter life"


def _marks(body: dict[str, Any], at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Holders of cache marks in the order in which the provider reads them: tools, system, messages."""
    for place in ("tools", "system"):
        items = body.get(place)
        for index, item in enumerate(items if isinstance(items, list) else []):
            if isinstance(item, dict) and item.get("cache_control"):
                yield f"/body/{place}/{index}", item
    for index, message in enumerate(body.get("messages") or []):
        content = message.get("content") if isinstance(message, dict) else None
        for number, block in enumerate(content if isinstance(content, list) else []):
            if isinstance(block, dict) and block.get("cache_control"):
                yield f"/body/messages/{index}/content/{number}", block
