"""
The wires, by name: the modules of this folder, and those that installed packages name in the entry-point group
`interlingua.adapters`. An installed adapter cannot replace one of this folder. A module is imported when it is first
used. Installed packages are searched only for a name that is not in this folder.
"""

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from interlingua.adapters._contract import Adapter
from interlingua.canonical.errors import InvalidRequest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "interlingua.adapters"


@cache
def _here() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


@cache
def installed() -> "dict[str, EntryPoint]":
    """Return the adapters that installed packages name. The result is cached: the search reads the metadata of every
    installed package."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def names() -> tuple[str, ...]:
    """Return the names of all adapters, sorted."""
    return tuple(sorted({*_here(), *installed()}))


def is_one(name: str) -> bool:
    """Whether an adapter of this name exists."""
    return name in _here() or name in installed()


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, names(), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(found)}? " if found else ""


@cache
def get(name: str) -> Adapter:
    """Return the module of an adapter (`Adapter` is its contract). Raises `InvalidRequest` if there is none of that
    name."""
    if name in _here():
        return cast("Adapter", importlib.import_module(f"{__name__}.{name}"))
    if name in installed():
        return installed()[name].load()
    raise InvalidRequest(f"there is no adapter {name!r}; {_nearest(name)}there are {', '.join(names())}")
