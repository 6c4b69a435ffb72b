"""
Answers of all wires, both ways: why they ended, what stands around the content, and what is lost of it.

An answer is an item of the wire like others, and a wire says it as a row of members (`_engine.items.Row`); those that most wires have are
made here. A wire has one table of its words for ends (`Ends`), and one of its counts (`_usage.Counts`). One loss has one code and
one severity on every wire (spec/3-responses.md#answer-loss).
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._answers.usage import Counts
from interlingua.adapters._content.calls import report_text
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, read_item, report_not_written
from interlingua.adapters._engine.kit import NOTHING, THINKING_MEMBERS, UNREADABLE, Wire, data_of
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings
from interlingua.adapters._engine.verbatim import came_of, keep_item, keep_spellings, may_differ, put_back_item
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._history.messages import report_state
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Response = dict[str, Any]
Choice = dict[str, Any]
Block = dict[str, Any]


def as_object(body: Any, endpoint: Endpoint) -> Wire:
    """The body of an answer. Raises `InvalidAnswer` for one that is no object."""
    if type(body) is not dict:
        raise InvalidAnswer("an answer must be an object", path="", adapter=endpoint.adapter)
    return body


def unreadable(path: Path, endpoint: Endpoint) -> InvalidAnswer:
    """The error for an answer of which a part cannot be read."""
    why = "the answer cannot be read: a member is missing or has the wrong type"
    return InvalidAnswer(why, path=pointer(path), adapter=endpoint.adapter)


def to_wire_response(
    answer: types.Response, endpoint: Endpoint, write: Callable[[Response, Endpoint, Loss], Wire]
) -> tuple[Wire, list[Entry]]:
    """The body of one answer, which `write` writes by the rules of the wire, as it came as far as it is written as it was then, and
    what is lost on the way. Raises `InvalidRequest` for an answer that cannot be written."""
    response = data_of(answer)
    return write_answer(endpoint, lambda loss: put_back(response, write(response, endpoint, loss), endpoint, loss))


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
        kind: str = block["type"]
        if kind == "tool_use":
            return "tool_calls"
        if "refusal" in block and block["refusal"] is True:
            refused = True
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

AROUND: Final = tuple("id model requested_model message finish_reason usage loss skipped attempts raw".split())
"""The members of an answer that every wire says, or that are none of the provider's: `beside` those of a row."""


def by_rule(
    name: str,
    covers: tuple[str, ...],
    kind: type,
    write: Callable[[Choice, Any, Path], Any],
    *,
    always: bool = False,
    filled: bool = False,
) -> Member:
    """A member that is read as it is, if it is of its type (and `filled`), and written by a rule. One that stands there `always` is
    null where it says nothing."""

    def read(raw: Any, _: Choice, __: Any) -> None:
        if raw is not None:
            raise TypeError(name)

    member = Member(name, covers, read, write, soft=True, always=always, null=always)
    member.plain, member.empty = kind, not filled
    return member


def identity(name: str, derive: Callable[[Response], str] | None = None) -> Member:
    """The id of an answer. One that has none, and is not of this wire, gets one that is derived of it, where clients need one."""

    def write(response: Response, writing: Writing, _: Path) -> Any:
        given = response.get("id")
        if given:
            return given
        return ABSENT if writing.same_origin or derive is None else derive(response)

    return by_rule(name, ("id",), str, write, filled=True)


def model(name: str, unknown: str | None = None) -> Member:
    """The model that served an answer. Where nobody says which one, it is the one that was asked for, else `unknown`, where
    clients need one."""

    def read(raw: Any, response: Response, reading: Reading) -> None:
        if type(raw) is not str or not raw:
            raise TypeError(name)
        response["model"] = reading.endpoint.model_id(raw)

    def write(response: Response, writing: Writing, _: Path) -> Any:
        served = served_model(response)
        if served is not None:
            return served
        return ABSENT if writing.same_origin or unknown is None else writing.endpoint.model or unknown

    return Member(name, ("model",), read, write, soft=True)


def usage(name: str, counts: Counts, *, demanded: bool = False) -> Member:
    """What an answer took. `demanded`: clients need it, though it be nothing."""

    def read(raw: Any, response: Response, reading: Reading) -> None:
        if type(raw) is not dict:
            raise TypeError(name)
        response["usage"] = counts.read(raw, reading.endpoint)

    def write(response: Response, writing: Writing, _: Path) -> Any:
        given = response.get("usage")
        if given is None and (writing.same_origin or not demanded):
            return ABSENT
        wire = counts.write(given or {}, writing.endpoint, same_origin=writing.same_origin)
        if given is not None:
            counts.report(given, wire, writing.loss)
        return wire

    return Member(name, ("usage",), read, write, soft=True)


