"""JSON values: exact reading, JSON Pointers, equality with comparators, and the loss report applied (spec/6-loss.md).

This module is the suite's own reading of the specification. It shares no code with any implementation under test,
so a mistake in an implementation cannot hide in the thing that judges it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any


class _Missing:
    """The absence of a value, which is not null."""

    def __repr__(self) -> str:
        return "nothing"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"  # one, in whichever process


MISSING: Any = _Missing()


# --- reading -----------------------------------------------------------------------------------------------------------


def loads(text: str | bytes) -> Any:
    """Read JSON; NaN, infinities, overflowing numbers, duplicate members and lone surrogates raise ValueError."""
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_object_without_duplicates
        )
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error


def dumps(value: Any) -> str:
    """Write compact JSON in ASCII, safe to send as one line."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def show(value: Any, limit: int = 160) -> str:
    """A short text of a value for a report."""
    if value is MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} does not fit a number")
    return value


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"member {twice!r} is there twice")
    return value


# --- pointers ----------------------------------------------------------------------------------------------------------


def parse_pointer(pointer: str) -> list[str]:
    """The steps of a JSON Pointer (RFC 6901); ValueError when it is not one."""
    if pointer == "":
        return []
    if not isinstance(pointer, str) or not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON Pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def pointer_of(steps: Sequence[str | int]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def get(value: Any, pointer: str) -> Any:
    """The value at a pointer, or MISSING."""
    for step in parse_pointer(pointer):
        if isinstance(value, dict):
            value = value.get(step, MISSING)
        elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def strings(value: Any) -> Iterator[str]:
    """All strings of a value, member names excepted."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


# --- equality ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """The first place where two values differ."""

    pointer: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: expected {show(self.expected)}, got {show(self.actual)}"


Comparators = Sequence[dict[str, Any]]


def difference(expected: Any, actual: Any, comparators: Comparators = ()) -> Difference | None:
    """The first difference in document order, or None.

    Members without order, lists with order, numbers by value, `true` is not `1`, absent is not null.
    Comparators `{"path", "as"}` relax a place; `*` in a path stands for any one step.
    """
    rules = [(parse_pointer(rule["path"]), rule) for rule in comparators]
    return _difference(expected, actual, [], rules)


def _difference(
    expected: Any, actual: Any, at: list[str], rules: list[tuple[list[str], dict[str, Any]]]
) -> Difference | None:
    rule = _rule_for(at, rules) if rules else None
    if rule is not None:
        return (
            None if _COMPARATORS[rule["as"]](expected, actual, rule) else Difference(pointer_of(at), expected, actual)
        )
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _object_difference(expected, actual, at, rules)
    if isinstance(expected, list) and isinstance(actual, list):
        for index in range(max(len(expected), len(actual))):
            one = expected[index] if index < len(expected) else MISSING
            two = actual[index] if index < len(actual) else MISSING
            found = _difference(one, two, [*at, str(index)], rules)
            if found is not None:
                return found
        return None
    return None if same_scalar(expected, actual) else Difference(pointer_of(at), expected, actual)


def _object_difference(
    expected: dict[str, Any], actual: dict[str, Any], at: list[str], rules: list[tuple[list[str], dict[str, Any]]]
) -> Difference | None:
    for name in [*expected, *(name for name in actual if name not in expected)]:
        found = _difference(expected.get(name, MISSING), actual.get(name, MISSING), [*at, name], rules)
        if found is not None:
            return found
    return None


def same_scalar(one: Any, two: Any) -> bool:
    """Equality of two values of which at most one is a container."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, int | float) and isinstance(two, int | float):
        return one == two
    return type(one) is type(two) and one == two


def equal(one: Any, two: Any) -> bool:
    return difference(one, two) is None


def _rule_for(at: list[str], rules: list[tuple[list[str], dict[str, Any]]]) -> dict[str, Any] | None:
    for steps, rule in rules:
        if len(steps) == len(at) and all(step in ("*", here) for step, here in zip(steps, at, strict=True)):
            return rule
    return None


def _json_string(expected: Any, actual: Any, rule: dict[str, Any]) -> bool:
    try:
        return isinstance(actual, str) and equal(loads(expected), loads(actual))
    except (ValueError, TypeError):
        return False


def _unordered(expected: Any, actual: Any, rule: dict[str, Any]) -> bool:
    if not isinstance(expected, list) or not isinstance(actual, list) or len(expected) != len(actual):
        return False
    rest = list(actual)
    for item in expected:
        match = next((index for index, other in enumerate(rest) if equal(item, other)), None)
        if match is None:
            return False
        del rest[match]
    return True


def _decimal(expected: Any, actual: Any, rule: dict[str, Any]) -> bool:
    try:
        return isinstance(actual, str) and Decimal(expected) == Decimal(actual)
    except (InvalidOperation, TypeError, ValueError):
        return False


def _within(expected: Any, actual: Any, rule: dict[str, Any]) -> bool:
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return False
    return abs(expected - actual) <= rule.get("tolerance", 0)


_COMPARATORS: dict[str, Callable[[Any, Any, dict[str, Any]], bool]] = {
    "ignore": lambda expected, actual, rule: True,
    "any-string": lambda expected, actual, rule: isinstance(actual, str),
    "unordered": _unordered,
    "json-string": _json_string,
    "decimal": _decimal,
    "within": _within,
}
COMPARATOR_WORDS = frozenset(_COMPARATORS)


# --- the loss report, applied (spec/6-loss.md, 6.2) -----------------------------------------------------------------------


class ReportError(Exception):
    """An entry of a loss report that cannot be applied."""

    def __init__(self, index: int, path: str, reason: str) -> None:
        super().__init__(f"entry {index} of the loss report, {path or '/'}: {reason}")
        self.index = index
        self.path = path
        self.reason = reason


class _List:
    """A list whose elements keep their written position while entries are applied.

    `slots` holds the elements by written position, MISSING where one is gone; `before[i]` what was put in front of
    position i, and `before[len(slots)]` what was appended.
    """

    __slots__ = ("before", "joins", "slots")

    def __init__(self, items: list[Any]) -> None:
        self.slots = items
        self.before: dict[int, list[Any]] = {}
        self.joins: dict[int, dict[str, Any]] = {}

    def insert(self, position: int, value: Any) -> None:
        self.before.setdefault(position, []).append(value)

    def items(self) -> Iterator[Any]:
        for position in range(len(self.slots) + 1):
            yield from self.before.get(position, ())
            if position < len(self.slots) and self.slots[position] is not MISSING:
                yield self.slots[position]


def apply(request: Any, loss: list[dict[str, Any]]) -> Any:
    """The request as the model will effectively see it; ReportError when an entry does not fit the request."""
    root = _open(request)
    for index, entry in enumerate(loss):
        try:
            _apply_entry(root, entry)
        except _NotThereError as error:
            raise ReportError(index, str(entry.get("path")), str(error)) from None
    return _close(root)


class _NotThereError(Exception):
    pass


def _apply_entry(root: Any, entry: dict[str, Any]) -> None:
    steps = _steps(entry.get("path"))
    match entry.get("op"):
        case "drop":
            _take(root, steps)
        case "replace":
            _replace(root, steps, entry)
        case "move":
            _move(root, steps, _steps(entry.get("to")), entry)
        case "merge":
            _merge(root, steps, _steps(entry.get("to")))
        case word:
            raise _NotThereError(f"{word!r} is not an op")


def _steps(pointer: Any) -> list[str]:
    try:
        return parse_pointer(pointer)
    except (ValueError, AttributeError):
        raise _NotThereError(f"{pointer!r} is not a JSON Pointer") from None


def _open(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _open(item) for name, item in value.items()}
    if isinstance(value, list):
        return _List([_open(item) for item in value])
    return value


def _close(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _close(item) for name, item in value.items()}
    if isinstance(value, _List):
        return [_close(item) for item in value.items()]
    return value


def _child(parent: Any, step: str) -> Any:
    if isinstance(parent, dict):
        return parent.get(step, MISSING)
    if isinstance(parent, _List):
        position = _position(step)
        return parent.slots[position] if position is not None and position < len(parent.slots) else MISSING
    return MISSING


def _position(step: str) -> int | None:
    plain = step.isascii() and step.isdigit() and (step == "0" or not step.startswith("0"))
    return int(step) if plain else None


def _find(root: Any, steps: list[str]) -> Any:
    for step in steps:
        root = _child(root, step)
    return root


def _take(root: Any, steps: list[str]) -> Any:
    """Remove the value at `steps` and return it."""
    if not steps:
        raise _NotThereError("the whole request cannot be removed")
    parent = _find(root, steps[:-1])
    value = _child(parent, steps[-1])
    if value is MISSING:
        raise _NotThereError("nothing stands there")
    if isinstance(parent, dict):
        del parent[steps[-1]]
    else:
        parent.slots[int(steps[-1])] = MISSING
    return value


def _put(root: Any, steps: list[str], value: Any) -> None:
    """Set the value at `steps`; an absent object member and its absent parents are added."""
    if not steps:
        raise _NotThereError("the whole request cannot be replaced")
    parent = root
    for step in steps[:-1]:
        child = _child(parent, step)
        if child is MISSING and isinstance(parent, dict):
            child = parent[step] = {}
        parent = child
    if isinstance(parent, dict):
        parent[steps[-1]] = value
    elif isinstance(parent, _List) and _child(parent, steps[-1]) is not MISSING:
        parent.slots[int(steps[-1])] = value
    else:
        raise _NotThereError("nothing stands there")


def _replace(root: Any, steps: list[str], entry: dict[str, Any]) -> None:
    if "value" not in entry:
        raise _NotThereError("replace without a value")
    _put(root, steps, _open(entry["value"]))


def _move(root: Any, steps: list[str], to: list[str], entry: dict[str, Any]) -> None:
    if not to:
        raise _NotThereError("nothing can be moved to the whole request")
    value = _find(root, steps)
    if value is MISSING or not steps:
        raise _NotThereError("nothing stands there")
    target = _find(root, to[:-1])
    if isinstance(target, _List):
        position = len(target.slots) if to[-1] == "-" else _position(to[-1])
        if position is None or position > len(target.slots):
            raise _NotThereError(f"{pointer_of(to)} is not a position of the list")
    _leave(root, steps, entry)
    if not isinstance(target, _List):
        _put(root, to, value)
    elif to[:-1] == ["messages"] and isinstance(value, dict) and "role" not in value:
        _move_block_to_messages(target, position, value)
    else:
        target.insert(position, value)


def _leave(root: Any, steps: list[str], entry: dict[str, Any]) -> None:
    if "value" in entry:
        _put(root, steps, _open(entry["value"]))
    else:
        _take(root, steps)


def _move_block_to_messages(messages: _List, position: int, block: Any) -> None:
    message = messages.joins.get(position)
    if message is None:
        message = messages.joins[position] = {"role": "user", "content": _List([])}
        messages.insert(position, message)
    message["content"].insert(0, block)


def _merge(root: Any, steps: list[str], to: list[str]) -> None:
    source = _find(root, steps)
    if source is MISSING or not steps:
        raise _NotThereError("nothing stands there")
    target = _find(root, to)
    if target is MISSING and to == ["system"]:
        target = root["system"] = _List([])
    if steps == to:
        raise _NotThereError("a value cannot be merged into itself")
    into, items = _content(target), _content(source)
    if into is None or items is None:
        raise _NotThereError("only lists and messages can be merged")
    _take(root, steps)
    for item in list(items.items()):
        into.insert(len(into.slots), item)


def _content(value: Any) -> _List | None:
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, _List) else None


