"""What the cases of anthropic_messages cannot say: malformed parts, edited conversations, clouds, determinism."""

import copy
import json
from typing import Any

import pytest
from encoding import frames_of

from interlingua import registry
from interlingua.adapters import anthropic_messages as adapter
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidAnswer, InvalidRequest, InvalidWire, ProviderError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import apply, difference, visible
from interlingua.wire.sse import Frame

Data = dict[str, Any]
HERE = Endpoint("anthropic_messages", "anthropic", "claude-x")
BEDROCK = Endpoint(
    "anthropic_messages",
    "bedrock",
    dialect={
        "path": "/model/{model}/invoke",
        "stream_path": "/model/{model}/invoke-with-response-stream",
        "stream_in_body": False,
        "body_version": "bedrock-2023-05-31",
    },
)
CALL: Data = {"type": "tool_use", "id": "toolu_A", "name": "look_up", "input": {"q": "x"}}
RESULT: Data = {"type": "tool_result", "tool_use_id": "toolu_A", "content": "found"}


def text(words: str) -> Data:
    return {"type": "text", "text": words}


def user(*blocks: Data) -> Data:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Data) -> Data:
    return {"role": "assistant", "content": list(blocks)}


def call(identity: str, **members: Any) -> Data:
    return {"type": "tool_use", "id": identity, "name": "look_up", "input": {}, **members}


def result(identity: str, *blocks: Data) -> Data:
    return {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": identity, "content": list(blocks)}]}


def wire(**members: Any) -> Data:
    body = {"model": "claude-x", "max_tokens": 10, "messages": [user(text("hi"))]} | members
    return {"method": "POST", "path": "/v1/messages", "headers": {}, "body": body}


def read(body: Data, endpoint: Endpoint = HERE) -> Data:
    request, loss = adapter.from_wire_request({"path": "/v1/messages", "body": body}, endpoint, DERIVED_IDS)
    assert loss == []
    return request


def write(request: Data, endpoint: Endpoint = HERE) -> tuple[Data, list[Data]]:
    """The body and the report, which obey the loss law."""
    before = copy.deepcopy(request)
    written, loss = adapter.to_wire(request, endpoint)
    assert before == request
    back, _ = adapter.from_wire_request(written, endpoint, DERIVED_IDS)
    assert difference(visible(back), visible(apply(request, loss))) is None
    return written["body"], loss


def summary(loss: list[Data]) -> list[tuple[str, str, str]]:
    return [(entry["op"], entry["path"], entry["code"]) for entry in loss]


# ---------------------------------------------------------------------------------------------- malformed wires


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"messages": {}}, "/messages"),
        ({"messages": ["hi"]}, "/messages/0"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": 1}]}, "/messages/0/content"),
        ({"messages": [user(text("a"), {"type": "text"})]}, "/messages/0/content/1"),
        ({"messages": [assistant(text("a"), {"type": "tool_use", "id": "a"})]}, "/messages/0/content/1"),
        ({"messages": [assistant({"type": "thinking", "thinking": 1})]}, "/messages/0/content/0"),
        ({"messages": [user({"type": "tool_result", "content": "x"})]}, "/messages/0/content/0"),
        ({"messages": [user({**RESULT, "is_error": "yes"})]}, "/messages/0/content/0"),
        ({"messages": [user({**RESULT, "content": [None]})]}, "/messages/0/content/0"),
        ({"system": [{"text": "x"}]}, "/system/0"),
        ({"system": 5}, "/system"),
        ({"tools": [{"name": "a", "input_schema": True}, {"name": "b", "input_schema": []}]}, "/tools/1"),
    ],
)
def test_a_malformed_request_is_refused_at_its_place(members: Data, path: str) -> None:
    """Never KeyError or TypeError, and the message holds nothing of the content."""
    with pytest.raises(InvalidWire) as caught:
        adapter.from_wire_request(wire(**members), HERE, DERIVED_IDS)

    assert path == caught.value.path


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ([], ""),
        ({"content": None}, "/content"),
        ({"content": [text("a"), {"type": "tool_use"}]}, "/content/1"),
        ({"content": [], "usage": 3}, "/usage"),
        ({"content": [], "stop_reason": 3}, "/stop_reason"),
    ],
)
def test_a_malformed_answer_is_refused_at_its_place(body: Any, path: str) -> None:
    """As the provider's fault."""
    with pytest.raises(InvalidAnswer) as caught:
        adapter.from_wire_response(body, HERE, DERIVED_IDS)

    assert path == caught.value.path


