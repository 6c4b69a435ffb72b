"""Generated canonical requests: every block, role and option in combinations that nobody thought of, calls and results paired."""

from typing import Any

from hypothesis import strategies as st

from interlingua import adapters

Data = dict[str, Any]

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
spoken = st.one_of(
    words, st.sampled_from(["hello", "", "  \n", "[tool_error]\nx", "[tool_ok]\n[tool_error]", "[]", "{}"])
)
names = st.sampled_from(["look_up", "get-weather", "Run.Query", "a" * 80, "читать", "look_up_2"])
numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
free = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(words, free, max_size=3)
states = st.fixed_dictionaries(
    {
        "adapter": st.sampled_from([*adapters.names(), "elsewhere"]),
        "provider": st.sampled_from(["anthropic", "openai", "gemini", "ollama", "bedrock", "deepseek", None]),
    },
    optional={
        "signature": words,
        "fields": st.dictionaries(st.sampled_from(["caller", "phase", "x"]), words, min_size=1),
    },
)
caches = st.sampled_from([{}, {"ttl": "5m"}, {"ttl": "1h"}])
common: dict[str, st.SearchStrategy[Any]] = {"cache": caches, "provider_state": states}


def block(kind: str, required: dict[str, Any], **optional: Any) -> st.SearchStrategy[Data]:
    """A block of a type with its members."""
    return st.fixed_dictionaries({"type": st.just(kind), **required}, optional={**common, **optional})


base64_source = st.just({"kind": "base64", "data": "aGVsbG8="})
url_source = st.just({"kind": "url", "data": "https://example.com/a.png"})
file_source = st.fixed_dictionaries({"kind": st.sampled_from(["file_id", "file_ref"]), "data": st.just("file-1")})
text_source = st.fixed_dictionaries({"kind": st.just("text"), "data": words})
text = block("text", {"text": spoken}, refusal=st.booleans())
image = block(
    "image",
    {
        "source": st.one_of(base64_source, url_source, file_source),
        "media_type": st.sampled_from(["image/png", "image/tiff"]),
    },
    detail=st.sampled_from(["low", "auto"]),
)
audio = block(
    "audio", {"source": st.one_of(base64_source, url_source), "media_type": st.sampled_from(["audio/wav", "audio/ogg"])}
)
video = block("video", {"source": url_source, "media_type": st.just("video/mp4")})
document = block(
    "document",
    {
        "source": st.one_of(base64_source, url_source, file_source, text_source),
        "media_type": st.sampled_from(["application/pdf", "text/plain"]),
    },
    name=words,
    title=words,
    context=words,
    citations_enabled=st.booleans(),
)
opaque = block(
    "opaque",
    {
        "adapter": st.sampled_from(["anthropic_messages", "openai_chat", "elsewhere"]),
        "value": st.fixed_dictionaries({"type": st.sampled_from(["server_tool_use", "later"]), "x": words}),
    },
    provider=st.sampled_from(["anthropic", None]),
)
thinking = block("thinking", {"text": words}, signature=st.one_of(st.none(), st.just("c2ln")))
redacted = block("redacted_thinking", {"data": words})
unknown = st.fixed_dictionaries({"type": st.just("hologram"), "depth": numbers})
user_block = st.one_of(text, text, image, audio, video, document, opaque, unknown)
assistant_block = st.one_of(text, text, thinking, redacted, opaque, image)
result_block = st.one_of(text, text, image, document, opaque)


