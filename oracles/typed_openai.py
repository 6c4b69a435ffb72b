"""
Requests, answers and streams of both wires of OpenAI, made at random of the SDK's own types.

What the types cannot say is said here: calls have their results, tools their names, ids are unique, data are data. What
a service would refuse all the same (a temperature of 4096, a picture that is a word) is in the values too, where
`careful` is false.
"""

import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from typed_values import Maker, Override

Data = dict[str, Any]

NAMES = ["look_up", "get-weather", "Run_2", "x" * 64]
ARGUMENTS = ['{"city":"Paris"}', '{"a": 1, "b": [1.50, "ü"]}', "{}", '{"n":12345678901234567890}', "", '{"cut":', "[1]"]
SCHEMAS: list[Data] = [
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}},
    {"$defs": {"n": {"type": "number"}}, "type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}},
]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
PICTURES = [f"data:image/png;base64,{PNG}", "https://example.com/a.png"]
PAPERS = ["data:application/pdf;base64,JVBERi0xLjQK", "data:text/plain;base64,aGVsbG8="]


def one_of(*values: Any) -> Override:
    """An override that picks."""
    return lambda draw: draw.rng.choice(values)


def fresh(prefix: str) -> Override:
    """An override that makes an id."""
    return lambda draw: f"{prefix}_{draw.rng.randrange(16**12):012x}"


def file_by(*ways: Data) -> Override:
    """A file or picture that is somewhere."""
    return lambda draw: dict(draw.rng.choice(ways))


def _metadata(draw: Maker) -> Any:
    return draw.rng.choice([{}, {"user_id": "u"}, {"a": "1", "trace": "x" * 512}, None])


LATER = 0.1
"""How often an object has a member that its type does not know."""

MEANT: dict[str, Override] = {
    "*.model": one_of("gpt-5.5", "gpt-4o", "o3", "gpt-4o-audio-preview", "some-model"),
    "*.name": one_of(*NAMES),
    "*.arguments": one_of(*ARGUMENTS),
    "*.parameters": one_of(*SCHEMAS),
    "*.schema": one_of(*SCHEMAS),
    "*.output_schema": one_of(*SCHEMAS),
    "*.input_schema": one_of(*SCHEMAS),
    **{
        f"{kind}.image_url": one_of(*PICTURES)
        for kind in (
            "ResponseInputImageParam",
            "ResponseInputImageContentParam",
            "ResponseComputerToolCallOutputScreenshotParam",
            "ImageGenerationInputImageMask",
        )
    },
    "*.file_data": one_of(*PAPERS),
    "*.file_url": one_of("https://example.com/a.pdf"),
    "*.url": one_of("https://example.com/a", "https://example.com/b?c=ü"),
    "*.id": fresh("id"),
    **{
        f"{kind}.id": fresh(prefix)
        for prefix, kinds in {
            "msg": ("ResponseOutputMessage", "ResponseOutputMessageParam"),
            "rs": ("ResponseReasoningItem", "ResponseReasoningItemParam"),
            "fc": ("ResponseFunctionToolCall", "ResponseFunctionToolCallParam"),
            "ctc": ("ResponseCustomToolCall", "ResponseCustomToolCallParam"),
        }.items()
        for kind in kinds
    },
    "*.call_id": fresh("call"),
    "*.temperature": one_of(0, 0.7, 1, 1.0, 2, None),
    "*.top_p": one_of(0.1, 1, 1.0, None),
    "*.frequency_penalty": one_of(-2, 0, 0.5, None),
    "*.presence_penalty": one_of(-2, 0, 0.5, None),
    "*.n": one_of(1, 2, None),
    "CompletionCreateParamsNonStreaming.top_logprobs": one_of(0, 5, 20, None),
    "ResponseCreateParamsNonStreaming.top_logprobs": one_of(0, 5, 20, None),
    "*.max_tokens": one_of(1, 100, None),
    "*.max_completion_tokens": one_of(1, 100, 4096, None),
    "*.max_output_tokens": one_of(16, 100, 4096, None),
    "*.metadata": _metadata,
    "*.stop": one_of("END", ["END"], ["a", "b"], [], None),
    "*.phase": one_of("commentary", "final_answer", None),
    "ImageURL.url": one_of(*PICTURES),
    "InputAudio.data": one_of("UklGRg=="),
    "FileFile": file_by(
        {"file_id": "file-1"},
        {"file_data": PAPERS[0], "filename": "a.pdf"},
        {"file_data": PAPERS[0]},
        {"file_id": "file-2", "filename": "b.pdf"},
    ),
}
"""What has a meaning, whatever type it is a member of."""


