"""
What is done with a loss report: what the caller forbids is refused, what was dropped is logged (spec/6-loss.md#loss-policy).

Requests and answers are accounted for when they are written, streams when they end, and before that where a loss that is
refused is known already.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from interlingua import adapters
from interlingua.adapters import _failures as failures
from interlingua.canonical import carriage
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, LossRefused
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import SEVERITIES, Entry, apply, parse_pointer

Policy = dict[str, Any]
Dropped = tuple[Entry, dict[str, Any], dict[str, Any]]

_NONE: Final[list[Entry]] = []
_LOG: Final = logging.getLogger("interlingua.accounting")


def account_for(value: dict[str, Any], policy: Policy, loss: list[Entry], endpoint: Endpoint) -> None:
    """Refuses what the caller forbids and logs what was dropped (spec/6-loss.md#loss-policy)."""
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
    """Refuses what the caller forbids, with the report and what was `known` before it; gives the blocks that are dropped."""
    dropped = [found for entry in loss if (found := _dropped_block(value, entry))]
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
    """The content block of a request or an answer that an entry drops or replaces as a whole, with its message; None for
    any other entry."""
    if entry["severity"] == "shape" or not (entry["op"] == "drop" or entry["code"] == "placeholder"):
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


def accounted(
    events: Iterable[dict[str, Any]], endpoint: Endpoint, policy: Policy, loss: list[Entry]
) -> Iterator[dict[str, Any]]:
    """The events, as far as the policy lets them pass. `loss` is filled when the answer has ended.

    A stream loses what the whole answer loses, so it is the whole answer that is asked. Blocks are looked at when they
    begin and when they end, and only where something may be refused.
    """
    refuses = "strict" in policy or policy.get("on_drop") == "error"
    blocks: dict[int, dict[str, Any]] = {}
    cut: dict[int, _Cut] = {}  # those that have not ended
    known: list[Entry] = []
    for event in events:
        kind = event["type"]
        if kind == "block_start" or kind == "block_stop":
            if not event.get("choice"):
                blocks[event["index"]] = event["block"]
                if kind == "block_start":
                    cut[event["index"]] = (event, [])
                else:
                    cut.pop(event["index"], None)
                if refuses or event["block"].get("critical"):
                    found = _block_loss(event, endpoint)
                    if found:
                        # by index, as in a list: to make one for each block would cost more the longer the answer is
                        _refuse({"message": {"content": blocks}}, policy, found, endpoint, known)
                    if kind == "block_stop":
                        known += found
        elif kind == "tool_use_input_delta":
            if not event.get("choice") and event["index"] in cut:
                cut[event["index"]][1].append(event["text"])
        elif kind == "message_complete":
            loss += _stream_loss(event["response"], endpoint)
            account_for(event["response"], policy, loss, endpoint)
            blocks = {}
        elif kind == "error":
            # what had arrived was written, and what had not nobody can lose
            arrived: dict[str, Any] = event.get("response") or {"message": {"content": []}}
            if arrived["message"]["content"]:
                found = _of_the_message(_stream_loss(arrived, endpoint))
                loss += _with_the_cut(found, cut.values(), arrived["message"]["content"], endpoint)
            loss += _error_loss(event["error"], endpoint)
            account_for(arrived, policy, loss, endpoint)
            blocks = {}
        yield event
    if blocks:
        order = sorted(blocks)
        broken = {"message": {"role": "assistant", "content": [blocks[index] for index in order]}}
        ended = {f"/message/content/{place}" for place, index in enumerate(order) if index not in cut}
        found = _stream_loss({**broken, "finish_reason": "other"}, endpoint)
        loss += [entry for entry in found if "/".join(entry["path"].split("/")[:4]) in ended]


def _stream_loss(response: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    if endpoint.state_in_ids:
        response = carriage.load_response(response, endpoint)
    adapter = adapters.get(endpoint.adapter)
    asked = getattr(adapter, "stream_loss", None)  # where a stream says more or less than the whole answer
    return adapter.to_wire_response(response, endpoint)[1] if asked is None else asked(response, endpoint)


def _of_the_message(loss: list[Entry]) -> list[Entry]:
    return [entry for entry in loss if entry["path"].startswith("/message/content/")]


_Cut = tuple[dict[str, Any], list[str]]
"""A block that has begun and not ended: the event that began it, and what was told of its arguments."""

_SAID: Final = ("type", "kind", "name", "text", "input", "input_raw", "signature", "citations")
_FAILED: Final[dict[str, Any]] = {"category": "server_error", "message": "it failed", "retryable": True}


def _with_the_cut(
    loss: list[Entry], cut: Iterable[_Cut], content: list[dict[str, Any]], endpoint: Endpoint
) -> list[Entry]:
    """What is lost of what had arrived when blocks had not ended: a wire may tell of them when they are whole, or in pieces
    that a reader takes for less or for more."""
    for begins, arguments in cut:
        at = _place(begins, content)
        here = f"/message/content/{at}"
        if at >= len(content) or any(entry["path"] == here for entry in loss):
            continue
        # of arguments the whole answer says nothing here: they go as they came
        loss = [entry for entry in loss if not entry["path"].startswith(f"{here}/input")]
        seen = _as_far(begins["block"], content[at], "".join(arguments), endpoint)
        inside = [entry for entry in loss if entry["path"].startswith(f"{here}/")]
        of_block = [{**entry, "path": entry["path"].removeprefix(here)} for entry in inside]
        told = apply(content[at], of_block) if of_block else content[at]
        if seen is None:
            loss = [entry for entry in loss if entry not in inside]
            loss.append(_gone(here, "unsupported_block", "the wire says nothing of such a block before it has ended"))
        elif any(seen.get(name) != told.get(name) for name in _SAID):
            rest = {name: value for name, value in content[at].items() if name not in _SAID}
            message = "what had arrived of a block that was cut off reads otherwise in the pieces of this wire"
            changed = {"op": "replace", "path": here, "code": "unsupported_value", "severity": "weakened"}
            kept = [entry for entry in loss if entry["path"].removeprefix(f"{here}/").partition("/")[0] not in _SAID]
            loss = [{**changed, "message": message, "value": {**rest, **seen}}, *kept]
    return loss


def _gone(path: str, code: str, message: str) -> Entry:
    return {"op": "drop", "path": path, "code": code, "severity": "lost", "message": message}


def _place(begins: dict[str, Any], content: list[dict[str, Any]]) -> int:
    """Where a block stands in the message: a call where its id does."""
    identity, index = begins["block"].get("id"), begins["index"]
    return next((place for place, block in enumerate(content) if identity and block.get("id") == identity), index)


def _as_far(begun: dict[str, Any], block: dict[str, Any], arguments: str, endpoint: Endpoint) -> dict[str, Any] | None:
    """What a reader of the wire finds of a block that has not ended; None when it finds nothing."""
    events: list[dict[str, Any]] = [{"type": "message_start"}, {"type": "block_start", "index": 0, "block": begun}]
    if block["type"] == "tool_use":
        events.append({"type": "tool_use_start", "index": 0, "id": block["id"], "name": block["name"]})
        if arguments:
            events.append({"type": "tool_use_input_delta", "index": 0, "id": block["id"], "text": arguments})
    elif block.get("text"):
        events.append({"type": f"{block['type']}_delta", "index": 0, "text": block["text"]})
    end = _read_back([*events, {"type": "error", "error": _FAILED}], endpoint)
    found = [] if end is None else (end.get("response") or {"message": {"content": []}})["message"]["content"]
    return {name: found[0][name] for name in _SAID if name in found[0]} if found else None


def _error_loss(failure: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """What a stream does not say of the error that ends it, by what a reader of the wire finds in its frames."""
    end = _read_back([{"type": "error", "error": failure}], endpoint)
    if end is None:
        return [_gone("/error", "unsupported_field", "the wire has no frame for an error")]
    return [{**entry, "path": f"/error{entry['path']}"} for entry in failures.account(failure, end["error"], endpoint)]


def _read_back(events: list[dict[str, Any]], endpoint: Endpoint) -> dict[str, Any] | None:
    """The error that a reader of the wire finds in a stream of these events."""
    adapter = adapters.get(endpoint.adapter)
    decoder = adapter.stream_decoder(endpoint, DERIVED_IDS)
    next(decoder)
    read: list[dict[str, Any]] = []
    try:
        for frame in adapter.encode_stream(events, endpoint):
            read += decoder.send(frame)
        read += decoder.send(None)
    except StopIteration:
        pass  # for its reader the stream has ended
    return read[-1] if read and read[-1]["type"] == "error" else None


_PROBE: Final = "…"


def _block_loss(event: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """What is lost of a block, as far as it is known by now: of one that begins, whether it goes as a whole.

    Whether the answer is of this very wire is not known before its end; what is lost either way is lost.
    """
    block: dict[str, Any] = event["block"]
    begins = event["type"] == "block_start"
    if _is_own(block, endpoint) or (begins and block["type"] == "opaque"):
        return []  # nothing is written of an opaque block before it ends, and then it may be another
    if begins and block.get("text") == "":
        block = {**block, "text": _PROBE}
    answer = {"message": {"role": "assistant", "content": [block]}, "finish_reason": "stop"}
    here = "/message/content/0"
    found = [
        entry
        for entry in _stream_loss(answer, endpoint)
        if (entry["path"] == here and entry["op"] == "drop") or (not begins and entry["path"].startswith(here + "/"))
    ]
    if found:
        own = {entry["path"] for entry in _stream_loss({**answer, "provider_state": endpoint.state()}, endpoint)}
        found = [entry for entry in found if entry["path"] in own]
    place = f"/message/content/{event['index']}"
    return [{**entry, "path": place + entry["path"].removeprefix(here)} for entry in found]


def _is_own(block: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a block holds something of the endpoint's own provider."""
    parts = [block, *(block.get("citations") or ())]
    states = [part.get("provider_state") for part in parts]
    return any(state is not None and endpoint.owns(state) for state in states)
