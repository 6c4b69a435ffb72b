"""
Reasoning: the places where the dialects of this wire put it in assistant messages, and the settings by which it is asked for.

`reasoning_content`, `reasoning` and `reasoning_text` (GitHub Copilot) hold plain text, `reasoning_details` typed items
(OpenRouter), and Mistral has a part `thinking` among the content, Databricks a part `reasoning`. Providers that send
details often send their text a second time under `reasoning`: it is read once, and written twice.

Reasoning is asked for by a word (`reasoning_effort`), OpenRouter's object `reasoning`, an object `thinking` beside the word, or
a switch `enable_thinking` beside a budget, as the dialect's `reasoning_control` says. What a provider takes besides (the
dialect's `reasoning_members`) is read as well, and goes back as it was spelt.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from interlingua.adapters._items import Item, Member, Row, filled, opaque, read_item, same, text, write_item
from interlingua.adapters._kit import NOTHING, Wire, report_foreign_state
from interlingua.adapters._members import Members, whole
from interlingua.adapters._messages import OF_THINKING, no_place, report_beside
from interlingua.adapters._openai_members import effort, takes_reasoning
from interlingua.adapters._openai_parts import INDEX
from interlingua.adapters._reasoning import asked, report_wish
from interlingua.adapters._spelling import read_elements
from interlingua.adapters.openai_chat.tables import Kept, Reading, Writing
from interlingua.canonical.loss import Path

DETAILS: Final = "reasoning_details"
TEXTS: Final = ("reasoning_content", "reasoning", "reasoning_text")
MEMBERS: Final = (*TEXTS, DETAILS)
PART: Final = "content"
PARTS: Final = ("thinking", "reasoning")
"""Types of content parts that are reasoning: Mistral's, and the one of Databricks."""

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- rows


def _read_pieces(raw: Any, block: Item, reading: Reading) -> None:
    if not are_words(raw):
        raise TypeError("thinking")
    reading.unusual = reading.unusual or len(raw) != 1
    block["text"] = "".join([piece["text"] for piece in raw])


def _write_pieces(block: Item, _: Writing, __: Path) -> Any:
    return [{"type": "text", "text": block["text"]}]


def _read_summary(raw: Any, block: Item, reading: Reading) -> None:
    entry = summary_of({"summary": raw})
    if entry is None:
        raise TypeError("summary")
    reading.unusual = reading.unusual or not entry.get("signature", True)
    block["text"] = entry["text"]
    if entry.get("signature"):
        block["signature"] = entry["signature"]


def _write_summary(block: Item, _: Writing, __: Path) -> Any:
    entry = {"type": "summary_text", "text": block["text"]}
    if block.get("signature") is not None:
        entry["signature"] = block["signature"]
    return [entry]


_SIGNATURE: Final = text("signature", "signature")
_DETAILS: Final[Mapping[Any, Row]] = {
    "reasoning.text": Row({"type": "reasoning.text"}, same("text", "text", str, always=True), _SIGNATURE, INDEX),
    "reasoning.summary": Row(
        {"type": "reasoning.summary"}, same("summary", "text", str, always=True), _SIGNATURE, INDEX
    ),
    "reasoning.encrypted": Row({"type": "reasoning.encrypted"}, filled("data", "data"), INDEX),
}
_WORDS: Final = Row(
    {"type": "thinking"},
    Member("thinking", ("text",), _read_pieces, _write_pieces, needed=True),
    text("signature", "signature", soft=True),
)
_SUMMARY: Final = Row(
    {"type": "reasoning"}, Member("summary", ("text", "signature"), _read_summary, _write_summary, needed=True)
)

# ---------------------------------------------------------------------------------------------------- to the wire


