"""The tokens that a provider adds around texts and tools before its model reads them, by model.

A model reads more than the words of a request. A template marks the turns. Functions are written out, as JSON or as
types, with instructions how to call them. A schema for the answer adds instructions of its own. Some models begin
with a prompt of their provider. All of this depends on the model and hardly on the wire, so it is a table by model.
The counts are those that the providers document, or else those that responses to requests of known size reported.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from interlingua.adapters._estimates.pictures import (
    Sight,
    claude_sight,
    claude_sight_later,
    flat_sight,
    gemini_2_sight,
    gemini_3_sight,
    gemini_sight,
    mistral_sight,
    patches,
    tiles,
)
from interlingua.adapters._estimates.tokens import (
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
"""A low, a likely and a high count."""


class Template(NamedTuple):
    """The tokens that one kind of model receives besides the words of a request."""

    vocabulary: Vocabulary
    prompt: Range = (0, 3, 10)
    """Once for a request."""
    turn: float = 4
    """For each message."""
    tools: Range = (0, 100, 500)
    """Once, if functions are offered."""
    forced: float = 0
    """In addition, if one of them must be called."""
    silenced: bool = True
    """Whether functions are left out if none may be called."""
    function: float = 0
    """For each function, in addition to its definition."""
    json: Range = (0.6, 1, 1.6)
    """The share of the compact JSON of functions that is read; more than 1 if it is written with spaces."""
    key: float = 0
    """The reduction for each of their keys, if functions are written as types or as a list of names."""
    call: float = 20
    """For each call and its result."""
    schema: Range = (0, 20, 450)
    """Once, if the answer must fit a schema."""
    schema_share: Range = (0, 1, 1.5)
    """The share of that schema that is read."""
    reasoning: float = 0
    """Once, if reasoning is switched on."""
    asks_twice: bool = False
    """Whether an answer of a given format is requested a second time after the model has reasoned, with that
    reasoning as prompt."""
    replayed: float = 0.9
    """The share of the reasoning so far that is read: that of the turn that continues, hardly ever that of earlier
    turns."""
    seal: tuple[float, float] | None = None
    """The characters of sealed reasoning without content, and the characters per token of the rest."""
    sight: Sight = flat_sight
    document: Range = (0, 5, 60)
    """For each document, around its contents."""
    cited: Range = (0, 0, 1_500)
    """Once, if documents are to be cited."""
    page: Range = (10, 800, 5_000)
    """For each page of a document: its picture and its text."""
    second: Range = (0, 25, 40)
    """For each second of sound."""
    spread: tuple[float, float] = (0.7, 1.5)
    """The fewest and the most tokens of a text, as a factor of the likely ones."""


_GPT_4: Final = Template(
    O200K,
    (2, 3, 7),
    4,
    (4, 12, 60),
    key=2.4,
    silenced=False,
    json=(0.6, 1.02, 1.4),
    call=8,
    schema=(0, 10, 60),
    schema_share=(0.2, 0.8, 1.3),
    sight=tiles(85, 170),
    page=(10, 750, 4_000),
    second=(8, 10, 12),
    spread=(0.75, 1.4),
)
_GPT_3: Final = _GPT_4._replace(vocabulary=CL100K, tools=(0, 4, 60), function=12, key=1.7)
_GPT_5: Final = _GPT_4._replace(
    prompt=(2, 3, 10),
    turn=3.5,
    tools=(4, 15, 140),
    call=14,
    seal=(1_070, 6.2),
    sight=tiles(70, 140),
    schema=(0, 5, 60),
    schema_share=(0.2, 0.7, 1.3),
)
_GPT_5_CHAT: Final = _GPT_5._replace(tools=(10, 88, 160), json=(0.3, 0.62, 1.3), key=0)
_GPT_OSS: Final = _GPT_5._replace(
    prompt=(0, 60, 90), turn=6, tools=(0, 8, 160), function=10, json=(0.3, 0.75, 1.3), key=0
)
_CLAUDE: Final = Template(
    CLAUDE,
    (2, 5, 20),
    2,
    (220, 320, 600),
    silenced=False,
    json=(0.7, 1.03, 1.4),
    call=55,
    schema=(0, 30, 480),
    schema_share=(0.7, 1.05, 1.5),
    reasoning=29,
    sight=claude_sight,
    document=(10, 37, 60),
    cited=(0, 590, 1_500),
    page=(1_500, 2_000, 5_000),
)
_CLAUDE_4_5: Final = _CLAUDE._replace(replayed=0.9, tools=(270, 495, 620), forced=100, schema=(90, 120, 260))
_CLAUDE_LATER: Final = _CLAUDE_4_5._replace(
    vocabulary=CLAUDE_LATER,
    prompt=(2, 8, 30),
    turn=4,
    tools=(450, 710, 950),
    forced=170,
    reasoning=0,
    sight=claude_sight_later,
    page=(1_500, 2_600, 7_000),
    spread=(0.65, 1.6),
)
_GEMINI: Final = Template(
    GEMINI,
    (0, 0.3, 10),
    0.5,
    (0, 0, 150),
    silenced=False,
    json=(0.1, 0.8, 1.3),
    call=16,
    schema=(0, 0, 120),
    schema_share=(0, 0, 1.3),
    sight=gemini_sight,
    page=(250, 300, 1_400),
    second=(24, 30, 34),
    spread=(0.7, 1.5),
)
_GEMINI_3: Final = _GEMINI._replace(seal=(0, 5.5), sight=gemini_3_sight, page=(250, 560, 1_400), json=(0.1, 0.9, 1.4))
_GEMINI_LISTED: Final = _GEMINI._replace(json=(0.3, 1.2, 1.4), key=5.6, call=30)
"""Earlier models, and those that another provider hosts: names and descriptions of functions count, and little else
of them."""
_OTHER: Final = Template(UNKNOWN, (0, 6, 300), 4, (0, 120, 800), spread=(0.6, 1.7), json=(0.5, 1.1, 2))
_MISTRAL: Final = _OTHER._replace(
    vocabulary=TEKKEN,
    prompt=(0, 2, 40),
    turn=1.5,
    tools=(0, 0, 300),
    function=10,
    json=(0.7, 1.3, 2),
    call=6,
    schema=(0, 0, 60),
    schema_share=(0, 0, 1.3),
    sight=mistral_sight,
    page=(10, 40, 3_000),
    second=(0, 12.5, 100),
    replayed=1,
)
_QWEN: Final = _OTHER._replace(
    vocabulary=QWEN,
    prompt=(0, 4, 60),
    turn=4.3,
    tools=(40, 62, 400),
    function=20,
    schema=(0, 0, 60),
    schema_share=(0, 0, 1.3),
    json=(0.5, 0.95, 2),
)
_LLAMA: Final = _OTHER._replace(vocabulary=LLAMA, prompt=(0, 5, 60), turn=4.5, tools=(20, 150, 700))
_GROK: Final = _OTHER._replace(
    vocabulary=O200K, prompt=(0, 160, 350), turn=9, tools=(0, 30, 500), function=5, json=(0.5, 1.2, 2)
)
_DEEPSEEK: Final = _OTHER._replace(
    vocabulary=DEEPSEEK, prompt=(0, 3, 100), turn=1, tools=(100, 200, 500), function=9, call=36, schema=(0, 5, 60)
)
_KIMI: Final = _OTHER._replace(
    vocabulary=O200K, prompt=(0, 6, 60), turn=2.3, tools=(0, 12, 300), json=(0.5, 1.2, 2), call=48
)
_GLM: Final = _OTHER._replace(
    vocabulary=O200K, prompt=(0, 2, 60), turn=3, tools=(0, 66, 400), function=14, json=(0.5, 1.35, 2)
)
_NOVA: Final = _OTHER._replace(vocabulary=O200K, prompt=(0, 0, 40), turn=1, tools=(250, 340, 600), json=(0.5, 1, 1.6))
_NOVA_2: Final = _NOVA._replace(prompt=(20, 44, 110), turn=1.5, tools=(600, 880, 1_100), json=(0.5, 0.9, 1.5))
_SONAR: Final = _OTHER._replace(
    vocabulary=CL100K, prompt=(0, 0, 40), turn=0, schema=(0, 0, 60), schema_share=(0, 0, 1.3)
)

_MODELS: Final[tuple[tuple[str, str, Template], ...]] = (
    ("", r"claude-(3-opus|2)", _CLAUDE._replace(tools=(380, 530, 600))),
    ("", r"claude-3-(haiku|sonnet)", _CLAUDE._replace(tools=(140, 230, 420))),
    ("", r"claude-3-5-haiku", _CLAUDE._replace(tools=(220, 265, 420))),
    ("", r"claude-3", _CLAUDE),
    ("", r"claude-(opus|sonnet)-4($|[@:]|[-.][01]|-2)", _CLAUDE),
    ("", r"claude-opus-4[-.][7-9]|fable|mythos|claude-[a-z]+-[5-9]", _CLAUDE_LATER),
    ("", r"claude", _CLAUDE_4_5),
    ("", r"gpt-oss", _GPT_OSS),
    ("", r"gpt-4o-mini", _GPT_4._replace(sight=tiles(2833, 5667))),
    ("", r"gpt-4\.1-mini", _GPT_4._replace(sight=patches(1.62))),
    ("", r"gpt-4\.1-nano", _GPT_4._replace(sight=patches(2.46))),
    ("", r"gpt-4o|gpt-4\.1|gpt-4\.5|gpt-audio|gpt-realtime", _GPT_4),
    ("", r"gpt-(3|4)", _GPT_3),
    ("", r"o4-mini", _GPT_4._replace(turn=3.5, sight=patches(1.72))),
    ("", r"\bo[134]\b", _GPT_4._replace(turn=3.5, sight=tiles(75, 150))),
    ("openai_chat/(openai|azure-openai)", r"gpt-5-mini", _GPT_5_CHAT._replace(sight=patches(1.2))),
    ("openai_chat/(openai|azure-openai)", r"gpt-5-nano", _GPT_5_CHAT._replace(sight=patches(1.5))),
    ("openai_chat/(openai|azure-openai)", r"gpt-5(\.[01])?\b(?!\.)|codex|chatgpt", _GPT_5_CHAT),
    ("openai_chat/(openai|azure-openai)", r"gpt-[5-9]", _GPT_5_CHAT._replace(sight=patches(1.2, 2500))),
    ("", r"gpt-5-mini", _GPT_5._replace(sight=patches(1.2))),
    ("", r"gpt-5-nano", _GPT_5._replace(sight=patches(1.5))),
    ("", r"gpt-5(\.[01])?\b(?!\.)|codex|chatgpt", _GPT_5),
    ("", r"gpt-[5-9]", _GPT_5._replace(sight=patches(1.2, 2500))),
    ("", r"gemini-(1|2\.0)", _GEMINI_LISTED._replace(sight=gemini_2_sight, call=6)),
    ("/gemini$", r"gemini-2", _GEMINI),
    ("/gemini$", r"gemini", _GEMINI_3),
    ("", r"gemini-2", _GEMINI_LISTED),
    ("", r"gemini", _GEMINI_3._replace(json=(0.05, 0.5, 1.4))),
    ("", r"gemma", _GEMINI_LISTED._replace(prompt=(0, 5, 20), turn=4, sight=flat_sight)),
    ("/azure[-_]ai$", r"grok", _GROK._replace(prompt=(0, 125, 350))),
    ("", r"grok", _GROK),
    ("", r"deepseek", _DEEPSEEK),
    ("", r"qwen-?3[.-][5-9]", _QWEN._replace(tools=(40, 150, 400), function=38, json=(0.5, 1.35, 2))),
    ("", r"qwen", _QWEN),
    ("", r"kimi|moonshot", _KIMI),
    ("", r"glm", _GLM),
    ("", r"titan", _OTHER._replace(prompt=(0, 3, 60))),
    ("", r"nova-2", _NOVA_2),
    ("", r"nova", _NOVA),
    ("", r"palmyra", _OTHER._replace(prompt=(0, 27, 200))),
    ("", r"sonar", _SONAR),
    ("/mistral$", r"mistral-small", _MISTRAL._replace(prompt=(0, 14, 40))),
    ("", r"mistral-small", _MISTRAL._replace(prompt=(0, 14, 700))),
    ("", r"mi[sx]tral|ministral|pixtral|voxtral|magistral|devstral|codestral", _MISTRAL),
    ("/openrouter$", r"llama", _LLAMA._replace(prompt=(0, 30, 700))),
    ("", r"llama-?4|llama-?3[-.][1-3]\b", _LLAMA._replace(prompt=(0, 30, 60))),
    ("", r"llama", _LLAMA),
    ("^openai_responses/(openai|azure-openai|github[-_]copilot)$", "", _GPT_5),
    ("/(openai|azure-openai|github[-_]copilot)$", "", _GPT_4),
    ("^(anthropic_messages|bedrock_converse)/", "", _CLAUDE_4_5),
    ("^gemini_generate/", "", _GEMINI),
)
"""A pattern of wire/provider, a pattern of the model's name, and the template; the first row that fits is used."""

_PREFACED: Final[dict[str, Range]] = {"venice": (0, 930, 6_000)}
"""Providers that add a prompt of their own before that of every model."""
_ASKING_TWICE: Final = ("ollama",)
"""Providers that count the reasoning before an answer of a given format as prompt; Ollama did until September of
2026."""


@lru_cache(maxsize=1024)
def template(adapter: str, provider: str | None, model: str | None) -> Template:
    """Return the template of a model, by its name; by its provider or its wire if the name is unknown."""
    name, place = (model or "").lower(), f"{adapter}/{provider or ''}"
    found = _OTHER
    for where, pattern, candidate in _MODELS:
        if re.search(pattern, name) and re.search(where, place):
            found = candidate
            break
    if provider in _ASKING_TWICE:
        found = found._replace(asks_twice=True)
    preface = _PREFACED.get(provider or "")
    if preface is None:
        return found
    low, likely, high = found.prompt
    return found._replace(prompt=(low + preface[0], likely + preface[1], high + preface[2]))
