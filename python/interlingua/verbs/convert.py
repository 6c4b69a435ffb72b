# GENERATED from spec/schema/interlingua.schema.json by tools/generate_convert.py: do not edit.
# pyright: basic
"""
Plain data to Protobuf messages and back, exactly.

`to_proto(types_pb2.Request, data)` or `fill(message, data)`, and `from_proto(message)`, convert every type of the schema.
All raise `InvalidRequest` with the JSON Pointer of the error. They do not apply the rules that only the schema has.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from google.protobuf.message import Message as ProtoMessage

from interlingua.canonical.errors import InvalidRequest
from interlingua.v1 import types_pb2 as pb
from interlingua.verbs.convert_base import (
    Data,
    are_int32,
    is_double,
    is_int32,
    is_int64,
    is_text,
    is_text_map,
    is_texts,
    missing,
    no_arm,
    read_each,
    read_enum,
    read_json,
    read_number,
    read_object,
    read_one,
    read_rest,
    read_time,
    read_unknown,
    write_each,
    write_enum,
    write_json,
    write_one,
    write_rest,
    write_time,
    write_unknown,
)

M = TypeVar("M", bound=ProtoMessage)


def to_proto(kind: type[M], data: Data) -> M:
    """Return the message for plain data. Raises `InvalidRequest`."""
    message = kind()
    fill(message, data)
    return message


def fill(message: ProtoMessage, data: Data) -> None:
    """Write plain data into a new message, which may be a field of another one. Raises `InvalidRequest`."""
    kind = type(message)
    message.SetInParent()
    try:
        _WRITE[kind](data, message)
    except (AttributeError, TypeError, UnicodeError, ValueError, RecursionError) as problem:
        raise InvalidRequest(f"cannot be written as {kind.__name__}: {type(problem).__name__}", path="") from None


def from_proto(message: ProtoMessage) -> Data:
    """Return the plain data of a message. Raises `InvalidRequest`."""
    try:
        return _READ[type(message)](message)
    except RecursionError:
        raise InvalidRequest("the message is nested too deeply", path="") from None


_ROLE: dict[str, int] = {
    "system": pb.ROLE_SYSTEM,
    "developer": pb.ROLE_DEVELOPER,
    "user": pb.ROLE_USER,
    "assistant": pb.ROLE_ASSISTANT,
    "tool": pb.ROLE_TOOL,
}
_ROLE_WORDS = {number: word for word, number in _ROLE.items()}

_MEDIA_SOURCE_KIND: dict[str, int] = {
    "base64": pb.MEDIA_SOURCE_KIND_BASE64,
    "url": pb.MEDIA_SOURCE_KIND_URL,
    "file_ref": pb.MEDIA_SOURCE_KIND_FILE_REF,
    "file_id": pb.MEDIA_SOURCE_KIND_FILE_ID,
    "text": pb.MEDIA_SOURCE_KIND_TEXT,
    "blocks": pb.MEDIA_SOURCE_KIND_BLOCKS,
}
_MEDIA_SOURCE_KIND_WORDS = {number: word for word, number in _MEDIA_SOURCE_KIND.items()}

_TOOL_USE_KIND: dict[str, int] = {"function": pb.TOOL_USE_KIND_FUNCTION, "custom": pb.TOOL_USE_KIND_CUSTOM}
_TOOL_USE_KIND_WORDS = {number: word for word, number in _TOOL_USE_KIND.items()}

_MESSAGE_STATUS: dict[str, int] = {
    "complete": pb.MESSAGE_STATUS_COMPLETE,
    "partial": pb.MESSAGE_STATUS_PARTIAL,
    "cancelled": pb.MESSAGE_STATUS_CANCELLED,
    "error": pb.MESSAGE_STATUS_ERROR,
}
_MESSAGE_STATUS_WORDS = {number: word for word, number in _MESSAGE_STATUS.items()}

_ROUTING_MODE: dict[str, int] = {
    "override": pb.ROUTING_MODE_OVERRIDE,
    "manual": pb.ROUTING_MODE_MANUAL,
    "rule": pb.ROUTING_MODE_RULE,
    "pattern": pb.ROUTING_MODE_PATTERN,
    "delegate": pb.ROUTING_MODE_DELEGATE,
    "default": pb.ROUTING_MODE_DEFAULT,
}
_ROUTING_MODE_WORDS = {number: word for word, number in _ROUTING_MODE.items()}

_SIDE_EFFECTS: dict[str, int] = {
    "none": pb.SIDE_EFFECTS_NONE,
    "read": pb.SIDE_EFFECTS_READ,
    "write": pb.SIDE_EFFECTS_WRITE,
    "execute": pb.SIDE_EFFECTS_EXECUTE,
    "network": pb.SIDE_EFFECTS_NETWORK,
}
_SIDE_EFFECTS_WORDS = {number: word for word, number in _SIDE_EFFECTS.items()}

_TOOL_KIND: dict[str, int] = {
    "function": pb.TOOL_KIND_FUNCTION,
    "custom": pb.TOOL_KIND_CUSTOM,
    "provider": pb.TOOL_KIND_PROVIDER,
}
_TOOL_KIND_WORDS = {number: word for word, number in _TOOL_KIND.items()}

_TOOL_CHOICE_TYPE: dict[str, int] = {
    "auto": pb.TOOL_CHOICE_TYPE_AUTO,
    "none": pb.TOOL_CHOICE_TYPE_NONE,
    "required": pb.TOOL_CHOICE_TYPE_REQUIRED,
    "tool": pb.TOOL_CHOICE_TYPE_TOOL,
    "allowed": pb.TOOL_CHOICE_TYPE_ALLOWED,
}
_TOOL_CHOICE_TYPE_WORDS = {number: word for word, number in _TOOL_CHOICE_TYPE.items()}

_TOOL_CHOICE_MODE: dict[str, int] = {"auto": pb.TOOL_CHOICE_MODE_AUTO, "required": pb.TOOL_CHOICE_MODE_REQUIRED}
_TOOL_CHOICE_MODE_WORDS = {number: word for word, number in _TOOL_CHOICE_MODE.items()}

_RESPONSE_FORMAT_TYPE: dict[str, int] = {
    "text": pb.RESPONSE_FORMAT_TYPE_TEXT,
    "json": pb.RESPONSE_FORMAT_TYPE_JSON,
    "json_schema": pb.RESPONSE_FORMAT_TYPE_JSON_SCHEMA,
}
_RESPONSE_FORMAT_TYPE_WORDS = {number: word for word, number in _RESPONSE_FORMAT_TYPE.items()}

_ON_DROP: dict[str, int] = {"drop": pb.ON_DROP_DROP, "error": pb.ON_DROP_ERROR, "placeholder": pb.ON_DROP_PLACEHOLDER}
_ON_DROP_WORDS = {number: word for word, number in _ON_DROP.items()}

_UNANSWERED: dict[str, int] = {"error": pb.UNANSWERED_ERROR, "placeholder": pb.UNANSWERED_PLACEHOLDER}
_UNANSWERED_WORDS = {number: word for word, number in _UNANSWERED.items()}

_LOSS_OP: dict[str, int] = {
    "drop": pb.LOSS_OP_DROP,
    "replace": pb.LOSS_OP_REPLACE,
    "move": pb.LOSS_OP_MOVE,
    "merge": pb.LOSS_OP_MERGE,
}
_LOSS_OP_WORDS = {number: word for word, number in _LOSS_OP.items()}

_LOSS_SEVERITY: dict[str, int] = {
    "representation": pb.LOSS_SEVERITY_REPRESENTATION,
    "weakened": pb.LOSS_SEVERITY_WEAKENED,
    "lost": pb.LOSS_SEVERITY_LOST,
}
_LOSS_SEVERITY_WORDS = {number: word for word, number in _LOSS_SEVERITY.items()}

_FINISH_REASON: dict[str, int] = {
    "stop": pb.FINISH_REASON_STOP,
    "stop_sequence": pb.FINISH_REASON_STOP_SEQUENCE,
    "length": pb.FINISH_REASON_LENGTH,
    "tool_calls": pb.FINISH_REASON_TOOL_CALLS,
    "content_filter": pb.FINISH_REASON_CONTENT_FILTER,
    "refusal": pb.FINISH_REASON_REFUSAL,
    "pause": pb.FINISH_REASON_PAUSE,
    "cancelled": pb.FINISH_REASON_CANCELLED,
    "error": pb.FINISH_REASON_ERROR,
    "other": pb.FINISH_REASON_OTHER,
}
_FINISH_REASON_WORDS = {number: word for word, number in _FINISH_REASON.items()}

_ERROR_CATEGORY: dict[str, int] = {
    "invalid_request": pb.ERROR_CATEGORY_INVALID_REQUEST,
    "unsupported": pb.ERROR_CATEGORY_UNSUPPORTED,
    "loss_refused": pb.ERROR_CATEGORY_LOSS_REFUSED,
    "authentication": pb.ERROR_CATEGORY_AUTHENTICATION,
    "permission": pb.ERROR_CATEGORY_PERMISSION,
    "billing": pb.ERROR_CATEGORY_BILLING,
    "not_found": pb.ERROR_CATEGORY_NOT_FOUND,
    "rate_limit": pb.ERROR_CATEGORY_RATE_LIMIT,
    "context_overflow": pb.ERROR_CATEGORY_CONTEXT_OVERFLOW,
    "content_filter": pb.ERROR_CATEGORY_CONTENT_FILTER,
    "timeout": pb.ERROR_CATEGORY_TIMEOUT,
    "network": pb.ERROR_CATEGORY_NETWORK,
    "server_error": pb.ERROR_CATEGORY_SERVER_ERROR,
    "overloaded": pb.ERROR_CATEGORY_OVERLOADED,
    "invalid_response": pb.ERROR_CATEGORY_INVALID_RESPONSE,
    "stream_truncated": pb.ERROR_CATEGORY_STREAM_TRUNCATED,
    "cancelled": pb.ERROR_CATEGORY_CANCELLED,
    "no_candidate": pb.ERROR_CATEGORY_NO_CANDIDATE,
    "internal": pb.ERROR_CATEGORY_INTERNAL,
    "other": pb.ERROR_CATEGORY_OTHER,
}
_ERROR_CATEGORY_WORDS = {number: word for word, number in _ERROR_CATEGORY.items()}

_EVENT_ACTOR: dict[str, int] = {
    "user": pb.EVENT_ACTOR_USER,
    "agent": pb.EVENT_ACTOR_AGENT,
    "system": pb.EVENT_ACTOR_SYSTEM,
    "tool": pb.EVENT_ACTOR_TOOL,
    "worker": pb.EVENT_ACTOR_WORKER,
}
_EVENT_ACTOR_WORDS = {number: word for word, number in _EVENT_ACTOR.items()}

_EVENT_SENSITIVITY: dict[str, int] = {
    "private": pb.EVENT_SENSITIVITY_PRIVATE,
    "user_controlled": pb.EVENT_SENSITIVITY_USER_CONTROLLED,
    "pseudonymous": pb.EVENT_SENSITIVITY_PSEUDONYMOUS,
    "aggregatable": pb.EVENT_SENSITIVITY_AGGREGATABLE,
}
_EVENT_SENSITIVITY_WORDS = {number: word for word, number in _EVENT_SENSITIVITY.items()}

_ROUTING_SLOT: dict[str, int] = {
    "per_message_override": pb.ROUTING_SLOT_PER_MESSAGE_OVERRIDE,
    "manual_sticky": pb.ROUTING_SLOT_MANUAL_STICKY,
    "rule": pb.ROUTING_SLOT_RULE,
    "pattern": pb.ROUTING_SLOT_PATTERN,
    "delegate_request": pb.ROUTING_SLOT_DELEGATE_REQUEST,
    "workspace_default": pb.ROUTING_SLOT_WORKSPACE_DEFAULT,
    "global_default": pb.ROUTING_SLOT_GLOBAL_DEFAULT,
}
_ROUTING_SLOT_WORDS = {number: word for word, number in _ROUTING_SLOT.items()}

_ROUTING_VERDICT: dict[str, int] = {
    "not_applicable": pb.ROUTING_VERDICT_NOT_APPLICABLE,
    "deferred": pb.ROUTING_VERDICT_DEFERRED,
    "rejected": pb.ROUTING_VERDICT_REJECTED,
    "chose": pb.ROUTING_VERDICT_CHOSE,
}
_ROUTING_VERDICT_WORDS = {number: word for word, number in _ROUTING_VERDICT.items()}


def _read_provider_state(message: pb.ProviderState) -> Data:
    data: Data = {"adapter": message.adapter}
    if message.HasField("provider"):
        data["provider"] = message.provider
    if message.HasField("origin"):
        data["origin"] = message.origin
    if message.HasField("id"):
        data["id"] = message.id
    if message.HasField("signature"):
        data["signature"] = message.signature
    if message.fields_json:
        data["fields"] = read_object(message.fields_json, "fields")
    if message.encoding_json:
        data["encoding"] = read_object(message.encoding_json, "encoding")
    if message.rest_json:
        read_rest(message.rest_json, data, {"adapter"})
    return data


def _write_provider_state(data: Data, message: pb.ProviderState) -> None:
    if "adapter" not in data:
        raise missing("adapter")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "adapter" if is_text(value):
                message.adapter = value
            case "provider" if is_text(value):
                message.provider = value
            case "origin" if is_text(value):
                message.origin = value
            case "id" if is_text(value):
                message.id = value
            case "signature" if is_text(value):
                message.signature = value
            case "fields" if type(value) is dict:
                message.fields_json = write_json(value, "fields")
            case "encoding" if type(value) is dict:
                message.encoding_json = write_json(value, "encoding")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_cache_hint(message: pb.CacheHint) -> Data:
    data: Data = {}
    if message.HasField("ttl"):
        data["ttl"] = message.ttl
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_cache_hint(data: Data, message: pb.CacheHint) -> None:
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "ttl" if is_text(value):
                message.ttl = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_media_source(message: pb.MediaSource) -> Data:
    data: Data = {}
    data["kind"] = read_enum(_MEDIA_SOURCE_KIND_WORDS, message.kind, None, "kind")
    if message.HasField("data"):
        data["data"] = message.data
    if message.content:
        data["content"] = read_each(_read_content_block, message.content, "content")
    if message.HasField("provider"):
        data["provider"] = message.provider
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_media_source(data: Data, message: pb.MediaSource) -> None:
    if "kind" not in data:
        raise missing("kind")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "kind":
                message.kind = write_enum(_MEDIA_SOURCE_KIND, value, None, "kind")
            case "data" if is_text(value):
                message.data = value
            case "content" if type(value) is list and value:
                write_each(_write_content_block, value, message.content, "content")
            case "provider" if is_text(value):
                message.provider = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_citation(message: pb.Citation) -> Data:
    data: Data = {"type": message.type}
    if message.HasField("url"):
        data["url"] = message.url
    if message.HasField("title"):
        data["title"] = message.title
    if message.HasField("cited_text"):
        data["cited_text"] = message.cited_text
    if message.HasField("start_index"):
        data["start_index"] = message.start_index
    if message.HasField("end_index"):
        data["end_index"] = message.end_index
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"type"})
    return data


def _write_citation(data: Data, message: pb.Citation) -> None:
    if "type" not in data:
        raise missing("type")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type" if is_text(value):
                message.type = value
            case "url" if is_text(value):
                message.url = value
            case "title" if is_text(value):
                message.title = value
            case "cited_text" if is_text(value):
                message.cited_text = value
            case "start_index" if is_int32(value):
                message.start_index = value
            case "end_index" if is_int32(value):
                message.end_index = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_text_block(message: pb.TextBlock) -> Data:
    data: Data = {"type": "text", "text": message.text}
    if message.citations:
        data["citations"] = read_each(_read_citation, message.citations, "citations")
    if message.HasField("refusal"):
        data["refusal"] = message.refusal
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"text"})
    return data


def _write_text_block(data: Data, message: pb.TextBlock) -> None:
    if "text" not in data:
        raise missing("text")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "text" if is_text(value):
                message.text = value
            case "citations" if type(value) is list and value:
                write_each(_write_citation, value, message.citations, "citations")
            case "refusal" if type(value) is bool:
                message.refusal = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_image_block(message: pb.ImageBlock) -> Data:
    data: Data = {"type": "image"}
    if not message.HasField("source"):
        raise missing("source")
    data["source"] = read_one(_read_media_source, message.source, "source")
    if message.HasField("media_type"):
        data["media_type"] = message.media_type
    if message.HasField("detail"):
        data["detail"] = message.detail
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_image_block(data: Data, message: pb.ImageBlock) -> None:
    if "source" not in data:
        raise missing("source")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "source" if type(value) is dict:
                write_one(_write_media_source, value, message.source, "source")
            case "media_type" if is_text(value):
                message.media_type = value
            case "detail" if is_text(value):
                message.detail = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_audio_block(message: pb.AudioBlock) -> Data:
    data: Data = {"type": "audio"}
    if not message.HasField("source"):
        raise missing("source")
    data["source"] = read_one(_read_media_source, message.source, "source")
    if message.HasField("media_type"):
        data["media_type"] = message.media_type
    if message.HasField("transcript"):
        data["transcript"] = message.transcript
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_audio_block(data: Data, message: pb.AudioBlock) -> None:
    if "source" not in data:
        raise missing("source")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "source" if type(value) is dict:
                write_one(_write_media_source, value, message.source, "source")
            case "media_type" if is_text(value):
                message.media_type = value
            case "transcript" if is_text(value):
                message.transcript = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_video_block(message: pb.VideoBlock) -> Data:
    data: Data = {"type": "video"}
    if not message.HasField("source"):
        raise missing("source")
    data["source"] = read_one(_read_media_source, message.source, "source")
    if message.HasField("media_type"):
        data["media_type"] = message.media_type
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_video_block(data: Data, message: pb.VideoBlock) -> None:
    if "source" not in data:
        raise missing("source")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "source" if type(value) is dict:
                write_one(_write_media_source, value, message.source, "source")
            case "media_type" if is_text(value):
                message.media_type = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_document_block(message: pb.DocumentBlock) -> Data:
    data: Data = {"type": "document"}
    if not message.HasField("source"):
        raise missing("source")
    data["source"] = read_one(_read_media_source, message.source, "source")
    if message.HasField("media_type"):
        data["media_type"] = message.media_type
    if message.HasField("name"):
        data["name"] = message.name
    if message.HasField("title"):
        data["title"] = message.title
    if message.HasField("context"):
        data["context"] = message.context
    if message.HasField("citations_enabled"):
        data["citations_enabled"] = message.citations_enabled
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_document_block(data: Data, message: pb.DocumentBlock) -> None:
    if "source" not in data:
        raise missing("source")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "source" if type(value) is dict:
                write_one(_write_media_source, value, message.source, "source")
            case "media_type" if is_text(value):
                message.media_type = value
            case "name" if is_text(value):
                message.name = value
            case "title" if is_text(value):
                message.title = value
            case "context" if is_text(value):
                message.context = value
            case "citations_enabled" if type(value) is bool:
                message.citations_enabled = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool_use_block(message: pb.ToolUseBlock) -> Data:
    data: Data = {"type": "tool_use", "id": message.id, "name": message.name}
    data["input"] = read_object(message.input_json, "input")
    if message.HasField("input_raw"):
        data["input_raw"] = message.input_raw
    if message.kind:
        data["kind"] = read_enum(_TOOL_USE_KIND_WORDS, message.kind, None, "kind")
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"id", "name"})
    return data


def _write_tool_use_block(data: Data, message: pb.ToolUseBlock) -> None:
    if "id" not in data:
        raise missing("id")
    if "name" not in data:
        raise missing("name")
    if "input" not in data:
        raise missing("input")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "id" if is_text(value):
                message.id = value
            case "name" if is_text(value):
                message.name = value
            case "input" if type(value) is dict:
                message.input_json = write_json(value, "input")
            case "input_raw" if is_text(value):
                message.input_raw = value
            case "kind" if value is not None:
                message.kind = write_enum(_TOOL_USE_KIND, value, None, "kind")
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool_result_block(message: pb.ToolResultBlock) -> Data:
    data: Data = {"type": "tool_result", "tool_use_id": message.tool_use_id}
    data["content"] = read_each(_read_content_block, message.content, "content")
    if message.HasField("is_error"):
        data["is_error"] = message.is_error
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"tool_use_id", "content"})
    return data


def _write_tool_result_block(data: Data, message: pb.ToolResultBlock) -> None:
    if "tool_use_id" not in data:
        raise missing("tool_use_id")
    if "content" not in data:
        raise missing("content")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "tool_use_id" if is_text(value):
                message.tool_use_id = value
            case "content" if type(value) is list:
                write_each(_write_content_block, value, message.content, "content")
            case "is_error" if type(value) is bool:
                message.is_error = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_thinking_block(message: pb.ThinkingBlock) -> Data:
    data: Data = {"type": "thinking", "text": message.text}
    if message.HasField("signature"):
        data["signature"] = message.signature
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"text"})
    return data


def _write_thinking_block(data: Data, message: pb.ThinkingBlock) -> None:
    if "text" not in data:
        raise missing("text")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "text" if is_text(value):
                message.text = value
            case "signature" if is_text(value):
                message.signature = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_redacted_thinking_block(message: pb.RedactedThinkingBlock) -> Data:
    data: Data = {"type": "redacted_thinking", "data": message.data}
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"data"})
    return data


def _write_redacted_thinking_block(data: Data, message: pb.RedactedThinkingBlock) -> None:
    if "data" not in data:
        raise missing("data")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "data" if is_text(value):
                message.data = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_opaque_block(message: pb.OpaqueBlock) -> Data:
    data: Data = {"type": "opaque", "adapter": message.adapter}
    if message.HasField("provider"):
        data["provider"] = message.provider
    if message.HasField("origin"):
        data["origin"] = message.origin
    if message.HasField("kind"):
        data["kind"] = message.kind
    data["value"] = read_object(message.value_json, "value")
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"adapter"})
    return data


def _write_opaque_block(data: Data, message: pb.OpaqueBlock) -> None:
    if "adapter" not in data:
        raise missing("adapter")
    if "value" not in data:
        raise missing("value")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "adapter" if is_text(value):
                message.adapter = value
            case "provider" if is_text(value):
                message.provider = value
            case "origin" if is_text(value):
                message.origin = value
            case "kind" if is_text(value):
                message.kind = value
            case "value" if type(value) is dict:
                message.value_json = write_json(value, "value")
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "critical" if type(value) is bool:
                message.critical = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


_READ_CONTENT_BLOCK: dict[str, Callable[[Any], Data]] = {
    "text": _read_text_block,
    "image": _read_image_block,
    "audio": _read_audio_block,
    "video": _read_video_block,
    "document": _read_document_block,
    "tool_use": _read_tool_use_block,
    "tool_result": _read_tool_result_block,
    "thinking": _read_thinking_block,
    "redacted_thinking": _read_redacted_thinking_block,
    "opaque": _read_opaque_block,
    "unknown": read_unknown,
}


def _read_content_block(message: pb.ContentBlock) -> Data:
    arm = message.WhichOneof("block")
    if arm is None:
        raise no_arm("block")
    return _READ_CONTENT_BLOCK[arm](getattr(message, arm))


_WRITE_CONTENT_BLOCK: dict[str, Callable[[Data, Any], None]] = {
    "text": _write_text_block,
    "image": _write_image_block,
    "audio": _write_audio_block,
    "video": _write_video_block,
    "document": _write_document_block,
    "tool_use": _write_tool_use_block,
    "tool_result": _write_tool_result_block,
    "thinking": _write_thinking_block,
    "redacted_thinking": _write_redacted_thinking_block,
    "opaque": _write_opaque_block,
}


def _write_content_block(data: Data, message: pb.ContentBlock) -> None:
    word = data.get("type")
    if not isinstance(word, str):
        raise InvalidRequest("the member type is missing, or is not a text", path="/type")
    write = _WRITE_CONTENT_BLOCK.get(word)
    if write is None:
        write_unknown(data, message.unknown)
        return
    arm = getattr(message, word)
    arm.SetInParent()
    write(data, arm)


def _read_routing_decision_record(message: pb.RoutingDecisionRecord) -> Data:
    data: Data = {"chosen_model": message.chosen_model, "reason": message.reason}
    data["mode"] = read_enum(_ROUTING_MODE_WORDS, message.mode, None, "mode")
    if message.HasField("rule_name"):
        data["rule_name"] = message.rule_name
    if message.HasField("confidence"):
        data["confidence"] = read_number(message.confidence, "confidence")
    if message.alternatives_considered:
        data["alternatives_considered"] = list(message.alternatives_considered)
    if message.rest_json:
        read_rest(message.rest_json, data, {"chosen_model", "reason"})
    return data


def _write_routing_decision_record(data: Data, message: pb.RoutingDecisionRecord) -> None:
    if "mode" not in data:
        raise missing("mode")
    if "chosen_model" not in data:
        raise missing("chosen_model")
    if "reason" not in data:
        raise missing("reason")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "mode":
                message.mode = write_enum(_ROUTING_MODE, value, None, "mode")
            case "chosen_model" if is_text(value):
                message.chosen_model = value
            case "reason" if is_text(value):
                message.reason = value
            case "rule_name" if is_text(value):
                message.rule_name = value
            case "confidence" if is_double(value):
                message.confidence = value
            case "alternatives_considered" if is_texts(value) and value:
                message.alternatives_considered.extend(value)
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_usage(message: pb.Usage) -> Data:
    data: Data = {"input_tokens": message.input_tokens, "output_tokens": message.output_tokens}
    if message.HasField("cached_input_tokens"):
        data["cached_input_tokens"] = message.cached_input_tokens
    if message.HasField("cache_creation_input_tokens"):
        data["cache_creation_input_tokens"] = message.cache_creation_input_tokens
    if message.HasField("cache_creation_1h_input_tokens"):
        data["cache_creation_1h_input_tokens"] = message.cache_creation_1h_input_tokens
    if message.HasField("reasoning_tokens"):
        data["reasoning_tokens"] = message.reasoning_tokens
    if message.HasField("cost_usd"):
        data["cost_usd"] = message.cost_usd
    if message.HasField("pricing_version"):
        data["pricing_version"] = message.pricing_version
    if message.HasField("latency_ms"):
        data["latency_ms"] = message.latency_ms
    if message.HasField("estimated"):
        data["estimated"] = message.estimated
    if message.raw_json:
        data["raw"] = read_object(message.raw_json, "raw")
    if message.rest_json:
        read_rest(message.rest_json, data, {"input_tokens", "output_tokens"})
    return data


def _write_usage(data: Data, message: pb.Usage) -> None:
    if "input_tokens" not in data:
        raise missing("input_tokens")
    if "output_tokens" not in data:
        raise missing("output_tokens")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "input_tokens" if is_int32(value):
                message.input_tokens = value
            case "output_tokens" if is_int32(value):
                message.output_tokens = value
            case "cached_input_tokens" if is_int32(value):
                message.cached_input_tokens = value
            case "cache_creation_input_tokens" if is_int32(value):
                message.cache_creation_input_tokens = value
            case "cache_creation_1h_input_tokens" if is_int32(value):
                message.cache_creation_1h_input_tokens = value
            case "reasoning_tokens" if is_int32(value):
                message.reasoning_tokens = value
            case "cost_usd" if is_text(value):
                message.cost_usd = value
            case "pricing_version" if is_text(value):
                message.pricing_version = value
            case "latency_ms" if is_int32(value):
                message.latency_ms = value
            case "estimated" if type(value) is bool:
                message.estimated = value
            case "raw" if type(value) is dict:
                message.raw_json = write_json(value, "raw")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_message_metadata(message: pb.MessageMetadata) -> Data:
    data: Data = {}
    if message.HasField("model"):
        data["model"] = message.model
    if message.HasField("provider"):
        data["provider"] = message.provider
    if message.HasField("routing"):
        data["routing"] = read_one(_read_routing_decision_record, message.routing, "routing")
    if message.HasField("usage"):
        data["usage"] = read_one(_read_usage, message.usage, "usage")
    if message.HasField("parent_tool_use_id"):
        data["parent_tool_use_id"] = message.parent_tool_use_id
    if message.status:
        data["status"] = read_enum(_MESSAGE_STATUS_WORDS, message.status, None, "status")
    if message.provider_raw_json:
        data["provider_raw"] = read_object(message.provider_raw_json, "provider_raw")
    if message.HasField("user_id"):
        data["user_id"] = message.user_id
    if message.HasField("team_id"):
        data["team_id"] = message.team_id
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_message_metadata(data: Data, message: pb.MessageMetadata) -> None:
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "model" if is_text(value):
                message.model = value
            case "provider" if is_text(value):
                message.provider = value
            case "routing" if type(value) is dict:
                write_one(_write_routing_decision_record, value, message.routing, "routing")
            case "usage" if type(value) is dict:
                write_one(_write_usage, value, message.usage, "usage")
            case "parent_tool_use_id" if is_text(value):
                message.parent_tool_use_id = value
            case "status" if value is not None:
                message.status = write_enum(_MESSAGE_STATUS, value, None, "status")
            case "provider_raw" if type(value) is dict:
                message.provider_raw_json = write_json(value, "provider_raw")
            case "user_id" if is_text(value):
                message.user_id = value
            case "team_id" if is_text(value):
                message.team_id = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_message(message: pb.Message) -> Data:
    data: Data = {}
    if message.HasField("id"):
        data["id"] = message.id
    if message.HasField("session_id"):
        data["session_id"] = message.session_id
    data["role"] = read_enum(_ROLE_WORDS, message.role, None, "role")
    data["content"] = read_each(_read_content_block, message.content, "content")
    if message.HasField("name"):
        data["name"] = message.name
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("priority"):
        data["priority"] = message.priority
    if message.HasField("critical"):
        data["critical"] = message.critical
    if message.HasField("metadata"):
        data["metadata"] = read_one(_read_message_metadata, message.metadata, "metadata")
    if message.HasField("created_at"):
        data["created_at"] = read_time(message.created_at, "created_at")
    if message.HasField("schema_version"):
        data["schema_version"] = message.schema_version
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.extra_json:
        data["extra"] = read_object(message.extra_json, "extra")
    if message.rest_json:
        read_rest(message.rest_json, data, {"content"})
    return data


def _write_message(data: Data, message: pb.Message) -> None:
    if "role" not in data:
        raise missing("role")
    if "content" not in data:
        raise missing("content")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "id" if is_text(value):
                message.id = value
            case "session_id" if is_text(value):
                message.session_id = value
            case "role":
                message.role = write_enum(_ROLE, value, None, "role")
            case "content" if type(value) is list:
                write_each(_write_content_block, value, message.content, "content")
            case "name" if is_text(value):
                message.name = value
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "priority" if is_int32(value):
                message.priority = value
            case "critical" if type(value) is bool:
                message.critical = value
            case "metadata" if type(value) is dict:
                write_one(_write_message_metadata, value, message.metadata, "metadata")
            case "created_at" if write_time(value, message.created_at):
                pass
            case "schema_version" if is_int32(value):
                message.schema_version = value
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case "extra" if type(value) is dict:
                message.extra_json = write_json(value, "extra")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool(message: pb.Tool) -> Data:
    data: Data = {"name": message.name}
    if message.kind:
        data["kind"] = read_enum(_TOOL_KIND_WORDS, message.kind, None, "kind")
    if message.HasField("description"):
        data["description"] = message.description
    if message.input_schema_json:
        data["input_schema"] = read_object(message.input_schema_json, "input_schema")
    if message.side_effects:
        data["side_effects"] = read_enum(_SIDE_EFFECTS_WORDS, message.side_effects, None, "side_effects")
    if message.HasField("requires_workspace"):
        data["requires_workspace"] = message.requires_workspace
    if message.HasField("strict"):
        data["strict"] = message.strict
    if message.format_json:
        data["format"] = read_object(message.format_json, "format")
    if message.HasField("adapter"):
        data["adapter"] = message.adapter
    if message.definition_json:
        data["definition"] = read_object(message.definition_json, "definition")
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"name"})
    return data


def _write_tool(data: Data, message: pb.Tool) -> None:
    if "name" not in data:
        raise missing("name")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "kind" if value is not None:
                message.kind = write_enum(_TOOL_KIND, value, None, "kind")
            case "name" if is_text(value):
                message.name = value
            case "description" if is_text(value):
                message.description = value
            case "input_schema" if type(value) is dict:
                message.input_schema_json = write_json(value, "input_schema")
            case "side_effects" if value is not None:
                message.side_effects = write_enum(_SIDE_EFFECTS, value, None, "side_effects")
            case "requires_workspace" if type(value) is bool:
                message.requires_workspace = value
            case "strict" if type(value) is bool:
                message.strict = value
            case "format" if type(value) is dict:
                message.format_json = write_json(value, "format")
            case "adapter" if is_text(value):
                message.adapter = value
            case "definition" if type(value) is dict:
                message.definition_json = write_json(value, "definition")
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool_choice(message: pb.ToolChoice) -> Data:
    data: Data = {}
    data["type"] = read_enum(_TOOL_CHOICE_TYPE_WORDS, message.type, None, "type")
    if message.HasField("name"):
        data["name"] = message.name
    if message.names:
        data["names"] = list(message.names)
    if message.mode:
        data["mode"] = read_enum(_TOOL_CHOICE_MODE_WORDS, message.mode, None, "mode")
    if message.kind:
        data["kind"] = read_enum(_TOOL_KIND_WORDS, message.kind, None, "kind")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_tool_choice(data: Data, message: pb.ToolChoice) -> None:
    if "type" not in data:
        raise missing("type")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                message.type = write_enum(_TOOL_CHOICE_TYPE, value, None, "type")
            case "name" if is_text(value):
                message.name = value
            case "names" if is_texts(value) and value:
                message.names.extend(value)
            case "mode" if value is not None:
                message.mode = write_enum(_TOOL_CHOICE_MODE, value, None, "mode")
            case "kind" if value is not None:
                message.kind = write_enum(_TOOL_KIND, value, None, "kind")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_response_format(message: pb.ResponseFormat) -> Data:
    data: Data = {}
    data["type"] = read_enum(_RESPONSE_FORMAT_TYPE_WORDS, message.type, None, "type")
    if message.HasField("name"):
        data["name"] = message.name
    if message.HasField("description"):
        data["description"] = message.description
    if message.schema_json:
        data["schema"] = read_object(message.schema_json, "schema")
    if message.HasField("strict"):
        data["strict"] = message.strict
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_response_format(data: Data, message: pb.ResponseFormat) -> None:
    if "type" not in data:
        raise missing("type")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                message.type = write_enum(_RESPONSE_FORMAT_TYPE, value, None, "type")
            case "name" if is_text(value):
                message.name = value
            case "description" if is_text(value):
                message.description = value
            case "schema" if type(value) is dict:
                message.schema_json = write_json(value, "schema")
            case "strict" if type(value) is bool:
                message.strict = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_reasoning(message: pb.Reasoning) -> Data:
    data: Data = {}
    if message.HasField("mode"):
        data["mode"] = message.mode
    if message.HasField("effort"):
        data["effort"] = message.effort
    if message.HasField("budget_tokens"):
        data["budget_tokens"] = message.budget_tokens
    if message.HasField("display"):
        data["display"] = message.display
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_reasoning(data: Data, message: pb.Reasoning) -> None:
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "mode" if is_text(value):
                message.mode = value
            case "effort" if is_text(value):
                message.effort = value
            case "budget_tokens" if is_int32(value):
                message.budget_tokens = value
            case "display" if is_text(value):
                message.display = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_loss_policy(message: pb.LossPolicy) -> Data:
    data: Data = {}
    if message.on_drop:
        data["on_drop"] = read_enum(_ON_DROP_WORDS, message.on_drop, None, "on_drop")
    if message.strict:
        data["strict"] = read_enum(_LOSS_SEVERITY_WORDS, message.strict, None, "strict")
    if message.unanswered:
        data["unanswered"] = read_enum(_UNANSWERED_WORDS, message.unanswered, None, "unanswered")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_loss_policy(data: Data, message: pb.LossPolicy) -> None:
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "on_drop" if value is not None:
                message.on_drop = write_enum(_ON_DROP, value, None, "on_drop")
            case "strict" if value is not None:
                message.strict = write_enum(_LOSS_SEVERITY, value, None, "strict")
            case "unanswered" if value is not None:
                message.unanswered = write_enum(_UNANSWERED, value, None, "unanswered")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_request(message: pb.Request) -> Data:
    data: Data = {}
    if message.HasField("model"):
        data["model"] = message.model
    if message.system:
        data["system"] = read_each(_read_text_block, message.system, "system")
    data["messages"] = read_each(_read_message, message.messages, "messages")
    if message.tools:
        data["tools"] = read_each(_read_tool, message.tools, "tools")
    if message.HasField("tool_choice"):
        data["tool_choice"] = read_one(_read_tool_choice, message.tool_choice, "tool_choice")
    if message.HasField("parallel_tool_calls"):
        data["parallel_tool_calls"] = message.parallel_tool_calls
    if message.HasField("response_format"):
        data["response_format"] = read_one(_read_response_format, message.response_format, "response_format")
    if message.HasField("max_output_tokens"):
        data["max_output_tokens"] = message.max_output_tokens
    if message.HasField("temperature"):
        data["temperature"] = read_number(message.temperature, "temperature")
    if message.HasField("top_p"):
        data["top_p"] = read_number(message.top_p, "top_p")
    if message.HasField("top_k"):
        data["top_k"] = read_number(message.top_k, "top_k")
    if message.HasField("min_p"):
        data["min_p"] = read_number(message.min_p, "min_p")
    if message.HasField("frequency_penalty"):
        data["frequency_penalty"] = read_number(message.frequency_penalty, "frequency_penalty")
    if message.HasField("presence_penalty"):
        data["presence_penalty"] = read_number(message.presence_penalty, "presence_penalty")
    if message.HasField("seed"):
        data["seed"] = message.seed
    if message.stop:
        data["stop"] = list(message.stop)
    if message.HasField("n"):
        data["n"] = message.n
    if message.HasField("logprobs"):
        data["logprobs"] = message.logprobs
    if message.HasField("top_logprobs"):
        data["top_logprobs"] = message.top_logprobs
    if message.HasField("reasoning"):
        data["reasoning"] = read_one(_read_reasoning, message.reasoning, "reasoning")
    if message.HasField("verbosity"):
        data["verbosity"] = message.verbosity
    if message.HasField("service_tier"):
        data["service_tier"] = message.service_tier
    if message.HasField("user"):
        data["user"] = message.user
    if message.metadata_json:
        data["metadata"] = read_object(message.metadata_json, "metadata")
    if message.HasField("cache"):
        data["cache"] = read_one(_read_cache_hint, message.cache, "cache")
    if message.HasField("stream"):
        data["stream"] = message.stream
    if message.options_json:
        data["options"] = read_object(message.options_json, "options")
    if message.HasField("loss_policy"):
        data["loss_policy"] = read_one(_read_loss_policy, message.loss_policy, "loss_policy")
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data, {"messages"})
    return data


def _write_request(data: Data, message: pb.Request) -> None:
    if "messages" not in data:
        raise missing("messages")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "model" if is_text(value):
                message.model = value
            case "system" if type(value) is list and value:
                write_each(_write_text_block, value, message.system, "system")
            case "messages" if type(value) is list:
                write_each(_write_message, value, message.messages, "messages")
            case "tools" if type(value) is list and value:
                write_each(_write_tool, value, message.tools, "tools")
            case "tool_choice" if type(value) is dict:
                write_one(_write_tool_choice, value, message.tool_choice, "tool_choice")
            case "parallel_tool_calls" if type(value) is bool:
                message.parallel_tool_calls = value
            case "response_format" if type(value) is dict:
                write_one(_write_response_format, value, message.response_format, "response_format")
            case "max_output_tokens" if is_int32(value):
                message.max_output_tokens = value
            case "temperature" if is_double(value):
                message.temperature = value
            case "top_p" if is_double(value):
                message.top_p = value
            case "top_k" if is_double(value):
                message.top_k = value
            case "min_p" if is_double(value):
                message.min_p = value
            case "frequency_penalty" if is_double(value):
                message.frequency_penalty = value
            case "presence_penalty" if is_double(value):
                message.presence_penalty = value
            case "seed" if is_int64(value):
                message.seed = value
            case "stop" if is_texts(value) and value:
                message.stop.extend(value)
            case "n" if is_int32(value):
                message.n = value
            case "logprobs" if type(value) is bool:
                message.logprobs = value
            case "top_logprobs" if is_int32(value):
                message.top_logprobs = value
            case "reasoning" if type(value) is dict:
                write_one(_write_reasoning, value, message.reasoning, "reasoning")
            case "verbosity" if is_text(value):
                message.verbosity = value
            case "service_tier" if is_text(value):
                message.service_tier = value
            case "user" if is_text(value):
                message.user = value
            case "metadata" if type(value) is dict:
                message.metadata_json = write_json(value, "metadata")
            case "cache" if type(value) is dict:
                write_one(_write_cache_hint, value, message.cache, "cache")
            case "stream" if type(value) is bool:
                message.stream = value
            case "options" if type(value) is dict:
                message.options_json = write_json(value, "options")
            case "loss_policy" if type(value) is dict:
                write_one(_write_loss_policy, value, message.loss_policy, "loss_policy")
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_loss_entry(message: pb.LossEntry) -> Data:
    data: Data = {"path": message.path, "code": message.code, "message": message.message}
    data["op"] = read_enum(_LOSS_OP_WORDS, message.op, None, "op")
    if message.HasField("to"):
        data["to"] = message.to
    if message.value_json:
        data["value"] = read_json(message.value_json, "value")
    data["severity"] = read_enum(_LOSS_SEVERITY_WORDS, message.severity, None, "severity")
    if message.rest_json:
        read_rest(message.rest_json, data, {"path", "code", "message"})
    return data


def _write_loss_entry(data: Data, message: pb.LossEntry) -> None:
    if "op" not in data:
        raise missing("op")
    if "path" not in data:
        raise missing("path")
    if "code" not in data:
        raise missing("code")
    if "severity" not in data:
        raise missing("severity")
    if "message" not in data:
        raise missing("message")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "op":
                message.op = write_enum(_LOSS_OP, value, None, "op")
            case "path" if is_text(value):
                message.path = value
            case "to" if is_text(value):
                message.to = value
            case "value":
                message.value_json = write_json(value, "value")
            case "code" if is_text(value):
                message.code = value
            case "severity":
                message.severity = write_enum(_LOSS_SEVERITY, value, None, "severity")
            case "message" if is_text(value):
                message.message = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_choice(message: pb.Choice) -> Data:
    data: Data = {}
    if not message.HasField("message"):
        raise missing("message")
    data["message"] = read_one(_read_message, message.message, "message")
    data["finish_reason"] = read_enum(_FINISH_REASON_WORDS, message.finish_reason, "other", "finish_reason")
    if message.HasField("finish_reason_raw"):
        data["finish_reason_raw"] = message.finish_reason_raw
    if message.HasField("stop_sequence"):
        data["stop_sequence"] = message.stop_sequence
    if message.logprobs_json:
        data["logprobs"] = read_object(message.logprobs_json, "logprobs")
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_choice(data: Data, message: pb.Choice) -> None:
    if "message" not in data:
        raise missing("message")
    if "finish_reason" not in data:
        raise missing("finish_reason")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "message" if type(value) is dict:
                write_one(_write_message, value, message.message, "message")
            case "finish_reason":
                message.finish_reason = write_enum(_FINISH_REASON, value, pb.FINISH_REASON_OTHER, "finish_reason")
            case "finish_reason_raw" if is_text(value):
                message.finish_reason_raw = value
            case "stop_sequence" if is_text(value):
                message.stop_sequence = value
            case "logprobs" if type(value) is dict:
                message.logprobs_json = write_json(value, "logprobs")
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_response(message: pb.Response) -> Data:
    data: Data = {}
    if message.HasField("id"):
        data["id"] = message.id
    if message.HasField("model"):
        data["model"] = message.model
    if message.HasField("requested_model"):
        data["requested_model"] = message.requested_model
    if not message.HasField("message"):
        raise missing("message")
    data["message"] = read_one(_read_message, message.message, "message")
    data["finish_reason"] = read_enum(_FINISH_REASON_WORDS, message.finish_reason, "other", "finish_reason")
    if message.HasField("finish_reason_raw"):
        data["finish_reason_raw"] = message.finish_reason_raw
    if message.HasField("stop_sequence"):
        data["stop_sequence"] = message.stop_sequence
    if message.HasField("usage"):
        data["usage"] = read_one(_read_usage, message.usage, "usage")
    if message.alternatives:
        data["alternatives"] = read_each(_read_choice, message.alternatives, "alternatives")
    if message.logprobs_json:
        data["logprobs"] = read_object(message.logprobs_json, "logprobs")
    if message.loss:
        data["loss"] = read_each(_read_loss_entry, message.loss, "loss")
    if message.skipped:
        data["skipped"] = read_each(_read_skipped_target, message.skipped, "skipped")
    if message.attempts:
        data["attempts"] = read_each(_read_failed_attempt, message.attempts, "attempts")
    if message.HasField("provider_state"):
        data["provider_state"] = read_one(_read_provider_state, message.provider_state, "provider_state")
    if message.raw_json:
        data["raw"] = read_object(message.raw_json, "raw")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_response(data: Data, message: pb.Response) -> None:
    if "message" not in data:
        raise missing("message")
    if "finish_reason" not in data:
        raise missing("finish_reason")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "id" if is_text(value):
                message.id = value
            case "model" if is_text(value):
                message.model = value
            case "requested_model" if is_text(value):
                message.requested_model = value
            case "message" if type(value) is dict:
                write_one(_write_message, value, message.message, "message")
            case "finish_reason":
                message.finish_reason = write_enum(_FINISH_REASON, value, pb.FINISH_REASON_OTHER, "finish_reason")
            case "finish_reason_raw" if is_text(value):
                message.finish_reason_raw = value
            case "stop_sequence" if is_text(value):
                message.stop_sequence = value
            case "usage" if type(value) is dict:
                write_one(_write_usage, value, message.usage, "usage")
            case "alternatives" if type(value) is list and value:
                write_each(_write_choice, value, message.alternatives, "alternatives")
            case "logprobs" if type(value) is dict:
                message.logprobs_json = write_json(value, "logprobs")
            case "loss" if type(value) is list and value:
                write_each(_write_loss_entry, value, message.loss, "loss")
            case "skipped" if type(value) is list and value:
                write_each(_write_skipped_target, value, message.skipped, "skipped")
            case "attempts" if type(value) is list and value:
                write_each(_write_failed_attempt, value, message.attempts, "attempts")
            case "provider_state" if type(value) is dict:
                write_one(_write_provider_state, value, message.provider_state, "provider_state")
            case "raw" if type(value) is dict:
                message.raw_json = write_json(value, "raw")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_skipped_target(message: pb.SkippedTarget) -> Data:
    data: Data = {"model": message.model, "reason": message.reason}
    if message.HasField("message"):
        data["message"] = message.message
    if message.rest_json:
        read_rest(message.rest_json, data, {"model", "reason"})
    return data


def _write_skipped_target(data: Data, message: pb.SkippedTarget) -> None:
    if "model" not in data:
        raise missing("model")
    if "reason" not in data:
        raise missing("reason")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "model" if is_text(value):
                message.model = value
            case "reason" if is_text(value):
                message.reason = value
            case "message" if is_text(value):
                message.message = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_failed_attempt(message: pb.FailedAttempt) -> Data:
    data: Data = {"model": message.model}
    data["category"] = read_enum(_ERROR_CATEGORY_WORDS, message.category, "other", "category")
    if message.HasField("status"):
        data["status"] = message.status
    if message.HasField("waited"):
        data["waited"] = read_number(message.waited, "waited")
    if message.rest_json:
        read_rest(message.rest_json, data, {"model"})
    return data


def _write_failed_attempt(data: Data, message: pb.FailedAttempt) -> None:
    if "model" not in data:
        raise missing("model")
    if "category" not in data:
        raise missing("category")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "model" if is_text(value):
                message.model = value
            case "category":
                message.category = write_enum(_ERROR_CATEGORY, value, pb.ERROR_CATEGORY_OTHER, "category")
            case "status" if is_int32(value):
                message.status = value
            case "waited" if is_double(value):
                message.waited = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_message_start_event(message: pb.MessageStartEvent) -> Data:
    data: Data = {"type": "message_start"}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("model"):
        data["model"] = message.model
    if message.HasField("response_id"):
        data["response_id"] = message.response_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_message_start_event(data: Data, message: pb.MessageStartEvent) -> None:
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "model" if is_text(value):
                message.model = value
            case "response_id" if is_text(value):
                message.response_id = value
            case "choice" if is_int32(value):
                message.choice = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_block_start_event(message: pb.BlockStartEvent) -> Data:
    data: Data = {"type": "block_start", "index": message.index}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if not message.HasField("block"):
        raise missing("block")
    data["block"] = read_one(_read_content_block, message.block, "block")
    if message.rest_json:
        read_rest(message.rest_json, data, {"index"})
    return data


def _write_block_start_event(data: Data, message: pb.BlockStartEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "block" not in data:
        raise missing("block")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "block" if type(value) is dict:
                write_one(_write_content_block, value, message.block, "block")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_block_stop_event(message: pb.BlockStopEvent) -> Data:
    data: Data = {"type": "block_stop", "index": message.index}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if not message.HasField("block"):
        raise missing("block")
    data["block"] = read_one(_read_content_block, message.block, "block")
    if message.rest_json:
        read_rest(message.rest_json, data, {"index"})
    return data


def _write_block_stop_event(data: Data, message: pb.BlockStopEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "block" not in data:
        raise missing("block")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "block" if type(value) is dict:
                write_one(_write_content_block, value, message.block, "block")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_text_delta_event(message: pb.TextDeltaEvent) -> Data:
    data: Data = {"type": "text_delta", "index": message.index, "text": message.text}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if message.rest_json:
        read_rest(message.rest_json, data, {"index", "text"})
    return data


def _write_text_delta_event(data: Data, message: pb.TextDeltaEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "text" not in data:
        raise missing("text")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "text" if is_text(value):
                message.text = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_thinking_delta_event(message: pb.ThinkingDeltaEvent) -> Data:
    data: Data = {"type": "thinking_delta", "index": message.index, "text": message.text}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if message.HasField("signature"):
        data["signature"] = message.signature
    if message.rest_json:
        read_rest(message.rest_json, data, {"index", "text"})
    return data


def _write_thinking_delta_event(data: Data, message: pb.ThinkingDeltaEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "text" not in data:
        raise missing("text")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "text" if is_text(value):
                message.text = value
            case "signature" if is_text(value):
                message.signature = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool_use_start_event(message: pb.ToolUseStartEvent) -> Data:
    data: Data = {"type": "tool_use_start", "index": message.index, "id": message.id, "name": message.name}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if message.rest_json:
        read_rest(message.rest_json, data, {"index", "id", "name"})
    return data


def _write_tool_use_start_event(data: Data, message: pb.ToolUseStartEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "id" not in data:
        raise missing("id")
    if "name" not in data:
        raise missing("name")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "id" if is_text(value):
                message.id = value
            case "name" if is_text(value):
                message.name = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool_use_input_delta_event(message: pb.ToolUseInputDeltaEvent) -> Data:
    data: Data = {"type": "tool_use_input_delta", "index": message.index, "id": message.id, "text": message.text}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    if message.rest_json:
        read_rest(message.rest_json, data, {"index", "id", "text"})
    return data


def _write_tool_use_input_delta_event(data: Data, message: pb.ToolUseInputDeltaEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "id" not in data:
        raise missing("id")
    if "text" not in data:
        raise missing("text")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "id" if is_text(value):
                message.id = value
            case "text" if is_text(value):
                message.text = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_tool_use_end_event(message: pb.ToolUseEndEvent) -> Data:
    data: Data = {"type": "tool_use_end", "index": message.index, "id": message.id, "name": message.name}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.HasField("choice"):
        data["choice"] = message.choice
    data["input"] = read_object(message.input_json, "input")
    if message.HasField("input_raw"):
        data["input_raw"] = message.input_raw
    if message.rest_json:
        read_rest(message.rest_json, data, {"index", "id", "name"})
    return data


def _write_tool_use_end_event(data: Data, message: pb.ToolUseEndEvent) -> None:
    if "index" not in data:
        raise missing("index")
    if "id" not in data:
        raise missing("id")
    if "name" not in data:
        raise missing("name")
    if "input" not in data:
        raise missing("input")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "index" if is_int32(value):
                message.index = value
            case "choice" if is_int32(value):
                message.choice = value
            case "id" if is_text(value):
                message.id = value
            case "name" if is_text(value):
                message.name = value
            case "input" if type(value) is dict:
                message.input_json = write_json(value, "input")
            case "input_raw" if is_text(value):
                message.input_raw = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_usage_update_event(message: pb.UsageUpdateEvent) -> Data:
    data: Data = {"type": "usage_update"}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if not message.HasField("usage"):
        raise missing("usage")
    data["usage"] = read_one(_read_usage, message.usage, "usage")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_usage_update_event(data: Data, message: pb.UsageUpdateEvent) -> None:
    if "usage" not in data:
        raise missing("usage")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "usage" if type(value) is dict:
                write_one(_write_usage, value, message.usage, "usage")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_message_complete_event(message: pb.MessageCompleteEvent) -> Data:
    data: Data = {"type": "message_complete"}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if not message.HasField("response"):
        raise missing("response")
    data["response"] = read_one(_read_response, message.response, "response")
    if message.places:
        data["places"] = list(message.places)
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_message_complete_event(data: Data, message: pb.MessageCompleteEvent) -> None:
    if "response" not in data:
        raise missing("response")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "response" if type(value) is dict:
                write_one(_write_response, value, message.response, "response")
            case "places" if are_int32(value) and value:
                message.places.extend(value)
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_error_event(message: pb.ErrorEvent) -> Data:
    data: Data = {"type": "error"}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if not message.HasField("error"):
        raise missing("error")
    data["error"] = read_one(_read_error, message.error, "error")
    if message.HasField("response"):
        data["response"] = read_one(_read_response, message.response, "response")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_error_event(data: Data, message: pb.ErrorEvent) -> None:
    if "error" not in data:
        raise missing("error")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "type":
                pass
            case "message_id" if is_text(value):
                message.message_id = value
            case "error" if type(value) is dict:
                write_one(_write_error, value, message.error, "error")
            case "response" if type(value) is dict:
                write_one(_write_response, value, message.response, "response")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


_READ_STREAM_EVENT: dict[str, Callable[[Any], Data]] = {
    "message_start": _read_message_start_event,
    "block_start": _read_block_start_event,
    "text_delta": _read_text_delta_event,
    "thinking_delta": _read_thinking_delta_event,
    "tool_use_start": _read_tool_use_start_event,
    "tool_use_input_delta": _read_tool_use_input_delta_event,
    "tool_use_end": _read_tool_use_end_event,
    "block_stop": _read_block_stop_event,
    "usage_update": _read_usage_update_event,
    "message_complete": _read_message_complete_event,
    "error": _read_error_event,
    "unknown": read_unknown,
}


def _read_stream_event(message: pb.StreamEvent) -> Data:
    arm = message.WhichOneof("event")
    if arm is None:
        raise no_arm("event")
    return _READ_STREAM_EVENT[arm](getattr(message, arm))


_WRITE_STREAM_EVENT: dict[str, Callable[[Data, Any], None]] = {
    "message_start": _write_message_start_event,
    "block_start": _write_block_start_event,
    "text_delta": _write_text_delta_event,
    "thinking_delta": _write_thinking_delta_event,
    "tool_use_start": _write_tool_use_start_event,
    "tool_use_input_delta": _write_tool_use_input_delta_event,
    "tool_use_end": _write_tool_use_end_event,
    "block_stop": _write_block_stop_event,
    "usage_update": _write_usage_update_event,
    "message_complete": _write_message_complete_event,
    "error": _write_error_event,
}


def _write_stream_event(data: Data, message: pb.StreamEvent) -> None:
    word = data.get("type")
    if not isinstance(word, str):
        raise InvalidRequest("the member type is missing, or is not a text", path="/type")
    write = _WRITE_STREAM_EVENT.get(word)
    if write is None:
        write_unknown(data, message.unknown)
        return
    arm = getattr(message, word)
    arm.SetInParent()
    write(data, arm)


def _read_error(message: pb.Error) -> Data:
    data: Data = {"message": message.message}
    data["category"] = read_enum(_ERROR_CATEGORY_WORDS, message.category, "other", "category")
    if message.HasField("provider_message"):
        data["provider_message"] = message.provider_message
    if message.HasField("path"):
        data["path"] = message.path
    if message.HasField("retryable"):
        data["retryable"] = message.retryable
    if message.HasField("retry_after"):
        data["retry_after"] = read_number(message.retry_after, "retry_after")
    if message.HasField("status"):
        data["status"] = message.status
    if message.HasField("code"):
        data["code"] = message.code
    if message.HasField("request_id"):
        data["request_id"] = message.request_id
    if message.HasField("provider"):
        data["provider"] = message.provider
    if message.HasField("adapter"):
        data["adapter"] = message.adapter
    if message.loss:
        data["loss"] = read_each(_read_loss_entry, message.loss, "loss")
    if message.violations:
        data["violations"] = read_each(_read_violation, message.violations, "violations")
    if message.attempts:
        data["attempts"] = read_each(_read_failed_attempt, message.attempts, "attempts")
    if message.skipped:
        data["skipped"] = read_each(_read_skipped_target, message.skipped, "skipped")
    if message.raw_json:
        data["raw"] = read_json(message.raw_json, "raw")
    if message.rest_json:
        read_rest(message.rest_json, data, {"message"})
    return data


def _write_error(data: Data, message: pb.Error) -> None:
    if "category" not in data:
        raise missing("category")
    if "message" not in data:
        raise missing("message")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "category":
                message.category = write_enum(_ERROR_CATEGORY, value, pb.ERROR_CATEGORY_OTHER, "category")
            case "message" if is_text(value):
                message.message = value
            case "provider_message" if is_text(value):
                message.provider_message = value
            case "path" if is_text(value):
                message.path = value
            case "retryable" if type(value) is bool:
                message.retryable = value
            case "retry_after" if is_double(value):
                message.retry_after = value
            case "status" if is_int32(value):
                message.status = value
            case "code" if is_text(value):
                message.code = value
            case "request_id" if is_text(value):
                message.request_id = value
            case "provider" if is_text(value):
                message.provider = value
            case "adapter" if is_text(value):
                message.adapter = value
            case "loss" if type(value) is list and value:
                write_each(_write_loss_entry, value, message.loss, "loss")
            case "violations" if type(value) is list and value:
                write_each(_write_violation, value, message.violations, "violations")
            case "attempts" if type(value) is list and value:
                write_each(_write_failed_attempt, value, message.attempts, "attempts")
            case "skipped" if type(value) is list and value:
                write_each(_write_skipped_target, value, message.skipped, "skipped")
            case "raw":
                message.raw_json = write_json(value, "raw")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_violation(message: pb.Violation) -> Data:
    data: Data = {"rule": message.rule, "path": message.path, "message": message.message}
    if message.rest_json:
        read_rest(message.rest_json, data, {"rule", "path", "message"})
    return data


def _write_violation(data: Data, message: pb.Violation) -> None:
    if "rule" not in data:
        raise missing("rule")
    if "path" not in data:
        raise missing("path")
    if "message" not in data:
        raise missing("message")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "rule" if is_text(value):
                message.rule = value
            case "path" if is_text(value):
                message.path = value
            case "message" if is_text(value):
                message.message = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_token_estimate(message: pb.TokenEstimate) -> Data:
    data: Data = {"low": message.low, "likely": message.likely, "high": message.high}
    if message.rest_json:
        read_rest(message.rest_json, data, {"low", "likely", "high"})
    return data


def _write_token_estimate(data: Data, message: pb.TokenEstimate) -> None:
    if "low" not in data:
        raise missing("low")
    if "likely" not in data:
        raise missing("likely")
    if "high" not in data:
        raise missing("high")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "low" if is_int32(value):
                message.low = value
            case "likely" if is_int32(value):
                message.likely = value
            case "high" if is_int32(value):
                message.high = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_wire_request(message: pb.WireRequest) -> Data:
    data: Data = {"method": message.method, "path": message.path}
    if message.headers:
        data["headers"] = dict(message.headers)
    data["body"] = read_object(message.body_json, "body")
    if message.rest_json:
        read_rest(message.rest_json, data, {"method", "path"})
    return data


def _write_wire_request(data: Data, message: pb.WireRequest) -> None:
    if "method" not in data:
        raise missing("method")
    if "path" not in data:
        raise missing("path")
    if "body" not in data:
        raise missing("body")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "method" if is_text(value):
                message.method = value
            case "path" if is_text(value):
                message.path = value
            case "headers" if is_text_map(value) and value:
                message.headers.update(value)
            case "body" if type(value) is dict:
                message.body_json = write_json(value, "body")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_event(message: pb.Event) -> Data:
    data: Data = {"id": message.id, "type": message.type}
    if message.HasField("alias"):
        data["alias"] = message.alias
    data["timestamp"] = read_time(message.timestamp, "timestamp")
    if message.HasField("session_id"):
        data["session_id"] = message.session_id
    if message.HasField("turn_id"):
        data["turn_id"] = message.turn_id
    if message.HasField("parent_event_id"):
        data["parent_event_id"] = message.parent_event_id
    data["actor"] = read_enum(_EVENT_ACTOR_WORDS, message.actor, None, "actor")
    data["sensitivity"] = read_enum(_EVENT_SENSITIVITY_WORDS, message.sensitivity, None, "sensitivity")
    data["payload"] = read_object(message.payload_json, "payload")
    if message.rest_json:
        read_rest(message.rest_json, data, {"id", "type"})
    return data


def _write_event(data: Data, message: pb.Event) -> None:
    if "id" not in data:
        raise missing("id")
    if "type" not in data:
        raise missing("type")
    if "timestamp" not in data:
        raise missing("timestamp")
    if "actor" not in data:
        raise missing("actor")
    if "sensitivity" not in data:
        raise missing("sensitivity")
    if "payload" not in data:
        raise missing("payload")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "id" if is_text(value):
                message.id = value
            case "type" if is_text(value):
                message.type = value
            case "alias" if is_text(value):
                message.alias = value
            case "timestamp" if write_time(value, message.timestamp):
                pass
            case "session_id" if is_text(value):
                message.session_id = value
            case "turn_id" if is_text(value):
                message.turn_id = value
            case "parent_event_id" if is_text(value):
                message.parent_event_id = value
            case "actor":
                message.actor = write_enum(_EVENT_ACTOR, value, None, "actor")
            case "sensitivity":
                message.sensitivity = write_enum(_EVENT_SENSITIVITY, value, None, "sensitivity")
            case "payload" if type(value) is dict:
                message.payload_json = write_json(value, "payload")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_routing_chain_entry(message: pb.RoutingChainEntry) -> Data:
    data: Data = {"candidate_model": message.candidate_model, "reason": message.reason}
    data["policy"] = read_enum(_ROUTING_SLOT_WORDS, message.policy, None, "policy")
    data["verdict"] = read_enum(_ROUTING_VERDICT_WORDS, message.verdict, None, "verdict")
    if message.HasField("rule_name"):
        data["rule_name"] = message.rule_name
    if message.HasField("confidence"):
        data["confidence"] = read_number(message.confidence, "confidence")
    if message.pattern_alternatives:
        data["pattern_alternatives"] = list(message.pattern_alternatives)
    if message.HasField("validation_failure"):
        data["validation_failure"] = message.validation_failure
    if message.HasField("missing"):
        data["missing"] = message.missing
    if message.rest_json:
        read_rest(message.rest_json, data, {"candidate_model", "reason"})
    return data


def _write_routing_chain_entry(data: Data, message: pb.RoutingChainEntry) -> None:
    if "policy" not in data:
        raise missing("policy")
    if "verdict" not in data:
        raise missing("verdict")
    if "candidate_model" not in data:
        raise missing("candidate_model")
    if "reason" not in data:
        raise missing("reason")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "policy":
                message.policy = write_enum(_ROUTING_SLOT, value, None, "policy")
            case "verdict":
                message.verdict = write_enum(_ROUTING_VERDICT, value, None, "verdict")
            case "candidate_model" if is_text(value):
                message.candidate_model = value
            case "reason" if is_text(value):
                message.reason = value
            case "rule_name" if is_text(value):
                message.rule_name = value
            case "confidence" if is_double(value):
                message.confidence = value
            case "pattern_alternatives" if is_texts(value) and value:
                message.pattern_alternatives.extend(value)
            case "validation_failure" if is_text(value):
                message.validation_failure = value
            case "missing" if is_text(value):
                message.missing = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_route_decided_payload(message: pb.RouteDecidedPayload) -> Data:
    data: Data = {"chosen_model": message.chosen_model, "winner_index": message.winner_index}
    data["elapsed_ms"] = read_number(message.elapsed_ms, "elapsed_ms")
    data["chain"] = read_each(_read_routing_chain_entry, message.chain, "chain")
    if message.rest_json:
        read_rest(message.rest_json, data, {"chosen_model", "winner_index", "elapsed_ms", "chain"})
    return data


def _write_route_decided_payload(data: Data, message: pb.RouteDecidedPayload) -> None:
    if "chosen_model" not in data:
        raise missing("chosen_model")
    if "winner_index" not in data:
        raise missing("winner_index")
    if "elapsed_ms" not in data:
        raise missing("elapsed_ms")
    if "chain" not in data:
        raise missing("chain")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "chosen_model" if is_text(value):
                message.chosen_model = value
            case "winner_index" if is_int32(value):
                message.winner_index = value
            case "elapsed_ms" if is_double(value):
                message.elapsed_ms = value
            case "chain" if type(value) is list:
                write_each(_write_routing_chain_entry, value, message.chain, "chain")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_routing_constraint_failure_payload(message: pb.RoutingConstraintFailurePayload) -> Data:
    data: Data = {
        "requested_model": message.requested_model,
        "active_model": message.active_model,
        "failures": list(message.failures),
        "message": message.message,
    }
    if message.rest_json:
        read_rest(message.rest_json, data, {"requested_model", "active_model", "failures", "message"})
    return data


def _write_routing_constraint_failure_payload(data: Data, message: pb.RoutingConstraintFailurePayload) -> None:
    if "requested_model" not in data:
        raise missing("requested_model")
    if "active_model" not in data:
        raise missing("active_model")
    if "failures" not in data:
        raise missing("failures")
    if "message" not in data:
        raise missing("message")
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "requested_model" if is_text(value):
                message.requested_model = value
            case "active_model" if is_text(value):
                message.active_model = value
            case "failures" if is_texts(value):
                message.failures.extend(value)
            case "message" if is_text(value):
                message.message = value
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


def _read_session_change_payload(message: pb.SessionChangePayload) -> Data:
    data: Data = {}
    if message.HasField("message_id"):
        data["message_id"] = message.message_id
    if message.message_ids:
        data["message_ids"] = list(message.message_ids)
    if message.role:
        data["role"] = read_enum(_ROLE_WORDS, message.role, None, "role")
    if message.status:
        data["status"] = read_enum(_MESSAGE_STATUS_WORDS, message.status, None, "status")
    if message.HasField("model"):
        data["model"] = message.model
    if message.HasField("superseded_by"):
        data["superseded_by"] = message.superseded_by
    if message.HasField("parent_session_id"):
        data["parent_session_id"] = message.parent_session_id
    if message.HasField("parent_message_id"):
        data["parent_message_id"] = message.parent_message_id
    if message.category:
        data["category"] = read_enum(_ERROR_CATEGORY_WORDS, message.category, "other", "category")
    if message.rest_json:
        read_rest(message.rest_json, data)
    return data


def _write_session_change_payload(data: Data, message: pb.SessionChangePayload) -> None:
    rest: Data = {}
    for name, value in data.items():
        match name:
            case "message_id" if is_text(value):
                message.message_id = value
            case "message_ids" if is_texts(value) and value:
                message.message_ids.extend(value)
            case "role" if value is not None:
                message.role = write_enum(_ROLE, value, None, "role")
            case "status" if value is not None:
                message.status = write_enum(_MESSAGE_STATUS, value, None, "status")
            case "model" if is_text(value):
                message.model = value
            case "superseded_by" if is_text(value):
                message.superseded_by = value
            case "parent_session_id" if is_text(value):
                message.parent_session_id = value
            case "parent_message_id" if is_text(value):
                message.parent_message_id = value
            case "category" if value is not None:
                message.category = write_enum(_ERROR_CATEGORY, value, pb.ERROR_CATEGORY_OTHER, "category")
            case _:
                rest[name] = value
    if rest:
        message.rest_json = write_rest(rest)


_READ: dict[type, Callable[[Any], Data]] = {
    pb.ProviderState: _read_provider_state,
    pb.CacheHint: _read_cache_hint,
    pb.MediaSource: _read_media_source,
    pb.Citation: _read_citation,
    pb.TextBlock: _read_text_block,
    pb.ImageBlock: _read_image_block,
    pb.AudioBlock: _read_audio_block,
    pb.VideoBlock: _read_video_block,
    pb.DocumentBlock: _read_document_block,
    pb.ToolUseBlock: _read_tool_use_block,
    pb.ToolResultBlock: _read_tool_result_block,
    pb.ThinkingBlock: _read_thinking_block,
    pb.RedactedThinkingBlock: _read_redacted_thinking_block,
    pb.OpaqueBlock: _read_opaque_block,
    pb.ContentBlock: _read_content_block,
    pb.RoutingDecisionRecord: _read_routing_decision_record,
    pb.Usage: _read_usage,
    pb.MessageMetadata: _read_message_metadata,
    pb.Message: _read_message,
    pb.Tool: _read_tool,
    pb.ToolChoice: _read_tool_choice,
    pb.ResponseFormat: _read_response_format,
    pb.Reasoning: _read_reasoning,
    pb.LossPolicy: _read_loss_policy,
    pb.Request: _read_request,
    pb.LossEntry: _read_loss_entry,
    pb.Choice: _read_choice,
    pb.Response: _read_response,
    pb.SkippedTarget: _read_skipped_target,
    pb.FailedAttempt: _read_failed_attempt,
    pb.MessageStartEvent: _read_message_start_event,
    pb.BlockStartEvent: _read_block_start_event,
    pb.BlockStopEvent: _read_block_stop_event,
    pb.TextDeltaEvent: _read_text_delta_event,
    pb.ThinkingDeltaEvent: _read_thinking_delta_event,
    pb.ToolUseStartEvent: _read_tool_use_start_event,
    pb.ToolUseInputDeltaEvent: _read_tool_use_input_delta_event,
    pb.ToolUseEndEvent: _read_tool_use_end_event,
    pb.UsageUpdateEvent: _read_usage_update_event,
    pb.MessageCompleteEvent: _read_message_complete_event,
    pb.ErrorEvent: _read_error_event,
    pb.StreamEvent: _read_stream_event,
    pb.Error: _read_error,
    pb.Violation: _read_violation,
    pb.TokenEstimate: _read_token_estimate,
    pb.WireRequest: _read_wire_request,
    pb.Event: _read_event,
    pb.RoutingChainEntry: _read_routing_chain_entry,
    pb.RouteDecidedPayload: _read_route_decided_payload,
    pb.RoutingConstraintFailurePayload: _read_routing_constraint_failure_payload,
    pb.SessionChangePayload: _read_session_change_payload,
}

_WRITE: dict[type, Callable[[Any, Any], None]] = {
    pb.ProviderState: _write_provider_state,
    pb.CacheHint: _write_cache_hint,
    pb.MediaSource: _write_media_source,
    pb.Citation: _write_citation,
    pb.TextBlock: _write_text_block,
    pb.ImageBlock: _write_image_block,
    pb.AudioBlock: _write_audio_block,
    pb.VideoBlock: _write_video_block,
    pb.DocumentBlock: _write_document_block,
    pb.ToolUseBlock: _write_tool_use_block,
    pb.ToolResultBlock: _write_tool_result_block,
    pb.ThinkingBlock: _write_thinking_block,
    pb.RedactedThinkingBlock: _write_redacted_thinking_block,
    pb.OpaqueBlock: _write_opaque_block,
    pb.ContentBlock: _write_content_block,
    pb.RoutingDecisionRecord: _write_routing_decision_record,
    pb.Usage: _write_usage,
    pb.MessageMetadata: _write_message_metadata,
    pb.Message: _write_message,
    pb.Tool: _write_tool,
    pb.ToolChoice: _write_tool_choice,
    pb.ResponseFormat: _write_response_format,
    pb.Reasoning: _write_reasoning,
    pb.LossPolicy: _write_loss_policy,
    pb.Request: _write_request,
    pb.LossEntry: _write_loss_entry,
    pb.Choice: _write_choice,
    pb.Response: _write_response,
    pb.SkippedTarget: _write_skipped_target,
    pb.FailedAttempt: _write_failed_attempt,
    pb.MessageStartEvent: _write_message_start_event,
    pb.BlockStartEvent: _write_block_start_event,
    pb.BlockStopEvent: _write_block_stop_event,
    pb.TextDeltaEvent: _write_text_delta_event,
    pb.ThinkingDeltaEvent: _write_thinking_delta_event,
    pb.ToolUseStartEvent: _write_tool_use_start_event,
    pb.ToolUseInputDeltaEvent: _write_tool_use_input_delta_event,
    pb.ToolUseEndEvent: _write_tool_use_end_event,
    pb.UsageUpdateEvent: _write_usage_update_event,
    pb.MessageCompleteEvent: _write_message_complete_event,
    pb.ErrorEvent: _write_error_event,
    pb.StreamEvent: _write_stream_event,
    pb.Error: _write_error,
    pb.Violation: _write_violation,
    pb.TokenEstimate: _write_token_estimate,
    pb.WireRequest: _write_wire_request,
    pb.Event: _write_event,
    pb.RoutingChainEntry: _write_routing_chain_entry,
    pb.RouteDecidedPayload: _write_route_decided_payload,
    pb.RoutingConstraintFailurePayload: _write_routing_constraint_failure_payload,
    pb.SessionChangePayload: _write_session_change_payload,
}
