"""
Replace another provider's web search with that of the target (spec/2-requests.md#web-search).

Each provider supports some restrictions of a search. If the target's search would lose a restriction, the tool is not
replaced.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

Data = dict[str, Any]
Tool = dict[str, Any]

_DOMAIN: Final = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_MOST_DOMAINS: Final = 20
_PLACE: Final = ("city", "country", "region", "timezone")


class _Search(NamedTuple):
    """The settings of a search in a definition: the domains that it is limited to or must avoid, and the user's
    location."""

    allowed: list[str]
    blocked: list[str]
    location: Data


def with_native_search(request: dict[str, Any], endpoint: Endpoint, loss: Loss) -> list[Tool]:
    """Return the tools of a request, with the target's own web search instead of another provider's; report the
    replacement."""
    tools: list[Tool] = request["tools"]
    word = endpoint.dialect.get("web_search")
    if not isinstance(word, str):
        return tools
    foreign = [position for position, tool in enumerate(tools) if _is_foreign(tool, endpoint)]
    if not foreign or not _has_room(request, endpoint):
        return tools
    for position in foreign:
        tool = tools[position]
        search = _asked(tool)
        definition = None if search is None else _WRITERS[endpoint.adapter](word, search)
        if definition is None or _is_chosen(request, tool["name"]):
            continue
        name = definition.get("name", word)
        if _is_taken(name, tools, endpoint):
            continue
        made = {"kind": "provider", "name": name, "adapter": endpoint.adapter, "definition": definition}
        message = "the provider's own web search replaces it"
        loss.replace(("tools", position), made, "provider_tool", "weakened", message)
        return [*tools[:position], made, *tools[position + 1 :]]
    return tools


def _is_taken(name: str, tools: list[Tool], endpoint: Endpoint) -> bool:
    """Whether one of the tools that the target receives has this name, or is a web search already."""
    for tool in tools:
        if not _is_foreign(tool, endpoint) and (tool.get("name") == name or _asked(tool) is not None):
            return True
    return False


def _is_foreign(tool: Tool, endpoint: Endpoint) -> bool:
    return tool.get("kind") == "provider" and tool.get("adapter") != endpoint.adapter


def _has_room(request: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether the target accepts a web search together with the other parts of the request."""
    if endpoint.adapter == "gemini_generate":
        # models of Gemini accept functions or a search, not both
        return all(tool.get("kind") == "provider" for tool in request["tools"])
    if endpoint.adapter == "openai_responses":
        reasoning: Any = request.get("reasoning")
        return not (isinstance(reasoning, dict) and reasoning.get("effort") == "minimal")
    return True


def _is_chosen(request: dict[str, Any], name: str) -> bool:
    """Whether the tool choice names a tool; after the replacement it would be another one."""
    choice: Any = request.get("tool_choice")
    if not isinstance(choice, dict):
        return False
    return choice.get("name") == name or name in (choice.get("names") or ())


# ---------------------------------------------------------------------------------------------- the requested search


def _asked(tool: Tool) -> _Search | None:
    """Return the search that a definition requests; None if it is another tool, or requests what no other provider
    supports."""
    definition: Any = tool.get("definition")
    if not isinstance(definition, dict):
        return None
    kind: Any = definition.get("type")
    match tool.get("adapter"):
        case "anthropic_messages" if isinstance(kind, str) and kind.startswith("web_search_"):
            asked: Data = definition
        case "openai_responses" if isinstance(kind, str) and kind.startswith("web_search"):
            if definition.get("external_web_access") is False:
                return None  # the provider's stored copy of the web is not the web
            filters: Any = definition.get("filters") or {}
            if not isinstance(filters, dict):
                return None
            asked = {**filters, "user_location": definition.get("user_location")}
        case "gemini_generate" if len(definition) == 1 and tool["name"] == "googleSearch":
            options: Any = next(iter(definition.values()))
            if not isinstance(options, dict) or "timeRangeFilter" in options or "time_range_filter" in options:
                return None
            asked = {"blocked_domains": options.get("excludeDomains") or options.get("exclude_domains")}
        case _:
            return None
    allowed, blocked = _domains(asked.get("allowed_domains")), _domains(asked.get("blocked_domains"))
    if allowed is None or blocked is None:
        return None
    return _Search(allowed, blocked, _location(asked.get("user_location")))


def _domains(value: Any) -> list[str] | None:
    """Return domains that every provider accepts; None if one is not a plain domain but a path or a pattern."""
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > _MOST_DOMAINS:
        return None
    for domain in value:
        if not isinstance(domain, str) or not _DOMAIN.fullmatch(domain):
            return None
    return list(value)


def _location(value: Any) -> Data:
    if not isinstance(value, dict):
        return {}
    found = {name: value[name] for name in _PLACE if isinstance(value.get(name), str) and value[name]}
    if len(found.get("country", "XX")) != 2:
        del found["country"]
    return {"type": "approximate", **found} if found else {}


# ---------------------------------------------------------------------------------------------- the written definition


def _anthropic(word: str, search: _Search) -> Data | None:
    if search.allowed and search.blocked:
        return None
    definition: Data = {"type": word, "name": "web_search"}
    if search.allowed:
        definition["allowed_domains"] = search.allowed
    if search.blocked:
        definition["blocked_domains"] = search.blocked
    if search.location:
        definition["user_location"] = search.location
    return definition


def _openai(word: str, search: _Search) -> Data | None:
    if search.blocked:
        return None
    definition: Data = {"type": word}
    if search.allowed:
        definition["filters"] = {"allowed_domains": search.allowed}
    if search.location:
        definition["user_location"] = search.location
    return definition


def _gemini(word: str, search: _Search) -> Data | None:
    return None if search.allowed or search.blocked else {word: {}}


_WRITERS: Final[dict[str, Callable[[str, _Search], Data | None]]] = {
    "anthropic_messages": _anthropic,
    "openai_responses": _openai,
    "gemini_generate": _gemini,
}
