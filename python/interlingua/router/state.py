"""
The origin of the state in a conversation, and which candidates would lose it (spec/7-routing.md#state).

Strategy: the facts of a turn name the owners of state, the latest last. A policy that pins determines which of them
binds the turn. The rule by which an adapter replays state (`Endpoint.owns`) determines whether a candidate is at that
origin. So there is one rule for every wire, whatever wire the conversation was read from.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import NoCandidate
from interlingua.registry import names
from interlingua.router.capable import capabilities

STRIP, PIN, PIN_LOOP = "strip", "pin", "pin_loop"
WORDS = (STRIP, PIN, PIN_LOOP)
"""The values of the policy's member `state`, for state that a candidate would lose."""

PINNED = "pinned_elsewhere"
"""The reason to reject a candidate that would lose pinned state."""


class Held(TypedDict, total=False):
    """State of one owner in a conversation. Without `adapter` only the provider is known."""

    adapter: str
    provider: str | None
    origin: str
    model: str
    """The model whose answer contained it, when the message names it."""
    kind: str
    """`reasoning`: the model's own reasoning or its signature. `item`: a provider's own item (an opaque block)."""
    loop: bool
    """Whether some of it is in the turn in progress."""


def held(messages: Sequence[Mapping[str, Any]]) -> list[Held]:
    """The state in the answers of a conversation, one entry for each owner, the latest last."""
    entries: dict[tuple[Any, ...], Held] = {}
    begin = loop_begin(messages)
    for position, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        model = (message.get("metadata") or {}).get("model")
        for block in message["content"]:
            owner = _owner(block, message)
            if owner is None:
                continue
            entry: Held = {"kind": "item" if block["type"] == "opaque" else "reasoning"}
            if "adapter" in owner:
                entry["adapter"] = owner["adapter"]
            entry["provider"] = owner.get("provider")
            if owner.get("origin") is not None:
                entry["origin"] = owner["origin"]
            if isinstance(model, str):
                entry["model"] = model
            key = tuple(sorted(entry.items(), key=lambda item: item[0]))
            earlier = entries.pop(key, None)
            entry["loop"] = position >= begin or (earlier is not None and earlier.get("loop", False))
            entries[key] = entry
    return list(entries.values())


def loop_begin(messages: Sequence[Mapping[str, Any]]) -> int:
    """The position at which the turn in progress begins; the end of the messages when no turn is in progress.

    A turn is in progress when there are results that the model has yet to read, or when the answer was paused. It
    begins after the last message of the user. A user message directly after results does not begin a turn: the model
    reads it together with the results.
    """
    begin, results, previous = 0, False, ""
    for position, message in enumerate(messages):
        role: str = message["role"]
        if role == "user" and previous != "tool":
            begin, results = position + 1, False
        elif role == "tool":
            results = True
        elif role == "assistant":
            results = False
        if role in ("user", "assistant"):
            previous = role
        elif role == "tool":
            previous = "tool"
    return begin if results or previous == "assistant" else len(messages)