# --- what a model can see (spec/6-loss.md, 6.3) ---------------------------------------------------------------------------

_REQUEST_ENVELOPE = ("model", "stream", "loss_policy")
_MESSAGE_ENVELOPE = ("id", "session_id", "created_at", "schema_version", "metadata", "priority", "critical", "extra")
_STATE_ENVELOPE = ("adapter", "provider", "origin", "id", "encoding")
_FALSE_DEFAULTS = ("is_error", "refusal", "citations_enabled", "strict")
_EMPTY_LIST_DEFAULTS = ("tools", "stop", "citations")


def visible(request: dict[str, Any]) -> dict[str, Any]:
    """The request without what no model sees, defaults removed and tool ids renumbered."""
    seen = _known(request)
    system = seen.pop("system", None)
    messages = list(seen.get("messages") or [])
    if system:
        messages.insert(0, {"role": "system", "content": system})
    for name in _REQUEST_ENVELOPE:
        seen.pop(name, None)
    seen["messages"] = [_visible_message(message) for message in messages]
    if seen.get("tools"):
        seen["tools"] = [_visible_tool(tool) for tool in seen["tools"]]
    _visible_request_defaults(seen)
    return renumber(seen)


def _visible_request_defaults(seen: dict[str, Any]) -> None:
    options = seen.get("options")
    if isinstance(options, dict):
        members = {name: _without_null(value) for name, value in options.items()}
        seen["options"] = {name: value for name, value in members.items() if value != {} and value is not None}
    for name in ("options", "metadata"):
        if seen.get(name) == {}:
            del seen[name]
    for name in ("reasoning", "response_format", "tool_choice", "cache"):
        if isinstance(seen.get(name), dict):
            seen[name] = _known(seen[name])
    if seen.get("reasoning") == {}:
        del seen["reasoning"]
    form = seen.get("response_format")
    if isinstance(form, dict) and form.get("type") == "text":
        del seen["response_format"]


