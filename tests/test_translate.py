"""The door: policies, critical blocks, the log line, and streams."""

import copy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from interlingua import (
    CannotAdapt,
    InterlinguaError,
    InvalidAnswer,
    InvalidRequest,
    InvalidWire,
    LossEntry,
    LossRefused,
    Message,
    Request,
    StreamReader,
    adapt,
    adapters,
    apply,
    by_priority,
    content_hash,
    difference,
    estimate,
    read_stream,
    registry,
    router,
    translate,
    visible,
    write_error,
    write_response,
    write_stream,
)
from interlingua.adapters._recognition import recognised
from interlingua.canonical import json
from interlingua.translate import load, read_request

Data = dict[str, Any]
THINKING: Data = {"type": "thinking", "text": "the secret plan", "signature": "c2ln"}
REQUEST: Data = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [THINKING, {"type": "text", "text": "hello"}]},
        {"role": "user", "content": [{"type": "text", "text": "go on"}]},
    ],
    "max_output_tokens": 100,
}


def with_thinking(**members: Any) -> Data:
    request = copy.deepcopy(REQUEST)
    request["messages"][1]["content"][0] |= members
    return request


def test_a_drop_is_reported_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """One entry, one line at WARN with five fields, no content."""
    projection = adapt(REQUEST, "openai_chat")

    assert ["/messages/1/content/0"] == [entry["path"] for entry in projection.loss]
    (record,) = caplog.records
    fields = {name: record.__dict__[name] for name in ("session_id", "message_id", "block_type", "adapter", "reason")}
    assert {
        "session_id": None,
        "message_id": None,
        "block_type": "thinking",
        "adapter": "openai_chat",
    }.items() <= fields.items()
    assert fields["reason"]
    assert "secret" not in caplog.text


def test_strict_refuses_with_the_whole_report() -> None:
    """And points at the first thing that would be lost."""
    with pytest.raises(LossRefused) as caught:
        adapt(REQUEST, "openai_chat", strict="lost")

    assert "/messages/1/content/0" == caught.value.path
    assert caught.value.to_dict()["loss"]
    assert adapt(REQUEST, "anthropic_messages", strict="representation").loss == []


def test_a_critical_block_is_never_dropped() -> None:
    """Marked on the block or on the message; nothing is written."""
    on_message = copy.deepcopy(REQUEST)
    on_message["messages"][1]["critical"] = True

    for request in (with_thinking(critical=True), on_message):
        with pytest.raises(CannotAdapt) as caught:
            adapt(request, "openai_chat")

        assert "/messages/1/content/0" == caught.value.path


def test_the_policy_error_refuses_a_dropped_block() -> None:
    """But not a change that drops no block."""
    with pytest.raises(LossRefused):
        adapt(REQUEST | {"loss_policy": {"on_drop": "error"}}, "openai_chat")

    seeded = {**REQUEST, "messages": REQUEST["messages"][:1], "seed": 1, "loss_policy": {"on_drop": "error"}}
    assert ["/seed"] == [entry["path"] for entry in adapt(seeded, "anthropic_messages").loss]


def test_a_placeholder_stands_where_a_block_was() -> None:
    """It says what was there, not what it said."""
    projection = adapt(REQUEST | {"loss_policy": {"on_drop": "placeholder"}}, "openai_chat")

    (entry,) = projection.loss
    assert ("replace", "placeholder") == (entry["op"], entry["code"])
    assert b"thinking omitted" in projection.body
    assert b"secret" not in projection.body


def test_text_in_any_form_is_read() -> None:
    """JSON text, bytes, plain data."""
    text = '{"messages":[]}'

    assert load(text) == load(text.encode()) == load({"messages": []})


@pytest.mark.parametrize("text", ["", "[]", "nul", '{"messages":[{}]}', '{"messages":{}}'])
def test_what_is_not_a_request_is_refused(text: str) -> None:
    """With the category of the caller's fault."""
    with pytest.raises(InvalidRequest):
        load(text)


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize(
    "body", ["[]", "3", '{"messages":7}', '{"model":"m","messages":[3]}', '{"messages":[{"role":"user","content":5}]}']
)
def test_what_is_not_a_wire_is_refused(adapter: str, body: str) -> None:
    """With a pointer into the body."""
    with pytest.raises(InvalidWire) as caught:
        read_request(body, adapter)

    assert caught.value.path is not None


def test_an_unknown_adapter_is_named() -> None:
    """With the ones that there are."""
    with pytest.raises(InvalidRequest, match="anthropic_messages"):
        adapt(REQUEST, "smoke_signals")