@st.composite
def turns(draw: st.DrawFn) -> list[Data]:
    """A conversation in which every call is answered before anything else is said, in any order."""
    messages: list[Data] = []
    calls = 0
    for _ in range(draw(st.integers(1, 4))):
        role = draw(st.sampled_from(["user", "user", "system", "developer", "assistant", "loop", "loop"]))
        match role:
            case "user":
                messages.append(message(draw, "user", draw(st.lists(user_block, min_size=1, max_size=3))))
            case "system" | "developer":
                messages.append(message(draw, role, draw(st.lists(text, max_size=2))))
            case "assistant":
                messages.append(message(draw, "assistant", draw(st.lists(assistant_block, min_size=1, max_size=3))))
            case _:
                made = [f"tu_{calls + number:02d}" for number in range(draw(st.integers(1, 3)))]
                calls += len(made)
                told = loop(draw, made)
                if draw(st.integers(0, 5)) == 0:  # the model speaks again before the last result comes
                    late = told.pop()
                    told += [message(draw, "assistant", draw(st.lists(assistant_block, min_size=1, max_size=2))), late]
                messages += told
    messages.append(message(draw, "user", draw(st.lists(user_block, min_size=1, max_size=2))))
    return messages


def message(draw: st.DrawFn, role: str, content: list[Data]) -> Data:
    """A message, sometimes with members beside the content."""
    made: Data = {"role": role, "content": content}
    if draw(st.integers(0, 5)) == 0:
        made["cache"] = draw(caches)
    if draw(st.integers(0, 5)) == 0:
        made["name"] = draw(st.sampled_from(["ann", "b c"]))
    return made


argument_texts = st.sampled_from(['{"cut":', "", " ", "null", "[]", '{"a": 1}'])
"""What models write for arguments that are none, no object, or an object all the same."""


def loop(draw: st.DrawFn, made: list[str]) -> list[Data]:
    """An assistant message with calls, and their results in some order, sometimes with an instruction between."""
    calls = [
        draw(
            block(
                "tool_use",
                {"id": st.just(identity), "name": names, "input": objects},
                input_raw=argument_texts,
            ).filter(lambda call: "input_raw" not in call or not call["input"])
        )
        for identity in made
    ]
    lead = draw(st.lists(assistant_block, max_size=2))
    messages = [message(draw, "assistant", [*lead, *calls])]
    for identity in draw(st.permutations(made)):
        result = draw(
            block(
                "tool_result",
                {"tool_use_id": st.just(identity), "content": st.lists(result_block, max_size=2)},
                is_error=st.booleans(),
            )
        )
        messages.append(message(draw, "tool", [result]) | {"metadata": {"parent_tool_use_id": identity}})
    if draw(st.integers(0, 4)) == 0:
        messages.insert(1, message(draw, "system", draw(st.lists(text, min_size=1, max_size=1))))
    return messages


tools = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"name": names},
            optional={
                "description": words,
                "input_schema": st.just({"type": "object", "properties": {"a": {"type": "string"}}}),
                "strict": st.booleans(),
                "cache": caches,
                "side_effects": st.just("read"),
                "provider_state": states,
            },
        ),
        st.fixed_dictionaries(
            {"name": names, "kind": st.just("custom")},
            optional={
                "description": words,
                "format": st.just({"type": "text"}),
                "input_schema": st.just({"type": "object"}),
                "strict": st.booleans(),
            },
        ),
        st.just(
            {
                "name": "web_search",
                "kind": "provider",
                "adapter": "anthropic_messages",
                "definition": {"type": "web_search_20250305", "name": "web_search"},
            }
        ),
    ),
    max_size=3,
    unique_by=lambda tool: tool["name"],
)
choices = st.one_of(
    st.sampled_from([{"type": "auto"}, {"type": "none"}, {"type": "required"}]),
    st.fixed_dictionaries({"type": st.just("tool"), "name": names}),
    st.fixed_dictionaries({"type": st.just("allowed"), "names": st.lists(names, min_size=1, max_size=2)}),
)
formats = st.one_of(
    st.sampled_from([{"type": "text"}, {"type": "json"}]),
    st.fixed_dictionaries(
        {"type": st.just("json_schema"), "schema": st.just({"type": "object", "additionalProperties": False})},
        optional={"name": st.just("answer"), "strict": st.booleans(), "description": words},
    ),
)
efforts = st.sampled_from(["none", "minimal", "low", "medium", "high", "xhigh", "max"])
reasoning = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["adaptive", "enabled", "disabled"]),
        "effort": efforts,
        "budget_tokens": st.integers(1024, 9000),
        "display": st.just("summarized"),
    },
)

