"""Answers both ways, and their usage."""

from typing import Any, Final

from interlingua.adapters._answers import (
    APART,
    AROUND,
    SHOWN,
    UNREADABLE,
    Ends,
    Names,
    as_object,
    derived_id,
    inner,
    no_usage,
    read_end,
    report_choice,
    report_logprobs,
    report_message,
    served_model,
    take_members,
    write_answer,
    written_end,
)
from interlingua.adapters._items import report_not_written
from interlingua.adapters._kit import (
    NOTHING,
    Wire,
    data_of,
    report_foreign_state,
    report_replayable_state,
)
from interlingua.adapters._spelling import Spellings
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._usage import Places, count, native_counts, prompt_tokens, read_counts, report_usage
from interlingua.adapters._verbatim import keep_item, keep_spellings, may_differ, put_back_item
from interlingua.adapters.gemini_generate.contents import CONTENT, keep_message
from interlingua.adapters.gemini_generate.context import MODEL, Block, Reading, Writing
from interlingua.adapters.gemini_generate.errors import error
from interlingua.adapters.gemini_generate.parts import blocks_from_parts, is_native_thinking, part_to_wire
from interlingua.adapters.gemini_generate.tables import FINISH_NUMBERS
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, difference, pointer

Response = dict[str, Any]

ENDS: Final = Ends(
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
    ("length", "content_filter"),
    other="OTHER",
)
_NAMES: Final = Names(
    {"candidates": APART, "responseId": "id", "modelVersion": "model", "usageMetadata": "usage"},
)
_OF_CANDIDATE: Final = Names(
    {"content": APART, "index": APART, "finishReason": "finish_reason_raw", "logprobsResult": "logprobs"}
)
_PLACES: Final[Places] = (
    ("input_tokens", "promptTokenCount", ""),
    ("cached_input_tokens", "cachedContentTokenCount", ""),
    ("output_tokens", "candidatesTokenCount", ""),
    ("output_tokens", "responseTokenCount", ""),  # live sessions have another name for what was said
    ("reasoning_tokens", "thoughtsTokenCount", ""),
)
_UNCOUNTED: Final = ("cache_creation_input_tokens", "cache_creation_1h_input_tokens")
"""What the wire does not count apart."""
_COVERED_ELSEWHERE: Final = AROUND | {"alternatives"}
_COVERED: Final = _COVERED_ELSEWHERE | {"logprobs"}
"""The members of an answer that the wire says of one of another provider, and of its own."""

# ---------------------------------------------------------------------------------------------- sources


def cite(blocks: list[Block], candidate: Wire, endpoint: Endpoint) -> int:
    """Gives texts the sources that the grounding names; the metadata stay whole beside them.

    Segments are counted in bytes of the part that they name, else of the last text; one that does not say what stands
    there is passed over. Gives the position of the last text, -1 when there is none.
    """
    last = max((at for at, block in enumerate(blocks) if block["type"] == "text" and block["text"]), default=-1)
    grounding = candidate.get("groundingMetadata")
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
    """The text that a segment is of, and its beginning and end in characters. Raises `ValueError` when there is none."""
    start, end = segment.get("startIndex", 0), segment["endIndex"]
    for position in (segment.get("partIndex", last), last):
        if 0 <= position < len(blocks) and blocks[position]["type"] == "text":
            raw: bytes = blocks[position]["text"].encode()
            before, text = raw[:start].decode(), raw[start:end].decode()
            if text == segment.get("text", text):
                return position, len(before), len(before) + len(text)
    raise ValueError("segment")


def report_citations(
    written: list[tuple[int, Block]], parts: list[Wire], candidate: Wire, writing: Writing, path: Path
) -> None:
    """Reports sources that the grounding does not tell, or that it tells of an answer which was changed after it was read.

    `written` are the blocks that the parts of the candidate say, with their positions.
    """
    read = blocks_from_parts(parts, MODEL, Reading(writing.endpoint, DERIVED_IDS))
    cite(read, candidate, writing.endpoint)
    for (position, block), again in zip(written, read, strict=True):
        given, read_again = block.get("citations") or [], again.get("citations") or []
        if difference([_source(one) for one in given], [_source(one) for one in read_again]) is not None:
            where = (*path, position, "citations")
            message = "the grounding names other sources of this text"
            writing.loss.replace(where, read_again, "combination", "weakened", message)


