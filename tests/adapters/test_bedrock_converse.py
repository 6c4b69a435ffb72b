"""What the cases of bedrock_converse cannot say: malformed parts, edited conversations, capabilities, damaged streams."""

import copy
import json
from typing import Any

import pytest
from encoding import frames_of

from interlingua import StreamReader, registry
from interlingua.adapters import bedrock_converse as adapter
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidAnswer, InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import apply, difference, visible
from interlingua.wire import eventstream
from interlingua.wire.eventstream import DAMAGED, Frame

Data = dict[str, Any]
HERE = Endpoint("bedrock_converse", "bedrock", "model-x")
CALL: Data = {"toolUse": {"toolUseId": "tooluse_A", "name": "look_up", "input": {"q": "x"}}}
RESULT: Data = {"toolResult": {"toolUseId": "tooluse_A", "content": [{"text": "found"}]}}
TOOLS: Data = {"tools": [{"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}}}]}


def text(words: str) -> Data:
    return {"type": "text", "text": words}


def user(*blocks: Data) -> Data:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Data) -> Data:
    return {"role": "assistant", "content": list(blocks)}


def with_capabilities(**capabilities: Any) -> Endpoint:
    return Endpoint("bedrock_converse", "bedrock", "model-x", capabilities=capabilities)


def read(body: Data, endpoint: Endpoint = HERE) -> Data:
    request, loss = adapter.from_wire_request({"path": "", "body": body}, endpoint, DERIVED_IDS)
    assert loss == []
    return request


def write(request: Data, endpoint: Endpoint = HERE) -> tuple[Data, list[Data]]:
    """The body and the report, which obeys the loss law."""
    before = copy.deepcopy(request)
    wire, loss = adapter.to_wire(request, endpoint)
    assert request == before, "a request is not changed by writing it"
    again, _ = adapter.from_wire_request(wire, endpoint, DERIVED_IDS)
    assert difference(visible(apply(request, loss)), visible(again)) is None
    return wire["body"], loss


def codes(loss: list[Data]) -> list[str]:
    return [entry["code"] for entry in loss]


# ---------------------------------------------------------------------------------------------- malformed parts


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": 7}, "/messages"),
        ({"messages": ["hi"]}, "/messages/0"),
        ({"messages": [{"role": "tool", "content": []}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": "hi"}]}, "/messages/0/content"),
        ({"messages": [{"role": "user", "content": [{"text": 7}]}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": [{"text": "a"}, 7]}]}, "/messages/0/content/1"),
        ({"messages": [{"role": "user", "content": ["a", {"text": "a"}]}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "/messages/0/content/0"),
        ({"messages": [{"role": "user", "content": [{"toolResult": {"content": []}}]}]}, "/messages/0/content/0"),
        (
            {"messages": [user({"toolResult": {"toolUseId": "a", "content": [{"text": "a"}, {"text": 7}]}})]},
            "/messages/0/content/0/toolResult/content/1",
        ),
        ({"messages": [{"role": "assistant", "content": [{"toolUse": {"toolUseId": "a"}}]}]}, "/messages/0/content/0"),
        ({"messages": [], "system": "hi"}, "/system"),
        ({"messages": [], "toolConfig": {"tools": [{}]}}, "/toolConfig/tools/0"),
    ],
)
def test_a_malformed_request_is_named_where_it_is_malformed(body: Data, path: str) -> None:
    with pytest.raises(InvalidWire) as refusal:
        read(body)
    assert refusal.value.path == path


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": {"message": {"role": "assistant"}}},
        {"output": {"message": {"role": "user", "content": []}}},
        {"output": {"message": {"content": [{"text": None}]}}},
        {"output": {"message": {"content": []}}, "stopReason": 7},
    ],
)
def test_a_malformed_answer_is_a_typed_error(body: Data) -> None:
    with pytest.raises(InvalidAnswer):
        adapter.from_wire_response(body, HERE, DERIVED_IDS)


# ---------------------------------------------------------------------------------------------- edited conversations


def test_a_conversation_that_goes_on_keeps_what_came_from_the_wire() -> None:
    wire = {
        "messages": [
            {"role": "user", "content": [{"guardContent": {"text": {"text": "Look it up.", "qualifiers": ["query"]}}}]},
            {"role": "assistant", "content": [{"text": " "}, CALL]},
        ],
        "toolConfig": TOOLS,
    }
    request = read(wire)
    call = request["messages"][1]["content"][1]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": [text("found")]}
    edited = {**request, "messages": [*request["messages"], {"role": "tool", "content": [result]}]}
    del edited["provider_state"]  # the conversation is a new one; its parts are still known

    body, loss = write(edited)

    assert loss == []
    assert body["messages"] == [*wire["messages"], {"role": "user", "content": [RESULT]}]


def test_a_conversation_that_was_read_beginning_with_the_model_stays_so() -> None:
    said, asked = {"role": "assistant", "content": [{"text": "Hello."}]}, {"role": "user", "content": [{"text": "Hi."}]}
    request = read({"messages": [said, asked, said]})
    request["messages"][0]["content"] = [text("Good day.")]
    first = {"role": "assistant", "content": [{"text": "Good day."}]}
    assert write(request) == ({"messages": [first, asked, said]}, [])
    # an edit that makes it begin with another message is repaired
    request["messages"] = request["messages"][2:] + request["messages"][1:2]
    body, loss = write(request)
    assert body["messages"][0] == {"role": "user", "content": [{"text": "(empty)"}]}
    assert [(entry["op"], entry["path"], entry["code"]) for entry in loss] == [
        ("replace", "/filler", "filler"),
        ("move", "/filler", "filler"),
    ]


def test_a_result_that_was_edited_is_no_value_any_more() -> None:
    result = {"toolResult": {"toolUseId": "tooluse_A", "content": [{"json": {"a": 1}}]}}
    request = read(
        {
            "messages": [
                {"role": "user", "content": [{"text": "Go."}]},
                {"role": "assistant", "content": [CALL]},
                {"role": "user", "content": [result]},
            ],
            "toolConfig": TOOLS,
        }
    )
    part = request["messages"][2]["content"][0]["content"][0]
    assert part["text"] == '{"a":1}'

    part["text"] = '{ "a": 2 }'
    body, _ = write(request)

    assert body["messages"][2]["content"][0]["toolResult"]["content"] == [{"text": '{ "a": 2 }'}]


def test_a_cache_mark_with_more_than_a_lifetime_stays_a_block() -> None:
    point = {"cachePoint": {"type": "default", "x_scope": "all"}}
    wire = {"messages": [{"role": "user", "content": [{"text": "a"}, point, {"cachePoint": {"type": "default"}}]}]}

    request = read(wire)

    kinds = [(block["type"], block.get("cache")) for block in request["messages"][0]["content"]]
    assert kinds == [("text", None), ("opaque", {})]
    assert write(request)[0] == wire


def test_a_mark_in_the_place_of_tools_goes_back_beside_calls() -> None:
    turns = [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [RESULT]},
    ]
    wire = {"messages": turns, "toolConfig": {"tools": [{"cachePoint": {"type": "default"}}]}}
    request = read(wire)

    assert write(request) == (wire, [])
    request["messages"][0]["content"][0]["text"] = "Go on."
    body, loss = write(request)
    assert (body["toolConfig"], loss) == (wire["toolConfig"], [])
    body, loss = write(request, Endpoint("bedrock_converse", "another", "model-x"))
    assert codes(loss)[-1] == "required_default"
    assert body["toolConfig"]["tools"][0]["toolSpec"]["name"] == "look_up"


def test_tools_behind_a_mark_that_is_taken_back_are_put_back_in_their_places() -> None:
    mark: Data = {"cachePoint": {"type": "default"}}
    tools = [{"toolSpec": {**TOOLS["tools"][0]["toolSpec"], "name": name, "x_new": None}} for name in ("a", "b", "c")]
    offered = [tools[0], mark, tools[1], mark, tools[2], mark]
    wire = {
        "messages": [{"role": "user", "content": [{"text": "1."}, mark, {"text": "2."}, mark, {"text": "3."}, mark]}],
        "toolConfig": {"tools": offered},
    }
    request = read(wire)

    assert write(request) == (wire, [])
    request["messages"][0]["content"][0]["text"] = "1!"
    assert write(request)[0]["toolConfig"] == wire["toolConfig"]
    request["tools"][0]["description"] = "Looks up."
    names = [tool["toolSpec"]["name"] for tool in write(request)[0]["toolConfig"]["tools"] if "toolSpec" in tool]
    assert names == ["a", "b", "c"]
    request["messages"][0]["content"].append({**text("4."), "cache": {}})
    names = [tool["toolSpec"]["name"] for tool in write(request)[0]["toolConfig"]["tools"] if "toolSpec" in tool]
    assert names == ["a", "b", "c"]


# ---------------------------------------------------------------------------------------------- capabilities


def test_an_answer_that_was_begun_is_refused_where_the_model_does_not_continue_it() -> None:
    with pytest.raises(CannotAdapt) as refusal:
        adapter.to_wire({"messages": [user(text("a")), assistant(text("b"))]}, with_capabilities(prefill=False))
    assert refusal.value.path == "/messages/1"


def test_a_conversation_with_calls_is_refused_where_the_model_takes_no_tools() -> None:
    call = {"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "tu_1", "content": [text("b")]}
    turns = [user(text("a")), assistant(text("c"), call), {"role": "tool", "content": [result]}]
    with pytest.raises(CannotAdapt) as refusal:
        adapter.to_wire({"messages": turns, "tools": [{"name": "f"}]}, with_capabilities(supports_tools=False))
    assert refusal.value.path == "/messages/1/content/1"


def test_native_instructions_stand_where_the_model_takes_them() -> None:
    request = {
        "messages": [user(text("a")), {"role": "system", "content": [text("b")]}, assistant(text("c")), user(text("d"))]
    }

    body, loss = write(request, with_capabilities(system_in_messages=True))

    assert [message["role"] for message in body["messages"]] == ["user", "system", "assistant", "user"]
    assert loss == []


def test_marks_for_the_cache_only_where_the_model_keeps_them() -> None:
    request = {"messages": [user({**text("a"), "cache": {}})], "cache": {}}

    body, loss = write(request, with_capabilities(supports_prompt_caching=False))

    assert body["messages"] == [{"role": "user", "content": [{"text": "a"}]}]
    assert codes(loss) == ["cache_hint"] * 2


def test_what_the_model_does_not_take_is_dropped() -> None:
    image = {"type": "image", "source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"}
    request = {
        "messages": [user(text("a"), image)],
        "tools": [{"name": "look_up"}],
        "temperature": 0.5,
        "top_p": 0.5,
        "response_format": {"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}},
        "max_output_tokens": 9000,
    }
    endpoint = with_capabilities(
        supports_images=False,
        supports_tools=False,
        supports_structured_output=False,
        temperature_or_top_p=True,
        max_output_tokens=4096,
    )

    body, loss = write(request, endpoint)

    assert '{"type":"object","additionalProperties":false}' in body.pop("system")[0]["text"]
    assert body == {
        "messages": [{"role": "user", "content": [{"text": "a"}]}],
        "inferenceConfig": {"temperature": 0.5, "maxTokens": 4096},
    }
    assert sorted(codes(loss)) == ["combination", "limit_exceeded", "response_format", *["unsupported_model"] * 2]


def test_an_effort_becomes_a_budget_for_a_model_without_efforts() -> None:
    endpoint = with_capabilities(effort=[], thinking=["enabled"])

    body, loss = write({"messages": [user(text("a"))], "reasoning": {"effort": "high"}}, endpoint)

    assert body["additionalModelRequestFields"] == {"thinking": {"type": "enabled", "budget_tokens": 16384}}
    assert set(codes(loss)) == {"reasoning_mapped"}


@pytest.mark.parametrize(
    ("reasoning", "wire"),
    [
        ({"effort": "xhigh"}, {"type": "enabled", "maxReasoningEffort": "high"}),
        ({"effort": "minimal"}, {"type": "enabled", "maxReasoningEffort": "low"}),
        ({"mode": "adaptive"}, {"type": "enabled", "maxReasoningEffort": "medium"}),
        ({"mode": "enabled", "budget_tokens": 9000}, {"type": "enabled", "maxReasoningEffort": "medium"}),
        ({"effort": "none"}, {"type": "disabled"}),
    ],
)
def test_the_words_of_amazons_models(reasoning: Data, wire: Data) -> None:
    dialect = {"reasoning_control": "reasoningConfig", "top_k": "inferenceConfig"}
    endpoint = Endpoint("bedrock_converse", "bedrock", "model-x", dialect)

    body, loss = write({"messages": [user(text("a"))], "reasoning": reasoning, "top_k": 5}, endpoint)

    assert body["additionalModelRequestFields"] == {"reasoningConfig": wire, "inferenceConfig": {"topK": 5}}
    assert set(codes(loss)) == {"reasoning_mapped"}


def test_reasoning_without_a_signature_goes_back_where_the_model_takes_it() -> None:
    state = {"adapter": "bedrock_converse", "provider": "bedrock"}
    thought = {"type": "thinking", "text": "Hm.", "provider_state": state}
    request = {"messages": [user(text("a")), assistant(thought, text("b")), user(text("c"))]}

    body, loss = write(request, Endpoint("bedrock_converse", "bedrock", "model-x", {"unsigned_thinking": True}))

    assert body["messages"][1]["content"][0] == {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
    assert loss == []


# ---------------------------------------------------------------------------------------------- placement


def test_documents_that_are_dropped_need_no_text() -> None:
    document = {"type": "document", "source": {"kind": "url", "data": "https://example.org/a.pdf"}}
    good = {"type": "document", "source": {"kind": "text", "data": "x"}, "media_type": "text/plain", "name": "a"}

    body, loss = write({"messages": [user(document, good)]})

    assert [next(iter(block)) for block in body["messages"][0]["content"]] == ["text", "document"]
    assert [entry["op"] for entry in loss] == ["drop", "move"]


def test_a_document_beside_results_gets_its_text_behind_them() -> None:
    document = {"type": "document", "source": {"kind": "text", "data": "x"}, "media_type": "text/plain", "name": "a"}
    request = {
        "messages": [
            user(text("a")),
            assistant({"type": "tool_use", "id": "tu_01", "name": "look_up", "input": {}}),
            {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_01", "content": [text("b")]}]},
            user(document),
        ],
        "tools": [{"name": "look_up", "input_schema": {"type": "object"}}],
    }

    body, _ = write(request)

    assert [next(iter(block)) for block in body["messages"][2]["content"]] == ["toolResult", "text", "document"]


def test_a_document_of_a_result_is_not_that_of_the_turn() -> None:
    document = {"document": {"format": None, "name": "a", "source": {"bytes": "AA=="}}}
    turn = [
        {"toolResult": {"toolUseId": "tooluse_A", "content": [document]}},
        {"document": {"format": "txt", "name": "b", "source": {"text": "x"}}},
        {"text": "c"},
    ]
    request = read(
        {
            "messages": [
                {"role": "user", "content": [{"text": "Go."}]},
                {"role": "assistant", "content": [CALL]},
                {"role": "user", "content": turn},
            ],
            "toolConfig": TOOLS,
        }
    )
    del request["messages"][3]["content"][1]

    body, loss = write(request)

    assert [next(iter(block)) for block in body["messages"][2]["content"]] == ["toolResult", "text", "document"]
    assert [entry["path"] for entry in loss] == ["/messages/3/content/0"]


def test_an_opaque_item_that_would_be_read_as_something_else_is_dropped() -> None:
    forged = {"type": "opaque", "adapter": "bedrock_converse", "value": {"text": "hidden"}}

    body, loss = write({"messages": [user(text("a"), forged)]})

    assert body["messages"][0]["content"] == [{"text": "a"}]
    assert codes(loss) == ["unsupported_block"]


def test_a_tree_of_which_all_is_said_already_goes_as_a_whole() -> None:
    """And what finds its place is laid over the block, so that the report says what happened and nothing else."""
    odd = {"toolSpec": {"name": "f", "inputSchema": {"json": 0}}}
    more = {"toolSpec": {"name": "g", "inputSchema": {"json": {"type": "object"}, "x": 1}}}
    came = read({"messages": [user({"text": "Hi"})], "toolConfig": {"tools": [odd, more]}})
    request = {name: value for name, value in came.items() if name != "provider_state"}

    written, loss = adapter.to_wire(request, HERE)
    back, _ = adapter.from_wire_request(written, HERE, DERIVED_IDS)

    assert ["/tools/0/input_schema", "/tools/0/provider_state/fields/toolSpec"] == [entry["path"] for entry in loss]
    assert more == written["body"]["toolConfig"]["tools"][1]
    assert difference(visible(apply(request, loss)), visible(back)) is None


def test_a_conversation_without_messages_is_refused() -> None:
    with pytest.raises(InvalidRequest) as refusal:
        adapter.to_wire({"messages": []}, HERE)
    assert refusal.value.path == "/messages"


# ---------------------------------------------------------------------------------------------- streams


def events(*frames: Frame) -> list[Data]:
    reader = StreamReader(HERE)
    return [event for frame in frames for event in reader.feed(eventstream.encode(frame))] + reader.end()


def frame(name: str, **members: Any) -> Frame:
    return Frame(name, json.dumps(members))


def test_a_picture_that_the_provider_cannot_give_is_left_out_of_a_stream() -> None:
    """A stream is given as it is, but for pictures, which may come from elsewhere."""
    source = {"kind": "file_id", "data": "file-1"}
    picture = {"type": "image", "media_type": "image/png", "source": source}
    answer = {"message": {"role": "assistant", "content": [picture]}, "finish_reason": "stop"}
    told = [
        {"type": "message_start"},
        {"type": "block_start", "index": 0, "block": picture},
        {"type": "block_stop", "index": 0, "block": picture},
        {"type": "message_complete", "response": answer},
    ]

    frames = frames_of(adapter, told, HERE)

    assert [each.event for each in frames] == ["messageStart", "messageStop", "metadata"]


def test_a_damaged_message_is_an_error_with_what_had_arrived() -> None:
    reader = StreamReader(HERE)
    good = [
        frame("messageStart", role="assistant"),
        frame("contentBlockDelta", contentBlockIndex=0, delta={"text": "Hi"}),
    ]
    data = b"".join(eventstream.encode(each) for each in good)
    bad = bytearray(eventstream.encode(frame("contentBlockStop", contentBlockIndex=0)))
    bad[-1] ^= 1

    found = reader.feed(data + bytes(bad))

    assert found[-1]["type"] == "error"
    assert found[-1]["error"]["category"] == "invalid_response"
    assert found[-1]["response"]["message"]["content"] == [text("Hi")]
    assert reader.feed(data) == []


@pytest.mark.parametrize(
    "broken",
    [
        Frame("contentBlockDelta", "[]"),
        Frame("contentBlockDelta", "no JSON"),
        Frame("contentBlockDelta", '{"contentBlockIndex":[],"delta":{"text":"a"}}'),
        Frame("contentBlockDelta", '{"contentBlockIndex":0,"delta":{"toolUse":{"input":"a"}}}'),
        Frame("contentBlockStart", '{"contentBlockIndex":0,"start":[]}'),
        Frame("contentBlockStart", '{"contentBlockIndex":"0","start":{"toolUse":{"toolUseId":"a","name":"b"}}}'),
        Frame("messageStart", "{}"),
        Frame("metadata", "{}"),
        Frame(None, "", DAMAGED),
    ],
)
def test_what_cannot_be_read_is_an_error_event(broken: Frame) -> None:
    decoder = adapter.stream_decoder(HERE)
    next(decoder)
    decoder.send(frame("messageStart", role="assistant"))

    last = decoder.send(broken)[-1]

    assert (last["type"], last["error"]["category"]) == ("error", "invalid_response")


def test_a_start_that_starts_nothing_is_passed_over() -> None:
    """Some servers announce a text too."""
    *_, complete = events(
        frame("messageStart", role="assistant"),
        frame("contentBlockStart", contentBlockIndex=0, start={}),
        frame("contentBlockDelta", contentBlockIndex=0, delta={"text": "Hi"}),
        frame("contentBlockStop", contentBlockIndex=0),
        frame("messageStop", stopReason="end_turn"),
        frame("metadata", usage={"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}),
    )

    assert [text("Hi")] == complete["response"]["message"]["content"]


def test_members_of_a_delta_that_are_null_say_nothing() -> None:
    nothing = {"redactedContent": None, "signature": None}
    found = events(
        frame("messageStart", role="assistant"),
        frame("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {"text": "So", **nothing}}),
        frame("contentBlockDelta", contentBlockIndex=0, delta={"reasoningContent": {**nothing, "signature": "c2ln"}}),
        frame("contentBlockStop", contentBlockIndex=0),
        frame("contentBlockDelta", contentBlockIndex=1, delta={"reasoningContent": None, "text": "Yes"}),
        frame("messageStop", stopReason="end_turn"),
        frame("metadata", usage={"inputTokens": 1, "outputTokens": 1}),
    )
    thought, said = found[-1]["response"]["message"]["content"]
    assert (thought["type"], thought["text"], thought["signature"]) == ("thinking", "So", "c2ln")
    assert said == text("Yes")


def test_a_null_in_a_result_is_a_value_beside_members_that_say_nothing() -> None:
    result = {"toolResult": {"toolUseId": "tooluse_A", "content": [{"text": None, "json": None, "image": None}]}}
    body = {"messages": [user({"text": "?"}), assistant(CALL), user(result)], "toolConfig": TOOLS}
    request = read(body)
    assert request["messages"][2]["content"][0]["content"][0]["text"] == "null"
    assert write(request) == (body, [])


def test_a_mark_that_was_an_item_is_none_behind_another_block() -> None:
    """A first mark in a list, and a second one behind a block, are items; an edit may make them hints."""
    mark = {"cachePoint": {"type": "default"}}
    body = {"system": [mark], "messages": [user({"text": "a"}, mark, mark)]}
    request = read(body)
    assert write(request) == (body, [])
    request["messages"][0]["content"].insert(0, text("Be brief."))
    del request["messages"][1]["content"][0]["cache"]
    written, loss = write(request)
    assert written["system"] == [{"text": "Be brief."}]
    assert written["messages"] == [user({"text": "a"})]
    assert codes(loss) == ["unsupported_block", "unsupported_block"]


def test_options_have_no_room_where_the_request_has_members() -> None:
    """What the model gets beside the contract is an object; an option that is none leaves no place in it."""
    request = {
        "messages": [user(text("hi"))],
        "top_k": 5,
        "options": {"bedrock_converse": {"additionalModelRequestFields": "x"}},
    }
    written, loss = write(request)
    assert written["additionalModelRequestFields"] == {"top_k": 5}
    assert codes(loss) == ["combination"]


def test_an_option_that_would_change_the_choice_is_left_out() -> None:
    request = {
        "messages": [user(text("hi"))],
        "tools": [{"name": "look_up", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "tool", "name": "look_up"},
        "options": {"bedrock_converse": {"toolConfig": {"toolChoice": {"auto": {"later": 1}}}}},
    }
    written, loss = write(request)
    assert written["toolConfig"]["toolChoice"] == {"tool": {"name": "look_up"}}
    assert codes(loss) == ["combination"]


@pytest.mark.parametrize("garbage", [{"image": {}}, {"text": "x"}, {"text": {"text": "other"}}, {"later": 1}, None, 1])
def test_a_text_is_guarded_only_by_what_reads_so(garbage: Any) -> None:
    state = {"adapter": "bedrock_converse", "provider": "bedrock", "fields": {"guardContent": garbage}}
    written, loss = write({"messages": [user({**text("hi"), "provider_state": state})]})
    assert written["messages"] == [user({"text": "hi"})]
    assert codes(loss) == ["unsupported_field"]


def test_an_image_of_no_bytes_comes_back_in_a_stream() -> None:
    image = {"format": "png", "source": {"bytes": ""}}
    found = events(
        frame("messageStart", role="assistant"),
        frame("contentBlockStart", contentBlockIndex=0, start={"image": {"format": "png"}}),
        frame("contentBlockDelta", contentBlockIndex=0, delta={"image": {"source": {"bytes": ""}}}),
        frame("contentBlockStop", contentBlockIndex=0),
        frame("messageStop", stopReason="end_turn"),
        frame("metadata", usage={"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}),
    )

    again = events(*frames_of(adapter, found, HERE))

    assert again[-1]["response"]["message"]["content"] == found[-1]["response"]["message"]["content"] != []
    assert found[-1]["response"]["message"]["content"][0]["value"] == {"image": image}


def test_members_of_a_block_that_are_null_are_not_held_in_it() -> None:
    """A call that names its other kinds with null is no reasoning, and a picture that does so is no document."""
    picture = {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}, "document": None, "text": None}
    paper = {"document": {"format": "txt", "name": "a", "source": {"text": "x"}}}
    cited = {"citationsContent": {"content": []}, "reasoningContent": None}
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}
    request = read(
        {
            "messages": [
                user(picture, paper, {"text": "read it"}),
                assistant(thought, cited),
                user({"text": "and on"}),
            ]
        }
    )
    del request["messages"][0]["content"][2]
    request["messages"][2]["content"] = [text("and so on")]

    written, loss = write(request)

    assert written["messages"][0]["content"] == [{"image": picture["image"]}, {"text": "(document)"}, paper]
    assert written["messages"][1]["content"] == [thought, cited]
    assert codes(loss) == ["filler"]


def test_a_part_of_a_result_that_equals_what_is_written_in_its_place_goes_back() -> None:
    """It is no result that may stand there: a filler does, and that was taken for the part itself."""
    part = {"toolResult": {"toolUseId": "t", "content": [{"text": "(empty)"}]}}
    messages = [
        user({"text": "Go."}),
        assistant({"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}),
        user({"toolResult": {"toolUseId": "t", "content": [part]}}),
    ]

    written, loss = write(read({"messages": messages}))

    assert written["messages"] == messages
    assert loss == []


def test_an_error_message_of_the_stream_is_an_error_event() -> None:
    found = events(frame("messageStart", role="assistant"), Frame("InternalServerException", "{}", "error"))

    assert found[-1]["error"]["category"] == "server_error"


def test_a_stream_of_another_provider_is_written_with_all_that_it_says() -> None:
    call = {"type": "tool_use", "id": "tu_01", "name": "look_up", "input": {"q": "x"}}
    thought = {"type": "thinking", "text": "Hm.", "signature": "c2ln", "provider_state": {"adapter": "elsewhere"}}
    response = {
        "message": {"role": "assistant", "content": [thought, text("So."), call]},
        "finish_reason": "tool_calls",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    source: list[Data] = [{"type": "message_start"}]
    for index, block in enumerate(response["message"]["content"]):
        source += [{"type": "block_start", "index": index, "block": block}]
        source += [{"type": "block_stop", "index": index, "block": block}]
    source.append({"type": "message_complete", "response": response})

    again = events(*frames_of(adapter, source, HERE))

    final = again[-1]["response"]
    assert [block["type"] for block in final["message"]["content"]] == ["thinking", "text", "tool_use"]
    assert "signature" not in final["message"]["content"][0]
    assert final["message"]["content"][2]["input"] == {"q": "x"}
    assert final["finish_reason"] == "tool_calls"
    assert final["usage"]["raw"]["totalTokens"] == 7


# ---------------------------------------------------------------------------------------------- the provider


def test_the_registry_knows_where_the_provider_is() -> None:
    found = registry.endpoint(adapter="bedrock_converse")
    assert (found.provider, found.adapter) == ("bedrock", "bedrock_converse")
    assert registry.endpoint(model="bedrock:amazon.nova-lite-v1:0").model == "amazon.nova-lite-v1:0"


# ---------------------------------------------------------------------------------------------- what others send


@pytest.mark.parametrize("arguments", [None, '{"q":1}', '{"q": "x', [1, "a"], 7, "absent"])
def test_arguments_that_are_no_object_come_back_in_an_answer(arguments: Any) -> None:
    use = {"toolUseId": "t", "name": "look_up", "input": arguments}
    if arguments == "absent":
        del use["input"]
    answer = {"output": {"message": {"role": "assistant", "content": [{"toolUse": use}]}}, "stopReason": "tool_use"}
    response, _ = adapter.from_wire_response(answer, HERE, DERIVED_IDS)

    assert response["message"]["content"][0]["input"] == {}
    assert adapter.to_wire_response(response, HERE) == (answer, [])


def test_an_empty_signature_comes_back_in_an_answer() -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": ""}}}
    answer = {"output": {"message": {"role": "assistant", "content": [thought]}}, "stopReason": "end_turn"}

    assert adapter.to_wire_response(adapter.from_wire_response(answer, HERE, DERIVED_IDS)[0], HERE)[0] == answer
