"""Recognise the format of an answer in a request that requests it with a call or in its instructions."""

from collections.abc import Mapping
from typing import Any, Final, cast

from interlingua.adapters._engine.kit import with_spelling
from interlingua.adapters._structured.form import (
    BEGIN,
    CHOICE,
    END,
    INSTRUCTIONS,
    NAME,
    NOTE,
    TOOLS,
    count_instructions,
    last_text,
    of_text,
    of_tool,
    place_of_end,
)
from interlingua.canonical import types

Request = dict[str, Any]
Block = dict[str, Any]


def extract_format(request: Request) -> types.Request:
    """Return a request that was read, with the format that it requests with a call or in its instructions."""
    choice = request.get("tool_choice")
    if choice is None or choice.get("name") != NAME or not _is_called(request):
        messages = request["messages"]
        if messages and messages[0]["role"] in INSTRUCTIONS:
            _recognise_text(request, messages)
    return cast("types.Request", request)


def is_read_as(asked: Request, request: Request) -> bool:
    """Whether a reader reads `request` from `asked`, which requests the format in its tools or its instructions."""
    copied = {**asked, "messages": list(asked["messages"]), "provider_state": dict(asked["provider_state"])}
    found = extract_format(copied)
    return {**found, "provider_state": None} == {**request, "provider_state": None}


def _is_called(request: Request) -> bool:
    """Read the format from a tool of the reserved name. Return whether there was one."""
    tools: list[Any] = request.get("tools") or []
    if len(tools) != 1 or request["tool_choice"] != CHOICE or "response_format" in request:
        return False
    tool = tools[0]
    if tool["name"] != NAME or type(tool.get("input_schema")) is not dict or tool.get("strict"):
        return False
    state = tool.get("provider_state") or {}
    if not tool.keys() <= _TOOL or "fields" in state or "signature" in state:
        return False
    choice = {name: request[name] for name in ("tool_choice", "parallel_tool_calls") if name in request}
    shown = {name: value for name, value in tool.items() if name != "input_schema"}
    for name in TOOLS:
        request.pop(name, None)
    request["response_format"] = of_tool(tool)
    _keep_form(request, {"tool": shown, "choice": choice})
    return True


_TOOL: Final = frozenset(("name", "description", "input_schema", "strict", "provider_state"))


def _keep_form(request: Request, form: dict[str, Any]) -> None:
    request["provider_state"] = with_spelling(request["provider_state"], NOTE, form)


def _recognise_text(request: Request, messages: list[Any]) -> None:
    """Look for the format where it is written: after the last text of the instructions, or alone before all of them.
    A filler that a wire put into an empty place is no text."""
    count = count_instructions(messages)
    for position in reversed(range(count)):
        content: list[Block] = messages[position]["content"]
        if count == len(messages):
            for index in reversed(range(len(content))):
                if content[index]["type"] == "text" and _takes_form(request, messages, position, index):
                    return
        elif (index := last_text(content)) >= 0:
            if _takes_form(request, messages, position, index):
                return
            break
    first: list[Block] = messages[0]["content"]
    if len(first) == 1 and first[0]["type"] == "text" and first[0]["text"].startswith(BEGIN):
        _takes_form(request, messages, 0, 0)


def _takes_form(request: Request, messages: list[Any], position: int, index: int) -> bool:
    """Move the format out of a text that ends with it. Return whether the text did."""
    message = messages[position]
    content: list[Block] = message["content"]
    block = content[index]
    text: str = block["text"]
    if not text.endswith(END):
        return False
    before, begin, asked = text.rpartition(BEGIN)
    wanted = of_text(begin + asked)
    beside: dict[str, Any] | None = request.get("response_format")
    if not begin or wanted is None or beside not in (None, {"type": "json"}):
        return False
    form: dict[str, Any] = {} if beside is None else {"beside": beside}
    if before:
        if not before.endswith("\n\n") or len(before) == len("\n\n"):
            return False
        content = [*content[:index], {**block, "text": before[:-2]}, *content[index + 1 :]]
        messages[position] = {**message, "content": content}
        if place_of_end(messages) != (position, index):
            form["at"] = [position, index]
    elif _has_further_members(block):
        return False
    elif len(content) > 1:  # next to it are instructions of the caller without text, or it is alone before them
        others = [*content[:index], *content[index + 1 :]]
        if index and last_text(others) >= 0:
            return False
        messages[position] = {**message, "content": others}
        form["at"] = [position, index]
        form["block"] = {**block, "text": ""}
    elif position == 0 and not _has_further_members(message):
        form["message"] = {**message, "content": [{**block, "text": ""}]}
        del messages[0]
    else:
        return False
    request["response_format"] = wanted
    _keep_form(request, form)
    return True


def _has_further_members(item: Mapping[str, Any]) -> bool:
    """Whether an item has members with a meaning besides its text."""
    state = item.get("provider_state") or {}
    return any(name in item for name in ("cache", "name", "citations")) or "fields" in state or "signature" in state