requests = st.fixed_dictionaries(
    {"messages": turns()},
    optional={
        "system": st.lists(text, max_size=2),
        "tools": tools,
        "tool_choice": choices,
        "parallel_tool_calls": st.booleans(),
        "response_format": formats,
        "max_output_tokens": st.integers(1, 100_000),
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0, 1),
        "top_k": st.integers(1, 50),
        "frequency_penalty": st.floats(-2, 2),
        "presence_penalty": st.floats(-2, 2),
        "seed": st.integers(-(2**60), 2**60),
        "stop": st.lists(st.sampled_from(["END", "\n", " "]), max_size=6),
        "n": st.integers(1, 3),
        "logprobs": st.booleans(),
        "top_logprobs": st.integers(0, 5),
        "reasoning": reasoning,
        "verbosity": st.just("low"),
        "service_tier": st.sampled_from(["auto", "default", "standard_only"]),
        "user": st.just("usr_1"),
        "metadata": st.dictionaries(
            st.sampled_from(["user_id", "trace"]), st.one_of(words, st.integers(0, 9)), max_size=2
        ),
        "cache": caches,
        "stream": st.booleans(),
        "options": st.fixed_dictionaries(
            {}, optional={"anthropic_messages": st.just({"container": "c_1"}), "openai_chat": st.just({"store": True})}
        ),
        "loss_policy": st.just({"on_drop": "placeholder"}),
    },
)
"""Any request that breaks no invariant of the core."""


# ---------------------------------------------------------------------------------------------------- answers

ends = st.sampled_from(
    "stop stop_sequence length tool_calls content_filter refusal pause cancelled error other".split()
)
small = st.integers(0, 3)
usages = st.fixed_dictionaries(
    {"input_tokens": small, "output_tokens": st.integers(3, 9)},
    optional={
        "cached_input_tokens": small,
        "cache_creation_input_tokens": st.integers(3, 4),
        "cache_creation_1h_input_tokens": small,
        "reasoning_tokens": small,
        "latency_ms": small,
        "estimated": st.booleans(),
        "images": small,
    },
).filter(lambda usage: usage.get("cache_creation_1h_input_tokens", 0) <= usage.get("cache_creation_input_tokens", 0))
refusal = block("text", {"text": words, "refusal": st.just(True)})
answer_block = st.one_of(text, text, thinking, redacted, opaque, image, audio, document, refusal, unknown)


@st.composite
def choices_of_answers(draw: st.DrawFn) -> Data:
    """One answer: words, reasoning, media, calls anywhere between, and an end that need not fit them."""
    content = draw(st.lists(answer_block, max_size=3))
    for number in range(draw(st.integers(0, 2))):
        call = {"id": st.just(f"tu_{number}"), "name": names, "input": objects}
        content.insert(draw(st.integers(0, len(content))), draw(block("tool_use", call, input_raw=argument_texts)))
    made = message(draw, "assistant", content)
    if draw(st.integers(0, 5)) == 0:
        made["provider_state"] = draw(states)
    choice: Data = {"message": made, "finish_reason": draw(ends)}
    beside = {"stop_sequence": st.just("END"), "provider_state": states}
    beside["logprobs"] = st.just({"content": [{"token": "a", "logprob": -0.5}]})
    for name, values in beside.items():
        if draw(st.integers(0, 3)) == 0:
            choice[name] = draw(values)
    return choice


@st.composite
def answers(draw: st.DrawFn) -> Data:
    """Any answer that fits the schema."""
    answer = draw(choices_of_answers())
    if draw(st.booleans()):
        answer["usage"] = draw(usages)
    if draw(st.integers(0, 3)) == 0:
        answer["alternatives"] = draw(st.lists(choices_of_answers(), max_size=2))
        for number, choice in enumerate(answer["alternatives"], 1):
            for block in choice["message"]["content"]:
                if block["type"] == "tool_use":
                    block["id"] += f"of{number}"  # two answers have no call in common
    if draw(st.integers(0, 5)) == 0:
        answer["hologram"] = draw(small)
    return answer