def test_reasoning_without_a_proof_is_given_on_as_it_came() -> None:
    """Servers of other makers answer so; only in a request it would be refused."""
    thought = {"type": "thinking", "thinking": "Otters.", "signature": ""}
    body = {"id": "msg_1", "type": "message", "role": "assistant", "content": [thought], "stop_reason": "end_turn"}
    response, _ = adapter.from_wire_response(body, HERE, DERIVED_IDS)

    assert (body, []) == adapter.to_wire_response(response, HERE)


def test_an_error_in_the_place_of_an_answer_is_an_error() -> None:
    """Whatever the status said."""
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    with pytest.raises(ProviderError) as caught:
        adapter.from_wire_response(body, HERE, DERIVED_IDS)

    assert "overloaded" == caught.value.error["category"]
    assert caught.value.retryable


# ---------------------------------------------------------------------------------------------- exactness


@pytest.mark.parametrize(
    "members",
    [
        {"system": "be kind"},
        {"system": ""},
        {"system": []},
        {"system": None, "temperature": None, "tools": None},
        {"messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": [text("hi")]}]},
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [user(text(" ")), assistant()]},
        {"messages": []},
        {"messages": [user(text("a")) | {"id": "m1", "x": None}]},
        {"messages": [user(text("a")), assistant(CALL), user(text("first"), RESULT, text("last"))]},
        {"messages": [assistant(CALL), user(RESULT), user({**RESULT, "content": []}), assistant(CALL)]},
        {"messages": [user(RESULT, {**RESULT, "tool_use_id": "none such"})]},
        {"messages": [assistant(CALL, CALL), user(RESULT, RESULT)]},
        {"messages": [user({"type": "image", "source": {"type": "s3", "uri": "x"}, "cache_control": None})]},
        {"messages": [user({"type": "document", "source": {"type": "content", "content": "a"}, "title": None})]},
        {"messages": [user({**text("a"), "cache_control": {"type": "ephemeral", "scope": "x"}})]},
        {"messages": [user({**text("a"), "citations": None}, {**text("b"), "citations": []})]},
        {"messages": [user(text("a")), {"role": "system", "content": "now in Spanish"}]},
        {"messages": [{"role": "system", "content": "first"}, user(text("a"))]},
        {"messages": [{"role": "system", "content": ""}]},
        {"messages": [user(), {"role": "system", "content": " "}, {"role": "system", "content": []}]},
        {"messages": [user(text("a")), {"role": "user", "content": [CALL]}]},
        {"thinking": {"later": 1}},
        {"tools": [], "tool_choice": {"type": "any", "disable_parallel_tool_use": False}},
        {"tools": [{"name": "a.b", "type": "custom", "strict": None}, {"type": "mcp_toolset", "server": "x"}]},
        {"tools": [{"name": "a", "input_schema": True}]},
        {"tool_choice": {"type": "one_of", "names": ["a"]}},
        {"tool_choice": {}},
        {"thinking": {"type": "later", "depth": 3}, "output_config": {}},
        {"output_config": {"effort": "max", "format": {"type": "json_schema", "schema": {}, "name": "x"}}},
        {"output_format": {"type": "json_schema", "schema": {"type": "object"}}},
        {"temperature": 7, "stop_sequences": [" "], "metadata": {"trace": 1}, "service_tier": "gold"},
        {"anthropic_version": "vertex-2023-10-16", "container": {"id": "c"}, "cache_control": {"type": "ephemeral"}},
    ],
)
def test_what_was_read_is_written_as_it_was(members: Data) -> None:
    """Whatever it is, valid or not, in its own spelling."""
    body = wire(**members)["body"]

    written, loss = write(read(body))

    assert body == written
    assert [] == loss


def test_an_edited_conversation_is_exact_where_it_was_not_edited() -> None:
    """A spelling is only used where it still fits."""
    body = wire(system="be kind", messages=[{"role": "user", "content": "hi"}, assistant(CALL), user(RESULT)])["body"]
    request = read(body)
    request["messages"][0]["content"].append(text("and brief"))
    request["messages"][3]["content"][0]["content"].append(text("and more"))

    written, loss = write(request)

    assert [text("be kind"), text("and brief")] == written["system"]
    assert body["messages"][:2] == written["messages"][:2]
    assert [text("found"), text("and more")] == written["messages"][2]["content"][0]["content"]
    assert [] == loss