# --- Chat: requests -----------------------------------------------------------------------------------------------------


def _chat_messages(draw: Maker) -> list[Data]:
    messages: list[Data] = []
    for _ in range(draw.rng.randint(1, 5)):
        kind = draw.rng.choice(["System", "Developer", "User", "User", "Assistant", "Assistant", "Assistant"])
        message = draw.named(f"ChatCompletion{kind}MessageParam")
        messages.append(message)
        for call in draw.rng.sample(calls := message.get("tool_calls") or [], len(calls)):
            messages.append(draw.named("ChatCompletionToolMessageParam", tool_call_id=call["id"]))
        if legacy := message.get("function_call"):
            messages.append(draw.named("ChatCompletionFunctionMessageParam", name=legacy["name"]))
    if draw.chance(0.9):
        messages.append(draw.named("ChatCompletionUserMessageParam", content="hello"))
    return messages


def _assistant(draw: Maker) -> Any:
    """Either kind of calls, not both."""
    made = draw.plain("ChatCompletionAssistantMessageParam")
    if made.get("tool_calls"):
        made.pop("function_call", None)
    if isinstance(made.get("audio"), dict) and draw.chance(0.5):
        made["content"] = None
    return made


def chat_request(seed: int, *, careful: bool = True) -> Data:
    """A body of `POST /chat/completions`."""
    meant = {"CompletionCreateParamsNonStreaming.messages": _chat_messages}
    if careful:
        meant |= MEANT | {
            "ChatCompletionAssistantMessageParam": _assistant,
            "ChatCompletionAllowedToolsParam.tools": _allowed(lambda name: {"function": {"name": name}}),
        }
    draw = Maker(CompletionCreateParamsNonStreaming, random.Random(seed), meant, later=LATER)
    body = draw.value()
    if careful:
        _unique(body)
        for one, other in (("tools", "functions"), ("tool_choice", "function_call")):
            if one in body:
                body.pop(other, None)
    if draw.chance(0.3):
        body["stream"] = True
    return body


def _allowed(nested: Callable[[str], Data]) -> Override:
    return lambda draw: [{"type": "function", **nested(draw.rng.choice(NAMES))}]


def _unique(body: Data) -> None:
    """Tools of one request have names of their own; there is none without a name."""
    for member in ("tools", "functions"):
        seen: set[str] = set()
        for tool in body.get(member) or []:
            named = tool.get(tool.get("type")) if isinstance(tool.get(tool.get("type")), dict) else tool
            while named.get("name") in seen:
                named["name"] += "_"
                named["name"] = named["name"][-64:]
            seen.add(named.get("name") or "")


# --- Responses: requests ------------------------------------------------------------------------------------------------

RESULTS = {
    "function_call": "FunctionCallOutput",
    "custom_tool_call": "ResponseCustomToolCallOutputParam",
    "computer_call": "ComputerCallOutput",
    "shell_call": "ShellCallOutput",
    "apply_patch_call": "ApplyPatchCallOutput",
    "local_shell_call": "LocalShellCallOutput",
    "tool_search_call": "ResponseToolSearchOutputItemParamParam",
    "program": "ProgramOutput",
}
"""The type of the result, by the type of the call."""


