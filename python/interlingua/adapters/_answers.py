"""
Answers of all wires, both ways: why they ended, what stands around the content, and what is lost of it.

A wire has a table of the members around the content (`Names`), one of its words for ends (`Ends`), and one of its counts
(`_usage`). One loss has one code and one severity on every wire (spec/3-responses.md#answer-loss).
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from interlingua.adapters._items import report_not_written
from interlingua.adapters._kit import MESSAGE_MEMBERS, NOTHING, THINKING_MEMBERS, Wire, report_lost_state
from interlingua.adapters._spelling import ABSENT, Spellings
from interlingua.adapters._usage import COUNTED, Usage, report_usage
from interlingua.adapters._verbatim import keep_item, keep_spellings, put_back_item
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Response = dict[str, Any]
Choice = dict[str, Any]
Block = dict[str, Any]

UNREADABLE: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What it raises to read or write an item that lacks a member or has one of a wrong type."""


def as_object(body: Any, endpoint: Endpoint) -> Wire:
    """The body of an answer. Raises `InvalidAnswer` for one that is no object."""
    if type(body) is not dict:
        raise InvalidAnswer("an answer must be an object", path="", adapter=endpoint.adapter)
    return body


def unreadable(path: str, endpoint: Endpoint) -> InvalidAnswer:
    """The error for an answer of which a part cannot be read."""
    why = "the answer cannot be read: a member is missing or has the wrong type"
    return InvalidAnswer(why, path=path, adapter=endpoint.adapter)


def write_answer(endpoint: Endpoint, write: Callable[[Loss], Wire]) -> tuple[Wire, list[Entry]]:
    """The body that is written, and what is lost on the way. Raises `InvalidRequest` for an answer that cannot be written."""
    loss = Loss()
    try:
        return write(loss), loss.entries
    except UNREADABLE as problem:
        # the schema has checked all but what providers left in `encoding` and `fields`
        why = "a provider state of the response has an unexpected shape"
        raise InvalidRequest(why, adapter=endpoint.adapter) from problem


# ---------------------------------------------------------------------------------------------- why it ended


class Ends:
    """Why answers end, in the words of a wire.

    `words` are by reason, with spaces between them; all are read, the first is written. `written` has those that are written and
    read as another reason, if at all; the word for any other reason is `other`, which is never one of a clean end.
    Reasons that are `final` hold though the answer holds calls, which may be cut off. `by_text`: a refusal is told by its text.
    """

    __slots__ = ("by_text", "final", "other", "reasons", "words")

    def __init__(
        self,
        words: Mapping[str, str],
        written: Mapping[str, str],
        final: tuple[str, ...],
        *,
        other: str = "other",
        by_text: bool = False,
    ) -> None:
        self.reasons = {word: reason for reason, all_words in words.items() for word in all_words.split()}
        self.words = {reason: all_words.split()[0] for reason, all_words in words.items()} | dict(written)
        self.final = final
        self.other = other
        self.by_text = by_text


def read_end(word: Any, content: list[Block], ends: Ends) -> str:
    """Why an answer ended. Content decides: an answer that holds calls to run waits for their results."""
    reason = ends.reasons.get(word, "other") if type(word) is str else "other"
    if reason in ends.final:
        return reason
    refused = False
    for block in content:
        if block["type"] == "tool_use":
            return "tool_calls"
        refused = refused or block.get("refusal") is True
    return "refusal" if refused and ends.by_text and reason == "stop" else reason


def written_end(choice: Choice, content: list[Block], ends: Ends, *, same_origin: bool) -> str | None:
    """The word for why an answer with this content ended: its own, if it came from this wire and no edit made it another end.

    A refusal that is to be told by its text, and has none, is told by the filter's word.
    """
    reason: str = choice["finish_reason"]
    if same_origin:
        raw: str | None = choice.get("finish_reason_raw")
        if read_end(raw, content, ends) == reason:
            return raw
    if ends.by_text and reason == "refusal" and not any(block.get("refusal") for block in content):
        reason = "content_filter"
    return ends.words.get(reason, ends.other)


