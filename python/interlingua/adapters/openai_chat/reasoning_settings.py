"""
Settings of reasoning: a word (`reasoning_effort`), OpenRouter's object `reasoning`, an object `thinking` beside the word, or
a switch `enable_thinking` beside a budget, as the dialect's `reasoning_control` says; written above read. What a provider
takes besides (the dialect's `reasoning_members`) is read as well, and goes back as it was spelt.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Wire
from interlingua.adapters._members import Members, whole
from interlingua.adapters._openai_members import effort, report_reasoning, takes_reasoning
from interlingua.adapters.openai_chat.context import Writing

Request = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def settings_to_wire(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Asks for reasoning as the provider is asked for it."""
    value = {key: item for key, item in value.items() if item is not None}
    if not value:
        return
    if not takes_reasoning(name, writing):
        return
    if writing.same_origin and (spelt := _spelt(value, writing)) is not None:
        body.update(spelt)
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
            if (asked := effort(value, writing)) is not None:
                written["effort"] = body["reasoning_effort"] = asked
    report_reasoning(name, value, written, writing)


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
    if value.get("effort") == "none" and not writing.same_origin:  # the member that turns it off is another one
        mode, value = "disabled", NOTHING
    if mode in ("enabled", "disabled"):
        written["mode"] = mode
        body["thinking"] = {"type": mode}
    if value.get("effort") is not None and (asked := effort(value, writing)) is not None:
        written["effort"] = body["reasoning_effort"] = asked
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


# ---------------------------------------------------------------------------------------------------- from the wire

Settings = tuple[dict[str, Any], Any, Any]
"""What a member says of reasoning, that part of it as it was spelt, and what is left of it as an option (None: nothing)."""


def _word(value: Any) -> Settings | None:
    return ({"effort": value}, value, None) if isinstance(value, str) else None


def _object(value: Any) -> Settings | None:
    """OpenRouter's object. It takes an effort or a budget, not both."""
    if not isinstance(value, dict):
        return None
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
    return read, _without(value, rest), rest or None


def _thinking(value: Any) -> Settings | None:
    """The object of Anthropic's wire: a mode, and a budget."""
    if not isinstance(value, dict) or value.get("type") not in ("enabled", "disabled", "adaptive"):
        return None
    read: dict[str, Any] = {"mode": value["type"]}
    budget = whole(value.get("budget_tokens"))
    if budget is not None and budget >= 0:
        read["budget_tokens"] = budget
    known = ("type", "budget_tokens") if "budget_tokens" in read else ("type",)
    rest = {name: item for name, item in value.items() if name not in known}
    return read, _without(value, rest), rest or None


def _switch(value: Any) -> Settings | None:
    return ({"mode": "enabled" if value else "disabled"}, value, None) if isinstance(value, bool) else None


def _budget(value: Any) -> Settings | None:
    budget = whole(value)
    return ({"budget_tokens": budget}, value, None) if budget is not None and budget >= 0 else None


def _off(value: Any) -> Settings | None:
    return ({"mode": "disabled"}, value, None) if value is True else None


def _shown(value: Any) -> Settings | None:
    return ({"display": "omitted"}, value, None) if value is False else None


def _shape(value: Any) -> Settings | None:
    return ({"display": "omitted"}, value, None) if value == "hidden" else None


def _prompt_mode(value: Any) -> Settings | None:
    return ({"mode": "enabled"}, value, None) if value == "reasoning" else None


def _template(value: Any) -> Settings | None:
    """What the template of a model is given: one of the two names that models have for the switch."""
    if not isinstance(value, dict):
        return None
    for name in ("enable_thinking", "thinking"):
        if isinstance(switch := value.get(name), bool):
            rest = {other: item for other, item in value.items() if other != name}
            return {"mode": "enabled" if switch else "disabled"}, {name: switch}, rest or None
    return None


def _without(value: Wire, rest: Wire) -> Wire:
    return {name: item for name, item in value.items() if name not in rest}


_READ: Final[dict[str, Callable[[Any], Settings | None]]] = {
    "reasoning_effort": _word,
    "reasoning": _object,
    "thinking": _thinking,
    "enable_thinking": _switch,
    "thinking_budget": _budget,
    "disable_reasoning": _off,
    "include_reasoning": _shown,
    "reasoning_format": _shape,
    "prompt_mode": _prompt_mode,
    "chat_template_kwargs": _template,
}
SETTINGS: Final = frozenset(_READ)
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
    found = _READ[name](value) if name in _READ else None
    if found is None or not found[0]:
        return False
    read, spelt, rest = found
    present: dict[str, Any] = members.request.get("reasoning", {})
    if not read.keys().isdisjoint(present):
        return False
    members.request["reasoning"] = {**present, **read}
    if rest is not None:
        members.options[name] = rest
    encoding: dict[str, Any] = members.encoding.setdefault("reasoning", {})
    encoding[name] = spelt
    return True


def settle_settings(members: Members[Any]) -> None:
    """Forgets how reasoning was asked for where a writer would ask for it so."""
    spelt: Wire | None = members.encoding.get("reasoning")
    if spelt is None:
        return
    control = members.endpoint.dialect.get("reasoning_control") or "reasoning_effort"
    if all(name in _CONTROLS.get(control, ()) and _is_plain(name, value) for name, value in spelt.items()):
        del members.encoding["reasoning"]


def _is_plain(name: str, value: Any) -> bool:
    match name:
        case "reasoning":
            return value.get("exclude") is not False
        case "thinking":
            return len(value) == 1 and value["type"] != "adaptive"
        case "enable_thinking" | "thinking_budget":
            return False
        case _:
            return True


def _spelt(value: Mapping[str, Any], writing: Writing) -> Wire | None:
    """The members that were read, where they still say what is asked for."""
    spelt = writing.encoding.get("reasoning")
    if not isinstance(spelt, dict):
        return None
    members: Members[None] = Members(spelt, writing.endpoint, None)
    for name, item in spelt.items():
        if not settings_from_wire(name, item, members):
            return None
    return spelt if members.request.get("reasoning") == value else None
