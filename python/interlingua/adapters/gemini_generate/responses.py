"""Responses in both directions, and their usage."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from interlingua.adapters._answers import answers
from interlingua.adapters._answers.choices import Choices
from interlingua.adapters._answers.usage import ALWAYS, MORE, READ, TOTAL, Counts, Place
from interlingua.adapters._engine.items import ABSENT, Member
from interlingua.adapters._engine.kit import NOTHING, UNREADABLE, Wire
from interlingua.adapters._history.messages import OF_MESSAGE, report_rest
from interlingua.adapters.gemini_generate.contents import CONTENT, keep_message
from interlingua.adapters.gemini_generate.context import MODEL, Block, Reading, Writing
from interlingua.adapters.gemini_generate.errors import error
from interlingua.adapters.gemini_generate.parts import blocks_from_parts, part_to_wire
from interlingua.adapters.gemini_generate.tables import FINISH_NUMBERS
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Path, difference

Response = dict[str, Any]

ENDS: Final = answers.Ends(
    {
        "stop": "STOP",
        "length": "MAX_TOKENS",
        "pause": "CONTINUATION",
        "content_filter": "SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT "
        "IMAGE_RECITATION LANGUAGE ESCALATION PUP_LIMITED_DISABLED MODEL_ARMOR",
        "error": "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE "
        "MALFORMED_RESPONSE NO_IMAGE IMAGE_OTHER",
    },
    {"stop_sequence": "STOP", "tool_calls": "STOP", "refusal": "SAFETY", "error": "OTHER"},
    other="OTHER",
)
COUNTS: Final = Counts(
    Place("input_tokens", "promptTokenCount", written=ALWAYS),
    Place(MORE, "toolUsePromptTokenCount"),
    Place("cached_input_tokens", "cachedContentTokenCount"),
    Place("output_tokens", "candidatesTokenCount", written=ALWAYS),
    Place("output_tokens", "responseTokenCount", written=READ),  # live sessions have another name for the output
    Place("reasoning_tokens", "thoughtsTokenCount"),
    Place(TOTAL, "totalTokenCount", written=ALWAYS),
    with_cache=True,
    reasoning_outside=True,
    uncounted=("cache_creation_input_tokens", "cache_creation_1h_input_tokens"),
)
_SOURCES: Final = "groundingMetadata"

# ---------------------------------------------------------------------------------------------- sources


def cite(blocks: list[Block], candidate: Mapping[str, Any], endpoint: Endpoint) -> int:
    """Add to the texts the sources that the grounding names; the metadata themselves stay whole.

    Segments are counted in bytes of the part that they name, else of the last text. A segment is ignored if its text
    differs from the text at its place. Return the position of the last text, -1 when there is none.
    """
    last = max((at for at, block in enumerate(blocks) if block["type"] == "text" and block["text"]), default=-1)
    grounding = candidate.get(_SOURCES)
    if last < 0 or type(grounding) is not dict:
        return last
    supports, chunks = grounding.get("groundingSupports"), grounding.get("groundingChunks")
    if type(supports) is not list or type(chunks) is not list:
        return last
    citations: dict[int, list[dict[str, Any]]] = {}
    for support in supports:
        try:
            segment = support["segment"]
            position, start, end = _place(segment, blocks, last)
            # a chunk is an object of one member: web, retrievedContext, maps
            sources = [next(iter(chunks[index].values())) for index in support["groundingChunkIndices"] if index >= 0]
        except (*UNREADABLE, StopIteration):
            continue
        for source in sources:
            if type(source) is dict and type(source.get("uri")) is str:
                citation: dict[str, Any] = {"type": "url_citation", "url": source["uri"]}
                if type(source.get("title")) is str:
                    citation["title"] = source["title"]
                citation |= {"start_index": start, "end_index": end, "provider_state": endpoint.state()}
                citations.setdefault(position, []).append(citation)
    for position, found in citations.items():
        blocks[position] = {**blocks[position], "citations": found}
    return last


def _place(segment: Wire, blocks: list[Block], last: int) -> tuple[int, int, int]:
    """Return the position of a segment's text, its start and end in characters. Raises `ValueError` without a text."""
    start, end = segment.get("startIndex", 0), segment["endIndex"]
    for position in (segment.get("partIndex", last), last):
        if 0 <= position < len(blocks) and blocks[position]["type"] == "text":
            raw: bytes = blocks[position]["text"].encode()
            before, text = raw[:start].decode(), raw[start:end].decode()
            if text == segment.get("text", text):
                return position, len(before), len(before) + len(text)
    raise ValueError("segment")


