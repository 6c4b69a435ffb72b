"""What the cases cannot say of Gemini: the other framing, edits, sessions across providers, and hostile paths."""

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest
from encoding import frames_of
from numbered import texts_of_choices

from interlingua import StreamReader, adapt, adapters, apply, difference, fold, read_request, registry, visible
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InterlinguaError, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import same_answer
from interlingua.translate import project, read_stream, write_stream

CASES = Path(__file__).parents[2] / "conformance" / "cases" / "gemini_generate"

GEMINI = adapters.get("gemini_generate")
HERE = registry.endpoint(adapter="gemini_generate")
SENTINEL = "skip_thought_signature_validator"


def wire(body: dict[str, Any], path: str = "/models/gemini-3-flash-preview:generateContent") -> dict[str, Any]:
    """A request of this wire."""
    return {"method": "POST", "path": path, "headers": {}, "body": body}


def read(body: dict[str, Any], **members: Any) -> dict[str, Any]:
    """A canonical request from a body."""
    return GEMINI.from_wire_request(wire(body, **members), HERE, DERIVED_IDS)[0]


def written(request: dict[str, Any], endpoint: Endpoint = HERE) -> dict[str, Any]:
    """The body for a canonical request, after the loss law was checked."""
    made, loss = GEMINI.to_wire(request, endpoint)
    again, _ = GEMINI.from_wire_request(made, endpoint, DERIVED_IDS)
    assert difference(visible(apply(request, loss)), visible(again)) is None
    return made["body"]


def part_of(body: dict[str, Any], content: int, part: int) -> dict[str, Any]:
    """One part of one content."""
    return body["contents"][content]["parts"][part]


USER = {"role": "user", "parts": [{"text": "Oslo?"}]}
LOOP = {
    "contents": [
        USER,
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "look_up", "args": {"n": 1}}, "thoughtSignature": "c2lnbmVk"},
                {"functionCall": {"name": "look_up", "args": {"n": 2}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "look_up", "response": {"result": "one"}}},
                {"functionResponse": {"name": "look_up", "response": {"result": "two"}}},
            ],
        },
    ]
}

# ---------------------------------------------------------------------------------------------- pairing


def test_two_calls_of_one_function_are_paired_by_position() -> None:
    request = read(LOOP)
    calls = [block["id"] for block in request["messages"][1]["content"]]

    assert len(set(calls)) == 2
    assert [message["content"][0]["tool_use_id"] for message in request["messages"][2:]] == calls


def test_a_result_finds_its_call_by_name_before_position() -> None:
    body = copy.deepcopy(LOOP)
    part_of(body, 1, 1)["functionCall"]["name"] = "other"
    part_of(body, 2, 0)["functionResponse"]["name"] = "other"
    request = read(body)
    first, second = (block["id"] for block in request["messages"][1]["content"])

    assert [message["content"][0]["tool_use_id"] for message in request["messages"][2:]] == [second, first]


def test_a_result_finds_its_call_by_id_before_name() -> None:
    body = copy.deepcopy(LOOP)
    for number, answer in ((0, 1), (1, 0)):
        part_of(body, 1, number)["functionCall"]["id"] = f"id-{number}"
        part_of(body, 2, answer)["functionResponse"]["id"] = f"id-{number}"
    request = read(body)
    first, second = (block["id"] for block in request["messages"][1]["content"])

    assert [message["content"][0]["tool_use_id"] for message in request["messages"][2:]] == [second, first]
    assert written(request) == body


def test_answers_with_calls_of_one_name_give_different_ids() -> None:
    def identity(answer: str) -> str:
        parts = [{"functionCall": {"name": "look_up", "args": {}}}]
        body = {"candidates": [{"content": {"role": "model", "parts": parts}}], "responseId": answer}
        return GEMINI.from_wire_response(body, HERE, DERIVED_IDS)[0]["message"]["content"][0]["id"]

    assert identity("a") != identity("b")
    assert identity("a") == identity("a")


# ---------------------------------------------------------------------------------------------- there and back


def test_signatures_come_back_after_another_provider_had_the_conversation() -> None:
    request = read(LOOP)
    there = project(request, registry.endpoint(adapter="openai_chat", model="gpt-4.1"))
    assert "c2lnbmVk" not in json.dumps(there.wire).decode()

    assert part_of(written(request), 1, 0)["thoughtSignature"] == "c2lnbmVk"


