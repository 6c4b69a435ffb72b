"""Answers both ways, and their usage."""

import hashlib
from typing import Any, Final

from interlingua.adapters._answers import (
    report_end,
    report_logprobs,
    report_message,
    report_rest,
    report_stop_sequence,
    report_usage,
    same_counts,
)
from interlingua.adapters._kit import (
    NOTHING,
    THINKING_MEMBERS,
    Wire,
    data_of,
    report_foreign_state,
    report_own_state,
    report_unknown,
)
from interlingua.adapters._structured import unwrap_answer_call
from interlingua.adapters._verbatim import keep_item, may_differ, put_back_item
from interlingua.adapters.gemini_generate.contents import CONTENT, keep_message
from interlingua.adapters.gemini_generate.context import MODEL, Block, Reading, Writing, report_cache
from interlingua.adapters.gemini_generate.errors import error
from interlingua.adapters.gemini_generate.parts import blocks_from_parts, is_own_thinking, part_to_wire
from interlingua.adapters.gemini_generate.tables import (
    FINISH,
    FINISH_NUMBERS,
    FINISH_WORD,
    UNREADABLE,
)
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest, ProviderError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, difference, pointer


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
            before, said = raw[:start].decode(), raw[start:end].decode()
            if said == segment.get("text", said):
                return position, len(before), len(before) + len(said)
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
        given, told = block.get("citations") or [], again.get("citations") or []
        if difference([_source(one) for one in given], [_source(one) for one in told]) is not None:
            where = (*path, position, "citations")
            message = "the grounding names other sources of this text"
            writing.loss.replace(where, told, "combination", "weakened", message)


def _source(citation: dict[str, Any]) -> dict[str, Any]:
    """What a citation says, without where it came from."""
    state = citation.get("provider_state") or {}
    said = {name: value for name, value in citation.items() if name != "provider_state" and value is not None}
    return said | {name: state[name] for name in ("fields", "signature") if state.get(name)}


Response = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_response(
    body: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Response, list[Entry]]:
    """Reads an answer that is not streamed. Nothing is lost.

    Raises `InvalidAnswer` with a pointer into the body when it cannot be read,
    and `ProviderError` when the body is an error in spite of its status.
    """
    if type(body) is not dict:
        raise InvalidAnswer("the answer must be an object", path="", adapter=endpoint.adapter)
    if "error" in body and "candidates" not in body:
        raise ProviderError(error(200, {}, body, endpoint))
    candidates = body.get("candidates")
    if candidates is not None and type(candidates) is not list:
        raise InvalidAnswer("candidates must be a list", path="/candidates", adapter=endpoint.adapter)
    choices: list[dict[str, Any]] = []
    for position, candidate in enumerate(candidates or ()):
        path: Path = ("candidates", position)
        content: Any = candidate.get("content") if type(candidate) is dict else False
        parts: Any = content.get("parts") if type(content) is dict else content
        if not (parts is None or (type(parts) is list and all(type(part) is dict for part in parts))):
            raise InvalidAnswer("a candidate cannot be read", path=pointer(path), adapter=endpoint.adapter)
        reading = Reading(endpoint, ids, call_prefix(body, position))
        blocks = blocks_from_parts(parts or [], MODEL, reading)
        if "groundingMetadata" in candidate:
            cite(blocks, candidate, endpoint)
        choice = choice_from_wire(candidate, blocks, position, endpoint)
        if may_differ(reading.unusual or bool(reading.silent) or not parts or candidate["content"] is parts):
            if parts and candidate["content"] is not parts:
                keep_message(choice["message"], candidate["content"], reading)
            loss = Loss()
            written = _candidate(choice, position, Writing(choice, endpoint, loss), ())
            keep_item(choice, candidate, written, endpoint, loss.entries, _said(choice))
        choices.append(choice)
    return unwrap_answer_call(assembled(body, choices, candidates or [], endpoint)), []


def call_prefix(body: Wire, position: int) -> str:
    """What tells the calls without id of this answer from those of others."""
    identity = body.get("responseId")
    return f"{identity if type(identity) is str else ''}:{position}:"


_CANDIDATE: Final = frozenset(("content", "finishReason", "index", "logprobsResult"))