def report_citations(
    written: list[tuple[int, Block]], parts: list[Wire], candidate: Mapping[str, Any], writing: Writing, path: Path
) -> None:
    """Report sources that the grounding lacks, or that it gives for a response which was changed after it was read.

    `written` contains the blocks from which the parts of the candidate were written, with their positions.
    """
    read = blocks_from_parts(parts, MODEL, Reading(writing.endpoint))
    cite(read, candidate, writing.endpoint)
    for (position, block), again in zip(written, read, strict=True):
        given, read_again = block.get("citations") or [], again.get("citations") or []
        if difference([_source(one) for one in given], [_source(one) for one in read_again]) is not None:
            where = (*path, position, "citations")
            message = "the grounding has other sources for this text"
            writing.loss.replace(where, read_again, "combination", "weakened", message)


def _source(citation: dict[str, Any]) -> dict[str, Any]:
    """Return a citation without its origin."""
    state = citation.get("provider_state") or {}
    present = {name: value for name, value in citation.items() if name != "provider_state" and value is not None}
    return present | {name: state[name] for name in ("fields", "signature") if state.get(name)}


# ---------------------------------------------------------------------------------------------- the rows


def _read_content(raw: Any, choice: Response, reading: Reading) -> None:
    if raw is None:
        return  # null is unusual
    if type(raw) is list:
        raw = {"parts": raw}
    parts = raw.get("parts")
    if parts is None:
        parts = []
    if type(parts) is not list or not all(type(part) is dict for part in parts):
        raise TypeError("parts")
    message: Block = {"role": "assistant", "content": blocks_from_parts(parts, MODEL, reading)}
    if extra := {name: value for name, value in raw.items() if name not in CONTENT}:
        message["provider_state"] = reading.endpoint.state(fields=extra)
    reading.must_compare = reading.must_compare or not parts or bool(reading.silent) or raw.get("role") != MODEL
    choice["message"] = message


def _write_content(choice: Response, writing: Writing, path: Path) -> Any:
    writing.message = message = choice["message"]
    writing.calls.clear()
    fields = answers.inner(writing.state_of(choice), "fields")
    if not path:
        fields = answers.inner(fields, Choices.FIRST)
    parts: list[Wire] = []
    written: list[tuple[int, Block]] = []
    for position, block in enumerate(message["content"]):
        item = block
        if _SOURCES in fields and "citations" in block:
            item = {name: value for name, value in block.items() if name != "citations"}  # the grounding contains them
        part = answer_part(item, writing, (*path, "message", "content", position))
        if part is not None:
            parts.append(part)
            written.append((position, block))
    if len(message) > 2:  # most have only role and content
        report_rest(message, OF_MESSAGE, writing, (*path, "message"), fields=False)
    if _SOURCES in fields:
        report_citations(written, parts, fields, writing, (*path, "message", "content"))
    content = {**(writing.state_of(message).get("fields") or NOTHING), "role": MODEL, "parts": parts}
    return answers.message_as_it_came(choice, content, writing, path)


def _has_no_candidate(response: Response, writing: Writing) -> bool:
    """Whether a response of this provider has no candidate because its prompt was blocked before any output."""
    if response["finish_reason"] != "content_filter" or response["message"]["content"]:
        return False
    fields = answers.inner(writing.state_of(response), "fields")
    reason = answers.inner(fields, "promptFeedback").get("blockReason")
    return reason is not None and response.get("finish_reason_raw") == str(reason)


def _read_number(raw: Any, choice: Response, reading: Reading) -> None:
    """Read a finish reason as its number, which some servers send."""
    if type(raw) is not int:
        raise TypeError("finishReason")
    reading.must_compare = True
    choice["finish_reason_raw"] = FINISH_NUMBERS[raw] if 0 <= raw < len(FINISH_NUMBERS) else str(raw)


def _write_end(choice: Response, writing: Writing, path: Path) -> Any:
    content = choice["message"]["content"]
    if writing.same_origin and _has_no_candidate(choice, writing):
        return choice["finish_reason_raw"]
    written = answers.written_end(choice, content, ENDS, same_origin=writing.same_origin)
    answers.report_end(choice, answers.read_end(written, content, ENDS), writing.loss, path)
    return ABSENT if written is None else written