def _source(citation: dict[str, Any]) -> dict[str, Any]:
    """What a citation says, without where it came from."""
    state = citation.get("provider_state") or {}
    present = {name: value for name, value in citation.items() if name != "provider_state" and value is not None}
    return present | {name: state[name] for name in ("fields", "signature") if state.get(name)}


# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body when it cannot be read,
    and `ProviderError` when the body is an error in spite of its status.
    """
    body = as_object(body, endpoint)
    if "error" in body and "candidates" not in body:
        raise ProviderError(error(200, {}, body, endpoint))
    candidates = body.get("candidates")
    if candidates is not None and type(candidates) is not list:
        raise InvalidAnswer("candidates must be a list", path="/candidates", adapter=endpoint.adapter)
    choices: list[dict[str, Any]] = []
    for position, candidate in enumerate(candidates or ()):
        content: Any = candidate.get("content") if type(candidate) is dict else False
        parts: Any = content.get("parts") if type(content) is dict else content
        if not (parts is None or (type(parts) is list and all(type(part) is dict for part in parts))):
            path = pointer(("candidates", position))
            raise InvalidAnswer("a candidate cannot be read", path=path, adapter=endpoint.adapter)
        reading = Reading(endpoint, ids, call_prefix(body, position))
        blocks = blocks_from_parts(parts or [], MODEL, reading)
        if "groundingMetadata" in candidate:
            cite(blocks, candidate, endpoint)
        choice = choice_from_wire(candidate, blocks, position, endpoint)
        if may_differ(reading.unusual or bool(reading.silent) or not parts or content is parts):
            if parts and content is not parts:
                keep_message(choice["message"], content, reading)
            loss = Loss()
            written = _candidate(choice, position, Writing(choice, endpoint, loss), ())
            keep_item(choice, candidate, written, endpoint, loss.entries, _content_of_choice(choice))
        choices.append(choice)
    return unwrap_answer_call(assembled(body, choices, candidates or [], endpoint)), []


def call_prefix(body: Wire, position: int) -> str:
    """What tells the calls without id of this answer from those of others."""
    identity = body.get("responseId")
    return f"{identity if type(identity) is str else ''}:{position}:"


def choice_from_wire(candidate: Wire, blocks: list[Block], position: int, endpoint: Endpoint) -> dict[str, Any]:
    """One answer, out of a candidate whose parts have been read; its `provider_state` holds the rest of it."""
    message: dict[str, Any] = {"role": "assistant", "content": blocks}
    choice: dict[str, Any] = {"message": message}
    content = inner(candidate, "content")
    if extra := {name: value for name, value in content.items() if name not in CONTENT}:
        message["provider_state"] = endpoint.state(fields=extra)
    fields: Wire = {}
    spellings: Spellings = {}
    take_members(candidate, _OF_CANDIDATE, choice, endpoint, fields, spellings, "", no_usage)
    if type(number := fields.get("finishReason")) is int:
        del fields["finishReason"]
        known = 0 <= number < len(FINISH_NUMBERS)
        choice["finish_reason_raw"] = FINISH_NUMBERS[number] if known else str(number)
    raw = choice.get("finish_reason_raw")
    choice["finish_reason"] = read_end(raw, blocks, ENDS)
    choice["provider_state"] = endpoint.state(fields={"choice": fields}) if fields else endpoint.state()
    keep_spellings(choice, spellings, endpoint)
    index = candidate.get("index")
    usual = type(index) is int and index == position and candidate.get("finishReason") is raw
    if not (usual and content.get("role") == MODEL):
        written = _around({**content, "role": MODEL}, position, raw)
        came = {name: value for name, value in candidate.items() if name in _AROUND or value is None}
        keep_item(choice, came, written, endpoint, [])
    return choice


_AROUND: Final = ("content", "index", "finishReason")


def _around(content: Wire, position: int, finish: str | None) -> Wire:
    """A candidate with its content alone."""
    if finish is None:
        return {"content": content, "index": position}
    return {"content": content, "index": position, "finishReason": finish}


def assembled(body: Wire, choices: list[dict[str, Any]], candidates: list[Wire], endpoint: Endpoint) -> Response:
    """The canonical answer of a body whose candidates have been read."""
    response: Response = {**choices[0]} if choices else _blocked(body, endpoint)
    if len(choices) > 1:
        response["alternatives"] = choices[1:]
    state = response["provider_state"]
    fields: Wire = {}
    take_members(body, _NAMES, response, endpoint, fields, None, "", usage_from_wire)
    if fields:
        state["fields"] = {**fields, **state.get("fields", {})}
    if may_differ(not choices or "promptFeedback" in fields):
        written = _body_of(
            response, candidates or [_candidate(response, 0, Writing(response, endpoint, Loss()), ())], state
        )
        came = {"candidates": candidates} if choices else {key: body[key] for key in ("candidates",) if key in body}
        keep_item(response, came, written, endpoint, [], kept_as=_BODY)
    return response


_BODY: Final = "body"
"""The place of how the candidates of an answer came, which is the first of them, too."""


def _body_of(response: Response, candidates: list[Wire], state: Any) -> Wire:
    """The body around candidates. An answer whose prompt was blocked before anything was said has none."""
    if _has_no_candidate(response, state) and not response.get("alternatives"):
        return {}
    return {"candidates": candidates}


def _blocked(body: Wire, endpoint: Endpoint) -> dict[str, Any]:
    """An answer without candidates: the prompt was blocked, or nothing was said."""
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": []}, "finish_reason": "other"}
    if (reason := inner(body, "promptFeedback").get("blockReason")) is not None:
        choice["finish_reason_raw"], choice["finish_reason"] = str(reason), "content_filter"
    choice["provider_state"] = endpoint.state()
    return choice


def usage_from_wire(wire: Wire) -> dict[str, Any]:
    """Usage in disjoint buckets: the prompt count includes what was cached, the candidates count no thoughts."""
    by_tools = count(wire.get("toolUsePromptTokenCount")) or 0
    return read_counts(wire, _PLACES, with_cache=True, beside=True, more=by_tools)


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Writes an answer as this provider would give it, whatever its origin; one of this wire as it came.

    The report names what the wire cannot say, with pointers into the response.
    """
    response = data_of(answer)
    return write_answer(endpoint, lambda loss: _body(response, endpoint, loss))


