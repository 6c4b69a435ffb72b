"""
Calls to providers: `Client`, its transports, and the protocol of a transport.

    async with Client() as client:
        response = await client.generate(request, model="anthropic:claude-sonnet-5-5")
        print(response.text, response.cost)

`SyncClient` is the same without `await`.
Each module is imported when a name of it is first used, because routing makes no call and needs neither asyncio nor a
transport.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlingua.client.call import Limits
    from interlingua.client.client import Client
    from interlingua.client.fake import Bytes, Fail, FakeTransport, Refuse, Say
    from interlingua.client.playing import Sent
    from interlingua.client.replay import Exchange, ReplayTransport
    from interlingua.client.retry import Retry
    from interlingua.client.stream import Stream
    from interlingua.client.sync import SyncClient, SyncStream
    from interlingua.client.tool_loop import ApprovalRequest, RunOptions, ToolOutcome, ToolRun, ToolStream
    from interlingua.client.tools import ActiveTool, tool
    from interlingua.client.transport import Answer, Transport, TransportFailed

_HOME_OF = {
    "ActiveTool": "tools",
    "Answer": "transport",
    "ApprovalRequest": "tool_loop",
    "Bytes": "fake",
    "Client": "client",
    "Exchange": "replay",
    "Fail": "fake",
    "FakeTransport": "fake",
    "Limits": "call",
    "Refuse": "fake",
    "ReplayTransport": "replay",
    "Retry": "retry",
    "RunOptions": "tool_loop",
    "Say": "fake",
    "Sent": "playing",
    "Stream": "stream",
    "SyncClient": "sync",
    "SyncStream": "sync",
    "ToolOutcome": "tool_loop",
    "ToolRun": "tool_loop",
    "ToolStream": "tool_loop",
    "Transport": "transport",
    "TransportFailed": "transport",
    "tool": "tools",
}

__all__ = [
    "ActiveTool",
    "Answer",
    "ApprovalRequest",
    "Bytes",
    "Client",
    "Exchange",
    "Fail",
    "FakeTransport",
    "Limits",
    "Refuse",
    "ReplayTransport",
    "Retry",
    "RunOptions",
    "Say",
    "Sent",
    "Stream",
    "SyncClient",
    "SyncStream",
    "ToolOutcome",
    "ToolRun",
    "ToolStream",
    "Transport",
    "TransportFailed",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