def end(name: str, ends: Ends, *, always: bool = False) -> Member:
    """Why an answer ended, in the wire's word."""

    def write(choice: Choice, writing: Writing, path: Path) -> Any:
        content = choice["message"]["content"]
        word = written_end(choice, content, ends, same_origin=writing.same_origin)
        report_end(choice, read_end(word, content, ends), writing.loss, path)
        return word if word is not None or always else ABSENT

    return by_rule(name, ("finish_reason_raw",), str, write, always=always)


def stop_text(name: str, *, always: bool = False) -> Member:
    """The text that ended an answer."""

    def write(response: Response, _: Writing, __: Path) -> Any:
        given = response.get("stop_sequence")
        return given if given is not None or always else ABSENT

    return by_rule(name, ("stop_sequence",), str, write, always=always)


def message(
    name: str, write: Callable[[Response, Any, Path], Any], read: Callable[[Any, Response, Any], None] | None = None
) -> Member:
    """The message of an answer, or its content. Without `read` it is read by itself, before the members around it."""
    if read is None:
        return Member(name, ("message",), read_by_itself, write)
    reader = read

    def read_message(raw: Any, response: Response, reading: Reading) -> None:
        try:
            reader(raw, response, reading)
        except UNREADABLE as problem:
            raise unreadable((name,), reading.endpoint) from problem

    return Member(name, ("message",), read_message, write, needed=True)


def read_by_itself(raw: Any, response: Response, reading: Reading) -> None:
    """What is read before the members around it, or goes without saying."""


def listed_logprobs(name: str, takes: Callable[[Mapping[str, Any]], bool]) -> Member:
    """Log probabilities of the tokens of the text, as a list; those of another provider where the wire `takes` them."""

    def read(raw: Any, response: Response, _: Any) -> None:
        if type(raw) is not list:
            raise TypeError(name)
        response["logprobs"] = {"content": raw}

    def write(response: Response, writing: Writing, path: Path) -> Any:
        given = response.get("logprobs") or NOTHING
        listed = given.get("content")
        if type(listed) is not list or not (writing.same_origin or takes(given)):
            report_logprobs(response, writing.loss, path)
            return ABSENT
        for other in sorted(given.keys() - {"content"}):
            why = "the wire lists only the tokens of the text"
            writing.loss.drop((*path, "logprobs", other), "unsupported_field", "lost", why)
        return listed

    return Member(name, ("logprobs",), read, write, soft=True)


def read_answer(
    row: ItemRow,
    ends: Ends | None,
    body: Wire,
    response: Response,
    reading: Reading,
    path: Path = (),
    spellings: Spellings | None = None,
) -> Response:
    """Reads an answer, or one of several, by its row, gives it a provider state, and tells why it ended, where the wire has `ends`.
    What has no canonical meaning is kept for this wire alone, and so is a value of another type than its member has; `spellings`
    are kept with it.

    Raises `InvalidAnswer` for what is none, at the member that says so, else at the `path`.
    """
    spellings = {} if spellings is None else spellings
    response["provider_state"] = reading.endpoint.state()
    try:
        read_item(row, body, response, reading, spellings)
    except UNREADABLE as problem:
        name = problem.args[0] if problem.args else None
        raise unreadable((name,) if name in row.wire else path, reading.endpoint) from problem
    if spellings:
        keep_spellings(response, spellings, reading.endpoint)
    message: Choice = response.get("message") or {"role": "assistant", "content": []}
    if "message" not in response:
        response["message"] = message
        reading.must_compare = True
    if ends is not None:
        response["finish_reason"] = read_end(response.get("finish_reason_raw"), message["content"], ends)
    return response