def test_a_blank_text_goes_back_with_its_request_only() -> None:
    """Its origin took it in the request that it came in; in another one it is refused like any other."""
    request = read(wire(messages=[user(text(" "), text("Hi"))])["body"])
    kept = {"messages": request["messages"], "max_output_tokens": 10}

    assert [text(" "), text("Hi")] == adapter.to_wire(request, HERE)[0]["body"]["messages"][0]["content"]
    assert [text("Hi")] == adapter.to_wire(kept, HERE)[0]["body"]["messages"][0]["content"]


def test_an_oddity_is_kept_as_it_was_read_and_repaired_when_it_is_another() -> None:
    body = wire(messages=[user(text(" "), text("Hi")), assistant(text("Yes.")), user(text("Go on."))])["body"]
    request = read(body)
    request["messages"].append(assistant(text("So it is.")))
    written, _ = write(request)
    assert [text(" "), text("Hi")] == written["messages"][0]["content"], "kept beside an edit"

    request["messages"][0]["content"][0]["text"] = "\n"
    written, loss = write(request)
    assert [text("Hi")] == written["messages"][0]["content"], "what is edited is repaired"
    assert ("drop", "/messages/0/content/0", "empty_content") in summary(loss)


def test_an_odd_tool_makes_no_other_tool_odd() -> None:
    odd = {"name": "a b", "input_schema": {"type": "string"}}
    request = read(wire(tools=[odd])["body"])
    request["tools"].append({"name": "c d", "input_schema": {"type": "array"}})

    written, loss = write(request)

    assert odd == written["tools"][0]
    assert {"name": "c_d", "input_schema": {"type": "object"}} == written["tools"][1]
    assert [("replace", "/tools/1/name", "name_rewritten")] == summary(loss)[:1]


def test_more_marks_for_the_cache_than_are_taken_are_kept_until_an_edit_brings_another() -> None:
    marked = [{**text(word), "cache_control": {"type": "ephemeral"}} for word in "abcde"]
    body = wire(messages=[user(*marked), assistant(text("Yes.")), user(text("Go on."))])["body"]
    request = read(body)
    assert body["messages"] == write(request)[0]["messages"]

    request["messages"][2]["cache"] = {}
    written, loss = write(request)
    dropped = [("drop", f"/messages/0/content/{number}/cache", "limit_exceeded") for number in range(2)]
    assert dropped == summary(loss)[:2]
    assert [text("a"), text("b"), *marked[2:]] == written["messages"][0]["content"]


def test_two_results_in_a_message_are_refused_whatever_was_read() -> None:
    body = wire(messages=[user(text("Hi")), user({"type": "tool_result", "tool_use_id": "toolu_A", "content": "x"})])
    request = read(body["body"])
    request["messages"][1]["content"] *= 2

    with pytest.raises(InvalidRequest) as refusal:
        adapter.to_wire(request, HERE)
    assert "/messages/1/content" == refusal.value.path


def test_an_option_goes_with_the_member_that_it_stood_beside() -> None:
    request = read(wire(thinking={"type": "adaptive", "later": 1})["body"])
    assert {"type": "adaptive", "later": 1} == write(request)[0]["thinking"]

    del request["reasoning"]
    written, loss = write(request)

    assert "thinking" not in written
    assert [("drop", "/options/anthropic_messages/thinking", "combination")] == summary(loss)


def test_what_reads_as_no_tool_of_the_provider_is_not_offered_as_one() -> None:
    tool = {"kind": "provider", "name": "n", "adapter": "anthropic_messages", "definition": {"type": None, "name": "n"}}
    written, loss = write({"messages": [user(text("Hi"))], "max_output_tokens": 10, "tools": [tool]})

    assert "tools" not in written
    assert [("drop", "/tools/0", "provider_tool")] == summary(loss)


def test_reading_again_gives_the_same() -> None:
    """No clock, no randomness; an id that the wire repeats names another call."""
    body = wire(messages=[assistant(CALL), user(RESULT), assistant(CALL), user(RESULT)])["body"]

    request = read(body)
    first, second = request["messages"][0]["content"][0]["id"], request["messages"][2]["content"][0]["id"]

    assert request == read(copy.deepcopy(body))
    assert first != second
    assert second == request["messages"][3]["content"][0]["tool_use_id"]


# ---------------------------------------------------------------------------------------------- repairs


