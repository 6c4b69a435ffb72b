"""
Names of models: `provider:name`, the specs that users write, and aliases.

A spec is a comma-separated list of targets. A target is `provider:name` or `provider/name`, split at the first of the
two marks, with the rest verbatim; or an alias, which is replaced in place by its own spec, to any depth.
No part of a name is read as a setting: `x:high` is the model `high` of the provider `x`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from interlingua.canonical.errors import InvalidRequest

_MARK = re.compile(r"[:/]")
_DATE = re.compile(r"(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8})|-latest)$")
_ARN = re.compile(r"^arn:[^/]+/")
_EDITION = re.compile(r"-(?:v\d+|v?\d+:\d+(?::\w+)?)$")

Resolver = Callable[[str], str | None]
"""A function that returns the spec of a word that is neither an alias nor a model; None when it does not know the
word."""

Hint = Callable[[str], list[str]]
"""A function that returns the names that an unknown word may mean."""


class ModelName(NamedTuple):
    """A model at a provider; its text has a colon."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


def split(text: str) -> ModelName | None:
    """Split a model id into provider and name; None when the text has no mark, or nothing before or after it."""
    found = _MARK.search(text)
    if found is None or found.start() == 0 or found.end() == len(text):
        return None
    return ModelName(text[: found.start()], text[found.end() :])


def undated(name: str) -> str:
    """Return the name of the model of a dated snapshot: `claude-haiku-4-5-20251001` is `claude-haiku-4-5`."""
    return _DATE.sub("", name)


def written_ways(name: str, regions: Sequence[str] = ()) -> list[str]:
    """Return the names under which a model may be listed, the most exact first.

    A dated snapshot also has the name of its model. At a provider with `regions`, the same holds for a name with a
    region before it, with an edition after it, or as an ARN: `us.anthropic.claude-haiku-4-5-20251001-v1:0` is
    `anthropic.claude-haiku-4-5`.
    """
    ways = [name, undated(name)]
    if regions:
        short = _EDITION.sub("", _ARN.sub("", name))
        region = next((region for region in regions if short.startswith(region)), "")
        ways += [short, undated(short), short.removeprefix(region), undated(short.removeprefix(region))]
    return list(dict.fromkeys(ways))


def elements(spec: str) -> list[str]:
    """Return the elements of a spec, in order. Raises `InvalidRequest` for an empty one."""
    found = [element.strip() for element in spec.split(",")]
    for position, element in enumerate(found, start=1):
        if not element:
            raise InvalidRequest(f"element {position} of the spec {spec!r} is empty; remove the comma or name a model")
    return found


class _Open(NamedTuple):
    """A word whose expansion is in progress, and its remaining elements."""

    word: str
    rest: Iterator[str]


def expand(
    spec: str,
    aliases: Mapping[str, str],
    is_provider: Callable[[str], bool],
    *,
    default_provider: str | None = None,
    resolvers: Sequence[Resolver] = (),
    hint: Hint | None = None,
) -> list[ModelName]:
    """Return the targets of a spec in order, with aliases replaced in place, and each target once (the first stays).

    A word is looked up as an alias first, then split into provider and name; a word without mark is a model of
    `default_provider` when there is one, else the resolvers are called in order. `hint` returns the names that an
    unknown word may mean. Raises `InvalidRequest` for an unknown word, an unknown provider, an empty element and a loop
    of aliases.
    """
    targets: dict[ModelName, None] = {}
    stack = [_Open("", iter(elements(spec)))]
    begun: set[str] = set()
    finished: set[str] = set()
    while stack:
        word = next(stack[-1].rest, None)
        if word is None:
            finished.add(stack.pop().word)
            continue
        inner = aliases.get(word)
        if inner is None:
            target = _target(word, is_provider, default_provider, hint)
            if target is not None:
                targets[target] = None
                continue
            inner = next((found for resolve in resolvers if (found := resolve(word)) is not None), None)
            if inner is None:
                raise _unknown(word, hint)
        if word in begun and word not in finished:
            raise InvalidRequest(f"the alias {word!r} leads back to itself: {_loop(word, stack)}")
        if word not in finished:  # expanding a word again would add no target
            begun.add(word)
            stack.append(_Open(word, iter(elements(inner))))
    return list(targets)


