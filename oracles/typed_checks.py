"""
The laws over values that were made from a provider's types: what is read is written again, nothing is lost unsaid elsewhere,
and what is refused is refused with a typed error.

Each check gives the problems that it found, empty when all holds.
"""

import base64
import copy
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from interlingua import adapters, fold, registry
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import load

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
laws: Any = import_module("corpus")  # the same checks that recordings pass; the tools are no package

Value = dict[str, Any]


def request_problems(
    adapter: str, body: Value, endpoint: Endpoint, source: random.Random | None = None, *, may_be_refused: bool = False
) -> list[str]:
    """A request: the same wire again, the loss law at every wire, and what is written there is valid."""
    entry = {"request": body}
    own = _guarded("request", partial(laws.check_request, adapter, entry, endpoint), may_be_refused)
    if own:
        return own
    try:
        request, _ = adapters.get(adapter).from_wire_request(laws._wire(entry), endpoint, DERIVED_IDS)
    except InterlinguaError:
        return []
    found: list[str] = []
    for other in adapters.names():
        target = endpoint if other == adapter else a_target(other, source)
        judged = other != adapter and target.provider in (None, HOMES[other])
        check = f"law:{other}" if target.model == "a-model" else f"law:{other} {target.provider}:{target.model}"
        found += _guarded(check, partial(_crossed, request, target, judged=judged), refusals=True)
    return found


def edited_problems(
    adapter: str,
    body: Value,
    endpoint: Endpoint,
    source: random.Random,
    edited: Callable[[Value, random.Random], tuple[Value, list[str]]],
) -> list[str]:
    """A request that was changed since it was read: the loss law at its own wire and at another one."""
    request, _ = adapters.get(adapter).from_wire_request(laws._wire({"request": body}), endpoint, DERIVED_IDS)
    found: list[str] = []
    for _ in range(2):
        changed, names = edited(request, source)
        try:
            load(changed)
        except InterlinguaError:
            continue  # no request any more
        other = source.choice([name for name in adapters.names() if name != adapter])
        for target in (endpoint, a_target(other, source)):
            check = f"{', '.join(names)} to {target.adapter}"
            found += _guarded(check, partial(_crossed, changed, target, judged=False), refusals=True)
    return found


HOMES = {
    "anthropic_messages": "anthropic",
    "bedrock_converse": "bedrock",
    "cohere_chat": "cohere",
    "gemini_generate": "gemini",
    "ollama_chat": "ollama",
    "openai_chat": "openai",
    "openai_responses": "openai",
}
"""Whose wire it is."""
DIALECTS = ("openai", "openai", "mistral", "deepseek", "xai", "groq", "openrouter", "azure-openai", "vllm", "moonshot")


def a_target(adapter: str, source: random.Random | None) -> Endpoint:
    """Somebody who speaks a wire: of no model anything is known, or one of those that are known."""
    if source is None or source.random() < 0.4:
        return registry.endpoint(adapter=adapter, model="a-model")
    provider = source.choice(DIALECTS) if adapter == "openai_chat" else HOMES[adapter]
    return registry.endpoint(adapter=adapter, provider=provider, model=source.choice(_models(provider)))


@cache
def _models(provider: str) -> list[str]:
    return [model["name"] for model in registry.models() if model["provider"] == provider] or ["a-model"]


def _crossed(request: Value, target: Endpoint, *, judged: bool) -> str | None:
    problem, wire = laws.check_law(request, target)
    if problem is None and judged and wire is not None:
        broken = laws.oracles.violations(target.adapter, wire)
        return f"invalid: {broken[0]}" if broken else None
    return problem


