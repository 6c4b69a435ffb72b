"""Rules that several wires share for members of a request: which values are accepted, and how the rest is reported."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire, severity_of
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._requests.members import SEVERITY, Writer, within

# ---------------------------------------------------------------------------------------------------- values


def stops(
    most: int | None = None, fits: Callable[[str], Any] | None = bool, code: str = "unsupported_value"
) -> Writer[Writing]:
    """Return a writer of the stop texts that satisfy `fits` (None: all do), at most `most` of them. It reports all
    others."""

    def write(name: str, value: list[str], body: Wire, writing: Writing) -> list[str]:
        kept = value
        if fits is not None:
            kept = [text for text in value if fits(text)]
            if len(kept) != len(value):
                for position, text in enumerate(value):
                    if not fits(text):
                        message = "the target does not accept a blank stop sequence"
                        writing.loss.drop((name, position), code, "weakened", message)
        taken = writing.dialect.get("max_stop", most)
        if taken is None or len(kept) <= taken:
            return kept
        message = f"the target accepts {taken} stop sequences"
        writing.loss.replace((name,), kept[:taken], "limit_exceeded", "weakened", message)
        return kept[:taken]

    return write


def seed_within(lowest: int, highest: int) -> Writer[Writing]:
    """Return a writer of a seed in this range. A seed outside is dropped: a fitted one would be another seed."""

    def write(name: str, value: int, body: Wire, writing: Writing) -> int | None:
        if lowest <= value <= highest:
            return value
        writing.loss.drop((name,), "unsupported_value", "weakened", "the target does not accept this seed")
        return None

    return write


def word(words: Sequence[str], default: str | None = None, switch: str = "") -> Writer[Writing]:
    """Return a writer of one of the wire's words, or of those that a `switch` of the dialect lists. `default` is the
    wire's name of the value that other wires call "default"."""

    def write(name: str, value: str, body: Wire, writing: Writing) -> str | None:
        if value in (writing.dialect.get(switch) or words):
            return value
        if value == "default" and default is not None:
            writing.loss.replace(
                (name,), default, "unsupported_value", "representation", "another name of the same value"
            )
            return default
        severity = "representation" if value == "auto" else "weakened"
        writing.loss.drop((name,), "unsupported_value", severity, "the target does not have this value")
        return None

    return write


# ---------------------------------------------------------------------------------------------------- log probabilities

MOST_LOGPROBS: Final = 20


def top_logprobs(name: str, value: int, body: Wire, writing: Writing) -> int | None:
    """Return the number of alternatives for each token; None if the target returns no log probabilities."""
    if writing.refuses("logprobs", name):
        code = "unsupported_field" if "logprobs" in writing.dialect.get("unsupported", ()) else "unsupported_model"
        severity = severity_of(name, value, SEVERITY[name])
        writing.loss.drop((name,), code, severity, "the target does not return log probabilities")
        return None
    return within(name, value, 0, MOST_LOGPROBS, writing, "limit_exceeded")


# ---------------------------------------------------------------------------------------------------- metadata


def kept_metadata(
    writing: Writing,
    fits: Callable[[str, Any], Any],
    message: str,
    most: int | None = None,
    code: str = "unsupported_value",
    user: str = "",
) -> dict[str, Any]:
    """Return the data that the provider stores with a request: what satisfies `fits`, at most `most` pairs. Report
    everything else. `user` is the name in this data for the id of the user."""
    kept: dict[str, Any] = {}
    for name, item in (_given("metadata", writing) or NOTHING).items():
        if not fits(name, item):
            writing.loss.drop(("metadata", name), code, "weakened", message)
        elif most is not None and len(kept) == most:
            writing.loss.drop(("metadata", name), "limit_exceeded", "weakened", f"the wire accepts {most} pairs")
        else:
            kept[name] = item
    who = _given("user", writing) if user else None
    if who is None:
        return kept
    if user in kept or len(kept) == most or not fits(user, who):
        writing.loss.drop(("user",), "unsupported_field", "weakened", "the wire has no member for the id of the user")
    else:
        kept[user] = who
        writing.loss.move(("user",), ("metadata", user), "unsupported_field", "representation", "the user's id")
    return kept


def _given(name: str, writing: Writing) -> Any:
    """Return the request's value of a member; report it and return None if the provider or the model does not accept
    it."""
    value = writing.source.get(name)
    if not value or not writing.refuses(name):
        return value
    writing.report_refused(name, value, SEVERITY[name])
    return None
