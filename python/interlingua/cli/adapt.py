"""`interlingua adapt`: translate a request, a response, a stream or an error from one format to another."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest, InvalidWire
from interlingua.canonical.loss import Entry
from interlingua.cli._shared import (
    CANONICAL,
    AsJson,
    Data,
    File,
    Provider,
    json_text,
    one_of,
    print_json,
    read,
    say,
    show_loss,
    show_provider_words,
    write,
)


def adapt(
    file: File = "-",
    source: Annotated[str, typer.Option("--from", help="Wire format of the input, or canonical.")] = CANONICAL,
    target: Annotated[str, typer.Option("--to", help="Wire format of the output, or canonical.")] = CANONICAL,
    kind: Annotated[str, typer.Option(help="Kind of the input: request, response, stream or error.")] = "request",
    provider: Provider = None,
    from_provider: Annotated[
        str | None, typer.Option("--from-provider", help="Provider of the input, whose dialect of the wire it is in.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Name of the model at the target.")] = None,
    strict: Annotated[
        str | None,
        typer.Option(
            help="Refuse with exit status 3 at this severity of loss or above: representation, weakened or lost."
        ),
    ] = None,
    unanswered: Annotated[
        str | None,
        typer.Option(help="What to do with tool calls that have no result: error or placeholder."),
    ] = None,
    loss: Annotated[bool, typer.Option("--loss", help="Print the loss report to standard error.")] = False,
    state_in_ids: Annotated[
        bool,
        typer.Option(
            "--state-in-ids", help="Carry the state of other providers in the ids of the tool calls of a response."
        ),
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Keep the whole body of the provider in a canonical error.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Translate a request, a response, a stream or an error from one format to another.

    The error of a provider is a body, or an object with status, headers and body.

    Wire formats are openai_chat, anthropic_messages and the others that `interlingua providers` lists.
    """
    from interlingua import translate

    one_of("--strict", strict, ("representation", "weakened", "lost", None))
    one_of("--unanswered", unanswered, ("error", "placeholder", None))
    one_of("--kind", kind, ("request", "response", "stream", "error"))
    if target == CANONICAL and (provider or model or state_in_ids):
        raise InvalidRequest("--provider, --model and --state-in-ids concern the target: give its wire with --to")
    if source == CANONICAL and from_provider:
        raise InvalidRequest("--from-provider concerns the wire of the input: give it with --from")
    if model is not None and not model.strip():
        raise InvalidRequest("--model is empty; give the name of the model at the target, or leave the option out")
    endpoint = None
    if target != CANONICAL:
        endpoint = translate.endpoint_of(target, provider=provider, model=model)
        _require_wire("--provider", provider, endpoint.adapter)
        endpoint = replace(endpoint, state_in_ids=state_in_ids)
    if source != CANONICAL:
        side = translate.endpoint_of(source, provider=from_provider)
        source, from_provider = side.adapter, side.provider
        _require_wire("--from-provider", from_provider, source)
    if kind == "stream":
        _adapt_stream(read(file), source, from_provider, endpoint, strict, raw=raw, as_json=as_json, loss=loss)
        return
    if kind == "error":
        value, report = _adapt_error(read(file), source, from_provider, endpoint, strict, raw=raw)
    elif kind == "response":
        given = json_text(file)
        value, report = _adapt_response(given, source, from_provider, endpoint, strict)
        _warn_of_another_wire(given, source, kind)
    else:
        given = json_text(file)
        try:
            value, report = _adapt_request(given, source, from_provider, endpoint, strict, unanswered)
        except (InvalidRequest, InvalidWire) as problem:
            _note_response(given, problem)
            raise
        _warn_of_another_wire(given, source, kind)
    if as_json:
        print_json({"wire" if endpoint else kind: value, "loss": report})
        return
    print_json(value["body"] if endpoint and kind == "request" else value)
    _print_loss(report, whole=loss)


