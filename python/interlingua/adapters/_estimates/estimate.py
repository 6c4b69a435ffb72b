"""How many tokens a request takes, without network and tokenizer (spec/5-usage-and-cost.md#estimate).

One walk gathers what a model reads: texts, calls, reasoning, tools, media. Texts are counted together, by their kind
of words (`_estimates.tokens`); what a provider writes around them is a table by model (`_estimates.templates`); pictures are counted by the
documented formulas (`_estimates.pictures`). A sum over parts, none of them negative: one more message lowers nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._content.built_in import BUILT_IN
from interlingua.adapters._engine.kit import NOTHING, arguments_text, encoding_of
from interlingua.adapters._estimates.pictures import size_of, wave_rate
from interlingua.adapters._estimates.templates import Range, Template, template
from interlingua.adapters._estimates.tokens import APART, count
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.types import Request, TokenEstimate

_WINDOW: Final = 1_000_000
"""The context of a model whose size is not known."""
_FOREIGN_FEWEST: Final = 0.4
_FOREIGN_MOST: Final = 2.2
"""The fewest and the most tokens of what hangs on how well a tokenizer knows a script, in parts of the likely ones."""
_FEW: Final = (2, 4)
"""A short text can be off by this many, whatever its length."""

_SEAL_MOST: Final = 3
"""Characters of sealed reasoning a token, at most."""
_SUMMARISED: Final = ("openai_responses",)
"""Wires on which reasoning is sealed whole, and what can be read of it is a summary."""
_REASONING_MOST: Final = 16_384
"""Tokens of reasoning before one answer, where the request sets no limit."""
_NOT_TEXT: Final = frozenset(("data", "b64_json", "image_url", "signature", "id", "type"))
"""Members of a provider's item that are media, seals or names."""

_PAGE_BYTES: Final = (200_000, 50_000, 4_000)
"""A page of a PDF: with large pictures, usual, nothing but packed text."""
_TEXT_BYTES: Final = (10, 4.2, 1.2)
"""Bytes a token of a text that travels as bytes; packed formats have fewer of them."""
_PACKED_BYTES: Final = (1_000, 70, 4)
_SECOND_BYTES: Final = (40_000, 12_000, 3_000)
"""A second of sound that is compressed."""
_FRAMES_BYTES: Final = (1_000_000, 100_000, 1_500)
_FRAME: Final = (60, 270, 330)
"""A second of a film, as pictures and as sound."""
_UNSEEN_SECONDS: Final = (1, 30, 3_600)


