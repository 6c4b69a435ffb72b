"""
How a verb fails (spec/9-service.md#errors): with a status code that says whose fault it is, and a `google.rpc.Status` of
details: `ErrorInfo` (reason: the category), `BadRequest` (a JSON Pointer for each violation), `RetryInfo`, the `Usage` of
an answer that did not come to its end, and the canonical `Error`.

Over gRPC, details travel in the trailing metadata, which clients cap at 8 KiB by default. So what is long is cut: the
counts in `ErrorInfo` tell how much there was.

What the provider said goes to the client whose call it was, except where it speaks to whoever holds the key, which is
this server's operator (spec/9-service.md#provider-words).
"""

from collections.abc import Iterator
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from interlingua.canonical.errors import OPERATOR_CATEGORIES, InterlinguaError, ProviderError, StreamTruncated
from interlingua.v1 import types_pb2
from interlingua.verbs import convert

DOMAIN = "interlingua"

_BUDGET = 6_000  # bytes of details, base64 not counted; below the 8 KiB at which clients refuse metadata
_LONGEST = 500  # characters of one text
_MOST_TRIED = 12  # attempts and candidates that are told
_FEWER = (1_000, 500, 200)  # characters of the provider's words, where there is no room for all
_WHOLE = ("provider_message", "raw")  # whole, or cut by the room there is
_FRAME = 4  # bytes around a detail
_LONGEST_WAIT_S = 315_576_000_000  # what a google.protobuf.Duration holds; the canonical error has the number itself

CODES: dict[str, str] = {
    "invalid_request": "INVALID_ARGUMENT",
    "unsupported": "FAILED_PRECONDITION",
    "loss_refused": "FAILED_PRECONDITION",
    "authentication": "UNAUTHENTICATED",
    "permission": "PERMISSION_DENIED",
    "billing": "FAILED_PRECONDITION",
    "not_found": "NOT_FOUND",
    "rate_limit": "RESOURCE_EXHAUSTED",
    "context_overflow": "OUT_OF_RANGE",
    "content_filter": "FAILED_PRECONDITION",
    "timeout": "DEADLINE_EXCEEDED",
    "network": "UNAVAILABLE",
    "server_error": "UNAVAILABLE",
    "overloaded": "UNAVAILABLE",
    "invalid_response": "INTERNAL",
    "stream_truncated": "ABORTED",
    "cancelled": "CANCELLED",
    "no_candidate": "FAILED_PRECONDITION",
    "internal": "INTERNAL",
    "other": "INTERNAL",
}
"""The status code of each category of spec/8-errors.md, by its name in `google.rpc.Code`."""


class MessageTooLarge(InterlinguaError):
    """What a method gives is above the limit of one message. `usage` is what a provider was paid for it."""

    category = "unsupported"

    def __init__(self, size: int, limit: int, remedy: str, usage: dict[str, Any] | None = None) -> None:
        super().__init__(
            f"the answer has {size} bytes and one message at most {limit}; {remedy}raise the limit of the server"
        )
        self.usage = usage

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"code": "message_too_large"}


def shown(error: dict[str, Any], *, include_raw: bool) -> dict[str, Any]:
    """A canonical error as the client of a call to a provider sees it."""
    if include_raw:
        return error
    hidden = ("raw", "provider_message") if error["category"] in OPERATOR_CATEGORIES else ("raw",)
    return {name: value for name, value in error.items() if name not in hidden}


def status_of(error: InterlinguaError, *, include_raw: bool = False) -> status_pb2.Status:
    """What a call that fails with this error ends with: code, message, details.

    `include_raw`: the provider's whole body comes along, where there is room.
    """
    data = shown(error.error if isinstance(error, ProviderError) else error.to_dict(), include_raw=include_raw)
    code = CODES.get(data["category"], "INTERNAL")
    status = status_pb2.Status(code=code_pb2.Code.Value(code), message=_cut(str(error)))
    for detail in (*_details(data), *_usage(error)):
        _append(status, detail)
    # with the provider's body, else with as many of its words as there is room for
    for fitting in _shorter_and_shorter(data):
        if _append(status, _canonical(fitting)):
            break
    return status


