"""`interlingua providers`: the providers of the registry."""

from typing import Annotated

import typer

from interlingua.cli._shared import AsJson, print_json, say


def providers(
    name: Annotated[str | None, typer.Argument(help="Only this provider.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """List the providers: wires, address, environment variables, and the settings that are missing to call each."""
    from interlingua import registry

    rows = [registry.standing(one) for one in ([name] if name is not None else registry.providers())]
    if as_json:
        print_json({"providers": rows})
        return
    from interlingua import show

    show.console().print(show.providers(rows))
    for one, problem in registry.default().dsn_providers().items():
        if problem is not None and name in (None, one):
            say(f"interlingua: {problem.message}")
