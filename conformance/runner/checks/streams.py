"""Streams: events, folds, cuts, promptness and broken ends."""

from __future__ import annotations

import base64
from typing import Any

from runner import frames
from runner.cases import Case
from runner.compare import (
    Difference,
    equal,
    loads,
    strings,
    visible_block,
    visible_error,
    visible_events,
    visible_response,
)
from runner.session import Failure, Refused, Session

from .asking import Note, flat, read_stream, same, same_response, spread, without_state


def stream_data(case: Case) -> bytes:
    assert case.stream_file is not None
    return case.data(case.stream_file)


def whole_events(session: Session, case: Case) -> list[Any]:
    return flat(read_stream(session, case, [stream_data(case)])[0])


def check_stream(session: Session, case: Case) -> Note:
    golden = case.value("stream.events.jsonl")
    events = whole_events(session, case)
    ends_once(events)
    if (
        not (golden and golden[-1].get("type") == "message_complete")
        and events
        and events[-1].get("type") == "message_complete"
    ):
        events = events[:-1]
    same(visible_events(golden, golden), visible_events(events, golden), "", case.comparators("events"))
    return None


def ends_once(events: list[Any]) -> None:
    """A stream ends with message_complete or error, and nothing follows."""
    ends = [index for index, event in enumerate(events) if event.get("type") in ("message_complete", "error")]
    if not ends:
        raise Failure("the stream ends with neither message_complete nor error")
    if ends[0] != len(events) - 1:
        raise Failure(
            f"event {ends[0]} ({events[ends[0]]['type']}) ends the stream, yet {len(events) - 1 - ends[0]} more follow"
        )


def check_fold(session: Session, case: Case) -> Note:
    """Folding the events gives the answer: deltas, blocks, the last event, the plug's own fold and the unary answer agree."""
    parts, folded = read_stream(session, case, [stream_data(case)])
    events = flat(parts)
    ends_once(events)
    final = events[-1].get("response")
    if final is None and events[-1]["type"] == "error" and not any("index" in event for event in events):
        return "nothing had arrived"
    if not isinstance(final, dict):
        raise Failure(f"{events[-1]['type']} carries no response")
    if isinstance(folded, dict):
        same(visible_response(final), visible_response(folded), "the plug's response is not that of its last event")
    message = final["message"]
    blocks = fold_blocks(events)
    same(
        [visible_block(block) for block in message["content"]],
        [visible_block(block) for block in blocks],
        "the blocks do not add up",
    )
    if case.has("response.canonical.json") and events[-1]["type"] == "message_complete":
        golden = without_state(case.value("response.canonical.json"))
        golden = (
            {**golden, "usage": {name: item for name, item in golden["usage"].items() if name != "raw"}}
            if "usage" in golden
            else golden
        )
        same_response(case, golden, without_state(final), "the streamed answer differs from the unary one")
    return None


def fold_blocks(events: list[Any]) -> list[Any]:
    """The first answer's blocks, from block_stop; Failure when the deltas tell another story."""
    stopped: dict[int, Any] = {}
    texts: dict[int, list[str]] = {}
    for event in events:
        if event.get("choice"):
            continue
        match event.get("type"):
            case "text_delta" | "thinking_delta" | "tool_use_input_delta":
                texts.setdefault(event["index"], []).append(event["text"])
            case "block_stop":
                if event["index"] in stopped:
                    raise Failure(f"block {event['index']} stops twice")
                stopped[event["index"]] = event["block"]
    if events and events[-1].get("type") == "error":
        final = events[-1].get("response") or {}
        return [stopped.get(index, block) for index, block in enumerate(final.get("message", {}).get("content", []))]
    if sorted(stopped) != list(range(len(stopped))):
        raise Failure(f"blocks {sorted(stopped)} stop: the indices have a hole")
    for index, block in stopped.items():
        _deltas_fit(index, block, "".join(texts.get(index, [])))
    blocks = [stopped[index] for index in sorted(stopped)]
    places = events[-1].get("places") if events else None
    return blocks if places is None else _placed(blocks, places)


