"""Coding agents and their tools: namespaces and free text over models that know functions alone."""

import json
from typing import Any

import pytest

from interlingua.client.fake import Say
from tests.gateway import wires

PATCH = '*** Begin Patch\n"é" \\ \u2028\n*** End Patch'
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
LONG = "a_tool_whose_name_is_as_long_as_a_name_may_be_for_its_provider"


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": "Does it.", "strict": False, "parameters": SCHEMA}


TOOLS = [
    function("exec"),
    {
        "type": "custom",
        "name": "apply_patch",
        "description": "Edits files.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
    },
    {
        "type": "namespace",
        "name": "mcp__crm",
        "description": "The customers.",
        "tools": [function("find"), function(LONG), {"type": "custom", "name": "note", "description": "Takes a note."}],
    },
]
CALLS = [
    ("mcp__crm__find", {"q": "eel"}),
    ("mcp__crm__" + LONG, {"q": "cod"}),
    ("apply_patch", {"input": PATCH}),
    ("mcp__crm__note", {"input": "four"}),
    ("exec", {"q": "ls"}),
]
FUNCTIONS_ALONE = {name: model for name, model in wires.BEHIND.items() if not name.startswith("openai")}
FUNCTIONS_ALONE["openai_chat"] = "groq:llama-3.3-70b-versatile"
FUNCTIONS_ALONE["openai_responses"] = "xai:grok-4"  # which speaks the client's wire, but for these tools
LONGEST = {"anthropic_messages": 128}
"""How long the name of a tool may be, where that is not 64."""


def asked(*items: dict[str, Any], lite: bool, stream: bool) -> dict[str, Any]:
    """A request as coding agents send it: tools in `tools`, or at the head of the input in the default namespace."""
    said = [{"role": "user", "content": "Look."}, *items]
    if not lite:
        return {"model": "gpt-5.4", "input": said, "tools": TOOLS, "stream": stream}
    functions = {"type": "namespace", "name": "functions", "description": "Tools.", "tools": TOOLS[:2]}
    declaring = {"type": "additional_tools", "role": "developer", "tools": [functions, TOOLS[2]]}
    return {"model": "gpt-5.4", "input": [declaring, *said], "tool_choice": "auto", "stream": stream}


def output(answer: Any, *, stream: bool) -> list[dict[str, Any]]:
    """The items of an answer; of a stream the finished ones, which have to say what the last event says."""
    if not stream:
        return answer.json()["output"]
    frames = [line[6:] for line in answer.text.split("\n") if line.startswith("data: ")]
    events = [json.loads(frame) for frame in frames]
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert items == events[-1]["response"]["output"]
    begun = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [(item["type"], item.get("name")) for item in begun] == [(item["type"], item.get("name")) for item in items]
    pieces: dict[str, str] = {}
    for event in events:
        if event["type"] in ("response.custom_tool_call_input.delta", "response.function_call_arguments.delta"):
            pieces[event["item_id"]] = pieces.get(event["item_id"], "") + event["delta"]
    for item in items:
        if item["type"] == "custom_tool_call":
            assert pieces[item["id"]] == item["input"]
        elif item["type"] == "function_call":
            assert json.loads(pieces[item["id"]]) == json.loads(item["arguments"])
    return items


def told(items: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What the items say of calls."""
    calls = [item for item in items if item["type"].endswith("_call")]
    return [
        (item["type"], item.get("namespace"), item["name"], item.get("input", item.get("arguments"))) for item in calls
    ]


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("lite", [False, True], ids=["tools", "declared"])
@pytest.mark.parametrize("behind", FUNCTIONS_ALONE)
async def test_an_agent_gets_its_own_tools_back(serve: Any, behind: str, lite: bool, stream: bool) -> None:
    """Calls come back as the tools were offered, and go to the provider again as it made them
    (spec/3-responses.md#called-as-offered)."""
    policy = {"version": 1, "serve": {"*": FUNCTIONS_ALONE[behind]}}
    calls = [(name[: LONGEST.get(behind, 64)], arguments) for name, arguments in CALLS]
    said = Say("I look.", calls=calls, usage={"input_tokens": 10, "output_tokens": 5})
    async with serve(said, Say("Done."), policy=policy) as at:
        answer = await at.http.post("/v1/responses", json=asked(lite=lite, stream=stream))
        assert answer.status_code == 200, answer.text
        assert "lost" not in answer.headers["interlingua-loss"]
        items = output(answer, stream=stream)
        assert told(items) == [
            ("function_call", "mcp__crm", "find", '{"q":"eel"}'),
            ("function_call", "mcp__crm", LONG, '{"q":"cod"}'),
            ("custom_tool_call", None, "apply_patch", PATCH),
            ("custom_tool_call", "mcp__crm", "note", "four"),
            ("function_call", None, "exec", '{"q":"ls"}'),
        ]
        results = [
            {"type": f"{item['type']}_output", "call_id": item["call_id"], "output": "ok"}
            for item in items
            if item["type"].endswith("_call")
        ]
        again = await at.http.post("/v1/responses", json=asked(*items, *results, lite=lite, stream=False))
        assert again.status_code == 200, again.text
        made = [
            (block["name"], block["input"])
            for message in at.fake.sent[1].request["messages"]
            for block in message["content"]
            if block["type"] == "tool_use"
        ]
        assert made == calls
        assert {tool["name"] for tool in at.fake.sent[1].request["tools"]} == {name for name, _ in calls}


@pytest.mark.asyncio
async def test_a_provider_of_the_wire_is_asked_as_if_nobody_stood_between(serve: Any) -> None:
    """Where the provider has namespaces itself, nothing of them changes (spec/11-gateway.md#same-wire)."""
    body = asked(lite=True, stream=False)
    async with serve(Say("Yes."), policy={"version": 1, "serve": {"*": "openai:gpt-5-pro"}}) as at:
        answer = await at.http.post("/v1/responses", json=body)
        assert answer.headers["interlingua-loss"] == "none"
        assert at.fake.sent[0].json == body | {"model": "gpt-5-pro"}
