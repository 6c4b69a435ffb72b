"""
The wires, by name: the modules of this folder, and those that installed packages name in the entry-point group
`interlingua.adapters`. A module is imported when it is first asked for.
"""

import importlib
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Final

from interlingua.canonical.errors import InvalidRequest

GROUP: Final = "interlingua.adapters"


@cache
def installed() -> dict[str, EntryPoint]:
    """The adapters that installed packages name. Looked up once: it reads the metadata of every installed package."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def names() -> tuple[str, ...]:
    """The names of all adapters, sorted."""
    here = {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")}
    return tuple(sorted(here | set(installed())))


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, names(), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(found)}? " if found else ""


@cache
def get(name: str) -> ModuleType:
    """The module of an adapter. Raises `InvalidRequest` when there is none of that name."""
    if name not in names():
        raise InvalidRequest(f"there is no adapter {name!r}; {_nearest(name)}there are {', '.join(names())}")
    if name in installed():
        return installed()[name].load()
    return importlib.import_module(f"{__name__}.{name}")
