"""`interlingua route`: decide which model should answer, and why; or repeat a recorded decision."""

from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, NoCandidate
from interlingua.cli._shared import (
    AsJson,
    Data,
    File,
    Model,
    Replay,
    json_text,
    now,
    object_in,
    print_json,
    registry_of,
    say,
)


def route(
    file: File = "-",
    model: Model = None,
    policy: Annotated[Path | None, typer.Option(help="Routing policy, a JSON or YAML file.")] = None,
    context: Annotated[
        Path | None,
        typer.Option(help="Context of the turn besides the request (delegate, skills, …), a JSON or YAML file."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Write the decision and its complete input, including the request, to a file."),
    ] = None,
    decision: Annotated[
        Path | None,
        typer.Option(help="Repeat a recorded decision and compare the result; needs no request."),
    ] = None,
    replay: Replay = False,
    as_json: AsJson = False,
) -> None:
    """Decide which model should answer, and show why, with the loss, tokens and cost of each candidate."""
    if decision is not None:
        if file != "-" or model or policy or context or record or replay:
            raise InvalidRequest(
                "--decision takes no other input: the record contains the request, the policy and everything else"
            )
        _again(decision, as_json=as_json)
        return
    from interlingua import router, translate
    from interlingua.client.routing import Routing

    request = translate.load(json_text(file))
    given_policy = object_in(policy, "a policy") if policy is None or str(policy) == "-" else policy
    routing = Routing(registry_of(replay=replay), given_policy)
    known = object_in(context, "the context of a turn") if context else None
    given = routing.input(request, target=model, context=known, now=now())
    made = _decision(lambda: router.decide_json(given), as_json=as_json)
    if record is not None:
        _write_record(record, {"input": given, "decision": made})
    candidates = routing.candidates(request, made)
    if as_json:
        print_json({"decision": made, "candidates": candidates})
        return
    from interlingua import show

    out = show.console()
    out.print(show.decision(made))
    out.print(show.candidates(candidates))


def _decision(decide: Any, *, as_json: bool) -> Data:
    """Return the decision. When no model can take the turn, the verdict of each slot is shown before the error."""
    try:
        return decide()
    except NoCandidate as problem:
        if not as_json:
            from interlingua import show

            show.console(stderr=True).print(show.decision({"chain": problem.chain}))
        raise


def _write_record(file: Path, value: Data) -> None:
    try:
        file.write_bytes(json.dumps(value) + b"\n")
    except OSError as problem:
        raise InvalidRequest(f"cannot write {file}: {problem.strerror}") from None


def _again(file: Path, *, as_json: bool) -> None:
    """Repeat a recorded decision. Exit status 1 when the result differs."""
    from interlingua import router

    held = object_in(file, "a recorded decision")
    given = held.get("input", held)
    if not isinstance(given, dict) or not ("request" in given or "turn" in given):
        raise InvalidRequest(f"{file} contains no input of a decision; record one with interlingua route --record FILE")
    recorded: Any = held.get("decision")
    made = _decision(lambda: router.decide_json(given), as_json=as_json)
    same = recorded is None or json.loads(json.dumps(made)) == recorded
    if as_json:
        print_json({"decision": made, **({} if recorded is None else {"same": same})})
    else:
        from interlingua import show

        show.console().print(show.decision(made))
        if recorded is not None and not same:
            say(f"interlingua: the decision differs from the recorded one, which chose {recorded.get('chosen_model')}")
        elif recorded is not None:
            say("interlingua: the decision is the same as the recorded one")
    if not same:
        raise typer.Exit(1)