def test_calls_and_results_that_do_not_pair_are_refused() -> None:
    """No valid wire exists for them."""
    for messages, path in (
        ([user(text("a")), result("tu_1")], "/messages/1/content/0/tool_use_id"),
        ([assistant(call("tu_1")), user(text("a"))], "/messages/0/content/0"),
        ([assistant(call("tu_1")), result("tu_1"), result("tu_1")], "/messages/2/content/0/tool_use_id"),
        ([assistant(call("tu_1"), call("tu_2")), result("tu_2")], "/messages/0/content/0"),
        (
            [assistant(call("tu_1")), result("tu_1"), assistant(call("tu_1")), result("tu_1")],
            "/messages/2/content/0/id",
        ),
        ([user({"type": "tool_result", "tool_use_id": "tu_1", "content": []})], "/messages/0/content/0"),
        ([], "/messages"),
    ):
        with pytest.raises(InvalidRequest) as caught:
            adapter.to_wire({"messages": messages}, HERE)
        assert path == caught.value.path


def test_a_mark_that_moves_is_reported_in_a_request_that_is_left_as_it_is() -> None:
    """Five marks were read, so none of them is repaired; that of a message still stands on its last block."""
    marked = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    request = read(wire(messages=[user(*[marked] * 5), assistant(text("b")), user(text("c"))])["body"])
    request["messages"][2]["cache"] = {}
    _, loss = write(request)
    assert ("move", "/messages/2/cache", "cache_hint") in summary(loss)


def test_results_go_into_the_order_of_their_calls() -> None:
    """What stands between goes behind them; every way there is reported."""
    calls = [call(f"tu_{number}") for number in range(4)]
    results = [result(f"tu_{number}", text(str(number))) for number in (2, 0, 3, 1)]
    between = {"role": "system", "content": [text("now")]}
    messages = [assistant(*calls), user(text("wait")), *results[:2], between, *results[2:], user(text("go"))]
    request = {"messages": messages, "max_output_tokens": 10}

    body, _ = write(request)

    said = body["messages"][1]["content"]
    assert ["0", "1", "2", "3"] == [block["content"][0]["text"] for block in said[:4]]
    assert ["wait", "<system-message>\nnow\n</system-message>", "go"] == [block["text"] for block in said[4:]]


def test_reasoning_is_given_up_where_the_rest_of_the_request_forbids_it() -> None:
    """A forced call, an answer that was begun, a tool loop that began without reasoning."""
    tools = [{"name": "look_up", "input_schema": {"type": "object"}}]
    wish = {"mode": "enabled", "budget_tokens": 2000, "effort": "high"}
    for members in (
        {"messages": [user(text("a"))], "tools": tools, "tool_choice": {"type": "required"}},
        {"messages": [user(text("a")), assistant(text("b"))]},
        {"messages": [user(text("a")), assistant(call("tu_1")), result("tu_1", text("b"))], "tools": tools},
    ):
        body, loss = write({"max_output_tokens": 9000, "reasoning": wish, **members})

        assert "thinking" not in body
        assert {"effort": "high"} == body["output_config"]
        assert {"combination"} == {entry["code"] for entry in loss}


def test_a_budget_leaves_room_for_the_answer() -> None:
    """Between the least that the target takes and the limit."""
    for budget, limit, expected in ((10, 5000, 1024), (9000, 5000, 2500), (2000, 1025, 1024), (2000, 1000, None)):
        request = {"messages": [user(text("a"))], "max_output_tokens": limit, "reasoning": {"budget_tokens": budget}}

        body, _ = write(request)

        assert expected == body.get("thinking", {}).get("budget_tokens")


def test_names_are_rewritten_the_same_everywhere_and_never_into_one_another() -> None:
    """In tools, in the choice, and in the history."""
    schema = {"type": "object"}
    request = {
        "messages": [user(text("a")), assistant(call("tu_1", name="a.b")), result("tu_1", text("c"))],
        "tools": [{"name": name, "input_schema": schema} for name in ("a.b", "a_b", "a b", "x" * 200)],
        "tool_choice": {"type": "tool", "name": "a.b"},
        "max_output_tokens": 10,
    }

    body, _ = write(request)

    names = [tool["name"] for tool in body["tools"]]
    assert ["a_b_2", "a_b", "a_b_3", "x" * 128] == names
    assert "a_b_2" == body["tool_choice"]["name"] == body["messages"][1]["content"][0]["name"]


def test_an_answer_cannot_be_begun_at_a_model_that_refuses_it() -> None:
    """Said before anything is sent."""
    endpoint = Endpoint("anthropic_messages", "anthropic", "claude-x", capabilities={"prefill": False})
    request = {"messages": [user(text("a")), assistant(text("It is "))], "max_output_tokens": 10}

    with pytest.raises(CannotAdapt) as caught:
        adapter.to_wire(request, endpoint)

    assert "/messages/1" == caught.value.path
    assert "It is" == write(request)[0]["messages"][1]["content"][0]["text"]


