"""
How a verb fails (spec/9-service.md#errors): with a status code that states whose fault it is, and a `google.rpc.Status`
with details: `ErrorInfo` (reason: the category), `BadRequest` (a JSON Pointer for each violation), `RetryInfo`, the
`Usage` of an answer that did not reach its end, and the canonical `Error`.

Over gRPC, the details are in the trailing metadata, which clients limit to 8 KiB by default. So long details are cut;
the counts in `ErrorInfo` state the original numbers.

The provider's message is sent to the client that made the call. An exception are messages for the holder of the key,
which is this server's operator (spec/9-service.md#provider-words).
"""

from collections.abc import Iterator
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

from interlingua.canonical.errors import OPERATOR_CATEGORIES, InterlinguaError, ProviderError, StreamTruncated
from interlingua.sessions.errors import Conflict, TurnInProgress
from interlingua.v1 import types_pb2
from interlingua.verbs import convert

DOMAIN = "interlingua"

_BUDGET = 6_000  # bytes of details, base64 not counted; below the 8 KiB at which clients refuse metadata
_LONGEST = 500  # characters of one text
_MOST_TRIED = 12  # attempts and candidates that are reported
_FEWER = (1_000, 500, 200)  # characters of the provider's message, where there is no room for all
_WHOLE = ("provider_message", "raw")  # not cut to _LONGEST, but to the room that is left
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

_LATE = ("conflict", "turn_in_progress")
"""Codes of the errors of a writer that was too late: ABORTED, whatever their category."""


class MessageTooLarge(InterlinguaError):
    """The response of a method is above the limit of one message. `usage` is the usage for which a provider was
    paid."""

    category = "unsupported"

    def __init__(self, size: int, limit: int, remedy: str, usage: dict[str, Any] | None = None) -> None:
        super().__init__(
            f"the response has {size} bytes, and one message has at most {limit}; {remedy}raise the limit of the server"
        )
        self.usage = usage

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"code": "message_too_large"}


def shown(error: dict[str, Any], *, include_raw: bool) -> dict[str, Any]:
    """Return a canonical error as the client of a provider call sees it."""
    if include_raw:
        return error
    hidden = ("raw", "provider_message") if error["category"] in OPERATOR_CATEGORIES else ("raw",)
    return {name: value for name, value in error.items() if name not in hidden}


def status_of(error: InterlinguaError, *, include_raw: bool = False) -> status_pb2.Status:
    """Return the status of a call that fails with this error: code, message, details.

    `include_raw`: the provider's whole body is included, where there is room.
    """
    data = shown(error.error if isinstance(error, ProviderError) else error.to_dict(), include_raw=include_raw)
    if isinstance(error, Conflict):
        data = {**data, **_seen(error)}
    code = "ABORTED" if data.get("code") in _LATE else CODES.get(data["category"], "INTERNAL")
    status = status_pb2.Status(code=code_pb2.Code.Value(code), message=_cut(str(error)))
    for detail in (*_details(data), *_usage(error)):
        _append(status, detail)
    # with the provider's body, else with as much of its message as there is room for
    for fitting in _shorter_and_shorter(data):
        if _append(status, _canonical(fitting)):
            break
    return status


def _seen(error: Conflict) -> dict[str, Any]:
    """Return the current state of the session with which a writer was in conflict."""
    found: dict[str, Any] = {"revision": error.revision}
    if isinstance(error, TurnInProgress):
        found |= {"until": error.until, "message_id": error.message_id}
    return {name: value for name, value in found.items() if value is not None}


def _append(status: status_pb2.Status, detail: Message) -> bool:
    """Add a detail if there is room for it; return whether it was added."""
    packed = AnyMessage()
    packed.Pack(detail)
    # the detail itself, a tag and its length
    if status.ByteSize() + packed.ByteSize() + _FRAME > _BUDGET:
        return False
    status.details.append(packed)
    return True


def _shorter_and_shorter(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the error unchanged, then without the provider's body, then with ever shorter messages of the provider, and
    last without a message of the provider."""
    yield data
    without_body = {name: value for name, value in data.items() if name != "raw"}
    yield without_body
    words = data.get("provider_message", "")
    for length in _FEWER:
        if len(words) > length:
            yield {**without_body, "provider_message": f"{words[: length - 1]}…"}
    yield {name: value for name, value in without_body.items() if name != "provider_message"}


def _details(data: dict[str, Any]) -> list[Message]:
    """Return the details of Google's types, the most important first: when there is no room for all, the last ones are
    left out."""
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
    """Return the usage of an answer that is paid for but not delivered, if the provider reported it."""
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
        "revision": data.get("revision"),
        "until": data.get("until"),
        "message_id": data.get("message_id"),
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
    """Return the canonical error; its lists are as long as there is room for."""
    short = {key: _cut(value) if isinstance(value, str) and key not in _WHOLE else value for key, value in data.items()}
    short.pop("violations", None)  # they are in BadRequest
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
