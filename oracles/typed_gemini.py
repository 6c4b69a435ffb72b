"""
Requests, answers and streams of Gemini's generateContent, at random, from the types of google-genai.

A part holds one kind of data, every call has its response in the content after it, names are within their grammar.
"""

import json
import random
import re
from typing import Any

from google.genai import types
from typed_anthropic import SCHEMAS, TEXTS, cut, numbered, one_of
from typed_values import ABSENT, Maker

Data = dict[str, Any]
LATER = 0.03
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
OBJECTS: list[Data] = [{}, {"a": 1}, {"a": {"b": [1, 2.5, None]}, "ü": "x"}, {"city": "Oslo"}]
RESPONSES: list[Data] = [
    *[{}, {"result": "ok"}, {"result": ["a", "b"]}, {"output": "x"}, {"error": "no"}, {"error": ""}],
    *[{"result": {"a": 1}}, {"temperature": 7}, {"result": "x", "more": 1}, {"output": "a", "error": "b"}],
]
MEDIA = ("image/png", "image/jpeg", "audio/wav", "audio/mp3", "video/mp4", "application/pdf", "text/plain", "text/csv")
NAMES = ("look_up", "get_weather", "a.b:c")


def _schema(draw: Maker) -> Data:
    """A schema in the provider's own dialect."""
    leaf: list[Data] = [
        {"type": "STRING", "enum": ["a", "b"], "format": "enum"},
        {"type": "INTEGER", "minimum": 1, "maximum": 5},
        {"type": "STRING", "nullable": True, "description": "d", "minLength": "1"},
        {"type": "ARRAY", "items": {"type": "NUMBER"}, "minItems": 1},
        {"anyOf": [{"type": "STRING"}, {"type": "BOOLEAN"}]},
        {"type": "string"},
    ]
    made = {"type": "OBJECT", "properties": {name: draw.rng.choice(leaf) for name in ("x", "y")}}
    return made | draw.rng.choice([{}, {"required": ["x"]}, {"propertyOrdering": ["y", "x"], "title": "T"}])


MEANT: Data = {
    "Schema": _schema,
    "*.parametersJsonSchema": one_of(*SCHEMAS),
    "*.responseJsonSchema": one_of(*SCHEMAS, ABSENT),
    "FunctionDeclaration.name": numbered("tool_"),
    "FunctionDeclaration.parameters": lambda draw: ABSENT if draw.chance(0.5) else _schema(draw),
    "Blob.data": one_of(PNG, "aGVsbG8=", "-_-_"),
    "Blob.mimeType": one_of(*MEDIA),
    "FunctionResponseBlob.mimeType": one_of(*MEDIA),
    "FileData.mimeType": one_of(*MEDIA, ABSENT),
    "FunctionResponseFileData.mimeType": one_of(*MEDIA),
    "*.fileUri": one_of(
        "https://generativelanguage.googleapis.com/v1beta/files/abc", "gs://bucket/a.png", "https://example.org/a.png"
    ),
    "FunctionCall.name": one_of(*NAMES),
    "FunctionCall.args": one_of(*OBJECTS),
    "FunctionCall.partialArgs": one_of(ABSENT),
    "FunctionCall.willContinue": one_of(ABSENT, ABSENT, False),
    "FunctionCall.id": one_of(ABSENT, "call-1", "x2", "", "fc_9"),
    "FunctionResponse.name": one_of(*NAMES),
    "FunctionResponse.response": one_of(*RESPONSES),
    "*.thoughtSignature": one_of("c2ln", "c2ln=="),
    "Part.text": one_of(*TEXTS, ""),
    "Part.thought": one_of(True, True, False, ABSENT),
    "Part.partMetadata": one_of({}, {"a": 1}),
    "GenerationConfig.temperature": one_of(0, 0.5, 1.0, 2),
    "GenerationConfig.topP": one_of(0.5, 1),
    "GenerationConfig.topK": one_of(1, 40.0, 40),
    "GenerationConfig.candidateCount": one_of(1, 2),
    "GenerationConfig.maxOutputTokens": one_of(1, 4096),
    "GenerationConfig.seed": one_of(0, 7),
    "GenerationConfig.logprobs": one_of(1, 5),
    "GenerationConfig.stopSequences": one_of([], ["END"]),
    "GenerationConfig.responseMimeType": one_of("application/json", "text/plain", "text/x.enum"),
    "ThinkingConfig.thinkingBudget": one_of(0, -1, 128, 4096),
    "FunctionCallingConfig.allowedFunctionNames": one_of([], ["tool_1"], ["tool_1", "tool_2"], ABSENT),
    "*.sdkHttpResponse": one_of(ABSENT),
    "*.automaticFunctionCallingHistory": one_of(ABSENT),
    "*.parsed": one_of(ABSENT),
    "Tool.mcpServers": one_of(
        ABSENT, ABSENT, [{"name": "m", "streamableHttpTransport": {"url": "https://example.org"}}]
    ),
}
"""What the types do not say."""