def _write_logprobs(choice: Response, writing: Writing, path: Path) -> Any:
    given = choice.get("logprobs")
    if given is not None and writing.same_origin:
        return given
    answers.report_logprobs(choice, writing.loss, path)
    return ABSENT


def answer_id(message: Block) -> str:
    """Return an id for a response that has none: that of its message, else one derived from its message."""
    return message.get("id") or _DERIVED(message)


_DERIVED: Final = answers.derived_id("", 22)


_END: Final = answers.raw_member("finishReason", ("finish_reason_raw",), str, _write_end)
_END.read = _read_number
_AROUND: Final = (
    answers.usage("usageMetadata", COUNTS, demanded=True),
    answers.model("modelVersion", "unknown"),
    answers.identity("responseId", answer_id),
)
_CANDIDATE: Final = (
    Member("content", ("message",), _read_content, _write_content, null=True),
    _END,
    answers.raw_member("logprobsResult", ("logprobs",), dict, _write_logprobs),
)


def answer_part(block: Block, writing: Writing, path: Path) -> Wire | None:
    """Write one block of a response; reasoning of another provider is shown without its signature."""
    if writing.same_origin:
        return writing.or_placeholder(part_to_wire, block, MODEL, path)
    if block["type"] == "thinking" and not writing.is_native(block):
        answers.report_shown(block, writing, path)
        return {"text": block["text"], "thought": True}
    part = writing.or_placeholder(part_to_wire, block, MODEL, path)
    if part is not None and block["type"] == "tool_use":
        # if a client sends this id back, the call is recognised
        part["functionCall"].setdefault("id", "call_" + block["id"].removeprefix("tu_"))
    return part


# ---------------------------------------------------------------------------------------------- both directions


def call_prefix(body: Wire, position: int) -> str:
    """Return the prefix that distinguishes the calls without ids of this candidate from those of others."""
    given = body.get("responseId")
    return f"{given if type(given) is str else ''}:{position}:"


def _is_error(body: Wire) -> bool:
    return "error" in body and "candidates" not in body


def _read_beside(found: list[Response], body: Wire, readings: Sequence[Reading]) -> None:
    """Read the sources of each candidate. Without a candidate, the prompt was blocked or nothing was generated."""
    candidates = body.get(CANDIDATES.name) or ()
    for choice, candidate in zip(found, candidates, strict=False):
        content = candidate.get("content")
        streamed = type(content) is dict and content.get("parts") == []  # its texts got their sources as these arrived
        if _SOURCES in candidate and not streamed:
            cite(choice["message"]["content"], candidate, readings[0].endpoint)
    if "promptFeedback" in body:
        readings[0].must_compare = True
    if not candidates and (reason := answers.inner(body, "promptFeedback").get("blockReason")) is not None:
        found[0]["finish_reason_raw"], found[0]["finish_reason"] = str(reason), "content_filter"


def _write_beside(response: Response, body: Wire, others: list[Wire], writing: Writing, _: int) -> None:
    """Remove the candidate of a response whose prompt was blocked before anything was generated."""
    if not others and _has_no_candidate(response, writing):
        del body[Choices.FIRST]
        answers.report_logprobs(response, writing.loss, ())  # only a candidate contains them


def _keep_message(message: Block, candidate: Wire, reading: Reading) -> None:
    content = answers.inner(candidate, "content")
    if content.get("parts"):
        keep_message(message, candidate["content"], reading)


CANDIDATES: Final = Choices(
    "candidates",
    ENDS,
    _AROUND,
    _CANDIDATE,
    Writing,
    error,
    _is_error,
    optional=True,
    read_beside=_read_beside,
    write_beside=_write_beside,
    keep_message=_keep_message,
)


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Read a response that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body when it cannot be read,
    and `ProviderError` when the body is an error despite its status.
    """
    return CANDIDATES.from_wire(
        body, endpoint, lambda wire, position: Reading(endpoint, ids, call_prefix(wire, position))
    )


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Write a response of any origin as this provider would send it; restore a response that was read from this wire.

    The report names what the wire cannot express, with pointers into the response.
    """
    return CANDIDATES.to_wire(answer, endpoint)