def choice_from_wire(candidate: Wire, blocks: list[Block], position: int, endpoint: Endpoint) -> dict[str, Any]:
    """One answer, out of a candidate whose parts have been read; its `provider_state` holds the rest of it."""
    message: dict[str, Any] = {"role": "assistant", "content": blocks}
    choice: dict[str, Any] = {"message": message}
    fields = {name: value for name, value in candidate.items() if name not in _CANDIDATE}
    content = candidate.get("content")
    said: Wire = content if type(content) is dict else {}
    if extra := {name: value for name, value in said.items() if name not in CONTENT}:
        message["provider_state"] = endpoint.state(fields=extra)
    raw = candidate.get("finishReason")
    if type(raw) is int:
        raw = FINISH_NUMBERS[raw] if 0 <= raw < len(FINISH_NUMBERS) else str(raw)
    elif raw is not None and type(raw) is not str:
        fields["finishReason"], raw = raw, None
    if raw is not None:
        choice["finish_reason_raw"] = raw
    choice["finish_reason"] = finish_reason(raw, blocks)
    logprobs = candidate.get("logprobsResult")
    if type(logprobs) is dict:
        choice["logprobs"] = logprobs
    elif "logprobsResult" in candidate:
        fields["logprobsResult"] = logprobs
    choice["provider_state"] = state = endpoint.state()
    if fields:
        state["fields"] = {"choice": fields}
    index = candidate.get("index")
    usual = type(index) is int and index == position and raw is not None and candidate["finishReason"] is raw
    if not (usual and said.get("role") == MODEL):
        written = _around({**said, "role": MODEL}, position, raw)
        keep_item(choice, {name: candidate[name] for name in _AROUND if name in candidate}, written, endpoint, [])
    return choice


_AROUND: Final = ("content", "index", "finishReason")


def _around(content: Wire, position: int, finish: str | None) -> Wire:
    """A candidate with its content alone."""
    if finish is None:
        return {"content": content, "index": position}
    return {"content": content, "index": position, "finishReason": finish}


def assembled(body: Wire, choices: list[dict[str, Any]], candidates: list[Wire], endpoint: Endpoint) -> Response:
    """The canonical answer of a body whose candidates have been read."""
    if choices:
        first, *others = choices
    else:
        first, others = _blocked(body, endpoint), []
    response: Response = {**first}
    if others:
        response["alternatives"] = others
    state = response["provider_state"]
    fields: dict[str, Any] = {}
    for name, value in body.items():
        match name:
            case "candidates":
                pass
            case "responseId" if type(value) is str and value:
                response["id"] = value
            case "modelVersion" if type(value) is str and value:
                response["model"] = endpoint.model_id(value) or ""
            case "usageMetadata" if type(value) is dict:
                response["usage"] = usage_from_wire(value)
            case _:
                fields[name] = value
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
    feedback = body.get("promptFeedback")
    reason = feedback.get("blockReason") if type(feedback) is dict else None
    choice: dict[str, Any] = {"message": {"role": "assistant", "content": []}}
    if reason is not None:
        choice["finish_reason_raw"] = str(reason)
    choice["finish_reason"] = "content_filter" if reason is not None else "other"
    choice["provider_state"] = endpoint.state()
    return choice


def finish_reason(raw: str | None, blocks: list[Any]) -> str:
    """Why an answer ended. Content decides: an answer that holds calls to run waits for their results."""
    reason = FINISH.get(raw, "other") if raw is not None else "other"
    if reason not in ("length", "content_filter") and any(block["type"] == "tool_use" for block in blocks):
        return "tool_calls"
    return reason


def usage_from_wire(wire: Wire) -> dict[str, Any]:
    """Usage in disjoint buckets: the prompt count includes what was cached, the candidates count no thoughts."""
    cached = _count(wire.get("cachedContentTokenCount"))
    thoughts = _count(wire.get("thoughtsTokenCount"))
    prompt = (_count(wire.get("promptTokenCount")) or 0) + (_count(wire.get("toolUsePromptTokenCount")) or 0)
    # live sessions have another name for what was said
    said = _count(wire.get("candidatesTokenCount", wire.get("responseTokenCount"))) or 0
    usage: dict[str, Any] = {"input_tokens": max(prompt - (cached or 0), 0), "output_tokens": said + (thoughts or 0)}
    if cached is not None:
        usage["cached_input_tokens"] = cached
    if thoughts is not None:
        usage["reasoning_tokens"] = thoughts
    usage["raw"] = wire
    return usage