def answer_problems(adapter: str, body: Value, endpoint: Endpoint, *, may_be_refused: bool = False) -> list[str]:
    """An answer: the same wire again, and the loss law of answers at every wire."""
    entry = {"response": body}
    found = _guarded("answer", partial(laws.check_response, adapter, entry, endpoint), may_be_refused)
    if found:
        return found
    try:
        response, _ = adapters.get(adapter).from_wire_response(body, endpoint, DERIVED_IDS)
    except InterlinguaError:
        return []
    for other in adapters.names():
        target = endpoint if other == adapter else registry.endpoint(adapter=other)
        found += _guarded(f"answer:{other}", partial(laws.check_answer_law, response, target))
    return found


def stream_problems(
    adapter: str, raw: bytes, endpoint: Endpoint, answer: Value | None = None, *, may_fail: bool = False
) -> list[str]:
    """A stream: the same whatever the cuts, the answer that the whole body says, and the law at every wire.

    One that `may_fail` may end with an error; nothing else of it may.
    """
    entry = {"stream_format": "aws_eventstream", "stream_raw_b64": base64.b64encode(raw)}  # bytes, whatever the framing
    events = laws._events([raw], endpoint)
    failed = may_fail and (not events or events[-1]["type"] == "error")
    found = [] if failed else _guarded("stream", partial(laws.check_stream, adapter, entry, endpoint))
    found += _guarded("cuts", partial(laws.check_cuts, adapter, entry, endpoint))
    if found or failed:
        return found
    if answer is not None:
        found += _guarded("unary", partial(_same, adapter, fold(events), answer, endpoint))
    for other in adapters.names():
        target = endpoint if other == adapter else registry.endpoint(adapter=other)
        found += _guarded(f"streamed:{other}", partial(laws.check_stream_law, events, target))
    return found


ODD: list[Any] = ["v", None, {"a": 1}, [], False, 0, 1.5, "", " ", {}, [{"type": "x_new"}], "x_new"]


def spoiled(body: Value, source: random.Random) -> Value:
    """A copy in which something is not as the types say: a member gone, null, doubled, unknown, or of another type."""
    made = copy.deepcopy(body)
    for _ in range(source.randint(1, 2)):
        node = source.choice(list(_nodes(made)))
        if isinstance(node, dict):
            name = source.choice([*node, "x_new"])
            match source.choice(("remove", "odd", "odd", "add")):
                case "remove":
                    node.pop(name, None)
                case "odd":
                    node[name] = copy.deepcopy(source.choice(ODD))
                case _:
                    node["x_new"] = copy.deepcopy(source.choice(ODD))
        elif node and source.random() < 0.5:
            place = source.randrange(len(node))
            node.insert(place, copy.deepcopy(node[place]))
        elif node and source.random() < 0.5:
            del node[source.randrange(len(node))]
        else:
            node.insert(source.randrange(len(node) + 1), copy.deepcopy(source.choice(ODD)))
    return made


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _nodes(inner)


def _same(adapter: str, folded: Value, answer: Value, endpoint: Endpoint) -> str | None:
    response, _ = adapters.get(adapter).from_wire_response(answer, endpoint, DERIVED_IDS)
    where = laws.difference(_meant(folded), _meant(response))
    return None if where is None else f"differs at {laws._general(where)}"


def _meant(value: Any) -> Any:
    """An answer without spellings, and without null, which no piece of a stream tells."""
    if isinstance(value, list):
        return [_meant(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {name: _meant(item) for name, item in value.items() if item is not None and name not in ("encoding", "raw")}
    made = {name: item for name, item in made.items() if item != {} and (name, item) != ("citations", [])}
    return {} if made.keys() <= {"adapter", "provider"} else made


def _guarded(check: str, work: Any, refusals: bool = False) -> list[str]:
    try:
        problem = work()
    except InterlinguaError as error:
        return (
            []
            if refusals
            else [f"{check}: refused {error.category}: {error.message} {laws._general(error.path or '')}"]
        )
    except Exception as error:  # noqa: BLE001 (a crash is a finding)
        return [f"{check}: CRASH {type(error).__name__}: {error}"]
    return [f"{check}: {problem}"] if problem else []