def test_a_conversation_that_was_edited_keeps_the_spelling_of_the_rest() -> None:
    body = {
        "contents": [
            {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo_-_8"}}]}
        ],
        "generation_config": {"temperature": "0.5", "max_output_tokens": 9},
        "tools": {"function_declarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {}}}]},
    }
    request = read(body)
    request["messages"][0]["content"].append({"type": "text", "text": "What is it?"})
    request["temperature"] = 1
    made = written(request)

    assert made["contents"][0]["parts"] == [*body["contents"][0]["parts"], {"text": "What is it?"}]
    assert made["generation_config"] == {"temperature": 1, "max_output_tokens": 9}
    assert made["tools"] == body["tools"]


def test_a_signature_of_another_surface_is_not_replayed() -> None:
    vertex = registry.endpoint(provider="vertex", adapter="gemini_generate", model="gemini-2.5-flash")
    request = {"messages": read(LOOP)["messages"]}

    assert "thoughtSignature" not in part_of(written(request, vertex), 1, 0)


# ---------------------------------------------------------------------------------------------- stand-in signatures


def loop(*signatures: str | None) -> dict[str, Any]:
    """A canonical conversation whose current turn has a step for each signature."""
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Go."}]}]
    for number, signature in enumerate(signatures):
        call: dict[str, Any] = {"type": "tool_use", "id": f"tu_{number:02d}", "name": "f", "input": {}}
        if signature:
            call["provider_state"] = {"adapter": "gemini_generate", "provider": "gemini", "signature": signature}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": [{"type": "text", "text": "ok"}]}
        messages += [{"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
    return {"messages": messages}


@pytest.mark.parametrize("model", ["gemini-3-flash-preview", "gemini-4-argon"])
def test_a_stand_in_only_where_the_real_signature_does_not_exist(model: str) -> None:
    body = written(loop("real", None), registry.endpoint(adapter="gemini_generate", model=model))

    assert [part_of(body, at, 0).get("thoughtSignature") for at in (1, 3)] == ["real", SENTINEL]


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "a-model"])
def test_no_stand_in_for_models_that_do_not_ask_for_one(model: str) -> None:
    body = written(loop(None), registry.endpoint(adapter="gemini_generate", model=model))

    assert "thoughtSignature" not in part_of(body, 1, 0)


# ---------------------------------------------------------------------------------------------- addresses


def test_the_model_and_the_kind_of_answer_stand_in_the_path() -> None:
    request = read({"contents": [USER]}, path="/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse")

    assert request["model"] == "gemini:gemini-2.5-pro"
    assert request["stream"] is True
    assert GEMINI.to_wire(request, HERE)[0]["path"] == "/models/gemini-2.5-pro:streamGenerateContent?alt=sse"


def test_a_stream_without_server_sent_events_is_asked_for_again() -> None:
    request = read({"contents": [USER]}, path="/models/m:streamGenerateContent")

    assert GEMINI.to_wire(request, HERE)[0]["path"] == "/models/m:streamGenerateContent"


def test_a_dialect_may_have_another_path() -> None:
    endpoint = Endpoint("gemini_generate", "x", "m", {"path": "/publishers/google/models/{model}"})

    assert GEMINI.to_wire(loop(), endpoint)[0]["path"] == "/publishers/google/models/m:generateContent"


def test_a_name_with_marks_is_one_step_of_the_path() -> None:
    endpoint = Endpoint("gemini_generate", "x", "meta/llama:latest")
    made = GEMINI.to_wire(loop(), endpoint)[0]

    assert made["path"] == "/models/meta%2Fllama%3Alatest:generateContent"
    assert GEMINI.from_wire_request(made, endpoint, DERIVED_IDS)[0]["model"] == "x:meta/llama:latest"


# ---------------------------------------------------------------------------------------------- one array

CHUNKS = [
    {"candidates": [{"content": {"role": "model", "parts": [{"text": 'a ] } " \\ 🐟'}]}}], "responseId": "r"},
    {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "b"}]}, "finishReason": "STOP"}],
        "responseId": "r",
    },
]
ARRAY = b"[" + b"\n,\r\n".join(json.dumps(chunk) for chunk in CHUNKS) + b"\n]\n"


def events(chunks: list[bytes]) -> list[Any]:
    """The events of a stream in these cuts."""
    reader = StreamReader(HERE)
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.end()


def test_a_stream_of_one_array_is_read_in_any_cuts() -> None:
    whole = events([ARRAY])

    assert fold(whole)["message"]["content"] == [{"type": "text", "text": 'a ] } " \\ 🐟b'}]
    assert events([ARRAY[at : at + 1] for at in range(len(ARRAY))]) == whole
    for first, second in itertools.combinations(range(0, len(ARRAY), 7), 2):
        assert events([ARRAY[:first], ARRAY[first:second], ARRAY[second:]]) == whole


def test_elements_come_out_with_the_bytes_that_complete_them() -> None:
    reader = StreamReader(HERE)
    first = json.dumps(CHUNKS[0])

    assert reader.feed(b" [" + first[:-1]) == []
    assert [event["type"] for event in reader.feed(first[-1:])] == ["message_start", "block_start", "text_delta"]


def test_an_array_that_breaks_off_is_a_broken_stream() -> None:
    assert events([ARRAY[: len(ARRAY) // 2]])[-1]["error"]["category"] == "stream_truncated"


def test_an_error_in_an_array_is_an_error() -> None:
    found = events([b'[{"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}}]'])

    assert [event["type"] for event in found] == ["error"]
    assert found[0]["error"]["category"] == "rate_limit"


# ---------------------------------------------------------------------------------------------- arguments in pieces


def pieces(*values: dict[str, Any]) -> list[Any]:
    """The events of a call whose arguments arrive in these pieces."""
    calls: list[dict[str, Any]] = [{"name": "f", "willContinue": True}]
    calls += [{"partialArgs": [value], "willContinue": True} for value in values]
    frames = b""
    for call in [*calls, {}]:
        body: dict[str, Any] = {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}}]}
        if not call:
            body["candidates"][0]["finishReason"] = "STOP"
        frames += b"data: " + json.dumps(body) + b"\r\n\r\n"
    return events([frames])


