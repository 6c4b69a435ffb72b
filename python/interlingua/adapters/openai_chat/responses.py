"""Responses: `to_wire_response` writes the body of this provider, `from_wire_response` reads one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.choices import Choices
from interlingua.adapters._answers.usage import ALWAYS, READ, TOTAL, Counts, Place
from interlingua.adapters._engine.items import Member, report_not_written
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._openai.errors import error, is_failure
from interlingua.adapters.openai_chat.tables import Writing
from interlingua.adapters.openai_chat.turns import answer_from_wire, answer_to_wire, keep_message
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Path

Response = dict[str, Any]

ENDS: Final = answers.Ends(
    {
        "stop": "stop eos eos_token end_turn",
        "stop_sequence": "stop_sequence",
        "length": "length model_length max_tokens max_output model_context_window_exceeded",
        "tool_calls": "tool_calls function_call tool_use",
        "content_filter": "content_filter safety sensitive",
        "error": "error insufficient_system_resource abort network_error",
    },
    {"stop_sequence": "stop", "refusal": "stop", "cancelled": "error"},
    by_text=True,
)
"""The finish reasons of the wire and its dialects. It has none for a pause; `error` is OpenRouter's."""
COUNTS: Final = Counts(
    Place("input_tokens", "prompt_tokens", written=ALWAYS),
    Place("output_tokens", "completion_tokens", written=ALWAYS),
    Place(TOTAL, "total_tokens", written=ALWAYS),
    Place("cached_input_tokens", "prompt_tokens_details", "cached_tokens", ALWAYS),
    Place("cached_input_tokens", "prompt_token_details", "cached_tokens", READ),
    Place("cached_input_tokens", "prompt_cache_hit_tokens", written=READ),
    Place("cached_input_tokens", "cached_tokens", written=READ),
    Place("cached_input_tokens", "cache_read_input_tokens", written=READ),
    Place("cache_creation_input_tokens", "prompt_tokens_details", "cache_write_tokens"),
    Place("cache_creation_input_tokens", "prompt_tokens_details", "cache_creation_tokens", READ),
    Place("cache_creation_input_tokens", "prompt_token_details", "cache_write_tokens", READ),
    Place("cache_creation_input_tokens", "cache_creation_input_tokens", written=READ),
    Place("cache_creation_1h_input_tokens", "cache_creation", "ephemeral_1h_input_tokens", READ),
    Place("reasoning_tokens", "completion_tokens_details", "reasoning_tokens", ALWAYS),
    Place("reasoning_tokens", "completion_token_details", "reasoning_tokens", READ),
    Place("reasoning_tokens", "reasoning_tokens", written=READ),
    with_cache=True,
    reasoning_outside="reasoning_tokens_outside",
    uncounted=("cache_creation_1h_input_tokens",),
)
"""Vendors have several names for tokens read from a cache and written to one. xAI counts reasoning outside the
completion."""

# ---------------------------------------------------------------------------------------------------- the rows


def _read_message(raw: Any, choice: Response, reading: Reading) -> None:
    if raw is None:
        return  # this is unusual
    if type(raw) is not dict:
        raise TypeError("message")
    choice["message"] = answer_from_wire(raw, reading)


def _write_message(choice: Response, writing: Writing, path: Path) -> Any:
    written = answer_to_wire(choice["message"], (*path, "message"), writing)
    return answers.message_as_it_came(choice, written, writing, path)


def _write_logprobs(choice: Response, writing: Writing, path: Path) -> Any:
    logprobs = choice.get("logprobs")
    if logprobs is None or writing.same_origin:
        return logprobs
    if not answers.has_tokens(logprobs):
        answers.report_logprobs(choice, writing.loss, path)
        return None
    wire = logprobs_to_wire(logprobs)
    if wire != logprobs:
        message = "on this wire every token has a list of alternatives, even if it is empty"
        writing.loss.replace((*path, "logprobs"), wire, "required_default", "representation", message)
    return wire


def _write_end(choice: Response, writing: Writing, path: Path) -> Any:
    content = choice["message"]["content"]
    if not writing.same_origin:
        content = fitted_refusals(content, writing.dialect)
    written = answers.written_end(choice, content, ENDS, same_origin=writing.same_origin)
    if "stop_told" in writing.dialect and stop_to_wire(choice, content, writing.dialect):
        return written
    answers.report_end(choice, answers.read_end(written, content, ENDS), writing.loss, path)
    if choice.get("stop_sequence") is not None:
        report_not_written({"stop_sequence": choice["stop_sequence"]}, _NONE, writing.loss, path)
    return written