def _warn_of_another_wire(given: bytes, source: str, kind: str) -> None:
    """Warn when an input that was read without an error looks like a body of another wire: its members then became
    options."""
    from interlingua.translate import likely_wire

    value = json.loads(given)
    if source != CANONICAL and isinstance(value, dict):
        body = value["body"] if "body" in value and "path" in value else value
        if likely := likely_wire(body, kind, source):
            say(f"interlingua: the input was read as {source}, but {likely}")


def _note_response(given: bytes, problem: InterlinguaError) -> None:
    """Name the option in the error of an input that is not a request, but looks like a response."""
    from interlingua.adapters._recognition import recognised, scores

    body = json.loads(given)
    if max(scores(body, "response").values()) > max(scores(body, "request").values()):
        wires = " or ".join(recognised(body, "response"))
        problem.message = (
            f"{problem.message}; it looks like a response of {wires}: for a response, give --kind response"
        )


def _print_loss(report: list[Entry], *, whole: bool) -> None:
    if whole:
        show_loss(report)
    elif report:
        # no loss is silent, not even on a terminal
        counts = Counter(entry["severity"] for entry in report)
        summary = ", ".join(f"{counts[word]} {word}" for word in ("lost", "weakened", "representation") if counts[word])
        say(f"interlingua: {summary}; use --loss for the report")


def _require_wire(option: str, provider: str | None, wire: str) -> None:
    """Raise `InvalidRequest` for a provider that is not known, or that does not have the wire."""
    from interlingua import registry

    if provider is None:
        return
    row = registry.provider(provider)
    spoken = [row["adapter"], *row.get("other_wires", {})]
    if wire not in spoken:
        raise InvalidRequest(f"{option}: {provider} does not have the wire {wire}; it has {', '.join(spoken)}")


def _adapt_request(
    given: bytes, source: str, owner: str | None, endpoint: Any, strict: str | None, unanswered: str | None
) -> tuple[Mapping[str, Any], list[Entry]]:
    from interlingua import translate

    request: Mapping[str, Any]
    report: list[Any]
    if source == CANONICAL:
        request, report = _canonical(given, "Request", translate.read_request), []
    else:
        request, report = translate.read_request(given, source, provider=owner)
    policy = _strictly(strict) | ({} if unanswered is None else {"unanswered": unanswered})
    if policy:
        request = {**request, "loss_policy": {**request.get("loss_policy", {}), **policy}}
    if endpoint is None:
        return request, report
    projection = translate.project(request, translate.for_request(endpoint, request))
    return projection.wire, report + projection.loss


def _adapt_response(
    given: bytes, source: str, owner: str | None, endpoint: Any, strict: str | None
) -> tuple[Mapping[str, Any], list[Entry]]:
    from interlingua import translate

    if source == CANONICAL:
        response, report = _canonical(given, "Response", translate.read_response), []
    else:
        response, report = translate.read_response(given, source, provider=owner)
    if endpoint is None:
        return response, report
    body, more = translate.to_wire_response(response, endpoint, _strictly(strict))
    return body, report + more


def _canonical(given: bytes, name: str, read: Callable[[bytes, str], Any]) -> Data:
    """Return a canonical value. When the input is not canonical but can be read as a wire, the error names the option
    for that."""
    from interlingua import adapters, translate
    from interlingua.adapters._recognition import recognised

    try:
        return translate.validated(json.loads(given), name)
    except InvalidRequest as problem:
        wires: list[str] = [wire for wire in recognised(json.loads(given), name.lower()) if wire != CANONICAL]
        for wire in () if wires else adapters.names():
            with suppress(InterlinguaError):
                value, _ = read(given, wire)
                if value.get("messages") or value.get("message", {}).get("content"):
                    wires.append(wire)
        if not wires:
            raise
        hint = f"it can be read as {' or '.join(wires)}: choose one with --from"
        raise InvalidRequest(f"{problem.message}; {hint}", path=problem.path, violations=problem.violations) from None


