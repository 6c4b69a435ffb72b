"""
Tools in a namespace (spec/adapters/openai_responses.md#openai-responses-namespaces).

A namespace is a list of tools under a name. In canonical form its tools are tools like any other, called `namespace__name`; that
they stand in a namespace is a spelling, which only this wire has. A call says its namespace beside its name.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Wire
from interlingua.adapters.openai_responses.context import Reading, Writing

Item = dict[str, Any]

NAMESPACE: Final = "namespace"
"""Type of the tool, member of the call, and name of the spelling."""
_BEGINS: Final = "namespace_begins"
_BETWEEN: Final = "__"
DEFAULT: Final = "functions"
"""The namespace in which the models of the provider see the tools that stand in none."""


def joined(namespace: str, name: str) -> str:
    """The canonical name of a tool in a namespace. The default namespace, and one that a tool has to itself, add nothing."""
    return _prefix(namespace, name) + name


def _prefix(namespace: str, name: str) -> str:
    if namespace in (DEFAULT, name):
        return ""
    return namespace if namespace.endswith(_BETWEEN) else namespace + _BETWEEN


def parted(name: str, namespace: str) -> str | None:
    """The name within a namespace of a tool with a canonical name; None for one that cannot stand in it, as after an edit."""
    if namespace in (DEFAULT, name):
        return name
    prefix = _prefix(namespace, "")
    return name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else None


# ---------------------------------------------------------------------------------------------------- from the wire


def call_namespace(item: Mapping[str, Any]) -> str | None:
    """The namespace that the members of a call say."""
    namespace = item.get(NAMESPACE)
    return namespace if isinstance(namespace, str) and namespace else None


def put_into(tools: list[Item], space: Wire, taken: set[str], reading: Reading) -> bool:
    """Makes the tools of a namespace, which were just read, tools with canonical names.

    Not where two tools would have one name, or one of them is the provider's own: then the namespace stays whole.
    """
    namespace = space["name"]
    names = [joined(namespace, tool["name"]) for tool in tools]
    if len({*names}) != len(names) or not taken.isdisjoint(names):
        return False
    if any(tool.get("kind") == "provider" for tool in tools):
        return False
    taken.update(names)
    others = {name: value for name, value in space.items() if name not in ("type", "name", "tools")}
    for position, (tool, name) in enumerate(zip(tools, names, strict=True)):
        state = tool.setdefault("provider_state", reading.state())
        encoding = {**state.get("encoding", NOTHING), NAMESPACE: namespace}
        tool["name"] = name
        if position == 0:
            encoding[_BEGINS] = True
            if others:
                state["fields"] = {**state.get("fields", NOTHING), NAMESPACE: others}
        state["encoding"] = encoding
    return True


# ---------------------------------------------------------------------------------------------------- to the wire


def own_name(name: str, encoding: Mapping[str, Any], writing: Writing) -> str | None:
    """The name within its namespace of a tool or a call of this wire; None where it stands in none, or not any more."""
    namespace = encoding.get(NAMESPACE)
    if not isinstance(namespace, str):
        return None
    within = parted(name, namespace)
    taken = within is not None and (writing.reply or writing.tool_name(within) == within)
    return within if taken else None


def grouped(tools: list[tuple[Item, Wire]], writing: Writing) -> list[Wire]:
    """Tools as they were written, beside what they were written of: neighbours of one namespace stand in it."""
    wires: list[Wire] = []
    last: Any = None
    for tool, wire in tools:
        state = writing.owned(tool)
        encoding: Mapping[str, Any] = state.get("encoding") or NOTHING
        namespace = encoding.get(NAMESPACE)
        if own_name(tool["name"], encoding, writing) is None:
            wires.append(wire)
            last = None
            continue
        if namespace != last or _BEGINS in encoding:
            others = (state.get("fields") or NOTHING).get(NAMESPACE) or NOTHING
            wires.append({**others, "type": NAMESPACE, "name": namespace, "tools": []})
            last = namespace
        wires[-1]["tools"].append(wire)
    return wires