_NONE: Final[frozenset[str]] = frozenset()
answer_id: Final = answers.derived_id("chatcmpl-")
_AROUND: Final = (
    answers.identity("id", answer_id),
    answers.model("model", ""),
    answers.usage("usage", COUNTS),
)
_CHOICE: Final = (
    Member("message", ("message",), _read_message, _write_message, null=True),
    answers.raw_member("logprobs", ("logprobs",), dict, _write_logprobs, always=True),
    answers.raw_member("finish_reason", ("finish_reason_raw", "stop_sequence"), str, _write_end, always=True),
)


def logprobs_to_wire(logprobs: Mapping[str, Any]) -> Wire:
    """Write log probabilities of another wire: here every token has a list of alternatives, which may be empty."""
    return {name: _with_others(tokens) if isinstance(tokens, list) else tokens for name, tokens in logprobs.items()}


def _with_others(tokens: list[Any]) -> list[Any]:
    return [{"top_logprobs": [], **token} if isinstance(token, dict) else token for token in tokens]


def fitted_refusals(content: list[dict[str, Any]], dialect: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of an answer of another provider that decide its finish reason: without refusals that have no
    text, and without any refusal where the wire does not mark refusals."""
    for block in content:
        if block.get("refusal"):
            marked = dialect.get("refusals") is not False
            return [block for block in content if not block.get("refusal") or (marked and block["text"])]
    return content


def stop_to_wire(
    choice: dict[str, Any], content: list[dict[str, Any]], dialect: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the member in which some providers report the stop sequence of an answer; nothing where there is none to
    report."""
    member, text = dialect.get("stop_told"), choice.get("stop_sequence")
    if not member or not text or choice["finish_reason"] != "stop_sequence":
        return NOTHING
    return {member: text} if answers.read_end("stop", content, ENDS) == "stop" else NOTHING


# ---------------------------------------------------------------------------------------------------- both directions


def choices_of(response: Response) -> list[Response]:
    """Return the choices of a response; the response itself is the first of them."""
    return [response, *response.get("alternatives", ())]


def message_path(position: int) -> Path:
    """Return the path of the message of a choice in the response."""
    return ("message",) if position == 0 else ("alternatives", position - 1, "message")


def _is_error(body: Wire) -> bool:
    return not body.get("choices") and bool(body.get("error") or is_failure(body))


def _read_beside(found: list[Response], _: Wire, readings: Sequence[Reading]) -> None:
    if member := readings[0].endpoint.dialect.get("stop_told"):
        for choice in found:
            if choice.get("finish_reason_raw") == "stop" == choice["finish_reason"]:
                _read_stop(choice, member)


def _read_stop(choice: Response, member: str) -> None:
    """Read the text that ended an answer, where the provider reports it. A number is a token, and stays a field."""
    state: dict[str, Any] = choice["provider_state"]
    fields: dict[str, Any] = state.get("fields") or {}
    of_choice: dict[str, Any] = fields.get(Choices.FIRST) or fields
    text = of_choice.get(member)
    if isinstance(text, str) and text:
        del of_choice[member]
        if Choices.FIRST in fields and not of_choice:
            del fields[Choices.FIRST]
        if not fields:
            state.pop("fields", None)
        choice["finish_reason"] = "stop_sequence"
        choice["stop_sequence"] = text


def _write_beside(response: Response, body: Wire, others: list[Wire], writing: Writing, created: int) -> None:
    if not writing.same_origin:  # clients require these
        body["object"], body["created"] = "chat.completion", created
    if "stop_told" in writing.dialect:
        for choice, wire in zip(choices_of(response), (body[Choices.FIRST], *others), strict=True):
            content = choice["message"]["content"]
            fitted = content if writing.same_origin else fitted_refusals(content, writing.dialect)
            wire.update(stop_to_wire(choice, fitted, writing.dialect))


def _keep_message(message: Response, choice: Wire, reading: Reading) -> None:
    if isinstance(came := choice.get("message"), dict):
        keep_message(message, came, reading.endpoint)


CHOICES: Final = Choices(
    "choices",
    ENDS,
    _AROUND,
    _CHOICE,
    Writing,
    error,
    _is_error,
    read_beside=_read_beside,
    write_beside=_write_beside,
    keep_message=_keep_message,
)


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response. Raises `InvalidAnswer` for an unreadable one, `ProviderError` for an error with status 200."""
    return CHOICES.from_wire(body, endpoint, lambda _, __: Reading(endpoint, ids))


def to_wire_response(answer: types.Response, endpoint: Endpoint, *, created: int = 0) -> tuple[Wire, list[Entry]]:
    """Return the body with which this provider would send a response; its own responses are restored.

    `created` is the time of responses that have none, in seconds since 1970.
    Losses are reported at their place in the response.
    """
    return CHOICES.to_wire(answer, endpoint, created)
