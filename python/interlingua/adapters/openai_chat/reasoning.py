"""
Reasoning: the places in assistant messages where the dialects of this wire put it, and the settings that request it.

`reasoning_content`, `reasoning` and `reasoning_text` (GitHub Copilot) hold plain text. `reasoning_details` holds typed
items (OpenRouter). Mistral has a part `thinking` in the content, Databricks a part `reasoning`. Providers that send
details often send their text a second time under `reasoning`: the reader reads it once, and the writer writes it twice.

A request asks for reasoning with a word (`reasoning_effort`), OpenRouter's object `reasoning`, an object `thinking`
next to the word, or a switch `enable_thinking` next to a budget, as the dialect's `reasoning_control` states. Other
members that a provider accepts (the dialect's `reasoning_members`) are read as well, and their spelling is restored.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard

from interlingua.adapters._answers.answers import report_shown
from interlingua.adapters._engine.items import Item, ItemRow, Member, filled, opaque, read_item, same, text, write_item
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import read_elements
from interlingua.adapters._history.messages import OF_THINKING, no_place, report_rest
from interlingua.adapters._openai.members import effort
from interlingua.adapters._openai.parts import INDEX
from interlingua.adapters._requests.members import Members, whole_number
from interlingua.adapters._requests.reasoning import reasoning_writer
from interlingua.adapters.openai_chat.tables import Kept, Writing
from interlingua.canonical.loss import Path

DETAILS: Final = "reasoning_details"
TEXTS: Final = ("reasoning_content", "reasoning", "reasoning_text")
MEMBERS: Final = (*TEXTS, DETAILS)
PART: Final = "content"
PARTS: Final = ("thinking", "reasoning")
"""Types of content parts that are reasoning: that of Mistral and that of Databricks."""

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- rows


def _read_pieces(raw: Any, block: Item, reading: Reading) -> None:
    if not are_words(raw):
        raise TypeError("thinking")
    reading.must_compare = reading.must_compare or len(raw) != 1
    block["text"] = "".join([piece["text"] for piece in raw])


def _write_pieces(block: Item, _: Writing, __: Path) -> Any:
    return [{"type": "text", "text": block["text"]}]


def _read_summary(raw: Any, block: Item, reading: Reading) -> None:
    entry = summary_of({"summary": raw})
    if entry is None:
        raise TypeError("summary")
    reading.must_compare = reading.must_compare or not entry.get("signature", True)
    block["text"] = entry["text"]
    if entry.get("signature"):
        block["signature"] = entry["signature"]


def _write_summary(block: Item, _: Writing, __: Path) -> Any:
    entry = {"type": "summary_text", "text": block["text"]}
    if block.get("signature") is not None:
        entry["signature"] = block["signature"]
    return [entry]


_SIGNATURE: Final = text("signature", "signature")
_DETAILS: Final[Mapping[Any, ItemRow]] = {
    "reasoning.text": ItemRow({"type": "reasoning.text"}, same("text", "text", str, always=True), _SIGNATURE, INDEX),
    "reasoning.summary": ItemRow(
        {"type": "reasoning.summary"}, same("summary", "text", str, always=True), _SIGNATURE, INDEX
    ),
    "reasoning.encrypted": ItemRow({"type": "reasoning.encrypted"}, filled("data", "data"), INDEX),
}
_WORDS: Final = ItemRow(
    {"type": "thinking"},
    Member("thinking", ("text",), _read_pieces, _write_pieces, needed=True),
    text("signature", "signature", soft=True),
)
_SUMMARY: Final = ItemRow(
    {"type": "reasoning"}, Member("summary", ("text", "signature"), _read_summary, _write_summary, needed=True)
)

# ---------------------------------------------------------------------------------------------------- to the wire


def reasoning_to_wire(block: Block, path: Path, writing: Writing) -> tuple[str, Any]:
    """Return the place of a reasoning block on the wire, and the value there. Raises `Refused` for a block without a
    place.

    The place is one of `MEMBERS` or `PART`. With `PART` the value is a content part, or None when nothing of the block
    is written.
    """
    state = writing.state_of(block)
    encoding = writing.encoding_of(block)
    place = _place(block, state, encoding, writing)
    if place is None:
        raise no_place(block, writing)
    if not state and block.get("provider_state"):
        report_shown(block, writing, path)
        block = {"type": "thinking", "text": block["text"]}
    value = block["data"] if block["type"] == "redacted_thinking" else block["text"]
    shown = writing.answering and not state and block.get("signature") is None  # a stream of it would have no delta
    if not value and (place in TEXTS or block["type"] == "redacted_thinking" or shown):
        writing.loss.drop(path, "empty_content", "representation", "empty reasoning has no effect in this place")
        return PART, None
    if place == DETAILS:
        kind = "reasoning.encrypted" if block["type"] == "redacted_thinking" else "reasoning.text"
        return place, write_item(_DETAILS[encoding.get("type") or kind], block, writing, path)
    if place == PART:
        return place, write_item(_SUMMARY if encoding.get("type") == "reasoning" else _WORDS, block, writing, path)
    if len(block) > 2:
        report_rest(block, OF_THINKING, writing, path)
    return place, block["text"]


def _place(block: Block, state: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing) -> str | None:
    if not state and block.get("provider_state") and not (writing.answering and block["type"] == "thinking"):
        return None
    place = encoding.get("member") or writing.dialect.get("reasoning_replay")
    if place in TEXTS or place == PART:
        return place if block["type"] == "thinking" else None
    return place if place == DETAILS else None


# ---------------------------------------------------------------------------------------------------- from the wire


def reasoning_from_wire(message: Wire, reading: Reading, kept: Kept) -> list[Block]:
    """Read the reasoning in the members of an assistant message; add to `kept` what has no block."""
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
            reading.must_compare = reading.must_compare or any(block["type"] == "opaque" for block in blocks)
            blocks.insert(0, thinking_from_text(text, name, reading))
            so_far = text
    return blocks


def thinking_from_text(text: str, member: str, reading: Reading) -> Block:
    """Return a thinking block from a member that holds plain text."""
    return {"type": "thinking", "text": text, "provider_state": reading.state(encoding={"member": member})}


def detail_from_wire(item: Wire, reading: Reading) -> Block:
    """Return a block from an item of `reasoning_details`. An item that cannot be read is kept whole."""
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
    """Return the plain text of an item of `reasoning_details`."""
    match item:
        case {"type": "reasoning.text", "text": str(text)} | {"type": "reasoning.summary", "summary": str(text)}:
            return text
        case _:
            return ""


def thinking_part_from_wire(part: Wire, reading: Reading) -> Block | None:
    """Return a thinking block from a content part, or None when it cannot be read in full."""
    summarized = part.get("type") == "reasoning"
    encoding = {"member": PART, "type": "reasoning"} if summarized else {"member": PART}
    block: Block = {"type": "thinking", "provider_state": reading.state(encoding=encoding)}
    try:
        return read_item(_SUMMARY if summarized else _WORDS, part, block, reading)
    except (KeyError, TypeError):
        return None


def summary_of(part: Wire) -> Wire | None:
    """Return the only text of a part of Databricks, with its signature; None when there is no such text."""
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


# ---------------------------------------------------------------------------------------------------- settings


IDLE: Final = "idle"


class Setting(NamedTuple):
    """A member of the canonical settings for reasoning. Its wire value is the same, or `words` gives it by canonical
    value; `IDLE` is the value that has no effect. It is not used next to the member `yields_to` of its object."""

    member: str
    words: Mapping[str, Any] | None = None
    yields_to: str = ""


_SWITCH: Final = {"enabled": True, "disabled": False}
_SETTINGS: Final[Mapping[str, Setting | Mapping[str, Setting]]] = {
    "reasoning_effort": Setting("effort"),
    "reasoning": {  # OpenRouter's
        "effort": Setting("effort"),
        "max_tokens": Setting("budget_tokens", yields_to="effort"),
        "enabled": Setting("mode", _SWITCH),
        "exclude": Setting("display", {"omitted": True, IDLE: False}),
        "summary": Setting("display", {"summarized": "auto"}),
    },
    "thinking": {  # that of Anthropic's wire
        "type": Setting("mode", {mode: mode for mode in ("enabled", "disabled", "adaptive")}),
        "budget_tokens": Setting("budget_tokens"),
    },
    "enable_thinking": Setting("mode", _SWITCH),
    "thinking_budget": Setting("budget_tokens"),
    "disable_reasoning": Setting("mode", {"disabled": True}),
    "include_reasoning": Setting("display", {"omitted": False}),
    "reasoning_format": Setting("display", {"omitted": "hidden"}),
    "prompt_mode": Setting("mode", {"enabled": "reasoning"}),
    "chat_template_kwargs": {"enable_thinking": Setting("mode", _SWITCH), "thinking": Setting("mode", _SWITCH)},
}
SETTINGS: Final = frozenset(_SETTINGS)
"""All members with which a request asks some provider for reasoning."""

_CONTROLS: Final[dict[str, tuple[str, ...]]] = {
    "reasoning_effort": ("reasoning_effort",),
    "reasoning": ("reasoning",),
    "thinking": ("thinking", "reasoning_effort"),
    "enable_thinking": ("enable_thinking", "thinking_budget"),
    "none": (),
}
"""The members that are written, by the dialect's `reasoning_control`."""