def _count(value: Any) -> int | None:
    if type(value) is str and value.isdecimal():
        value = int(value)  # the wire may spell 64-bit integers as texts
    return value if type(value) is int and value >= 0 else None


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire_response(answer: types.Response, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Writes an answer as this provider would give it, whatever its origin; one of this wire as it came.

    The report names what the wire cannot say, with pointers into the response.
    """
    response = data_of(answer)
    loss = Loss()
    writing = Writing(response, endpoint, loss)
    state = writing.owned(response)
    alternatives: list[dict[str, Any]] = response.get("alternatives") or []
    try:
        candidates = [_candidate_as_it_came(response, 0, writing, ())]
        for position, choice in enumerate(alternatives):
            writing.calls.clear()
            candidates.append(_candidate_as_it_came(choice, position + 1, writing, ("alternatives", position)))
    except UNREADABLE as problem:
        message = "a block lacks a member or has one of a wrong type"
        raise InvalidRequest(message, path="/message/content") from problem
    body = put_back_item(response, _body_of(response, candidates, state), endpoint, [], loss, kept_as=_BODY)
    if not body.get("candidates"):
        report_logprobs(response, loss, ())  # they stand in a candidate
    fields = {name: value for name, value in (state.get("fields") or {}).items() if name != "choice"}
    if "usage" in response:
        body["usageMetadata"] = usage_to_wire(response["usage"], own=writing.same_origin)
    elif not writing.same_origin:
        body["usageMetadata"] = usage_to_wire({}, own=False)
    if "model" in response:
        body["modelVersion"] = response["model"].partition(":")[2] or response["model"]
    elif not writing.same_origin:
        body["modelVersion"] = endpoint.model or "unknown"
    if "id" in response or not writing.same_origin:
        body["responseId"] = answer_id(response)
    for name, value in fields.items():
        body.setdefault(name, value)
    if not writing.same_origin:
        report_foreign_state(response, endpoint, loss, ())
    usage = body.get("usageMetadata")
    if usage is not None and usage is not (response.get("usage") or {}).get("raw"):
        report_usage(response, _UNCOUNTED, loss)
    report_rest(response, loss)
    return body, loss.entries


_UNCOUNTED: Final = ("cache_creation_input_tokens", "cache_creation_1h_input_tokens")
"""What the wire does not count apart."""


def _has_no_candidate(response: Response, state: Any) -> bool:
    """Whether an own answer says that its prompt was blocked before anything was said, which is the reason of no candidate."""
    if response["finish_reason"] != "content_filter" or response["message"]["content"]:
        return False
    feedback = (state.get("fields") or {}).get("promptFeedback")
    reason = feedback.get("blockReason") if type(feedback) is dict else None
    return reason is not None and response.get("finish_reason_raw") == str(reason)


def _candidate_as_it_came(choice: dict[str, Any], position: int, writing: Writing, path: Path) -> Wire:
    before = len(writing.loss.entries)
    candidate = _candidate(choice, position, writing, path)
    if not writing.encoding_of(choice):
        return candidate
    reported = writing.loss.entries[before:]
    return put_back_item(choice, candidate, writing.endpoint, reported, writing.loss, _said(choice))


def _said(choice: dict[str, Any]) -> dict[str, Any]:
    """What a candidate says; the first of them is the whole answer."""
    return {name: choice[name] for name in ("message", "finish_reason", "finish_reason_raw") if name in choice}


def _candidate(choice: dict[str, Any], position: int, writing: Writing, path: Path) -> Wire:
    message = choice["message"]
    writing.message = message
    before = len(writing.loss.entries)
    state = writing.owned(choice)
    fields = (state.get("fields") or {}).get("choice")
    fields = fields if isinstance(fields, dict) else {}
    parts: list[Wire] = []
    written: list[tuple[int, Block]] = []
    for index, block in enumerate(message["content"]):
        said = block
        if "groundingMetadata" in fields and "citations" in block:
            said = {name: value for name, value in block.items() if name != "citations"}  # the grounding says them
        part = answer_part(said, writing, (*path, "message", "content", index))
        if part is not None:
            parts.append(part)
            written.append((index, block))
    content: Wire = {**(writing.owned(message).get("fields") or NOTHING), "role": MODEL, "parts": parts}
    reported = writing.loss.entries[before:]
    content = put_back_item(message, content, writing.endpoint, reported, writing.loss)
    candidate = _around(content, position, _finish_to_wire(choice, writing, path))
    if writing.same_origin:
        if choice.get("logprobs") is not None:
            candidate["logprobsResult"] = choice["logprobs"]
    else:
        report_logprobs(choice, writing.loss, path)
    report_stop_sequence(choice, writing.loss, path)
    report_message(message, writing.loss, (*path, "message"))
    report_foreign_state(message, writing.endpoint, writing.loss, (*path, "message"))
    report_own_state(writing.owned(message), writing.loss, (*path, "message"))
    if path:
        report_foreign_state(choice, writing.endpoint, writing.loss, path)
        beside = {name: value for name, value in (state.get("fields") or {}).items() if name != "choice"}
        report_own_state({**state, "fields": beside}, writing.loss, path, fields=True)
        report_rest(choice, writing.loss, path)
    for name, value in fields.items():
        candidate.setdefault(name, value)
    if "groundingMetadata" in fields:
        report_citations(written, parts, candidate, writing, (*path, "message", "content"))
    return candidate


def _finish_to_wire(choice: dict[str, Any], writing: Writing, path: Path) -> str | None:
    reason, blocks = choice["finish_reason"], choice["message"]["content"]
    raw: str | None = choice.get("finish_reason_raw")
    if writing.same_origin and (
        finish_reason(raw, blocks) == reason or _has_no_candidate(choice, writing.owned(choice))
    ):
        return raw
    word = FINISH_WORD.get(reason, "OTHER")
    report_end(choice, finish_reason(word, blocks), writing.loss, path)
    return word


def answer_part(block: Block, writing: Writing, path: Path) -> Wire | None:
    """One block of an answer; reasoning of another provider is shown without its signature."""
    if writing.same_origin:
        return part_to_wire(block, MODEL, writing, path)
    if block["type"] == "thinking" and not is_own_thinking(block, writing):
        if block.get("signature") is not None:
            message = "reasoning of another provider is shown without a signature"
            severity = "lost" if block["signature"] else "representation"
            writing.loss.drop((*path, "signature"), "foreign_state", severity, message)
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        report_cache(block, writing, path)
        report_unknown(block, THINKING_MEMBERS, writing.loss, path)
        return {"text": block["text"], "thought": True}
    part = part_to_wire(block, MODEL, writing, path)
    if part is not None and block["type"] == "tool_use":
        # a client that gives the id back gets its call back
        part["functionCall"].setdefault("id", "call_" + block["id"].removeprefix("tu_"))
    return part


def answer_id(response: Response) -> str:
    """The answer's id: its own, else one derived from what it says."""
    identity = response.get("id") or response["message"].get("id")
    return identity or hashlib.sha256(json.dumps(response["message"])).hexdigest()[:22]


def usage_to_wire(usage: dict[str, Any], *, own: bool) -> Wire:
    """Usage as the wire counts it; the provider's own object where there is one."""
    if own and "raw" in usage and same_counts(usage_from_wire(usage["raw"]), usage):
        return usage["raw"]
    cached = usage.get("cached_input_tokens") or 0
    thoughts = usage.get("reasoning_tokens") or 0
    prompt = usage.get("input_tokens", 0) + cached + (usage.get("cache_creation_input_tokens") or 0)
    output = usage.get("output_tokens", 0)
    wire: Wire = {"promptTokenCount": prompt, "candidatesTokenCount": max(output - thoughts, 0)}
    if cached:
        wire["cachedContentTokenCount"] = cached
    if thoughts:
        wire["thoughtsTokenCount"] = thoughts
    return wire | {"totalTokenCount": prompt + output}
