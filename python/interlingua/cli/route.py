"""`interlingua route`: which model should answer, and why."""

from pathlib import Path
from typing import Annotated

import typer

from interlingua.cli._shared import AsJson, File, Model, Replay, json_text, now, object_in, print_json, registry_of


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

    request = translate.load(json_text(file))
    routing = Routing(registry_of(replay=replay), object_in(policy, "a policy"))
    known = object_in(context, "the context of a turn") if context else None
    decision = routing.decide(request, target=model, context=known, now=now())
    candidates = routing.candidates(request, decision)
    if as_json:
        print_json({"decision": decision, "candidates": candidates})
        return
    from interlingua import show

    out = show.console()
    out.print(show.decision(decision))
    out.print(show.candidates(candidates))
