"""
Calling providers: `Client`, the transports that it can stand on, and what a transport is.

    async with Client() as client:
        response = await client.generate(request, model="anthropic:claude-sonnet-5-5")
"""

from interlingua.client.call import Limits
from interlingua.client.client import Client
from interlingua.client.fake import Bytes, Fail, FakeTransport, Refuse, Say
from interlingua.client.playing import Sent
from interlingua.client.replay import Exchange, ReplayTransport
from interlingua.client.retry import Retry
from interlingua.client.stream import Stream
from interlingua.client.transport import Answer, Transport, TransportFailed

__all__ = [
    "Answer",
    "Bytes",
    "Client",
    "Exchange",
    "Fail",
    "FakeTransport",
    "Limits",
    "Refuse",
    "ReplayTransport",
    "Retry",
    "Say",
    "Sent",
    "Stream",
    "Transport",
    "TransportFailed",
]