def reasoning_to_wire(block: Block, path: Path, writing: Writing) -> tuple[str, Any]:
    """Where a reasoning block goes, and what stands there.

    The place is one of `MEMBERS`, or `PART`: then it is a content part, or None when the block was dropped.
    """
    state = writing.state_of(block)
    encoding = writing.encoding_of(block)
    place = _place(block, state, encoding, writing)
    if place is None:
        code, message = no_place(block, writing)
        return PART, writing.loss.block(path, block, code, "lost", message)
    if not state and block.get("provider_state"):
        block = _shown(block, path, writing)
    value = block["data"] if block["type"] == "redacted_thinking" else block["text"]
    shown = writing.answering and not state and block.get("signature") is None  # a stream of it would say nothing
    if not value and (place in TEXTS or block["type"] == "redacted_thinking" or shown):
        writing.loss.drop(path, "empty_content", "representation", "empty reasoning says nothing in this place")
        return PART, None
    if place == DETAILS:
        kind = "reasoning.encrypted" if block["type"] == "redacted_thinking" else "reasoning.text"
        return place, write_item(_DETAILS[encoding.get("type") or kind], block, writing, path)
    if place == PART:
        return place, write_item(_SUMMARY if encoding.get("type") == "reasoning" else _WORDS, block, writing, path)
    if len(block) > 2:
        report_beside(block, OF_THINKING, writing, path)
    return place, block["text"]


def _shown(block: Block, path: Path, writing: Writing) -> Block:
    """Reasoning of another provider as an answer shows it: its words, without what belongs to its provider."""
    report_foreign_state(block, writing.endpoint, writing.loss, path)
    if block.get("signature") is not None:
        message = "a proof of another provider has no place here"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost", message)
    return {name: value for name, value in block.items() if name not in ("signature", "provider_state")}


def _place(block: Block, state: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing) -> str | None:
    if not state and block.get("provider_state") and not (writing.answering and block["type"] == "thinking"):
        return None
    place = encoding.get("member") or writing.dialect.get("reasoning_replay")
    if place in TEXTS or place == PART:
        return place if block["type"] == "thinking" else None
    return place if place == DETAILS else None


# ---------------------------------------------------------------------------------------------------- from the wire


def reasoning_from_wire(message: Wire, reading: Reading, kept: Kept) -> list[Block]:
    """The reasoning of an assistant message that stands beside its content; adds to what is kept of the message."""
    blocks: list[Block] = []
    so_far = ""
    if details := message.get(DETAILS):
        if isinstance(details, list) and all(isinstance(item, dict) for item in details):
            blocks = read_elements(detail_from_wire, details, reading, DETAILS, "index", kept.spellings)
            so_far = "".join(block["text"] for block in blocks if block["type"] == "thinking")
        else:
            kept.fields[DETAILS] = details
    for name in TEXTS:
        text = message.get(name)
        if not text:
            continue
        if not isinstance(text, str) or (so_far and text != so_far):
            kept.fields[name] = text
        elif so_far:
            kept.places.setdefault("also", []).append(name)
        else:
            reading.unusual = reading.unusual or any(block["type"] == "opaque" for block in blocks)
            blocks.insert(0, thinking_from_text(text, name, reading))
            so_far = text
    return blocks


def thinking_from_text(text: str, member: str, reading: Reading) -> Block:
    """A thinking block from a member that holds plain text."""
    return {"type": "thinking", "text": text, "provider_state": reading.state(encoding={"member": member})}


def detail_from_wire(item: Wire, reading: Reading) -> Block:
    """A block from an item of `reasoning_details`. What cannot be read is kept whole."""
    kind = item.get("type")
    encoding: dict[str, Any] = {"member": DETAILS}
    block: Block = {"type": "thinking", "text": "", "provider_state": reading.state(encoding=encoding)}
    if kind == "reasoning.encrypted":
        block = {"type": "redacted_thinking", "provider_state": block["provider_state"]}
    elif kind == "reasoning.summary":
        encoding["type"] = kind
    try:
        return read_item(_DETAILS[kind], item, block, reading)
    except (KeyError, TypeError):
        return opaque(item, DETAILS, reading)


def detail_text(item: Wire) -> str:
    """What an item of `reasoning_details` says in words."""
    match item:
        case {"type": "reasoning.text", "text": str(text)} | {"type": "reasoning.summary", "summary": str(text)}:
            return text
        case _:
            return ""


def thinking_part_from_wire(part: Wire, reading: Reading) -> Block | None:
    """A thinking block from a content part; None when it cannot be read in full."""
    summarized = part.get("type") == "reasoning"
    encoding = {"member": PART, "type": "reasoning"} if summarized else {"member": PART}
    block: Block = {"type": "thinking", "provider_state": reading.state(encoding=encoding)}
    try:
        return read_item(_SUMMARY if summarized else _WORDS, part, block, reading)
    except (KeyError, TypeError):
        return None


