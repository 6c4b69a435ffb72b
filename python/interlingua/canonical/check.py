"""
The invariants, each a named rule: `check(message | conversation | request) -> violations`
(spec/1-values.md#invariants).

A schema describes the structure of a value; these rules describe what it must mean. Unfinished messages (status
partial) are exempt from the rules of content, cancelled and failed ones from the completeness of provenance and of
arguments. Profiles (spec/registry/profiles.json) restrict the core.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.caller_schemas import UNCHECKED, schema_errors
from interlingua.canonical.errors import InvalidRequest, too_deep
from interlingua.canonical.loss import Path as Where
from interlingua.canonical.loss import pointer
from interlingua.canonical.patterns import NOT_RUN, pattern
from interlingua.canonical.spec_files import spec_file
from interlingua.canonical.validate import check_plain, validate, violations

Data = dict[str, Any]
Violation = dict[str, str]

_KNOWN_BLOCKS = frozenset(
    (
        "text",
        "image",
        "audio",
        "video",
        "document",
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "opaque",
    )
)
_ULID_TOOL_ID = re.compile(r"^tu_[0-7][0-9A-HJKMNP-TV-Z]{25}$")
_SNAKE_CASE = re.compile(r"^[a-z][a-z0-9_]{0,63}$")
_TOOL_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_]{0,63}\Z")
_UTC_MICROSECONDS = re.compile(r"\.[0-9]{6}Z\Z")
_ENVELOPE = ("id", "session_id", "role", "content", "metadata", "created_at", "schema_version")
_IN_ENVELOPE = frozenset((*_ENVELOPE, "name", "cache", "priority", "critical", "provider_state", "extra"))


@cache
def profiles() -> dict[str, Data]:
    """The profiles by name, as data."""
    return json.loads(spec_file("registry", "profiles.json").read_bytes())["profiles"]


def check(value: Any, profile: str = "core") -> list[Violation]:
    """Return the rules that a message, list of messages, request or response breaks, in the order of their places.

    The value is plain data or of the types. Each violation has `rule`, `path` (JSON Pointer into the value) and
    `message`. If the value does not fit the schema, the violations are the places where it does not. Raises
    `InvalidRequest` for an unknown profile.
    """
    limits = profiles().get(profile) if isinstance(profile, str) else None
    if limits is None:
        raise InvalidRequest(f"there is no profile {profile!r}; choose one of {', '.join(profiles())}")
    try:
        data = json.plain(value)
        return _schema_violations(data) or _rule_violations(data, limits)
    except RecursionError:
        raise too_deep() from None


def broken_rules(message: Data, profile: str = "core") -> list[Violation]:
    """Return the rules that one message breaks: plain data that is known to fit the schema."""
    return _message(message, (), profiles()[profile])


def _schema_violations(value: Any) -> list[Violation]:
    """Return the places where a value does not fit the schema."""
    if isinstance(value, list):
        by_message = [_prefixed(violations(message, "Message"), (place,)) for place, message in enumerate(value)]
        return [violation for of_message in by_message for violation in of_message]
    for member, name in (("messages", "Request"), ("message", "Response")):
        if isinstance(value, dict) and member in value:
            return violations(value, name)
    return violations(value, "Message")


def _rule_violations(value: Any, limits: Data) -> list[Violation]:
    if isinstance(value, list):
        return list(_conversation(value, (), limits))
    if "messages" in value:
        return [
            *_conversation(value["messages"], ("messages",), limits),
            *_tools(value.get("tools") or [], ("tools",), limits),
            *(_inputs(value, limits) if limits.get("tool_inputs") else ()),
        ]
    if "message" in value:
        return _message(value["message"], ("message",), limits)
    return _message(value, (), limits)


def _violation(rule: str, path: Where, message: str) -> Violation:
    return {"rule": rule, "path": pointer(path), "message": message}


# ---------------------------------------------------------------------------------------------------- messages


def _message(message: Data, path: Where, limits: Data) -> list[Violation]:
    broken: list[Violation] = []
    role, content = message["role"], message["content"]
    status = message.get("metadata", {}).get("status", "complete")
    if limits.get("envelope"):
        broken += _envelope(message, path)
    if "created_at" in message:
        broken += _moment(message["created_at"], path, limits)
    if role not in limits["blocks"]:
        broken.append(_violation("role", (*path, "role"), f"the role {role} is not in this profile"))
    elif status != "partial":
        of_content = _content(role, content, path, limits)
        if status != "complete":
            # the arguments in a response that broke off may be incomplete
            of_content = [violation for violation in of_content if violation["rule"] != "tool_input_invalid"]
        broken += of_content
        if role == "tool":
            broken += _linkage(message, content, path)
        if role == "assistant":
            broken += _provenance(message, status, path, limits)
    return broken


def refuse_misplaced(message: Any) -> None:
    """Raise `InvalidRequest` for a message of the types that is not linked, or has blocks that its role does not take.

    These are the core's rules of content, applied when an object is constructed; `check` applies all other rules.
    """
    metadata = message.metadata
    if metadata is not None and metadata.status == "partial":
        return
    role, content = message.role, message.content
    allowed = profiles()["core"]["blocks"][role]
    broken = _block_count_violations(role, len(content), ())
    for position, block in enumerate(content):
        if block.type in _KNOWN_BLOCKS and block.type not in allowed:
            broken.append(_misplaced(block.type, ("content", position)))
        elif block.type == "tool_result":
            broken += _not_in_a_result(block, ("content", position))
    if role == "tool" and not broken:
        parent = None if metadata is None else metadata.parent_tool_use_id
        call_id = next((block.tool_use_id for block in content if block.type == "tool_result"), None)
        broken += _linked(parent, call_id, ())
    if broken:
        raise InvalidRequest(
            f"not a canonical message: {broken[0]['message']}", path=broken[0]["path"], violations=broken
        )


def refuse_misplaced_in_result(block: Any) -> None:
    """Apply the rule of a `tool_result` block of the types: it holds text, media and opaque blocks."""
    broken = _not_in_a_result(block, ())
    if broken:
        raise InvalidRequest(
            f"not a canonical block: {broken[0]['message']}", path=broken[0]["path"], violations=broken
        )


def refuse_incomplete_medium(block: Any) -> None:
    """Apply the rules of a block of the types that holds a medium: it states what and where the medium is."""
    broken = list(_medium(block.plain(), (), profiles()["core"]))
    if broken:
        raise InvalidRequest(
            f"not a canonical block: {broken[0]['message']}", path=broken[0]["path"], violations=broken
        )


def _not_in_a_result(block: Any, path: Where) -> list[Violation]:
    allowed = profiles()["core"]["result_blocks"]
    return [
        _misplaced(inner.type, (*path, "content", position))
        for position, inner in enumerate(block.content)
        if inner.type in _KNOWN_BLOCKS and inner.type not in allowed
    ]


def _envelope(message: Data, path: Where) -> Iterator[Violation]:
    for name in _ENVELOPE:
        if name not in message:
            yield _violation("envelope", path, f"the member {name} is missing")
    for name in message:
        if name not in _IN_ENVELOPE:
            yield _violation("envelope", (*path, name), "a member that the envelope does not have")


def _moment(text: str, path: Where, limits: Data) -> list[Violation]:
    try:
        # the schema has checked the format; a day that its month does not have is still possible
        datetime.fromisoformat(text)
    except ValueError:
        return [_violation("created_at", (*path, "created_at"), "this date does not exist")]
    if limits.get("utc_microseconds") and not _UTC_MICROSECONDS.search(text):
        message = "this profile takes times in UTC with six fractional digits, as …T12:00:00.000000Z"
        return [_violation("created_at", (*path, "created_at"), message)]
    return []


def _content(role: str, content: list[Data], path: Where, limits: Data) -> list[Violation]:
    broken = _block_count_violations(role, len(content), path)
    if limits.get("single_content") and len(content) != 1:
        broken.append(
            _violation("single_content", (*path, "content"), "a message of this profile holds exactly one block")
        )
    allowed = limits["blocks"][role]
    for position, block in enumerate(content):
        if block["type"] == "text" and "text" in allowed:
            continue  # a text block has no other rule
        broken += _block(block, allowed, (*path, "content", position), limits)
    return broken


def _block_count_violations(role: str, blocks: int, path: Where) -> list[Violation]:
    if not blocks and role not in ("system", "developer"):
        return [_violation("content_not_empty", (*path, "content"), f"a message with role {role} must hold a block")]
    if role == "tool" and blocks != 1:
        return [
            _violation("one_result_per_message", (*path, "content"), "a tool message holds exactly one tool_result")
        ]
    return []


def _block(block: Data, allowed: list[str], path: Where, limits: Data) -> Iterator[Violation]:
    kind = block["type"]
    if kind not in _KNOWN_BLOCKS:
        if not limits["unknown_blocks"]:
            yield _violation("known_block", (*path, "type"), "this profile does not allow a block of an unknown type")
        return
    if kind not in allowed:
        yield _misplaced(kind, path)
        return
    match kind:
        case "tool_use":
            yield from _call(block, path, limits)
        case "tool_result":
            for position, inner in enumerate(block["content"]):
                yield from _block(inner, limits["result_blocks"], (*path, "content", position), limits)
        case "image" | "audio" | "video" | "document":
            yield from _medium(block, path, limits)
        case _:
            pass


def _misplaced(kind: str, path: Where) -> Violation:
    return _violation("block_in_role", (*path, "type"), f"a block of the type {kind} is not allowed here")


def _call(block: Data, path: Where, limits: Data) -> Iterator[Violation]:
    if limits.get("ulid_tool_ids") and not _ULID_TOOL_ID.match(block["id"]):
        yield _violation("tool_id", (*path, "id"), "this profile takes a tool id of tu_ and a ULID")
    if limits.get("snake_case_names") and not _SNAKE_CASE.match(block["name"]):
        yield _violation("tool_name", (*path, "name"), "a tool name is snake_case, at most 64 characters")
    if "input_raw" in block and block.get("kind") != "custom":
        yield _violation("tool_input_invalid", (*path, "input_raw"), "the arguments are not a JSON object")


def _medium(block: Data, path: Where, limits: Data) -> Iterator[Violation]:
    source = block["source"]
    if source["kind"] not in limits["sources"]:
        yield _violation("media_source", (*path, "source", "kind"), f"this profile takes no {source['kind']} source")
    required = "content" if source["kind"] == "blocks" else "data"
    if required not in source:
        yield _violation("media_source", (*path, "source"), f"a source of kind {source['kind']} needs {required}")
    if "media_type" not in block and (limits.get("media_type") or source["kind"] == "base64"):
        yield _violation("media_type", path, "the media type is missing")


def _linkage(message: Data, content: list[Data], path: Where) -> Iterator[Violation]:
    parent = message.get("metadata", {}).get("parent_tool_use_id")
    call_id = next((block["tool_use_id"] for block in content if block["type"] == "tool_result"), None)
    yield from _linked(parent, call_id, path)


def _linked(parent: str | None, call_id: str | None, path: Where) -> Iterator[Violation]:
    where = (*path, "metadata", "parent_tool_use_id")
    if parent is None:
        yield _violation("parent_tool_use_id", where, "a tool message must name the call that its result belongs to")
    elif call_id is not None and parent != call_id:
        yield _violation("parent_tool_use_id", where, "the message and its tool_result name different calls")


def _provenance(message: Data, status: str, path: Where, limits: Data) -> Iterator[Violation]:
    metadata = message.get("metadata", {})
    if status == "complete":
        for name in limits["complete"]:
            if metadata.get(name) is None:
                yield _violation(
                    f"complete_{name}", (*path, "metadata", name), f"a finished answer must state its {name}"
                )
    routing = metadata.get("routing")
    if routing is None:
        return
    where = (*path, "metadata", "routing")
    if metadata.get("model") is not None and routing["chosen_model"] != metadata["model"]:
        yield _violation("chosen_model", (*where, "chosen_model"), "must be the same as metadata.model")
    if routing["mode"] == "rule" and routing.get("rule_name") is None:
        yield _violation("rule_name", (*where, "rule_name"), "a routing record of mode rule must name its rule")
    if routing["mode"] == "pattern" and routing.get("confidence") is None:
        yield _violation(
            "confidence", (*where, "confidence"), "a routing record of mode pattern must state its confidence"
        )


# ---------------------------------------------------------------------------------------------------- conversations


def _conversation(messages: list[Data], path: Where, limits: Data) -> Iterator[Violation]:
    calls: dict[str, int] = {}
    answered: set[str] = set()
    last_id, session = "", None
    for position, message in enumerate(messages):
        where = (*path, position)
        yield from _message(message, where, limits)
        identity = message.get("id")
        if identity is not None:
            if identity <= last_id:
                yield _violation("id_order", (*where, "id"), "message ids must increase strictly in a session")
            last_id = identity
        if message.get("session_id") is not None:
            if session is not None and message["session_id"] != session:
                yield _violation(
                    "one_session", (*where, "session_id"), "all messages of a conversation must belong to one session"
                )
            session = message["session_id"]
        yield from _pairing(message, where, calls, answered)


def _pairing(message: Data, path: Where, calls: dict[str, int], answered: set[str]) -> Iterator[Violation]:
    for position, block in enumerate(message["content"]):
        here = (*path, "content", position)
        if block["type"] == "tool_use":
            if block["id"] in calls:
                yield _violation(
                    "tool_id_unique", (*here, "id"), "another call has this id; a retry gets an id of its own"
                )
            calls[block["id"]] = position
        elif block["type"] == "tool_result":
            identity = block["tool_use_id"]
            if identity not in calls:
                yield _violation("result_has_call", (*here, "tool_use_id"), "no call before this result has this id")
            elif identity in answered:
                yield _violation("one_result_per_call", (*here, "tool_use_id"), "the call has a result already")
            answered.add(identity)


# ---------------------------------------------------------------------------------------------------- tools


def _inputs(request: Data, limits: Data) -> Iterator[Violation]:
    """Yield the calls whose arguments do not fit the tool of their name that the request offers.

    A schema outside of the subset is a violation of its own, and no arguments are validated with it.
    """
    schemas = {
        tool["name"]: tool["input_schema"]
        for tool in request.get("tools") or []
        if "input_schema" in tool and not tool_schema_violations(tool["input_schema"])
    }
    for position, message in enumerate(request["messages"]):
        if message.get("metadata", {}).get("status", "complete") == "partial":
            continue
        for index, block in enumerate(message["content"]):
            if block["type"] == "tool_use" and block["name"] in schemas and "input_raw" not in block:
                broken = tool_input_violations(block["input"], schemas[block["name"]])
                yield from _prefixed(broken, ("messages", position, "content", index, "input"))


def tool_input_violations(given: Any, schema: Any) -> list[Violation]:
    """Return the places where arguments do not fit a tool's schema.

    Use it when a call was read, and again before the call is executed.

    A value that is no schema, or a schema that refers to something outside of itself, gives no violations here;
    `tool_schema_violations` reports it. If a regular expression that cannot be run would decide over an argument, the
    rule `tool_input_unchecked` reports the argument: it may fit or not. No message holds a value of the arguments.
    """
    check_plain(given)
    try:
        return [
            {"rule": "tool_input_unchecked", "path": where, "message": message}
            if rule == UNCHECKED
            else {"rule": "tool_input_invalid", "path": where, "message": f"the argument {message}"}
            for rule, where, message in schema_errors(given, schema)
        ]
    except ValueError:
        return []


def check_call(
    call: Any, tools: Mapping[str, Any] | list[Any], emit: Callable[[Data], Any] | None = None
) -> list[Violation]:
    """Return the reasons why a `tool_use` block must not be executed; use it directly before the execution.

    `tools` are the tools that can be run, as `register_tools` takes or returns them. If there is a violation, `emit`
    gets exactly one event `tool_input_invalid` with the call's id, the tool's name and the violations, whose paths
    point into the block. The event holds no value of the arguments. Raises `InvalidRequest` if the call is no
    `tool_use` block.
    """
    block = json.plain(call)
    validate(block, "ToolUseBlock")
    offered = json.plain(tools if isinstance(tools, list) else list(tools.values()))
    broken = _call_violations(block, next((tool for tool in offered if tool.get("name") == block["name"]), None))
    if broken and emit is not None:
        called = {"tool_use_id": block["id"], "name": block["name"]}
        emit({"type": "tool_input_invalid", "alias": "tool.input_invalid", **called, "violations": broken})
    return broken


def _call_violations(call: Data, tool: Data | None) -> list[Violation]:
    if tool is None:
        return [_violation("tool_input_invalid", ("name",), "there is no tool of this name to run")]
    custom = (tool.get("kind") or "function") == "custom"
    if custom != ((call.get("kind") or "function") == "custom"):
        return [
            _violation(
                "tool_input_invalid",
                ("kind",),
                f"the tool takes {'a text' if custom else 'an object'} as its arguments",
            )
        ]
    if custom:
        return []
    if "input_raw" in call:
        return [_violation("tool_input_invalid", ("input_raw",), "the arguments are not a JSON object")]
    return list(_prefixed(tool_input_violations(call["input"], tool.get("input_schema") or {}), ("input",)))


def _tools(tools: list[Data], path: Where, limits: Data) -> Iterator[Violation]:
    names: set[str] = set()
    for position, tool in enumerate(tools):
        where = (*path, position)
        if tool["name"] in names:
            yield _violation("tool_name_unique", (*where, "name"), "another tool of the request has this name")
        names.add(tool["name"])
        if limits.get("snake_case_names") and not _SNAKE_CASE.match(tool["name"]):
            yield _violation("tool_name", (*where, "name"), "a tool name is snake_case, at most 64 characters")
        if limits.get("side_effects") and "side_effects" not in tool:
            yield _violation("side_effects", where, "a tool must declare its side effects")
        if limits.get("tool_schema") and "input_schema" in tool:
            yield from _prefixed(tool_schema_violations(tool["input_schema"]), (*where, "input_schema"))


def _prefixed(broken: list[Violation], path: Where) -> Iterator[Violation]:
    for violation in broken:
        yield violation | {"path": pointer(path) + violation["path"]}


_TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_STRICT_KEYWORDS = frozenset(("type", "properties", "items", "required", "enum", "description", "format"))
_EXTENDED_KEYWORDS = _STRICT_KEYWORDS | {
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "examples",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "title",
}


def tool_schema_violations(schema: Any, *, extended: bool = False) -> list[Violation]:
    """Return the places where a tool's input schema is outside of the subset that every provider takes (seed 004 §5.4).

    The strict subset is exactly the seed's list; `extended` also allows the keywords that most providers take.
    """
    broken: list[Violation] = []
    try:
        _schema_node(schema, (), _EXTENDED_KEYWORDS if extended else _STRICT_KEYWORDS, extended, broken.append)
    except RecursionError:
        raise too_deep() from None
    if isinstance(schema, dict) and schema.get("type", "object") != "object":
        broken.append(
            _violation("tool_schema", ("type",), "the schema of a tool's arguments must be of the type object")
        )
    return broken


def _schema_node(
    node: Any, path: Where, keywords: frozenset[str], extended: bool, report: Callable[[Violation], Any]
) -> None:
    if not isinstance(node, dict):
        report(_violation("tool_schema", path, "a schema must be an object"))
        return
    for keyword, value in node.items():
        here = (*path, keyword)
        match keyword:
            case "type":
                words = value if isinstance(value, list) and extended else [value]
                if not all(isinstance(word, str) and word in _TYPES for word in words):
                    report(_violation("tool_schema", here, "the type must be one of the seven basic type words"))
            case "properties":
                for name, inner in value.items() if isinstance(value, dict) else ():
                    _schema_node(inner, (*here, name), keywords, extended, report)
            case "items":
                _schema_node(value, here, keywords, extended, report)
            case "anyOf" if extended:
                for position, inner in enumerate(value if isinstance(value, list) else ()):
                    _schema_node(inner, (*here, position), keywords, extended, report)
            case "additionalProperties" if isinstance(value, bool):
                pass
            case "pattern" if extended and isinstance(value, str) and pattern(value) is None:
                report(_violation("tool_schema", here, f"the pattern {NOT_RUN}"))
            case "additionalProperties":
                report(_violation("tool_schema", here, "additionalProperties may be true or false, but not a schema"))
            case _ if keyword not in keywords:
                report(
                    _violation(
                        "tool_schema", here, f"the keyword {keyword} is not in the subset that every provider takes"
                    )
                )
            case _:
                pass


def _check_name(name: Any, kind: str, position: int) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidRequest("a tool needs a name", path=pointer((position, "name")))
    if kind != "provider" and not _TOOL_NAME.match(name):
        raise InvalidRequest(
            f"the tool name {name[:80]!r} cannot be registered: use a letter first, then letters, digits and "
            "underscores, at most 64 in all",
            path=pointer((position, "name")),
        )


def register_tools(tools: list[Any], *, extended: bool = False) -> dict[str, Data]:
    """Return the tools by name. Raises `InvalidRequest` for an invalid name, a repeated name and an invalid schema.

    The error names the tool, the pointer into its schema and the keyword. A tool of kind `provider` belongs to its
    provider: it needs a name, and the name must be unique. A tool of kind `custom` has no schema.
    """
    registered: dict[str, Data] = {}
    if not isinstance(tools, list):
        raise InvalidRequest(f"tools must be a list, not {type(tools).__name__}")
    for position, tool in enumerate(json.plain(tools)):
        if not isinstance(tool, dict):
            raise InvalidRequest("a tool must be an object", path=pointer((position,)))
        kind = tool.get("kind") or "function"
        _check_name(tool.get("name"), kind, position)
        if tool["name"] in registered:
            raise InvalidRequest(f"there are two tools {tool['name']!r}", path=pointer((position, "name")))
        schema = tool.get("input_schema")
        if kind == "function" and (not isinstance(schema, dict) or schema.get("type") != "object"):
            where = (position, "input_schema", "type") if isinstance(schema, dict) and "type" in schema else (position,)
            raise InvalidRequest(
                f"the tool {tool['name']!r} needs an input_schema of the type object; for a tool without arguments "
                'write {"type": "object", "properties": {}}',
                path=pointer(where),
            )
        broken = tool_schema_violations(schema, extended=extended) if kind == "function" else []
        if broken:
            raise InvalidRequest(
                f"the input schema of the tool {tool['name']!r} cannot be registered: {broken[0]['message']}",
                path=pointer((position, "input_schema")) + broken[0]["path"],
                violations=broken,
            )
        registered[tool["name"]] = tool
    return registered
