"""Checked by pyright, never run: what the types of clients promise."""

from decimal import Decimal
from typing import Any, assert_type

from interlingua import ActiveTool, Client, ModelResponse, Request, SyncClient, ToolRun, ToolUseBlock, Usage, tool
from interlingua.canonical import types


async def a_call(request: Request) -> None:
    async with Client() as client:
        response = await client.generate(request, model="sonnet", deadline=3.0)
        assert_type(response, ModelResponse)
        assert_type(response["message"], Any)
        assert_type(response.text, str)
        assert_type(response.tool_calls, list[ToolUseBlock])
        assert_type(response.usage, Usage | None)
        assert_type(response.cost, Decimal | None)
        async with client.stream(request) as stream:
            async for event in stream:
                assert_type(event, types.StreamEvent)
        assert_type(stream.response, ModelResponse | None)
        assert_type(await stream.final_response(), ModelResponse)


def the_same(request: Request) -> None:
    with SyncClient(retry="none", concurrency=3) as client:
        assert_type(client.generate(request, model="sonnet", raw=True), ModelResponse)
        with client.stream(request, fallbacks=["haiku"]) as stream:
            for event in stream:
                assert_type(event, types.StreamEvent)
        assert_type(stream.response, ModelResponse | None)
        assert_type(stream.final_response(), ModelResponse)
        client.generate(request, strict="lost")
        client.generate(request, modle="sonnet")  # pyright: ignore[reportCallIssue]
        client.stream(request, raw=True)  # pyright: ignore[reportCallIssue]


@tool(side_effects="read")
def active(number: int) -> str:
    return str(number)


def tools(request: Request) -> None:
    with SyncClient() as client:
        run = client.run_tools(
            request, [active, ActiveTool({"name": "x"}, print)], approve=lambda asked: asked.side_effects == "read"
        )
        assert_type(run, ToolRun)
        assert_type(run.response, ModelResponse)
        assert_type(run.open_calls, list[ToolUseBlock])
        assert_type(run.cost, Decimal | None)
        with client.stream_tools(request, [active]) as stream:
            for event in stream:
                assert_type(event, types.StreamEvent)
        assert_type(stream.response, ToolRun | None)
        assert_type(stream.final_response(), ToolRun)
        client.run_tools(request, [active], max_round=1)  # pyright: ignore[reportCallIssue]