def test_a_request_of_this_wire_is_fitted_to_another_model_only() -> None:
    """The model that it was written for takes it as it is, or refuses it itself."""
    capabilities = {"thinking": ["adaptive"], "sampling": False, "max_output_tokens": 5000, "prefill": False}
    body = wire(
        max_tokens=9000,
        thinking={"type": "enabled", "budget_tokens": 2000},
        messages=[user(text("a")), {"role": "system", "content": "b"}, assistant(text("c")), user(text("d"))],
    )["body"]
    same = Endpoint("anthropic_messages", "anthropic", "claude-x", capabilities=capabilities)
    other = Endpoint("anthropic_messages", "anthropic", "claude-y", capabilities=capabilities)

    assert (body, []) == write(read(body), same)
    fitted, loss = write(read(body), other)

    assert ({"type": "adaptive"}, 5000, "claude-y") == (fitted["thinking"], fitted["max_tokens"], fitted["model"])
    assert {"/max_output_tokens", "/reasoning/mode", "/reasoning/budget_tokens"} == {e["path"] for e in loss}


@pytest.mark.parametrize(
    "capability",
    [
        "supports_images",
        "supports_tools",
        "supports_prompt_caching",
        "supports_structured_output",
        "sampling",
        "prefill",
    ],
)
def test_a_request_of_this_wire_is_not_measured_by_what_its_model_takes(capability: str) -> None:
    """Whoever wrote it for this model knows better, or is told so by the provider."""
    image = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    marked = {**text("a"), "cache_control": {"type": "ephemeral"}}
    body = wire(
        temperature=0.5,
        tools=[{"name": "look_up", "input_schema": {"type": "object"}}],
        output_config={"format": {"type": "json_schema", "schema": {"type": "object"}}},
        messages=[user(marked, image), assistant(text("b"))],
    )["body"]
    model = Endpoint("anthropic_messages", "anthropic", "claude-x", capabilities={capability: False})

    assert (body, []) == write(read(body, model), model)


def test_the_same_state_at_another_provider_is_foreign() -> None:
    """Unless its clouds are said to be one."""
    request = read(
        wire(messages=[user(text("a")), assistant({**CALL, "caller": {"type": "direct"}}), user(RESULT)])["body"]
    )
    elsewhere = Endpoint("anthropic_messages", "elsewhere", "claude-x")
    cloud = Endpoint("anthropic_messages", "vertex", "claude-x", dialect={"same_state_as": {"vertex": "anthropic"}})

    body, loss = write(request, elsewhere)
    assert body["messages"][1]["content"][0]["id"] not in ("toolu_A", "")
    assert [("drop", "/messages/1/content/0/provider_state/fields/caller", "foreign_state")] == summary(loss)

    body, loss = write(request, cloud)
    assert {**CALL, "caller": {"type": "direct"}} == body["messages"][1]["content"][0]
    assert [] == loss


# ---------------------------------------------------------------------------------------------- versions, clouds


def test_the_stricter_version_has_no_sampling() -> None:
    """Whoever names it: the endpoint, or the headers of the wire that was read."""
    stricter = Endpoint("anthropic_messages", "anthropic", "claude-x", dialect={"api_version": "2026-10-21"})
    request = {"messages": [user(text("a"))], "max_output_tokens": 10, "temperature": 1}

    body, loss = write(request, stricter)

    assert "temperature" not in body
    assert [("drop", "/temperature", "unsupported_model")] == summary(loss)
    given = wire(temperature=0.5) | {"headers": {"Anthropic-Version": "2026-10-21", "anthropic-beta": "a,b"}}
    read_back, _ = adapter.from_wire_request(given, HERE, DERIVED_IDS)
    written, loss = adapter.to_wire(read_back, HERE)
    assert "2026-10-21" == written["headers"]["anthropic-version"]
    assert "a,b" == written["headers"]["anthropic-beta"]
    assert [] == loss, "what was read goes back as it came"
    edited, loss = adapter.to_wire(read_back | {"temperature": 0.25}, HERE)
    assert "temperature" not in edited["body"]
    assert ["/temperature"] == [entry["path"] for entry in loss]


