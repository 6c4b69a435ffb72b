"""
Reading and writing of responses on all wires: why they ended, the members around the content, and what is lost of them.

A response is an item of the wire like others, and a wire defines it by a row of members (`_engine.items.ItemRow`). This
module makes the members that most wires have. A wire has one table of its finish reasons (`Ends`), and one of its token
counts (`usage.Counts`). One loss has one code and one severity on every wire (spec/3-responses.md#answer-loss).
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._answers.usage import Counts
from interlingua.adapters._content.calls import report_text
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, read_item, report_not_written
from interlingua.adapters._engine.kit import NOTHING, THINKING_MEMBERS, UNREADABLE, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings
from interlingua.adapters._engine.verbatim import keep_spellings, put_back_item
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._history.messages import report_state
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, ProviderError
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Response = dict[str, Any]
Choice = dict[str, Any]
Block = dict[str, Any]


ReadError = Callable[[int, Mapping[str, str] | None, Any, Endpoint], types.Error]
"""The function `error` of a wire."""


def body_of(body: Any, endpoint: Endpoint, error: ReadError, is_error: Callable[[Wire], Any] | None) -> Wire:
    """Return the body of a response with a status of success. Raises `InvalidAnswer` if it is no object, and
    `ProviderError` if it `is_error` nevertheless."""
    if type(body) is not dict:
        raise InvalidAnswer("an answer must be an object", path="", adapter=endpoint.adapter)
    if is_error is not None and is_error(body):
        raise ProviderError(error(200, {}, body, endpoint))
    return body


def unreadable(path: Path, endpoint: Endpoint) -> InvalidAnswer:
    """The error for a response of which a part cannot be read."""
    why = "the answer cannot be read: a member is missing or has the wrong type"
    return InvalidAnswer(why, path=pointer(path), adapter=endpoint.adapter)


def write_answer(endpoint: Endpoint, write: Callable[[Loss], Wire]) -> tuple[Wire, list[Entry]]:
    """Return the body that `write` makes, and the loss report. Raises `InvalidRequest` for a response that cannot be
    written."""
    loss = Loss()
    try:
        return write(loss), loss.entries
    except UNREADABLE as problem:
        # the schema has validated all but the values that readers kept in `encoding` and `fields`
        why = "a provider state of the response has an unexpected shape"
        raise InvalidRequest(why, adapter=endpoint.adapter) from problem


# ---------------------------------------------------------------------------------------------- finish reasons


_FINAL: Final = ("length", "content_filter", "refusal", "error", "cancelled")
"""The reasons that count even if the answer holds calls, which may be cut off."""


class Ends:
    """The finish reasons of a wire.

    - `words`: by canonical reason, the words of the wire, separated by spaces. All are read, the first is written.
    - `written`: by canonical reason, further words that are only written; the wire reads them as another reason, or as
      none.
    - `other`: the word for any other reason. It is never a word of a clean end.
    - `by_text`: the wire marks the text of a refusal, and has no finish reason for it.
    """

    __slots__ = ("by_text", "other", "reasons", "words")

    def __init__(
        self,
        words: Mapping[str, str],
        written: Mapping[str, str],
        *,
        other: str = "other",
        by_text: bool = False,
    ) -> None:
        self.reasons = {word: reason for reason, all_words in words.items() for word in all_words.split()}
        self.words = {reason: all_words.split()[0] for reason, all_words in words.items()} | dict(written)
        self.other = other
        self.by_text = by_text


def read_end(word: Any, content: list[Block], ends: Ends) -> str:
    """The canonical finish reason of an answer. The content has priority: an answer with calls waits for their
    results, unless it did not come to its end."""
    reason = ends.reasons.get(word, "other") if type(word) is str else "other"
    if reason in _FINAL:
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
    """The wire's word for the end of an answer with this content: the word that came, if it came from this wire and no
    edit changed the end.

    If a wire marks refusals by their text (`by_text`) and no text is marked, the word for a content filter is written.
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
"""The members of a response that every wire writes, or that are not the provider's: the `elsewhere` of a row."""