def test_quoted_names_in_a_path() -> None:
    found = pieces({"jsonPath": "$['a b'][\"c\"]", "stringValue": "x"}, {"jsonPath": "$.d[0].e", "boolValue": False})

    assert fold(found)["message"]["content"][0]["input"] == {"a b": {"c": "x"}, "d": [{"e": False}]}


def test_a_text_goes_on_only_while_it_said_so() -> None:
    found = pieces(
        {"jsonPath": "$.a", "stringValue": "x", "willContinue": True},
        {"jsonPath": "$.a", "stringValue": "y"},
        {"jsonPath": "$.b", "stringValue": "1"},
        {"jsonPath": "$.b", "stringValue": "2"},
    )

    assert fold(found)["message"]["content"][0]["input"] == {"a": "xy", "b": "2"}


@pytest.mark.parametrize("path", ["$", "$[0]", "$.a[999999999]", "$.a..b", "$.a[", 7, None])
def test_a_path_that_leads_nowhere_is_an_error_event(path: Any) -> None:
    found = pieces({"jsonPath": "$.a[0]", "numberValue": 1}, {"jsonPath": path, "numberValue": 2})

    assert found[-1]["type"] == "error"
    assert found[-1]["error"]["category"] == "invalid_response"


# ---------------------------------------------------------------------------------------------- playing the provider


def test_a_foreign_call_has_an_id_that_leads_back_to_it() -> None:
    call = {"type": "tool_use", "id": "tu_01J9Z3Q4R5S6T7V8W9X0Y1Z2A3", "name": "f", "input": {}}
    response = {"message": {"role": "assistant", "content": [call]}, "finish_reason": "tool_calls"}
    body, _ = GEMINI.to_wire_response(response, HERE)
    again, _ = GEMINI.from_wire_response(body, HERE, DERIVED_IDS)

    assert again["message"]["content"][0]["id"] == call["id"]


def test_the_choice_of_every_candidate_is_streamed() -> None:
    frames = b""
    for number, text, finish in ((0, "a", None), (1, "x", None), (1, "y", "STOP"), (0, "b", "MAX_TOKENS")):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}, "index": number}
        if finish:
            candidate["finishReason"] = finish
        frames += b"data: " + json.dumps({"candidates": [candidate]}) + b"\n\n"
    response = fold(events([frames]))

    assert response["message"]["content"][0]["text"] == "ab"
    assert response["alternatives"][0]["message"]["content"][0]["text"] == "xy"
    assert (response["finish_reason"], response["alternatives"][0]["finish_reason"]) == ("length", "stop")


def streamed(*chunks: dict[str, Any], tail: bytes = b"") -> list[Any]:
    """The events of server-sent chunks."""
    return events([b"".join(b"data: " + json.dumps(chunk) + b"\r\n\r\n" for chunk in chunks) + tail])


def said(parts: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """A chunk with one candidate."""
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **members}]}


CODE = {"executableCode": {"language": "PYTHON", "code": "print(6*7)"}}
RESULT = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}}


def test_the_answer_behind_the_finish_of_a_tool_is_part_of_the_answer() -> None:
    first = {"groundingChunks": [{"retrievedContext": {"text": "six sevens"}}]}
    last = {
        "groundingChunks": [{"retrievedContext": {"text": "forty-two"}}],
        "groundingSupports": [{"segment": {"endIndex": 9}, "groundingChunkIndices": [1]}],
    }
    chunks = [
        said([CODE], finishReason="STOP", groundingMetadata=first),
        said([RESULT]),
        said([{"text": "It is"}]),
        said([{"text": " 42."}], finishReason="STOP", groundingMetadata=last),
    ]
    response = fold(streamed(*chunks))
    whole = said([CODE, RESULT, {"text": "It is 42."}], finishReason="STOP")
    whole["candidates"][0]["groundingMetadata"] = {
        **last,
        "groundingChunks": [*first["groundingChunks"], *last["groundingChunks"]],
    }
    unary, _ = GEMINI.from_wire_response(whole, HERE, DERIVED_IDS)

    assert [block["type"] for block in response["message"]["content"]] == ["opaque", "opaque", "text"]
    assert response["message"]["content"] == unary["message"]["content"]
    assert GEMINI.to_wire_response(response, HERE)[0] == whole
    assert streamed(*chunks[:3])[-1]["error"]["category"] == "stream_truncated"


def test_what_says_nothing_behind_the_finish_changes_nothing() -> None:
    end = said([{"text": "Oslo."}], finishReason="STOP")

    assert streamed(end, said([{"text": ""}]))[-1]["type"] == "message_complete"
    assert streamed(end, tail=b"data: [DONE]\n\n") == streamed(end)


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"contents": 7},
        {"contents": [7]},
        {"contents": [{"parts": 7}]},
        {"contents": [{"parts": [7]}]},
        {"contents": [{"role": 7, "parts": []}]},
        {"contents": [], "systemInstruction": 7},
    ],
)
def test_a_body_that_cannot_be_read_is_named(body: dict[str, Any]) -> None:
    with pytest.raises(InterlinguaError) as caught:
        read(body)

    assert caught.value.path is not None


def test_two_calls_of_one_id_are_refused() -> None:
    request = loop(None)
    request["messages"][1]["content"] *= 2
    with pytest.raises(InvalidRequest):
        GEMINI.to_wire(request, HERE)