@pytest.mark.parametrize("adapter", adapters.names())
def test_an_empty_stream_is_an_error(adapter: str) -> None:
    """And its reader is done."""
    reader = StreamReader(registry.endpoint(adapter=adapter))

    events = reader.end()

    assert ["error"] == [event["type"] for event in events]
    assert "stream_truncated" == events[0]["error"]["category"]
    assert reader.done
    assert [] == reader.feed(b"data: {}\n\n")


def test_a_request_is_the_same_after_it_was_written() -> None:
    """Adapters change nothing of what they are given."""
    before = copy.deepcopy(REQUEST)

    for adapter in adapters.names():
        adapt(REQUEST, adapter)

    assert before == REQUEST


def test_state_comes_home_after_a_detour() -> None:
    """A to B to A: the signature and the id are what they were, because the canonical conversation keeps them."""
    wire = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [
            {"role": "user", "content": "read it"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "EqQBCkYIBxgCKkA"},
                    {
                        "type": "tool_use",
                        "id": "toolu_01XFDUDYJgAACzvnptvVoYEL",
                        "name": "read_file",
                        "input": {"p": 1},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_01XFDUDYJgAACzvnptvVoYEL", "content": "text"}
                ],
            },
        ],
    }
    request, _ = read_request(wire, "anthropic_messages")
    openai = adapt(request, "openai_chat")
    request["messages"].append({"role": "user", "content": [{"type": "text", "text": "and now?"}]})

    home = adapt(request, "anthropic_messages").wire["body"]

    assert "toolu_01XFDUDYJgAACzvnptvVoYEL" not in str(openai.wire)
    assert "EqQBCkYIBxgCKkA" not in str(openai.wire)
    assert wire["messages"][1] == home["messages"][1]
    assert "toolu_01XFDUDYJgAACzvnptvVoYEL" == home["messages"][2]["content"][0]["tool_use_id"]


@pytest.mark.parametrize("wire", adapters.names())
def test_a_file_of_the_workspace_is_told_with_the_remedy(wire: str) -> None:
    """Its media type may be right: it is its source that no provider can read."""
    image = {"type": "image", "media_type": "image/png", "source": {"kind": "file_ref", "data": "a.png"}}
    loss = adapt({"messages": [{"role": "user", "content": [image, {"type": "text", "text": "look"}]}]}, wire).loss
    (entry,) = [entry for entry in loss if entry["path"] == "/messages/0/content/0"]
    assert "media.resolve" in entry["message"]


@pytest.mark.parametrize("wire", adapters.names())
@pytest.mark.parametrize("reasoning", [{"mode": "adaptive"}, {"display": "full"}, {"mode": "enabled"}])
def test_reasoning_that_is_dropped_is_not_said_to_be_asked_for(wire: str, reasoning: dict[str, Any]) -> None:
    """What is replaced is in the terms of the target, what is dropped is not."""
    loss = adapt({"messages": REQUEST["messages"][:1], "reasoning": reasoning}, wire).loss
    for entry in loss:
        if entry["path"].startswith("/reasoning"):
            assert ("terms of the target" in entry["message"]) == (entry["op"] == "replace"), entry


def test_values_of_the_types_are_taken_wherever_plain_data_are() -> None:
    """Nobody has to know which function is which."""
    message = Message.user("Hello.")
    request = Request(messages=[message], max_output_tokens=9)
    entry = LossEntry(op="drop", path="/max_output_tokens", code="unsupported_field", severity="lost", message="gone")

    assert content_hash(message) == content_hash(message.plain())
    assert visible(request) == visible(request.plain())
    assert apply(request, [entry]) == Request(messages=[message]).plain()
    assert difference(request, Request(messages=[message])) == "/max_output_tokens"
    assert by_priority([message.plain(), message.with_priority(1).plain()])[0]["priority"] == 1


def test_what_is_no_plain_data_is_told_as_such() -> None:
    """Not as nesting that goes too deep, nor as an attribute that something inside lacks."""
    message = Message.user("Hello.")
    for work in (
        lambda: adapt({"messages": [message]}, "openai_chat"),
        lambda: estimate({}, "openai_chat"),
        lambda: estimate({"messages": None}, "openai_chat"),
        lambda: content_hash(None),
        lambda: visible([]),
        lambda: apply({"messages": []}, [None]),
    ):
        with pytest.raises(InvalidRequest) as told:
            work()
        assert "nested" not in told.value.message
    for chunks in (["data: {}\n\n"], b"data: {}\n\n", [None]):
        with pytest.raises(TypeError, match="a chunk of a stream must be bytes"):
            list(read_stream(chunks, "openai_chat"))
    assert list(read_stream([bytearray(b"{"), memoryview(b"}")], "ollama_chat"))


