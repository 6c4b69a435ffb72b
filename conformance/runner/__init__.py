"""The runner of the conformance suite: standard library only, Python 3.11 or later."""

from __future__ import annotations

SUITE_VERSION = "1.0.0"
PROTOCOL_VERSION = 1
