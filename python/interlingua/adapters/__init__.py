"""
The wires, by name: the modules of this folder, and those that installed packages name in the entry-point group
`interlingua.adapters`, which cannot take the name of one that is here. A module is imported when it is first asked for, and
installed packages are looked through only for a name that is not here.
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
    """The adapters that installed packages name. Looked up once: it reads the metadata of every installed package."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def names() -> tuple[str, ...]:
    """The names of all adapters, sorted."""
    return tuple(sorted({*_here(), *installed()}))


def is_one(name: str) -> bool:
    """Whether there is an adapter of this name."""
    return name in _here() or name in installed()


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, names(), n=2, cutoff=0.5)
    return f"did you mean {' or '.join(found)}? " if found else ""


@cache
def get(name: str) -> Adapter:
    """The module of an adapter (`Adapter`: what it offers). Raises `InvalidRequest` when there is none of that name."""
    if name in _here():
        return cast("Adapter", importlib.import_module(f"{__name__}.{name}"))
    if name in installed():
        return installed()[name].load()
    raise InvalidRequest(f"there is no adapter {name!r}; {_nearest(name)}there are {', '.join(names())}")
