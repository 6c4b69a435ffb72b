"""Per wire, the rules by which a provider refuses a request, as far as they can be checked without the provider.

An oracle module has `violations(wire) -> list[(pointer, reason)]`. A wire without a module is simply not judged.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def has_oracle(adapter: str) -> bool:
    return adapter.isidentifier() and importlib.util.find_spec(f"{__name__}.{adapter}") is not None


def oracle_for(adapter: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{adapter}")
