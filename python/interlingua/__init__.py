"""
Interlingua: a conversation with a language model, written once, carried to any provider and back with no silent loss.

The names below are the public ones. Each module is imported when one of its names is first used,
so the import of the package costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "interlingua.translate": (
        "Projection",
        "StreamReader",
        "StreamWriter",
        "adapt",
        "error",
        "estimate",
        "load",
        "project",
        "read_error",
        "read_request",
        "read_response",
        "read_stream",
        "write_error",
        "write_response",
        "write_stream",
    ),
    "interlingua.client": ("ActiveTool", "Client", "SyncClient", "ToolRun", "tool"),
    "interlingua.sessions": ("Sessions", "SyncSessions"),
    "interlingua.canonical.check": (
        "check",
        "check_call",
        "register_tools",
        "tool_input_violations",
        "tool_schema_violations",
    ),
    "interlingua.canonical.endpoint": ("Endpoint",),
    "interlingua.canonical.errors": (
        "CannotAdapt",
        "InterlinguaError",
        "InvalidAnswer",
        "InvalidRequest",
        "InvalidWire",
        "LossRefused",
        "NoCandidate",
        "NotConfigured",
        "OriginInCooldown",
        "ProviderError",
        "StreamTruncated",
    ),
    "interlingua.canonical.fold": ("buffered", "fold", "strict_004"),
    "interlingua.canonical.hash": ("content_hash",),
    "interlingua.canonical.loss": ("apply", "difference", "visible"),
    "interlingua.canonical.methods": ("by_priority",),
    "interlingua.canonical.model_response": ("ModelResponse",),
    "interlingua.canonical.structured": ("structured",),
    "interlingua.canonical.models": (
        "AudioBlock",
        "CacheHint",
        "Citation",
        "DocumentBlock",
        "ImageBlock",
        "LossEntry",
        "LossPolicy",
        "MediaSource",
        "Message",
        "MessageMetadata",
        "OpaqueBlock",
        "ProviderState",
        "Reasoning",
        "RedactedThinkingBlock",
        "Request",
        "Response",
        "ResponseFormat",
        "RoutingDecisionRecord",
        "TextBlock",
        "ThinkingBlock",
        "Tool",
        "ToolChoice",
        "ToolResultBlock",
        "ToolUseBlock",
        "UnknownBlock",
        "Usage",
        "VideoBlock",
    ),
}
_MODULES = ("media", "registry")
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

if TYPE_CHECKING:
    from interlingua import media, registry
    from interlingua.canonical.check import (
        check,
        check_call,
        register_tools,
        tool_input_violations,
        tool_schema_violations,
    )
    from interlingua.canonical.endpoint import Endpoint
    from interlingua.canonical.errors import (
        CannotAdapt,
        InterlinguaError,
        InvalidAnswer,
        InvalidRequest,
        InvalidWire,
        LossRefused,
        NoCandidate,
        NotConfigured,
        OriginInCooldown,
        ProviderError,
        StreamTruncated,
    )
    from interlingua.canonical.fold import buffered, fold, strict_004
    from interlingua.canonical.hash import content_hash
    from interlingua.canonical.loss import apply, difference, visible
    from interlingua.canonical.methods import by_priority
    from interlingua.canonical.model_response import ModelResponse
    from interlingua.canonical.models import (
        AudioBlock,
        CacheHint,
        Citation,
        DocumentBlock,
        ImageBlock,
        LossEntry,
        LossPolicy,
        MediaSource,
        Message,
        MessageMetadata,
        OpaqueBlock,
        ProviderState,
        Reasoning,
        RedactedThinkingBlock,
        Request,
        Response,
        ResponseFormat,
        RoutingDecisionRecord,
        TextBlock,
        ThinkingBlock,
        Tool,
        ToolChoice,
        ToolResultBlock,
        ToolUseBlock,
        UnknownBlock,
        Usage,
        VideoBlock,
    )
    from interlingua.canonical.structured import structured
    from interlingua.client import ActiveTool, Client, SyncClient, ToolRun, tool
    from interlingua.sessions import Sessions, SyncSessions
    from interlingua.translate import (
        Projection,
        StreamReader,
        StreamWriter,
        adapt,
        error,
        estimate,
        load,
        project,
        read_error,
        read_request,
        read_response,
        read_stream,
        write_error,
        write_response,
        write_stream,
    )

__all__ = [
    "ActiveTool",
    "AudioBlock",
    "CacheHint",
    "CannotAdapt",
    "Citation",
    "Client",
    "DocumentBlock",
    "Endpoint",
    "ImageBlock",
    "InterlinguaError",
    "InvalidAnswer",
    "InvalidRequest",
    "InvalidWire",
    "LossEntry",
    "LossPolicy",
    "LossRefused",
    "MediaSource",
    "Message",
    "MessageMetadata",
    "ModelResponse",
    "NoCandidate",
    "NotConfigured",
    "OpaqueBlock",
    "OriginInCooldown",
    "Projection",
    "ProviderError",
    "ProviderState",
    "Reasoning",
    "RedactedThinkingBlock",
    "Request",
    "Response",
    "ResponseFormat",
    "RoutingDecisionRecord",
    "Sessions",
    "StreamReader",
    "StreamTruncated",
    "StreamWriter",
    "SyncClient",
    "SyncSessions",
    "TextBlock",
    "ThinkingBlock",
    "Tool",
    "ToolChoice",
    "ToolResultBlock",
    "ToolRun",
    "ToolUseBlock",
    "UnknownBlock",
    "Usage",
    "VideoBlock",
    "adapt",
    "apply",
    "buffered",
    "by_priority",
    "check",
    "check_call",
    "content_hash",
    "difference",
    "error",
    "estimate",
    "fold",
    "load",
    "media",
    "project",
    "read_error",
    "read_request",
    "read_response",
    "read_stream",
    "register_tools",
    "registry",
    "strict_004",
    "structured",
    "tool",
    "tool_input_violations",
    "tool_schema_violations",
    "visible",
    "write_error",
    "write_response",
    "write_stream",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"interlingua.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'interlingua' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value  # the next use finds it without this function
    return value


def __dir__() -> list[str]:
    return __all__