def _placed(blocks: list[Any], places: list[int]) -> list[Any]:
    """The blocks where the last event puts them; those of one place are one, and what came last in it counts."""
    if len(places) != len(blocks) or sorted(set(places)) != list(range(len(set(places)))):
        raise Failure(f"the places {places} do not tell where each of {len(blocks)} blocks stands")
    content: list[Any] = [None] * len(set(places))
    for block, place in zip(blocks, places, strict=True):
        before = content[place]
        content[place] = block if before is None else {**before, **block, "text": before["text"] + block["text"]}
    return content


def _deltas_fit(index: int, block: dict[str, Any], text: str) -> None:
    match block.get("type"):
        case "text" | "thinking" if block.get("text") != text:
            raise Failure(f"block {index}: its deltas add up to another text", Difference("", block.get("text"), text))
        case "tool_use" if "input_raw" in block:
            if block["input_raw"] != text:
                raise Failure(
                    f"block {index}: its deltas add up to other arguments", Difference("", block["input_raw"], text)
                )
        case "tool_use":
            try:
                value = loads(text) if text.strip() else {}
            except ValueError:
                raise Failure(f"block {index}: its deltas are not JSON, yet input_raw is absent") from None
            if not equal(value, block.get("input")) and not (value is None and block.get("input") == {}):
                raise Failure(
                    f"block {index}: its deltas add up to other arguments", Difference("", block.get("input"), value)
                )


def check_chunks(session: Session, case: Case, cut: str) -> Note:
    chunks = frames.CUTS[cut](stream_data(case), case.framing)
    assert chunks is not None
    expected = visible_events(whole_events(session, case))
    events = flat(read_stream(session, case, chunks)[0])
    same(expected, visible_events(events), f"cut {cut}, the same bytes give other events")
    return f"seed {frames.SEED}" if cut == "random" else None


def check_prompt(session: Session, case: Case) -> Note:
    """Events come with the chunk that completes their frame."""
    data = stream_data(case)
    chunks = frames.split(data, case.framing)
    parts, _ = read_stream(session, case, chunks)
    seen: list[list[str]] = [_frame_strings(chunk, case.framing) for chunk in chunks]
    for number, events in enumerate(parts[:-1]):
        for event in events:
            text = event.get("text")
            if not text or event.get("type") not in ("text_delta", "thinking_delta", "tool_use_input_delta"):
                continue
            if any(text in item for item in seen[number]):
                continue
            early = next((place for place in range(number) if any(text in item for item in seen[place])), None)
            if early is not None and len(text) > 3:
                raise Failure(f"a {event['type']} of frame {early} comes out with frame {number}")
    late = [event["type"] for event in parts[-1] if event.get("type") in _NEVER_LATE]
    if late:
        raise Failure(f"{len(late)} events, the first a {late[0]}, come out only at the end of input")
    return None


_NEVER_LATE = ("message_start", "block_start", "text_delta", "thinking_delta", "tool_use_start", "tool_use_input_delta")


def _frame_strings(chunk: bytes, framing: str) -> list[str]:
    found: list[str] = []
    for frame in frames.parse(chunk, framing):
        try:
            found += strings(loads(frame.data))
        except ValueError:
            found.append(frame.data)
    return found


def terminal_index(case: Case, chunks: list[bytes]) -> int:
    """The number of the frame that ends the answer, by the rule in adapter.json; the last one with data otherwise."""
    found, last = _terminal(case, chunks)
    return last if found is None else found


def has_terminal(case: Case) -> bool:
    """Whether the stream holds the frame that the wire ends with. Without a rule none does: the end of the input ends it."""
    found, _ = _terminal(case, frames.split(stream_data(case), case.framing))
    return found is not None


def has_end(case: Case) -> bool:
    """Whether the stream reaches its end, so that it can be broken off before: its terminal frame, or without a rule the last one."""
    return not case.wire.get("terminal") or has_terminal(case)


def _terminal(case: Case, chunks: list[bytes]) -> tuple[int | None, int]:
    rule = case.wire.get("terminal", {})
    last = len(chunks) - 1
    for index, chunk in enumerate(chunks):
        for frame in frames.parse(chunk, case.framing):
            if _ends(frame, rule):
                return index, index
            last = index
    return None, last


