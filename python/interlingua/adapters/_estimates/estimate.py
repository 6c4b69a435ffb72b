"""Estimate the tokens of a request, without network and tokenizer (spec/5-usage-and-cost.md#estimate).

One walk gathers everything that a model reads: texts, calls, reasoning, tools, media. Texts are counted together, by
their kind of words (`_estimates.tokens`). A table by model has the tokens that a provider adds around them
(`_estimates.templates`). Pictures are counted with the documented formulas (`_estimates.pictures`). The estimate is a
sum of parts, none of them negative: a further message never lowers it.
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
"""The context window of a model if it is not known."""
_FOREIGN_FEWEST: Final = 0.4
_FOREIGN_MOST: Final = 2.2
"""The fewest and the most tokens of text that depends on how well a tokenizer knows a script, as a factor of the
likely ones."""
_FEW: Final = (2, 4)
"""The estimate of a text of any length can be wrong by this many tokens (fewer, more)."""

_SEAL_MOST: Final = 3
"""Characters of sealed reasoning per token, for the highest estimate."""
_SUMMARISED: Final = ("openai_responses",)
"""Wires on which the whole reasoning is sealed, and only a summary of it is readable."""
_REASONING_MOST: Final = 16_384
"""Tokens of reasoning before one answer if the request sets no limit."""
_NOT_TEXT: Final = frozenset(("data", "b64_json", "image_url", "signature", "id", "type"))
"""Members of a provider's item that are media, seals or names."""

_PAGE_BYTES: Final = (200_000, 50_000, 4_000)
"""Bytes of a page of a PDF: with large pictures, usual, only compressed text."""
_TEXT_BYTES: Final = (10, 4.2, 1.2)
"""Bytes per token of a text that is sent as bytes. Packed formats (`_PACKED_BYTES`) have fewer tokens."""
_PACKED_BYTES: Final = (1_000, 70, 4)
_SECOND_BYTES: Final = (40_000, 12_000, 3_000)
"""Bytes per second of compressed sound."""
_FRAMES_BYTES: Final = (1_000_000, 100_000, 1_500)
_FRAME: Final = (60, 270, 330)
"""Tokens per second of a film, for its pictures and its sound."""
_UNSEEN_SECONDS: Final = (1, 30, 3_600)


class Gathered:
    """The contents of the messages of a request, gathered in one walk."""

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
        self.summarised = 0  # characters of seals whose reasoning is readable in part
        self.items: list[str] = [""]
        self.pages: list[int] = []
        self.media: list[dict[str, Any]] = []
        self.calls = 0
        self.documents = 0
        self.cited = False

    def add(self, content: list[dict[str, Any]]) -> None:
        """Add the blocks of a message, of a result or of a document."""
        pending = [content]  # a stack and no recursion: documents may contain documents
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
                return  # an item of another provider, or an unknown one, is not sent
        state = block.get("provider_state")
        if state and state.get("signature") and self.endpoint.owns(state):
            self.seals.append(len(state["signature"]))

    def _add_item(self, value: Any) -> None:
        """Add an item that only its provider understands: its texts and its sealed parts; its media are not
        inspected."""
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
            return  # it is not sent
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
    added: Range = (0, 0, 0),
) -> TokenEstimate:
    """Estimate the prompt tokens of a canonical request: a low, a likely and a high count.

    `provided` has the tokens that the provider's own tools add, by the beginning of their type; None: up to the whole
    context. `added` are tokens of other parts that the provider adds.
    """
    gathered = _gathered(request, endpoint)
    low, likely, high = _weighed(gathered, request, _of(endpoint, request), window(endpoint), provided)
    return _rounded(low + added[0], likely + added[1], high + added[2])


def _of(endpoint: Endpoint, request: Mapping[str, Any]) -> Template:
    """Return the template of the model that receives the request."""
    model = endpoint.model or request.get("model")
    return template(endpoint.adapter, endpoint.provider, model)


def window(endpoint: Endpoint) -> int:
    """Return the largest prompt that the model accepts."""
    found = endpoint.capabilities.get("max_context_tokens")
    return found if isinstance(found, int) else _WINDOW


def _rounded(low: float, likely: float, high: float) -> TokenEstimate:
    """Return the three counts in ascending order, as whole numbers of at least one."""
    middle = max(round(likely), 1)
    return {"low": min(max(int(low), 1), middle), "likely": middle, "high": max(int(high) + 1, middle)}


def _gathered(request: Mapping[str, Any], endpoint: Endpoint) -> Gathered:
    """Gather the contents of the messages of a request."""
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
    """Return the tokens of the gathered contents, of the tools and of the text that the provider adds around them."""
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
    """Whether the request switches reasoning on, for a model that has such a switch. On the wire openai_chat an
    effort alone does so."""
    if reasoning.get("mode") == "enabled" or reasoning.get("budget_tokens"):
        return True
    return adapter == "openai_chat" and reasoning.get("effort", "none") != "none"


def _sealed(seals: list[int], model: Template) -> Range:
    """Return the tokens of reasoning that only its provider can read."""
    most = sum(seals) / _SEAL_MOST
    if model.seal is None:
        return 0, 0, most
    empty, length = model.seal
    likely = sum(max(seal - empty, 0) for seal in seals) / length * model.replayed
    return 0, likely, max(most, likely)


def _items(gathered: Gathered, model: Template) -> Range:
    """Return the tokens of items that only their provider understands: of their texts, and of their sealed pages."""
    sealed, pages = sum(gathered.pages), len(gathered.pages)
    low, likely, high = _share(_text(gathered.items, model), (0, 0.8, 2))
    return low, likely + sealed / 8 + 100 * pages, high + sealed / 2 + 2_500 * pages


def _share(tokens: Range, share: Range) -> Range:
    return tokens[0] * share[0], tokens[1] * share[1], tokens[2] * share[2]


def _text(texts: list[str], model: Template) -> Range:
    """Return the tokens of texts; the first text is empty."""
    text = APART.join(texts)
    tokens, foreign = count(text, model.vocabulary)
    known = tokens - foreign
    fewest, most = model.spread
    high = known * most
    if len(text) >= _LONG:
        high = max(high, known + _ONE_WORD * _repetition(text))
    return known * fewest + foreign * _FOREIGN_FEWEST, tokens, high + foreign * _FOREIGN_MOST


def _repetition(text: str) -> float:
    """Return the error of a text, in words, if the error of each of its words is one. The errors of different words
    even out; the error of one word that is repeated a thousand times does not."""
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
"""The number of characters that are counted in one step."""
_ONE_WORD: Final = 1.3
"""The number of tokens that a word may take in addition to the likely ones."""
_LONG: Final = 2_000
"""Characters of a text from which on the repetition of words is considered."""


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
            # written as types: the names and the descriptions count, the words of JSON Schema hardly do
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
    """Return a tool that is built in at the target as a provider's tool; any other unchanged."""
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
