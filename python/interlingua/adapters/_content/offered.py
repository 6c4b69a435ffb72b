"""
Restore in calls the tools that the client offered (spec/3-responses.md#called-as-offered).

A tool may be written differently than the client offered it: under a name that the target accepts, or as a function
if the target has no free-text tools. The loss report of the request states the change. The calls of the response are
restored with it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from interlingua.adapters._content.built_in import BUILT_IN, TOOLSET
from interlingua.adapters._content.calls import ARGUMENT
from interlingua.adapters._engine.kit import arguments_text, encoding_in, parse_arguments, with_spelling

Item = dict[str, Any]
Offered = Mapping[str, Item]
"""The tools that are written differently than they were offered, by their names on the wire."""

AS_FUNCTION: Final = "as_function"
"""Spelling of a free-text call that the provider returned as a call of a function: it is written back as one."""
_NONE: Final[Offered] = {}
_CODES: Final = frozenset(("name_rewritten", "custom_tool"))


def offered(request: Mapping[str, Any], loss: Iterable[Mapping[str, Any]]) -> Offered:
    """Return the tools of a request that are written differently than they were offered, according to its loss
    report."""
    names: dict[int, str] = {}
    for entry in loss:
        if entry["code"] in _CODES and entry["op"] == "replace":
            _, place, *rest = entry["path"].split("/")
            if place == "tools" and len(rest) == 2 and rest[1] in ("name", "kind"):
                position = int(rest[0])
                if rest[1] == "name":
                    names[position] = entry["value"]
                else:
                    names.setdefault(position, request["tools"][position]["name"])
    if not names:
        return _NONE
    tools = ((name, request["tools"][position]) for position, name in names.items())
    return {name: tool for name, tool in tools if tool.get("kind") != "provider"}


def is_beyond(request: Mapping[str, Any], dialect: Mapping[str, Any]) -> bool:
    """Whether a request offers tools of a kind that a server of the same wire lacks, because it has only functions or
    no built-in tools."""
    functions_alone = dialect.get("custom_tools") is False
    if not functions_alone and dialect.get("built_in_tools") is not False:
        return False
    for tool in request.get("tools") or ():
        encoding = encoding_in(tool.get("provider_state"))
        if BUILT_IN in encoding or TOOLSET in encoding:
            return True
        if functions_alone and (tool.get("kind") == "custom" or "namespace" in encoding or "declared" in encoding):
            return True
    return False


def answer_as_offered(response: Item, tools: Offered) -> Item:
    """Return a response whose calls name the tools as they were offered."""
    restored = {**response, "message": _message(response["message"], tools)}
    if "alternatives" in response:
        restored["alternatives"] = [
            {**other, "message": _message(other["message"], tools)} for other in response["alternatives"]
        ]
    return restored


def _message(message: Item, tools: Offered) -> Item:
    return {**message, "content": [_block(block, tools) for block in message["content"]]}


def _block(block: Item, tools: Offered) -> Item:
    tool = tools.get(block["name"]) if block["type"] == "tool_use" else None
    if tool is None:
        return block
    block = {**block, "name": tool["name"]}
    if tool.get("kind") == "custom" and block.get("kind") != "custom":
        text = _text(block["input"], block.get("input_raw"))
        block |= {"kind": "custom", "input": {}, "input_raw": text}
        if (state := block.get("provider_state")) is not None:
            block["provider_state"] = with_spelling(state, AS_FUNCTION, True)
    return block


def _text(arguments: Item, raw: str | None) -> str:
    """Return the text that the arguments of a call hold, even if the model did not write the one argument as
    required."""
    if raw is not None:
        parsed = parse_arguments(raw)
        if parsed is None:
            return raw
        arguments = parsed
    text = arguments.get(ARGUMENT)
    if isinstance(text, str) and len(arguments) == 1:
        return text
    return arguments_text(arguments) if arguments else ""


class EventsAsOffered:
    """Change the events of a stream so that its calls name the tools as they were offered.

    The text of a free-text call is known when its arguments are complete. It is then sent in one piece.
    """

    def __init__(self, tools: Offered) -> None:
        self._tools = tools
        self._texts: set[tuple[int, int]] = set()
        """The calls whose arguments become a text, by choice and index."""

    def __call__(self, events: list[Item]) -> list[Item]:
        """Return the events that replace these events."""
        return [offered for event in events for offered in self._as_offered(event)]

    def _as_offered(self, event: Item) -> Iterable[Item]:
        kind: str = event["type"]
        if kind == "message_complete" or (kind == "error" and "response" in event):
            return ({**event, "response": answer_as_offered(event["response"], self._tools)},)
        if kind == "block_start" or kind == "block_stop":
            return (self._of_block(event),)
        if not kind.startswith("tool_use"):
            return (event,)
        place = (event.get("choice", 0), event["index"])
        if kind == "tool_use_input_delta":
            return () if place in self._texts else (event,)
        if (tool := self._tools.get(event["name"])) is None:
            return (event,)
        event = {**event, "name": tool["name"]}
        if kind == "tool_use_start" or place not in self._texts:
            return (event,)
        text = _text(event["input"], event.get("input_raw"))
        at: Item = {name: event[name] for name in ("index", "choice", "id", "message_id") if name in event}
        end = {**event, "input": {}, "input_raw": text}
        return ({"type": "tool_use_input_delta", **at, "text": text}, end) if text else (end,)

    def _of_block(self, event: Item) -> Item:
        block = event["block"]
        if block["type"] != "tool_use" or block["name"] not in self._tools:
            return event
        restored = _block(block, self._tools)
        if event["type"] == "block_start" and restored.get("kind") == "custom" != block.get("kind"):
            self._texts.add((event.get("choice", 0), event["index"]))
            restored["input_raw"] = ""
        return {**event, "block": restored}