Derive = Callable[[dict[str, Any]], str]
"""Derives an id for a response that has none from its message. At the beginning of a stream, of which the content is not
known, the message has the id and the model that its first event names."""


def derived_id(prefix: str, length: int = 24) -> Derive:
    """Return a `Derive` for ids of a prefix and so many digits."""
    return lambda message: prefix + hashlib.sha256(id_seed(message)).hexdigest()[:length]


def id_seed(message: dict[str, Any]) -> bytes:
    """What an id is derived from: the id of the message if it has one, else all of it."""
    given: str | None = message.get("id")
    return given.encode("utf-8", "surrogatepass") if given else json.dumps(message)


def raw_member(
    name: str,
    covers: tuple[str, ...],
    kind: type,
    write: Callable[[Choice, Any, Path], Any],
    *,
    always: bool = False,
    filled: bool = False,
) -> Member:
    """A member that is stored as it is, if it has the type `kind` (and, with `filled`, is not empty), and is written
    by a rule.

    A member that is `always` there is null if it has no value.
    """

    def read(raw: Any, _: Choice, __: Any) -> None:
        if raw is not None:
            raise TypeError(name)

    member = Member(name, covers, read, write, soft=True, always=always, null=always)
    member.plain, member.empty = kind, not filled
    return member


def identity(name: str, derive: Derive | None = None) -> Member:
    """The id of a response. A response of another origin without an id gets the one that `derive` returns, if
    clients need one."""

    def write(response: Response, writing: Writing, _: Path) -> Any:
        given = response.get("id")
        if given:
            return given
        return ABSENT if writing.same_origin or derive is None else derive(response["message"])

    return raw_member(name, ("id",), str, write, filled=True)


def model(name: str, unknown: str | None = None) -> Member:
    """The model that served a response. If it is not known and clients need one (`unknown` is given), the requested
    model is written, else `unknown`."""

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
    """The usage of a response. `demanded`: clients need it, even if it is empty."""

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
    """The finish reason of an answer, in the wire's word."""

    def write(choice: Choice, writing: Writing, path: Path) -> Any:
        content = choice["message"]["content"]
        word = written_end(choice, content, ends, same_origin=writing.same_origin)
        report_end(choice, read_end(word, content, ends), writing.loss, path)
        return word if word is not None or always else ABSENT

    return raw_member(name, ("finish_reason_raw",), str, write, always=always)


def stop_text(name: str, *, always: bool = False) -> Member:
    """The stop sequence that ended an answer."""

    def write(response: Response, _: Writing, __: Path) -> Any:
        given = response.get("stop_sequence")
        return given if given is not None or always else ABSENT

    return raw_member(name, ("stop_sequence",), str, write, always=always)


def message(
    name: str, write: Callable[[Response, Any, Path], Any], read: Callable[[Any, Response, Any], None] | None = None
) -> Member:
    """The message of a response, or its content. Without `read`, the wire reads it separately, before the members
    around it."""
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
    """Read nothing: the member was read before the members around it, or has no meaning."""


def listed_logprobs(name: str, takes: Callable[[Mapping[str, Any]], bool]) -> Member:
    """Log probabilities of the tokens of the text, as a list; those of another provider are written if the wire `takes`
    them."""

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
    """Read an answer, or one of several, by its row; set its provider state and, if the wire has `ends`, its finish
    reason.

    Members without canonical meaning are kept for this wire alone, and so are values of a wrong type. `spellings` are
    kept with them.

    Raises `InvalidAnswer` for a body that is no answer, with the path of the member that cannot be read, else with
    `path`.
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


def put_content(choice: Choice, content: list[Block], ends: Ends | None) -> None:
    """Give an answer its content, which was read from a stream; it decides the finish reason, if the wire has `ends`."""
    choice["message"]["content"] = content
    if ends is not None:
        choice["finish_reason"] = read_end(choice.get("finish_reason_raw"), content, ends)


def inner(item: dict[str, Any], name: str) -> dict[str, Any]:
    """A member that is an object; an empty one if there is none."""
    value = item.get(name)
    return value if type(value) is dict else NOTHING


def served_model(response: Response) -> str | None:
    """The wire's name of the model that served a response: the part after the first colon."""
    served: str | None = response.get("model")
    return served if served is None else served.partition(":")[2] or served