def test_clouds_say_model_and_streaming_in_the_path() -> None:
    """And the version in the body."""
    request = {"model": "bedrock:anthropic.claude-v1:0", "messages": [user(text("a"))], "max_output_tokens": 10}

    written, _ = adapter.to_wire(request | {"stream": True}, BEDROCK)
    back, _ = adapter.from_wire_request(written, BEDROCK, DERIVED_IDS)

    assert "/model/anthropic.claude-v1%3A0/invoke-with-response-stream" == written["path"]
    assert {"max_tokens", "messages", "anthropic_version"} == written["body"].keys()
    assert "anthropic-version" not in written["headers"]
    assert ("bedrock:anthropic.claude-v1:0", True) == (back["model"], back["stream"])
    assert "/model/anthropic.claude-v1%3A0/invoke" == adapter.to_wire(request, BEDROCK)[0]["path"]


def test_an_address_holds_a_model_that_has_slashes() -> None:
    """An inference profile may be named by its ARN."""
    name = "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x"
    request = {"messages": [user(text("a"))], "max_output_tokens": 10, "model": f"bedrock:{name}"}

    written, _ = adapter.to_wire(request, BEDROCK)
    back, _ = adapter.from_wire_request(written, BEDROCK, DERIVED_IDS)

    assert (
        "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.anthropic.claude-x/invoke"
        == written["path"]
    )
    assert f"bedrock:{name}" == back["model"]


def test_an_address_may_begin_with_a_project() -> None:
    vertex = Endpoint(
        "anthropic_messages",
        "vertex",
        dialect={"path": "/models/{model}:rawPredict", "stream_path": "/models/{model}:streamRawPredict"},
    )
    path = (
        "/v1/projects/p/locations/europe-west1/publishers/anthropic/models/claude-x@20250219:streamRawPredict?alt=sse"
    )

    request, _ = adapter.from_wire_request({**wire(), "path": path}, vertex, DERIVED_IDS)

    assert "vertex:claude-x" == request["model"], "the body names one already"
    body = {name: value for name, value in wire()["body"].items() if name != "model"}
    request, _ = adapter.from_wire_request({"path": path, "body": body}, vertex, DERIVED_IDS)
    assert "vertex:claude-x@20250219" == request["model"]
    assert "/models/claude-x@20250219:rawPredict" == adapter.to_wire(request, vertex)[0]["path"]


def test_the_registry_knows_how_clouds_are_spoken_to() -> None:
    """Bedrock is asked for messages of an event stream, and takes betas in the body."""
    bedrock = registry.endpoint(provider="bedrock", adapter="anthropic_messages", model="anthropic.claude-x")
    request, _ = adapter.from_wire_request(
        wire(stream=True) | {"headers": {"anthropic-beta": "files-api-2025-04-14"}}, HERE, DERIVED_IDS
    )

    written, _ = adapter.to_wire(request, bedrock)

    assert "application/vnd.amazon.eventstream" == written["headers"]["accept"]
    assert ["files-api-2025-04-14"] == written["body"]["anthropic_beta"]
    assert "stream" not in written["body"]


def test_betas_move_into_the_body_of_a_cloud_that_takes_no_headers() -> None:
    """And say so, because they are an option when they are read from there."""
    request, _ = adapter.from_wire_request(
        wire() | {"headers": {"Anthropic-Beta": "files-api-2025-04-14, b"}}, HERE, DERIVED_IDS
    )
    cloud = Endpoint(
        "anthropic_messages",
        "bedrock",
        dialect={**BEDROCK.dialect, "beta_in_body": True, "same_state_as": {"bedrock": "anthropic"}},
    )

    written, loss = adapter.to_wire(request, cloud)
    back, _ = adapter.from_wire_request(written, cloud, DERIVED_IDS)

    assert ["files-api-2025-04-14", "b"] == written["body"]["anthropic_beta"]
    assert "anthropic-beta" not in written["headers"]
    assert [("/options/anthropic_messages/anthropic_beta", "representation")] == [
        (e["path"], e["severity"]) for e in loss
    ]
    assert difference(visible(apply(request, loss)), visible(back)) is None
    assert written["body"] == adapter.to_wire(back, cloud)[0]["body"]


# ---------------------------------------------------------------------------------------------- streams


def frames(*events: Data) -> list[Frame]:
    return [Frame(event["type"], json.dumps(event)) for event in events]


def decode(*given: Frame, endpoint: Endpoint = HERE) -> list[Data]:
    decoder = adapter.stream_decoder(endpoint, DERIVED_IDS)
    next(decoder)
    return [event for frame in (*given, None) for event in decoder.send(frame)]


