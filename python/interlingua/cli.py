"""
The command line. Every command is a plain function; what it needs is imported when it runs.

Exit status: 0 well; 1 the provider or the network failed, no model can answer, or the output cannot be written; 2 the
input, the command or the configuration is wrong; 3 the loss policy refuses, or something critical cannot be carried. An
error is one line: what, where (JSON Pointer), and what to do. With `--json` it is a canonical error object on standard
output, unless events are printed there, of which it is the last.
"""

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import (
    CannotAdapt,
    InterlinguaError,
    InvalidRequest,
    InvalidWire,
    LossRefused,
    NotConfigured,
    too_deep,
)

Data = dict[str, Any]

app = typer.Typer(
    name="interlingua",
    help="Carry conversations with language models between providers, with a complete account of what is lost.",
    epilog="Keys and addresses come from the environment: OPENAI_API_KEY, OPENAI_BASE_URL and the like, which "
    "`interlingua providers` lists; LLM_<NAME>=scheme://key@host adds a provider. "
    "Exit status: 0 well, 1 a provider failed, 2 wrong input, usage or configuration, "
    "3 refused because of what would be lost.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from interlingua import __version__

        _write(f"interlingua {__version__}\n".encode())
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Tell the version and end.")
    ] = False,
) -> None:
    """Carry conversations with language models between providers, with a complete account of what is lost."""


