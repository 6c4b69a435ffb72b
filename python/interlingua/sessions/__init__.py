"""
Sessions: conversations that are stored, survive changes of model and server, and can be audited (spec/12-sessions.md).

    async with Sessions("sqlite:///chats.db") as sessions:
        chat = await sessions.create()
        await chat.say("What is a ULID?")

`SyncSessions` is the same without `await`. Each module is imported when a name of it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlingua.sessions.appending import Appended
    from interlingua.sessions.bus import Bus, Overflowed, Subscription
    from interlingua.sessions.chat import Chat, Swap, Watched
    from interlingua.sessions.errors import (
        Conflict,
        KeyReused,
        SessionNotFound,
        StorageFailed,
        SwapRefused,
        TurnInProgress,
    )
    from interlingua.sessions.generating import SessionStream
    from interlingua.sessions.objects import Objects, Stored
    from interlingua.sessions.sessions import SessionInfo, Sessions
    from interlingua.sessions.storage import Storage, open_storage
    from interlingua.sessions.sync import SyncChat, SyncSessions, SyncStream
    from interlingua.sessions.versions import register

_HOME_OF = {
    "Appended": "appending",
    "Bus": "bus",
    "Chat": "chat",
    "Conflict": "errors",
    "KeyReused": "errors",
    "Objects": "objects",
    "Overflowed": "bus",
    "SessionInfo": "sessions",
    "SessionNotFound": "errors",
    "SessionStream": "generating",
    "Sessions": "sessions",
    "Storage": "storage",
    "StorageFailed": "errors",
    "Stored": "objects",
    "Subscription": "bus",
    "Swap": "chat",
    "SwapRefused": "errors",
    "SyncChat": "sync",
    "SyncSessions": "sync",
    "SyncStream": "sync",
    "TurnInProgress": "errors",
    "Watched": "chat",
    "open_storage": "storage",
    "register": "versions",
}

__all__ = [
    "Appended",
    "Bus",
    "Chat",
    "Conflict",
    "KeyReused",
    "Objects",
    "Overflowed",
    "SessionInfo",
    "SessionNotFound",
    "SessionStream",
    "Sessions",
    "Storage",
    "StorageFailed",
    "Stored",
    "Subscription",
    "Swap",
    "SwapRefused",
    "SyncChat",
    "SyncSessions",
    "SyncStream",
    "TurnInProgress",
    "Watched",
    "open_storage",
    "register",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