START = {"type": "message_start", "message": {"id": "msg_1", "model": "claude-x", "content": [], "usage": {}}}
TEXT_START = {"type": "content_block_start", "index": 0, "content_block": text("")}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}
STOP = {"type": "content_block_stop", "index": 0}


@pytest.mark.parametrize(
    "broken",
    [
        Frame("x", "{not json"),
        Frame("x", "[]"),
        Frame("x", '{"type": "content_block_delta", "index": 5, "delta": {"type": "text_delta", "text": "a"}}'),
        Frame("x", '{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": 4}}'),
        Frame("x", '{"type": "content_block_start", "index": 1, "content_block": "a"}'),
        Frame("x", '{"type": "message_delta", "delta": "a"}'),
        Frame("x", '{"type": "message_start"}'),
    ],
)
def test_a_frame_that_cannot_be_read_ends_the_stream_with_what_had_arrived(broken: Frame) -> None:
    """As one error event; later frames are passed over."""
    events = decode(*frames(START, TEXT_START, DELTA), broken, *frames(STOP, {"type": "message_stop"}))

    assert ["message_start", "usage_update", "block_start", "text_delta", "error"] == [e["type"] for e in events]
    assert "invalid_response" == events[-1]["error"]["category"]
    assert [text("Hel")] == events[-1]["response"]["message"]["content"]


def test_an_empty_stream_is_a_broken_stream() -> None:
    """There is nothing to give with it."""
    (event,) = decode()

    assert ("error", "stream_truncated") == (event["type"], event["error"]["category"])
    assert "response" not in event


def test_arguments_that_were_cut_off_are_kept_as_text() -> None:
    """They are never guessed."""
    begun = {"type": "content_block_start", "index": 0, "content_block": {**CALL, "input": {}}}
    part = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"q":'}}
    end = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 5}}

    events = decode(*frames(START, begun, part, STOP, end, {"type": "message_stop"}))
    block = events[-1]["response"]["message"]["content"][0]
    whole, loss = adapter.to_wire_response(events[-1]["response"], HERE)

    assert (whole["content"], summary(loss)) == (
        [{**CALL, "input": {}}],
        [("drop", "/message/content/0/input_raw", "arguments_invalid")],
    )
    assert ("length", {}, '{"q":') == (events[-1]["response"]["finish_reason"], block["input"], block["input_raw"])


def test_a_foreign_signature_is_not_streamed_as_ours() -> None:
    """Ours goes in a delta of its own, before the block ends."""
    for provider, deltas in (("anthropic", ["thinking_delta", "signature_delta"]), ("gemini", ["thinking_delta"])):
        state = {"adapter": "anthropic_messages", "provider": provider}
        block = {"type": "thinking", "text": "hm", "signature": "c2ln", "provider_state": state}
        response = {"message": {"role": "assistant", "content": [block]}, "finish_reason": "stop"}
        events = [
            {"type": "message_start"},
            {"type": "block_start", "index": 0, "block": {"type": "thinking", "text": ""}},
            {"type": "thinking_delta", "index": 0, "text": "hm"},
            {"type": "block_stop", "index": 0, "block": block},
            {"type": "message_complete", "response": response},
        ]

        sent = [json.loads(frame.data) for frame in frames_of(adapter, events, HERE)]

        assert deltas == [data["delta"]["type"] for data in sent if data["type"] == "content_block_delta"]
        assert ["message_delta", "message_stop"] == [data["type"] for data in sent[-2:]]