def summary_of(part: Wire) -> Wire | None:
    """The one text of a part of Databricks, with its proof; None when it is none."""
    summary = part.get("summary")
    entry = summary[0] if isinstance(summary, list) and len(summary) == 1 else None
    if (
        isinstance(entry, dict)
        and entry.keys() <= _OF_SUMMARIES
        and entry.get("type") == "summary_text"
        and isinstance(entry.get("text"), str)
        and isinstance(entry.get("signature"), (str, type(None)))
    ):
        return entry
    return None


_OF_SUMMARIES: Final = frozenset(("type", "text", "signature"))


def are_words(pieces: Any) -> TypeGuard[list[Wire]]:
    """Whether the pieces of a thinking part are all plain text."""
    return isinstance(pieces, list) and all(
        isinstance(piece, dict)
        and len(piece) == 2
        and piece.get("type") == "text"
        and isinstance(piece.get("text"), str)
        for piece in pieces
    )


# ---------------------------------------------------------------------------------------------------- settings to the wire


def settings_to_wire(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Asks for reasoning as the provider is asked for it."""
    value = asked(value)
    if not value or not takes_reasoning(name, writing):
        return
    control = writing.dialect.get("reasoning_control") or "reasoning_effort"
    if control == "none":
        writing.loss.drop((name,), "unsupported_field", "weakened", "the provider takes no reasoning settings")
        return
    match control:
        case "reasoning":
            written = _reasoning_object(value, body)
        case "thinking":
            written = _thinking_object(value, body, writing)
        case "enable_thinking":
            written = _thinking_switch(value, body)
        case _:
            written = {}
            if (word := effort(value, writing)) is not None:
                written["effort"] = body["reasoning_effort"] = word
    report_wish(value, written, writing)


def _reasoning_object(value: Mapping[str, Any], body: Wire) -> dict[str, Any]:
    """OpenRouter's object. It takes an effort or a budget, not both."""
    written: dict[str, Any] = {}
    wire: Wire = {}
    if "effort" in value:
        written["effort"] = wire["effort"] = value["effort"]
    elif "budget_tokens" in value:
        written["budget_tokens"] = wire["max_tokens"] = value["budget_tokens"]
    if value.get("mode") in ("enabled", "disabled"):
        written["mode"] = value["mode"]
        wire["enabled"] = value["mode"] == "enabled"
    if value.get("display") == "omitted":
        written["display"] = "omitted"
        wire["exclude"] = True
    elif value.get("display") == "summarized":
        written["display"] = "summarized"
        wire["summary"] = "auto"
    if wire:
        body["reasoning"] = wire
    return written


def _thinking_object(value: Mapping[str, Any], body: Wire, writing: Writing) -> dict[str, Any]:
    written: dict[str, Any] = {}
    mode = value.get("mode")
    if mode is None and "budget_tokens" in value:
        mode = "enabled"
    if value.get("effort") == "none":  # the member that turns it off is another one
        mode, value = "disabled", NOTHING
    if mode in ("enabled", "disabled"):
        written["mode"] = mode
        body["thinking"] = {"type": mode}
    if value.get("effort") is not None and (word := effort(value, writing)) is not None:
        written["effort"] = body["reasoning_effort"] = word
    return written


def _thinking_switch(value: Mapping[str, Any], body: Wire) -> dict[str, Any]:
    """A switch, and a budget beside it. An effort is a wish to think, or not to."""
    written: dict[str, Any] = {}
    mode, word, budget = value.get("mode"), value.get("effort"), value.get("budget_tokens")
    if mode == "disabled" or word == "none":
        written["mode"], body["enable_thinking"] = "disabled", False
    elif mode == "enabled" or (mode is None and (word is not None or budget is not None)):
        written["mode"], body["enable_thinking"] = "enabled", True
    if budget is not None and written.get("mode") != "disabled":
        written["budget_tokens"] = body["thinking_budget"] = budget
    return written


def calls_without_reasoning(body: Wire, writing: Writing) -> bool:
    """Whether the model does not reason because the request has tools."""
    if writing.capabilities.get("tools_with_reasoning") is not False or "tools" not in body:
        return False
    return not writing.verbatim("tools", "reasoning")


def effort_beside_tools(body: Wire, writing: Writing) -> None:
    """Some models call tools over this wire only when they do not reason."""
    if not calls_without_reasoning(body, writing):
        return
    if body.get("reasoning_effort") != "none":
        body["reasoning_effort"] = "none"
        message = "over this wire the model calls tools only without reasoning"
        writing.loss.replace(("reasoning",), {"effort": "none"}, "combination", "weakened", message)


# ---------------------------------------------------------------------------------------------------- settings from the wire

Settings = tuple[dict[str, Any], Wire]
"""What a member says of reasoning, and what is left of it as an option."""


def _meaning(name: str, value: Any) -> Settings | None:
    """What a member says; None where it does not say what it should."""
    match name, value:
        case "reasoning_effort", str():
            return {"effort": value}, {}
        case "reasoning", dict():
            return _object(value)
        case "thinking", {"type": "enabled" | "disabled" | "adaptive"}:
            return _thinking(value)
        case "enable_thinking", bool():
            return {"mode": "enabled" if value else "disabled"}, {}
        case "thinking_budget", _ if (budget := whole(value)) is not None and budget >= 0:
            return {"budget_tokens": budget}, {}
        case "disable_reasoning", True:
            return {"mode": "disabled"}, {}
        case ("include_reasoning", False) | ("reasoning_format", "hidden"):
            return {"display": "omitted"}, {}
        case "prompt_mode", "reasoning":
            return {"mode": "enabled"}, {}
        case "chat_template_kwargs", {"enable_thinking": bool(switch)} | {"thinking": bool(switch)}:
            member = "enable_thinking" if isinstance(value.get("enable_thinking"), bool) else "thinking"
            mode = "enabled" if switch else "disabled"
            return {"mode": mode}, {other: item for other, item in value.items() if other != member}
        case _:
            return None


def _object(value: Wire) -> Settings:
    """OpenRouter's object. It takes an effort or a budget, not both."""
    read: dict[str, Any] = {}
    rest: Wire = {}
    for name, item in value.items():
        match name:
            case "effort" if isinstance(item, str):
                read["effort"] = item
            case "max_tokens" if (budget := whole(item)) is not None and budget >= 0 and "effort" not in value:
                read["budget_tokens"] = budget
            case "enabled" if isinstance(item, bool):
                read["mode"] = "enabled" if item else "disabled"
            case "exclude" if item is True:
                read["display"] = "omitted"
            case "exclude" if item is False:
                pass  # so it is anyway
            case "summary" if item == "auto" and value.get("exclude") is not True:
                read["display"] = "summarized"
            case _:
                rest[name] = item
    return read, rest


def _thinking(value: Wire) -> Settings:
    """The object of Anthropic's wire: a mode, and a budget."""
    read: dict[str, Any] = {"mode": value["type"]}
    budget = whole(value.get("budget_tokens"))
    if budget is not None and budget >= 0:
        read["budget_tokens"] = budget
    known = ("type", "budget_tokens") if "budget_tokens" in read else ("type",)
    return read, {name: item for name, item in value.items() if name not in known}


SETTINGS: Final = frozenset(
    (
        "reasoning_effort",
        "reasoning",
        "thinking",
        "enable_thinking",
        "thinking_budget",
        "disable_reasoning",
        "include_reasoning",
        "reasoning_format",
        "prompt_mode",
        "chat_template_kwargs",
    )
)
"""All members by which some provider is asked for reasoning."""
MERGED: Final = frozenset(("reasoning", "thinking", "chat_template_kwargs"))
"""Those that are objects: what of them has no canonical word is an option, and both are written into one."""

_CONTROLS: Final[dict[str, tuple[str, ...]]] = {
    "reasoning_effort": ("reasoning_effort",),
    "reasoning": ("reasoning",),
    "thinking": ("thinking", "reasoning_effort"),
    "enable_thinking": ("enable_thinking", "thinking_budget"),
    "none": (),
}
"""The members that are written, by the dialect's `reasoning_control`."""


def settings_from_wire(name: str, value: Any, members: Members[Any]) -> bool:
    """Reads a member by which the provider is asked for reasoning; one that says it again, or nothing, stays an option."""
    dialect = members.endpoint.dialect
    control = dialect.get("reasoning_control") or "reasoning_effort"
    if name not in _CONTROLS.get(control, ()) and name not in dialect.get("reasoning_members", ()):
        return False
    if name != "reasoning" and control == "reasoning" and members.body.get("reasoning") is not None:
        return False  # beside the object another member would say it a second time
    found = _meaning(name, value)
    if found is None or not found[0]:
        return False
    read, rest = found
    if not members.wish(read):
        return False
    if rest:
        members.options[name] = rest
    return True
