"""The exceptions as values: what a pool of processes gives back is the error that was raised there."""

import copy
import pickle
from typing import Any

import pytest

from interlingua.canonical import errors

ERROR = {"category": "overloaded", "message": "busy", "retryable": True, "retry_after": 2.0, "provider": "openai"}
MADE: list[errors.InterlinguaError] = [
    errors.InterlinguaError("no", path="/a", adapter="openai_chat"),
    errors.InvalidRequest("no", path="/a", violations=[{"rule": "schema.type", "path": "/a", "message": "no"}]),
    errors.ResultWithoutCall("no"),
    errors.InvalidWire("no", path=""),
    errors.InvalidAnswer("no", adapter="openai_chat"),
    errors.CannotAdapt("no"),
    errors.LossRefused("no", [{"op": "drop", "path": "/a"}], path="/a"),
    errors.NoCandidate("none", [{"slot": 0}]),
    errors.OriginInCooldown(ERROR, [{"slot": 0}]),
    errors.NotConfigured("openai", "set OPENAI_API_KEY", adapter="openai_chat"),
    errors.Cancelled("the caller left"),
    errors.ProviderError(ERROR),
    errors.StreamTruncated(ERROR, {"message": {"role": "assistant", "content": []}}),
]


def all_kinds(kind: type[Any]) -> set[type[Any]]:
    """The public classes of a module below one of them."""
    below = {one for each in kind.__subclasses__() for one in all_kinds(each)}
    return {one for one in {kind, *below} if one.__module__ == errors.__name__ and not one.__name__.startswith("_")}


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_an_error_is_the_same_in_another_process(error: errors.InterlinguaError, again: Any) -> None:
    """With all its members; `pickle` makes it again without its constructor."""
    other = again(error)
    assert type(other) is type(error)
    assert (str(other), repr(other), other.to_dict()) == (str(error), repr(error), error.to_dict())
    assert vars(other) == vars(error)


def test_each_kind_of_error_is_among_them() -> None:
    """A new one is tried as well."""
    assert {type(error) for error in MADE} == all_kinds(errors.InterlinguaError)


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_has_the_words_of_its_object(error: errors.InterlinguaError) -> None:
    """On each class: a program asks for them without knowing which error it has (spec/8-errors.md)."""
    told = error.to_dict()
    assert (error.category, error.retryable) == (told["category"], told["retryable"])
    assert (error.retry_after, error.code) == (told.get("retry_after"), told.get("code"))