def _ends(frame: frames.Frame, rule: dict[str, Any]) -> bool:
    if "holds" in rule:
        try:
            value = loads(frame.data)
        except ValueError:
            return False
        return isinstance(value, dict) and all(value.get(name) == item for name, item in rule["holds"].items())
    return ("event" in rule and frame.event == rule["event"]) or ("data" in rule and frame.data == rule["data"])


def check_truncated(session: Session, case: Case, inside: bool) -> Note:
    """Cut before the end, at frame boundaries or inside frames: an error, never a clean finish."""
    chunks = frames.split(stream_data(case), case.framing)
    end = terminal_index(case, chunks)
    tried = spread(range(end + 1), 24)
    for kept in tried:
        data = chunks[:kept] + ([chunks[kept][: max(len(chunks[kept]) // 2, 1)]] if inside else [])
        events = flat(read_stream(session, case, data)[0])
        where = f"cut {'inside' if inside else 'before'} frame {kept} of {len(chunks)}"
        if any(event.get("type") == "message_complete" for event in events):
            raise Failure(f"clean finish on a truncated stream, {where}")
        if not events or events[-1].get("type") != "error":
            raise Failure(f"no error event on a truncated stream, {where}")
        category = events[-1].get("error", {}).get("category")
        if category != "stream_truncated" and not _failed_before(case, chunks[:kept]):
            raise Failure(f"the error on a truncated stream is {category}, {where}")
    return f"{len(tried)} cuts"


def _failed_before(case: Case, chunks: list[bytes]) -> bool:
    """Whether the stream told of its own failure in what is left of it."""
    golden = case.value("stream.events.jsonl") if case.has("stream.events.jsonl") else []
    return bool(chunks) and bool(golden) and golden[-1].get("type") == "error"


def check_after_end(session: Session, case: Case) -> Note:
    """Whatever follows the terminal frame is not part of the answer."""
    data = stream_data(case)
    chunks = frames.split(data, case.framing)
    tail = b"".join(chunks[: terminal_index(case, chunks)])[-4000:]
    again = frames.split(tail, case.framing)[-1:] if tail else []
    events = flat(read_stream(session, case, [data, *again])[0])
    same(
        visible_events(whole_events(session, case)),
        visible_events(events),
        "bytes behind the terminal frame change the events",
    )
    return None


def check_stream_encode(session: Session, case: Case) -> Note:
    """The events, written as a stream of this wire and read again, give the same answer."""
    events = whole_events(session, case)
    output = session.ask("stream_encode", case.adapter, {"events": events, "provider": case.provider}, "chunks", "loss")
    chunks = [base64.b64decode(chunk) for chunk in output["chunks"]]
    again = flat(read_stream(session, case, chunks)[0])
    ends_once(again)
    for one, two in ((events[-1], again[-1]),):
        same(one["type"], two["type"], "the encoded stream ends otherwise")
        if isinstance(one.get("response"), dict) and one["type"] == "message_complete":
            golden = _comparable_answer(one["response"])
            same(golden, _comparable_answer(two.get("response") or {}), "the encoded stream gives another answer")
    return None


LATE = 200
TRIES = 5


def check_relay_row(session: Session, case: Case) -> Note:
    """Whoever goes on sending a stream that was refused learns all the same why. Asked often: it is a matter of moments."""
    row = case.row
    assert row is not None
    sent = [*row["pieces"], *[row["late"]] * LATE]
    given = {"target": row["target"], "policy": row.get("policy"), "chunks": [_base64(piece) for piece in sent]}
    for _ in range(TRIES):
        try:
            session.ask_anew("relay", case.meta["adapter"], given)
        except Refused as refused:
            same(row["error"], visible_error(refused.error, row["error"]), "the error")
        else:
            raise Failure(f"the stream is to be refused with {row['error']['category']}, and is carried")
    return None


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _comparable_answer(response: dict[str, Any]) -> dict[str, Any]:
    return visible_response(without_state(response), {})
