"""Responses: `to_wire_response` writes them as the provider does, `from_wire_response` reads them."""

from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.single import Single
from interlingua.adapters._answers.usage import ALWAYS, Counts, Place, count
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.ollama_chat.errors import error
from interlingua.adapters.ollama_chat.messages import answer_from_wire, keep_message, message_to_wire
from interlingua.adapters.ollama_chat.tables import Writing, moment
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Path

Response = dict[str, Any]

ENDS: Final = answers.Ends({"stop": "stop", "length": "length"}, {"stop_sequence": "stop", "tool_calls": "stop"})
"""The server has two finish reasons, and none for calls."""
_COUNTS: Final = Counts(
    Place("input_tokens", "prompt_eval_count", written=ALWAYS),
    Place("output_tokens", "eval_count", written=ALWAYS),
    with_cache=True,
    uncounted=(
        "cached_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation_1h_input_tokens",
        "reasoning_tokens",
    ),
)
"""The server may count a cached prompt in part or not at all."""

# ---------------------------------------------------------------------------------------------------- the row


def _read_message(raw: Any, response: Response, reading: Reading) -> None:
    response["message"] = answer_from_wire(raw, reading)


def _write_message(response: Response, writing: Writing, path: Path) -> Wire:
    written = message_to_wire(response["message"], (*path, "message"), writing)
    return answers.message_as_it_came(response, written, writing, path)


def _counted(name: str, bucket: str) -> Member:
    """A count that is a member of the response itself; both counts form one usage."""

    def read(raw: Any, response: Response, _: Reading) -> None:
        if (known := count(raw)) is None:
            raise TypeError(name)
        usage = response.setdefault("usage", {"input_tokens": 0, "output_tokens": 0, "raw": {}})
        usage[bucket] = known
        usage["raw"][name] = raw

    def write(response: Response, writing: Writing, _: Path) -> Any:
        if (usage := response.get("usage")) is None:
            return ABSENT
        wire = _COUNTS.write(usage, writing.endpoint, same_origin=writing.same_origin)
        if bucket == "input_tokens":
            _COUNTS.report(usage, wire, writing.loss)
        return wire.get(name, ABSENT)

    return Member(name, ("usage",), read, write, soft=True)


def _read_done(raw: Any, _: Response, reading: Reading) -> None:
    reading.must_compare = reading.must_compare or raw is not True


_ROW: Final = ItemRow(
    {},
    answers.model("model"),
    answers.message("message", _write_message, _read_message),
    _counted("prompt_eval_count", "input_tokens"),
    _counted("eval_count", "output_tokens"),
    answers.listed_logprobs("logprobs", answers.has_tokens),
    Member("done", ("message",), _read_done, lambda response, writing, path: True, always=True),
    answers.end("done_reason", ENDS),
    elsewhere=answers.AROUND,
)

# ---------------------------------------------------------------------------------------------------- both directions


def _is_error(body: Wire) -> bool:
    return "message" not in body and bool(body.get("error"))


def _write_beside(_: Response, body: Wire, writing: Writing, created: int) -> None:
    if not writing.same_origin:  # clients require it
        body["created_at"] = moment(created)


ANSWERS: Final = Single(_ROW, ENDS, Writing, error, _is_error, write_beside=_write_beside, keep_message=keep_message)


def to_wire_response(answer: types.Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """Write a response as the body that this provider would send; a response that was read from this wire is restored.

    `created` is the time, in seconds since 1970, for a response that has none. Losses are reported at their
    place in the response.
    """
    return ANSWERS.to_wire(answer, endpoint, created)


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response. Raises `InvalidAnswer` for a body that is none, `ProviderError` for an error with status 200."""
    return ANSWERS.from_wire(body, Reading(endpoint, ids, call_prefix(body)))


def call_prefix(body: Any) -> str:
    """Return the prefix that distinguishes the calls without ids of this response from those of other responses."""
    created = body.get("created_at") if isinstance(body, dict) else None
    return f"{created if isinstance(created, str) else ''}/"
