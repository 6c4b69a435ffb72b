"""
The treatment of a loss report: losses that the caller forbids are refused, dropped blocks are logged
(spec/6-loss.md#loss-policy).

Requests and responses are treated when they are written, streams when they end. A stream is refused earlier if a
forbidden loss is known earlier.
"""

from collections.abc import Generator
from typing import Any, Final

from interlingua.adapters._answers.stream_writer import MALFORMED, refuse_event
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, LossRefused
from interlingua.canonical.logs import logger
from interlingua.canonical.loss import SEVERITIES, Entry, parse_pointer
from interlingua.stream_loss import (
    PIECES,
    PROSE,
    StreamTrace,
    block_loss,
    error_loss,
    loss_as_read,
    loss_of_arrived,
    loss_of_late_text,
    needs_a_reader,
    of_the_message,
    stream_loss,
)

Policy = dict[str, Any]
Dropped = tuple[Entry, dict[str, Any], dict[str, Any]]

_NONE: Final[list[Entry]] = []
_LOG: Final = logger("loss_policy")


def account_for(value: dict[str, Any], policy: Policy, loss: list[Entry], endpoint: Endpoint) -> None:
    """Refuse losses that the caller forbids, and log dropped blocks (spec/6-loss.md#loss-policy)."""
    for entry, message, block in _refuse(value, policy, loss, endpoint):
        fields = {
            "session_id": message.get("session_id"),
            "message_id": message.get("id"),
            "block_type": block["type"],
            "adapter": endpoint.adapter,
            "reason": entry["message"],
        }
        _LOG.warning("block dropped %s", fields, extra=fields)


def _refuse(
    value: dict[str, Any], policy: Policy, loss: list[Entry], endpoint: Endpoint, known: list[Entry] = _NONE
) -> list[Dropped]:
    """Refuse losses that the caller forbids, with the report and entries `known` before; return the dropped blocks."""
    dropped = [drop for entry in loss if (drop := _dropped_block(value, entry))]
    for entry, message, block in dropped:
        if block.get("critical") or message.get("critical"):
            raise CannotAdapt(
                f"a critical {block['type']} block cannot be carried: {entry['message']}",
                path=entry["path"],
                adapter=endpoint.adapter,
            )
    strict = policy.get("strict")
    refused = [e for e in loss if strict and SEVERITIES.index(e["severity"]) >= SEVERITIES.index(strict)]
    if policy.get("on_drop") == "error":
        refused += [entry for entry, _, _ in dropped]
    if refused:
        raise LossRefused(
            f"the projection to {endpoint.adapter} would lose too much: {refused[0]['message']}",
            known + loss,
            path=refused[0]["path"],
            adapter=endpoint.adapter,
        )
    return dropped


def _dropped_block(value: dict[str, Any], entry: Entry) -> Dropped | None:
    """Return the content block of a request or response that an entry drops or replaces as a whole, with its message;
    None for any other entry."""
    if entry["severity"] == "representation" or not (entry["op"] == "drop" or entry["code"] == "placeholder"):
        return None
    match parse_pointer(entry["path"]):
        case ["messages", number, "content", *place]:
            message: dict[str, Any] = value["messages"][int(number)]
        case ["message", "content", *place]:
            message = value["message"]
        case ["alternatives", number, "message", "content", *place]:
            message = value["alternatives"][int(number)]["message"]
        case _:
            return None
    match place:
        case [position]:
            return entry, message, message["content"][int(position)]
        case [position, "content", inner]:
            outer = message["content"][int(position)]
            block = outer["content"][int(inner)]
            return entry, message, {**block, "critical": block.get("critical") or outer.get("critical")}
        case _:
            return None


# ---------------------------------------------------------------------------------------------------- streams


def stream_account(
    endpoint: Endpoint, policy: Policy, loss: list[Entry]
) -> Generator[None, dict[str, Any] | None, None]:
    """Refuse losses of a stream that the policy forbids: send it each event before it is written, and None at the end.
    `loss` is filled when the response has ended.

    A stream loses what the whole response loses, so the report is that of the whole response. Blocks are inspected when
    they begin and when they end, and only if a loss may be refused.
    """
    refuses = "strict" in policy or policy.get("on_drop") == "error"
    blocks: dict[int, dict[str, Any]] = {}
    trace = StreamTrace(0)
    traces = {0: trace}
    known: list[Entry] = []
    event = yield
    try:
        while event is not None:
            kind = event["type"]
            if kind in PIECES:
                if kind not in PROSE or trace.mixed or len(traces) > 1:
                    traces.get(event.get("choice") or 0, trace).record(event)
            elif kind == "block_start" or kind == "block_stop":
                if not event.get("choice"):
                    blocks[event["index"]] = event["block"]
                    trace.turn(event)
                    if refuses or event["block"].get("critical"):
                        losses = block_loss(event, endpoint)
                        if losses:
                            # a dict by index in place of a list: a list for each block would cost more with each block
                            _refuse({"message": {"content": blocks}}, policy, losses, endpoint, known)
                        if kind == "block_stop":
                            known += losses
                else:
                    number: int = event["choice"]
                    if number not in traces:
                        traces[number] = StreamTrace(number)
                    traces[number].turn(event)
            elif kind == "message_complete":
                answer: dict[str, Any] = event["response"]
                losses = stream_loss(answer, endpoint)
                if "places" in event:
                    answer, losses = loss_of_late_text(losses, event, trace, blocks, endpoint)
                elif needs_a_reader(answer, endpoint):
                    losses = loss_as_read(losses, event, traces, endpoint)
                loss += losses
                account_for(answer, policy, loss, endpoint)
                blocks = {}
            elif kind == "error":
                # the report covers what had arrived: only that was written
                arrived: dict[str, Any] = event.get("response") or {"message": {"content": []}}
                if arrived["message"]["content"]:
                    losses = of_the_message(stream_loss(arrived, endpoint))
                    loss += loss_of_arrived(losses, trace.replay(arrived), arrived["message"]["content"], endpoint)
                loss += error_loss(event["error"], endpoint)
                account_for(arrived, policy, loss, endpoint)
                blocks = {}
            event = yield
    except MALFORMED as problem:
        refuse_event(problem, event)
    if blocks:
        order = sorted(blocks)
        broken = {"message": {"role": "assistant", "content": [blocks[index] for index in order]}}
        ended = {f"/message/content/{place}" for place, index in enumerate(order) if index not in trace.open}
        losses = stream_loss({**broken, "finish_reason": "other"}, endpoint)
        loss += [entry for entry in losses if "/".join(entry["path"].split("/")[:4]) in ended]
