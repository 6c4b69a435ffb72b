"""Gemini generateContent: by which written rules the provider refuses a request.

Sources: the published reference and types, and what recorded traffic adds: every name is taken in camelCase and in
snake_case, enums as words or numbers, one object where a list is meant, and explicit null where a member is optional.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import Violation

TOP_LEVEL = frozenset(
    "contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent serviceTier store labels "
    "continuationToken model".split()
)
GENERATION = frozenset(
    "temperature topP topK candidateCount maxOutputTokens stopSequences seed presencePenalty frequencyPenalty "
    "responseLogprobs logprobs responseMimeType responseSchema responseJsonSchema responseModalities mediaResolution "
    "speechConfig imageConfig thinkingConfig enableEnhancedCivicAnswers audioTranscriptionConfig routingConfig "
    "modelSelectionConfig audioTimestamp".split()
)
DATA = "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse".split()
# Parts of other wires; a part of a kind that nobody knows yet is not judged.
FOREIGN_DATA = frozenset("type image_url input_audio tool_use tool_result source input toolUse toolResult".split())
ADDRESS = re.compile(r"(https?|gs)://\S+", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_:.-]{0,127}")
JSON_SCHEMA = frozenset(
    "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf "
    "oneOf properties additionalProperties required propertyOrdering".split()
)
TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
BOUNDS = ("minItems", "maxItems", "minimum", "maximum")
KINDS: dict[str, Any] = {
    **dict.fromkeys(("$id", "$ref", "$anchor", "format", "title", "description"), str),
    **dict.fromkeys(("properties", "$defs", "items"), dict),
    **dict.fromkeys(("enum", "required", "propertyOrdering", "anyOf", "oneOf", "prefixItems"), list),
    **dict.fromkeys(BOUNDS, int | float),
    "type": str | list,
    "additionalProperties": bool | dict,
}
OPEN_API = frozenset(
    "type format title description nullable enum items minItems maxItems properties required minProperties maxProperties "
    "minimum maximum minLength maxLength pattern example anyOf propertyOrdering default additionalProperties "
    "$defs defs $ref ref".split()
)
MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+( *;.*)?")
MODES = ("AUTO", "ANY", "NONE", "VALIDATED", "MODE_UNSPECIFIED")
LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH", "THINKING_LEVEL_UNSPECIFIED")
MODEL = re.compile(r"/(models|tunedModels|endpoints)/[^/:?]+:(generateContent|streamGenerateContent)(\?alt=sse)?")


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = _camel(wire["body"])
    if "/:" in wire.get("path", ""):
        yield "/body/model", "is required, in the path"
    elif wire.get("path") and not MODEL.search(wire["path"]):
        yield "/path", "names no model and method"
    for name in body:
        if name not in TOP_LEVEL and not name.startswith("x_"):
            yield f"/body/{name}", "is not a member of this wire (400 Unknown name)"
    yield from _system(body.get("systemInstruction"))
    yield from _tools(_list(body.get("tools")))
    yield from _tool_config(body)
    yield from _generation(body.get("generationConfig"))
    if body.get("cachedContent") is not None:
        for name in ("systemInstruction", "tools", "toolConfig"):
            if body.get(name) is not None:
                yield f"/body/{name}", "does not go with cachedContent"
    contents = _list(body.get("contents"))
    if not contents:
        yield "/body/contents", "at least one content is required"
        return
    for index, content in enumerate(contents):
        yield from _content(content, f"/body/contents/{index}")
    yield from _turns(contents)


def _camel(item: Any) -> dict[str, Any]:
    """An object under the names of the first spelling."""
    return {re.sub(r"(?<=[a-z])_([a-z])", lambda found: found[1].upper(), name): value for name, value in item.items()}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _named(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


# --- contents ---------------------------------------------------------------------------------------------------------------


def _system(content: Any) -> Iterator[Violation]:
    if content is None:
        return
    parts = _list(content.get("parts"))
    if not parts:
        yield "/body/systemInstruction/parts", "is required"
    for number, part in enumerate(parts):
        if not isinstance(part.get("text"), str) and not any(name.startswith("x_") or name == "type" for name in part):
            yield f"/body/systemInstruction/parts/{number}", "instructions hold text only"


def _content(content: dict[str, Any], at: str) -> Iterator[Violation]:
    role = content.get("role", "user")
    if role not in ("user", "model", "function"):
        yield f"{at}/role", "is user or model"
    parts = _list(content.get("parts"))
    if role != "model" and not parts:
        yield f"{at}/parts", "a user content needs a part"
    for number, given in enumerate(parts):
        said = {name: _said(value) for name, value in _said(_camel(given)).items()}
        yield from _part(said, role, f"{at}/parts/{number}")


def _said(item: Any) -> Any:
    """An object without members that are null, which are as good as absent."""
    return {name: value for name, value in item.items() if value is not None} if isinstance(item, dict) else item


def _part(part: dict[str, Any], role: str, at: str) -> Iterator[Violation]:
    data = [name for name in DATA if name in part]
    if len(data) > 1:
        yield at, "holds more than one kind of data"
    if not data:
        if not part or part.keys() & FOREIGN_DATA:
            yield at, "required oneof field 'data' must have one initialized field"
        return
    if part.get("text") == "" and "thoughtSignature" not in part and role != "model":
        yield f"{at}/text", "is empty"
    if "thoughtSignature" in part and not isinstance(part["thoughtSignature"], str):
        yield f"{at}/thoughtSignature", "is base64 text"
    value = part[data[0]]
    if data[0] == "text":
        if not isinstance(value, str):
            yield f"{at}/text", "is a text"
        return
    value = _camel(value)
    match data[0]:
        case "inlineData":
            if not MEDIA_TYPE.fullmatch(str(value.get("mimeType", ""))):
                yield f"{at}/inlineData/mimeType", "is required"
            if not isinstance(value.get("data"), str) or value["data"].startswith("data:"):
                yield f"{at}/inlineData/data", "is bare base64"
        case "fileData":
            if not ADDRESS.fullmatch(str(value.get("fileUri"))):
                yield f"{at}/fileData/fileUri", "is the address of a file"
        case "functionCall":
            if role != "model":
                yield at, "a functionCall stands in a content of the model"
            if not NAME.fullmatch(str(value.get("name", ""))):
                yield f"{at}/functionCall/name", f"does not match {NAME.pattern}"
            if not isinstance(value.get("args") or {}, dict):
                yield f"{at}/functionCall/args", "is an object"
        case "functionResponse":
            if role == "model":
                yield at, "a functionResponse stands in a content of the user"
            if not NAME.fullmatch(str(value.get("name", ""))):
                yield f"{at}/functionResponse/name", f"does not match {NAME.pattern}"
            if not isinstance(value.get("response"), dict):
                yield f"{at}/functionResponse/response", "is an object"
            for number, inner in enumerate(_list(value.get("parts"))):
                known = {name for name in _camel(inner) if name in DATA or name in FOREIGN_DATA}
                if not inner or known - {"inlineData", "fileData"}:
                    yield f"{at}/functionResponse/parts/{number}", "holds inlineData or fileData"


def _turns(contents: list[Any]) -> Iterator[Violation]:
    """Contents of one role in a row are one turn; the calls of a turn are answered in the next one, each once."""
    turns: list[tuple[str, str, list[dict[str, Any]]]] = []
    for index, content in enumerate(contents):
        role = "model" if content.get("role") == "model" else "user"
        parts = [_camel(part) for part in _list(content.get("parts"))]
        if turns and turns[-1][0] == role:
            turns[-1][2].extend(parts)
        else:
            turns.append((role, f"/body/contents/{index}", parts))
    calls = 0
    for number, (role, at, parts) in enumerate(turns):
        if role == "model":
            calls = sum(1 for part in parts if "functionCall" in part)
            if calls and not number:
                yield at, "a call comes after a user turn or a function response"
            continue
        answers = sum(1 for part in parts if "functionResponse" in part)
        # seen to be accepted: a call that is answered by plain text alone
        if answers != calls and (answers or not any("text" in part for part in parts)):
            yield at, "the number of function response parts must be that of the function call parts"
        calls = 0


# --- tools ------------------------------------------------------------------------------------------------------------------


def _tools(tools: list[Any]) -> Iterator[Violation]:
    names: list[str] = []
    declaring = 0
    for index, given in enumerate(tools):
        tool = _camel(given)
        at = f"/body/tools/{index}"
        if not tool or tool.keys() & {"type", "function", "inputSchema", "toolSpec"}:
            yield at, "is no tool of this wire"
        functions = _list(tool.get("functionDeclarations"))
        declaring += bool(functions)
        for number, function in enumerate(functions):
            here = f"{at}/functionDeclarations/{number}"
            yield from _function(_camel(function), here)
            names.append(str(function.get("name")))
    if declaring > 1:
        yield "/body/tools", "all functions stand in one tool"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "/body/tools", f"two functions are called {name}"


def _function(function: dict[str, Any], at: str) -> Iterator[Violation]:
    if not NAME.fullmatch(str(function.get("name", ""))):
        yield f"{at}/name", f"does not match {NAME.pattern}"
    if "parameters" in function and "parametersJsonSchema" in function:
        yield f"{at}/parameters", "does not go with parametersJsonSchema"
    yield from open_api_violations(function.get("parameters"), f"{at}/parameters")
    schema = function.get("parametersJsonSchema")
    if schema is not None:
        if isinstance(schema, dict) and schema.get("type") != "object" and "$ref" not in schema:
            yield f"{at}/parametersJsonSchema/type", "is object at the root"
        yield from json_schema_violations(schema, f"{at}/parametersJsonSchema")


def open_api_violations(schema: Any, at: str) -> Iterator[Violation]:
    """The dialect of `parameters` and `responseSchema`."""
    if not isinstance(schema, dict):
        return
    given = _camel(schema)
    for word in given:
        if word not in OPEN_API and not word.startswith("x_"):
            yield f"{at}/{word}", "is no member of a Schema (400 Unknown name)"
    if isinstance(given.get("type"), list):
        yield f"{at}/type", "is one type"
    if any(not isinstance(value, str) for value in _list(given.get("enum"))):
        yield f"{at}/enum", "holds texts"
    properties = dict(_named(given.get("properties")))
    for name, part in properties.items():
        yield from open_api_violations(part, f"{at}/properties/{name}")
    for name in _list(given.get("required")):
        if name not in properties:
            yield f"{at}/required", f"names {name}, which is no property"
    for index, part in enumerate(_list(given.get("anyOf"))):
        yield from open_api_violations(part, f"{at}/anyOf/{index}")
    yield from open_api_violations(given.get("items"), f"{at}/items")


def json_schema_violations(schema: Any, at: str) -> Iterator[Violation]:
    """The part of JSON Schema that `parametersJsonSchema` and `responseJsonSchema` hold."""
    if not isinstance(schema, dict):
        yield at, "is an object"
        return
    if isinstance(schema.get("$ref"), str):
        for word in schema:
            if not word.startswith("$"):
                yield f"{at}/{word}", "a reference has no other keywords next to it"
    for word, value in schema.items():
        # what recorded clients send and the provider tolerates: an address of the dialect
        if word not in JSON_SCHEMA and word != "$schema" and not word.startswith("x_"):
            yield f"{at}/{word}", "is not taken in a schema"
        elif not isinstance(value, KINDS.get(word, object)) or (isinstance(value, bool) and word in BOUNDS):
            yield f"{at}/{word}", "has a value that no schema has there"
    for word in _list(schema.get("type")):
        if word not in TYPES:
            yield f"{at}/type", "is one of the seven types"
    for place in ("required", "propertyOrdering"):
        if any(not isinstance(name, str) for name in _list(schema.get(place))):
            yield f"{at}/{place}", "holds names"
    for place in ("properties", "$defs"):
        for name, part in _named(schema.get(place)):
            yield from json_schema_violations(part, f"{at}/{place}/{name}")
    for place in ("anyOf", "oneOf", "prefixItems"):
        for index, part in enumerate(_list(schema.get(place))):
            yield from json_schema_violations(part, f"{at}/{place}/{index}")
    for place in ("items", "additionalProperties"):
        if isinstance(schema.get(place), dict):
            yield from json_schema_violations(schema[place], f"{at}/{place}")


def _tool_config(body: dict[str, Any]) -> Iterator[Violation]:
    config = body.get("toolConfig")
    if not isinstance(config, dict):
        return
    calling = _camel(config).get("functionCallingConfig")
    if not isinstance(calling, dict):
        return
    calling = _camel(calling)
    mode = calling.get("mode", "AUTO")
    if isinstance(mode, str) and mode.upper() not in MODES:
        yield "/body/toolConfig/functionCallingConfig/mode", f"is one of {', '.join(MODES)}"
    names = _list(calling.get("allowedFunctionNames"))
    if names and str(mode).upper() not in ("ANY", "VALIDATED", "2", "4"):
        yield "/body/toolConfig/functionCallingConfig/allowedFunctionNames", "only goes with ANY and VALIDATED"
    known = {
        function.get("name")
        for tool in _list(body.get("tools"))
        for function in _list(_camel(tool).get("functionDeclarations"))
    }
    for name in names:
        if name not in known:
            yield "/body/toolConfig/functionCallingConfig/allowedFunctionNames", f"{name} is not declared"


# --- generationConfig -------------------------------------------------------------------------------------------------------

RANGES = {"temperature": (0, 2), "topP": (0, 1), "logprobs": (0, 20), "candidateCount": (1, 8)}


def _generation(config: Any) -> Iterator[Violation]:
    if not isinstance(config, dict):
        return
    config = _camel(config)
    at = "/body/generationConfig"
    for name in config:
        if name not in GENERATION and not name.startswith("x_"):
            yield f"{at}/{name}", "is not a member of this wire (400 Unknown name)"
    for name, (low, high) in RANGES.items():
        value = _number(config.get(name))
        if value is not None and not low <= value <= high:
            yield f"{at}/{name}", f"is between {low} and {high}"
    for name in ("presencePenalty", "frequencyPenalty"):
        value = _number(config.get(name))
        if value is not None and not -2 <= value < 2:
            yield f"{at}/{name}", "is at least -2 and below 2"
    seed = _number(config.get("seed"))
    if seed is not None and not -(2**31) <= seed < 2**31:
        yield f"{at}/seed", "has 32 bits"
    stops = _list(config.get("stopSequences"))
    if len(stops) > 5 or "" in stops:
        yield f"{at}/stopSequences", "holds at most five texts, none of them empty"
    if config.get("logprobs") is not None and config.get("responseLogprobs") is not True:
        yield f"{at}/logprobs", "needs responseLogprobs"
    yield from _format(config, at)
    thinking = config.get("thinkingConfig")
    if isinstance(thinking, dict):
        thinking = _camel(thinking)
        if thinking.get("thinkingBudget") is not None and thinking.get("thinkingLevel") is not None:
            yield f"{at}/thinkingConfig", "takes a level or a budget"
        level = thinking.get("thinkingLevel")
        if isinstance(level, str) and level.upper() not in LEVELS:
            yield f"{at}/thinkingConfig/thinkingLevel", f"is one of {', '.join(LEVELS)}"


def _format(config: dict[str, Any], at: str) -> Iterator[Violation]:
    kind = config.get("responseMimeType")
    if kind not in (None, "text/plain", "application/json", "text/x.enum"):
        yield f"{at}/responseMimeType", "is text/plain, application/json or text/x.enum"
    if config.get("responseSchema") is not None and config.get("responseJsonSchema") is not None:
        yield f"{at}/responseSchema", "does not go with responseJsonSchema"
    for name in ("responseSchema", "responseJsonSchema"):
        if config.get(name) is not None and kind in (None, "text/plain"):
            yield f"{at}/{name}", "needs responseMimeType application/json"
    yield from open_api_violations(config.get("responseSchema"), f"{at}/responseSchema")
    if config.get("responseJsonSchema") is not None:
        yield from json_schema_violations(config["responseJsonSchema"], f"{at}/responseJsonSchema")
