"""
Write the tool choice: one rule for all wires (spec/2-requests.md#choice-nearest).

A wire declares which types of choice it has (`Ways`), and which tools a choice can name. A choice that the wire does
not have becomes the nearest one, and the change is reported.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar

from interlingua.adapters._engine.kit import NOTHING
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.loss import Path

Choice = dict[str, Any]
Fitted = dict[str, Any]
W = TypeVar("W", bound=Writing)


class Ways:
    """The types of a canonical choice that a wire has.

    `lone_by_name`: if a tool must be called and only one is allowed, the choice is written by the name of that tool.
    `narrowed`: the wire cannot name tools, so the request offers only the tools that may be called.
    """

    __slots__ = ("lone_by_name", "narrowed", "types")

    def __init__(self, types: Collection[str], *, lone_by_name: bool = False, narrowed: bool = False) -> None:
        self.types = types
        self.lone_by_name = lone_by_name
        self.narrowed = narrowed


ALL: Final = ("auto", "none", "required", "tool", "allowed")
_PATH: Final[Path] = ("tool_choice",)
_FORCED: Final = ("required", "tool")


def offered_tools(writing: Writing) -> dict[str, str]:
    """Return the kind on the wire of each tool of a request, by its name; tools that a provider defines are left
    out."""
    folded = "function" if writing.folds_custom else "custom"
    return {
        tool["name"]: folded if kind == "custom" else kind
        for tool in writing.source.get("tools") or ()
        if (kind := tool.get("kind") or "function") != "provider"
    }


def fitted_choice(
    tools: Any, ways: Ways, writing: W, offered: Callable[[W], Mapping[str, str]] = offered_tools
) -> Fitted | None:
    """Return the choice that the wire can express with the `tools` of the body; None if no choice is written.

    `offered` returns the tools that a choice can name: the canonical name and the kind on the wire (function, custom,
    provider). The result has a `type`; for one tool also its `name` and `kind`; for allowed tools a `mode` and
    `tools`: the kind and the name of each.
    """
    choice: Choice | None = writing.source.get("tool_choice")
    if choice is None:
        return None
    kind: str = choice["type"]
    if not tools:
        severity = "representation" if kind in ("auto", "none") else "weakened"
        writing.loss.drop(_PATH, "combination", severity, "there are no tools to choose from")
        return None
    if writing.refuses("tool_choice"):
        writing.report_refused("tool_choice", choice, "representation" if kind == "auto" else "weakened")
        return None
    types = ways.types
    if writing.lacks("forced_tool_choice", "tool_choice"):
        types = [name for name in types if name not in _FORCED]
    if kind == "tool" or kind == "allowed":
        return _named(choice, types, ways, offered(writing), writing)
    if kind in types:
        report_idle(choice, (), writing)
        return {"type": kind}
    says_nothing = kind == "auto" or (kind == "none" and ways.narrowed)
    return _nearest("auto", types, "representation" if says_nothing else "weakened", writing)


def _named(
    choice: Choice, types: Collection[str], ways: Ways, offered: Mapping[str, str], writing: Writing
) -> Fitted | None:
    """Return the choice of one tool or of several, limited to the tools that are offered."""
    kind: str = choice["type"]
    names: list[str] = [choice.get("name", "")] if kind == "tool" else choice.get("names") or []
    known = [name for name in names if name in offered]
    demanded = kind == "tool" or choice.get("mode") == "required"
    if not known:
        return _nearest("auto", types, "weakened", writing)
    if kind == "tool" and kind in types:
        return _one(choice, known[0], offered[known[0]], writing)
    several = kind == "allowed" and kind in types
    if demanded and len(known) == 1 and "tool" in types and not (several and not ways.lone_by_name):
        message = "a single allowed tool that must be called is chosen by name"
        writing.loss.replace(_PATH, {"type": "tool", "name": known[0]}, "tool_choice", "representation", message)
        return _one(NOTHING, known[0], offered[known[0]], writing)
    if several:
        return _several(choice, names, known, offered, writing)
    wanted = "required" if demanded else "auto"
    severity = "representation" if ways.narrowed and demanded and wanted in types else "weakened"
    return _nearest(wanted, types, severity, writing)


def _nearest(wanted: str, types: Collection[str], severity: str, writing: Writing) -> Fitted | None:
    """Return another choice instead of the requested one: the `wanted` type, else "auto"; None if the wire has
    neither."""
    if wanted in types or "auto" in types:
        nearest = {"type": wanted if wanted in types else "auto"}
        writing.loss.replace(_PATH, nearest, "tool_choice", severity, "the target does not have this choice")
        return nearest
    writing.loss.drop(
        _PATH, "tool_choice", severity, "the target does not have this choice: the model decides whether to call"
    )
    return None


def _one(choice: Choice, name: str, kind: str, writing: Writing) -> Fitted:
    report_idle(choice, ("name", "kind"), writing)
    if kind == "provider":
        return {"type": "tool", "name": name, "kind": kind}
    if kind != (choice.get("kind") or "function") and choice:
        message = "the kind of a choice follows from its tool"
        writing.loss.replace((*_PATH, "kind"), kind, "custom_tool", "representation", message)
    return {"type": "tool", "name": writing.written_tool_name(name, _PATH), "kind": kind}


def _several(
    choice: Choice, names: list[str], known: list[str], offered: Mapping[str, str], writing: Writing
) -> Fitted:
    report_idle(choice, ("names", "mode"), writing)
    tools: list[tuple[str, str]] = []
    for position, name in enumerate(names):
        if name in offered:
            wire_name = writing.tool_name(name)
            if wire_name != name:
                writing.report_name((*_PATH, "names", position), wire_name)
            tools.append((offered[name], wire_name))
    if len(known) != len(names):
        written = [name for _, name in tools]
        message = "some of the allowed tools are not offered"
        writing.loss.replace((*_PATH, "names"), written, "tool_choice", "representation", message)
    mode = choice.get("mode")
    if mode is None:
        mode = "auto"
        message = "the wire requires a mode"
        writing.loss.replace((*_PATH, "mode"), mode, "required_default", "representation", message)
    return {"type": "allowed", "mode": mode, "tools": tools}


def may_be_called(request: dict[str, Any]) -> set[str]:
    """Return the names of the tools that a choice allows; the names of all tools if it allows none of them."""
    names = {tool["name"] for tool in request["tools"]}
    choice: Choice = request.get("tool_choice") or NOTHING
    match choice.get("type"):
        case "tool":
            return names & {choice.get("name")} or names
        case "allowed":
            return names & {*(choice.get("names") or ())} or names
        case _:
            return names


def report_idle(choice: Choice, used: Collection[str], writing: Writing) -> None:
    """Report the members of a choice that are not `used`."""
    for name, value in choice.items():
        if name not in _MEMBERS:
            message = "a member that this version does not know"
            writing.loss.drop((*_PATH, name), "unknown_field", "lost", message)
        elif name != "type" and name not in used and value is not None and not (name == "kind" and value == "function"):
            message = "this kind of choice does not have this member"
            writing.loss.drop((*_PATH, name), "tool_choice", "representation", message)


_MEMBERS: Final = frozenset(("type", "name", "names", "mode", "kind"))