def _body(response: Response, endpoint: Endpoint, loss: Loss) -> Wire:
    writing = Writing(response, endpoint, loss)
    same_origin, state = writing.same_origin, writing.state_of(response)
    candidates = [_candidate_as_it_came(response, 0, writing, ())]
    for position, choice in enumerate(response.get("alternatives") or ()):
        writing.calls.clear()
        candidates.append(_candidate_as_it_came(choice, position + 1, writing, ("alternatives", position)))
    body: Wire = put_back_item(response, _body_of(response, candidates, state), endpoint, [], loss, kept_as=_BODY)
    if not body.get("candidates"):
        report_logprobs(response, loss, ())  # they stand in a candidate
    usage, model = response.get("usage"), served_model(response)
    if usage is not None or not same_origin:
        body["usageMetadata"] = usage_to_wire(usage or {}, same_origin=same_origin)
    if model is not None or not same_origin:
        body["modelVersion"] = endpoint.model or "unknown" if model is None else model
    if "id" in response or not same_origin:
        body["responseId"] = answer_id(response)
    for name, value in (state.get("fields") or NOTHING).items():
        if name != "choice":
            body.setdefault(name, value)
    if not same_origin:
        report_foreign_state(response, endpoint, loss, ())
    report_usage(usage, body.get("usageMetadata"), _UNCOUNTED, loss)
    return body


def _has_no_candidate(response: Response, state: Any) -> bool:
    """Whether an own answer says that its prompt was blocked before anything was said, which is the reason of no candidate."""
    if response["finish_reason"] != "content_filter" or response["message"]["content"]:
        return False
    reason = inner(inner(state, "fields"), "promptFeedback").get("blockReason")
    return reason is not None and response.get("finish_reason_raw") == str(reason)


def _candidate_as_it_came(choice: dict[str, Any], position: int, writing: Writing, path: Path) -> Wire:
    before = len(writing.loss.entries)
    candidate = _candidate(choice, position, writing, path)
    if not writing.encoding_of(choice):
        return candidate
    reported = writing.loss.entries[before:]
    return put_back_item(choice, candidate, writing.endpoint, reported, writing.loss, _content_of_choice(choice))