def inner(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A member that is an object; nothing where there is none."""
    value = item.get(name)
    return value if type(value) is dict else NOTHING


def served_model(response: Response) -> str | None:
    """The wire's name of the model that served an answer: what stands after the first colon."""
    served: str | None = response.get("model")
    return served if served is None else served.partition(":")[2] or served


def derived_id(prefix: str, content: bytes, length: int = 24) -> str:
    """An id for an answer that has none: the same answer gets the same id."""
    return prefix + hashlib.sha256(content).hexdigest()[:length]


# ---------------------------------------------------------------------------------------------- as it came


def keep_unusual(
    response: Response,
    came: Wire,
    write: Callable[[Response, Endpoint, Loss], Wire],
    reading: Reading,
    keep_message: Callable[[Any, Wire, Endpoint], None] | None = None,
) -> None:
    """Keeps of an answer that was just read what is written otherwise than it came, where anything may be. `keep_message` keeps
    of its message, which becomes one of a conversation, what a request says otherwise: that is done first, and not kept again.
    """
    if not may_differ(reading.must_compare):
        return
    if keep_message is not None:
        keep_message(response["message"], came["message"], reading.endpoint)
    loss = Loss()
    written = write(response, reading.endpoint, loss)
    keep_item(response, came, written, reading.endpoint, loss.entries, content_of(response))


def message_as_it_came(choice: Choice, written: Wire, writing: Writing, path: Path) -> Any:
    """The message of an answer as it came, as far as it is written as it was then; `path` is that of the choice."""
    if "provider_state" not in choice["message"]:
        return written
    loss, here = writing.loss, pointer((*path, "message")) + "/"
    reported = [entry for entry in loss.entries if f"{entry['path']}/".startswith(here)]
    return put_back_item(choice["message"], written, writing.endpoint, reported, loss)


def put_back(response: Response, written: Wire, endpoint: Endpoint, loss: Loss) -> Any:
    """An answer as it came, as far as it is written as it was then."""
    if came_of(response, endpoint) is None:
        return written
    return put_back_item(response, written, endpoint, loss.entries, loss, content_of(response))


def content_of(response: Response) -> Response:
    """What reports of an answer are about; what stands around it changes on its way."""
    return {"content": response["message"]["content"]}


# ---------------------------------------------------------------------------------------------- what is lost

_SHOWN: Final = THINKING_MEMBERS - {"cache"}
"""The members of reasoning that is shown, or that are reported by themselves."""
_ALIKE: Final = (("stop_sequence", "stop"), ("refusal", "content_filter"), ("content_filter", "refusal"))
"""Ends that mean nearly the same to whoever gets the answer."""


def report_end(choice: Choice, read: str, loss: Loss, path: Path) -> None:
    """Reports an end that is `read` back otherwise than it was. An answer that reads as one that asks for its calls holds some."""
    reason: str = choice["finish_reason"]
    if read != reason:
        alike = (reason, read) in _ALIKE or (reason == "stop" and read == "tool_calls")
        severity = "representation" if alike else "weakened"
        why = "the wire has no value for this finish reason"
        loss.replace((*path, "finish_reason"), read, "unsupported_value", severity, why)


def report_shown(block: Block, writing: Writing, path: Path, *, proof: bool = True) -> None:
    """Reports what goes of reasoning of another provider that an answer shows: a signature here proves nothing, unless that is
    reported already (not `proof`)."""
    if proof and (given := block.get("signature")) is not None:
        why = "reasoning of another provider is shown without a signature"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost" if given else "representation", why)
    report_state(block, writing, path)
    report_not_written(block, _SHOWN, writing.loss, path)


def report_logprobs(choice: Choice, loss: Loss, path: Path) -> None:
    """Reports log probabilities that a wire has no place for, though it has one for others."""
    report_not_written({"logprobs": choice.get("logprobs")}, frozenset(AROUND), loss, path)


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


# ---------------------------------------------------------------------------------------------- streams

_NOT_STREAMED: Final = frozenset(("arguments_invalid", "name_rewritten"))
"""What a whole answer changes and a stream does not: arguments go as a text, and names of calls as they come."""


def lost_in_pieces(reported: list[Entry], answer: dict[str, Any]) -> list[Entry]:
    """What a stream loses of an answer whose calls go in pieces of their argument texts, by what is `reported` of the whole."""
    loss = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        if block["type"] == "tool_use" and "input_raw" in block and block.get("kind") != "custom":
            report_text(block, ("message", "content", position), loss)
    # before the rest, which may move the calls
    return [*loss.entries, *(entry for entry in reported if entry["code"] not in _NOT_STREAMED)]


PROBE: Final = "…"
"""Stands for a text that is blank, where a stream says it and a whole answer does not."""


def ending(choice: dict[str, Any]) -> dict[str, Any]:
    """An answer as the end of its stream tells it: without its content, but for a call, as calls decide how it ended."""
    content = choice["message"]["content"]
    calls = next(([block] for block in content if block["type"] == "tool_use"), [])
    return {**choice, "message": {**choice["message"], "content": calls}}