@pytest.mark.parametrize("strict", ["very", "", "LOST"])
def test_a_word_for_strict_that_there_is_not_is_refused(strict: str) -> None:
    """Whether or not there is a loss."""
    answer = {"message": {"role": "assistant", "content": []}, "finish_reason": "stop"}
    for work in (
        lambda: adapt(REQUEST, "anthropic_messages", strict=strict),
        lambda: write_response(answer, "openai_chat", strict=strict),
        lambda: write_stream([], "openai_chat", strict=strict),
    ):
        with pytest.raises(InvalidRequest, match="strict takes"):
            work()


CALL: Data = {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}]}


@pytest.mark.parametrize("wire", adapters.names())
def test_a_tool_message_holds_a_result_and_nothing_that_looks_like_one(wire: str) -> None:
    """A block of a later version in its place is no result, whatever members it has."""
    later = {"type": "later_result", "tool_use_id": "tu_1", "content": [{"type": "text", "text": "4.1 bar"}]}
    request = {"messages": [REQUEST["messages"][0], CALL, {"role": "tool", "content": [later]}]}
    with pytest.raises(InvalidRequest) as error:
        adapt(request, wire)
    assert error.value.path == "/messages/2/content"


@pytest.mark.parametrize("wire", adapters.names())
def test_what_nobody_knows_is_not_counted(wire: str) -> None:
    """A block of a later version may have a member of a name that we know, of another type."""
    later = {"type": "later", "provider_state": "x", "content": 7, "source": [], "text": None}
    counted = estimate({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}, later]}]}, wire)
    assert counted == estimate({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}, wire)


@pytest.mark.parametrize("wire", ["anthropic_messages", "bedrock_converse", "gemini_generate"])
def test_a_provider_tool_without_a_name_is_read_as_a_valid_tool(wire: str) -> None:
    """Or as an option; never as a tool whose name is empty."""
    says: Data = {"role": "user", "content": [{"text": "hi"}]}
    body: Data = {
        "anthropic_messages": {"max_tokens": 5, "messages": [], "tools": [{"type": "", "name": ""}]},
        "bedrock_converse": {"messages": [says], "toolConfig": {"tools": [{"": 5}]}},
        "gemini_generate": {"contents": [{"parts": [{"text": "hi"}]}], "tools": [{"": 5}]},
    }[wire]
    request, _ = read_request(body, wire)
    assert load(request) == request


def test_options_that_are_no_object_are_told_where_others_take_their_place() -> None:
    """Nothing is overwritten without a word."""
    request = {**REQUEST, "temperature": 0.5, "options": {"ollama_chat": {"options": "fast"}}}
    loss = adapt(request, "ollama_chat").loss
    assert "/options/ollama_chat/options" in [entry["path"] for entry in loss]


def test_what_an_answer_of_the_reserved_name_turns_out_to_be() -> None:
    """The whole item may say that it was no call: the stream goes on with it."""
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "interlingua_answer"}
    frames: list[Data] = [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "model": "m", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**call, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 0, "item": {**call, "arguments": 7}},
        {
            "type": "response.completed",
            "response": {"id": "resp_1", "status": "completed", "model": "m", "output": [{**call, "arguments": 7}]},
        },
    ]
    data = b"".join(b"data: %s\n\n" % json.dumps(frame) for frame in frames)
    *_, last = read_stream([data], "openai_responses")
    assert last["type"] == "message_complete"
    assert last["response"]["message"]["content"][0]["type"] == "opaque"


# ------------------------------------------------------------------------------------------------ names and texts

CHAT: Data = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("name", "wire", "provider"),
    [
        ("anthropic_messages", "anthropic_messages", "anthropic"),
        ("anthropic", "anthropic_messages", "anthropic"),
        ("groq", "openai_chat", "groq"),
        ("openai:gpt-4.1", "openai_chat", "openai"),
        ("openrouter/deepseek/deepseek-v3", "openai_chat", "openrouter"),
        ("sonnet", "anthropic_messages", "anthropic"),
    ],
)
def test_a_name_means_the_same_wherever_it_is_taken(name: str, wire: str, provider: str) -> None:
    """A wire, a provider, a model or an alias: adapt, estimate, reading and writing ask one function."""
    endpoint = translate.endpoint_of(name)
    assert (endpoint.adapter, endpoint.provider) == (wire, provider)
    projection = adapt(REQUEST, name)
    assert read_request(projection.wire, name)[0]["messages"]
    assert adapt(projection.wire, "openai_chat", source=name).body
    assert estimate(REQUEST, name)["likely"] > 0
    answer, _ = write_response({"message": ANSWER, "finish_reason": "stop"}, name)
    assert translate.read_response(answer, name)[0]["message"]["content"]