def _content_of_choice(choice: dict[str, Any]) -> dict[str, Any]:
    """What a candidate says; the first of them is the whole answer."""
    return {name: choice[name] for name in ("message", "finish_reason", "finish_reason_raw") if name in choice}


def _candidate(choice: dict[str, Any], position: int, writing: Writing, path: Path) -> Wire:
    message = choice["message"]
    writing.message = message
    state, loss, same_origin = writing.state_of(choice), writing.loss, writing.same_origin
    before = len(loss.entries)
    fields = inner(inner(state, "fields"), "choice")
    parts: list[Wire] = []
    written: list[tuple[int, Block]] = []
    for index, block in enumerate(message["content"]):
        item = block
        if "groundingMetadata" in fields and "citations" in block:
            item = {name: value for name, value in block.items() if name != "citations"}  # the grounding says them
        part = answer_part(item, writing, (*path, "message", "content", index))
        if part is not None:
            parts.append(part)
            written.append((index, block))
    content: Wire = {**(writing.state_of(message).get("fields") or NOTHING), "role": MODEL, "parts": parts}
    content = put_back_item(message, content, writing.endpoint, loss.entries[before:], loss)
    if same_origin and _has_no_candidate(choice, state):
        word, end = choice["finish_reason_raw"], choice["finish_reason"]
    else:
        word = written_end(choice, message["content"], ENDS, same_origin=same_origin)
        end = read_end(word, message["content"], ENDS)
    candidate = _around(content, position, word)
    if same_origin and choice.get("logprobs") is not None:
        candidate["logprobsResult"] = choice["logprobs"]
    report_choice(choice, end, _COVERED if same_origin else _COVERED_ELSEWHERE, loss, path)
    report_message(message, loss, (*path, "message"))
    report_foreign_state(message, writing.endpoint, loss, (*path, "message"))
    report_replayable_state(writing.state_of(message), loss, (*path, "message"))
    if path:
        report_foreign_state(choice, writing.endpoint, loss, path)
        beside = {name: value for name, value in (state.get("fields") or {}).items() if name != "choice"}
        report_replayable_state({**state, "fields": beside}, loss, path, fields=True)
    for name, value in fields.items():
        candidate.setdefault(name, value)
    if "groundingMetadata" in fields:
        report_citations(written, parts, candidate, writing, (*path, "message", "content"))
    return candidate


def answer_part(block: Block, writing: Writing, path: Path) -> Wire | None:
    """One block of an answer; reasoning of another provider is shown without its signature."""
    if writing.same_origin:
        return part_to_wire(block, MODEL, writing, path)
    if block["type"] == "thinking" and not is_native_thinking(block, writing):
        if block.get("signature") is not None:
            message = "reasoning of another provider is shown without a signature"
            severity = "lost" if block["signature"] else "representation"
            writing.loss.drop((*path, "signature"), "foreign_state", severity, message)
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        report_not_written(block, SHOWN, writing.loss, path)
        return {"text": block["text"], "thought": True}
    part = part_to_wire(block, MODEL, writing, path)
    if part is not None and block["type"] == "tool_use":
        # a client that gives the id back gets its call back
        part["functionCall"].setdefault("id", "call_" + block["id"].removeprefix("tu_"))
    return part


def answer_id(response: Response) -> str:
    """The answer's id: its own, else one derived from what it says."""
    identity = response.get("id") or response["message"].get("id")
    return identity or derived_id("", json.dumps(response["message"]), 22)


def usage_to_wire(usage: dict[str, Any], *, same_origin: bool) -> Wire:
    """Usage as the wire counts it; the provider's own object where there is one."""
    if same_origin and (raw := native_counts(usage, usage_from_wire)) is not None:
        return raw
    cached, thoughts = usage.get("cached_input_tokens"), usage.get("reasoning_tokens") or 0
    prompt, output = prompt_tokens(usage), usage.get("output_tokens", 0)
    wire: Wire = {"promptTokenCount": prompt, "candidatesTokenCount": max(output - thoughts, 0)}
    if cached:
        wire["cachedContentTokenCount"] = cached
    if thoughts:
        wire["thoughtsTokenCount"] = thoughts
    return wire | {"totalTokenCount": prompt + output}