# ---------------------------------------------------------------------------------------------- members


APART: Final = ""
"""Of a member that is read by itself."""
LISTED: Final = "content"
"""Of a list of log probabilities; it is this member of canonical ones."""


class Names(NamedTuple):
    """The members of a wire's answer around its content: for each the canonical one, `APART` or `LISTED`.

    Those `always` there are null where they say nothing. `strict`: none of them is ever of another type.
    """

    members: Mapping[str, str]
    always: tuple[str, ...] = ()
    strict: bool = False


UsageReader = Callable[[Wire], Usage | None]


def no_usage(wire: Wire) -> Usage | None:
    """Of objects in which no usage stands."""
    return None


def read_members(
    body: Wire, names: Names, response: Response, endpoint: Endpoint, usage: UsageReader, fields: Wire | None = None
) -> None:
    """Reads the members around the content of an answer into it, and gives it a provider state. `fields` are kept already.

    Raises `InvalidAnswer` for a value of another type than its member has, on wires that are strict.
    """
    fields = {} if fields is None else fields
    spellings: Spellings = {}
    take_members(body, names, response, endpoint, fields, spellings, "", usage)
    if not fields:
        response["provider_state"] = endpoint.state()
    else:
        for name, value in fields.items() if names.strict else ():
            if names.members.get(name) and value != "":
                raise InvalidAnswer(f"{name} has the wrong type", path=pointer((name,)), adapter=endpoint.adapter)
        response["provider_state"] = endpoint.state(fields=fields)
    if spellings:
        keep_spellings(response, spellings, endpoint)


def take_members(
    body: Wire,
    names: Names,
    response: Response,
    endpoint: Endpoint,
    fields: Wire,
    spellings: Spellings | None,
    place: str,
    usage: UsageReader,
) -> None:
    """Takes the members of an answer, or of a choice. What has no canonical meaning is kept for this wire alone (`fields`), and
    so is a value of another type than its member has; null is kept where it stood (`spelt`), if that is told apart. `place` is
    where the object stands there.
    """
    members, always = names.members, names.always
    value: Any
    for name, value in body.items():
        member = members.get(name)
        if value is None:
            if spellings is None and member != APART:
                fields[name] = value
            elif spellings is not None and member != APART and name not in always:
                step = f"/{name}" if name.isidentifier() else pointer((name,))
                spellings[place + step] = {"raw": None}
        elif member is None:
            fields[name] = value
        elif type(value) is str and member in _TEXTS and (value or member != "id"):
            response[member] = value
        elif member == "model" and type(value) is str and value:
            response["model"] = endpoint.model_id(value)
        elif member == "usage" and type(value) is dict and (counts := usage(value)) is not None:
            response["usage"] = counts
        elif member == "logprobs" and type(value) is dict:
            response["logprobs"] = value
        elif member == LISTED and type(value) is list:
            response["logprobs"] = {LISTED: value}
        elif member != APART:
            fields[name] = value
    if spellings is not None:
        for name in always:
            if name not in body:
                spellings[f"{place}/{name}"] = {"word": ABSENT}


_TEXTS: Final = frozenset(("id", "finish_reason_raw", "stop_sequence"))


