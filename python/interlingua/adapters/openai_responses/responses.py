"""Responses: `to_wire_response` writes the body of this provider, `from_wire_response` reads one."""

from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.single import Single
from interlingua.adapters._answers.usage import ALWAYS, TOTAL, Counts, Place
from interlingua.adapters._engine.items import ItemRow, opaque, write_item
from interlingua.adapters._engine.kit import NOTHING, UNREADABLE, Wire, state_of
from interlingua.adapters._engine.verbatim import Items, may_differ
from interlingua.adapters._history.messages import OF_MESSAGE, report_rest
from interlingua.adapters._openai.errors import error
from interlingua.adapters.openai_responses.built_in import ran
from interlingua.adapters.openai_responses.calls import call_from_wire
from interlingua.adapters.openai_responses.items import (
    is_message,
    is_of_others,
    item_from_wire,
    turn_to_wire,
)
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.tables import CALLS_FOR_THE_CALLER, Reading, Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Response = dict[str, Any]

_ENDS: Final = answers.Ends(
    {
        "stop": "completed",
        "length": "incomplete.max_output_tokens incomplete.max_messages",
        "pause": "incomplete.steered",
        "content_filter": "incomplete.content_filter failed.bio_policy failed.cyber_policy failed.content_filter "
        "failed.misalignment_policy_violation failed.image_content_policy_violation",
        "error": "failed",
        "cancelled": "cancelled",
    },
    {"stop_sequence": "completed", "tool_calls": "completed", "refusal": "completed"},
    other="incomplete.other",
    by_text=True,
)
"""The status of a response, and after a point its detail: the reason of an incomplete response, or the code of a
failure. A response that is `queued` or `in_progress` has not ended."""
COUNTS: Final = Counts(
    Place("input_tokens", "input_tokens", written=ALWAYS),
    Place("output_tokens", "output_tokens", written=ALWAYS),
    Place("cached_input_tokens", "input_tokens_details", "cached_tokens", ALWAYS),
    Place("cache_creation_input_tokens", "input_tokens_details", "cache_write_tokens", ALWAYS),
    Place("reasoning_tokens", "output_tokens_details", "reasoning_tokens", ALWAYS),
    Place(TOTAL, "total_tokens", written=ALWAYS),
    with_cache=True,
    uncounted=("cache_creation_1h_input_tokens",),
)


# ---------------------------------------------------------------------------------------------------- the row


def _write_output(response: Response, writing: Writing, path: Path) -> list[Any]:
    sent = response["message"]
    where: Path = (*path, "message")
    items, of = turn_to_wire(sent, where, writing, {"messages": [sent]})
    if len(sent) > 2:
        report_rest(sent, OF_MESSAGE, writing, where)
    return Items(sent["content"], "message/content", writing).put_back(items, of)


def _read_output(raw: Any, response: Response, reading: Reading) -> None:
    if type(raw) is not list:
        raise InvalidAnswer("output must be a list", path="/output", adapter=reading.adapter)
    content: list[Block] = []
    takes_part = False
    reading.among(raw)
    for position, item in enumerate(raw):
        try:
            blocks = answer_item(item, reading, starts=takes_part)
        except UNREADABLE as problem:
            raise answers.unreadable(("output", position), reading.endpoint) from problem
        takes_part = takes_parts(item, blocks)
        content += blocks
    reading.must_compare = False  # each item has been compared by itself
    response["message"] = {"role": "assistant", "content": content}


answer_id: Final = answers.derived_id("resp_", 32)
_AROUND: Final = (
    answers.identity("id", answer_id),
    answers.model("model", ""),
    answers.usage("usage", COUNTS),
)
_ELSEWHERE: Final = (*answers.AROUND, "finish_reason_raw", "logprobs")
_ROW: Final = ItemRow({}, answers.message("output", _write_output, _read_output), *_AROUND, elsewhere=_ELSEWHERE)
_ENVELOPE: Final = ItemRow({}, *_AROUND, elsewhere=_ELSEWHERE)
"""A response without its output."""


