"""Checked by pyright, never run: what the types of sessions promise."""

from typing import assert_type

from interlingua import ModelResponse, Sessions, SyncSessions
from interlingua.canonical import types
from interlingua.sessions import Appended, Chat, SessionInfo, Swap, SyncChat


async def a_program() -> None:
    async with Sessions("sqlite:///chats.db", model="sonnet") as sessions:
        assert_type(sessions, Sessions)
        chat = await sessions.create()
        assert_type(chat, Chat)
        assert_type(await chat.say("Hi", max_output_tokens=9), ModelResponse)
        assert_type(await chat.append({"role": "user", "content": "x"}, key="k", expected=1), Appended)
        assert_type(await chat.swap("-"), Swap)
        assert_type(await sessions.latest(), list[SessionInfo])
        async with chat.stream("Go on") as stream:
            async for event in stream:
                assert_type(event, types.StreamEvent)
        async for watched in chat.watch():
            assert_type(watched.revision, int)


def the_same() -> None:
    with SyncSessions("sqlite:///chats.db") as sessions:
        chat = sessions.create(model="sonnet")
        assert_type(chat, SyncChat)
        assert_type(chat.say("Hi"), ModelResponse)
        with chat.stream("Go on") as stream:
            for event in stream:
                assert_type(event, types.StreamEvent)