def _input(draw: Maker) -> Any:
    if draw.chance(0.1):
        return "hello"
    arms = next(arm for arm in draw.root["properties"]["input"]["anyOf"] if arm.get("type") == "array")["items"]
    names = [arm["$ref"].removeprefix("#/$defs/") for arm in arms["anyOf"]]
    names = [name for name in names if name not in RESULTS.values()]
    names += ["EasyInputMessageParam", "ResponseReasoningItemParam", "ResponseFunctionToolCallParam"] * 5
    items: list[Data] = []
    owed: list[Data] = []
    for _ in range(draw.rng.randint(1, 7)):
        items.append(item := draw.named(draw.rng.choice(names)))
        if result := RESULTS.get(item.get("type", "")):
            if item.get("call_id") is None:
                item["call_id"] = fresh("call")(draw)
            owed.append(draw.named(result, call_id=item["call_id"]))
            if result == "LocalShellCallOutput":
                owed[-1]["id"] = owed[-1].pop("call_id")
        if owed and draw.chance(0.6):
            items += draw.rng.sample(owed, len(owed))
            owed = []
    return items + owed + ([{"role": "user", "content": "hello"}] if draw.chance(0.7) else [])


def _once(*names: str) -> Callable[[str], Override]:
    """Of several members that name one thing, one."""

    def override(kind: str) -> Override:
        def make(draw: Maker) -> Data:
            made = draw.plain(kind)
            given = [name for name in names if made.get(name) is not None]
            for name in given[1:]:
                del made[name]
            if not given:
                made["file_id"] = "file-1"
            return made

        return make

    return override


_file = _once("file_data", "file_url", "file_id")
_image = _once("image_url", "file_id")


def responses_request(seed: int, *, careful: bool = True) -> Data:
    """A body of `POST /responses`."""
    meant = {"ResponseCreateParamsNonStreaming.input": _input}
    if careful:
        meant |= MEANT | {
            "ToolChoiceAllowedParam.tools": _allowed(lambda name: {"name": name}),
            **{kind: _file(kind) for kind in ("ResponseInputFileParam", "ResponseInputFileContentParam")},
            **{kind: _image(kind) for kind in ("ResponseInputImageParam", "ResponseInputImageContentParam")},
        }
    draw = Maker(ResponseCreateParamsNonStreaming, random.Random(seed), meant, later=LATER)
    body = draw.value()
    if careful:
        _unique(body)
        body.setdefault("model", "gpt-5.5")
        if "input" not in body:
            body["input"] = _input(draw)
        if body.get("previous_response_id") is not None:
            body.pop("conversation", None)
    if draw.chance(0.3):
        body["stream"] = True
    return body


# --- Chat: answers and their streams ------------------------------------------------------------------------------------


def chat_answer(seed: int) -> Data:
    """A body that answers `POST /chat/completions`."""
    meant = MEANT | {
        "ChatCompletionAudio.data": one_of("UklGRg==", "aGVsbG8="),
        "ChatCompletionMessage": _message,
        "*.usage": _chat_usage,
        "ChoiceLogprobs": _logprobs,
        "*.metadata": one_of({}, {"a": "b"}, None),
    }
    draw = Maker(ChatCompletion, random.Random(seed), meant, later=LATER)
    body = draw.value()
    while not body["choices"]:
        body["choices"] = [draw.named("Choice")]
    for index, choice in enumerate(body["choices"]):
        choice["index"] = index
        if index and choice["message"].get("audio"):  # only of the first answer events say where a late block stands
            choice["message"].pop("tool_calls", None)
            choice["message"].pop("function_call", None)
    return body


def _message(draw: Maker) -> Data:
    made = draw.plain("ChatCompletionMessage")
    if made.get("tool_calls"):
        made.pop("function_call", None)
    return made


