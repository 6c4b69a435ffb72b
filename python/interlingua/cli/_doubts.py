"""What an operator may have meant otherwise in a valid file of keys: it is logged, and not refused, because a registry may
lag behind its providers."""

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlingua.access import Key
    from interlingua.registry import Registry


def doubtful_patterns(keys: Iterable["Key"], registry: "Registry") -> list[str]:
    """Return a message for each pattern of a key that matches no model: neither a listed one nor any of a known
    provider."""
    from interlingua.registry import names

    providers = registry.providers()
    listed = [row["id"] for row in registry.models()]
    found: list[str] = []
    for key in keys:
        for pattern in key.models or ():
            provider, colon, _ = pattern.partition(":")
            of_known = colon and any(fnmatchcase(name, provider) for name in providers)
            if of_known or any(fnmatchcase(model, pattern) for model in listed):
                continue
            hint = names.did_you_mean([f"{close}:*" for close in get_close_matches(provider, providers, 2)])
            advice = hint or "a pattern is one of canonical model ids, such as anthropic:*"
            found.append(f"the pattern {pattern} of the key {key.name} matches no model; {advice}")
    return found