def turn_model(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """The model that answered last in the turn in progress; None at the beginning of a turn."""
    for message in reversed(messages[loop_begin(messages) :]):
        if message["role"] == "assistant":
            model = (message.get("metadata") or {}).get("model")
            return model if isinstance(model, str) else None
    return None


def in_turn_order(models: Sequence[str], current: str | None) -> tuple[str, ...]:
    """The models of a chain in the order in which they are tried: the one that has answered in this turn is first.

    A dated snapshot counts as its model, because providers name the snapshot that served.
    """
    if current is None:
        return tuple(models)
    first = next((model for model in models if model == current), None)
    if first is None:
        first = next((model for model in models if names.undated(model) == names.undated(current)), None)
    return tuple(models) if first is None else (first, *(model for model in models if model != first))


def pins(policy: Mapping[str, Any]) -> bool:
    """Whether a policy keeps any state at its origin."""
    return policy.get("state") in (PIN, PIN_LOOP)


def pinned(turn: Mapping[str, Any], policy: Mapping[str, Any], catalog: Mapping[str, Any]) -> Held | None:
    """The state that a policy keeps at its origin: the latest entry that binds; None when no entry binds.

    Only the latest binds: state that an earlier provider left does not hold a conversation that has moved on.
    """
    if not pins(policy):
        return None
    entries: Sequence[Held] = turn.get("state") or ()
    return next((entry for entry in reversed(entries) if _binds(entry, policy["state"], catalog)), None)


def against(model: str, entry: Held | None, catalog: Mapping[str, Any]) -> tuple[str, ...]:
    """The reason of pinned state against a candidate that could not take the state back; else none."""
    return (PINNED,) if entry is not None and loses(model, entry, catalog) else ()


def loses(model: str, entry: Held, catalog: Mapping[str, Any], adapter: str | None = None) -> bool:
    """Whether a candidate could not take this state back, over its own wire or the one that the caller names."""
    provider = model.partition(":")[0]
    row: Mapping[str, Any] = catalog["providers"].get(provider) or {}
    known: Mapping[str, Any] = catalog["models"].get(model) or {}
    # when a catalogue names no wires, only the provider is compared
    wire: str = adapter or known.get("adapter") or row.get("adapter") or entry.get("adapter") or ""
    facts = _wire(row, wire)
    there = Endpoint(
        wire, provider, dialect={"same_state_as": facts.get("same_state_as") or {}}, origin=facts.get("origin")
    )
    if not there.owns({"adapter": wire, **entry}):
        return True
    return entry.get("kind") != "item" and _replay(model, wire, catalog) == "must_not"


def staying(
    request: Mapping[str, Any],
    models: Sequence[str],
    catalog: Mapping[str, Any],
    policy: Mapping[str, Any],
    adapter: str | None = None,
) -> tuple[str, ...]:
    """The models, of those that a caller named, that would not lose pinned state; all of them when none is pinned.

    `adapter` is the wire over which they will be called, when the caller names one. Raises `NoCandidate` when no model
    is left.
    """
    entry = pinned({"state": held(request["messages"])}, policy, catalog)
    remaining = tuple(model for model in models if entry is None or not loses(model, entry, catalog, adapter))
    if not remaining:
        owner = entry.get("provider") if entry else None
        raise NoCandidate(
            f"none of {', '.join(models)} can take back the state of {owner} in the conversation, and the policy "
            "keeps it at its origin",
            [],
        )
    return remaining


def _wire(row: Mapping[str, Any], adapter: str | None) -> Mapping[str, Any]:
    return (row.get("wires") or {}).get(adapter) or {}


def _replay(model: str, adapter: str | None, catalog: Mapping[str, Any]) -> str:
    """The replay policy of a model's reasoning: that of the wire, else of the model, else of its provider."""
    row: Mapping[str, Any] = catalog["providers"].get(model.partition(":")[0]) or {}
    declared = capabilities(model, catalog).get("reasoning_replay")
    return _wire(row, adapter).get("reasoning_replay") or declared or "may"


def _binds(entry: Held, policy: str, catalog: Mapping[str, Any]) -> bool:
    if entry.get("kind") == "item":
        replay = "must"
    else:
        replay = _replay(entry.get("model") or entry.get("provider") or "", entry.get("adapter"), catalog)
    return replay != "must_not" and (policy == PIN or (replay == "must" and entry.get("loop", False)))


def _owner(block: Mapping[str, Any], message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The owner of the state that a block is or carries; None when it has none."""
    state: Mapping[str, Any] | None = block.get("provider_state")
    match block["type"]:
        case "opaque":
            return block
        case "thinking" | "redacted_thinking":
            if state is not None:
                return state
            provider = (message.get("metadata") or {}).get("provider")
            proof = block.get("signature") or block.get("data")
            return {"provider": provider} if provider is not None and proof else None
        case _:
            return state if state is not None and state.get("signature") else None
