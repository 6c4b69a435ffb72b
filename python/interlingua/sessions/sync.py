"""
Sessions without `await`: the same calls, executed by an event loop in a thread of its own.

    with SyncSessions("sqlite:///chats.db") as sessions:
        chat = sessions.create()
        chat.say("What is a ULID?")
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Self

from interlingua.canonical.model_response import ModelResponse
from interlingua.client.background import BackgroundLoop
from interlingua.client.sync import SyncStream
from interlingua.sessions.appending import Appended
from interlingua.sessions.chat import Chat, Swap
from interlingua.sessions.rows import PriceRow, ToolCallRow
from interlingua.sessions.sessions import SessionInfo, Sessions

Message = dict[str, Any]


class SyncSessions:
    """The sessions of one tenant in one database; takes what `Sessions` takes. Use `with`, or close it when done."""

    def __init__(self, storage: Any, **options: Any) -> None:
        self._loop = BackgroundLoop("sessions")
        self._sessions = Sessions(storage, **options)

    def __enter__(self) -> Self:
        try:
            self._loop.run(self._sessions.__aenter__())
        except BaseException:
            self._loop.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._loop.run(self._sessions.aclose())
        self._loop.close()

    def create(
        self,
        *,
        model: str | None = None,
        workspace_path: str = "",
        policy: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> "SyncChat":
        """Create a session (`Sessions.create`)."""
        work = self._sessions.create(model=model, workspace_path=workspace_path, policy=policy, extra=extra)
        return SyncChat(self._loop, self._loop.run(work))

    def open(self, session_id: str) -> "SyncChat":
        """Return the handle of a session that exists (`Sessions.open`)."""
        return SyncChat(self._loop, self._loop.run(self._sessions.open(session_id)))

    def latest(self, limit: int = 50, *, after: SessionInfo | None = None, prefix: str = "") -> list[SessionInfo]:
        """Return sessions, the newest first (`Sessions.latest`)."""
        return self._loop.run(self._sessions.latest(limit, after=after, prefix=prefix))

    def find(self, identity: str) -> str | None:
        """Return the id of the session to which a session, a message or a tool call belongs (`Sessions.find`)."""
        return self._loop.run(self._sessions.find(identity))

    def import_(self, lines: Iterable[str | bytes], *, keep_ids: bool = False) -> "SyncChat":
        """Create a session from the lines that `export` returned (`Sessions.import_`)."""
        return SyncChat(self._loop, self._loop.run(self._sessions.import_(lines, keep_ids=keep_ids)))

    def delete(self, session_id: str) -> None:
        """Remove a session with everything that belongs to it (`Sessions.delete`)."""
        self._loop.run(self._sessions.delete(session_id))

    def delete_unchanged(self, age: timedelta) -> int:
        """Remove all sessions that have not changed for `age`; return their number (`Sessions.delete_unchanged`)."""
        return self._loop.run(self._sessions.delete_unchanged(age))


class SyncChat:
    """One session."""

    def __init__(self, loop: BackgroundLoop, chat: Chat) -> None:
        self._loop = loop
        self._chat = chat
        self.id = chat.id

    def __repr__(self) -> str:
        return repr(self._chat)

    def say(self, message: Any, **options: Any) -> ModelResponse:
        """Append a message of the user, and return the model's response, which is appended too (`Chat.say`)."""
        return self._loop.run(self._chat.say(message, **options))

    def generate(self, **options: Any) -> ModelResponse:
        """Return the model's response to the conversation as it is, and append its message (`Chat.generate`)."""
        return self._loop.run(self._chat.generate(**options))

    def stream(self, message: Any = None, **options: Any) -> "SyncStream[ModelResponse]":
        """Return the model's response event by event, as it arrives (`Chat.stream`)."""
        return SyncStream(self._loop, self._chat.stream(message, **options))

    def append(
        self, messages: Any, *, key: str | None = None, expected: int | None = None, instead_of: str | None = None
    ) -> Appended:
        """Append a message, or a list of them: all, or none (`Chat.append`)."""
        return self._loop.run(self._chat.append(messages, key=key, expected=expected, instead_of=instead_of))

    def info(self) -> SessionInfo:
        """Return the properties of the session, without its messages (`Chat.info`)."""
        return self._loop.run(self._chat.info())

    def history(self, *, superseded: bool = False, after: str = "", limit: int | None = None) -> list[Message]:
        """Return the messages in their order, in the current version; reading writes nothing (`Chat.history`)."""
        return self._loop.run(self._chat.history(superseded=superseded, after=after, limit=limit))

    def calls(self, status: str | None = None) -> list[ToolCallRow]:
        """Return the tool calls, all or those of a status (`Chat.calls`)."""
        return self._loop.run(self._chat.calls(status))

    def swap(self, argument: str, **members: Any) -> Swap:
        """Let another model answer from now on, or from the next turn on (`Chat.swap`)."""
        return self._loop.run(self._chat.swap(argument, **members))

    def preview(self, *models: str, **members: Any) -> list[dict[str, Any]]:
        """Return what each of some models would lose of this conversation, its tokens and its cost (`Chat.preview`)."""
        return self._loop.run(self._chat.preview(*models, **members))

    def fork(self, message_id: str | None = None) -> "SyncChat":
        """Create a session that begins as this one was at a message, by default the last (`Chat.fork`)."""
        return SyncChat(self._loop, self._loop.run(self._chat.fork(message_id)))

    def export(self) -> list[str]:
        """Return the session as lines of JSON (`Chat.export`)."""
        return self._loop.run(self._chat.export())

    def save(self, message_id: str | None = None) -> int:
        """Rewrite messages of an older version in the current one: one of them, or all (`Chat.save`)."""
        return self._loop.run(self._chat.save(message_id))

    def reprice(self, version: str | None = None) -> list[PriceRow]:
        """Compute what the answers cost by a table of prices, the newest unless named (`Chat.reprice`)."""
        return self._loop.run(self._chat.reprice(version))

    def delete(self) -> None:
        """Remove the session with everything that belongs to it (`Chat.delete`)."""
        self._loop.run(self._chat.delete())