def _adapt_error(
    given: bytes, source: str, owner: str | None, endpoint: Any, strict: str | None, *, raw: bool
) -> tuple[Mapping[str, Any], list[Entry]]:
    from interlingua import translate

    if source == CANONICAL:
        error = translate.load(given, "Error")
    else:
        status, headers, body = _error_answer(given)
        error = translate.read_error(status, headers, body, source, owner, raw=raw or endpoint is not None)
    if endpoint is None:
        return error, []
    return translate.to_wire_error(error, endpoint, _strictly(strict))


def _error_answer(given: bytes) -> tuple[int | None, dict[str, str], bytes | str]:
    """Return status, headers and body of an error response. Any other input is a body whose status is not known."""
    try:
        value = json.loads(given)
    except InvalidRequest:
        return None, {}, given  # the body may be a page of HTML
    if not isinstance(value, dict) or type(value.get("status")) is not int or "body" not in value:
        return None, {}, given
    headers = value.get("headers") or {}
    if not isinstance(headers, dict):
        raise InvalidRequest("headers must be an object of strings", path="/headers")
    body = value["body"]
    text = body if isinstance(body, str) else b"" if body is None else json.dumps(body)
    return value["status"], {str(name): str(header) for name, header in headers.items()}, text


def _strictly(strict: str | None) -> Data:
    return {} if strict is None else {"strict": strict}


def _adapt_stream(
    given: bytes,
    source: str,
    owner: str | None,
    endpoint: Any,
    strict: str | None,
    *,
    raw: bool,
    as_json: bool,
    loss: bool,
) -> None:
    from interlingua import translate

    if as_json and endpoint is not None:
        raise InvalidRequest(
            "--json applies to requests, responses and canonical events: a stream of a wire is written in its own framing"
        )
    if source == CANONICAL:
        events = _events(given)
    else:
        events = list(translate.read_stream([given], source, provider=owner, raw=raw or endpoint is not None))
    first = events[0].get("error") if events else {"category": "stream_truncated"}
    if source == CANONICAL and not events:
        raise InvalidRequest("the input contains no events")
    if source != CANONICAL and first and first["category"] in ("stream_truncated", "invalid_response"):
        why = "no part of it can be read" if first["category"] == "stream_truncated" else first["message"]
        likely = translate.likely_wire(_first_object(given), "stream", source)
        raise InvalidWire(f"the input is not a stream of {source}: {why}{likely and f'; {likely}'}")
    if endpoint is None:
        for event in events:
            write(json.dumps(event) + b"\n")
    else:
        report: list[Entry] = []
        chunks = translate.encode_stream(events, endpoint, loss=report, policy=_strictly(strict))
        for chunk in chunks if strict is None else list(chunks):  # nothing of a refused stream is written
            write(chunk)
        _print_loss(report, whole=loss)
    if events[-1]["type"] == "error":
        # the stream was translated completely; the message states that it is not a complete answer
        say(f"interlingua: the stream ends with an error: {events[-1]['error']['message']}")
        show_provider_words(events[-1]["error"])
        raise typer.Exit(1)


def _first_object(given: bytes) -> Any:
    """Return the first object of a stream, whatever frames it has; None when there is none."""
    for line in given.splitlines():
        begin = line.find(b"{")
        with suppress(InvalidRequest):
            if begin >= 0:
                return json.loads(line[begin:].rstrip(b",]"))
    return None


def _events(given: bytes) -> list[Data]:
    from interlingua import translate

    events: list[Data] = []
    for number, line in enumerate(given.split(b"\n"), start=1):
        if line.strip():
            try:
                events.append(translate.load(line, "StreamEvent"))
            except InvalidRequest as problem:
                raise InvalidRequest(f"event in line {number}: {problem.message}", path=problem.path) from None
    return events
