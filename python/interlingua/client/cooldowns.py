"""
Cooldowns of models and providers, as a program that calls providers reports them: each beginning and each end is an
entry of the log, at its time (spec/7-routing.md#cooldown-reports).
"""

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlingua.canonical.logs import logger
from interlingua.router import Health

_LOG = logger("client")

_AFTER_S = 0.01  # times in reports are whole milliseconds: a snapshot at the very end could be too early

_WHY_ENDED = {"success": "a call succeeded", "called back": "it was called back", "expired": "its cooldown is over"}


def log_cooldown(report: Mapping[str, Any]) -> None:
    """An observer of `Health` that logs each cooldown that begins, is extended or ends, without content."""
    name, reason = report["name"], report["reason"]
    fields = {member: value for member, value in report.items() if member not in ("type", "name", "at")}
    if report["type"] == "available":
        _LOG.info("%s is available again: %s", name, _WHY_ENDED[reason], extra={"model": name, **fields})
        return
    level = logging.WARNING if report["type"] == "unavailable" else logging.INFO
    end = report["until"] or "it is called back"
    why = reason if reason == report.get("category", reason) else f"{reason}, the last one {report['category']}"
    _LOG.log(level, "%s is in cooldown until %s: %s", name, end, why, extra={"model": name, **fields})


class EndOfCooldowns:
    """An observer of `Health` that makes it report a cooldown that ends because its time has passed, also when no call
    is made. It waits in the event loop in which an attempt failed; without a loop the next call reports the end."""

    def __init__(self, health: Health) -> None:
        self._health = health

    def __call__(self, report: Mapping[str, Any]) -> None:
        """Wait for the end of a cooldown that has begun or was extended."""
        if report["type"] == "available" or report["until"] is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        remaining = datetime.fromisoformat(report["until"]) - datetime.fromisoformat(report["at"])
        loop.call_later(max(remaining.total_seconds(), 0.0) + _AFTER_S, self._health.snapshot)
