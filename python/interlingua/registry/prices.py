"""
The exact cost of an answer, from dated price tables (spec/5-usage-and-cost.md).

Rates and costs are decimals; binary floats are never used. A model without a price in the table is unpriced: None,
never 0.
"""

from collections.abc import Mapping
from decimal import Context, Decimal, DecimalException, Inexact, InvalidOperation, Overflow
from functools import lru_cache
from typing import Any, Required, TypedDict

from interlingua.canonical.errors import InvalidRequest


class Rates(TypedDict, total=False):
    """US dollars per million tokens, as decimal text."""

    input_per_mtok_usd: str
    output_per_mtok_usd: str
    cached_read_per_mtok_usd: str
    cache_write_per_mtok_usd: str
    cache_write_1h_per_mtok_usd: str


class LongPrompt(Rates, total=False):
    """The rates of an answer whose prompt is longer than `over_tokens`. They apply to the whole answer; without rates
    it is unpriced."""

    over_tokens: Required[int]


class Price(Rates, total=False):
    """One row of a price table."""

    version: str
    """The version of the table that contains the row."""
    long_prompt: LongPrompt


# wide enough for every count and rate; a wider result raises an error and is never rounded
_EXACT = Context(prec=200, traps=[Inexact, InvalidOperation, Overflow])
_MOST_DIGITS = 30  # before the point of a rate; more is a mistake


def cost(usage: Mapping[str, Any], price: Mapping[str, Any] | None) -> Decimal | None:
    """Return the cost of an answer in US dollars, with each bucket counted once; None when it is unpriced.

    Missing rates: a cached read and a cache write cost as much as input, a one-hour write as much as a cache write.
    Raises `InvalidRequest`, with a pointer into the usage or the row of the table, when a rate is not a decimal or a
    count is not a whole number.
    """
    amount = cost_text(usage, price)
    return None if amount is None else Decimal(amount)


def cost_text(usage: Mapping[str, Any], price: Mapping[str, Any] | None) -> str | None:
    """Return `cost` as text, as the contract writes it."""
    try:
        return _cost(usage, _rates(usage, price))
    except DecimalException:
        raise InvalidRequest(
            "the cost has too many digits to be exact; check the rates and the counts", path="/price"
        ) from None


def _cost(usage: Mapping[str, Any], rates: Mapping[str, Any] | None) -> str | None:
    if rates is None or "input_per_mtok_usd" not in rates or "output_per_mtok_usd" not in rates:
        return None
    rate_in = _rate(rates, "input_per_mtok_usd")
    rate_write = _rate(rates, "cache_write_per_mtok_usd", rate_in)
    written = _count(usage, "cache_creation_input_tokens")
    written_1h = min(_count(usage, "cache_creation_1h_input_tokens"), written)
    buckets = (
        (_count(usage, "input_tokens"), rate_in),
        (_count(usage, "output_tokens"), _rate(rates, "output_per_mtok_usd")),
        (_count(usage, "cached_input_tokens"), _rate(rates, "cached_read_per_mtok_usd", rate_in)),
        (written - written_1h, rate_write),
        (written_1h, _rate(rates, "cache_write_1h_per_mtok_usd", rate_write)),
    )
    total = Decimal(0)
    for tokens, rate in buckets:
        if tokens:
            total = _EXACT.fma(Decimal(tokens), rate, total)
    return text(total.scaleb(-6, _EXACT))


def is_complete(price: Mapping[str, Any] | None) -> bool:
    """Return whether a row prices every answer, also one to a long prompt."""
    if price is None:
        return False
    rates = (price, price["long_prompt"]) if price.get("long_prompt") else (price,)
    return all("input_per_mtok_usd" in row and "output_per_mtok_usd" in row for row in rates)


def text(amount: Decimal) -> str:
    """Return an amount as the contract writes it: plain digits, no exponent, no needless zeros."""
    return format(amount.normalize(_EXACT), "f")


def prompt_tokens(usage: Mapping[str, Any]) -> int:
    """Return the number of tokens of the whole prompt: the sum of the three input buckets, which do not overlap."""
    return (
        _count(usage, "input_tokens")
        + _count(usage, "cached_input_tokens")
        + _count(usage, "cache_creation_input_tokens")
    )


def _rates(usage: Mapping[str, Any], price: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if price is None:
        return None
    long_prompt = price.get("long_prompt")
    if not long_prompt:
        return price
    over = long_prompt.get("over_tokens") if isinstance(long_prompt, Mapping) else None
    if not isinstance(over, int) or isinstance(over, bool) or over < 0:
        message = "the rates of a long prompt need a count of tokens above which they apply: a whole number, 0 or more"
        raise InvalidRequest(message, path="/price/long_prompt/over_tokens")
    return long_prompt if prompt_tokens(usage) > over else price


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name) or 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidRequest("a token count must be a whole number, 0 or more", path=f"/usage/{name}")
    return value


def _rate(rates: Mapping[str, Any], name: str, otherwise: Decimal | None = None) -> Decimal:
    rate = rates.get(name)
    if rate is None and otherwise is not None:
        return otherwise
    if isinstance(rate, str):
        value = _decimal(rate)
    else:
        value = Decimal(rate) if isinstance(rate, (int, Decimal)) and not isinstance(rate, bool) else None
    if value is None or not value.is_finite() or value < 0 or value.adjusted() > _MOST_DIGITS:
        raise InvalidRequest("a rate must be a decimal written as text, 0 or more", path=f"/price/{name}")
    return value


@lru_cache(maxsize=4096)
def _decimal(written: str) -> Decimal | None:
    try:
        return Decimal(written)
    except InvalidOperation:
        return None