# ---------------------------------------------------------------------------------------------- spellings

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
FUNCTION = {"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}
TOOLS = {"tools": [{"functionDeclarations": [FUNCTION]}]}


@pytest.mark.parametrize(
    "members",
    [
        {"generationConfig": {"temperature": 0.5, "topK": 4, "seed": -1, "maxOutputTokens": 1, "stopSequences": ["a"]}},
        {"generationConfig": {"candidateCount": 1, "responseLogprobs": True, "logprobs": 0, "imageConfig": {}}},
        {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}},
        {"generationConfig": {"responseMimeType": "application/json"}},
        {"generationConfig": {"responseJsonSchema": SCHEMA}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH", "includeThoughts": True}}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
        {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}, **TOOLS},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}, **TOOLS},
        {
            "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, "x": 1},
            **TOOLS,
        },
        {"tools": [{"functionDeclarations": [FUNCTION, {"name": "g"}]}, {"googleSearch": {}}]},
        {"serviceTier": "flex", "safetySettings": [], "cachedContent": "", "store": False},
    ],
)
def test_the_plain_spelling_is_not_noted(members: dict[str, Any]) -> None:
    body = {"contents": [USER], **members}
    request = read(body)

    assert "members" not in request["provider_state"].get("encoding", {})
    assert written(request) == body


@pytest.mark.parametrize(
    "members",
    [
        {"generation_config": {"temperature": 0.5}},
        {"generationConfig": {"max_output_tokens": 5}},
        {"generationConfig": {"temperature": "0.5"}},
        {"generationConfig": {"seed": "7", "topP": None}},
        {"generationConfig": {"stopSequences": []}},
        {"generationConfig": {}},
        {"generationConfig": {"responseMimeType": "text/plain"}},
        {"generationConfig": {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"}}},
        {"generationConfig": {"thinkingConfig": {}}},
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}},
        {"generationConfig": {"thinkingConfig": {"thinking_budget": 5, "includeThoughts": None}}},
        {"toolConfig": {}},
        {"toolConfig": {"functionCallingConfig": {"mode": "auto"}}},
        {"toolConfig": {"functionCallingConfig": {"mode": 2}}},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": []}}},
        {"toolConfig": {"function_calling_config": {"mode": "ANY"}}},
        {"tools": {"functionDeclarations": [FUNCTION]}},
        {"tools": [{"functionDeclarations": FUNCTION}]},
        {"tools": [{"functionDeclarations": [FUNCTION], "codeExecution": {}}]},
        {"tools": [{"functionDeclarations": [FUNCTION]}, {"functionDeclarations": [{"name": "g"}]}]},
        {"tools": [{"functionDeclarations": [{"name": "g", "parameters": {"type": "OBJECT"}}]}]},
        {"tools": [{"functionDeclarations": [{"name": "g", "description": None}]}]},
        {"tools": [{"functionDeclarations": []}]},
        {"labels": {}},
        {"systemInstruction": None, "safetySettings": None},
    ],
)
def test_another_spelling_is_noted_and_goes_back(members: dict[str, Any]) -> None:
    body = {"contents": [USER], **members}
    request = read(body)

    states = [request["provider_state"], *(tool.get("provider_state", {}) for tool in request.get("tools", ()))]
    noted = [
        state["encoding"].keys() & {"members", "snake", "came", "tools"} for state in states if "encoding" in state
    ]
    assert any(noted) or "tools" in request["options"]["gemini_generate"]
    assert written(request) == body


def test_what_is_not_even_legal_goes_back_all_the_same() -> None:
    body: dict[str, Any] = {
        "systemInstruction": {"parts": []},
        "contents": [USER],
        "tools": [
            {"functionDeclarations": [FUNCTION]},
            {"googleSearch": {}},
            {"functionDeclarations": [{"name": "g"}]},
        ],
        "generationConfig": {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING"}, "logprobs": "x"},
    }

    assert written(read(body)) == body


# ---------------------------------------------------------------------------------------------- sources


def test_a_broken_stream_of_an_own_answer_keeps_its_last_text() -> None:
    signed = {"type": "text", "text": "Yes.", "provider_state": HERE.state(signature="c2ln")}
    told: list[dict[str, Any]] = [
        {"type": "message_start"},
        {"type": "block_start", "index": 0, "block": {**signed, "text": ""}},
        {"type": "block_stop", "index": 0, "block": signed},
        {"type": "error", "error": {"category": "timeout", "message": "late", "retryable": True}},
    ]
    frames = [json.loads(frame.data) for frame in frames_of(GEMINI, told, HERE)]

    assert frames[0]["candidates"][0]["content"]["parts"] == [{"text": "Yes.", "thoughtSignature": "c2ln"}]
    assert frames[1]["error"]["status"] == "DEADLINE_EXCEEDED"


# ---------------------------------------------------------------------------------------------- the model in the body


def test_a_model_in_the_body_goes_back_unless_another_is_asked() -> None:
    body = {"contents": [USER], "model": "models/gemini-3-flash"}
    request = read(body)

    assert written(request) == body
    assert written(request, registry.endpoint(adapter="gemini_generate", model="gemini-3-flash-preview")) == body
    assert "model" not in written({**request, "model": "gemini:other"})
    assert "model" not in written(request, registry.endpoint(adapter="gemini_generate", model="other"))


# ---------------------------------------------------------------------------------------------- sources of answers

GROUNDED = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"text": "Hm.", "thought": True}, {"text": "Rain."}, {"text": "Sun."}],
            },
            "finishReason": "STOP",
            "index": 0,
            "groundingMetadata": {
                "groundingChunks": [{"web": {"uri": "https://example.com/a", "title": "A"}}],
                "groundingSupports": [
                    {"segment": {"partIndex": 1, "endIndex": 4, "text": "Rain"}, "groundingChunkIndices": [0]},
                    {"segment": {"partIndex": 2, "endIndex": 3, "text": "Sun"}, "groundingChunkIndices": [0]},
                ],
            },
        }
    ]
}


