"""How models are asked: what a provider writes around texts and tools before its model reads them, in tokens.

The words of a request are not all that its model reads. A template marks the turns; functions are written out, as JSON
or as types, with instructions how to call them; a schema for the answer brings instructions of its own; some models
begin with a prompt of their provider. All of that hangs on the model, hardly on the wire, so it is a table by model.
The counts are those that the providers document, and else what answers to requests of known size said.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from interlingua.adapters._pictures import (
    claude_sight,
    claude_sight_later,
    flat_sight,
    gemini_2_sight,
    gemini_3_sight,
    gemini_sight,
    mistral_sight,
    Sight,
    patches,
    tiles,
)
from interlingua.adapters._tokens import (
    CL100K,
    CLAUDE,
    CLAUDE_LATER,
    DEEPSEEK,
    GEMINI,
    LLAMA,
    O200K,
    QWEN,
    TEKKEN,
    UNKNOWN,
    Vocabulary,
)

Range = tuple[float, float, float]
"""Hardly less, likely, hardly more."""

NONE: Range = (0, 0, 0)


class Template(NamedTuple):
    """What one kind of model is given besides the words of a request."""

    vocabulary: Vocabulary
    prompt: Range = (0, 3, 10)
    """Once."""
    turn: float = 4
    """A message."""
    tools: Range = (0, 100, 500)
    """Once, when functions are offered."""
    forced: float = 0
    """In addition when one of them must be called."""
    typed: bool = False
    """Whether functions are written as types, without the words that JSON Schema needs."""
    call: float = 10
    """A call, and its result."""
    schema: Range = (0, 20, 450)
    """Once, when the answer has to fit a schema."""
    schema_share: Range = (0, 1, 1.5)
    """How much of that schema the model reads."""
    reasoning: float = 0
    """Once, when reasoning is switched on."""
    replayed: Range = (0, 0.7, 1.3)
    """How much of the reasoning of earlier turns the model reads."""
    sight: Sight = flat_sight
    page: Range = (10, 800, 5000)
    """A page of a document."""
    second: Range = (0, 25, 40)
    """A second of sound."""
    spread: tuple[float, float] = (0.75, 1.35)
    """The fewest and the most tokens of a text, in parts of the likely ones."""


_GPT_4 = Template(
    O200K, (2, 3, 7), 4, (4, 11, 60), typed=True, call=10, schema=(0, 10, 60), schema_share=(0.2, 0.75, 1.3),
    sight=tiles(85, 170), page=(10, 750, 4000), second=(8, 10, 12), spread=(0.78, 1.3),
)
_GPT_3 = _GPT_4._replace(vocabulary=CL100K)
_GPT_5 = _GPT_4._replace(
    prompt=(2, 3, 10), turn=3.5, tools=(4, 15, 140), replayed=(0, 0.5, 1.3), sight=tiles(70, 140),
)
_GPT_OSS = _GPT_5._replace(prompt=(0, 60, 90), turn=6, tools=(10, 40, 160))
_CLAUDE = Template(
    CLAUDE, (2, 5, 20), 2, (220, 325, 600), call=50, schema=(0, 30, 480), reasoning=29,
    sight=claude_sight, page=(1500, 2000, 5000), spread=(0.75, 1.35),
)  # fmt: skip
_CLAUDE_4_5 = _CLAUDE._replace(tools=(450, 490, 620), forced=100, schema=(90, 118, 260), schema_share=(0.8, 1.05, 1.4))
_CLAUDE_LATER = _CLAUDE_4_5._replace(
    vocabulary=CLAUDE_LATER, prompt=(2, 8, 30), turn=4, tools=(450, 680, 950), forced=150, reasoning=0,
    sight=claude_sight_later, page=(1500, 2600, 7000), spread=(0.65, 1.45),
)  # fmt: skip
_GEMINI = Template(
    GEMINI, (0, 1, 10), 0.8, (0, 5, 150), typed=True, call=20, schema=(0, 0, 120), schema_share=(0, 0, 1.3),
    sight=gemini_sight, page=(250, 300, 1400), second=(24, 30, 34), spread=(0.7, 1.35),
)  # fmt: skip
_OTHER = Template(UNKNOWN, (0, 6, 300), 4, (0, 120, 800), spread=(0.6, 1.6))

_MODELS: tuple[tuple[str, Template], ...] = (
    (r"claude-(3-opus|2)", _CLAUDE._replace(tools=(380, 530, 600))),
    (r"claude-3-(haiku|sonnet)", _CLAUDE._replace(tools=(140, 230, 420))),
    (r"claude-3", _CLAUDE),
    (r"claude-(opus|sonnet)-4($|[@:]|[-.][01]|-2)", _CLAUDE),
    (r"claude-opus-4[-.][7-9]|(fable|mythos)|claude-[a-z]+-[5-9]", _CLAUDE_LATER),
    (r"claude", _CLAUDE_4_5),
    (r"gpt-oss", _GPT_OSS),
    (r"gpt-4o-mini", _GPT_4._replace(sight=tiles(2833, 5667))),
    (r"gpt-4\.1-mini", _GPT_4._replace(sight=patches(1.62))),
    (r"gpt-4\.1-nano", _GPT_4._replace(sight=patches(2.46))),
    (r"gpt-4o|gpt-4\.1|gpt-4\.5|gpt-audio|gpt-realtime", _GPT_4),
    (r"o4-mini", _GPT_5._replace(sight=patches(1.72))),
    (r"\bo[134]\b", _GPT_5._replace(sight=tiles(75, 150))),
    (r"gpt-5-mini", _GPT_5._replace(sight=patches(1.2))),
    (r"gpt-5-nano", _GPT_5._replace(sight=patches(1.5))),
    (r"gpt-5(\.[01])?\b(?!\.)|codex|chatgpt", _GPT_5),
    (r"gpt-[5-9]", _GPT_5._replace(sight=patches(1.2, 2500, 2048))),
    (r"gpt-(3|4)", _GPT_3),
    (r"gemini-(1|2\.0)", _GEMINI._replace(sight=gemini_2_sight)),
    (r"gemini-2", _GEMINI),
    (r"gemini", _GEMINI._replace(sight=gemini_3_sight, page=(250, 560, 1400))),
    (r"gemma", _GEMINI._replace(prompt=(0, 5, 20), turn=4, sight=flat_sight, schema_share=(0, 0, 1.3))),
    (r"grok", _OTHER._replace(vocabulary=O200K, prompt=(0, 150, 260), turn=8, tools=(50, 150, 600))),
    (r"deepseek", _OTHER._replace(vocabulary=DEEPSEEK, prompt=(0, 4, 100), turn=1, tools=(100, 220, 500), call=22)),
    (r"qwen", _OTHER._replace(vocabulary=QWEN, prompt=(0, 5, 60), turn=4.3, tools=(60, 130, 400), schema_share=(0, 0, 1.3))),
    (r"llama-?4|llama-?3[-.][1-9]", _OTHER._replace(vocabulary=LLAMA, prompt=(0, 30, 60), turn=4.5, tools=(50, 170, 700))),
    (r"llama", _OTHER._replace(vocabulary=LLAMA, prompt=(0, 6, 60), turn=4.5, tools=(20, 170, 700))),
    (
        r"mi[sx]tral|pixtral|voxtral|magistral|devstral|codestral",
        _OTHER._replace(
            vocabulary=TEKKEN, prompt=(0, 2, 40), turn=1.5, tools=(0, 5, 300), call=8, schema=(0, 0, 60),
            schema_share=(0, 0, 1.3), sight=mistral_sight, page=(10, 40, 3000), second=(0, 12.5, 100),
        ),
    ),
    (r"kimi|moonshot", _OTHER._replace(vocabulary=O200K, prompt=(0, 6, 60), turn=2.3, tools=(0, 10, 300), call=30)),
    (r"glm", _OTHER._replace(vocabulary=O200K, tools=(30, 90, 400))),
    (r"nova-2", _OTHER._replace(vocabulary=O200K, prompt=(20, 44, 110), turn=1.5, tools=(600, 880, 1100), call=20)),
    (r"nova", _OTHER._replace(vocabulary=O200K, prompt=(0, 0, 40), turn=1, tools=(250, 350, 600), call=20)),
    (r"sonar", _OTHER._replace(vocabulary=CL100K, prompt=(0, 0, 40), turn=0)),
)  # fmt: skip
"""By the first pattern that a model's name holds."""

_WIRES = {
    "anthropic_messages": _CLAUDE_4_5,
    "bedrock_converse": _CLAUDE_4_5,
    "gemini_generate": _GEMINI,
    "openai_responses": _GPT_5,
    "openai_chat": _OTHER,
}
"""Models whose name says nothing, by the wire."""

_OPENAI = frozenset(("openai", "azure-openai", "github-copilot"))
_PREFACED: dict[str, Range] = {"venice": (0, 930, 6_000)}
"""Providers that write a prompt of their own before any model's."""


@lru_cache(maxsize=1024)
def template(adapter: str, provider: str | None, model: str | None) -> Template:
    """The template of a model, by its name; by its provider or its wire when the name is not known."""
    name = (model or "").lower()
    found = next((template for pattern, template in _MODELS if re.search(pattern, name)), None)
    if found is None:
        found = _GPT_4 if provider in _OPENAI else _WIRES.get(adapter, _OTHER)
    preface = _PREFACED.get(provider or "")
    if preface is None:
        return found
    low, likely, high = found.prompt
    return found._replace(prompt=(low + preface[0], likely + preface[1], high + preface[2]))