ANSWER: Data = {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}


def test_aliases_and_wires_and_providers_have_different_names() -> None:
    """So that no name has to be looked up in an order that somebody must know."""
    models = registry.default()
    kinds = [set(adapters.names()), set(models.providers()), set(models.aliases)]
    assert not kinds[0] & kinds[1]
    assert not kinds[0] & kinds[2]
    assert not kinds[1] & kinds[2]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        ("anthropic_message", "anthropic_messages"),
        ("sonet", "sonnet"),
        ("claude-sonet-4-6", "anthropic:claude-sonnet-4-6"),
        ("antropic:claude-sonnet-4-6", "anthropic:claude-sonnet-4-6"),
    ],
)
def test_an_unknown_name_gets_the_nearest_as_advice(name: str, meant: str) -> None:
    """Wherever it was given."""
    calls: list[Any] = [lambda: adapt(REQUEST, name), lambda: estimate(REQUEST, name)]
    calls.append(lambda: adapt(CHAT, "openai_chat", source=name))
    if "_" not in name:
        calls += [
            lambda: registry.capabilities(name),
            lambda: registry.expand(name),
            lambda: estimate(REQUEST, model=name),
        ]
        policy = {"version": 1, "global": {"default": name}}
        calls.append(lambda: router.demand_policy(policy, registry.snapshot()))
    if "_" not in name and ":" not in name:  # a provider that is in no row has no prices
        calls.append(lambda: registry.price(name))
    for call in calls:
        with pytest.raises(InvalidRequest) as refused:
            call()
        told = f"{refused.value.message} {refused.value.violations}"
        assert f"did you mean {meant}" in told or f"{meant}?" in told, told


def test_an_alias_has_the_price_of_its_model() -> None:
    """And what a provider reports as the name of its model may be any text."""
    assert registry.price("sonnet") == registry.price(str(registry.parse("sonnet")))
    assert registry.priced({"input_tokens": 1, "output_tokens": 1}, "whatever it says")["cost_usd"] is None


def test_an_estimate_takes_a_model_wherever_it_stands() -> None:
    """Beside the request, as the target, or in the request."""
    model = "anthropic:claude-sonnet-4-6"
    wanted = estimate(REQUEST, "anthropic_messages", model=model)
    assert wanted == estimate(REQUEST, model) == estimate(REQUEST, model=model) == estimate({**REQUEST, "model": model})
    with pytest.raises(InvalidRequest, match="name a model"):
        estimate(REQUEST)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"content": "\xff"}'])
def test_an_answer_that_cannot_be_read_is_the_providers_fault(body: bytes) -> None:
    """As in a stream: the caller of the model did nothing wrong."""
    with pytest.raises(InvalidAnswer) as caught:
        translate.read_response(body, "openai_chat")
    assert caught.value.to_dict()["category"] == "invalid_response"
    assert not caught.value.to_dict()["retryable"]


@pytest.mark.parametrize("address", ["gs://bucket/a.png", "s3://bucket/a.png", "file:///a.png", "pictures/a.png"])
@pytest.mark.parametrize(("kind", "media_type"), [("image", "image/png"), ("document", "application/pdf")])
def test_an_address_that_is_not_fetched_is_told_as_such(address: str, kind: str, media_type: str) -> None:
    """The type is one that the target takes."""
    block = {"type": kind, "media_type": media_type, "source": {"kind": "url", "data": address}}
    text = {"type": "text", "text": "Look."}
    projection = adapt({"messages": [{"role": "user", "content": [block, text]}]}, "anthropic_messages")
    assert address.encode() not in projection.body
    [dropped] = [entry for entry in projection.loss if entry["severity"] == "lost"]
    assert (dropped["code"], dropped["message"]) == ("unsupported_source", "the provider does not fetch this address")


