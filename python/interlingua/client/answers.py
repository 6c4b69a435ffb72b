"""
The response of a provider: a success is read, an error response or a failure becomes a typed error.

No message of an error holds content or a key. The provider's own text is in `provider_message` and `raw`, without the
key.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from interlingua import translate
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    Cancelled,
    CannotAdapt,
    InterlinguaError,
    InvalidRequest,
    InvalidWire,
    NotConfigured,
    ProviderError,
)
from interlingua.client.call import Call
from interlingua.client.interrupt import Interrupted
from interlingua.client.transport import Answer, TransportFailed

Response = dict[str, Any]

ERROR_BODY_LIMIT = 1 << 20
"""The number of bytes that are read of an error response."""

_ABOUT_KEYS = frozenset(("authentication", "permission"))
_PASS_OVER = frozenset(("not_found", "unsupported", "context_overflow"))


REFUSAL = "refusal"
"""The cause of fail-over that a caller may request (spec/8-errors.md#refusal)."""


def is_refusal(response: Mapping[str, Any]) -> bool:
    """Whether a response states that the model, or a filter of its provider, declined to answer."""
    return response["finish_reason"] in (REFUSAL, "content_filter")


async def whole(answer: Answer, limit: int, *, cut: bool = False) -> bytes:
    """Read the body. Bytes beyond the limit are cut off (`cut`), or `TransportFailed` is raised."""
    body = bytearray()
    async for chunk in answer.chunks():
        body += chunk
        if len(body) > limit:
            if cut:
                break
            raise TransportFailed("network", f"the provider's answer is longer than {limit} bytes", retryable=False)
    return bytes(body[:limit])


def read(call: Call, answer: Answer, body: bytes) -> Response:
    """The canonical response of a success. Raises `ProviderError` when the body cannot be read."""
    try:
        data = json.loads(body)
        if not isinstance(data, dict):
            raise InvalidWire("the answer must be an object", path="")
        response, _ = translate.from_wire_response(data, call.endpoint, tools=call.tools)
    except ProviderError as problem:
        raise ProviderError(in_band(call, problem.error)) from None
    except (InvalidWire, InvalidRequest) as problem:
        if b'"error"' in body:
            raise ProviderError(response_error(call, answer, body)) from None
        raise ProviderError(
            _error(call.endpoint, "invalid_response", f"the provider's answer cannot be read: {problem.message}")
            | {"status": answer.status}
            | ({} if problem.path is None else {"path": problem.path})
        ) from None
    return data_of(response)


async def check_no_page(call: Call, answer: Answer) -> None:
    """Raise `ProviderError` for an HTML page that was sent in the place of a stream."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/html":
        return
    error = _error(call.endpoint, "invalid_response", f"the provider answered with {kind} instead of a stream")
    raise ProviderError(error | {"status": answer.status})


def in_band(call: Call, error: dict[str, Any]) -> dict[str, Any]:
    """The error of the call for an error that arrived in a stream or with the status of a success."""
    if call.endpoint.provider is not None:
        error.setdefault("provider", call.endpoint.provider)
    return _without_secrets(call, error)


def response_error(call: Call, answer: Answer, body: bytes) -> dict[str, Any]:
    """The canonical error for an error response, without the caller's key."""
    error = data_of(translate.from_wire_error(answer.status, answer.headers, body, call.endpoint, raw=True))
    if call.endpoint.provider is not None:
        error.setdefault("provider", call.endpoint.provider)
    if 300 <= answer.status < 400:
        error["message"] = (
            f"{_name(call.endpoint)} answered {answer.status}: redirects are not followed; check its address"
        )
    if error["category"] in _ABOUT_KEYS and (key := call.key()):
        error["message"] += f"; {key}"
    return _without_secrets(call, error)


def _without_secrets(call: Call, error: dict[str, Any]) -> dict[str, Any]:
    pattern = "|".join(_pattern_of(secret) for secret in call.secrets if secret)
    if not pattern:
        return error
    masked: dict[str, Any] = _masked(error, re.compile(pattern))
    # the limit of the provider's message may have cut a key in two
    return error if masked == error else data_of(translate.with_provider_message(masked))


def _pattern_of(secret: str) -> str:
    """The pattern that finds a key in a text. A short key (`test`, `none` of a local server) must be a whole word."""
    pattern = re.escape(secret)
    return pattern if len(secret) >= _NO_PART_OF_WORDS else rf"(?<!\w){pattern}(?!\w)"


_NO_PART_OF_WORDS = 8
_OURS = frozenset(("category", "adapter", "provider"))
"""Members of an error that never hold a text of the provider."""


def _masked(error: dict[str, Any], secrets: re.Pattern[str]) -> dict[str, Any]:
    return {name: value if name in _OURS else _without(value, secrets) for name, value in error.items()}


def _without(value: Any, secrets: re.Pattern[str]) -> Any:
    """A JSON value without the secrets in its texts and in the names of its members."""
    if isinstance(value, str):
        return secrets.sub("[secret]", value)
    if isinstance(value, list):
        return [_without(item, secrets) for item in value]
    if isinstance(value, dict):
        return {secrets.sub("[secret]", name): _without(item, secrets) for name, item in value.items()}
    return value


def _error(endpoint: Endpoint | None, category: str, message: str, *, retryable: bool = False) -> dict[str, Any]:
    error = {"category": category, "message": message, "retryable": retryable}
    if endpoint is not None:
        error["adapter"] = endpoint.adapter
        if endpoint.provider is not None:
            error["provider"] = endpoint.provider
    return error


def failure(problem: TransportFailed | Interrupted, call: Call | None) -> InterlinguaError:
    """The error to raise for a failed or interrupted wait."""
    endpoint = call.endpoint if call is not None else None
    match problem:
        case TransportFailed():
            return network_failure(problem, call)
        case Interrupted(reason="deadline"):
            return ProviderError(
                _error(endpoint, "timeout", "the deadline passed before the answer was complete", retryable=True)
            )
        case Interrupted(reason="shutdown"):
            return shut_down()
        case _:
            return Cancelled(
                "the answer was cancelled before it was complete", adapter=endpoint.adapter if endpoint else None
            )


def shut_down(message: str = "the server was shut down before the answer was complete") -> ProviderError:
    """The error when this process ends. It is our failure and not that of a provider (spec/9-service.md#drain)."""
    return ProviderError({"category": "server_error", "message": message, "retryable": True, "code": "shutdown"})


def too_many_calls(call: Call) -> ProviderError:
    """The error when a provider already has the maximum number of concurrent calls."""
    message = f"{_name(call.endpoint)} already has the maximum number of concurrent calls"
    return ProviderError(_error(call.endpoint, "overloaded", message, retryable=True))


def network_failure(problem: TransportFailed, call: Call | None) -> ProviderError:
    """The error for a failure of the network, with the name and the host of the provider."""
    if call is None:
        return ProviderError(_error(None, problem.category, problem.message, retryable=problem.retryable))
    message = f"{_name(call.endpoint)}{_host(call.url)}: {problem.message}"
    return ProviderError(_error(call.endpoint, problem.category, message, retryable=problem.retryable))


def _name(endpoint: Endpoint) -> str:
    return endpoint.provider or endpoint.adapter


def _host(url: str) -> str:
    """The host of an address, without the user, path and query, because they may be secret."""
    if not url.startswith(("http://", "https://")):
        return ""
    host = urlsplit(url).netloc.rpartition("@")[2]
    return f" at {host}" if host else ""


def served_record(
    routing: Mapping[str, Any] | None, model: str, skipped: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """The routing record, with the model that served in the end."""
    if routing is None:
        return None
    passed_over = [*(routing.get("alternatives_considered") or ()), *(target["model"] for target in skipped)]
    return {**routing, "chosen_model": model, "alternatives_considered": passed_over}


def another_may_succeed(error: InterlinguaError, fail_over_on: Collection[str] = ()) -> bool:
    """Whether the next candidate may succeed after this failure. An invalid request is invalid for all candidates."""
    if isinstance(error, ProviderError):
        category = error.error["category"]
        refusal_counts = category == "content_filter" and REFUSAL in fail_over_on
        return error.retryable or category in _PASS_OVER or refusal_counts
    return isinstance(error, (CannotAdapt, NotConfigured))