# ---------------------------------------------------------------------------------------------- as it came


def message_as_it_came(choice: Choice, written: Wire, writing: Writing, path: Path) -> Any:
    """Return the written message of an answer, as it came if it is written as it was then; `path` is that of the
    choice."""
    if "provider_state" not in choice["message"]:
        return written
    loss, here = writing.loss, pointer((*path, "message")) + "/"
    reported = [entry for entry in loss.entries if f"{entry['path']}/".startswith(here)]
    return put_back_item(choice["message"], written, writing.endpoint, reported, loss)


def content_of(response: Response) -> Response:
    """The part of a response that its loss report is about. The members around it change between reading and
    writing."""
    return {"content": response["message"]["content"]}


# ---------------------------------------------------------------------------------------------- losses

_SHOWN: Final = THINKING_MEMBERS - {"cache"}
"""The members of reasoning that are shown, or that are reported separately."""
_ALIKE: Final = (("stop_sequence", "stop"), ("refusal", "content_filter"), ("content_filter", "refusal"))
"""Pairs of finish reasons that mean nearly the same to the client."""


def report_end(choice: Choice, read: str, loss: Loss, path: Path) -> None:
    """Report a finish reason that is `read` back as another one. An answer that is read back as `tool_calls` holds
    calls."""
    reason: str = choice["finish_reason"]
    if read != reason:
        alike = (reason, read) in _ALIKE or (reason == "stop" and read == "tool_calls")
        severity = "representation" if alike else "weakened"
        why = "the wire has no value for this finish reason"
        loss.replace((*path, "finish_reason"), read, "unsupported_value", severity, why)


def report_shown(block: Block, writing: Writing, path: Path, *, proof: bool = True) -> None:
    """Report what is lost of reasoning of another provider that a response shows: its signature (unless that is
    reported already: not `proof`), its state, and members without a place. A signature of another provider proves
    nothing here."""
    if proof and (given := block.get("signature")) is not None:
        why = "reasoning of another provider is shown without a signature"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost" if given else "representation", why)
    report_state(block, writing, path)
    report_not_written(block, _SHOWN, writing.loss, path)


def report_logprobs(choice: Choice, loss: Loss, path: Path) -> None:
    """Report log probabilities that a wire has no place for, though it has one for others."""
    report_not_written({"logprobs": choice.get("logprobs")}, frozenset(AROUND), loss, path)


def has_tokens(logprobs: Mapping[str, Any]) -> bool:
    """Whether log probabilities list one token after another, each with its text, as the wires of OpenAI and Ollama
    do."""
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
"""The codes of changes that a whole response has and a stream does not: a stream sends arguments as text, and names of
calls unchanged."""


def lost_in_pieces(reported: list[Entry], answer: dict[str, Any]) -> list[Entry]:
    """The report of a stream that sends calls in pieces of their argument texts, derived from what is `reported` of the
    whole response."""
    loss = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        if block["type"] == "tool_use" and "input_raw" in block and block.get("kind") != "custom":
            report_text(block, ("message", "content", position), loss)
    # before the rest, which may move the calls
    return [*loss.entries, *(entry for entry in reported if entry["code"] not in _NOT_STREAMED)]


PROBE: Final = "…"
"""In place of a blank text, which a stream writes and a whole response does not."""


def ending(choice: dict[str, Any]) -> dict[str, Any]:
    """An answer for the end of its stream: its content is removed, except for one call, because calls decide the finish
    reason."""
    content = choice["message"]["content"]
    calls = next(([block] for block in content if block["type"] == "tool_use"), [])
    return {**choice, "message": {**choice["message"], "content": calls}}
