"""R-131: what is declared of a model is so. What it takes is carried to it whole; what it does not take is never sent.

Each probe asks for one thing, at every model of the registry and at a model of every provider that is not listed, over the
wire over which the registry calls it. That a report of a loss is true, and complete, is what the other laws show.

Three declarations speak of answers and not of requests (`supports_streaming`, `supports_streaming_tool_calls`,
`supports_thinking`), and one of what a model does when it may (`supports_parallel_tool_calls`): nothing can be asked.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from interlingua import registry, translate
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.validate import validate

Data = dict[str, Any]

SAYS: Data = {"role": "user", "content": [{"type": "text", "text": "How high is the tide?"}]}
ANSWERS: Data = {"role": "assistant", "content": [{"type": "text", "text": "Low."}]}
RULES: Data = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}
OBJECT: Data = {"type": "object", "properties": {}}
FORM: Data = {**OBJECT, "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def _shown(kind: str, media_type: str) -> Data:
    source = {"kind": "base64", "data": "AAAA"}
    return {"messages": [{**SAYS, "content": [{"type": kind, "media_type": media_type, "source": source}]}]}


def _one_of(declared: Data, name: str, otherwise: str) -> str:
    return (declared.get(name) or [otherwise])[0]


PROBES: dict[str, tuple[str, Callable[[Data], Data]]] = {
    "supports_images": (
        "/messages/0/content/0",
        lambda declared: _shown("image", _one_of(declared, "accepted_image_media_types", "image/png")),
    ),
    "supports_audio": ("/messages/0/content/0", lambda _: _shown("audio", "audio/wav")),
    "supports_video": ("/messages/0/content/0", lambda _: _shown("video", "video/mp4")),
    "supports_documents": ("/messages/0/content/0", lambda _: _shown("document", "application/pdf")),
    "supports_tools": ("/tools", lambda _: {"messages": [SAYS], "tools": [{"name": "f", "input_schema": OBJECT}]}),
    "supports_tool_choice": (
        "/tool_choice",
        lambda _: {
            "messages": [SAYS],
            "tools": [{"name": "f", "input_schema": OBJECT}],
            "tool_choice": {"type": "required"},
        },
    ),
    "supports_system_prompt": ("/messages/0", lambda _: {"messages": [RULES, SAYS]}),
    "supports_system_messages_in_list": ("/messages/1", lambda _: {"messages": [SAYS, RULES, ANSWERS, SAYS]}),
    "supports_structured_output": (
        "/response_format",
        lambda _: {"messages": [SAYS], "response_format": {"type": "json_schema", "name": "a", "schema": FORM}},
    ),
    "supports_reasoning_effort": (
        "/reasoning",
        lambda declared: {
            "messages": [SAYS],
            "reasoning": {"effort": _one_of(declared, "reasoning_efforts", "low")},
        },
    ),
    "supports_temperature": ("/temperature", lambda _: {"messages": [SAYS], "temperature": 0.5}),
    "supports_top_p": ("/top_p", lambda _: {"messages": [SAYS], "top_p": 0.5}),
    "supports_frequency_penalty": ("/frequency_penalty", lambda _: {"messages": [SAYS], "frequency_penalty": 0.5}),
    "supports_presence_penalty": ("/presence_penalty", lambda _: {"messages": [SAYS], "presence_penalty": 0.5}),
    "supports_stop": ("/stop", lambda _: {"messages": [SAYS], "stop": ["END"]}),
    "supports_seed": ("/seed", lambda _: {"messages": [SAYS], "seed": 7}),
    "supports_n": ("/n", lambda _: {"messages": [SAYS], "n": 2}),
    "supports_logprobs": ("/logprobs", lambda _: {"messages": [SAYS], "logprobs": True}),
    "supports_verbosity": ("/verbosity", lambda _: {"messages": [SAYS], "verbosity": "low"}),
}
BY_THE_PROVIDER = "supports_prompt_caching"
"""A provider may keep prompts by itself; where none are kept, a hint never travels."""


MODELS = [*registry.models(), *(registry.model(f"{provider}:not-listed") for provider in registry.providers())]


def _arrives(endpoint: Endpoint, asked: Data, path: str) -> bool:
    """Whether what stands at a place arrives with its whole meaning."""
    validate(asked)
    loss = translate.project(asked, endpoint).loss
    return not any(
        entry["severity"] != "representation" and f"{entry['path']}/".startswith(f"{path}/") for entry in loss
    )


@pytest.mark.parametrize("capability", PROBES)
def test_what_is_declared_is_so(capability: str) -> None:
    """True: it arrives. False: it does not, and the report says so."""
    path, make = PROBES[capability]
    declared = [row for row in MODELS if capability in row["capabilities"]]
    wrong = [
        row["id"]
        for row in declared
        if _arrives(registry.endpoint(model=row["id"]), make(row["capabilities"]), path)
        is not row["capabilities"][capability]
    ]
    assert not wrong


@pytest.mark.parametrize(
    "capability", [name for name in PROBES if not any(name in row["capabilities"] for row in MODELS)]
)
def test_what_no_row_of_ours_declares_is_believed_of_a_row_of_ones_own(capability: str) -> None:
    """Each word of the vocabulary is looked at."""
    path, make = PROBES[capability]
    chat = registry.endpoint(adapter="openai_chat")
    for said in (True, False):
        assert _arrives(replace(chat, capabilities={capability: said}), make({}), path) is said


def test_a_hint_goes_to_nobody_who_keeps_no_prompts() -> None:
    """Where prompts are kept without being asked, the report says that the hint does nothing."""
    hinted = {"messages": [{**SAYS, "content": [{**SAYS["content"][0], "cache": {}}]}]}
    without = [row["id"] for row in MODELS if row["capabilities"].get(BY_THE_PROVIDER) is False]
    assert without
    place = "/messages/0/content/0/cache"
    assert not [model for model in without if _arrives(registry.endpoint(model=model), hinted, place)]


def test_every_declaration_has_a_probe_or_a_reason() -> None:
    """A word that is added to the vocabulary is asked as well."""
    of_answers = {"supports_streaming", "supports_streaming_tool_calls", "supports_thinking"}
    words = {word for word in registry.vocabulary("capabilities") if word.startswith("supports_")}
    assert words == {*PROBES, BY_THE_PROVIDER, "supports_parallel_tool_calls", *of_answers}
