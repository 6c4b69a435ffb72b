"""
Reading and writing of the usage of a response.

The canonical usage counts tokens in disjoint buckets; each wire counts them in its own way. A wire has a table of the
places in which each bucket is counted (`Counts`).
"""

from typing import Any, Final

from interlingua.adapters._engine.items import report_not_written
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._requests.members import whole_number
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

Usage = dict[str, Any]

_BUCKETS: Final = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "reasoning_tokens",
)
_OF_THE_PROMPT: Final = ("cached_input_tokens", "cache_creation_input_tokens")
_COUNTED: Final = frozenset((*_BUCKETS, "cost_usd", "pricing_version", "latency_ms", "raw"))
"""The members of a usage that are counted, or that are not the provider's."""
TOTAL: Final = "total"
"""The bucket of a place that counts the tokens of prompt and output together; it is only written."""
MORE: Final = "more"
"""The bucket of a place that counts further tokens of the prompt; it is only read."""
REST: Final = "rest"
"""The bucket of a place that counts the tokens written to a cache for less than an hour, next to those for an hour;
it is only written."""

# ---------------------------------------------------------------------------------------------- places

ALWAYS: Final = "always"
FILLED: Final = "filled"
READ: Final = "read"


class Place:
    """The place where a bucket is counted: the member `name` of the wire's usage, or the member `part` of that object.

    `written`: it is written `ALWAYS`, only if the count is not 0 (`FILLED`), or never (`READ`).
    """

    __slots__ = ("bucket", "name", "part", "written")

    def __init__(self, bucket: str, name: str, part: str = "", written: str = FILLED) -> None:
        self.bucket = bucket
        self.name = name
        self.part = part
        self.written = written


def count(value: Any) -> int | None:
    """A number of tokens, which some providers write as 10.0 or as a text; None for any other value."""
    if value is None:
        return None
    if type(value) is not int:
        value = int(value) if type(value) is str and value.isdecimal() and len(value) < 20 else whole_number(value)
    return value if value is not None and value >= 0 else None


def not_for_an_hour(usage: dict[str, Any]) -> int:
    """The tokens that were written to a cache for less than an hour."""
    created: int = usage.get("cache_creation_input_tokens") or 0
    return max(created - (usage.get("cache_creation_1h_input_tokens") or 0), 0)


class Counts:
    """The table of a wire's counts. If a bucket has several places, the first one with a count other than 0 is read;
    later ones do not change it.

    - `with_cache`: the wire's prompt tokens include those that were read from a cache and written to it.
    - `reasoning_outside`: the wire's output tokens do not include the reasoning tokens. If it is a text, it is the name of a
      dialect switch that decides; if a dialect does not have the switch, the reader infers it from the total.
    - `uncounted`: the buckets that the wire does not count separately.
    """

    def __init__(
        self,
        *places: Place,
        with_cache: bool = False,
        reasoning_outside: bool | str = False,
        uncounted: tuple[str, ...] = (),
    ) -> None:
        self.places = [place for place in places if place.written != READ and place.bucket not in (MORE, REST)]
        self.rest = next((place for place in places if place.bucket == REST), None)
        self.sources = [place for place in places if place.bucket not in (TOTAL, REST)]
        self.with_cache = with_cache
        self.reasoning_outside = reasoning_outside is True
        self.switch = reasoning_outside if isinstance(reasoning_outside, str) else ""
        self.uncounted = uncounted

    # ------------------------------------------------------------------------------------------ from the wire

    def read(self, wire: Wire, endpoint: Endpoint) -> Usage:
        """Return the usage in disjoint buckets, with the wire's own object as `raw`. If counts contradict each
        other, so that one would be negative, it is 0."""
        usage: Usage = {"input_tokens": 0, "output_tokens": 0}
        for place in self.sources:
            value = wire.get(place.name)
            if value is None:
                continue
            if place.part:
                value = value.get(place.part) if type(value) is dict else None
            if type(value) is not int or value < 0:
                value = count(value)
            if value is not None and not usage.get(place.bucket):
                usage[place.bucket] = value
        prompt: int = usage["input_tokens"]
        output: int = usage["output_tokens"]
        if MORE in usage:
            prompt += usage.pop(MORE)
        if reasoning := usage.get("reasoning_tokens"):
            reasoning_outside: bool | None = (
                endpoint.dialect.get(self.switch) if self.switch else self.reasoning_outside
            )
            if reasoning_outside or (
                reasoning_outside is None and wire.get("total_tokens") == prompt + output + reasoning
            ):
                usage["output_tokens"] = output + reasoning
            elif reasoning > output:
                usage["reasoning_tokens"] = output
        if self.with_cache:
            cached: int = usage.get("cached_input_tokens") or 0
            created: int = usage.get("cache_creation_input_tokens") or 0
            usage["input_tokens"] = max(prompt - cached - created, 0)
        usage["raw"] = wire
        return usage

    # ------------------------------------------------------------------------------------------ to the wire

    def write(self, usage: Usage, endpoint: Endpoint, *, same_origin: bool) -> Wire:
        """Return the usage as the wire counts it; it is the provider's own object if its counts are still the same,
        for an edit may have changed them."""
        raw: Any = usage.get("raw")
        if same_origin and type(raw) is dict and _are_alike(self.read(raw, endpoint), usage):
            as_it_came: Wire = raw
            return as_it_came
        prompt, output = usage.get("input_tokens") or 0, usage.get("output_tokens") or 0
        prompt += (usage.get("cached_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
        counts = usage.copy()
        counts[TOTAL] = prompt + output
        if self.with_cache:
            counts["input_tokens"] = prompt
        if endpoint.dialect.get(self.switch) if self.switch else self.reasoning_outside:
            counts["output_tokens"] = max(output - (usage.get("reasoning_tokens") or 0), 0)
        wire: Wire = {}
        for place in self.places:
            value = counts.get(place.bucket) or 0
            if value or place.written == ALWAYS:
                if place.part:
                    wire.setdefault(place.name, {})[place.part] = value
                else:
                    wire[place.name] = value
        if self.rest is not None and usage.get("cache_creation_1h_input_tokens"):
            wire[self.rest.name][self.rest.part] = not_for_an_hour(usage)
        return wire

    def report(self, usage: Usage, written: Any, loss: Loss) -> None:
        """Report the buckets that the wire does not count separately, and the counts that it has instead. If the
        provider's own object was written, no count is lost."""
        if not _COUNTED.issuperset(usage):
            report_not_written(usage, _COUNTED, loss, ("usage",))
        if written is usage.get("raw"):
            return
        prompt = 0
        for bucket in self.uncounted:
            if usage.get(bucket):
                message = "the wire does not count these tokens separately"
                loss.drop(("usage", bucket), "unsupported_field", "weakened", message)
                if bucket in _OF_THE_PROMPT:
                    prompt += usage[bucket]
        if prompt:
            message = "the wire includes cached tokens in the prompt tokens"
            everything = usage["input_tokens"] + prompt
            loss.replace(("usage", "input_tokens"), everything, "unsupported_field", "weakened", message)


def _are_alike(known: Usage, usage: Usage) -> bool:
    for bucket in _BUCKETS:  # noqa: SIM110 a generator costs more than what it asks
        if (known.get(bucket) or 0) != (usage.get(bucket) or 0):
            return False
    return True