# ---------------------------------------------------------------------------------------------------- settings to the wire


def _settings_to_wire(value: dict[str, Any], body: Wire, writing: Writing) -> tuple[None, dict[str, Any]]:
    """Write the settings for reasoning in the way that the provider accepts."""
    control = writing.dialect.get("reasoning_control") or "reasoning_effort"
    written: dict[str, Any] = {}
    match control:
        case "reasoning":
            _write("reasoning", value, body, written)
        case "thinking":
            _write("thinking", {"mode": _switched(value, by_effort=False)}, body, written)
            if value.get("effort") not in (None, "none"):  # the switch states these
                _write_effort(value, body, written, writing)
        case "enable_thinking":
            # an effort switches reasoning on or off
            _write("enable_thinking", {"mode": _switched(value, by_effort=True)}, body, written)
            if written.get("mode") != "disabled":
                _write("thinking_budget", value, body, written)
        case _:
            _write_effort(value, body, written, writing)
    return None, written


settings_to_wire: Final = reasoning_writer("reasoning_effort", _settings_to_wire)


def _write(name: str, wish: Mapping[str, Any], body: Wire, written: dict[str, Any]) -> None:
    """Write a member, as far as it expresses something of the settings; `written` collects what it expresses."""
    setting = _SETTINGS[name]
    rows = {"": setting} if isinstance(setting, Setting) else setting
    for inner, row in rows.items():
        value = wish.get(row.member)
        word = value if row.words is None or value is None else row.words.get(value)
        if word is None or (row.yields_to and row.yields_to in written):
            continue
        written[row.member] = value
        if inner:
            body.setdefault(name, {})[inner] = word
        else:
            body[name] = word


