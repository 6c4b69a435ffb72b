"""
Many stored conversations adapted to one wire, each with its loss report: `interlingua bulk` (examples/bulk.md).

`Adapter` adapts one conversation, `AdaptTable` the rows of a table of Arrow. `run` reads files and databases, shard by
shard in several processes, and can be killed and started again. A module is imported when one of its names is first
used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlingua.bulk.adapting import Adapted, Adapter, Job
    from interlingua.bulk.running import Summary, run
    from interlingua.bulk.tables import AdaptTable

_HOME_OF = {
    "AdaptTable": "tables",
    "Adapted": "adapting",
    "Adapter": "adapting",
    "Job": "adapting",
    "Summary": "running",
    "run": "running",
}

__all__ = ["AdaptTable", "Adapted", "Adapter", "Job", "Summary", "run"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