def forget_origin(content: list[dict[str, Any]]) -> None:
    """The sources are the same, but do not say any more whose they are."""
    for block in content[1:]:
        del block["citations"][0]["provider_state"]


def forget_reasoning(content: list[dict[str, Any]]) -> None:
    """Reasoning of nobody is not shown as that of this provider with a signature; the parts behind it count on."""
    del content[0]["provider_state"]


def double(content: list[dict[str, Any]]) -> None:
    """The last text stands there twice, and the grounding speaks of one."""
    content.append(copy.deepcopy(content[-1]))
    del content[-1]["citations"][0]["provider_state"]


def add_source(content: list[dict[str, Any]]) -> None:
    """A source that the grounding does not know."""
    content[1]["citations"].append({"type": "url_citation", "url": "https://example.com/b"})


@pytest.mark.parametrize("change", [forget_origin, forget_reasoning, double, add_source])
def test_sources_are_those_that_the_grounding_tells_of_the_answer_as_it_is_written(change: Any) -> None:
    answer, _ = GEMINI.from_wire_response(copy.deepcopy(GROUNDED), HERE, DERIVED_IDS)
    change(answer["message"]["content"])
    body, loss = GEMINI.to_wire_response(answer, HERE)
    again, _ = GEMINI.from_wire_response(body, HERE, DERIVED_IDS)

    assert same_answer(apply(answer, loss), again) is None


# ---------------------------------------------------------------------------------------------- edited requests


def text(words: str) -> dict[str, Any]:
    """A canonical turn of the user."""
    return {"role": "user", "content": [{"type": "text", "text": words}]}


def unanswered(*answers: dict[str, Any]) -> dict[str, Any]:
    """A body with two calls, and what the user said then."""
    return {**LOOP, "contents": [*LOOP["contents"][:2], {"role": "user", "parts": list(answers)}, USER]}


@pytest.mark.parametrize("said", [{"text": "Never mind."}, LOOP["contents"][2]["parts"][0]])
def test_a_turn_whose_calls_were_not_all_answered_goes_back_and_stays_so_beside_an_edit(said: dict[str, Any]) -> None:
    body = unanswered(said)
    request = read(body)
    assert written(request) == body

    request["messages"][0]["content"][0]["text"] = "Rome?"
    assert written(request)["contents"][1:] == body["contents"][1:]


