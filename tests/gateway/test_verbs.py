"""The verbs over HTTP, in the unary form of Connect (spec/11-gateway.md#verbs)."""

import base64
import json
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf import json_format
from google.rpc import error_details_pb2

from interlingua.access import Key, digest
from interlingua.canonical import json as exact
from interlingua.client.fake import Refuse, Say
from interlingua.gateway.gateway import Limits
from interlingua.v1 import service_pb2 as service

pytestmark = pytest.mark.asyncio

REQUEST = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
JSON = {"content-type": "application/json"}


def request(**members: Any) -> str:
    return json.dumps({**REQUEST, **members})


async def call(at: Any, verb: str, fields: Any, **headers: str) -> Any:
    """What a verb answers to a body, which may be text."""
    body = fields if isinstance(fields, (str, bytes)) else json.dumps(fields)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await at.http.post(f"/interlingua.v1.InterlinguaService/{verb}", content=body, headers=JSON | named)


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    """The error in an answer."""
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()
    assert (answer.status_code, error["code"]) == (status, code), error
    return error


def detail(error: dict[str, Any], kind: Any) -> Any:
    """The detail of a type, from its bytes; what a person reads beside them says the same."""
    found = next(one for one in error["details"] if one["type"] == kind.DESCRIPTOR.full_name)
    message = kind.FromString(base64.b64decode(found["value"] + "=" * (-len(found["value"]) % 4)))
    assert found["debug"] == json_format.MessageToDict(message)
    return message


async def test_adapt_gives_the_wire_and_the_losses(serve: Any) -> None:
    """The same as over gRPC: a request of one wire as that of another, with the report."""
    body = {"model": "claude-sonnet-4-6", "max_tokens": 9, "top_k": 5, "messages": [{"role": "user", "content": "hi"}]}
    async with serve() as at:
        fields = {"wireJson": json.dumps(body), "kind": "KIND_REQUEST", "jsonOutput": True}
        fields |= {"source": {"adapter": "anthropic_messages"}, "target": {"adapter": "openai_responses"}}
        answer = await call(at, "Adapt", fields)
    assert answer.status_code == 200, answer.text
    wire = json.loads(answer.json()["wireJson"])
    assert wire["path"] == "/responses"
    assert "hi" in json.dumps(wire["body"]["input"])
    assert [entry["path"] for entry in json.loads(answer.json()["lossJson"])] == ["/max_output_tokens", "/top_k"]


async def test_adapt_takes_streams_and_failures(serve: Any) -> None:
    """Bytes are base64, as ProtoJSON has them."""
    chunk = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    async with serve() as at:
        fields: dict[str, Any] = {"chunks": {"chunks": [base64.b64encode(chunk).decode()]}, "jsonOutput": True}
        answer = await call(at, "Adapt", fields | {"source": {"adapter": "openai_chat"}})
        events = [json.loads(text) for text in answer.json()["events"]["eventsJson"]]
        assert [event["text"] for event in events if event["type"] == "text_delta"] == ["Hi"]
        assert events[-1]["error"]["category"] == "stream_truncated"
        failure = {"status": 429, "body": '{"error":{"message":"slow down","type":"rate_limit_error"}}'}
        fields = {"errorAnswer": failure, "source": {"adapter": "openai_chat"}, "target": {"adapter": "ollama_chat"}}
        assert (await call(at, "Adapt", fields)).json()["errorAnswer"]["status"] == 429


async def test_estimate_check_route_and_list(serve: Any) -> None:
    """The verbs that ask nobody."""
    async with serve() as at:
        fields = {"requestJson": request(), "model": "anthropic:claude-sonnet-4-6"}
        estimate = (await call(at, "Estimate", fields)).json()
        assert estimate["tokens"]["low"] <= estimate["tokens"]["likely"] <= estimate["tokens"]["high"]
        assert Decimal(estimate["cost"]["likelyUsd"]) > 0
        checked = (await call(at, "Check", {"valueJson": "{}"})).json()
        assert [one["rule"] for one in checked["violations"]] == ["schema.required"]
        routed = (await call(at, "Route", {"requestJson": request(), "withCandidates": True})).json()
        assert routed["decision"]["chosenModel"] == "anthropic:claude-sonnet-4-6"
        assert routed["decision"]["mode"] == "ROUTING_MODE_DEFAULT"
        assert len(routed["decision"]["chain"]) == 7
        listed = (await call(at, "ListModels", {"provider": "groq"})).json()
        assert {model["provider"] for model in listed["models"]} == {"groq"}
        assert at.fake.sent == []