def test_a_block_without_deltas_is_streamed_whole() -> None:
    """And a free-text call as a call with one text argument."""
    calls = [call("tu_1", input={"q": 1}), call("tu_2", kind="custom", input_raw="SELECT 1")]
    events: list[Data] = [{"type": "message_start", "response_id": "x"}]
    for index, block in enumerate([text("Hi"), *calls]):
        events += [
            {"type": "block_start", "index": index, "block": block},
            {"type": "block_stop", "index": index, "block": block},
        ]
    response = {"message": {"role": "assistant", "content": [text("Hi"), *calls]}, "finish_reason": "tool_calls"}
    events.append({"type": "message_complete", "response": response})

    complete = decode(*frames_of(adapter, events, HERE))[-1]["response"]

    said, first, second = complete["message"]["content"]
    assert ("Hi", {"q": 1}, {"input": "SELECT 1"}) == (said["text"], first["input"], second["input"])
    assert "tool_calls" == complete["finish_reason"]


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (529, {}, "", ("overloaded", True, None)),
        (502, {}, "<html>Bad gateway</html>", ("server_error", True, None)),
        (500, {"X-Should-Retry": "false"}, b"", ("server_error", False, None)),
        (400, {"x-should-retry": "true"}, {"message": "no"}, ("invalid_request", True, None)),
        (429, {"Retry-After": "7"}, {}, ("rate_limit", True, 7.0)),
        (429, {"retry-after-ms": "250"}, {}, ("rate_limit", True, 0.25)),
        (429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, None, ("rate_limit", True, None)),
        (429, {"retry-after": "-1"}, None, ("rate_limit", True, None)),
        (
            429,
            {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:27:30 GMT"},
            None,
            ("rate_limit", True, 30.0),
        ),
        (409, {}, None, ("other", True, None)),
        (400, {}, {"error": {"message": "prompt is too long: 9 tokens"}}, ("context_overflow", False, None)),
        (400, {}, {"error": {"message": "Your credit balance is too low"}}, ("billing", False, None)),
        (400, {"x-amzn-errortype": "ThrottlingException:x"}, {"message": "slow"}, ("rate_limit", True, None)),
        (200, {}, {"type": "error", "error": {"type": "throttlingException"}}, ("rate_limit", True, None)),
        (404, {}, [{"error": {"code": 404, "status": "NOT_FOUND"}}], ("not_found", False, None)),
    ],
)
def test_errors_of_any_shape(status: int, headers: Data, body: Any, expected: tuple[str, bool, float | None]) -> None:
    """Status, headers and body agree on a category; nothing of the body is in the message."""
    error = adapter.error(status, headers, body, HERE)

    assert expected == (error["category"], error["retryable"], error.get("retry_after"))
    assert "too l" not in error["message"]
    assert "html" not in error["message"]


# ---------------------------------------------------------------------------------------------- what others send


@pytest.mark.parametrize("arguments", [None, "", '{"q":1}', '{"q": "x', "[1]", [1, "a"], 7, "absent"])
def test_arguments_that_are_no_object_come_back_in_an_answer(arguments: Any) -> None:
    call = {"type": "tool_use", "id": "toolu_A", "name": "look_up", "input": arguments}
    if arguments == "absent":
        del call["input"]
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [call],
        "stop_reason": "tool_use",
    }
    response, _ = adapter.from_wire_response(body, HERE, DERIVED_IDS)
    written, loss = adapter.to_wire_response(response, HERE)

    assert response["message"]["content"][0]["input"] == {}
    assert (written["content"], loss) == ([call], [])


def test_reasoning_in_a_block_of_text_stays_reasoning() -> None:
    frames = [
        (
            "message_start",
            {"message": {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m"}},
        ),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "One."}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "Two."}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        ("message_stop", {}),
    ]
    content = streamed_response(frames)["message"]["content"]

    assert [(block["type"], block["text"]) for block in content] == [
        ("text", "One."),
        ("thinking", "Hm."),
        ("text", "Two."),
    ]


def streamed_response(frames: list[tuple[str, Data]]) -> Data:
    """The answer of a stream of these frames."""
    decoder = adapter.stream_decoder(HERE, DERIVED_IDS)
    next(decoder)
    events: list[Any] = []
    for name, data in frames:
        events += decoder.send(Frame(name, json.dumps({"type": name, **data})))
    assert events[-1]["type"] == "message_complete"
    return events[-1]["response"]


@pytest.mark.parametrize(
    ("kind", "roles"),
    [
        ("search_result", {"user", "tool"}),
        ("tool_reference", {"tool"}),
        ("browser_state", {"tool"}),
        ("container_upload", {"user"}),
        ("compaction", {"assistant"}),
        ("web_search_tool_result", {"assistant"}),
        ("of_a_later_version", {"user", "assistant", "tool"}),
    ],
)
def test_an_item_of_the_provider_stands_where_its_kind_may(kind: str, roles: set[str]) -> None:
    item = {
        "type": "opaque",
        "adapter": "anthropic_messages",
        "provider": "anthropic",
        "kind": kind,
        "value": {"type": kind},
    }
    conversation = {
        "user": [user(text("a"), item)],
        "assistant": [user(text("a")), assistant(item, text("b")), user(text("c"))],
        "tool": [user(text("a")), assistant(call("tu_1")), result("tu_1", text("b"), item)],
    }
    taken = {role for role, messages in conversation.items() if kind in json.dumps(write({"messages": messages})[0])}
    assert taken == roles