@pytest.mark.parametrize("answers", [0, 1])
def test_a_turn_whose_calls_were_not_all_answered_is_another_one_with_an_edit_in_it(answers: int) -> None:
    request = read(unanswered({"text": "Never mind."}))
    call = {"type": "tool_use", "id": "tu_9", "name": "look_up", "input": {}}
    result = {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_9", "content": []}]}
    request["messages"][2:2] = [{"role": "assistant", "content": [call]}, *[result] * answers]
    with pytest.raises(InvalidRequest):
        GEMINI.to_wire(request, HERE)


def test_a_result_that_came_without_its_call_is_refused_once_it_stands_elsewhere() -> None:
    body = {"contents": [USER, LOOP["contents"][2], {"role": "model", "parts": [{"text": "So."}]}, USER]}
    request = read(body)
    assert written(request) == body

    messages = request["messages"]
    messages.append(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_9", "name": "look_up", "input": {}}]}
    )
    messages.append(messages.pop(1))
    with pytest.raises(InvalidRequest):
        GEMINI.to_wire(request, HERE)


def test_a_result_that_came_without_its_call_keeps_its_name_beside_an_edit() -> None:
    body = {"contents": [USER, LOOP["contents"][2], {"role": "model", "parts": [{"text": "So."}]}, USER]}
    request = read(body)
    request["messages"][1]["content"][0]["content"][0]["text"] = "three"

    assert part_of(written(request), 1, 0) == {"functionResponse": {"name": "look_up", "response": {"result": "three"}}}


@pytest.mark.parametrize("named", [{"name": "other"}, {"name": "look_up", "id": "x"}])
def test_a_result_is_called_as_it_came_while_it_is_read_as_that_of_its_call(named: dict[str, Any]) -> None:
    """It is read so by its place; a call that an edit puts before its own would get it."""
    body = copy.deepcopy(LOOP)
    del body["contents"][1]["parts"][1], body["contents"][2]["parts"][1]
    part_of(body, 2, 0)["functionResponse"] |= named
    request = read(body)
    assert written(request) == body

    call = {"type": "tool_use", "id": "tu_9", "name": "other", "input": {}}
    result = {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_9", "content": []}]}
    request["messages"][1]["content"].insert(0, call)
    request["messages"].insert(2, result)
    edited = written(request)
    assert [part["functionResponse"]["name"] for part in edited["contents"][2]["parts"]] == ["other", "look_up"]


@pytest.mark.parametrize("role", [{}, {"role": "user"}, {"role": None}])
def test_a_member_of_a_content_that_nobody_knows_is_lost_elsewhere(role: dict[str, Any]) -> None:
    body = {"contents": [{"parts": [{"text": "Oslo?"}], "mood": "calm", **role}]}
    request = read(body)
    assert written(request) == body

    there = project(request, registry.endpoint(adapter="openai_chat", model="gpt-4.1"))
    assert [entry["path"] for entry in there.loss] == ["/messages/0/provider_state/fields/mood"]


def test_a_stand_in_signs_the_call_and_no_item_before_it() -> None:
    odd = {"functionCall": {"name": "f", "args": [1]}}
    request = read({"contents": [USER, {"role": "model", "parts": [odd]}]})
    request["messages"][1]["content"].append({"type": "tool_use", "id": "tu_9", "name": "f", "input": {}})

    assert written(request)["contents"][1]["parts"] == [
        odd,
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": SENTINEL},
    ]


def test_an_image_in_other_letters_is_kept_once_and_goes_back_beside_an_edit() -> None:
    data = "_-_8" * 1000
    body = {
        "contents": [
            {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": data}}, {"text": "What?"}]},
        ]
    }
    request = read(body)
    assert len(json.dumps(request)) < len(data) + 2000
    assert written(request) == body

    request["messages"][0]["content"][1]["text"] = "Where?"
    assert part_of(written(request), 0, 0) == part_of(body, 0, 0)


@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "a", "thought": False}],
        [{"text": "a"}, {"text": ""}],
        [{"function_call": {"name": "f"}, "thought_signature": "c2ln"}],
        [{"text": "a", "inlineData": None}, {"inline_data": {"mime_type": "image/gif", "data": "R0lGOD"}}],
    ],
)
def test_what_an_answer_says_goes_back_as_it_came_in_the_next_request(parts: list[dict[str, Any]]) -> None:
    body = {"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}]}
    answer, _ = GEMINI.from_wire_response(copy.deepcopy(body), HERE, DERIVED_IDS)

    assert GEMINI.to_wire_response(answer, HERE) == (body, [])
    assert written({"messages": [text("Oslo?"), answer["message"]]})["contents"][1] == body["candidates"][0]["content"]


def test_a_late_result_beside_media_that_travel_behind_results_is_refused_where_they_do() -> None:
    def result(identity: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {
            "role": "tool",
            "content": [{"type": "tool_result", "tool_use_id": identity, "content": list(content)}],
            "metadata": {"parent_tool_use_id": identity},
        }

    image = {"type": "image", "source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"}
    calls = [{"type": "tool_use", "id": f"tu_{number}", "name": "look_up", "input": {}} for number in (1, 2)]
    said = {"role": "assistant", "content": [{"type": "text", "text": "Wait."}]}
    request: dict[str, Any] = {"messages": [{"role": "assistant", "content": calls}, result("tu_2"), said]}
    text_alone = registry.endpoint(adapter="gemini_generate", model="gemini-2.5-flash")

    late = {"messages": [*request["messages"], result("tu_1")]}
    written(late)
    written(late, text_alone)
    late = {"messages": [*request["messages"], result("tu_1", image)]}
    written(late)
    with pytest.raises(CannotAdapt) as caught:
        GEMINI.to_wire(late, text_alone)
    assert caught.value.path == "/messages/3"


def test_a_call_that_came_unsigned_stays_so_and_one_that_an_edit_made_does_not() -> None:
    body = copy.deepcopy(LOOP)
    del part_of(body, 1, 0)["thoughtSignature"]
    request = read(body)
    assert written(request) == body

    request["messages"] += [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_9", "name": "look_up", "input": {}}]},
        {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_9", "content": []}]},
    ]
    again = written(request)
    assert again["contents"][:3] == body["contents"]
    assert part_of(again, 3, 0)["thoughtSignature"] == SENTINEL


def test_what_is_known_of_a_model_counts_once_the_request_goes_to_another() -> None:
    body = copy.deepcopy(LOOP)
    del part_of(body, 1, 0)["thoughtSignature"]
    body["generationConfig"] = {"maxOutputTokens": 9000, "thinkingConfig": {"thinkingBudget": 1024}}
    request = read(body, path="/models/gemini-2.5-flash:generateContent")
    same = Endpoint("gemini_generate", "gemini", "gemini-2.5-flash", capabilities={"max_output_tokens": 8192})
    other = Endpoint("gemini_generate", "gemini", "gemini-3-flash-preview", capabilities={"max_output_tokens": 8192})

    assert written(request, same) == body
    changed = written(request, other)
    assert part_of(changed, 1, 0)["thoughtSignature"] == SENTINEL
    assert changed["generationConfig"]["maxOutputTokens"] == 8192


def test_what_a_model_changes_is_reported_beside_a_member_that_said_nothing() -> None:
    body = {
        "contents": [USER],
        "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": None}},
    }
    request = read(body)
    budgets = Endpoint("gemini_generate", "gemini", "gemini-2.5-flash", capabilities={"thinking_levels": False})

    assert written(request) == body
    assert written(request, budgets)["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 1024
    assert {entry["path"] for entry in GEMINI.to_wire(request, budgets)[1]} == {
        "/reasoning/effort",
        "/reasoning/budget_tokens",
    }


@pytest.mark.parametrize(
    "members",
    [
        {"generation_config": {"temperature": 0.5, "topP": None, "top_p": 0.25}},
        {"systemInstruction": None, "system_instruction": {"parts": [{"text": "a"}]}},
        {"systemInstruction": {"parts": [{"text": "a"}]}, "system_instruction": None},
        {"tool_config": {"function_calling_config": {"mode": "any", "allowed_function_names": ["f"]}}, **TOOLS},
    ],
)
def test_names_stay_in_their_case_beside_an_edit(members: dict[str, Any]) -> None:
    body = {"contents": [USER], **members}
    request = read(body)
    assert written(request) == body

    request["temperature"] = 1
    config = members.get("generation_config")
    name = "generation_config" if config else "generationConfig"
    assert written(request) == {**body, name: {**(config or {}), "temperature": 1}}


def test_what_is_put_back_does_not_change_the_request() -> None:
    body = {
        "contents": [USER],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "streamFunctionCallArguments": True}},
    }
    request = read(body)
    before = copy.deepcopy(request)

    assert written(request) == body
    assert request == before


