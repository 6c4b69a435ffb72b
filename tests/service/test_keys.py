"""Where the server has keys, every method requires one, and the limits of a key apply as at the gateway."""

from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from interlingua.canonical import json
from interlingua.client import Say
from interlingua.v1 import service_pb2 as service
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub

from .sessions_served import ACME, CLAUDE, GPT, keys, serving, user

pytestmark = pytest.mark.asyncio
METHODS = list(service.DESCRIPTOR.services_by_name["InterlinguaService"].methods)


def asked(model: str) -> service.GenerateRequest:
    return service.GenerateRequest(request_json=json.dumps({"messages": [user("Hi.")]}).decode(), target=model)


def bearer(key: str) -> Any:
    return (("authorization", f"Bearer {key}"),)


async def code_of(call: Any) -> grpc.StatusCode:
    """Return the error of a call, which must fail."""
    try:
        if hasattr(call, "__aiter__"):
            assert [one async for one in call]
        else:
            await call
    except grpc.aio.AioRpcError as error:
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("metadata", [None, bearer("ilk_of_nobody")], ids=["without a key", "an unknown key"])
async def test_every_method_asks_for_a_key(tmp_path: Path, method: Any, metadata: Any) -> None:
    async with serving(tmp_path, Say("Hello!"), who=keys()) as at:
        request: Any = getattr(service, method.input_type.name)()
        call = getattr(InterlinguaServiceStub(at.channel), method.name)
        given = iter([request]) if method.client_streaming else request
        assert await code_of(call(given, metadata=metadata, timeout=20)) is grpc.StatusCode.UNAUTHENTICATED
        assert not at.fake.sent


async def test_who_guesses_is_told_to_wait(tmp_path: Path) -> None:
    """It does not lock out a key that has worked from the same address (spec/11-gateway.md#guesses)."""
    async with serving(tmp_path, who=keys()) as at:
        stub: Any = InterlinguaServiceStub(at.channel)

        async def told(key: str) -> grpc.StatusCode:
            return await code_of(stub.ListModels(service.ListModelsRequest(), metadata=bearer(key), timeout=20))

        assert await told(ACME) is grpc.StatusCode.OK
        guesses = [await told(f"ilk_{number}") for number in range(30)]
        assert guesses[:20] == [grpc.StatusCode.UNAUTHENTICATED] * 20
        assert guesses[-1] is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await told(ACME) is grpc.StatusCode.OK


async def test_a_key_may_use_its_models_as_often_as_it_may(tmp_path: Path) -> None:
    who = keys(models=("openai:*",), calls_per_minute=2)
    async with serving(tmp_path, Say("Hello!"), Say("Hello!"), who=who) as at:
        stub: Any = InterlinguaServiceStub(at.channel)
        of_acme = {"metadata": bearer(ACME), "timeout": 20}
        assert await code_of(stub.Generate(asked(CLAUDE), **of_acme)) is grpc.StatusCode.PERMISSION_DENIED
        assert not at.fake.sent
        answer = await stub.Generate(asked(GPT), **of_acme)
        assert answer.response.message.content[0].text.text == "Hello!"
        streamed = service.GenerateStreamRequest(request_json=asked(GPT).request_json, target=GPT)
        events = [one.event async for one in stub.GenerateStream(streamed, **of_acme)]
        assert events[-1].HasField("message_complete")
        assert await code_of(stub.Generate(asked(GPT), **of_acme)) is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert len(at.fake.sent) == 2


async def test_what_a_key_spends_counts(tmp_path: Path) -> None:
    who = keys(tokens_per_minute=20)
    said = Say("Hello!", usage={"input_tokens": 60, "output_tokens": 40})
    for name in ("Generate", "GenerateStream"):
        (tmp_path / name).mkdir()
        async with serving(tmp_path / name, said, who=who) as at:
            call = getattr(InterlinguaServiceStub(at.channel), name)
            request = getattr(service, f"{name}Request")(request_json=asked(GPT).request_json, target=GPT)
            first = call(request, metadata=bearer(ACME), timeout=20)
            if hasattr(first, "__aiter__"):
                assert [one async for one in first]
            else:
                await first
            again = call(request, metadata=bearer(ACME), timeout=20)
            assert await code_of(again) is grpc.StatusCode.RESOURCE_EXHAUSTED