def _without_null(value: Any) -> Any:
    return {name: item for name, item in value.items() if item is not None} if isinstance(value, dict) else value


def _known(value: dict[str, Any]) -> dict[str, Any]:
    """A canonical object without members that hold their default, and with its provider state reduced."""
    seen: dict[str, Any] = {}
    for name, item in value.items():
        if item is None or (name in _FALSE_DEFAULTS and item is False) or (name in _EMPTY_LIST_DEFAULTS and item == []):
            continue
        if name == "kind" and item == "function":
            continue
        if name == "provider_state" and isinstance(item, dict):
            item = _visible_state(item)
            if not item:
                continue
        seen[name] = item
    return seen


def _visible_state(state: dict[str, Any]) -> dict[str, Any]:
    return {
        name: item
        for name, item in state.items()
        if name not in _STATE_ENVELOPE and item is not None and not (name == "fields" and item == {})
    }


def _visible_message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    seen = _known({name: item for name, item in message.items() if name not in _MESSAGE_ENVELOPE})
    if isinstance(seen.get("cache"), dict):
        seen["cache"] = _known(seen["cache"])
    seen["content"] = [visible_block(block) for block in message.get("content") or []]
    return seen


def visible_block(block: Any) -> Any:
    """A block as a model sees it; blocks inside results and documents too."""
    if not isinstance(block, dict):
        return block
    seen = _known(block)
    seen.pop("critical", None)
    if seen.get("type") == "opaque":
        seen.pop("provider", None)
        seen.pop("origin", None)
    if isinstance(seen.get("cache"), dict):
        seen["cache"] = _known(seen["cache"])
    if isinstance(seen.get("content"), list):
        seen["content"] = [visible_block(item) for item in seen["content"]]
    if isinstance(seen.get("citations"), list):
        seen["citations"] = [_known(item) if isinstance(item, dict) else item for item in seen["citations"]]
    source = seen.get("source")
    if isinstance(source, dict) and seen.get("type") in ("image", "audio", "video", "document"):
        source = _known(source)
        source.pop("provider", None)
        if isinstance(source.get("content"), list):
            source["content"] = [visible_block(item) for item in source["content"]]
        seen["source"] = source
    return seen


