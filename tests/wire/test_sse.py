"""Frames do not depend on where the bytes are cut."""

import json
import random

import httpx_sse._decoders as oracle
import pytest

from interlingua.wire import jsonl, sse

STREAM = (
    "event: a\r\ndata: ü1\r\ndata: \u2028x\r\n\r\n: comment\r\ndata: {}\n\nid: 7\nretry: 10\ndata:no space\r\rdata\n\n"
    "event: only a name\n\ndata: 😀\n\n"
).encode()
FRAMES = [
    sse.Frame("a", "ü1\n\u2028x"),
    sse.Frame(None, "{}"),
    sse.Frame(None, "no space"),
    sse.Frame(None, ""),
    sse.Frame(None, "😀"),
]


def feed(chunks: list[bytes]) -> list[sse.Frame]:
    decoder = sse.Decoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.end()


def test_whole_and_byte_by_byte() -> None:
    """CR, LF, CRLF, comments, several data lines, split characters."""
    assert FRAMES == feed([STREAM])
    assert FRAMES == feed([bytes([byte]) for byte in STREAM])


@pytest.mark.parametrize("cut", range(1, len(STREAM)))
def test_every_single_cut(cut: int) -> None:
    """Between CR and LF, inside characters, anywhere."""
    assert FRAMES == feed([STREAM[:cut], STREAM[cut:]])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_frames_that_come_one_by_one(end: str) -> None:
    """A chunk that is one frame is read as it is within a longer one, whatever its lines are and how they end."""
    frames = ["event: a\ndata: 1\n\n", "data: 2\n\n", "event: b\ndata: \n\n", "data: 3\ndata: 4\n\n", ": ping\n\n", "\n\n",
              "id: 1\ndata: 5\n\n", "event: c\nevent: d\ndata: 6\n\n", "event:e\ndata:7\n\n", "data: \n\n", "data: 8\n\n"]  # fmt: skip
    chunks = [frame.replace("\n", end).encode() for frame in frames]

    assert feed(chunks) == feed([b"".join(chunks)]) == [
        sse.Frame("a", "1"), sse.Frame(None, "2"), sse.Frame("b", ""), sse.Frame(None, "3\n4"), sse.Frame(None, "5"),
        sse.Frame("d", "6"), sse.Frame("e", "7"), sse.Frame(None, ""), sse.Frame(None, "8"),
    ]  # fmt: skip


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    """Also when it comes in pieces."""
    marked = b"\xef\xbb\xbfdata: x\n\n"

    assert [sse.Frame(None, "x")] == feed([marked]) == feed([bytes([byte]) for byte in marked])


def test_a_frame_comes_with_the_byte_that_completes_it() -> None:
    """Nobody waits for the next frame."""
    decoder = sse.Decoder()

    assert [] == decoder.feed(b"data: x\n")
    assert [sse.Frame(None, "x")] == decoder.feed(b"\n")


def test_the_end_of_input_completes_a_frame() -> None:
    """Providers end streams without a blank line."""
    assert [sse.Frame(None, "[DONE]")] == feed([b"data: [DONE]"])


def test_what_is_encoded_is_decoded() -> None:
    """Both directions agree, also on several lines."""
    frames = [sse.Frame("ping", '{"a": 1}'), sse.Frame(None, "one\ntwo"), sse.Frame(None, "")]

    assert frames == feed([b"".join(sse.encode(frame) for frame in frames)])


def test_an_independent_reader_agrees() -> None:
    """httpx-sse reads the same events from the same bytes (LF only: it takes decoded lines)."""
    text = STREAM.decode().replace("\r\n", "\n").replace("\r", "\n")
    reader = oracle.SSEDecoder()
    events = [event for line in text.split("\n") if (event := reader.decode(line)) is not None]

    assert [(event.event, event.data) for event in events if event.data] == [
        (frame.event or "message", frame.data) for frame in feed([text.encode()]) if frame.data
    ]


def test_lines_of_json_survive_any_cut() -> None:
    """U+2028 does not end a line."""
    lines = '{"a":"\u2028"}\r\n\n{"b":"😀"}\n{"c":1}'.encode()
    expected = ['{"a":"\u2028"}', '{"b":"😀"}', '{"c":1}']
    rng = random.Random(3)
    for _ in range(50):
        decoder, at, found = jsonl.Decoder(), 0, []
        while at < len(lines):
            step = rng.randint(1, 9)
            found += decoder.feed(lines[at : at + step])
            at += step

        assert expected == [frame.data for frame in found + decoder.end()]


def test_what_others_take_for_the_end_of_a_line_is_escaped_in_json_lines() -> None:
    text = '{"a":"x\u2028y\u2029z\x85 ü"}'
    line = jsonl.encode(sse.Frame(None, text))
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == json.loads(text)
