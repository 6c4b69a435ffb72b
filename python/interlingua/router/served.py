"""
The names that clients of a gateway request, and the specs that replace them (spec/11-gateway.md#serve). Pure.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

ANY: Final = "*"


class Served(NamedTuple):
    """The entry of a policy that matches a name, and its spec. Without a spec the seven slots decide."""

    entry: str
    spec: str | None


def served(policy: Mapping[str, Any], name: str) -> Served | None:
    """The entry that matches a name: the entry of this exact name, else the longest pattern; None when none matches."""
    entries: Mapping[str, str | None] = policy.get("serve") or {}
    if name in entries and not name.endswith(ANY):
        return Served(name, entries[name])
    patterns = [entry for entry in entries if entry.endswith(ANY) and name.startswith(entry[:-1])]
    if not patterns:
        return None
    longest = max(patterns, key=len)
    return Served(longest, entries[longest])


def names(policy: Mapping[str, Any]) -> list[str]:
    """The names that have an entry of their own in the policy, in its order."""
    return [entry for entry in policy.get("serve") or {} if not entry.endswith(ANY)]
