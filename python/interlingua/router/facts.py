"""
The facts of one turn that the router inspects, as plain data that can be recorded.

Strategy: this module gathers once all that a slot, a rule or a check needs to know of a conversation. So `decide` never
inspects messages, and the decision of a recorded turn can be repeated.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from interlingua.canonical.errors import InvalidRequest
from interlingua.router.rules import amount
from interlingua.router.state import Held, held, turn_model

_MEDIA_TOKENS = {"image": 1_600, "document": 3_000, "audio": 1_500, "video": 10_000}
_CHARACTERS_PER_TOKEN = 4


class Strip(TypedDict):
    """How many characters to take from the beginning of a text before it is sent."""

    path: str
    characters: int


class Needs(TypedDict):
    """What a model must accept to serve the turn."""

    images: int
    image_media_types: list[str]
    tools: bool
    system_prompt: bool
    structured_output: bool


class Turn(TypedDict, total=False):
    """The facts of one turn."""

    text: str
    """Text of the last user message, without the override."""
    override: str | None
    """The word after `@` at the beginning of the last user message."""
    strip: Strip | None
    """The characters of the override, or of the escape, that are removed."""
    needs: Needs
    estimated_input_tokens: int
    has_tool_calls_in_history: bool
    state: list[Held]
    """The state of providers in the conversation, one entry for each owner, the latest last."""
    turn_model: str
    """The model that has answered in the turn in progress; absent at the beginning of a turn."""
    sticky: str | None
    """The spec that the user chose for the session."""
    delegate: dict[str, str] | None
    """The target that a delegating turn named for this one: {"model": spec} or {"tier": word}."""
    pattern: dict[str, Any] | None
    """How models did on similar turns: {"candidates": [{"model", "successes", "samples", "cost_usd"}, …]}."""
    skills: list[str]
    files: list[str]
    workspace_path: str | None
    cost_today_usd: str | None
    team_budget_remaining_usd: str | None


_KINDS: dict[str, type] = {"a text": str, "an object": dict}
_TEXTS = "a list of texts"
_MONEY = "a decimal written as text"
_COUNT = "a whole number, 0 or more"

CONTEXT = {
    "sticky": "a text",
    "delegate": "an object",
    "pattern": "an object",
    "skills": _TEXTS,
    "files": _TEXTS,
    "workspace_path": "a text",
    "cost_today_usd": _MONEY,
    "team_budget_remaining_usd": _MONEY,
    "estimated_input_tokens": _COUNT,
}
"""The facts that are not in the request, and the type of each."""


def turn(request: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Turn:
    """The facts of the turn of a canonical request, together with those of its `context`.

    The request's own `model` is the model of the session (`sticky`) unless the context names another.
    Raises `InvalidRequest` for a member of the context that is not known or has a wrong type.
    """
    context = context or {}
    for name in context.keys() - CONTEXT:
        raise InvalidRequest(
            f"a turn has no fact {name!r}; the facts are {', '.join(sorted(CONTEXT))}", path="/context"
        )
    for name, fact in context.items():
        if fact is not None and not _is_a(CONTEXT[name], fact):
            raise InvalidRequest(f"the fact {name} must be {CONTEXT[name]}", path=f"/context/{name}")
    messages: list[Mapping[str, Any]] = request["messages"]
    override, strip = find_override(messages)
    blocks = [block for message in messages for block in _blocks(message["content"])]
    images = [block for block in blocks if block["type"] == "image"]
    calls = any(block["type"] in ("tool_use", "tool_result") for block in blocks)
    format_type = (request.get("response_format") or {}).get("type", "text")
    facts: Turn = {
        "text": _last_text(messages)[strip["characters"] if strip else 0 :],
        "override": override,
        "strip": strip,
        "needs": {
            "images": len(images),
            "image_media_types": sorted({block["media_type"] for block in images if block.get("media_type")}),
            "tools": bool(request.get("tools")) or calls,
            "system_prompt": _has_instructions(request),
            "structured_output": format_type != "text",
        },
        "estimated_input_tokens": estimate(request, blocks),
        "has_tool_calls_in_history": calls,
        "state": held(messages),
        "sticky": request.get("model"),
    }
    if (current := turn_model(messages)) is not None:
        facts["turn_model"] = current
    facts.update(context)  # type: ignore[typeddict-item]
    return facts


def _is_a(kind: str, fact: Any) -> bool:
    if kind == _TEXTS:
        return isinstance(fact, list) and all(isinstance(text, str) for text in fact)
    if kind == _MONEY:
        return isinstance(fact, str) and amount(fact) is not None
    if kind == _COUNT:
        return isinstance(fact, int) and not isinstance(fact, bool) and fact >= 0
    return isinstance(fact, _KINDS[kind])


def find_override(messages: list[Mapping[str, Any]]) -> tuple[str | None, Strip | None]:
    r"""The override of the last user message, and the characters of its text that are removed before it is sent.

    `@word` is an override at the very beginning and before white space; `\@` at the beginning stands for a plain `@`.
    """
    position = _last_user(messages)
    content = messages[position]["content"] if position is not None else []
    if not content or content[0]["type"] != "text":
        return None, None
    text: str = content[0]["text"]
    path = f"/messages/{position}/content/0/text"
    if text.startswith("\\@"):
        return None, {"path": path, "characters": 1}
    if not text.startswith("@"):
        return None, None
    word = text.split(maxsplit=1)[0]
    rest = text[len(word) :]
    if len(word) == 1 or not rest:
        return None, None
    return word[1:], {"path": path, "characters": len(text) - len(rest.lstrip())}


def strip_override(request: Mapping[str, Any], strip: Strip | None = None) -> dict[str, Any]:
    """The request as it is sent: without the override, or without the escape, in its last user message."""
    strip = strip or find_override(request["messages"])[1]
    if strip is None:
        return dict(request)
    position = int(strip["path"].split("/")[2])
    messages = list(request["messages"])
    content = list(messages[position]["content"])
    content[0] = {**content[0], "text": content[0]["text"][strip["characters"] :]}
    messages[position] = {**messages[position], "content": content}
    return {**request, "messages": messages}


def estimate(request: Mapping[str, Any], blocks: Iterable[Mapping[str, Any]] = ()) -> int:
    """A rough count of prompt tokens, without an adapter: four characters for a token, a flat count for each medium."""
    instructions = request.get("system") or []
    characters = _characters([request.get("tools") or [], instructions, [m["content"] for m in request["messages"]]])
    media = sum(_MEDIA_TOKENS.get(block["type"], 0) for block in blocks)
    return -(-characters // _CHARACTERS_PER_TOKEN) + media


def _blocks(content: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for block in content:
        yield block
        if block["type"] == "tool_result":
            yield from block.get("content") or ()


def _has_instructions(request: Mapping[str, Any]) -> bool:
    return bool(request.get("system")) or any(
        message["role"] in ("system", "developer") and message["content"] for message in request["messages"]
    )


def _last_user(messages: list[Mapping[str, Any]]) -> int | None:
    return next((at for at in range(len(messages) - 1, -1, -1) if messages[at]["role"] == "user"), None)


def _last_text(messages: list[Mapping[str, Any]]) -> str:
    position = _last_user(messages)
    content = messages[position]["content"] if position is not None else []
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def _characters(value: Any) -> int:
    """The number of characters in all texts of plain data, without sources of media; nesting may be deep."""
    total, open_values = 0, [value]
    while open_values:
        match open_values.pop():
            case str() as text:
                total += len(text)
            case dict() as item:
                open_values.extend(inner for key, inner in item.items() if key not in ("source", "provider_state"))
            case list() as items:
                open_values.extend(items)
            case _:
                total += 1
    return total
