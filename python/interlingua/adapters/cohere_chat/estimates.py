"""How many tokens a request takes: as on every wire, the model decides."""

from interlingua.adapters._estimates import estimate

__all__ = ["estimate"]