class Gathered:
    """What the messages of a request hold, gathered in one walk."""

    __slots__ = (
        "calls",
        "cited",
        "documents",
        "endpoint",
        "items",
        "media",
        "pages",
        "reasoning",
        "seals",
        "summarised",
        "texts",
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.texts: list[str] = [""]
        self.reasoning: list[str] = [""]
        self.seals: list[int] = []
        self.summarised = 0  # characters of seals whose reasoning is told in part
        self.items: list[str] = [""]
        self.pages: list[int] = []
        self.media: list[dict[str, Any]] = []
        self.calls = 0
        self.documents = 0
        self.cited = False

    def add(self, content: list[dict[str, Any]]) -> None:
        """The blocks of a message, of a result or of a document."""
        pending = [content]  # a stack and no recursion: documents may stand in documents
        while pending:
            for block in pending.pop():
                self._add_block(block, pending)

    def _add_block(self, block: dict[str, Any], pending: list[list[dict[str, Any]]]) -> None:
        match block["type"]:
            case "text":
                self.texts.append(block["text"])
            case "tool_use":
                self.calls += 1
                self.texts.append(block["name"])
                self.texts.append(block.get("input_raw") or arguments_text(block.get("input") or {}))
            case "tool_result":
                self.calls += 1
                pending.append(block.get("content") or [])
            case "thinking" | "redacted_thinking":
                self._add_reasoning(block)
            case "document":
                self._add_document(block, pending)
            case "image" | "audio" | "video":
                self.media.append(block)
            case "opaque" if self.endpoint.owns(block):
                self._add_item(block.get("value"))
            case _:
                return  # an item of another provider, and what nobody knows, stays behind
        state = block.get("provider_state")
        if state and state.get("signature") and self.endpoint.owns(state):
            self.seals.append(len(state["signature"]))

    def _add_item(self, value: Any) -> None:
        """What only its provider understands: its texts, and what it has sealed; its media are not looked at."""
        pending: list[Any] = [value]
        while pending:
            match pending.pop():
                case str(text):
                    self.items.append(text)
                case dict(members):
                    for name, member in members.items():
                        if name == "encrypted_content" and isinstance(member, str):
                            self.pages.append(len(member))
                        elif name == "citations" and isinstance(member, dict):
                            self.cited = self.cited or bool(member.get("enabled"))
                        elif name not in _NOT_TEXT:
                            pending.append(member)
                case list(members):
                    pending += members
                case _:
                    pass

    def _add_reasoning(self, block: dict[str, Any]) -> None:
        state = block.get("provider_state")
        if state and not self.endpoint.owns(state):
            return  # it stays behind
        seal = block.get("signature") or block.get("data") or ""
        if not block.get("text"):
            self.seals.append(len(seal))
            return
        self.reasoning.append(block["text"])
        if self.endpoint.adapter in _SUMMARISED:
            self.summarised += len(seal)

    def _add_document(self, block: dict[str, Any], pending: list[list[dict[str, Any]]]) -> None:
        self.documents += 1
        self.cited = self.cited or bool(block.get("citations_enabled"))
        self.texts += [block[name] for name in ("name", "title", "context") if block.get(name)]
        source = block.get("source") or {}
        match source.get("kind"):
            case "text":
                self.texts.append(source.get("data") or "")
            case "blocks":
                pending.append(source.get("content") or [])
            case _:
                self.media.append(block)


def estimate(
    request: Request,
    endpoint: Endpoint,
    provided: Mapping[str, Range | None] = NOTHING,
    beside: Range = (0, 0, 0),
) -> TokenEstimate:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    `provided` says what the provider's own tools bring along, by how their type begins; None is as much as fits. `beside` are
    tokens of what the provider adds from elsewhere.
    """
    gathered = _gathered(request, endpoint)
    low, likely, high = _weighed(gathered, request, _of(endpoint, request), window(endpoint), provided)
    return _rounded(low + beside[0], likely + beside[1], high + beside[2])


def _of(endpoint: Endpoint, request: Mapping[str, Any]) -> Template:
    """The template of the model that is asked."""
    model = endpoint.model or request.get("model")
    return template(endpoint.adapter, endpoint.provider, model)


def window(endpoint: Endpoint) -> int:
    """The largest prompt that the model takes."""
    found = endpoint.capabilities.get("max_context_tokens")
    return found if isinstance(found, int) else _WINDOW


def _rounded(low: float, likely: float, high: float) -> TokenEstimate:
    """The three counts in order, as whole numbers, none of them less than one."""
    middle = max(round(likely), 1)
    return {"low": min(max(int(low), 1), middle), "likely": middle, "high": max(int(high) + 1, middle)}


def _gathered(request: Mapping[str, Any], endpoint: Endpoint) -> Gathered:
    """All that the messages of a request say."""
    gathered = Gathered(endpoint)
    gathered.add(request.get("system") or [])
    for message in request["messages"]:
        gathered.add(message["content"])
    return gathered


def _weighed(
    gathered: Gathered,
    request: Mapping[str, Any],
    model: Template,
    most: int,
    provided: Mapping[str, Range | None],
) -> Range:
    """The tokens of what was gathered, of the tools and of what the provider writes around them."""
    turns = model.turn * len(request["messages"]) + model.call * gathered.calls / 2
    low, likely, high = model.prompt
    low, likely, high = low - _FEW[0] + turns * 0.4, likely + turns, high + _FEW[1] + turns * 1.6
    parts = [_text(gathered.texts, model)]
    if len(gathered.reasoning) > 1:
        parts.append(_share(_text(gathered.reasoning, model), (0, model.replayed, 1.3)))
    if gathered.seals:
        parts.append(_sealed(gathered.seals, model))
    if gathered.summarised:
        parts.append((0, 0, gathered.summarised / _SEAL_MOST))
    if len(gathered.items) > 1:
        parts.append(_items(gathered, model))
    if tools := request.get("tools"):
        tools = [_as_defined(tool, gathered.endpoint) for tool in tools]
        parts += _tools(tools, (request.get("tool_choice") or {}).get("type"), model, most, provided)
    schema = (request.get("response_format") or {}).get("schema")
    if schema:
        parts += [model.schema, _share(_text(["", arguments_text(schema)], model), model.schema_share)]
    if model.asks_twice and _has_form(request) and (request.get("reasoning") or {}).get("mode") != "disabled":
        parts.append((0, 0, min(request.get("max_output_tokens") or _REASONING_MOST, most)))
    if model.reasoning and _reasons(request.get("reasoning") or {}, gathered.endpoint.adapter):
        parts.append((0, model.reasoning, model.reasoning * 1.5))
    if gathered.documents:
        parts.append(
            (
                model.document[0] * gathered.documents,
                model.document[1] * gathered.documents,
                model.document[2] * gathered.documents,
            )
        )
    if gathered.cited:
        parts.append(model.cited)
    parts += [_medium(block, model, most) for block in gathered.media]
    for part in parts:
        low, likely, high = low + part[0], likely + part[1], high + part[2]
    return max(low, 0), likely, high


def _has_form(request: Mapping[str, Any]) -> bool:
    return (request.get("response_format") or {}).get("type", "text") != "text"


def _reasons(reasoning: Mapping[str, Any], adapter: str) -> bool:
    """Whether a model that can be told so is told to reason: effort alone tells it on the wires of others."""
    if reasoning.get("mode") == "enabled" or reasoning.get("budget_tokens"):
        return True
    return adapter == "openai_chat" and reasoning.get("effort", "none") != "none"


def _sealed(seals: list[int], model: Template) -> Range:
    """The tokens of reasoning that only its provider can read."""
    most = sum(seals) / _SEAL_MOST
    if model.seal is None:
        return 0, 0, most
    empty, length = model.seal
    likely = sum(max(seal - empty, 0) for seal in seals) / length * model.replayed
    return 0, likely, max(most, likely)


def _items(gathered: Gathered, model: Template) -> Range:
    """The tokens of what only its provider understands: as text, and of the pages that it has sealed."""
    sealed, pages = sum(gathered.pages), len(gathered.pages)
    low, likely, high = _share(_text(gathered.items, model), (0, 0.8, 2))
    return low, likely + sealed / 8 + 100 * pages, high + sealed / 2 + 2_500 * pages


def _share(tokens: Range, share: Range) -> Range:
    return tokens[0] * share[0], tokens[1] * share[1], tokens[2] * share[2]


def _text(texts: list[str], model: Template) -> Range:
    """The tokens of texts; the first is empty."""
    text = APART.join(texts)
    tokens, foreign = count(text, model.vocabulary)
    known = tokens - foreign
    fewest, most = model.spread
    high = known * most
    if len(text) >= _LONG:
        high = max(high, known + _ONE_WORD * _repetition(text))
    return known * fewest + foreign * _FOREIGN_FEWEST, tokens, high + foreign * _FOREIGN_MOST


def _repetition(text: str) -> float:
    """By how many words a text is off when each of its words is off by one: what a word takes evens out over many
    words, and not over one that is said a thousand times."""
    words: Counter[str] = Counter()
    start = 0
    while start < len(text):
        # a piece at a time, up to the end of a word: other threads run between two pieces
        end = min(start + _PIECE, len(text))
        rest = _WORD.match(text, end)
        if rest is not None:
            end = rest.end()
        words.update(_WORD.findall(text, start, end))
        start = end
    return math.sqrt(sum(times * times for times in words.values()))


_WORD: Final = re.compile(r"[^\W_]+")
_PIECE: Final = 64 << 10
"""Characters."""
_ONE_WORD: Final = 1.3
"""How many tokens more than the likely ones a word may take."""
_LONG: Final = 2_000
"""Characters of a text whose words may be repeated that often."""


def _tools(
    tools: list[dict[str, Any]],
    choice: Any,
    model: Template,
    most: int,
    provided: Mapping[str, Range | None],
) -> list[Range]:
    parts: list[Range] = []
    texts = [""]
    for tool in tools:
        if tool.get("kind") == "provider":
            parts.append(_provided(tool, most, provided))
        else:
            texts.append(arguments_text({name: tool[name] for name in _COUNTED if tool.get(name)}))
    functions = len(texts) - 1
    if functions:
        low, likely, high = _share(_text(texts, model), model.json)
        if model.key:
            # as types: the names and the descriptions, hardly the words of JSON Schema
            keys = sum(written.count('":') for written in texts)
            likely = max(likely - model.key * keys, likely / 5)
            low /= 4
        low += model.tools[0]
        likely += model.tools[1] + model.function * functions
        high += model.tools[2] + (model.function + 20) * functions
        match choice:
            case "none":
                low, likely = 0.0, 0.0 if model.silenced else likely
            case "required" | "tool":
                likely, high = likely + model.forced, high + model.forced * 1.3
            case _:
                pass
        parts.append((low, likely, high))
    return parts


_COUNTED: Final = ("name", "description", "input_schema", "format")


def _as_defined(tool: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """A tool that is built in where it goes, as one of the provider; any other as it is."""
    kind = encoding_of(tool, endpoint).get(BUILT_IN) if "provider_state" in tool else None
    return tool if kind is None else {"kind": "provider", "definition": {"type": kind}}


def _provided(tool: dict[str, Any], most: int, provided: Mapping[str, Range | None]) -> Range:
    definition = tool.get("definition") or {}
    kind = definition.get("type") or tool.get("name") or next(iter(definition), "")
    for start, tokens in provided.items():
        if str(kind).startswith(start):
            return (0, 1_000, most) if tokens is None else tokens
    return 0, 500, most


def _medium(block: dict[str, Any], model: Template, most: int) -> Range:
    source = block.get("source") or {}
    known = source.get("kind") == "base64"
    size = len(source.get("data") or "") * 3 // 4 if known else 0
    kind = block.get("media_type") or ""
    match block["type"]:
        case "image":
            return model.sight(size_of(source), block.get("detail"))
        case "audio":
            rate = wave_rate(source)
            rates = _SECOND_BYTES if rate is None else (rate, rate, rate)
            return _share(_seconds(size, rates) if known else _UNSEEN_SECONDS, model.second)
        case "video":
            return _share(_seconds(size, _FRAMES_BYTES) if known else _UNSEEN_SECONDS, _FRAME)
        case _ if not known:
            return 10, 3 * model.page[1], most
        case _ if kind.startswith("text/") or kind == "application/json":
            return _parts(size, _TEXT_BYTES)
        case _ if kind == "application/pdf" or not kind:
            pages = _parts(size, _PAGE_BYTES)
            return _share((max(pages[0], 1), max(pages[1], 1), pages[2] + 1), model.page)
        case _:
            return _parts(size, _PACKED_BYTES)


def _parts(size: int, divisors: Range) -> Range:
    return size / divisors[0], size / divisors[1], size / divisors[2] + 4


def _seconds(size: int, divisors: Range) -> Range:
    low, likely, high = _parts(size, divisors)
    return low, max(likely, 1), high
