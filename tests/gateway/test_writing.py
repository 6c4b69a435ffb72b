"""What is written to a client in one turn of the event loop leaves together."""

import asyncio
from typing import Any

import pytest

from interlingua.gateway.writing import BatchedWrites

pytestmark = pytest.mark.asyncio


class Transport:
    """Remembers what happens to it."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def write(self, data: bytes) -> None:
        self.seen.append(data)

    def close(self) -> None:
        self.seen.append("closed")

    def abort(self) -> None:
        self.seen.append("aborted")

    def get_write_buffer_size(self) -> int:
        return 5


def made() -> tuple[Transport, BatchedWrites]:
    transport = Transport()
    return transport, BatchedWrites(transport, asyncio.get_running_loop())


async def test_the_writes_of_a_turn_are_one() -> None:
    transport, together = made()
    together.write(b"head ")
    together.write(b"body")
    assert transport.seen == []
    assert together.get_write_buffer_size() == 9 + 5
    await asyncio.sleep(0)
    assert transport.seen == [b"head body"]
    together.write(b"next")
    await asyncio.sleep(0)
    assert transport.seen == [b"head body", b"next"]
    assert together.get_write_buffer_size() == 5


async def test_what_was_written_leaves_before_the_end() -> None:
    transport, together = made()
    together.write(b"last words")
    together.close()
    await asyncio.sleep(0)
    assert transport.seen == [b"last words", "closed"]


async def test_who_never_lets_the_loop_turn_fills_the_buffers_all_the_same() -> None:
    """So that back-pressure holds."""
    transport, together = made()
    for _ in range(64):
        together.write(bytes(4096))
    assert sum(map(len, transport.seen)) == 64 * 4096
    assert len(transport.seen) == 4


async def test_all_else_is_that_of_the_transport() -> None:
    transport, together = made()
    together.abort()
    assert transport.seen == ["aborted"]