def _switched(value: Mapping[str, Any], *, by_effort: bool) -> str | None:
    """Return whether reasoning is switched on or off, where the provider has a separate setting for this."""
    mode, word, budget = value.get("mode"), value.get("effort"), value.get("budget_tokens")
    if word == "none":
        return "disabled"
    if mode is None and (budget is not None or (by_effort and word is not None)):
        return "enabled"
    return mode if mode != "adaptive" else None


def _write_effort(value: Mapping[str, Any], body: Wire, written: dict[str, Any], writing: Writing) -> None:
    if (word := effort(value, writing)) is not None:
        written["effort"] = body["reasoning_effort"] = word


def calls_without_reasoning(body: Wire, writing: Writing) -> bool:
    """Whether the model does not reason because the request has tools."""
    if writing.capabilities.get("tools_with_reasoning") is not False or "tools" not in body:
        return False
    return not writing.verbatim("tools", "reasoning")


def effort_beside_tools(body: Wire, writing: Writing) -> None:
    """Turn reasoning off for a model that calls tools over this wire only when it does not reason."""
    if not calls_without_reasoning(body, writing):
        return
    if body.get("reasoning_effort") != "none":
        body["reasoning_effort"] = "none"
        message = "on this wire the model calls tools only without reasoning"
        writing.loss.replace(("reasoning",), {"effort": "none"}, "combination", "weakened", message)


# ---------------------------------------------------------------------------------------------------- settings from the wire


def settings_from_wire(name: str, value: Any, members: Members[Any]) -> bool:
    """Read a member that asks for reasoning. A member that repeats a setting, or states none, stays an option."""
    dialect = members.endpoint.dialect
    control = dialect.get("reasoning_control") or "reasoning_effort"
    if name not in _CONTROLS.get(control, ()) and name not in dialect.get("reasoning_members", ()):
        return False
    if name != "reasoning" and control == "reasoning" and members.body.get("reasoning") is not None:
        return False  # next to the object another member would repeat the setting
    read: dict[str, Any] = {}
    rest = _read(_SETTINGS[name], value, read)
    if not read or not members.add_reasoning(read):
        return False
    if rest:
        members.options[name] = rest
    return True


def _read(setting: Setting | Mapping[str, Setting], value: Any, read: dict[str, Any]) -> Wire:
    """Read into `read` what a member states of reasoning; return the members of an object that state nothing of it."""
    if isinstance(setting, Setting):
        if (meaning := _meaning(setting, value)) is not None:
            read[setting.member] = meaning
        return {}
    if type(value) is not dict:
        return {}
    rest: Wire = {**value}
    for name, row in setting.items():
        said = _meaning(row, value.get(name))
        if said is None or row.member in read or (row.yields_to and row.yields_to in value):
            continue
        del rest[name]
        if said != IDLE:
            read[row.member] = said
    return rest


def _meaning(setting: Setting, value: Any) -> Any:
    """Return the meaning of a value, or None where the value is not one of the expected ones."""
    if setting.words is not None:
        known = [meaning for meaning, word in setting.words.items() if type(word) is type(value) and word == value]
        return known[0] if known else None
    if setting.member == "effort":
        return value if type(value) is str else None
    budget = whole_number(value)
    return budget if budget is not None and budget >= 0 else None
