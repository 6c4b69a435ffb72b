"""
The judges: one module for each SDK, imported when its first check runs, because SDKs are slow to import.

A judge has `ADAPTER` and `PROVIDER` (what we write for), and
    request(body)          what is wrong with a request, by the SDK's own types
    answer(body)           what is wrong with an answer, likewise
    said(body)             an answer as the SDK's own type shows it
    ask(address, body)     the same, having sent the request with the SDK's client
    stream(address, body)  the same, put together by the SDK from a stream
    FAILURES               what the client raises when a stream tells of an error
"""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")))


@cache
def get(name: str) -> ModuleType:
    """A judge."""
    return importlib.import_module(f"{__name__}.{name}")
