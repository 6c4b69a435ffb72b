"""Per wire, the rules by which a provider refuses a request, as far as they can be checked without the provider.

An oracle module has `rules(wire)`, which yields `(pointer, reason)`. A wire without a module is simply not judged.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

Violation = tuple[str, str]


def has_oracle(adapter: str) -> bool:
    return adapter.isidentifier() and importlib.util.find_spec(f"{__name__}.{adapter}") is not None


def judges(adapter: str, provider: str | None, home: str | None) -> bool:
    """Whether the rules hold here: they are those of the wire's own provider, not of the vendors that speak its dialects."""
    return has_oracle(adapter) and provider in (None, home)


def violations(adapter: str, wire: dict[str, Any]) -> list[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    found: list[Violation] = []
    try:
        found.extend(importlib.import_module(f"{__name__}.{adapter}").rules(wire))
    except (AttributeError, TypeError, KeyError) as error:
        # A rule met a value of a wrong type, such as a text where an object belongs.
        found.append(("/body", f"has not the shape of this wire ({error})"))
    return found