def demanded(created: int) -> Wire:
    """Return the members that clients require of a response, besides those with information. The request is not known
    here."""
    head = {"object": "response", "created_at": created, "error": None, "incomplete_details": None}
    return head | {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


# ---------------------------------------------------------------------------------------------------- to the wire


def _write_beside(response: Response, body: Wire, writing: Writing, created: int) -> None:
    if not writing.same_origin:
        body |= demanded(created)
    _end_to_wire(response, body, writing)
    content = response["message"]["content"]
    written = [block for block in content if block["type"] != "opaque" or writing.endpoint.owns(block)]
    answers.report_end(response, finish_from_wire(body, written), writing.loss, ())
    _report_logprobs(response, writing)


def _end_to_wire(response: Response, body: Wire, writing: Writing) -> None:
    """Write status and details of a response of another provider, or of one to which an edit gave another end."""
    if writing.same_origin and finish_from_wire(body, response["message"]["content"]) == response["finish_reason"]:
        return
    end = finish_to_wire(response)
    for name in writing.state_of(response).get("fields") or ():
        if name in end and end[name] != body.get(name):
            where = ("provider_state", "fields", name)
            writing.loss.drop(where, "combination", "representation", "a canonical member states it already")
    body |= end


def _report_logprobs(response: Response, writing: Writing) -> None:
    """Report log probabilities that belong to no text: this wire has no other place for them."""
    content = response["message"]["content"]
    of_blocks = _logprobs([block for block in content if state_of(block, writing.endpoint)])
    if not of_blocks:
        answers.report_logprobs(response, writing.loss, ())
    elif (read := {"content": of_blocks}) != response.get("logprobs"):
        why = "on this wire log probabilities are part of their text"
        writing.loss.replace(("logprobs",), read, "combination", "representation", why)


def around_to_wire(response: Response, endpoint: Endpoint) -> Wire:
    """Write a response without its output and its end."""
    return write_item(_ENVELOPE, response, Writing(response, endpoint, Loss()), ())


def finish_to_wire(response: Response) -> Wire:
    """Return status and details of a response of another provider."""
    word = answers.written_end(response, response["message"]["content"], _ENDS, same_origin=False) or ""
    status, _, reason = word.partition(".")
    end: Wire = {"status": status, "incomplete_details": {"reason": reason} if reason else None}
    if status == "failed":
        end["error"] = {"code": "server_error", "message": "the provider failed"}
    return end


# ---------------------------------------------------------------------------------------------------- from the wire


def answer_item(item: Any, reading: Reading, *, starts: bool, canonical: str = "") -> list[Block]:
    """Read the blocks of one item of a response, in which only the model produces items. `canonical` is the id of a
    call that has one already."""
    reading.must_compare = False
    call = call_from_wire(item, reading, canonical) if canonical else None
    if call is not None:
        blocks = [call]
    elif is_of_others(item, reading):
        return [opaque(item, item.get("type"), reading)]
    else:
        blocks = item_from_wire(item, reading, starts=starts)
    blocks[0].setdefault("provider_state", reading.state())  # its origin: if it has no id, none is made for it
    if may_differ(reading.must_compare):
        _keep_item(item, blocks, reading)
    return blocks


def _keep_item(item: Wire, blocks: list[Block], reading: Reading) -> None:
    """Keep how an item of a response differs from the item that would be written."""
    turn = {"role": "assistant", "content": blocks}
    endpoint = Endpoint(reading.endpoint.adapter, reading.endpoint.provider, None, reading.endpoint.dialect)
    loss = Loss()
    writing = Writing({"message": turn, "provider_state": reading.state()}, endpoint, loss)
    items, of = turn_to_wire(turn, ("message",), writing, {"messages": [turn]})
    Items(blocks, "message/content", writing).keep([item], [range(len(blocks))], items, of)


def takes_parts(item: Wire, blocks: list[Block]) -> bool:
    """Whether an item is a message that the parts of the next message item could be taken to continue."""
    return is_message(item) and blocks[0].get("value") is not item


def _read_beside(response: Response, body: Wire, _: Reading) -> None:
    content = response["message"]["content"]
    response["finish_reason"] = finish_from_wire(body, content)
    if isinstance(raw := answers.inner(body, "incomplete_details").get("reason") or body.get("status"), str):
        response["finish_reason_raw"] = raw
    if probabilities := _logprobs(content):
        response["logprobs"] = {"content": probabilities}


def _logprobs(content: list[Block]) -> list[Any]:
    found: list[Any] = []
    for block in content:
        if block["type"] == "text":
            given = block.get("provider_state", NOTHING).get("fields", NOTHING).get("logprobs")
            if isinstance(given, list):
                found += given
    return found


def finish_from_wire(body: dict[str, Any], content: list[Block]) -> str:
    """Return the finish reason: the wire has no single value for it. The content decides if there are calls to
    execute."""
    status = body.get("status")
    if status == "incomplete":
        return _ENDS.reasons.get(f"{status}.{answers.inner(body, 'incomplete_details').get('reason')}", "other")
    if status == "failed":
        return _ENDS.reasons.get(f"{status}.{answers.inner(body, 'error').get('code')}", "error")
    reason = _ENDS.reasons.get(status, "other") if isinstance(status, str) else "other"
    if reason != "stop":
        return reason
    done = ran([block["value"] for block in content if block["type"] == "opaque"])
    if any(_asks(block, done) for block in content):
        return "tool_calls"
    texts = [block for block in content if block["type"] == "text"]
    return "refusal" if texts and all(block.get("refusal") for block in texts) else "stop"


def _asks(block: Block, done: set[str]) -> bool:
    """Whether a block is a call that the caller has to execute."""
    if block["type"] != "opaque":
        return block["type"] == "tool_use"
    kind, value = block.get("kind"), block["value"]
    if kind == "tool_search_call":
        return value.get("execution") == "client"
    call_id = value.get("call_id")
    return kind in CALLS_FOR_THE_CALLER and not (isinstance(call_id, str) and call_id in done)


# ---------------------------------------------------------------------------------------------------- both directions


def _is_error(body: Wire) -> bool:
    return body.get("output") is None and bool(body.get("error"))


ANSWERS: Final = Single(_ROW, None, Writing, error, _is_error, read_beside=_read_beside, write_beside=_write_beside)


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response. Raises `InvalidAnswer` for an unreadable one, `ProviderError` for an error with status 200."""
    return ANSWERS.from_wire(body, Reading(endpoint, ids))


def to_wire_response(answer: types.Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """Return the body with which this provider would send a response; its own responses are restored.

    `created` is the time of responses that have none, in seconds since 1970.
    Losses are reported at their place in the response.
    """
    return ANSWERS.to_wire(answer, endpoint, created)