DATA = (
    *["text", "text", "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"],
    *["codeExecutionResult", "toolCall", "toolResponse"],
)
BESIDE = (
    *["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata", "audioTranscription"],
    *["mediaProcessing", "speechMetadata", "documentMetadata", "spreadsheetMetadata", "audioMetadata"],
)


def part(draw: Maker, kinds: tuple[str, ...], **given: Any) -> Data:
    """One part of one kind of data."""
    whole = draw.plain("Part")
    kind = draw.rng.choice(kinds)
    while whole.get(kind) is None:
        whole = draw.plain("Part") | given
    beside = {name: whole[name] for name in BESIDE if name in whole and draw.chance(0.15)}
    if kind == "text" and "thought" in whole and draw.chance(0.3):
        beside["thought"] = whole["thought"]
    if draw.chance(0.03):
        beside |= {name: None for name in ("text", "inlineData", "functionCall") if name != kind}
    return {kind: whole[kind], **beside}


USER = ("text", "text", "inlineData", "fileData")
MODEL = (
    "text",
    "text",
    "functionCall",
    "functionCall",
    "inlineData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)


def _contents(draw: Maker) -> list[Data]:
    made: list[Data] = []
    waiting: list[Data] = []
    for turn in range(draw.rng.randint(1, 6)):
        if turn % 2:
            parts = [part(draw, MODEL) for _ in range(draw.rng.randint(1, 4))]
            waiting = [one["functionCall"] for one in parts if one.get("functionCall")]
            made.append({"role": "model", "parts": parts})
        else:
            parts = [{"functionResponse": _response(draw, call)} for call in waiting]
            waiting = []
            parts += [part(draw, USER) for _ in range(draw.rng.randint(0 if parts else 1, 3))]
            made.append({"role": "user", "parts": parts})
            if draw.chance(0.1):
                del made[-1]["role"]
    if waiting:
        made.append({"role": "user", "parts": [{"functionResponse": _response(draw, call)} for call in waiting]})
    return made


def _response(draw: Maker, call: Data) -> Data:
    made = draw.plain("FunctionResponse")
    made["name"] = call.get("name")
    made.setdefault("response", {"result": "ok"})
    if made["response"] is None:
        made["response"] = {}
    made.pop("id", None)
    if "id" in call:
        made["id"] = call["id"]
    return made


MEMBERS: Data = {
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
    "safetySettings": list[types.SafetySetting],
    "labels": dict[str, str],
    "serviceTier": types.ServiceTier,
}


def request(seed: int) -> Data:
    """A body of `generateContent`."""
    rng = random.Random(seed)
    share = rng.choice((0.0, 0.3, 0.6))
    body: Data = {"contents": _contents(Maker(types.Content, rng, MEANT, null=0.1, later=LATER))}
    for name, kind in MEMBERS.items():
        if rng.random() < share:
            draw = Maker(kind, rng, MEANT, null=0.1, later=LATER if name != "labels" else 0.0)
            body[name] = draw.value()
    if "systemInstruction" in body:
        texts = [{"text": draw} for draw in rng.sample(TEXTS, rng.randint(1, 2))]
        body["systemInstruction"] = {"parts": texts, **rng.choice([{}, {"role": "user"}, {"role": "system"}])}
    for name, value in (("cachedContent", "cachedContents/abc"), ("store", True)):
        if rng.random() < share / 4:
            body[name] = value
    return snaked(body) if rng.random() < 0.15 else body


FREE = frozenset(
    "args response parametersJsonSchema responseJsonSchema parameters responseSchema labels partMetadata".split()
)


def snaked(value: Any) -> Any:
    """The other spelling of the names, outside of what is free."""
    if isinstance(value, list):
        return [snaked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), name): item if name in FREE else snaked(item)
        for name, item in value.items()
    }


# --- answers -----------------------------------------------------------------------------------------------------------


def answer(seed: int) -> Data:
    """A body that `generateContent` answers."""
    rng = random.Random(seed)
    meant = MEANT | {
        "GenerateContentResponseUsageMetadata": _usage,
        "Content": _said,
        "Candidate.index": one_of(ABSENT),
    }
    meant |= {
        f"{kind}.{name}": one_of(0, 3) for kind in ("Segment",) for name in ("startIndex", "endIndex", "partIndex")
    }
    draw = Maker(types.GenerateContentResponse, rng, meant, null=0.1, later=LATER)
    body = draw.value()
    candidates = body.get("candidates") or [draw.named("Candidate")]
    for index, candidate in enumerate(candidates):
        candidate["content"] = _said(draw)
        if rng.random() < 0.8 or candidate.get("finishReason") is None:
            candidate["finishReason"] = rng.choice(("STOP", "STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"))
        if index or rng.random() < 0.5:
            candidate["index"] = index
    body["candidates"] = candidates
    return body


