"""`interlingua generate`: send a prompt or a request to a model."""

from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.cli._shared import (
    AsJson,
    Data,
    Model,
    Replay,
    Retries,
    client_of,
    exit_status,
    json_text,
    print_json,
    registry_of,
    run_async,
    say,
    write,
)


def generate(
    prompt: Annotated[str | None, typer.Argument(help="Prompt for the model.", show_default=False)] = None,
    request: Annotated[
        str | None,
        typer.Option("--request", "-r", help="Canonical request instead of a prompt: a file, or - for standard input."),
    ] = None,
    model: Model = None,
    system: Annotated[str | None, typer.Option("--system", "-s", help="System instructions.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Limit of output tokens.")] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream", help="Print the response as it arrives (default: unless --json is given)."
        ),
    ] = None,
    deadline: Annotated[float | None, typer.Option(min=0, help="Time limit of the whole call, in seconds.")] = None,
    retry: Retries = "standard",
    replay: Replay = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Include the whole body of the provider: of its response or of its error.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """
    Send a prompt or a request to a model. --json prints the response; with --json --stream, each event is a line.

    Keys and addresses come from the environment: `interlingua providers` lists the variables.
    """
    from interlingua import translate

    if (prompt is None) == (request is None):
        raise InvalidRequest("give a prompt or --request FILE, one of the two")
    asked = _request_of(prompt, system) if request is None else translate.load(json_text(request))
    if system is not None and request is not None:
        raise InvalidRequest("--system needs a prompt; with --request, put the instructions into the request")
    if max_tokens is not None:
        asked["max_output_tokens"] = max_tokens
    client = client_of(replay=replay, retry=retry)
    chain = [str(name) for name in registry_of(replay=replay).expand(model)] if model else []
    members: Data = {"model": chain[0] if chain else None, "fallbacks": chain[1:], "deadline": deadline}
    streamed = not as_json if stream is None else stream
    run_async(_generate(client, asked, members, stream=streamed, raw=raw, as_json=as_json))


def _request_of(prompt: str | None, system: str | None) -> Data:
    messages: list[Data] = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": [{"type": "text", "text": system}]})
    return {"messages": messages}


async def _generate(client: Any, asked: Data, members: Data, *, stream: bool, raw: bool, as_json: bool) -> None:
    async with client:
        if not stream:
            response = await client.generate(asked, **members, raw=raw)
            if as_json:
                print_json(response)
                return
            for block in response["message"]["content"]:
                _show_block(block)
        else:
            response = await _stream(client.stream(asked, **members), raw=raw, as_json=as_json)
    if not as_json:
        from interlingua import show

        for one in response.get("skipped", ()):
            say(f"interlingua: {one['model']} skipped: {one['reason']}")
        say(f"\n{response.get('model')}: {show.usage_line(response['usage'])}")


async def _stream(stream: Any, *, raw: bool, as_json: bool) -> Data:
    """Print the events as they arrive; return the response."""
    from interlingua import translate

    event: Data = {}
    try:
        async with stream as events:
            async for event in events:
                if as_json:
                    if event["type"] == "error" and not raw:
                        event = {**event, "error": translate.without_raw(event["error"])}
                    write(json.dumps(event) + b"\n")
                else:
                    _show_event(event)
    except InterlinguaError as problem:
        if not event:
            raise
        if as_json:
            raise typer.Exit(exit_status(problem)) from None  # the last event has reported it
        if event["type"] != "block_stop":
            write(b"\n")  # ends the line of the text that had arrived
        raise
    return stream.response or {}


def _show_event(event: Data) -> None:
    match event["type"]:
        case "text_delta":
            write(event["text"].encode())
        case "block_stop" if event["block"]["type"] == "text":
            write(b"\n")
        case "tool_use_end":
            write(b"call %s %s\n" % (event["name"].encode(), json.dumps(event["input"])))
        case _:
            pass


def _show_block(block: Data) -> None:
    match block["type"]:
        case "text":
            write(block["text"].encode() + b"\n")
        case "tool_use":
            write(b"call %s %s\n" % (block["name"].encode(), json.dumps(block["input"])))
        case _:
            pass
