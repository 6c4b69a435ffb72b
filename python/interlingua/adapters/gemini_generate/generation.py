"""What is asked of the answer: the `generationConfig` both ways, but for how much the model may think."""

from decimal import Decimal
from typing import Any, Final

from interlingua.adapters._kit import Wire, report_unknown, severity_of
from interlingua.adapters._members import is_number, whole, within, within_limit
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.reasoning import reasoning_from_wire
from interlingua.adapters.gemini_generate.schemas import fitted, is_taken, json_schema
from interlingua.adapters.gemini_generate.tables import MOST_STOPS, RANGES, SEEDS
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest

Request = dict[str, Any]

NUMBERS: Final = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
COUNTS: Final = {
    "maxOutputTokens": ("max_output_tokens", 0),
    "candidateCount": ("n", 1),
    "seed": ("seed", None),
    "logprobs": ("top_logprobs", 0),
}
FORMAT: Final = ("responseMimeType", "responseJsonSchema", "responseSchema")
_JSON_SCHEMA: Final = frozenset(("responseMimeType", "responseJsonSchema"))

# ---------------------------------------------------------------------------------------------- from the wire


def generation_from_wire(config: Wire, request: Request, reading: Reading) -> Wire:
    """Reads a generationConfig; gives what has no canonical meaning."""
    left: Wire = {}
    formats: Wire = {}
    if not config:
        reading.odd = True
    for name, value in reading.camelised(config).items():
        if value is None:
            reading.odd = True
        elif name in NUMBERS and (number := _number(value, reading)) is not None:
            request[NUMBERS[name]] = number
        elif name in COUNTS and (count := _count(value, COUNTS[name][1], reading)) is not None:
            request[COUNTS[name][0]] = count
        elif name in FORMAT:
            formats[name] = value
        elif name == "stopSequences" and type(value) is list and all(type(text) is str for text in value):
            if value:
                request["stop"] = value
            else:
                reading.odd = True
        elif name == "responseLogprobs" and type(value) is bool:
            request["logprobs"] = value
        elif name == "thinkingConfig" and (reasoning := reasoning_from_wire(value, reading)) is not None:
            if reasoning:
                request["reasoning"] = reasoning
            else:
                reading.odd = True
        else:
            left[name] = value
    if formats and (found := _format_from_wire(formats, reading)) is not None:
        request["response_format"] = found
    else:
        left.update(formats)
    return left


def _number(value: Any, reading: Reading) -> int | float | Decimal | None:
    """A number, also where a client wrote it as a text."""
    if type(value) is str:
        reading.odd = True
        try:
            value = json.loads(value)
        except InvalidRequest:
            return None
    return value if is_number(value) else None


def _count(value: Any, least: int | None, reading: Reading) -> int | None:
    number = whole(_number(value, reading))
    return number if number is not None and (least is None or number >= least) else None


def _format_from_wire(formats: Wire, reading: Reading) -> dict[str, Any] | None:
    if len(formats) > 2:
        return None
    if formats.keys() != _JSON_SCHEMA and (len(formats) > 1 or formats.get("responseMimeType") != "application/json"):
        reading.odd = True
    schema = formats.get("responseJsonSchema")
    if schema is None and "responseSchema" in formats:
        schema = json_schema(formats["responseSchema"])
    match formats.get("responseMimeType"):
        case "application/json" if len(formats) == 1:
            return {"type": "json"}
        case "application/json" if type(schema) is dict:
            reading.odd = reading.odd or not is_taken(schema)
            return {"type": "json_schema", "schema": schema}
        case "text/plain" if len(formats) == 1:
            return {"type": "text"}
        case _:
            return None


# ---------------------------------------------------------------------------------------------- to the wire


def sampling_to_wire(request: Request, config: Wire, writing: Writing) -> None:
    """Writes sampling, counts and stop texts, each in the range that is taken."""
    loss = writing.loss
    for name, canonical in NUMBERS.items():
        if (value := request.get(canonical)) is not None:
            config[name] = _within(canonical, value, writing)
    for name, (canonical, _) in COUNTS.items():
        if (value := request.get(canonical)) is None:
            continue
        if canonical == "seed" and not -SEEDS <= value < SEEDS and not writing.same("seed"):
            loss.drop(("seed",), "unsupported_value", "weakened", "the target takes seeds of 32 bits")
        elif canonical == "top_logprobs" and not (request.get("logprobs") or writing.same("top_logprobs", "logprobs")):
            severity = severity_of("top_logprobs", value, "lost")
            loss.drop(("top_logprobs",), "combination", severity, "alternatives come only with log probabilities")
        else:
            config[name] = _within(canonical, value, writing)
    if (logprobs := request.get("logprobs")) is not None:
        config["responseLogprobs"] = logprobs
    stop = request.get("stop")
    if stop:
        _stop_to_wire(stop, config, writing)


def _within(name: str, value: Any, writing: Writing) -> Any:
    """The value inside the range of the target."""
    if name == "max_output_tokens":
        return within(name, within_limit(name, value, writing), 1, None, writing, "limit_exceeded")
    low, high = RANGES.get(name, (None, None))
    return within(name, value, low, high, writing)


def _stop_to_wire(stop: list[str], config: Wire, writing: Writing) -> None:
    kept: list[str] = []
    for position, text in enumerate(stop):
        if (text and len(kept) < MOST_STOPS) or writing.same("stop"):
            kept.append(text)
        else:
            code = "limit_exceeded" if text else "unsupported_value"
            message = f"the target takes {MOST_STOPS} stop texts, none of them empty"
            writing.loss.drop(("stop", position), code, "weakened", message)
    if kept:
        config["stopSequences"] = kept


def format_to_wire(wanted: dict[str, Any], config: Wire, writing: Writing) -> None:
    """Asks for the form of the answer; what of it cannot be asked for is reported."""
    path = ("response_format",)
    kind = wanted["type"]
    if kind == "text":
        for name in wanted:
            if name != "type":
                writing.loss.drop((*path, name), "unsupported_field", "representation", "free text has no such member")
        return
    if kind == "json_schema" and "schema" not in wanted:
        writing.loss.replace((*path, "type"), "json", "unsupported_value", "representation", "JSON without a schema")
    if writing.lacks("supports_structured_output", "response_format"):
        writing.loss.drop(path, "unsupported_model", "lost", "the model does not enforce schemas")
        return
    config["responseMimeType"] = "application/json"
    if kind == "json_schema" and "schema" in wanted:
        schema = wanted["schema"]
        # one that was spelt otherwise waits for whether it still is
        config["responseJsonSchema"] = schema if writing.spelt else fitted(schema, writing.loss, (*path, "schema"))
    elif "schema" in wanted:
        writing.loss.drop((*path, "schema"), "unsupported_field", "weakened", "a free JSON object has no schema")
    for name, severity in _FORMAT_MEMBERS.items():
        if wanted.get(name) is not None and wanted[name] is not False:
            message = f"the format has no {name} here"
            writing.loss.drop((*path, name), "unsupported_field", severity, message)
    report_unknown(wanted, _FORMAT_KNOWN, writing.loss, path)


_FORMAT_MEMBERS: Final = {"name": "representation", "description": "weakened", "strict": "representation"}
_FORMAT_KNOWN: Final = frozenset(("type", "schema", *_FORMAT_MEMBERS))