def _said(draw: Maker) -> Data:
    return {"role": "model", "parts": [part(draw, MODEL) for _ in range(draw.rng.randint(0, 4))]}


def _usage(draw: Maker) -> Data:
    made = draw.plain("GenerateContentResponseUsageMetadata")
    counts = {
        "promptTokenCount": 300,
        "candidatesTokenCount": 90,
        "cachedContentTokenCount": 20,
        "thoughtsTokenCount": 10,
    }
    return made | {name: count for name, count in counts.items() if name in made}


def streamed_answer(seed: int) -> Data:
    """An answer as a stream can say it: no text is empty, and none stands right behind one of its kind."""
    body = answer(seed)
    for candidate in body["candidates"]:
        parts: list[Data] = []
        for whole in candidate["content"]["parts"]:
            one = {name: value for name, value in whole.items() if value is not None}
            kind = "text" in one and set(one) <= {"text", "thought"} and bool(one.get("thought"))
            last = {name: value for name, value in parts[-1].items() if value is not None} if parts else {}
            if one == {"text": ""} or (one.get("text") == "" and set(one) <= {"text", "thought"}):
                continue
            if "text" in one and set(one) <= {"text", "thought"} and set(last) <= {"text", "thought"} and last:
                if bool(last.get("thought")) == kind:
                    continue
            parts.append(whole)
        candidate["content"]["parts"] = parts
    return body


def stream(body: Data, rng: random.Random) -> str:
    """An answer, in chunks."""
    around = {name: value for name, value in body.items() if name in ("responseId", "modelVersion", "createTime")}
    chunks: list[Data] = []
    going = [list(_pieces(candidate, rng)) for candidate in body["candidates"]]
    while any(going):
        one = rng.choice([pieces for pieces in going if pieces])
        chunks.append({"candidates": [one.pop(0)], **around})
    rest = {name: value for name, value in body.items() if name not in around and name != "candidates"}
    chunks[-1] |= rest
    return "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n" for chunk in chunks)


def _pieces(candidate: Data, rng: random.Random) -> list[Data]:
    index = {"index": candidate["index"]} if "index" in candidate else {}
    rest = {name: value for name, value in candidate.items() if name not in ("content", "index")}
    made: list[Data] = []
    for one in candidate["content"]["parts"]:
        plain = set(one) <= {"text", "thought"}
        if "functionCall" in one and rng.random() < 0.4 and (told := _by_path(one["functionCall"], rng)) is not None:
            said = [{**one, "functionCall": told[0]}, *({"functionCall": piece} for piece in told[1:])]
            made += [{"content": {"role": "model", "parts": [piece]}, **index} for piece in said]
            continue
        for piece in cut(one["text"], rng) if plain and one["text"] else [None]:
            told = one if piece is None else {**one, "text": piece}
            made.append({"content": {"role": "model", "parts": [told]}, **index})
    if made and rng.random() < 0.5:
        made[-1] |= rest
    else:
        made.append(
            {
                **rng.choice(
                    [{}, {"content": {"role": "model", "parts": [{"text": ""}]}}, {"content": {"role": "model"}}]
                ),
                **rest,
                **index,
            }
        )
    return made


def _by_path(call: Data | None, rng: random.Random) -> list[Data] | None:
    """A call whose arguments arrive by JSON path; None for one that cannot be told so."""
    if (
        not call
        or not call.get("name")
        or not call.get("args")
        or "willContinue" in call
        or not isinstance(call["args"], dict)
    ):
        return None
    pieces: list[Data] = []
    for path, value in _leaves(call["args"], "$"):
        if isinstance(value, dict | list):
            return None  # an empty one has no leaf
        match value:
            case None:
                pieces.append({"jsonPath": path, "nullValue": "NULL_VALUE"})
            case bool():
                pieces.append({"jsonPath": path, "boolValue": value})
            case str():
                *first, last = cut(value, rng)
                pieces += [{"jsonPath": path, "stringValue": part, "willContinue": True} for part in first]
                pieces.append({"jsonPath": path, "stringValue": last})
            case _:
                pieces.append({"jsonPath": path, "numberValue": value})
    begun = {name: value for name, value in call.items() if name != "args"}
    return [{**begun, "willContinue": True}, *({"partialArgs": [one], "willContinue": True} for one in pieces), {}]


def _leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        return [leaf for name, item in value.items() for leaf in _leaves(item, f"{path}.{name}")]
    if isinstance(value, list) and value:
        return [leaf for at, item in enumerate(value) for leaf in _leaves(item, f"{path}[{at}]")]
    return [(path, value)]
