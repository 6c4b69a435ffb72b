"""
Settings of reasoning: a word (`reasoning_effort`), OpenRouter's object `reasoning`, or an object `thinking` beside the word,
as the dialect's `reasoning_control` says; written above read.
"""

from collections.abc import Mapping
from typing import Any

from interlingua.adapters._kit import NOTHING, Wire
from interlingua.adapters._openai_members import Members, effort, report_reasoning, takes_reasoning
from interlingua.adapters.openai_chat.context import Reading, Writing

Request = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def settings_to_wire(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    """Asks for reasoning as the provider is asked for it."""
    value = {key: item for key, item in value.items() if item is not None}
    if not value:
        return
    if not takes_reasoning(name, writing):
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
    if value.get("effort") == "none" and not writing.own:  # the member that turns it off is another one
        mode, value = "disabled", NOTHING
    if mode in ("enabled", "disabled"):
        written["mode"] = mode
        body["thinking"] = {"type": mode}
    if value.get("effort") is not None and (asked := effort(value, writing)) is not None:
        written["effort"] = body["reasoning_effort"] = asked
    return written


def calls_without_reasoning(body: Wire, writing: Writing) -> bool:
    """Whether the model does not reason because the request has tools."""
    if writing.capabilities.get("tools_with_reasoning") is not False or "tools" not in body:
        return False
    return not writing.verbatim("tools", "reasoning")


def effort_beside_tools(request: Request, body: Wire, writing: Writing) -> None:
    """Some models call tools over this wire only when they do not reason."""
    if not calls_without_reasoning(body, writing):
        return
    if body.get("reasoning_effort") != "none":
        body["reasoning_effort"] = "none"
        message = "over this wire the model calls tools only without reasoning"
        writing.loss.replace(("reasoning",), {"effort": "none"}, "combination", "weakened", message)


# ---------------------------------------------------------------------------------------------------- from the wire


def effort_from_wire(name: str, value: Any, members: Members[Reading]) -> bool:
    """Reads `reasoning_effort`. Beside OpenRouter's object the plain word would be a second effort; without any control
    it means nothing."""
    if not isinstance(value, str) or members.endpoint.dialect.get("reasoning_control") in ("reasoning", "none"):
        return False
    members.request["reasoning"] = {**members.request.get("reasoning", {}), "effort": value}
    return True


def settings_from_wire(name: str, value: Any, members: Members[Reading]) -> bool:
    """Reads the object by which the provider is asked, where it is asked by one."""
    control = members.endpoint.dialect.get("reasoning_control")
    if name != control or not isinstance(value, dict):
        return False
    match name:
        case "reasoning":
            read = _reasoning_from_wire(value)
        case "thinking" if value.get("type") in ("enabled", "disabled") and len(value) == 1:
            read = {"mode": value["type"]}
        case _:
            read = None
    if read:
        members.request["reasoning"] = {**members.request.get("reasoning", {}), **read}
    return bool(read)


def _reasoning_from_wire(value: Wire) -> dict[str, Any] | None:
    read: dict[str, Any] = {}
    for name, item in value.items():
        match name:
            case "effort" if isinstance(item, str):
                read["effort"] = item
            case "max_tokens" if type(item) is int and item >= 0 and "effort" not in value:
                read["budget_tokens"] = item
            case "enabled" if isinstance(item, bool):
                read["mode"] = "enabled" if item else "disabled"
            case "exclude" if item is True:
                read["display"] = "omitted"
            case "summary" if item == "auto" and "exclude" not in value:
                read["display"] = "summarized"
            case _:
                return None
    return read
