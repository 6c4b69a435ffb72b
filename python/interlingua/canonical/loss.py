"""
The loss report: how it is collected, how it is applied to a request, and when two requests are equal to a model.

The law is in spec/6-loss.md. The conformance suite has its own implementation of `apply` and `visible`; each checks the
other.

Strategy of `apply`: every pointer refers to the request as written. So `apply` first converts ("thaws") the request
into a tree whose lists hold slots. A slot keeps its written position, whatever happens to the others. The entries take
values out of slots and put them before or after slots. At the end the tree is converted ("frozen") back into plain
data.
"""

import re
from typing import Any, Final, cast

from interlingua.canonical.errors import InvalidRequest, too_deep
from interlingua.canonical.json import plain
from interlingua.canonical.types import LossEntry, LossOp

Path = tuple[str | int, ...]
Entry = LossEntry

SEVERITIES: Final = ("representation", "weakened", "lost")
PLACEHOLDER: Final = "placeholder"
UNANSWERED: Final = ("error", PLACEHOLDER)
"""The ways to treat a call that has no result."""


def pointer(path: Path) -> str:
    """Return a path as a JSON Pointer (RFC 6901)."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"/{step}"
        elif "~" in step or "/" in step:
            text += "/" + step.replace("~", "~0").replace("/", "~1")
        else:
            text += "/" + step
    return text


def parse_pointer(text: str) -> list[str]:
    """Return the steps of a JSON Pointer."""
    if text and not text.startswith("/"):
        raise InvalidRequest(f"not a JSON Pointer: {text!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


_NO_VALUE: Final = object()


def entry_of(
    op: LossOp, path: str, code: str, severity: str, message: str, *, to: str | None = None, value: Any = _NO_VALUE
) -> Entry:
    """Make an entry of a report. `severity` is one of `SEVERITIES`; `to` (a pointer) and `value` are as `op` needs them."""
    entry: dict[str, Any] = {"op": op, "path": path}
    if to is not None:
        entry["to"] = to
    if value is not _NO_VALUE:
        entry["value"] = value
    entry["code"], entry["severity"], entry["message"] = code, severity, message
    return cast("Entry", entry)


class Loss:
    """A collector of the entries of one projection. It builds pointers only when there is a loss.

    `placeholders`: replace each dropped content block by a short text (policy `placeholder`).
    """

    __slots__ = ("entries", "placeholders")

    def __init__(self, policy: dict[str, Any] | None = None) -> None:
        self.entries: list[Entry] = []
        self.placeholders = policy is not None and policy.get("on_drop") == PLACEHOLDER

    def drop(self, path: Path, code: str, severity: str, message: str) -> None:
        """Report that the value at `path` is gone."""
        entry = {"op": "drop", "path": pointer(path), "code": code, "severity": severity, "message": message}
        self.entries.append(cast("Entry", entry))

    def replace(self, path: Path, value: Any, code: str, severity: str, message: str) -> None:
        """Report that `value` is at `path` now."""
        where = pointer(path)
        entry = {"op": "replace", "path": where, "value": value, "code": code, "severity": severity, "message": message}
        self.entries.append(cast("Entry", entry))

    def move(self, path: Path, to: Path, code: str, severity: str, message: str, left: Any = None) -> None:
        """Report that the value at `path` is at `to` now; `left`, when given, is at `path` instead."""
        value = _NO_VALUE if left is None else left
        self.entries.append(entry_of("move", pointer(path), code, severity, message, to=pointer(to), value=value))

    def merge(self, path: Path, to: Path, code: str, severity: str, message: str) -> None:
        """Report that the message or list at `path` is appended to the one at `to`."""
        self.entries.append(entry_of("merge", pointer(path), code, severity, message, to=pointer(to)))

    def about(self, members: tuple[str, ...], option: Path) -> list[Entry]:
        """Return the entries about members of a request, and about an option."""
        if not self.entries:
            return []
        there = pointer(option)
        return [
            entry
            for entry in self.entries
            if entry["path"][1:].partition("/")[0] in members or f"{entry['path']}/".startswith(f"{there}/")
        ]

    def retract(self, members: tuple[str, ...], option: Path) -> None:
        """Remove these entries: the members and the option are written unchanged after all."""
        about = self.about(members, option)
        self.entries[:] = [entry for entry in self.entries if entry not in about]

    def block(self, path: Path, block: dict[str, Any], code: str, severity: str, message: str) -> dict[str, Any] | None:
        """Report a content block that cannot be carried. Returns the text block to write instead, or None."""
        if self.placeholders:
            text = {"type": "text", "text": f"[{block['type']} omitted: {message}]"}
            self.replace(path, text, PLACEHOLDER, severity, message)
            return text
        self.drop(path, code, severity, message)
        return None


# ---------------------------------------------------------------------------------------------------- apply

_GONE: Final = object()


class _Slot:
    """An element of a list at its written position, with the values that were inserted before it."""

    __slots__ = ("before", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.before: list[Any] = []


class _List:
    """A thawed list: its written elements, the values inserted before each of them, and the values appended."""

    __slots__ = ("after", "arrivals", "slots")

    def __init__(self, values: list[Any]) -> None:
        self.slots = [_Slot(_thaw(value)) for value in values]
        self.after: list[Any] = []
        self.arrivals: dict[int, Any] = {}


def _thaw(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return _List(value)
    return value


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    if isinstance(value, _List):
        return [_freeze(item) for item in _elements(value)]
    return value


def _elements(values: _List) -> list[Any]:
    elements: list[Any] = []
    for slot in values.slots:
        elements.extend(slot.before)
        if slot.value is not _GONE:
            elements.append(slot.value)
    return elements + values.after


def apply(request: Any, loss: list[Any]) -> dict[str, Any]:
    """Return the request as the model will effectively see it (spec/6-loss.md#loss-apply), as plain data.

    Both arguments are plain data or of the types. Raises `InvalidRequest` with the pointer of the entry when the report
    does not fit the request.
    """
    try:
        return _applied(_object(request, "request"), [_object(entry, "loss entry") for entry in loss])
    except RecursionError:
        raise too_deep() from None


def _object(value: Any, what: str) -> dict[str, Any]:
    data = plain(value)
    if not isinstance(data, dict):
        raise InvalidRequest(f"a {what} must be plain data or of its type, not {type(value).__name__}")
    return data


def _applied(request: dict[str, Any], loss: list[dict[str, Any]]) -> dict[str, Any]:
    tree = _thaw(request)
    for position, entry in enumerate(loss):
        try:
            _apply(tree, entry)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as problem:
            raise InvalidRequest(
                f"the entry {entry.get('op')} {entry.get('path')} does not fit the request", path=f"/{position}"
            ) from problem
    return _freeze(tree)


def _apply(tree: Any, entry: dict[str, Any]) -> None:
    path = parse_pointer(entry["path"])
    match entry["op"]:
        case "drop":
            _take(tree, path)
        case "replace":
            _set(tree, path, _thaw(entry["value"]))
        case "move":
            value = _take(tree, path)
            _insert(tree, parse_pointer(entry["to"]), value)
            if "value" in entry:
                _set(tree, path, _thaw(entry["value"]))
        case "merge":
            value = _take(tree, path)
            _append(tree, parse_pointer(entry["to"]), value)
        case other:
            raise ValueError(other)


def _get(tree: Any, path: list[str], *, create: bool = False) -> Any:
    for step in path:
        if isinstance(tree, _List):
            tree = tree.slots[int(step)].value
            if tree is _GONE:
                raise KeyError(step)
        elif create and step not in tree:
            tree[step] = tree = {}
        else:
            tree = tree[step]
    return tree


def _take(tree: Any, path: list[str]) -> Any:
    parent, step = _get(tree, path[:-1]), path[-1]
    if not isinstance(parent, _List):
        return parent.pop(step)
    slot = parent.slots[int(step)]
    value, slot.value = slot.value, _GONE
    if value is _GONE:
        raise KeyError(step)
    return value


def _set(tree: Any, path: list[str], value: Any) -> None:
    parent, step = _get(tree, path[:-1], create=True), path[-1]
    if isinstance(parent, _List):
        parent.slots[int(step)].value = value
    else:
        parent[step] = value


def _insert(tree: Any, path: list[str], value: Any) -> None:
    parent, step = _get(tree, path[:-1], create=True), path[-1]
    if not isinstance(parent, _List):
        parent[step] = value
        return
    position = len(parent.slots) if step == "-" else int(step)
    if path[:-1] == ["messages"] and "role" not in value:
        # a block that is moved among messages arrives in a user message, with the other blocks moved to that position
        if position in parent.arrivals:
            parent.arrivals[position]["content"].after.append(value)
            return
        message: dict[str, Any] = {"role": "user", "content": _List([])}
        message["content"].after.append(value)
        parent.arrivals[position] = value = message
    if position == len(parent.slots):
        parent.after.append(value)
    else:
        parent.slots[position].before.append(value)


def _append(tree: Any, path: list[str], value: Any) -> None:
    if path == ["system"] and "system" not in tree:
        tree["system"] = _List([])
    target = _get(tree, path)
    into = target if isinstance(target, _List) else target["content"]
    into.after.extend(_elements(value if isinstance(value, _List) else value["content"]))


# ---------------------------------------------------------------------------------------------------- visible

_REQUEST_ENVELOPE: Final = frozenset(("model", "stream", "loss_policy", "system"))
_BESIDE: Final = _REQUEST_ENVELOPE | {"messages", "options"}
_MESSAGE_ENVELOPE: Final = frozenset(
    ("id", "session_id", "created_at", "schema_version", "metadata", "priority", "critical", "extra")
)
_TOOL_ENVELOPE: Final = frozenset(("side_effects", "requires_workspace"))
_FALSE_BY_DEFAULT: Final = frozenset(("is_error", "refusal", "citations_enabled", "strict"))
_EMPTY_BY_DEFAULT: Final = frozenset(("tools", "stop", "citations", "options", "reasoning", "metadata", "system"))
_VERBATIM: Final = frozenset(("input", "input_schema", "schema", "value", "definition", "format", "fields", "logprobs"))
_TOOL_ID: Final = re.compile(r"^tu_[0-9A-Za-z]+$")


def visible(request: Any) -> dict[str, Any]:
    """Return the part of a request (plain data or a `Request`) that a model sees (spec/6-loss.md#loss-visible)."""
    try:
        return _visible(_object(request, "request"))
    except RecursionError:
        raise too_deep() from None


def _visible(request: dict[str, Any]) -> dict[str, Any]:
    ids: dict[str, str] = {}
    messages = [_message(message, ids) for message in request.get("messages", [])]
    if request.get("system"):
        messages.insert(0, {"role": "system", "content": [_item(block, ids) for block in request["system"]]})
    seen = _item({key: value for key, value in request.items() if key not in _BESIDE}, ids)
    seen["messages"] = messages
    if "tools" in seen:
        seen["tools"] = [{k: v for k, v in tool.items() if k not in _TOOL_ENVELOPE} for tool in seen["tools"]]
    options = {
        name: _without_nulls(members)
        for name, members in (request.get("options") or {}).items()
        if _without_nulls(members)
    }
    if options:
        seen["options"] = options
    if seen.get("response_format", {}).get("type") == "text":
        del seen["response_format"]
    return seen


def _without_nulls(members: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are not null. Their content belongs to the provider and is unchanged."""
    return {name: value for name, value in members.items() if value is not None}


def _message(message: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    return _item({key: value for key, value in message.items() if key not in _MESSAGE_ENVELOPE}, ids)


def _item(item: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in item.items():
        match key:
            case "provider_state":
                value = {k: value[k] for k in ("fields", "signature") if value.get(k)}
                if not value:
                    continue
            case "critical":
                continue
            case "provider" if "kind" in item or item.get("type") == "opaque":
                continue  # of a media source or an opaque block
            case "origin" if item.get("type") == "opaque":
                continue
            case "kind" if value == "function":
                continue
            case "id" | "tool_use_id" if isinstance(value, str) and _TOOL_ID.match(value):
                value = ids.setdefault(value, f"tu_{len(ids) + 1}")
            case _ if value is None or (value is False and key in _FALSE_BY_DEFAULT):
                continue
            case _ if (value == [] or value == {}) and key in _EMPTY_BY_DEFAULT:
                continue
            case _ if key in _VERBATIM:
                pass
            case _:
                value = _value(value, ids)
                if value == {} and key in _EMPTY_BY_DEFAULT:
                    continue
        seen[key] = value
    return seen


def _value(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return _item(value, ids)
    if isinstance(value, list):
        return [_value(element, ids) for element in value]
    return value


_ANSWER_ENVELOPE: Final = frozenset(
    (
        "id",
        "model",
        "requested_model",
        "finish_reason_raw",
        "loss",
        "skipped",
        "attempts",
        "raw",
        "message",
        "alternatives",
        "usage",
        "provider_state",
        "stop_sequence",
        "logprobs",
    )
)
_USAGE_ENVELOPE: Final = frozenset(("raw", "cost_usd", "pricing_version", "latency_ms"))


def visible_answer(response: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a response that a caller sees (spec/6-loss.md#answer-visible)."""
    choices: list[dict[str, Any]] = [response, *(response.get("alternatives") or ())]
    ids: dict[str, str] = {}
    usage: dict[str, Any] = response.get("usage") or {}
    return {
        "usage": {name: value for name, value in usage.items() if value and name not in _USAGE_ENVELOPE},
        "choices": [_choice(choice, ids) for choice in choices],
    }


def _choice(choice: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    seen = {name: value for name, value in choice.items() if name not in _ANSWER_ENVELOPE}
    seen["message"] = _message(choice["message"], ids)
    for name in ("stop_sequence", "logprobs"):
        if choice.get(name) is not None:
            seen[name] = choice[name]
    seen["fields"] = (choice.get("provider_state") or {}).get("fields") or {}
    return seen


def same_answer(reported: dict[str, Any], read: dict[str, Any]) -> str | None:
    """Return the JSON Pointer of the first difference that a caller sees between two responses, or None.

    `reported` is a response with its report applied, `read` the same response as it was read back. Members that a wire
    requires in a response, and that the written response did not have, are not compared.
    """
    left, right = visible_answer(reported), visible_answer(read)
    for reported_choice, read_choice in zip(left["choices"], right["choices"], strict=False):
        read_choice["fields"] = {
            name: value for name, value in read_choice["fields"].items() if name in reported_choice["fields"]
        }
    return difference(left, right)


def difference(left: Any, right: Any, at: str = "") -> str | None:
    """Return the JSON Pointer of the first difference, or None. Numbers are compared by value; `true` is not 1."""
    try:
        return _difference(plain(left), plain(right), at)
    except RecursionError:
        raise too_deep() from None


def _difference(left: Any, right: Any, at: str) -> str | None:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in left | right:
            here = at + pointer((key,))
            if key not in left or key not in right:
                return here
            if (deeper := _difference(left[key], right[key], here)) is not None:
                return deeper
        return None
    if isinstance(left, list) and isinstance(right, list):
        for position, (a, b) in enumerate(zip(left, right, strict=False)):
            if (deeper := _difference(a, b, f"{at}/{position}")) is not None:
                return deeper
        return None if len(left) == len(right) else f"{at}/{min(len(left), len(right))}"
    if isinstance(left, bool) is isinstance(right, bool) and left == right:
        return None
    return at