def inner(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that is an object; nothing where there is none."""
    value = item.get(name)
    return value if type(value) is dict else NOTHING


def served_model(response: Response) -> str | None:
    """The wire's name of the model that served an answer: what stands after the first colon."""
    model: str | None = response.get("model")
    return model if model is None else model.partition(":")[2] or model


def derived_id(prefix: str, content: bytes, length: int = 24) -> str:
    """An id for an answer that has none: the same answer gets the same id."""
    return prefix + hashlib.sha256(content).hexdigest()[:length]


def keep(response: Response, came: Wire, written: Wire, endpoint: Endpoint, loss: Loss) -> None:
    """Keeps of an answer that was just read what is written otherwise than it came. What is kept of its message, which becomes
    one of a conversation, is kept already."""
    written["message"] = put_back_item(response["message"], written["message"], endpoint, [], loss)
    keep_item(response, came, written, endpoint, loss.entries)


def put_back(response: Response, written: Wire, endpoint: Endpoint, loss: Loss) -> Any:
    """An answer and its message as they came, as far as they are written as they were then."""
    written["message"] = put_back_item(response["message"], written["message"], endpoint, loss.entries, loss)
    return put_back_item(response, written, endpoint, loss.entries, loss)


# ---------------------------------------------------------------------------------------------- what is lost

AROUND: Final = frozenset(
    "id model requested_model message finish_reason finish_reason_raw usage loss skipped attempts provider_state raw".split()
)
"""The members of an answer that every wire says, or that are none of the provider's."""
SHOWN: Final = THINKING_MEMBERS - {"cache"}
"""Of reasoning that is shown without its signature, which is reported by itself."""
_MESSAGE: Final = MESSAGE_MEMBERS - {"name", "cache"}
_ALIKE: Final = (("stop_sequence", "stop"), ("refusal", "content_filter"), ("content_filter", "refusal"))
"""Ends that mean nearly the same to whoever gets the answer."""


def report_around(
    response: Response,
    end: str,
    covered: frozenset[str],
    loss: Loss,
    *,
    usage: Any = None,
    uncounted: tuple[str, ...] = (),
) -> None:
    """Reports what is lost around the content of an answer: `end` and `said` are those of `report_choice`, `usage` is what was
    written of it, `uncounted` that of `report_usage`."""
    report_usage(response.get("usage"), usage, uncounted, loss)
    report_choice(response, end, covered, loss, ())


def report_choice(choice: Choice, end: str, covered: frozenset[str], loss: Loss, path: Path) -> None:
    """Reports an end that reads otherwise than it was, and the members of a choice and of its usage that are not `said`. `end` is
    the reason that is read back. An answer that reads as one that asks for its calls holds some."""
    reason: str = choice["finish_reason"]
    if end != reason:
        alike = (reason, end) in _ALIKE or (reason == "stop" and end == "tool_calls")
        severity = "representation" if alike else "weakened"
        message = "the wire has no such word for the end of an answer"
        loss.replace((*path, "finish_reason"), end, "unsupported_value", severity, message)
    if not covered.issuperset(choice):
        report_not_written(choice, covered, loss, path)
    usage: Usage | None = choice.get("usage")
    if usage is not None and not COUNTED.issuperset(usage):
        report_not_written(usage, COUNTED, loss, (*path, "usage"))


def report_logprobs(choice: Choice, loss: Loss, path: Path) -> None:
    """Reports log probabilities that a wire has no place for, though it has one for others."""
    report_not_written({"logprobs": choice.get("logprobs")}, AROUND, loss, path)


def report_message(message: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports what a message of an answer has around its content without a place on a wire."""
    if len(message) > 2:  # a role and content
        report_not_written(message, _MESSAGE, loss, path)


def has_tokens(logprobs: Mapping[str, Any]) -> bool:
    """Whether log probabilities tell one token after another, as the wires of OpenAI and Ollama do: each with its text."""
    found = False
    for name in ("content", "refusal"):
        tokens = logprobs.get(name)
        if type(tokens) is not list:
            continue
        for token in tokens:
            if type(token) is not dict or type(token.get("token")) is not str or token.get("logprob") is None:
                return False
        found = True
    return found


def report_stateless(item: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports provider state that has no place in an answer, whoever left it."""
    state: dict[str, Any] | None = item.get("provider_state")
    if state is not None:
        report_lost_state(state, loss, path)


# ---------------------------------------------------------------------------------------------- streams

STREAMED_CODES: Final = frozenset(("arguments_invalid", "name_rewritten"))
"""What a whole answer changes and a stream does not: arguments and names of calls go as they come."""


def not_in_pieces(reported: list[Entry], answer: dict[str, Any]) -> list[Entry]:
    """Of what was `told` of a whole answer, what holds for its stream too: all but what pieces say as it came."""
    return [entry for entry in reported if entry["code"] not in STREAMED_CODES or _has_no_effect(entry, answer)]


def _has_no_effect(entry: Entry, answer: dict[str, Any]) -> bool:
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