@pytest.mark.parametrize("empty", [{"parts": []}, {"parts": None}, {}])
@pytest.mark.parametrize("role", ["user", "model"])
def test_a_content_without_parts_is_kept_in_its_role_alone(empty: dict[str, Any], role: str) -> None:
    body = {"contents": [USER, {"role": role, **empty}, USER]}
    request = read(body)
    assert written(request) == body

    request["messages"][1]["role"] = "user"
    assert written(request)["contents"][1].get("parts", "absent") == (
        [{"text": "(empty)"}] if role == "model" else empty.get("parts", "absent")
    )


def test_an_item_goes_back_where_it_was_read_and_nowhere_else() -> None:
    odd = {"functionCall": {"name": "f", "args": [1]}}
    body = {"contents": [USER, {"role": "model", "parts": [{"text": "b"}, odd]}, USER]}
    request = read(body)
    assert written(request) == body

    request["messages"][2]["content"].append(request["messages"][1]["content"].pop())
    assert written(request)["contents"][1:] == [{"role": "model", "parts": [{"text": "b"}]}, USER]


def test_an_item_that_would_be_something_else_in_its_place_is_left_out() -> None:
    body = {"contents": [USER, {"parts": [{"text": "a"}, {"functionCall": {"name": "f", "args": {}}}]}, USER]}
    request = read(body)
    assert written(request) == body

    request["messages"][1]["role"] = "assistant"
    assert written(request)["contents"][1] == {"role": "model", "parts": [{"text": "a"}]}

    said = {
        "type": "opaque",
        "adapter": "gemini_generate",
        "provider": "gemini",
        "kind": "text",
        "value": {"text": "b"},
    }
    assert written({"messages": [text("a"), {"role": "user", "content": [said, *text("c")["content"]]}]}) == {
        "contents": [{"role": "user", "parts": [{"text": words}]} for words in ("a", "c")]
    }


def test_a_choice_among_tools_that_could_not_be_read_goes_with_them() -> None:
    body = {
        "contents": [USER],
        "tools": [{"functionDeclarations": [FUNCTION, {"name": 7}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    }
    request = read(body)
    assert written(request) == body

    del request["options"]
    assert written(request) == {"contents": [USER]}


def test_the_type_of_an_answer_goes_with_its_schema_whoever_asks() -> None:
    wish = {"responseMimeType": "application/json", "responseJsonSchema": True}
    request = {"messages": [text("a")], "options": {"gemini_generate": {"generationConfig": wish}}}

    assert written(request)["generationConfig"] == wish


def test_members_of_instructions_that_an_edit_joined_are_reported() -> None:
    request = read({"systemInstruction": {"parts": [{"text": "a"}], "x": 1}, "contents": [USER]})
    request["messages"].insert(0, {"role": "system", "content": [{"type": "text", "text": "b"}]})

    assert written(request)["systemInstruction"] == {"parts": [{"text": "b"}, {"text": "a"}]}


def test_tools_of_one_name_go_back_and_are_refused_when_an_edit_made_them() -> None:
    body = {"contents": [USER], "tools": [{"functionDeclarations": [FUNCTION, FUNCTION]}]}
    request = read(body)
    assert written(request) == body
    assert len(written({**request, "messages": [text("Rome?")]})["tools"][0]["functionDeclarations"]) == 2

    one = read({**body, "tools": [{"functionDeclarations": [FUNCTION]}]})
    with pytest.raises(InvalidRequest, match="one name"):
        GEMINI.to_wire({**one, "tools": one["tools"] * 2}, HERE)


@pytest.mark.parametrize(
    "candidate",
    [
        {"content": {"role": "model", "parts": [{"text": "Hi."}]}, "index": False},
        {"content": {"role": "model", "parts": [{"text": "Hi."}]}, "index": "0"},
        {"content": [], "index": 0},
        {"content": [{"text": "Hi."}], "index": 0},
    ],
)
def test_an_odd_candidate_comes_back_as_it_was(candidate: dict[str, Any]) -> None:
    """An index that is no number, and contents that are a list of parts."""
    body = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}}
    endpoint = registry.endpoint(adapter="gemini_generate")
    adapter = adapters.get("gemini_generate")
    wire, _ = adapter.to_wire_response(adapter.from_wire_response(body, endpoint, DERIVED_IDS)[0], endpoint)
    assert difference(body, wire) is None


def test_a_cache_beside_members_that_are_null_gives_way_to_what_an_edit_adds() -> None:
    """Null is nothing that stood beside it."""
    body = {"contents": [USER], "cachedContent": "cachedContents/x", "systemInstruction": None, "toolConfig": None}
    request = read(body)
    assert written(request) == body
    edited = {**request, "messages": [{"role": "system", "content": [{"type": "text", "text": "b"}]}, text("Rome?")]}
    assert "cachedContent" not in written(edited)


def chunks_of(*candidates: tuple[int, str, str | None]) -> list[bytes]:
    """A stream that tells a piece of one candidate in each chunk: its index, the text, and why it ended."""
    made: list[bytes] = []
    for index, text, finish in candidates:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}, "index": index}
        if finish is not None:
            candidate["finishReason"] = finish
        made.append(b"data: " + json.dumps({"candidates": [candidate], "responseId": "r"}) + b"\r\n\r\n")
    return made


