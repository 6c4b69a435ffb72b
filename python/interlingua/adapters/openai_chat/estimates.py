"""How many tokens a request takes: counted as on every wire that has no tokenizer of its own."""

from interlingua.adapters._estimates import estimate

__all__ = ["estimate"]
