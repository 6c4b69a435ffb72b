"""AWS event streams: any cuts, both checksums, and nothing that raises."""

import itertools
import struct
from binascii import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.wire.eventstream import DAMAGED, EXCEPTION, Decoder, Frame, encode

FRAMES = [
    Frame("messageStart", '{"role":"assistant"}'),
    Frame("contentBlockDelta", '{"contentBlockIndex":0,"delta":{"text":"På 🏔️"}}'),
    Frame("throttlingException", '{"message":"wait"}', EXCEPTION),
]
STREAM = b"".join(encode(frame) for frame in FRAMES)


def read(*chunks: bytes) -> list[Frame]:
    decoder = Decoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.end()


def message(headers: bytes, payload: bytes) -> bytes:
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    begun = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return begun + struct.pack("!I", crc32(begun))


def test_what_is_written_is_read() -> None:
    assert read(STREAM) == FRAMES


@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_cuts_do_not_matter(cuts: list[int]) -> None:
    edges = [0, *cuts, len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in itertools.pairwise(edges))) == FRAMES


def test_a_frame_comes_with_its_last_byte() -> None:
    decoder = Decoder()
    first = encode(FRAMES[0])
    assert decoder.feed(first[:-1]) == []
    assert decoder.feed(first[-1:]) == [FRAMES[0]]


def test_half_a_message_is_nothing() -> None:
    assert read(STREAM[:-1]) == FRAMES[:2]


@pytest.mark.parametrize("at", [0, 5, 9, 20, 60, len(encode(FRAMES[0])) - 1])
def test_a_damaged_message_ends_the_reading(at: int) -> None:
    damaged = bytearray(STREAM)
    damaged[at] ^= 0x10
    assert read(bytes(damaged)) == [Frame(None, "", DAMAGED)]


def test_a_length_beyond_reason_is_damage() -> None:
    prelude = struct.pack("!II", 2**31, 0)
    assert read(prelude + struct.pack("!I", crc32(prelude))) == [Frame(None, "", DAMAGED)]


def test_headers_longer_than_the_message_are_damage() -> None:
    assert read(message(b"\x0b:event-type\x07\x00\xffshort", b"{}")) == [Frame(None, "", DAMAGED)]


def test_headers_of_all_types_are_passed_over() -> None:
    headers = b"".join(
        (
            b"\x01a\x00\x01b\x01",  # true, false
            b"\x01c\x02\x01\x01d\x03\x00\x01",  # byte, short
            b"\x01e\x04\x00\x00\x00\x01\x01f\x05" + bytes(8),  # integer, long
            b"\x01g\x06\x00\x02\xff\xfe",  # bytes
            b"\x01h\x08" + bytes(8) + b"\x01i\x09" + bytes(16),  # time, UUID
            b"\x0b:event-type\x07\x00\x08metadata",
        )
    )
    assert read(message(headers, b"{}")) == [Frame("metadata", "{}")]


def test_an_error_without_payload_says_what_its_headers_say() -> None:
    headers = (
        b"\x0d:message-type\x07\x00\x05error\x0b:error-code\x07\x00\x0dInternalError\x0e:error-message\x07\x00\x02no"
    )
    assert read(message(headers, b"")) == [Frame("InternalError", "no", "error")]


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data: bytes) -> None:
    for frame in read(data):
        assert frame.kind == DAMAGED or isinstance(frame.data, str)
