"""
What every writer of answers accounts for beside the content: why the answer ended, what it took, and what stands
around it. One loss has one code and one severity on every wire (spec/3-responses.md#answer-loss).
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import MESSAGE_MEMBERS, report_lost_state, report_unknown, within
from interlingua.canonical.loss import Entry, Loss, Path

RESPONSE_MEMBERS: Final = frozenset(
    (
        "id",
        "model",
        "requested_model",
        "message",
        "finish_reason",
        "finish_reason_raw",
        "stop_sequence",
        "usage",
        "alternatives",
        "logprobs",
        "loss",
        "skipped",
        "attempts",
        "provider_state",
        "raw",
    )
)
USAGE_MEMBERS: Final = frozenset(
    (
        "input_tokens",
        "output_tokens",
        "cached_input_tokens",
        "cache_creation_input_tokens",
        "cache_creation_1h_input_tokens",
        "reasoning_tokens",
        "cost_usd",
        "pricing_version",
        "latency_ms",
        "estimated",
        "raw",
    )
)
"""What this version knows of an answer and of its usage."""

COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "reasoning_tokens",
)
_OF_THE_PROMPT: Final = ("cached_input_tokens", "cache_creation_input_tokens")
_ALIKE: Final = (("stop_sequence", "stop"), ("refusal", "content_filter"), ("content_filter", "refusal"))
"""Ends that mean nearly the same to whoever gets the answer."""


def report_end(choice: dict[str, Any], read: str, loss: Loss, path: Path) -> None:
    """Reports an end that reads otherwise than it was. An answer that is told as one that asks for its calls holds some."""
    reason: str = choice["finish_reason"]
    if read != reason:
        alike = (reason, read) in _ALIKE or (reason == "stop" and read == "tool_calls")
        severity = "representation" if alike else "weakened"
        message = "the wire has no such word for the end of an answer"
        loss.replace((*path, "finish_reason"), read, "unsupported_value", severity, message)


def report_stop_sequence(choice: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports the text that ended an answer, on wires that do not tell it."""
    if choice.get("stop_sequence") is not None:
        message = "the wire does not tell which text ended an answer"
        loss.drop((*path, "stop_sequence"), "unsupported_field", "weakened", message)


def report_logprobs(choice: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports log probabilities, on wires that have no place for those of another one."""
    if choice.get("logprobs") is not None:
        message = "the wire has no place for log probabilities of this shape"
        loss.drop((*path, "logprobs"), "unsupported_field", "lost", message)


def has_tokens(logprobs: Mapping[str, Any]) -> bool:
    """Whether log probabilities tell one token after another, as the wires of OpenAI and Ollama do: each with its text."""
    told = False
    for name in ("content", "refusal"):
        tokens = logprobs.get(name)
        if type(tokens) is not list:
            continue
        for token in tokens:
            if type(token) is not dict or type(token.get("token")) is not str or token.get("logprob") is None:
                return False
        told = True
    return told


def report_alternatives(response: dict[str, Any], loss: Loss) -> None:
    """Reports further answers, on wires that give one."""
    if response.get("alternatives"):
        loss.drop(("alternatives",), "unsupported_field", "lost", "the wire gives one answer")


def report_usage(response: dict[str, Any], uncounted: tuple[str, ...], loss: Loss) -> None:
    """Reports the counts that a wire does not tell by themselves, and what it tells instead."""
    usage: dict[str, Any] | None = response.get("usage")
    if usage is None:
        return
    prompt = 0
    for name in uncounted:
        if usage.get(name):
            loss.drop(("usage", name), "unsupported_field", "weakened", "the wire does not count these tokens apart")
            if name in _OF_THE_PROMPT:
                prompt += usage[name]
    if prompt:
        message = "the wire counts cached tokens among those of the prompt"
        loss.replace(
            ("usage", "input_tokens"), usage["input_tokens"] + prompt, "unsupported_field", "weakened", message
        )


def report_message(message: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports what a message of an answer has around its content without a place on a wire."""
    if len(message) == 2:
        return  # a role and content
    if message.get("name") is not None:
        loss.drop((*path, "name"), "unsupported_field", "weakened", "the wire has no names of participants")
    if message.get("cache") is not None:
        loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks in answers")
    report_unknown(message, MESSAGE_MEMBERS, loss, path)


def report_stateless(item: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports provider state that has no place in an answer, whoever left it."""
    state: dict[str, Any] | None = item.get("provider_state")
    if state is not None:
        report_lost_state(state, loss, path)


def report_rest(response: dict[str, Any], loss: Loss, path: Path = ()) -> None:
    """Reports the members of an answer, or of one of its choices, and of its usage, that no wire tells."""
    if not within(response, RESPONSE_MEMBERS):
        report_unknown(response, RESPONSE_MEMBERS, loss, path)
    usage: dict[str, Any] | None = response.get("usage")
    if usage is None:
        return
    if usage.get("estimated"):
        message = "the wire does not tell estimates from counts"
        loss.drop((*path, "usage", "estimated"), "unsupported_field", "weakened", message)
    if not within(usage, USAGE_MEMBERS):
        report_unknown(usage, USAGE_MEMBERS, loss, (*path, "usage"))


def same_counts(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether two usages count the same: a provider's own object stands for counts that nobody changed."""
    for name in COUNTS:  # noqa: SIM110 compiled, the loop is faster
        if (left.get(name) or 0) != (right.get(name) or 0):
            return False
    return True


# ---------------------------------------------------------------------------------------------- streams

SAID_IN_PIECES: Final = frozenset(("arguments_invalid", "name_rewritten"))
"""What a whole answer changes and a stream does not: arguments and names of calls go as they come."""


def not_in_pieces(told: list[Entry], answer: dict[str, Any]) -> list[Entry]:
    """Of what was `told` of a whole answer, what holds for its stream too: all but what pieces say as it came."""
    return [entry for entry in told if entry["code"] not in SAID_IN_PIECES or _says_nothing(entry, answer)]


def _says_nothing(entry: Entry, answer: dict[str, Any]) -> bool:
    """Whether the arguments that an entry is about are an empty text, of which there is no piece."""
    match entry["path"].split("/"):
        case ["", "message", "content", position, "input_raw"]:
            block: dict[str, Any] = answer["message"]["content"][int(position)]
            return block["input_raw"] == ""
        case _:
            return False


PROBE: Final = "…"
"""Stands for a text that is blank, where a stream says it and a whole answer does not."""


def ending(choice: dict[str, Any]) -> dict[str, Any]:
    """An answer as the end of its stream tells it: without its content, but for a call, as calls decide how it ended."""
    content = choice["message"]["content"]
    calls = next(([block] for block in content if block["type"] == "tool_use"), [])
    return {**choice, "message": {**choice["message"], "content": calls}}