GAPS = {
    "first and third": [(0, "Al", None), (2, "Bo", None), (0, "ice", "STOP"), (2, "ris", "MAX_TOKENS")],
    "second alone": [(1, "Al", None), (1, "ice", "STOP")],
    "fourth before second": [(3, "Bo", None), (1, "Al", None), (3, "ris", "MAX_TOKENS"), (1, "ice", "STOP")],
    "second before first": [(1, "Boris", "MAX_TOKENS"), (0, "Al", None), (0, "ice", "STOP")],
}


@pytest.mark.parametrize("told", GAPS.values(), ids=GAPS)
def test_candidates_are_numbered_by_their_order_though_indices_have_gaps(
    told: list[tuple[int, str, str | None]],
) -> None:
    events = list(read_stream(chunks_of(*told), "gemini_generate"))
    response = fold(events)
    said = texts_of_choices(events)
    assert said == ["Alice", "Boris"][: len(said)]
    again = fold(read_stream(list(write_stream(events, "gemini_generate")), "gemini_generate"))
    assert same_answer(response, again) is None


@pytest.mark.parametrize("said", ["Nothing.", "[1]", [1, 2], ["a", "b"], 7, True])
def test_a_result_that_is_no_object_is_what_the_tool_said(said: Any) -> None:
    """The provider wants an object; whoever sends something else gets it back, and other wires get the result."""
    body = copy.deepcopy(LOOP)
    body["contents"][2]["parts"][0]["functionResponse"]["response"] = said
    request = read(body)
    result = request["messages"][2]["content"][0]
    assert result["content"] == [{"type": "text", "text": said if isinstance(said, str) else json.dumps(said).decode()}]
    assert written(request)["contents"] == body["contents"]
    for text in ('{"a": 1}', "null", '"x"', "[3]"):
        result["content"][0]["text"] = text
        written(request)


@pytest.mark.parametrize("target", [name for name in adapters.names() if name != "gemini_generate"])
def test_what_stands_in_for_a_signature_is_no_loss_of_one(target: str) -> None:
    wire = json.loads((CASES / "signature-stand-in-read" / "request.wire.json").read_bytes())

    told = [entry for entry in adapt(wire, target, source="gemini_generate").loss if entry["code"] == "foreign_state"]

    assert [entry["path"].rpartition("/")[2] for entry in told] == ["signature", "signature"]
    assert {entry["severity"] for entry in told} == {"representation"}


def test_an_edited_reason_of_a_blocked_answer_is_told() -> None:
    body = json.loads((CASES / "answer-blocked" / "response.wire.json").read_bytes())
    endpoint = Endpoint("gemini_generate", "gemini")
    response, _ = adapters.get("gemini_generate").from_wire_response(body, endpoint, DERIVED_IDS)
    response["finish_reason"] = "other"

    written, loss = adapters.get("gemini_generate").to_wire_response(response, endpoint)

    again, _ = adapters.get("gemini_generate").from_wire_response(written, endpoint, DERIVED_IDS)
    assert same_answer(apply(response, loss), again) is None


@pytest.mark.parametrize(
    "name", ["gemini-2.5-flash", "openai:gpt-5.4", "openrouter:openai/gpt-5.4", "llama3.1:8b", "tunedModels/a-b"]
)
@pytest.mark.parametrize("operation", [":generateContent", ":streamGenerateContent?alt=sse", ":countTokens"])
def test_the_name_of_a_model_may_have_colons_and_slashes(name: str, operation: str) -> None:
    """A gateway lists models of all providers by such names; the operation stands after the last colon."""
    prefix = "" if name.startswith("tunedModels/") else "models/"
    body = {"contents": [{"parts": [{"text": "Hi"}]}]}
    wire = {"method": "POST", "path": f"/v1beta/{prefix}{name}{operation}", "headers": {}, "body": body}
    request, _ = read_request(wire, "gemini_generate")
    assert request.get("model") == f"gemini:{name}"
    assert bool(request.get("stream")) == ("stream" in operation)