def expand_in(catalog: Mapping[str, Any], spec: str, aliases: Mapping[str, str]) -> list[ModelName]:
    """`expand` with the data of a catalogue, which is the registry as the router sees it."""
    providers = catalog["providers"]

    def hint(word: str) -> list[str]:
        return nearest(word, aliases, catalog.get("models", ()), providers)

    return expand(spec, aliases, providers.__contains__, hint=hint)


def _target(
    word: str, is_provider: Callable[[str], bool], default_provider: str | None, hint: Hint | None
) -> ModelName | None:
    name = split(word)
    if name is not None:
        if not is_provider(name.provider):
            raise unknown_provider(name.provider, hint(word) if hint else ())
        return name
    if _MARK.search(word):
        raise InvalidRequest(f"the model id {word!r} lacks its provider or its name; write provider:name")
    return ModelName(default_provider, word) if default_provider else None


def _unknown(word: str, hint: Hint | None) -> InvalidRequest:
    advice = did_you_mean(hint(word) if hint else ()) or "write provider:name, or define the alias"
    return InvalidRequest(f"{word!r} is neither an alias nor a model id; {advice}")


def did_you_mean(found: Sequence[str]) -> str:
    """Return the advice of an error that has suggestions; empty when it has none."""
    return f"did you mean {' or '.join(found)}?" if found else ""


def nearest(word: str, aliases: Iterable[str], models: Iterable[str], providers: Iterable[str]) -> list[str]:
    """Return what an unknown word may mean, the likeliest first: the models of exactly this name, or the aliases,
    models and providers with similar names."""
    from difflib import get_close_matches  # imported only after a mistake

    provider, mark, name = word.partition(":") if ":" in word else word.partition("/")
    if mark:
        return [f"{one}:{name}" for one in get_close_matches(provider, list(providers), _MOST_HINTS, _LIKE)]
    ids: dict[str, list[str]] = {}
    for model in models:
        ids.setdefault(model.partition(":")[2], []).append(model)
    if word in ids:
        return ids[word][:_MOST_HINTS]
    if word in providers:
        return [model for model in models if model.startswith(f"{word}:")][:_MOST_HINTS]
    close = get_close_matches(word, [*aliases, *ids], _MOST_HINTS, _LIKE)
    return list(dict.fromkeys(one for found in close for one in (ids[found][:1] if found in ids else [found])))


_MOST_HINTS = 3
_LIKE = 0.7


def _loop(word: str, stack: Sequence[_Open]) -> str:
    words = [opened.word for opened in stack]
    return " → ".join([*words[words.index(word) :], word])


def unknown_provider(name: str, meant: Sequence[str] = ()) -> InvalidRequest:
    """Return the error for a provider that is in no row and in no DSN; `meant` are suggestions."""
    message = (
        f"there is no provider {name!r}: it is neither in the registry nor in the environment as {dsn_variable(name)}"
    )
    return InvalidRequest(f"{message}; {did_you_mean(meant)}" if meant else message)


def only_one(spec: str, targets: Sequence[ModelName], path: str | None = None) -> ModelName:
    """Return the target of a spec. Raises `InvalidRequest` when there are several, where only one is allowed."""
    if len(targets) != 1:
        raise InvalidRequest(f"{spec!r} stands for {len(targets)} models, and only one is allowed here", path=path)
    return targets[0]


def dsn_variable(provider: str) -> str:
    """Return the environment variable that may hold the DSN of a provider: for `my-box` it is `LLM_MY_BOX`."""
    return "LLM_" + re.sub(r"[^A-Z0-9]", "_", provider.upper())
