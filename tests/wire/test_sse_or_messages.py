"""Server-sent events, or the same events in AWS messages: the first byte tells."""

import json
from base64 import b64encode

import pytest

from interlingua import StreamReader, fold, registry, translate
from interlingua.wire import eventstream, sse, sse_or_messages
from interlingua.wire.sse import Frame

EVENTS = [
    {"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": [], "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Grüße"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 4}},
    {"type": "message_stop"},
]  # fmt: skip


def message(data, name="chunk", kind=eventstream.EVENT):
    return eventstream.encode(eventstream.Frame(name, json.dumps(data), kind))


def chunk(event):
    return message({"bytes": b64encode(json.dumps(event).encode()).decode(), "p": "abcd"})


AS_MESSAGES = b"".join(chunk(event) for event in EVENTS)
AS_EVENTS = b"".join(sse.encode(Frame(event["type"], json.dumps(event))) for event in EVENTS)


def read(chunks):
    reader = StreamReader(registry.endpoint(provider="bedrock", adapter="anthropic_messages"))
    return [event for part in chunks for event in reader.feed(part)] + reader.end()


def cut(raw, size):
    return [raw[at : at + size] for at in range(0, len(raw), size)]


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
@pytest.mark.parametrize("raw", [AS_MESSAGES, AS_EVENTS])
def test_both_framings_say_the_same_whatever_the_cuts(raw, size):
    events = read(cut(raw, size))
    assert events == read([AS_EVENTS])
    assert fold(events)["message"]["content"] == [{"type": "text", "text": "Grüße"}]


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("raw", [AS_MESSAGES, AS_EVENTS])
def test_a_text_that_is_no_utf8_cannot_be_read(raw, size):
    """Neither framing puts another character in the place of its bytes."""
    if raw is AS_MESSAGES:
        whole = json.dumps(EVENTS[2], ensure_ascii=False).encode().replace("Grüße".encode(), b"Gr\xfc\xdfe")
        raw = b"".join(
            [*map(chunk, EVENTS[:2]), message({"bytes": b64encode(whole).decode()}), *map(chunk, EVENTS[3:])]
        )
    else:
        raw = raw.replace(json.dumps("Grüße").encode(), b'"Gr\xfc\xdfe"')
    error = read(cut(raw, size))[-1]["error"]
    assert (error["category"], error["retryable"]) == ("invalid_response", False)


def test_what_is_written_is_read():
    events = read([AS_EVENTS])
    written = list(translate.write_stream(events, "anthropic_messages", provider="bedrock"))
    assert written[0][0] == 0
    assert fold(read(written))["message"]["content"] == fold(events)["message"]["content"]


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("throttlingException", "rate_limit"),
        ("validationException", "invalid_request"),
        ("accessDeniedException", "permission"),
        ("serviceUnavailableException", "overloaded"),
        ("internalServerException", "server_error"),
        ("somethingNewException", "server_error"),
    ],
)
def test_an_exception_is_an_error_with_what_had_arrived(name, category):
    raw = b"".join(chunk(event) for event in EVENTS[:3])
    events = read([raw + message({"message": "no more"}, name, eventstream.EXCEPTION)])
    assert events[-1]["type"] == "error"
    assert events[-1]["error"]["category"] == category
    assert events[-1]["response"]["message"]["content"] == [{"type": "text", "text": "Grüße"}]


@pytest.mark.parametrize(
    "broken",
    [
        message({"bytes": "%%"}),
        message({"bytes": 1}),
        message({}),
        message([]),
        message({"bytes": b64encode(b"\xff").decode()}),
        AS_MESSAGES[:20] + b"x" + AS_MESSAGES[21:],
        message({"message": 1}, "odd", eventstream.EXCEPTION),
        message("odd", "odd", eventstream.ERROR),
        eventstream.encode(eventstream.Frame("chunk", "[" * 100_000)),
        eventstream.encode(eventstream.Frame("odd", "[" * 100_000, eventstream.EXCEPTION)),
    ],
)
def test_damage_ends_in_an_error_event(broken):
    assert read([chunk(EVENTS[0]), broken])[-1]["type"] == "error"


def test_other_messages_are_passed_over_and_a_cut_is_told():
    events = read([chunk(EVENTS[0]), message({}, "initial-response"), *[chunk(event) for event in EVENTS[1:]]])
    assert events[-1]["type"] == "message_complete"
    assert read([AS_MESSAGES[:-5]])[-1]["error"]["category"] == "stream_truncated"


def test_nothing_is_nothing():
    decoder = sse_or_messages.Decoder()
    assert decoder.feed(b"") == []
    assert decoder.end() == []