@pytest.mark.parametrize("target", ["openai_chat", "openai", "openai_responses"])
def test_the_model_of_the_request_counts_where_no_other_is_named(target: str) -> None:
    """A request that names a model is held to what is declared of it, at its own provider alone."""
    request = {**REQUEST, "model": "openai:gpt-5", "temperature": 0.5}
    [dropped] = [entry for entry in adapt(request, target).loss if entry["path"] == "/temperature"]
    assert (dropped["op"], dropped["code"], dropped["severity"]) == ("drop", "unsupported_model", "weakened")
    for other in ("openai:gpt-4.1", "anthropic:claude-sonnet-4-6", "openai:of-tomorrow"):
        assert not [
            entry for entry in adapt({**request, "model": other}, target).loss if entry["path"] == "/temperature"
        ]


def test_one_text_stands_for_a_list_of_one_block() -> None:
    """In constructors and in plain data. What is held is the list; JSON text takes nothing else."""
    block = {"type": "text", "text": "hi"}
    result = {"type": "tool_result", "tool_use_id": "tu_1", "content": "5"}
    whole = {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [block]},
            {"role": "tool", "content": [{**result, "content": [{"type": "text", "text": "5"}]}]},
        ],
    }
    short = {
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "hi"}, {"role": "tool", "content": [result]}],
    }
    assert load(short) == whole == Request.of(short).plain()
    assert short["system"] == "Be brief.", "what was given stays as it is"
    assert Request.of({"messages": [{"role": "user", "content": "hi"}]}) == Request(messages=[Message.user("hi")])
    assert content_hash(load(short)["messages"][0]) == content_hash(whole["messages"][0])
    assert load({"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}, "Response")
    with pytest.raises(InvalidRequest, match="must be array"):
        load(json.dumps(short))
    with pytest.raises(InvalidRequest, match="must be array"):
        translate.validated(short)


@pytest.mark.parametrize(
    ("body", "wire"),
    [
        ({**CHAT, "max_completion_tokens": 5}, "openai_chat"),
        ({**CHAT, "max_tokens": 5, "stop_sequences": ["x"]}, "anthropic_messages"),
        ({"contents": [{"parts": [{"text": "hi"}]}]}, "gemini_generate"),
        ({"input": "hi"}, "openai_responses"),
    ],
)
def test_a_body_of_a_wire_is_not_taken_for_a_canonical_request(body: Data, wire: str) -> None:
    """Texts for lists do not make it one: its other members would have no meaning."""
    for given in (body, json.dumps(body)):
        with pytest.raises(InvalidRequest, match=f"looks like a request of {wire}"):
            load(given)


def test_a_body_of_another_wire_is_said_to_be_that() -> None:
    """By the error, where it cannot be read: of a request, and of an answer."""
    with pytest.raises(InvalidWire, match="looks like a request of gemini_generate"):
        read_request({"contents": [{"parts": [{"text": "hi"}]}]}, "anthropic")
    with pytest.raises(InvalidWire, match="looks like a canonical request"):
        read_request(REQUEST, "gemini")
    with pytest.raises(InvalidWire, match="looks like a response of gemini_generate"):
        translate.read_response({"candidates": []}, "anthropic")


CASES = Path(__file__).resolve().parents[1] / "conformance" / "cases"


@pytest.mark.parametrize("kind", ["request", "response"])
def test_a_wire_is_not_mistaken_for_another(kind: str) -> None:
    """Over all cases of the suite: seldom for another, and mostly known for what it is."""
    counts: Counter[str] = Counter()
    for path in CASES.glob(f"*/*/{kind}.wire.json"):
        wire = json.loads(path.read_bytes())
        found = recognised(wire.get("body", wire) if "path" in wire else wire, kind)
        own = path.parts[-3]
        counts["known" if found == [own] else "open" if not found or own in found else "mistaken"] += 1
    assert counts["mistaken"] <= counts.total() * 0.02, counts
    assert counts["known"] >= counts.total() * 0.6, counts


def test_warnings_go_to_a_logger_that_is_silent_by_default() -> None:
    """Without logging set up nothing is printed, as is usual for libraries; the report has it all the same."""
    code = f"import interlingua; print(len(interlingua.adapt({REQUEST!r}, 'openai_chat').loss))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize("wire", ["anthropic_messages", "bedrock_converse", "cohere_chat", "ollama_chat"])
def test_the_place_of_an_error_is_written_once(wire: str) -> None:
    """Before the sentence, which names the member again (spec/8-errors.md#foreign-path)."""
    with pytest.raises(InterlinguaError) as refused:
        read_request(b'{"model": "m", "max_tokens": 1, "messages": "hello"}', wire)
    assert refused.value.path == "/messages"
    written, _ = write_error(refused.value, wire)
    assert b"messages: must be a list" in json.dumps(written["body"])