def _visible_tool(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    seen = _known(tool)
    for name in ("side_effects", "requires_workspace"):
        seen.pop(name, None)
    if isinstance(seen.get("cache"), dict):
        seen["cache"] = _known(seen["cache"])
    return seen


class Renumbering:
    """Tool ids replaced by tu_1, tu_2, … in the order in which they first occur."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def __call__(self, tool_id: Any) -> Any:
        if not isinstance(tool_id, str):
            return tool_id
        return self._ids.setdefault(tool_id, f"tu_{len(self._ids) + 1}")

    def block(self, block: Any) -> Any:
        if not isinstance(block, dict):
            return block
        seen = dict(block)
        if seen.get("type") == "tool_use" and "id" in seen:
            seen["id"] = self(seen["id"])
        if seen.get("type") == "tool_result" and "tool_use_id" in seen:
            seen["tool_use_id"] = self(seen["tool_use_id"])
        if isinstance(seen.get("content"), list) and seen.get("type") != "opaque":
            seen["content"] = [self.block(item) for item in seen["content"]]
        source = seen.get("source")
        if isinstance(source, dict) and isinstance(source.get("content"), list):
            seen["source"] = {**source, "content": [self.block(item) for item in source["content"]]}
        return seen

    def message(self, message: Any) -> Any:
        if not isinstance(message, dict) or not isinstance(message.get("content"), list):
            return message
        return {**message, "content": [self.block(block) for block in message["content"]]}


def renumber(request: dict[str, Any]) -> dict[str, Any]:
    numbers = Renumbering()
    return {**request, "messages": [numbers.message(message) for message in request.get("messages") or []]}


# --- answers and events --------------------------------------------------------------------------------------------------

_USAGE_EXTRAS = ("raw", "latency_ms", "cost_usd", "pricing_version")
_ANSWER_MEMBERS = (
    "message",
    "finish_reason",
    "finish_reason_raw",
    "stop_sequence",
    "usage",
    "model",
    "alternatives",
    "logprobs",
)


def visible_response(
    response: dict[str, Any], golden: dict[str, Any] | None = None, numbers: Renumbering | None = None
) -> dict[str, Any]:
    """The comparable part of an answer. `golden` names which optional members count: `id`, usage extras, state."""
    golden = response if golden is None else golden
    numbers = numbers or Renumbering()
    seen = _known({name: response[name] for name in _ANSWER_MEMBERS if name in response})
    for name in ("id", "provider_state", "requested_model"):
        if name in golden and name in response:
            seen[name] = response[name]
    seen = _known(seen)
    if isinstance(seen.get("usage"), dict):
        seen["usage"] = _visible_usage(seen["usage"], golden.get("usage"))
    if "message" in seen:
        seen["message"] = numbers.message(_visible_message(seen["message"]))
    if seen.get("alternatives") == []:
        del seen["alternatives"]
    if isinstance(seen.get("alternatives"), list):
        seen["alternatives"] = [_visible_choice(choice, numbers) for choice in seen["alternatives"]]
    return seen


_ANSWER_ENVELOPE = (
    "id", "model", "requested_model", "finish_reason_raw", "usage", "alternatives", "loss", "skipped", "attempts", "raw",
)  # fmt: skip


def visible_answer(response: dict[str, Any]) -> dict[str, Any]:
    """What of an answer a caller can see (spec/6-loss.md, 6.6): each of its choices, and what it took."""
    numbers = Renumbering()
    usage = response.get("usage") or {}
    return {
        "choices": [_answer_choice(choice, numbers) for choice in [response, *(response.get("alternatives") or [])]],
        "usage": {name: item for name, item in usage.items() if item and name not in _USAGE_EXTRAS},
    }


def _answer_choice(choice: dict[str, Any], numbers: Renumbering) -> dict[str, Any]:
    seen = _known({name: item for name, item in choice.items() if name not in _ANSWER_ENVELOPE})
    seen["message"] = numbers.message(_visible_message(choice["message"]))
    seen["fields"] = (seen.pop("provider_state", None) or {}).get("fields") or {}
    return seen


def answer_difference(
    reported: dict[str, Any], read: dict[str, Any], comparators: Comparators = (), around: bool = True
) -> Difference | None:
    """Where an answer with its report applied and the same answer as it was read differ to a caller.

    Members around an answer that its wire demands and nobody gave are not compared; without `around` none of them is.
    """
    expected, actual = visible_answer(reported), visible_answer(read)
    for one, two in zip(expected["choices"], actual["choices"], strict=False):
        one["fields"] = one["fields"] if around else {}
        two["fields"] = {name: item for name, item in two["fields"].items() if name in one["fields"]}
    return difference(expected, actual, comparators)


def _visible_usage(usage: dict[str, Any], golden: Any) -> dict[str, Any]:
    wanted = golden if isinstance(golden, dict) else {}
    seen = {
        name: item for name, item in usage.items() if item is not None and (name not in _USAGE_EXTRAS or name in wanted)
    }
    for name in ("cached_input_tokens", "cache_creation_input_tokens"):
        seen.setdefault(name, 0)
    if seen.get("estimated") is False:
        del seen["estimated"]
    return seen


def _visible_choice(choice: Any, numbers: Renumbering) -> Any:
    if not isinstance(choice, dict):
        return choice
    seen = _known(choice)
    if "message" in seen:
        seen["message"] = numbers.message(_visible_message(seen["message"]))
    return seen


def visible_events(events: list[Any], golden: list[Any] | None = None) -> list[Any]:
    """Events as they are compared: ids renumbered, state reduced, message ids gone."""
    numbers = Renumbering()
    wanted = {event.get("type"): event for event in golden or events if isinstance(event, dict)}
    return [_visible_event(event, wanted, numbers) for event in events]


def _visible_event(event: Any, golden: dict[Any, Any], numbers: Renumbering) -> Any:
    if not isinstance(event, dict):
        return event
    seen = {name: item for name, item in event.items() if item is not None and name != "message_id"}
    if seen.get("choice") == 0:
        del seen["choice"]
    if isinstance(seen.get("block"), dict):
        seen["block"] = numbers.block(visible_block(seen["block"]))
    if str(seen.get("type")).startswith("tool_use") and "id" in seen:
        seen["id"] = numbers(seen["id"])
    twin = golden.get(seen.get("type")) or {}
    if isinstance(seen.get("usage"), dict):
        seen["usage"] = _visible_usage(seen["usage"], twin.get("usage"))
    if isinstance(seen.get("response"), dict):
        seen["response"] = visible_response(seen["response"], twin.get("response") or {}, numbers)
    if isinstance(seen.get("error"), dict):
        seen["error"] = visible_error(seen["error"], twin.get("error") or {})
    return seen


def visible_error(error: dict[str, Any], golden: dict[str, Any]) -> dict[str, Any]:
    """Of an error, the category and whatever else the golden one names; the text for people is not compared."""
    return {name: item for name, item in error.items() if name == "category" or (name in golden and name != "message")}
