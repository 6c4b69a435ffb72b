"""
What is done with a loss report: what the caller forbids is refused, what was dropped is logged (spec/6-loss.md#loss-policy).

Requests and answers are accounted for when they are written, streams when they end, and before that where a loss that is
refused is known already.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from interlingua import adapters
from interlingua.canonical import carriage
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, LossRefused
from interlingua.canonical.loss import SEVERITIES, Entry, parse_pointer

Policy = dict[str, Any]
Dropped = tuple[Entry, dict[str, Any], dict[str, Any]]

_NONE: Final[list[Entry]] = []
_LOG: Final = logging.getLogger("interlingua.translate")


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
    known: list[Entry] = []
    for event in events:
        kind = event["type"]
        if kind == "block_start" or kind == "block_stop":
            if not event.get("choice"):
                blocks[event["index"]] = event["block"]
                if refuses or event["block"].get("critical"):
                    found = _block_loss(event, endpoint)
                    if found:
                        so_far = {"message": {"content": [blocks[index] for index in sorted(blocks)]}}
                        _refuse(so_far, policy, found, endpoint, known)
                    if kind == "block_stop":
                        known += found
        elif kind == "message_complete":
            loss += _stream_loss(event["response"], endpoint)
            account_for(event["response"], policy, loss, endpoint)
            blocks = {}
        elif kind == "error":
            # what had arrived was written, the rest is the error's to tell
            response = event.get("response")
            if response is not None:
                loss += _of_the_message(_stream_loss(response, endpoint))
            blocks = {}
        yield event
    if blocks:
        broken = {"message": {"role": "assistant", "content": [blocks[index] for index in sorted(blocks)]}}
        loss += _of_the_message(_stream_loss({**broken, "finish_reason": "other"}, endpoint))


def _stream_loss(response: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    if endpoint.state_in_ids:
        response = carriage.load_response(response, endpoint)
    adapter = adapters.get(endpoint.adapter)
    asked = getattr(adapter, "stream_loss", None)  # where a stream says more or less than the whole answer
    return adapter.to_wire_response(response, endpoint)[1] if asked is None else asked(response, endpoint)


def _of_the_message(loss: list[Entry]) -> list[Entry]:
    return [entry for entry in loss if entry["path"].startswith("/message/content/")]


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