async def test_generate_asks_a_provider_and_is_recorded(serve: Any) -> None:
    """The answer, and headers and a record as of a call in a provider's wire."""
    async with serve(Say("Yes.", usage={"input_tokens": 10, "output_tokens": 5})) as at:
        answer = await call(at, "Generate", {"requestJson": request(), "jsonOutput": True})
        assert answer.status_code == 200, answer.text
        response = json.loads(answer.json()["responseJson"])
        assert response["message"]["content"][0]["text"] == "Yes."
        assert answer.headers["interlingua-model"] == "anthropic:claude-sonnet-4-6"
        record = (await at.http.get(f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}")).json()
        assert (record["adapter"], record["status"]) == ("canonical", 200)
        assert record["usage"]["output_tokens"] == 5
        assert [slot["policy"] for slot in record["route"]["slots"]][-1] == "global_default"


async def test_generate_tells_what_the_provider_refused(serve: Any) -> None:
    """The code, the details of gRPC, and a record with the category."""
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    async with serve(Refuse(429, exact.dumps(body), {"retry-after": "7"})) as at:
        answer = await call(at, "Generate", {"requestJson": request()})
        error = refused(answer, 429, "resource_exhausted")
        assert detail(error, error_details_pb2.ErrorInfo).reason == "rate_limit"
        assert detail(error, error_details_pb2.RetryInfo).retry_delay.seconds == 7
        record = (await at.http.get(f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}")).json()
        assert (record["category"], record["status"]) == ("rate_limit", 429)


@pytest.mark.parametrize(
    ("body", "path", "said"),
    [
        ("[", "", "not valid JSON"),
        ('"Adapt"', "", "a JSON object"),
        ('{"foo": 1}', "", "no field foo; AdaptRequest has request"),
        ('{"target": {"wire": "x"}}', "/target", "no field wire; Side has adapter"),
        ('{"target": {"adapter": 7}}', "/target/adapter", "type of the field"),
        ('{"requestJson": "{}", "requestJson": "{}"}', "", "twice"),
        ('{"requestJson": "{}", "responseJson": "{}"}', "", "oneof"),
        ('{"requestJson": "{}"}', "", "messages"),
        ('{"requestJson": "{", "target": {"adapter": "openai_chat"}}', "", ""),
        ('{"source": {"adapter": "nobody"}, "wireJson": "{}"}', "/source", "nobody"),
        (f'{{"target": {"[" * 50_000}', "", "not valid JSON"),
        ('{"kind": "SECRET-WORD"}', "/kind", "type of the field"),
    ],
)
async def test_a_bad_call_is_told_with_its_place(serve: Any, body: str, path: str, said: str) -> None:
    """invalid_argument with the pointer, and nothing of the content."""
    async with serve() as at:
        error = refused(await call(at, "Adapt", body), 400, "invalid_argument")
    assert said in error["message"]
    assert "SECRET" not in json.dumps(error)
    violation = detail(error, error_details_pb2.BadRequest).field_violations[0]
    assert not path or violation.field == path


async def test_what_is_no_unary_json_call_is_refused(serve: Any) -> None:
    """Other types, methods, verbs, encodings and sizes."""
    verb = "/interlingua.v1.InterlinguaService/Adapt"
    async with serve(limits=Limits(body=1000)) as at:
        answer = await at.http.post(verb, content=b"", headers={"content-type": "application/proto"})
        assert (answer.status_code, answer.headers["accept-post"]) == (415, "application/json")
        answer = await at.http.get(verb)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert "Adapt" in refused(await call(at, "Nothing", {}), 501, "unimplemented")["message"]
        refused(await call(at, "GenerateStream", {}), 501, "unimplemented")
        refused(await call(at, "Adapt", "{}", content_encoding="lzma"), 400, "invalid_argument")
        refused(await call(at, "Adapt", " " * 1001), 400, "invalid_argument")
        refused(
            await call(at, "Generate", {"requestJson": request()}, connect_timeout_ms="soon"), 400, "invalid_argument"
        )
        refused(await call(at, "Adapt", "{}", origin="http://evil.example"), 403, "permission_denied")
        refused(await call(at, "Adapt", "{}", host="evil.example"), 403, "permission_denied")


async def test_a_deadline_ends_the_call(serve: Any) -> None:
    """`connect-timeout-ms` is the deadline of the provider's call."""
    async with serve(Say("late", delay=5)) as at:
        answer = await call(at, "Generate", {"requestJson": request()}, connect_timeout_ms="50")
        refused(answer, 504, "deadline_exceeded")


async def test_keys_hold_for_the_verbs(serve: Any) -> None:
    """Without one nothing is done; with one only its models are asked, and its limits count."""
    key = Key("one", digest("secret"), "one", models=("openai:*",), calls_per_minute=1)
    async with serve(Say("Yes."), keys=[key], names=None) as at:
        for verb in ("Adapt", "Route", "Generate", "Estimate", "Check", "ListModels"):
            refused(await call(at, verb, {}), 401, "unauthenticated")
        own = {"authorization": "Bearer secret"}
        models = (await call(at, "ListModels", {}, **own)).json()["models"]
        assert {model["provider"] for model in models} == {"openai"}
        chain = {"requestJson": request(), "target": "anthropic:claude-sonnet-4-6,openai:gpt-4.1", "jsonOutput": True}
        answer = await call(at, "Generate", chain, **own)
        assert answer.headers["interlingua-model"] == "openai:gpt-4.1"
        error = refused(await call(at, "Generate", chain, **own), 429, "resource_exhausted")
        assert detail(error, error_details_pb2.ErrorInfo).reason == "rate_limit"
    async with serve(Say("Yes."), keys=[Key("one", digest("secret"), "one", models=("openai:*",))], names=None) as at:
        named = {"requestJson": request(model="anthropic:claude-sonnet-4-6")}
        refused(await call(at, "Generate", named, **own), 403, "permission_denied")
        assert at.fake.sent == []


async def test_the_same_answer_as_over_grpc(serve: Any) -> None:
    """ProtoJSON of the very message that the verb gives."""
    asked = service.EstimateRequest(request_json=request(), model="openai:gpt-4.1")
    async with serve() as at:
        given = json_format.Parse(
            (await call(at, "Estimate", json_format.MessageToJson(asked))).content, service.EstimateResponse()
        )
        assert given == await at.gateway.verbs.estimate(asked)
