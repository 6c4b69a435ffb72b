"""
The exceptions, grouped by the party at fault.

InterlinguaError
├── InvalidRequest       the caller: the canonical input breaks the contract
├── InvalidWire          the sender of a wire: its body cannot be read
├── CannotAdapt          this projection: the target cannot carry something that must be carried
│   └── LossRefused      … and the caller's policy refuses the loss; carries the whole report
├── NoCandidate          the policy: no model can serve the turn; carries the chain
│   └── OriginInCooldown … because the policy keeps state at its origin, and that is in cooldown
├── NotConfigured        the operator: a provider's key or address is not set here; no provider was called
├── ProviderError        the provider: it responded with an error, or not at all
│   └── StreamTruncated  … or its stream broke off; carries what had arrived
└── Cancelled            the caller cancelled, or closed the connection

Every error states what is wrong, where (`path`, a JSON Pointer) and what to do.
No message, and so neither `str` nor `repr` of an error, holds content or a secret. The provider's own message is in
`provider_message`, for the caller; its whole body is in `error["raw"]`.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

OPERATOR_CATEGORIES: Final = frozenset(("authentication", "permission", "billing"))
"""Errors of these categories are for the owner of the key; the provider's message may repeat a part of it."""


class InterlinguaError(Exception):
    """The base class of all errors that Interlingua raises on purpose.

    `category` is a word of the closed list in spec/8-errors.md; `to_dict` returns the canonical error object.
    """

    category: str = "internal"

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return bool(self.to_dict().get("retryable"))

    @property
    def retry_after(self) -> float | None:
        """Seconds that the provider or the server asks to wait."""
        return self.to_dict().get("retry_after")

    @property
    def code(self) -> str | None:
        """A more exact word than the category, where there is one."""
        return self.to_dict().get("code")

    @property
    def provider_message(self) -> str | None:
        """The provider's own message; None when it was not a provider that failed.

        It may repeat content of the conversation: show it to the caller, and keep it out of logs.
        """
        return None

    def __init__(self, message: str, *, path: str | None = None, adapter: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.adapter = adapter

    def __reduce__(self) -> tuple[Any, ...]:
        # another process makes it again from its parts: the constructors of the classes take different arguments
        return _unpickled, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        return f"{self.message} (at {self.path or 'the root'})" if self.path is not None else self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the error as a canonical `Error` object."""
        error: dict[str, Any] = {"category": self.category, "message": self.message, "retryable": False}
        if self.path is not None:
            error["path"] = self.path
        if self.adapter is not None:
            error["adapter"] = self.adapter
        return error


def _unpickled(kind: type[InterlinguaError], args: tuple[Any, ...]) -> InterlinguaError:
    """Return an error of a class without its members, which are added to it."""
    error = kind.__new__(kind)
    error.args = args
    return error


class _Violating(InterlinguaError):
    """An error that lists all violations, each with rule, path and message."""

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        adapter: str | None = None,
        violations: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(message, path=path, adapter=adapter)
        self.violations = violations or []

    def to_dict(self) -> dict[str, Any]:
        error = super().to_dict()
        if self.violations:
            error["violations"] = self.violations
        return error


class InvalidRequest(_Violating):
    """The canonical input breaks the contract. `violations` lists all violations, each with rule, path and message."""

    category = "invalid_request"


class ResultWithoutCall(InvalidRequest):
    """A tool result belongs to no call of the conversation."""


def too_deep() -> InvalidRequest:
    """Return the error that replaces a `RecursionError`: nesting is the input's fault (spec/8-errors.md#nesting)."""
    return InvalidRequest("the value is nested too deeply; flatten it")


class InvalidWire(InterlinguaError):
    """A wire body cannot be read: a member is missing or has the wrong type. `path` points into the body."""

    category = "invalid_request"


class InvalidAnswer(_Violating, InvalidWire):
    """A provider's response cannot be read. `path` points into the body.

    If the answer does not have the requested format, `path` points into its value, and `violations` lists all
    violations, each with rule, path and message.
    """

    category = "invalid_response"


class CannotAdapt(InterlinguaError):
    """The target cannot carry something that must be carried, e.g. a critical block."""

    category = "unsupported"


class LossRefused(CannotAdapt):
    """The projection would lose more than the caller allows. `loss` is the whole report."""

    category = "loss_refused"

    def __init__(self, message: str, loss: list[Any], *, path: str | None = None, adapter: str | None = None) -> None:
        super().__init__(message, path=path, adapter=adapter)
        self.loss = loss

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"loss": self.loss}


class NoCandidate(InterlinguaError):
    """No model can serve the turn. `chain` holds the verdict of every slot."""

    category = "no_candidate"

    def __init__(self, message: str, chain: list[Any], *, path: str | None = None) -> None:
        super().__init__(message, path=path)
        self.chain = chain


class OriginInCooldown(NoCandidate):
    """The policy keeps the conversation's state at its origin, and the models there are in cooldown.

    `error` is the canonical error object, with the category that caused the cooldown and, if it has an end, the time
    that is left of it. No other model was tried.
    """

    def __init__(self, error: dict[str, Any], chain: list[Any]) -> None:
        super().__init__(error["message"], chain)
        self.category = error["category"]
        self.error = error

    def to_dict(self) -> dict[str, Any]:
        return dict(self.error)


class NotConfigured(InterlinguaError):
    """A provider cannot be called: its key or its address is not set here. The message names the variables to set.

    `error` is the canonical error object. No provider was called.
    """

    category = "authentication"

    def __init__(self, provider: str, lacks: str, *, adapter: str | None = None) -> None:
        super().__init__(f"the provider {provider} is not configured; {lacks}", adapter=adapter)
        self.provider = provider
        self.lacks = lacks
        self.error = super().to_dict() | {"provider": provider}

    def to_dict(self) -> dict[str, Any]:
        return dict(self.error)


class Cancelled(InterlinguaError):
    """The caller cancelled, or closed the connection, before the response was complete."""

    category = "cancelled"


class ProviderError(InterlinguaError):
    """The provider responded with an error, or could not be reached. `error` is the canonical error object."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"], path=error.get("path"), adapter=error.get("adapter"))
        self.category = error["category"]
        self.error = cast("dict[str, Any]", error)

    @property
    def provider_message(self) -> str | None:
        """The provider's own message. It may repeat content of the conversation: keep it out of logs."""
        return self.error.get("provider_message")

    def to_dict(self) -> dict[str, Any]:
        """Return the error without the provider's whole body, which is in `error["raw"]`."""
        return {name: value for name, value in self.error.items() if name != "raw"}


class StreamTruncated(ProviderError):
    """A stream ended without its terminal event, or failed midway. `response` holds what had arrived."""

    def __init__(self, error: dict[str, Any], response: dict[str, Any] | None) -> None:
        super().__init__(error)
        self.response = response