def _logprobs(draw: Maker) -> Data:
    made = {"content": None, "refusal": None} | draw.plain("ChoiceLogprobs")
    return {name: value or None if name in ("content", "refusal") else value for name, value in made.items()}


def _chat_usage(draw: Maker) -> Any:
    made = draw.named("CompletionUsage")
    made |= {"prompt_tokens": 300, "completion_tokens": 200, "total_tokens": 500}
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        if made.get(name):
            made[name] = {key: value % 100 if isinstance(value, int) else value for key, value in made[name].items()}
    return made


def cut(text: str, rng: random.Random) -> list[str]:
    """The text in pieces; one for no text."""
    edges = sorted({0, len(text), *(rng.randint(0, len(text)) for _ in range(rng.randint(0, 3)))})
    return [text[a:b] for a, b in itertools.pairwise(edges)] or [""]


def _deltas(choice: Data, rng: random.Random) -> Iterator[Data]:
    """The choices of chunks that tell one choice."""
    message, logprobs = choice["message"], choice.get("logprobs") or {}
    around = beside(choice, "message", "finish_reason", "logprobs")

    def piece(delta: Data, finish: str | None = None, **more: Any) -> Data:
        return {**around, "delta": delta, "finish_reason": finish, **more}

    told = ("content", "refusal", "annotations", "audio", "function_call", "tool_calls")
    untold = logprobs and not any(logprobs.get(name) for name in ("content", "refusal"))
    first = {**beside(message, *told), **rng.choice([{}, {"content": ""}, {"content": None}, {"refusal": None}])}
    yield piece(first, **({"logprobs": logprobs} if untold else {}))
    given = logprobs
    for name in ("content", "refusal"):
        text, tokens = message.get(name), given.get(name) or []
        pieces = [""] if text is None else cut(text, rng)
        for number, part in enumerate(pieces):
            share = tokens[number * len(tokens) // len(pieces) : (number + 1) * len(tokens) // len(pieces)]
            more = {"logprobs": {**logprobs, "content": None, "refusal": None, name: share}} if share else {}
            logprobs = {} if share else logprobs
            yield piece({} if text is None else {name: part}, **more)
    if message.get("annotations"):
        yield piece({"annotations": message["annotations"]})
    if audio := message.get("audio"):
        yield piece({"audio": beside(audio, "transcript", "data", "expires_at")})
        for name in ("transcript", "data"):
            for part in cut(audio[name], rng):
                yield piece({"audio": {name: part}})
        yield piece({"audio": {"expires_at": audio["expires_at"]}})
    if call := message.get("function_call"):
        yield piece({"function_call": {**call, "arguments": ""}})
        for part in cut(call["arguments"], rng):
            yield piece({"function_call": {"arguments": part}})
    yield from map(piece, _calls(message.get("tool_calls") or [], rng))
    yield piece({}, choice["finish_reason"])


def beside(value: Data, *known: str) -> Data:
    """The other members."""
    return {name: member for name, member in value.items() if name not in known}


def _calls(calls: list[Data], rng: random.Random) -> Iterator[Data]:
    """The pieces of calls, one after another, or all of them at once."""
    told = [list(_pieces(number, call, rng)) for number, call in enumerate(calls)]
    if rng.random() < 0.2:
        for pieces in itertools.zip_longest(*told):
            yield {"tool_calls": [piece for piece in pieces if piece is not None]}
    else:
        for piece in itertools.chain(*told):
            yield {"tool_calls": [piece]}


def _pieces(number: int, call: Data, rng: random.Random) -> Iterator[Data]:
    kind, said = ("function", "arguments") if call["type"] == "function" else ("custom", "input")
    if rng.random() < 0.2:
        yield {"index": number, **call}
        return
    yield {"index": number, **call, kind: {**call[kind], said: ""}}
    for part in cut(call[kind][said], rng):
        yield {"index": number, kind: {said: part}}


def chat_stream(body: Data, rng: random.Random) -> str:
    """An answer, as chunks."""
    around = {name: value for name, value in body.items() if name not in ("choices", "usage", "object")}
    around["object"] = "chat.completion.chunk"
    if rng.random() < 0.3:
        around["usage"] = None
    going = [_deltas(choice, rng) for choice in body["choices"]]
    chunks: list[Data] = [{**around, "choices": []}] if rng.random() < 0.1 else []
    together = rng.random() < 0.2
    while going:
        one = rng.choice(going)
        if (piece := next(one, None)) is None:
            going.remove(one)
        elif together and chunks and all(other["index"] != piece["index"] for other in chunks[-1]["choices"]):
            chunks[-1]["choices"].append(piece)
        else:
            chunks.append({**around, "choices": [piece]})
    if body.get("usage") is not None and rng.random() < 0.2:
        chunks[-1]["usage"] = body["usage"]
    elif body.get("usage") is not None:
        chunks.append({**around, "choices": [], "usage": body["usage"]})
    return "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


# --- Responses: answers and their streams -------------------------------------------------------------------------------


def responses_answer(seed: int) -> Data:
    """A body that answers `POST /responses`."""
    meant = MEANT | {
        "ResponseUsage": _responses_usage,
        "Response.error": one_of(None),
        "*.phase": one_of("commentary", "final_answer", None),
    }
    draw = Maker(Response, random.Random(seed), meant, later=LATER)
    body = draw.value()
    while not body["output"] and draw.chance(0.9):
        body["output"] = draw.value()["output"]
    body["status"] = ended = draw.rng.choice(["completed"] * 4 + ["incomplete", "failed", "cancelled", "in_progress"])
    body.pop("incomplete_details", None)
    if ended == "incomplete":
        body["incomplete_details"] = {"reason": draw.rng.choice(["max_output_tokens", "content_filter"])}
    elif ended == "failed":
        body["error"] = draw.named("ResponseError")
    return body


def _responses_usage(draw: Maker) -> Any:
    made = draw.plain("ResponseUsage")
    return made | {
        "input_tokens": 300,
        "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 10},
        "output_tokens": 200,
        "output_tokens_details": {"reasoning_tokens": 50},
        "total_tokens": 500,
    }


def _item_events(item: Data, rng: random.Random) -> Iterator[Data]:
    """What is told of one item between its beginning and its end; indices and ids are added to it."""
    match item["type"]:
        case "message":
            for number, part in enumerate(item["content"]):
                yield from _part_events(part, {"content_index": number}, rng)
        case "function_call" | "mcp_call":
            name = (
                "response.function_call_arguments" if item["type"] == "function_call" else "response.mcp_call_arguments"
            )
            for piece in cut(item["arguments"], rng):
                yield {"type": f"{name}.delta", "delta": piece}
            yield {"type": f"{name}.done", "arguments": item["arguments"]}
        case "custom_tool_call":
            for piece in cut(item["input"], rng):
                yield {"type": "response.custom_tool_call_input.delta", "delta": piece}
            yield {"type": "response.custom_tool_call_input.done", "input": item["input"]}
        case "reasoning":
            for number, part in enumerate(item["summary"]):
                place = {"summary_index": number}
                yield {"type": "response.reasoning_summary_part.added", **place, "part": {**part, "text": ""}}
                for piece in cut(part["text"], rng):
                    yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
                yield {"type": "response.reasoning_summary_text.done", **place, "text": part["text"]}
                yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
            for number, part in enumerate(item.get("content") or []):
                yield from _part_events(part, {"content_index": number}, rng)
        case "code_interpreter_call":
            yield {"type": "response.code_interpreter_call.in_progress"}
            for piece in cut(item.get("code") or "", rng):
                yield {"type": "response.code_interpreter_call_code.delta", "delta": piece}
            yield {"type": "response.code_interpreter_call_code.done", "code": item.get("code") or ""}
            yield {"type": "response.code_interpreter_call.interpreting"}
            yield {"type": "response.code_interpreter_call.completed"}
        case "image_generation_call":
            yield {"type": "response.image_generation_call.generating"}
            yield {
                "type": "response.image_generation_call.partial_image",
                "partial_image_b64": PNG,
                "partial_image_index": 0,
            }
            yield {"type": "response.image_generation_call.completed"}
        case "web_search_call" | "file_search_call":
            for word in ("in_progress", "searching", "completed"):
                yield {"type": f"response.{item['type']}.{word}"}
        case "mcp_list_tools":
            yield {"type": "response.mcp_list_tools.completed"}
        case "shell_call":
            for number, command in enumerate(item["action"]["commands"]):
                place = {"command_index": number}
                yield {"type": "response.shell_call_command.added", **place, "command": ""}
                for piece in cut(command, rng):
                    yield {"type": "response.shell_call_command.delta", **place, "delta": piece}
                yield {"type": "response.shell_call_command.done", **place, "command": command}
        case "compaction":
            yield {"type": "response.compaction.compacting"}
        case _:
            return


def _part_events(part: Data, place: Data, rng: random.Random) -> Iterator[Data]:
    match part["type"]:
        case "output_text":
            told = {"annotations": [], "logprobs": []} if "logprobs" in part else {"annotations": []}
            yield {"type": "response.content_part.added", **place, "part": {**part, "text": "", **told}}
            for piece in cut(part["text"], rng):
                yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
            for number, annotation in enumerate(part["annotations"]):
                yield {
                    "type": "response.output_text.annotation.added",
                    **place,
                    "annotation_index": number,
                    "annotation": annotation,
                }
            yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
        case "refusal":
            yield {"type": "response.content_part.added", **place, "part": {**part, "refusal": ""}}
            for piece in cut(part["refusal"], rng):
                yield {"type": "response.refusal.delta", **place, "delta": piece}
            yield {"type": "response.refusal.done", **place, "refusal": part["refusal"]}
        case _:
            yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
            for piece in cut(part["text"], rng):
                yield {"type": "response.reasoning_text.delta", **place, "delta": piece}
            yield {"type": "response.reasoning_text.done", **place, "text": part["text"]}
    yield {"type": "response.content_part.done", **place, "part": part}


BEGUN: Data = {"content": [], "arguments": "", "input": "", "summary": [], "encrypted_content": None, "code": ""}
"""Members that a finished item has and a begun one has not yet."""


def _told_item(item: Data, index: int, rng: random.Random) -> Iterator[Data]:
    begun = {name: BEGUN.get(name, value) for name, value in item.items()}
    if isinstance(begun.get("status"), str):
        begun["status"] = "in_progress"
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    known = {"item_id": item["id"]} if item.get("id") is not None else {}
    for event in _item_events(item, rng):
        yield {"type": event["type"], **known, "output_index": index, **event}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def responses_stream(body: Data, rng: random.Random) -> str:
    """An answer, as events; items that are told at once now and then."""
    begun = body | {"status": "in_progress", "output": [], "usage": None}
    begun.pop("incomplete_details", None)
    events: list[Data] = [{"type": f"response.{word}", "response": begun} for word in ("created", "in_progress")]
    waiting = [_told_item(item, index, rng) for index, item in enumerate(body["output"])]
    at_once = 2 if rng.random() < 0.1 else 1
    going: list[Iterator[Data]] = []
    while waiting or going:
        while waiting and len(going) < at_once:
            going.append(waiting.pop(0))
        one = rng.choice(going)
        if (event := next(one, None)) is None:
            going.remove(one)
        else:
            events.append(event)
    last = body["status"] if body["status"] in ("completed", "incomplete", "failed") else "completed"
    events.append({"type": f"response.{last}", "response": body})
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)
