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


# -- built-in tools that the client runs (spec/1-values.md#built-in-tools)

SHOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
BUILT_IN = [
    {"type": "local_shell"},
    {"type": "shell", "environment": {"type": "local"}},
    {"type": "apply_patch"},
    {"type": "computer"},
    {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": SCHEMA},
]
BUILT_IN_CALLS = [
    ("local_shell", {"command": ["ls"], "env": {"A": "é"}}),
    ("shell", {"commands": ["ls", "pwd"], "timeout_ms": 5000}),
    ("apply_patch", {"type": "create_file", "path": "a.txt", "diff": '+"é" \\ \u2028\n'}),
    ("computer", {"actions": [{"type": "click", "button": "left", "x": 1, "y": 2}]}),
    ("tool_search", {"q": "weather"}),
    ("shell", {"commands": "ls"}),
]
ITEMS = [
    {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"], "env": {"A": "é"}}},
    {
        "type": "shell_call",
        "action": {"commands": ["ls", "pwd"], "timeout_ms": 5000, "max_output_length": None},
        "environment": {"type": "local"},
    },
    {"type": "apply_patch_call", "operation": BUILT_IN_CALLS[2][1]},
    {"type": "computer_call", "actions": BUILT_IN_CALLS[3][1]["actions"], "pending_safety_checks": []},
    {"type": "tool_search_call", "execution": "client", "arguments": {"q": "weather"}},
    {"type": "function_call", "name": "shell", "arguments": '{"commands":"ls"}'},
]
PREFIXES = ["lsh_", "sh_", "apc_", "cu_", "tsc_", "fc_"]
RAN = [{"stdout": "a é\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
OUTPUTS: list[dict[str, Any]] = [
    {"type": "local_shell_call_output", "output": "a"},
    {"type": "shell_call_output", "output": RAN, "max_output_length": None},
    {"type": "apply_patch_call_output", "status": "failed", "output": "no"},
    {
        "type": "computer_call_output",
        "output": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{SHOT}"},
    },
    {"type": "tool_search_output", "execution": "client", "status": "completed", "tools": [function("get_weather")]},
    {"type": "function_call_output", "output": "commands is a list"},
]


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("behind", FUNCTIONS_ALONE)
async def test_built_in_tools_of_a_responses_client_come_back(serve: Any, behind: str, stream: bool) -> None:
    """Every model gets them as functions; the client gets the items of its own tools, and what it answers goes on as results
    (spec/adapters/openai_responses.md#openai-responses-built-in)."""
    policy = {"version": 1, "serve": {"*": FUNCTIONS_ALONE[behind]}}
    said = Say(calls=BUILT_IN_CALLS, usage={"input_tokens": 10, "output_tokens": 5})
    begin = {"model": "gpt-5.4", "input": [{"role": "user", "content": "Look."}], "tools": BUILT_IN, "stream": stream}
    found = Say(calls=[("get_weather", {"q": "Oslo"})])
    async with serve(said, found, Say("Done."), policy=policy) as at:
        answer = await at.http.post("/v1/responses", json=begin)
        assert answer.status_code == 200, answer.text
        assert "lost" not in answer.headers["interlingua-loss"]
        items = output(answer, stream=stream)
        assert [{name: item[name] for name in shape} for item, shape in zip(items, ITEMS, strict=True)] == ITEMS
        assert [item["status"] for item in items] == ["completed"] * len(ITEMS)
        assert all(item["id"].startswith(prefix) for item, prefix in zip(items, PREFIXES, strict=True))
        offered = at.fake.sent[0].request["tools"]
        assert [tool["name"] for tool in offered] == [tool["type"] for tool in BUILT_IN]
        assert all(tool["description"] and tool["input_schema"]["type"] == "object" for tool in offered)

        named = {"local_shell_call_output": "id"}
        answers = [
            {**told, named.get(told["type"], "call_id"): item["call_id"]}
            for item, told in zip(items, OUTPUTS, strict=True)
        ]
        again = {**begin, "input": [*begin["input"], *items, *answers], "stream": False}  # type: ignore[misc]
        answer = await at.http.post("/v1/responses", json=again)
        assert answer.status_code == 200, answer.text
        assert [(item["type"], item["name"]) for item in answer.json()["output"]] == [("function_call", "get_weather")]
        sent = at.fake.sent[1].request
        assert [tool["name"] for tool in sent["tools"]] == [*(tool["type"] for tool in BUILT_IN), "get_weather"]
        blocks = [block for message in sent["messages"] for block in message["content"]]
        assert [(b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"] == BUILT_IN_CALLS
        results = [block for block in blocks if block["type"] == "tool_result"]
        texts = ["a", json.dumps(RAN, ensure_ascii=False, separators=(",", ":")), "no"]
        assert [result["content"][0].get("text") for result in results[:3]] == texts
        assert [bool(result.get("is_error")) for result in results[:3]] == [False, False, True]
        assert (SHOT in json.dumps(at.fake.sent[1].json)) == (behind not in WITHOUT_PICTURES)
        assert ("lost" in answer.headers["interlingua-loss"]) == (behind in WITHOUT_PICTURES), answer.headers


WITHOUT_PICTURES = ("cohere_chat", "openai_chat")
"""Where the models behind see no screenshot: that is reported."""


@pytest.mark.asyncio
async def test_a_provider_of_the_wire_gets_built_in_tools_as_they_are(serve: Any) -> None:
    """Nothing of them changes where the provider has them itself (spec/11-gateway.md#same-wire)."""
    calls = [
        {**item, "id": f"{prefix}1", "call_id": f"call_{n}"}
        for n, (item, prefix) in enumerate(zip(ITEMS, PREFIXES, strict=True))
    ]
    answers = [{**told, "call_id": item["call_id"]} for told, item in zip(OUTPUTS, calls, strict=True)]
    body = {"model": "gpt-5.4", "input": [{"role": "user", "content": "Look."}, *calls, *answers], "tools": BUILT_IN}
    async with serve(Say("Yes."), policy={"version": 1, "serve": {"*": "openai:gpt-5-pro"}}) as at:
        answer = await at.http.post("/v1/responses", json=body)
        assert answer.headers["interlingua-loss"] == "none"
        assert at.fake.sent[0].json == body | {"model": "gpt-5-pro"}


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("behind", wires.BEHIND)
async def test_built_in_tools_of_an_anthropic_client_come_back(serve: Any, behind: str, stream: bool) -> None:
    """A shell and an editor of files are functions elsewhere, and their calls the client's own
    (spec/adapters/anthropic_messages.md#anthropic-messages-built-in)."""
    # on the client's own wire: a server of another maker, which knows functions alone
    model = "vllm:qwen3" if behind == "anthropic_messages" else wires.BEHIND[behind]
    policy = {"version": 1, "serve": {"*": model}}
    edit = {"command": "create", "path": "/a", "file_text": '"é"\n'}
    calls = [("bash", {"command": "ls"}), ("str_replace_based_edit_tool", edit)]
    tools = [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 9000},
    ]
    body = {
        "model": "claude-sonnet-4-6",
        "max_tokens": 1000,
        "tools": tools,
        "messages": [{"role": "user", "content": "Look."}],
    }
    headers = {"anthropic-version": "2023-06-01"}
    async with serve(Say(calls=calls), Say("Done."), policy=policy) as at:
        answer = await at.http.post("/v1/messages", json={**body, "stream": stream}, headers=headers)
        assert answer.status_code == 200, answer.text
        assert "lost" not in answer.headers["interlingua-loss"]
        if stream:
            frames = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]
            content = [frame["content_block"] for frame in frames if frame["type"] == "content_block_start"]
            for frame in frames:
                if frame["type"] == "content_block_delta":
                    block = content[frame["index"]]
                    block["said"] = block.get("said", "") + frame["delta"]["partial_json"]
            content = [
                {"type": b["type"], "id": b["id"], "name": b["name"], "input": json.loads(b["said"])} for b in content
            ]
        else:
            content = answer.json()["content"]
        assert [(block["name"], block["input"]) for block in content] == calls
        assert [tool["name"] for tool in at.fake.sent[0].request["tools"]] == [name for name, _ in calls]
        assert "max_characters: 9000" in at.fake.sent[0].request["tools"][1]["description"]
        assert "bash_20250124" not in json.dumps(at.fake.sent[0].json)
        assert behind != "anthropic_messages" or at.fake.sent[0].adapter == behind
        results = [{"type": "tool_result", "tool_use_id": block["id"], "content": "ok"} for block in content]
        turns = [*body["messages"], {"role": "assistant", "content": content}, {"role": "user", "content": results}]  # type: ignore[misc]
        again = await at.http.post("/v1/messages", json={**body, "messages": turns}, headers=headers)
        assert again.status_code == 200, again.text
        blocks = [block for message in at.fake.sent[1].request["messages"] for block in message["content"]]
        assert [(b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"] == calls


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("behind", wires.BEHIND)
async def test_a_set_of_tools_of_an_anthropic_client_comes_back(serve: Any, behind: str, stream: bool) -> None:
    """A set is a function for each of its tools elsewhere, and their calls name it for the client
    (spec/adapters/anthropic_messages.md#anthropic-messages-toolsets)."""
    model = "vllm:qwen3" if behind == "anthropic_messages" else wires.BEHIND[behind]
    policy = {"version": 1, "serve": {"*": model}}
    calls = [("computer__left_click", {"coordinate": [1, 2]}), ("left_click", {}), ("computer__wait", {"duration": 1})]
    function = {"name": "left_click", "description": "Clicks.", "input_schema": {"type": "object", "properties": {}}}
    tools = [{"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}}, function]
    asked = [{"role": "user", "content": "Look."}]
    body = {"model": "claude-opus-5", "max_tokens": 1000, "tools": tools, "messages": asked, "stream": stream}
    headers = {"anthropic-version": "2023-06-01"}
    async with serve(Say(calls=calls), Say("Done."), policy=policy) as at:
        answer = await at.http.post("/v1/messages", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        if stream:
            frames = [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")]
            content = [frame["content_block"] for frame in frames if frame["type"] == "content_block_start"]
            for block, (_, arguments) in zip(content, calls, strict=True):
                block["input"] = arguments
        else:
            content = answer.json()["content"]
        said = [(block.get("toolset_name"), block["name"]) for block in content]
        assert said == [("computer", "left_click"), (None, "left_click"), ("computer", "wait")]
        offered = [tool["name"] for tool in at.fake.sent[0].request["tools"]]
        assert len(offered) == 17
        assert "computer__zoom" not in offered
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "OK"}
            | ({"toolset_name": block["toolset_name"]} if "toolset_name" in block else {})
            for block in content
        ]
        turns = [*asked, {"role": "assistant", "content": content}, {"role": "user", "content": results}]
        again = await at.http.post("/v1/messages", json={**body, "stream": False, "messages": turns}, headers=headers)
        assert again.status_code == 200, again.text
        blocks = [block for message in at.fake.sent[1].request["messages"] for block in message["content"]]
        assert [(b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"] == calls
        assert "toolset" not in json.dumps(at.fake.sent[1].json)


@pytest.mark.asyncio
@pytest.mark.parametrize("behind", [name for name in wires.BEHIND if name != "gemini_generate"])
async def test_a_gemini_client_with_a_computer(serve: Any, behind: str) -> None:
    """The predefined functions of the model that the client asks for reach any other, and calls of them come back
    (spec/adapters/gemini_generate.md#gemini-generate-computer-use)."""
    calls = [("click", {"x": 5, "y": 9, "intent": "To open it."})]
    computer = {"computerUse": {"environment": "ENVIRONMENT_DESKTOP", "excludedPredefinedFunctions": ["hotkey"]}}
    body = {"contents": [{"role": "user", "parts": [{"text": "Look."}]}], "tools": [computer]}
    policy = {"version": 1, "serve": {"*": wires.BEHIND[behind]}}
    async with serve(Say(calls=calls), policy=policy) as at:
        answer = await at.http.post("/v1beta/models/gemini-3.5-flash:generateContent", json=body)
        assert answer.status_code == 200, answer.text
        assert "lost" not in answer.headers["interlingua-loss"]
        parts = answer.json()["candidates"][0]["content"]["parts"]
        assert [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts] == calls
        offered = [tool["name"] for tool in at.fake.sent[0].request["tools"]]
        assert len(offered) == 16
        assert {"click", "scroll"} <= {*offered}
        assert "hotkey" not in offered
        assert "computerUse" not in json.dumps(at.fake.sent[0].json)