def _append(status: status_pb2.Status, detail: Message) -> bool:
    """Adds a detail, where there is room for it."""
    packed = AnyMessage()
    packed.Pack(detail)
    # beside the detail itself, a tag and its length
    if status.ByteSize() + packed.ByteSize() + _FRAME > _BUDGET:
        return False
    status.details.append(packed)
    return True


def _shorter_and_shorter(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The error as it is, without the provider's body, with ever fewer of the provider's words, and at last with none."""
    yield data
    without_body = {name: value for name, value in data.items() if name != "raw"}
    yield without_body
    words = data.get("provider_message", "")
    for length in _FEWER:
        if len(words) > length:
            yield {**without_body, "provider_message": f"{words[: length - 1]}…"}
    yield {name: value for name, value in without_body.items() if name != "provider_message"}


def _details(data: dict[str, Any]) -> list[Message]:
    """The details of Google's types, what matters most first: when there is no room for all, the last ones are left out."""
    details: list[Message] = [_info(data)]
    if data["category"] == "invalid_request":
        violations = data.get("violations") or [{"path": data.get("path", ""), "message": data["message"], "rule": ""}]
        details.append(_bad_request(violations))
    if data.get("retry_after") is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(round(min(data["retry_after"], _LONGEST_WAIT_S) * 1000))
        details.append(retry)
    return details


def _usage(error: InterlinguaError) -> list[Message]:
    """What was paid for an answer that the caller does not get, as far as the provider said so."""
    match error:
        case StreamTruncated(response={"usage": dict() as usage}) | MessageTooLarge(usage=dict() as usage):
            without_raw = {name: value for name, value in usage.items() if name != "raw"}
            return [convert.to_proto(types_pb2.Usage, without_raw)]
        case _:
            return []


def _info(data: dict[str, Any]) -> error_details_pb2.ErrorInfo:
    facts = {
        "retryable": "true" if data.get("retryable") else "false",
        "provider": data.get("provider"),
        "adapter": data.get("adapter"),
        "path": data.get("path"),
        "status": data.get("status"),
        "code": data.get("code"),
        "request_id": data.get("request_id"),
        "loss_entries": len(data["loss"]) if "loss" in data else None,
        "violations": len(data["violations"]) if "violations" in data else None,
    }
    metadata = {key: _cut(str(value)) for key, value in facts.items() if value is not None}
    return error_details_pb2.ErrorInfo(reason=data["category"], domain=DOMAIN, metadata=metadata)


def _bad_request(violations: list[dict[str, str]]) -> error_details_pb2.BadRequest:
    found = error_details_pb2.BadRequest()
    for violation in violations:
        field = found.field_violations.add()
        field.field = _cut(violation["path"])
        field.description = _cut(violation["message"])
        field.reason = violation.get("rule", "")
        if found.ByteSize() > _BUDGET // 2:
            del found.field_violations[-1]
            break
    return found


def _canonical(data: dict[str, Any]) -> Message:
    """The canonical error, its lists as long as there is room for."""
    short = {key: _cut(value) if isinstance(value, str) and key not in _WHOLE else value for key, value in data.items()}
    short.pop("violations", None)  # they stand in BadRequest
    for name in ("attempts", "skipped"):
        if name in short:
            short[name] = short[name][:_MOST_TRIED]
    loss: list[Any] = data.get("loss", [])
    short.pop("loss", None)
    room = _BUDGET // 2
    kept: list[Any] = []
    for entry in loss:
        kept.append({key: value for key, value in entry.items() if key != "value"})
        room -= sum(len(str(value)) + 4 for value in kept[-1].values())
        if room < 0:
            kept.pop()
            break
    if kept:
        short["loss"] = kept
    return convert.to_proto(types_pb2.Error, short)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
