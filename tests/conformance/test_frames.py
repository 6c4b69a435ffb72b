"""Streams as bytes: frames by the letter of the standard, and cuts that keep every byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from runner import frames
from runner.checks.rows import row_bytes

ROWS = json.loads((Path(__file__).resolve().parents[2] / "conformance/cases/wire/sse/framing.json").read_text("utf-8"))[
    "rows"
]


@pytest.mark.parametrize("row", [row for row in ROWS if "error" not in row], ids=lambda row: row["id"])
def test_the_runner_reads_the_rows_that_it_asks_others(row: dict[str, Any]) -> None:
    found = [{"data": frame.data} for frame in frames.parse(row_bytes(row), "sse")]

    assert found == [{"data": frame["data"]} for frame in row["frames"]]


@pytest.mark.parametrize("cut", sorted(frames.CUTS))
def test_cuts_keep_every_byte(cut: str) -> None:
    data = 'data: {"a":"ü😀"}\n\ndata: [DONE]\r\n\r\n'.encode()
    chunks = frames.CUTS[cut](data, "sse")
    assert chunks is not None

    joined = b"".join(chunks)
    assert joined == (data if cut != "crlf" else data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def test_cuts_fall_where_bugs_are() -> None:
    data = "data: ü\n\n".encode()

    assert frames.inside_characters(data, "sse") == [b"data: \xc3", b"\xbc\n\n"]
    assert frames.inside_characters(b"data: u\n\n", "sse") is None
    assert frames.between_cr_and_lf(b"data: u\n\n", "sse") == [b"data: u\r", b"\n\r", b"\n"]


def test_frames_end_with_their_blank_lines() -> None:
    data = b": hello\n\nevent: a\ndata: 1\n\n\ndata: 2\r\n\r\ndata: 3"

    assert frames.split(data, "sse") == [b": hello\n\n", b"event: a\ndata: 1\n\n", b"\ndata: 2\r\n\r\n", b"data: 3"]
    assert [frame.data for frame in frames.parse(data, "sse")] == ["1", "2"]


def test_a_frame_reads_back() -> None:
    frame = frames.Frame("update", "two\nlines")

    assert frames.parse(frame.encode("sse"), "sse") == [frame]
    assert frames.parse(frames.Frame(None, '{"a":1}').encode("jsonl"), "jsonl") == [frames.Frame(None, '{"a":1}')]


def test_messages_of_an_event_stream_read_back() -> None:
    sent = [
        frames.Frame("messageStart", '{"role":"assistant"}'),
        frames.Frame("throttlingException", "{}", "exception"),
    ]
    data = b"".join(frame.encode("eventstream") for frame in sent)

    assert frames.parse(data, "eventstream") == sent
    assert b"".join(frames.split(data, "eventstream")) == data
    assert frames.between_cr_and_lf(data, "eventstream") is None


def test_a_damaged_message_of_an_event_stream_is_no_frame() -> None:
    data = bytearray(frames.Frame("messageStart", '{"role":"assistant"}').encode("eventstream"))
    data[-6] ^= 1

    with pytest.raises(ValueError, match="damaged"):
        frames.parse(bytes(data), "eventstream")
