"""Results to the wire: what a tool said in one object, media behind it or in the next user content."""

from collections.abc import Mapping
from typing import Any

from interlingua.adapters._kit import NOTHING, RESULT_MEMBERS, Wire
from interlingua.adapters.gemini_generate.calls import unwrapped, wrapped
from interlingua.adapters.gemini_generate.context import Writing
from interlingua.adapters.gemini_generate.media import MEDIA
from interlingua.adapters.gemini_generate.parts import TEXT_MEMBERS, part_to_wire, report_text_extras
from interlingua.adapters.gemini_generate.state import RESULT, Block, finished, report_stateless, reported
from interlingua.canonical.errors import ResultWithoutCall
from interlingua.canonical.loss import Path, pointer


def result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A tool result. Media that cannot stand in one are noted to travel in the next user content."""
    content: list[Block] = block["content"]
    if len(block) == 3 and len(content) == 1 and len(said := content[0]) == 2 and said["type"] == "text":
        called, call_id = _answered(block, writing, NOTHING, path)
        answer: Wire = {"name": called, "response": {"result": said["text"]}}
        if call_id is not None:
            answer["id"] = call_id
        return {"functionResponse": answer}
    texts: list[str] = []
    media: list[Wire] = []
    late: list[Wire] = []
    inside = writing.takes_media_in_results()
    last_text = max((at for at, item in enumerate(content) if _may_be_text(item, inside, writing)), default=-1)
    for position, item in enumerate(content):
        kind = item["type"]
        where = (*path, "content", position)
        if len(item) == 2 and kind == "text":
            texts.append(item["text"])
        elif (part := _said(item, writing, where)) is None:
            continue
        elif kind in MEDIA and part.get("text") is None and not inside:
            texts.append(f"[{kind} {len(writing.outside) + 1}: see the next user message]")
            writing.outside.append((where, texts[-1], part))
        elif part.get("text") is not None and (kind != "opaque" or "text" not in item["value"]):
            texts.append(part["text"])
        elif position < last_text:
            writing.moves.append((where, (*path, "content", "-")))
            late.append(part)
        else:
            media.append(part)
    encoding = writing.encoding_of(block)
    name, wire_id = _answered(block, writing, encoding, path)
    response: Wire = {"name": name, "response": wrapped(texts, bool(block.get("is_error")), encoding)}
    if wire_id is not None:
        response["id"] = wire_id
    if encoding and writing.same_origin:
        _spell(response, encoding, writing)
    if media or late or (encoding.get("parts") and writing.same_origin):
        response["parts"] = media + late
    if block.get("is_error"):
        message = "the failure travels as the member error of the response"
        writing.loss.replace((*path, "is_error"), True, "envelope", "representation", message)
        if texts == [""]:
            first = next(at for at, item in enumerate(content) if item["type"] == "text")
            message = "a failure without a text is the empty text on the wire"
            writing.loss.drop((*path, "content", first), "empty_content", "representation", message)
    return finished(block, {"functionResponse": response}, "functionResponse", RESULT_MEMBERS, writing, path)


def _answered(block: Block, writing: Writing, encoding: Mapping[str, Any], path: Path) -> tuple[str, str | None]:
    """The wire name and id of the call that a result answers. A result of none goes back only as it came."""
    call = writing.calls.get(block["tool_use_id"])
    if call is None and not (writing.paired and "name" in encoding):
        message = "the result answers no call before it"
        raise ResultWithoutCall(message, path=pointer((*path, "tool_use_id")))
    return call or ("", None)


def _may_be_text(item: Block, inside: bool, writing: Writing) -> bool:
    """Whether a block of a result is said in its text."""
    kind = item["type"]
    return kind == "text" or writing.loss.placeholders or (kind in MEDIA and not inside)


def _said(item: Block, writing: Writing, path: Path) -> Wire | None:
    """A block of a result as a part; texts have no members of their own inside a result."""
    if item["type"] != "text":
        return part_to_wire(item, RESULT, writing, path)
    report_text_extras(item, writing, path)
    reported(item, TEXT_MEMBERS, writing, path)
    report_stateless(item, "a text of a result has no members of its own", writing, path)
    return {"text": item["text"]}


def _spell(response: Wire, encoding: Mapping[str, Any], writing: Writing) -> None:
    """Puts back what a result left out, and by what it named its call where that is still read as the same call."""
    for name in ("name", "id"):
        if name in encoding and writing.paired:
            if encoding[name] is None:
                response.pop(name, None)
            else:
                response[name] = encoding[name]
    response["response"] = unwrapped(response["response"], encoding)
    if response["response"] is None and encoding["response"] == "absent":
        del response["response"]