File = Annotated[str, typer.Argument(help="A file; - or nothing for standard input.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Model = Annotated[
    str | None, typer.Option("--model", "-m", help="Model, as provider:name, an alias, or a chain of them.")
]
Provider = Annotated[
    str | None, typer.Option(help="Row of the registry for the target, e.g. groq; by default the wire's own.")
]
Replay = Annotated[bool, typer.Option("--replay", help="Answer from recorded exchanges: no key, no network.")]
Retries = Annotated[
    str, typer.Option("--retry", help="When a model is asked again: standard, strict, patient, once, none.")
]

_CANONICAL = "canonical"


def run(arguments: Sequence[str]) -> int:
    """Runs a command and gives the exit status."""
    # what was dropped is told by the command itself; a command that logs sets up its own handler
    logging.getLogger("interlingua").addHandler(logging.NullHandler())
    try:
        status = app(args=list(arguments), standalone_mode=False, prog_name="interlingua")
        sys.stdout.flush()
    except InterlinguaError as problem:
        return _report(problem, as_json="--json" in arguments)
    except RecursionError:
        return _report(too_deep(), as_json="--json" in arguments)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    except OSError:
        raise  # the output cannot be written: `main` tells it
    except Exception as problem:
        # usage errors of the parser have a status and can show themselves; anything else is a defect
        if not hasattr(problem, "exit_code") or not hasattr(problem, "show"):
            if type(problem).__name__ == "Abort":
                return 130
            raise
        words = " ".join(problem.format_message().split())  # type: ignore[attr-defined]
        if words:  # without any, the help was shown
            told = InvalidRequest(f"{words.rstrip('.')}; see interlingua --help")
            return _report(told, as_json="--json" in arguments)
        return 2
    return status if isinstance(status, int) else 0


# ---------------------------------------------------------------------------------------------------- adapt


@app.command()
def adapt(
    file: File = "-",
    source: Annotated[str, typer.Option("--from", help="Wire of the input, or canonical.")] = _CANONICAL,
    target: Annotated[str, typer.Option("--to", help="Wire of the output, or canonical.")] = _CANONICAL,
    kind: Annotated[str, typer.Option(help="What the input is: request, response, stream or error.")] = "request",
    provider: Provider = None,
    from_provider: Annotated[
        str | None, typer.Option("--from-provider", help="The same for the input: whose dialect of its wire it is.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="The target's own name of the model.")] = None,
    strict: Annotated[
        str | None, typer.Option(help="Refuse, with status 3, when something is shape, weakened or lost.")
    ] = None,
    loss: Annotated[bool, typer.Option("--loss", help="Show the loss report, on standard error.")] = False,
    state_in_ids: Annotated[
        bool,
        typer.Option("--state-in-ids", help="Put what other providers need back into the ids of an answer's calls."),
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Keep the provider's own words in a canonical error, alone or in a stream.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Carry a request, an answer, a stream or an error from one form to another.

    An error of a wire is a body, or an object with its status, headers and body.

    Wires are openai_chat, anthropic_messages and the others that `interlingua providers` shows in use.
    """
    from interlingua import adapters, registry

    _one_of("--strict", strict, ("shape", "weakened", "lost", None))
    _one_of("--kind", kind, ("request", "response", "stream", "error"))
    for wire in (source, target):
        if wire != _CANONICAL:
            adapters.get(wire)
    if target == _CANONICAL and (provider or model or state_in_ids):
        raise InvalidRequest("--provider, --model and --state-in-ids speak of the target: name its wire with --to")
    if source == _CANONICAL and from_provider:
        raise InvalidRequest("--from-provider speaks of the wire of the input: name it with --from")
    if model is not None and not model.strip():
        raise InvalidRequest("--model is empty; give the target's own name of the model, or leave the option out")
    _speaks("--provider", provider, target)
    _speaks("--from-provider", from_provider, source)
    endpoint = None
    if target != _CANONICAL:
        endpoint = replace(registry.endpoint(adapter=target, provider=provider, model=model), state_in_ids=state_in_ids)
    if kind == "stream":
        _adapt_stream(_read(file), source, from_provider, endpoint, strict, raw=raw, as_json=as_json, loss=loss)
        return
    if kind == "error":
        value, report = _adapt_error(_read(file), source, from_provider, endpoint, strict, raw=raw)
    else:
        convert = _adapt_request if kind == "request" else _adapt_response
        value, report = convert(_json_text(file), source, from_provider, endpoint, strict)
    if as_json:
        _print({"wire" if endpoint else kind: value, "loss": report})
        return
    _print(value["body"] if endpoint and kind == "request" else value)
    _tell_loss(report, whole=loss)


def _tell_loss(report: list[Data], *, whole: bool) -> None:
    if whole:
        _show_loss(report)
    elif report:
        # nothing is lost silently, on a terminal neither
        counts = Counter(entry["severity"] for entry in report)
        told = ", ".join(f"{counts[word]} {word}" for word in ("lost", "weakened", "shape") if counts[word])
        _say(f"interlingua: {told}; --loss tells what")


def _speaks(option: str, provider: str | None, wire: str) -> None:
    """A provider that is not known, or that does not speak the wire, is a slip of whoever typed it."""
    from interlingua import registry

    if provider is None:
        return
    row = registry.provider(provider)
    spoken = [row["adapter"], *row.get("other_wires", {})]
    if wire not in spoken:
        raise InvalidRequest(f"{option}: {provider} does not speak {wire}; it speaks {', '.join(spoken)}")


def _adapt_request(
    given: bytes, source: str, owner: str | None, endpoint: Any, strict: str | None
) -> tuple[Data, list[Data]]:
    from interlingua import translate

    request: Data
    report: list[Any]
    if source == _CANONICAL:
        request, report = _canonical(given, "Request", translate.read_request), []
    else:
        request, report = translate.read_request(given, source, provider=owner)
    if strict is not None:
        request = {**request, "loss_policy": {**request.get("loss_policy", {}), "strict": strict}}
    if endpoint is None:
        return request, report
    projection = translate.project(request, endpoint)
    return projection.wire, report + projection.loss


def _adapt_response(
    given: bytes, source: str, owner: str | None, endpoint: Any, strict: str | None
) -> tuple[Data, list[Data]]:
    from interlingua import translate

    if source == _CANONICAL:
        response, report = _canonical(given, "Response", translate.read_response), []
    else:
        response, report = translate.read_response(given, source, provider=owner)
    if endpoint is None:
        return response, report
    body, more = translate.to_wire_response(response, endpoint, _strictly(strict))
    return body, report + more


def _canonical(given: bytes, name: str, read: Callable[[bytes, str], Any]) -> Data:
    """A canonical value. What is none, but can be read as one of a wire, was meant as that: it is said how to say so."""
    from interlingua import adapters, translate

    try:
        return translate.load(given, name)
    except InvalidRequest as problem:
        wires: list[str] = []
        for wire in adapters.names():
            with suppress(InterlinguaError):
                value, _ = read(given, wire)
                if value.get("messages") or value.get("message", {}).get("content"):
                    wires.append(wire)
        if not wires:
            raise
        hint = f"it can be read as {' or '.join(wires)}: say which with --from"
        raise InvalidRequest(f"{problem.message}; {hint}", path=problem.path, violations=problem.violations) from None


def _adapt_error(
    given: bytes, source: str, owner: str | None, endpoint: Any, strict: str | None, *, raw: bool
) -> tuple[Data, list[Data]]:
    from interlingua import translate

    if source == _CANONICAL:
        error = translate.load(given, "Error")
    else:
        status, headers, body = _error_answer(given)
        error = translate.read_error(status, headers, body, source, owner, raw=raw or endpoint is not None)
    if endpoint is None:
        return error, []
    return translate.to_wire_error(error, endpoint, _strictly(strict))


def _error_answer(given: bytes) -> tuple[int | None, dict[str, str], bytes | str]:
    """Status, headers and body of an error answer; of a lone body, whatever it is, no status is known."""
    try:
        value = json.loads(given)
    except InvalidRequest:
        return None, {}, given  # a page is an answer too
    if not isinstance(value, dict) or type(value.get("status")) is not int or "body" not in value:
        return None, {}, given
    headers = value.get("headers") or {}
    if not isinstance(headers, dict):
        raise InvalidRequest("headers are an object of texts", path="/headers")
    body = value["body"]
    text = body if isinstance(body, str) else b"" if body is None else json.dumps(body)
    return value["status"], {str(name): str(told) for name, told in headers.items()}, text


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
        raise InvalidRequest("--json goes with requests, answers and canonical events: a stream is written as it comes")
    if source == _CANONICAL:
        events = _events(given)
    else:
        events = list(translate.read_stream([given], source, provider=owner, raw=raw or endpoint is not None))
    first = events[0].get("error") if events else {"category": "stream_truncated"}
    if source == _CANONICAL and not events:
        raise InvalidRequest("the input holds no events")
    if source != _CANONICAL and first and first["category"] in ("stream_truncated", "invalid_response"):
        why = "nothing of it can be read" if first["category"] == "stream_truncated" else first["message"]
        raise InvalidWire(f"the input is no stream of {source}: {why}")
    if endpoint is None:
        for event in events:
            _write(json.dumps(event) + b"\n")
    else:
        report: list[Data] = []
        chunks = translate.encode_stream(events, endpoint, loss=report, policy=_strictly(strict))
        for chunk in chunks if strict is None else list(chunks):  # nothing is written of what is refused
            _write(chunk)
        _tell_loss(report, whole=loss)
    if events[-1]["type"] == "error":
        # it was carried whole; that what was carried is no whole answer is told beside it
        _say(f"interlingua: the stream ends with an error: {events[-1]['error']['message']}")
        raise typer.Exit(1)


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


# ---------------------------------------------------------------------------------------------------- route


@app.command()
def route(
    file: File = "-",
    model: Model = None,
    policy: Annotated[Path | None, typer.Option(help="Routing policy, a JSON file.")] = None,
    context: Annotated[
        Path | None, typer.Option(help="What is known of the turn beside the request, a JSON file: delegate, skills, …")
    ] = None,
    replay: Replay = False,
    as_json: AsJson = False,
) -> None:
    """Tell which model should answer, why, and what each candidate would lose, take and cost."""
    from interlingua import translate
    from interlingua.client.routing import Routing

    request = translate.load(_json_text(file))
    routing = Routing(_registry(replay=replay), _object(policy, "a policy"))
    known = _object(context, "the context of a turn") if context else None
    decision = routing.decide(request, target=model, context=known, now=_now())
    candidates = routing.candidates(request, decision)
    if as_json:
        _print({"decision": decision, "candidates": candidates})
        return
    from interlingua import show

    out = show.console()
    out.print(show.decision(decision))
    out.print(show.candidates(candidates))


# ---------------------------------------------------------------------------------------------------- generate


@app.command()
def generate(
    prompt: Annotated[str | None, typer.Argument(help="What to say to the model.", show_default=False)] = None,
    request: Annotated[
        str | None,
        typer.Option("--request", "-r", help="A canonical request instead: a file, or - for standard input."),
    ] = None,
    model: Model = None,
    system: Annotated[str | None, typer.Option("--system", "-s", help="Instructions.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Limit of the answer.")] = None,
    stream: Annotated[bool, typer.Option(help="Print the answer as it arrives.")] = True,
    deadline: Annotated[float | None, typer.Option(min=0, help="Seconds for the whole call.")] = None,
    retry: Retries = "standard",
    replay: Replay = False,
    as_json: AsJson = False,
) -> None:
    """
    Ask a model. With --json: the response, or with --stream each event in a line.

    Keys and addresses come from the environment: `interlingua providers` lists the variables.
    """
    from interlingua import translate

    if (prompt is None) == (request is None):
        raise InvalidRequest("give a prompt or --request FILE, one of the two")
    asked = _asked(prompt, system) if request is None else translate.load(_json_text(request))
    if system is not None and request is not None:
        raise InvalidRequest("--system goes with a prompt; put instructions into the request")
    if max_tokens is not None:
        asked["max_output_tokens"] = max_tokens
    client = _client(replay=replay, retry=retry)
    chain = [str(name) for name in _registry(replay=replay).expand(model)] if model else []
    members: Data = {"model": chain[0] if chain else None, "fallbacks": chain[1:], "deadline": deadline}
    asyncio.run(_generate(client, asked, members, stream=stream, as_json=as_json))


def _asked(prompt: str | None, system: str | None) -> Data:
    messages: list[Data] = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": [{"type": "text", "text": system}]})
    return {"messages": messages}


async def _generate(client: Any, asked: Data, members: Data, *, stream: bool, as_json: bool) -> None:
    async with client:
        if not stream:
            response = await client.generate(asked, **members)
            if as_json:
                _print(response)
                return
            for block in response["message"]["content"]:
                _show_block(block)
        else:
            response = await _stream(client.stream(asked, **members), as_json=as_json)
    if not as_json:
        from interlingua import show

        for one in response.get("skipped", ()):
            _say(f"interlingua: {one['model']} passed over: {one['reason']}")
        _say(f"\n{response.get('model')}: {show.usage_line(response['usage'])}")


async def _stream(stream: Any, *, as_json: bool) -> Data:
    """Prints the events as they arrive; gives the response."""
    event: Data = {}
    try:
        async with stream as events:
            async for event in events:
                if as_json:
                    _write(json.dumps(event) + b"\n")
                else:
                    _show_event(event)
    except InterlinguaError as problem:
        if not event:
            raise
        if as_json:
            raise typer.Exit(_status(problem)) from None  # its last event has told it
        if event["type"] != "block_stop":
            _write(b"\n")  # what had arrived stands in a line of its own
        raise
    return stream.response or {}


def _show_event(event: Data) -> None:
    match event["type"]:
        case "text_delta":
            _write(event["text"].encode())
        case "block_stop" if event["block"]["type"] == "text":
            _write(b"\n")
        case "tool_use_end":
            _write(b"call %s %s\n" % (event["name"].encode(), json.dumps(event["input"])))
        case _:
            pass


def _show_block(block: Data) -> None:
    match block["type"]:
        case "text":
            _write(block["text"].encode() + b"\n")
        case "tool_use":
            _write(b"call %s %s\n" % (block["name"].encode(), json.dumps(block["input"])))
        case _:
            pass


# ---------------------------------------------------------------------------------------------------- serve


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 50051,
    unix: Annotated[Path | None, typer.Option(help="Listen on a Unix socket instead.")] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate with its chain, PEM: serve TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Key of the certificate, PEM, without a password.")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="Take only clients with a certificate of these authorities, PEM.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Routing policy, a JSON file; read again for each turn.")] = None,
    retry: Retries = "standard",
    health: Annotated[str, typer.Option(help="Who rests after failures: backoff or windows.")] = "backoff",
    replay: Replay = False,
    pace: Annotated[
        float, typer.Option(min=0, help="With --replay: stretch the recorded times; 0 leaves them out.")
    ] = 1,
    max_message_mb: Annotated[int, typer.Option(min=1, max=2047, help="Limit of one message, in MiB.")] = 64,
    max_calls: Annotated[
        int, typer.Option(min=1, help="How many calls run at a time; more are refused and told when to come again.")
    ] = 500,
    grace: Annotated[float, typer.Option(min=0, help="Seconds that running calls get when the server ends.")] = 10,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    as_json: AsJson = False,
) -> None:
    """Serve gRPC: Adapt, Route, Generate, Estimate, Check, ListModels. Keys come from the environment."""
    from interlingua.client.routing import Routing
    from interlingua.service import server

    _one_of("--log-level", log_level, ("debug", "info", "warning", "error"))
    _one_of("--health", health, ("backoff", "windows"))
    if (tls_cert is None) != (tls_key is None) or (tls_client_ca is not None and tls_cert is None):
        raise InvalidRequest("TLS takes --tls-cert and --tls-key together, and --tls-client-ca beside them")
    server.log_to_stderr(log_level)
    address = f"unix:{unix}" if unix is not None else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    options: Data = {
        "client": _client(replay=replay, pace=pace, retry=retry, health=health),
        "routing": Routing(_registry(replay=replay), policy),
        "max_message_bytes": max_message_mb << 20,
        "max_calls": max_calls,
        "credentials": server.tls(tls_cert, tls_key, tls_client_ca) if tls_cert and tls_key else None,
    }
    options["routing"].check()
    about = {"host": host} if unix is None else {"unix": str(unix)}
    about |= {"provider": "replay" if replay else "as configured", "tls": tls_cert is not None}
    asyncio.run(_serve(address, options, about, grace, as_json=as_json))


async def _serve(address: str, options: Data, about: Data, grace: float, *, as_json: bool) -> None:
    from interlingua.service import server

    try:
        running = await server.start(address, **options)
    except OSError as problem:
        raise InvalidRequest(str(problem)) from None
    shown = address
    if "unix" not in about:
        about["port"] = running.port
        shown = f"{address.rpartition(':')[0]}:{running.port}"
    try:
        _write(json.dumps(about) + b"\n" if as_json else f"serving gRPC on {shown}\n".encode())
    except OSError:
        await running.server.stop(0)  # nobody would learn where it listens
        raise
    await server.run(running, grace)


# ---------------------------------------------------------------------------------------------------- check, plug


@app.command()
def check(
    file: File = "-",
    kind: Annotated[str, typer.Option("--type", help="Type of the schema, e.g. Request or Message.")] = "Request",
    profile: Annotated[str, typer.Option(help="Profile to satisfy as well, e.g. strict-004.")] = "core",
    as_json: AsJson = False,
) -> None:
    """Tell which rules of the contract a value breaks; exit status 2 when it breaks any."""
    from interlingua.canonical import validate
    from interlingua.canonical.check import check as check_rules

    if kind not in validate.schema()["$defs"]:
        raise InvalidRequest(f"the schema has no type {kind!r}; try Request, Message or Response")
    if profile != "core" and kind not in _RULED:
        raise InvalidRequest(f"--profile goes with the types {', '.join(_RULED)}, not with {kind}")
    value = json.loads(_json_text(file))
    if kind in _RULED:
        check_rules([], profile)  # a profile that there is not is told first
    found = validate.violations(value, kind)
    if not found and kind in _RULED:
        found = check_rules(value, profile)
    if as_json:
        _print({"violations": found})
    elif found:
        for one in found:
            _write(f"{one['path'] or 'the root'}: {one['message']} [{one['rule']}]\n".encode())
    else:
        _write(f"a good {kind.lower()}\n".encode())
    if found:
        raise typer.Exit(2)


_RULED = ("Request", "Message", "Response")
"""The types that have rules beside their schema."""


@app.command()
def plug() -> None:
    """Speak the protocol of the conformance suite on standard input and output: JSON alone, so there is no --json."""
    from interlingua.plug import serve as serve_plug

    serve_plug()


# ---------------------------------------------------------------------------------------------------- models, cost


@app.command()
def models(
    provider: Annotated[str | None, typer.Option(help="Only those of this provider.")] = None,
    capability: Annotated[str | None, typer.Option(help="Only those that declare it, e.g. supports_images.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the models of the registry, with limits and prices."""
    from interlingua import registry

    if provider is not None:
        registry.provider(provider)
    if capability is not None:
        declared = {name for row in registry.models() for name in row["capabilities"]}
        _one_of("--capability", capability, tuple(sorted(declared)))
    rows = [
        {**row, "price": registry.price(row["id"]), "configured": registry.configured(row["provider"])}
        for row in registry.models(provider=provider, capability=capability)
    ]
    if as_json:
        _print({"models": rows})
        return
    from interlingua import show

    lacks = {name: registry.missing(name) for name in {str(row["provider"]) for row in rows}}
    if not rows:
        whose = f" of {provider}" if provider else ""
        such = f" that declare {capability}" if capability else ""
        _say(
            f"the registry lists no models{whose}{such}; any name that a provider knows can be asked for, and is unpriced "
            "unless its provider has prices: see interlingua providers"
        )
        return
    show.console().print(show.models(rows, lacks))


@app.command()
def providers(
    name: Annotated[str | None, typer.Argument(help="Only this one.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the providers: wires, address, the variables that are looked at, and what is lacking to call each here."""
    from interlingua import registry

    rows = [registry.standing(one) for one in ([name] if name is not None else registry.providers())]
    if as_json:
        _print({"providers": rows})
        return
    from interlingua import show

    show.console().print(show.providers(rows))
    for one, problem in registry.default().dsn_providers().items():
        if problem is not None and name in (None, one):
            _say(f"interlingua: {problem.message}")


@app.command()
def cost(
    model: Annotated[str, typer.Argument(help="Model, as provider:name or an alias.")],
    file: Annotated[
        str | None, typer.Argument(help="A usage, a response, or a request to estimate; - for standard input.")
    ] = None,
    input_tokens: Annotated[
        int | None, typer.Option("--input", min=0, help="Prompt tokens that no cache served.")
    ] = None,
    output_tokens: Annotated[int | None, typer.Option("--output", min=0, help="Generated tokens.")] = None,
    cached: Annotated[int | None, typer.Option(min=0, help="Prompt tokens read from a cache.")] = None,
    written: Annotated[int | None, typer.Option(min=0, help="Prompt tokens written to a cache.")] = None,
    version: Annotated[str | None, typer.Option(help="Price table, e.g. 2026-05-08; the newest by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """
    Tell what an answer cost, exactly, or what a request may cost.

    A request costs at least its prompt, likely 500 tokens of answer as well, at most an answer as long as its limit.

    A model without a price is unpriced, never free.
    """
    from interlingua import registry

    name = str(registry.parse(model))
    counts: Data = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cached_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
    counted = any(count is not None for count in counts.values())
    if counted == (file is not None):
        raise InvalidRequest("give counts (--input, --output, --cached, --written) or a file, one of the two")
    usage: Any = {bucket: count or 0 for bucket, count in counts.items()}
    expected: Data | None = None
    if file is not None:
        value = json.loads(_json_text(file))
        if isinstance(value, dict) and "messages" in value:
            expected = _expected(value, name, version)
            usage = expected.pop("usage")
        else:
            usage = _usage(value)
    priced = registry.priced(usage, name, version)
    if as_json:
        _print({"model": name, "usage": priced, **(expected or {})})
        return
    from interlingua import show

    _write(f"{name}: {show.tokens(priced)} → {show.money(priced, expected)}\n".encode())


def _usage(value: Any) -> Data:
    from interlingua.canonical.validate import validate

    usage = value.get("usage", value) if isinstance(value, dict) else value
    validate(usage, "Usage")
    return usage


def _expected(value: Any, model: str, version: str | None) -> Data:
    """What a request may take and cost, counted as routing counts it, and the likely usage."""
    from interlingua import registry, translate
    from interlingua.router.preview import answer_lengths, cost_range

    at = registry.endpoint(model=model)
    request = translate.load(value)
    tokens = translate.estimate_for(request, at)
    limit: int | None = request.get("max_output_tokens")
    return {
        "usage": {
            "input_tokens": tokens["likely"],
            "output_tokens": answer_lengths(limit)["likely"],
            "estimated": True,
        },
        "estimated_tokens": tokens,
        "estimated_cost_usd": cost_range(tokens, registry.price(model, version), limit),
    }


# ---------------------------------------------------------------------------------------------------- what they share


def _read(file: str) -> bytes:
    try:
        if file != "-":
            return Path(file).read_bytes()
        if sys.stdin is None:
            raise InvalidRequest("standard input is closed; name a file")
        return sys.stdin.buffer.read()
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "no name of a file"
        raise InvalidRequest(f"cannot read {_shown(file)}: {why}") from None


def _shown(file: str) -> str:
    return "standard input" if file == "-" else file or "a file without a name"


def _json_text(file: str) -> bytes:
    """The bytes of a file, which are JSON: else it is named beside what is wrong with it."""
    given = _read(file)
    try:
        json.loads(given)
    except InvalidRequest as problem:
        raise InvalidRequest(f"{_shown(file)}: {problem.message}", path=problem.path) from None
    return given


def _write(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def _print(value: Any) -> None:
    import orjson

    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:
        text = json.dumps(value)  # numbers beyond 64 bits: exact comes before pretty
    _write(text + b"\n")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _one_of(option: str, value: str | None, words: tuple[str | None, ...]) -> None:
    if value not in words:
        raise InvalidRequest(f"{option} takes {', '.join(word for word in words if word)}; not {value!r}")


def _object(file: Path | None, what: str) -> Data:
    found = {} if file is None else json.loads(_json_text(str(file)))
    if not isinstance(found, dict):
        raise InvalidRequest(f"{what} must be an object", path="")
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _registry(*, replay: bool) -> Any:
    from interlingua import registry

    if not replay:
        return registry.default()
    from interlingua.client.replay import open_registry

    return open_registry()


def _client(*, replay: bool, pace: float = 1.0, retry: str = "standard", health: str = "backoff") -> Any:
    from interlingua.client import Client
    from interlingua.client.asking import log_rest
    from interlingua.client.retry import PRESETS
    from interlingua.router import Health

    _one_of("--retry", retry, tuple(PRESETS))
    tracker = Health(health, observer=log_rest)
    if not replay:
        return Client(retry=retry, health=tracker)
    from interlingua.client.replay import ReplayTransport, open_registry

    return Client(ReplayTransport(pace=pace), registry=open_registry(), retry=retry, health=tracker)


def _show_loss(report: list[Data]) -> None:
    from interlingua import show

    show.console(stderr=True).print(show.loss_table(report))


def _report(problem: InterlinguaError, *, as_json: bool) -> int:
    if as_json:
        _print({"error": problem.to_dict()})
    else:
        _say(f"interlingua: {problem}")
        if isinstance(problem, LossRefused):
            _show_loss(problem.loss)
        if isinstance(problem, InvalidRequest):
            for one in problem.violations[1:]:
                _say(f"  also {one['path'] or 'the root'}: {one['message']}")
    return _status(problem)


def _status(problem: InterlinguaError) -> int:
    match problem:
        case CannotAdapt():
            return 3
        case InvalidRequest() | InvalidWire() | NotConfigured():
            return 2
        case _:
            return 1
