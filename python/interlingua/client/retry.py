"""
When a call to the same model is repeated (spec/8-errors.md#retries).

A policy is a value with one pure function: the error, the number of the attempt and a random number are arguments. The
client has the clock, the waits and the deadline.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlingua.canonical.errors import InvalidRequest

CATEGORIES = frozenset(("rate_limit", "overloaded", "server_error", "network", "timeout"))
"""Categories of errors that may pass. The error must be `retryable` too, because some limits last for a day."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often one model is called, and how long to wait between calls; times in seconds.

    `attempts` includes the first call. The pauses begin with `base`, grow by `factor` up to `cap` and vary by the share
    `jitter`. `patience` is the longest accepted `retry_after`; with `wait_less`, a longer one is shortened to it.
    `detour` is the longest pause while another candidate is left. With `unsure`, a call that may have been charged is
    repeated too.
    """

    attempts: int = 3
    base: float = 1.0
    factor: float = 2.0
    cap: float = 30.0
    jitter: float = 0.25
    patience: float = 60.0
    wait_less: bool = False
    detour: float = 1.5
    unsure: bool = False

    def pause(
        self, error: Mapping[str, Any], attempt: int, chance: float, *, unsure: bool = False, others: bool = False
    ) -> float | None:
        """The pause before the next attempt, in seconds; None when the call is not repeated.

        `attempt` is the number of the call that failed with `error`, `chance` a number from 0 to 1. `unsure` states
        that the provider may have carried out the call, `others` that another candidate is left.
        """
        if attempt >= self.attempts or not error.get("retryable") or error["category"] not in CATEGORIES:
            return None
        if unsure and not self.unsure:
            return None
        retry_after = error.get("retry_after")
        if retry_after is None:
            pause = min(self.base * self.factor ** (attempt - 1), self.cap) * (1 + self.jitter * (2 * chance - 1))
        elif retry_after <= self.patience or self.wait_less:
            pause = min(retry_after, self.patience)
        else:
            return None
        return None if others and pause > self.detour else max(pause, 0.0)


NEVER = Retry(attempts=1)

PRESETS: Mapping[str, Retry] = {
    "standard": Retry(),
    "strict": Retry(cap=60.0),
    "patient": Retry(cap=60.0, wait_less=True),
    "once": Retry(attempts=2, cap=5.0, patience=5.0),
    "none": NEVER,
}
"""The policies by name."""


def preset(name: str) -> Retry:
    """Return the policy of a name. Raises `InvalidRequest` for a name that is not known."""
    if name not in PRESETS:
        raise InvalidRequest(f"retry must be one of {', '.join(PRESETS)}, or a `Retry`; not {name!r}")
    return PRESETS[name]
