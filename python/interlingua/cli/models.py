"""`interlingua models`: the models of the registry."""

from typing import Annotated

import typer

from interlingua.cli._shared import AsJson, one_of, print_json, say


def models(
    provider: Annotated[str | None, typer.Option(help="Only models of this provider.")] = None,
    capability: Annotated[
        str | None, typer.Option(help="Only models that declare this capability, e.g. supports_images.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the models of the registry, with limits and prices."""
    from interlingua import registry

    if provider is not None:
        registry.provider(provider)
    if capability is not None:
        declared = {name for row in registry.models() for name in row["capabilities"]}
        one_of("--capability", capability, tuple(sorted(declared)))
    rows = [
        {**row, "price": registry.price(row["id"]), "configured": registry.configured(row["provider"])}
        for row in registry.models(provider=provider, capability=capability)
    ]
    if as_json:
        print_json({"models": rows})
        return
    from interlingua import show

    lacks = {name: registry.missing(name) for name in {str(row["provider"]) for row in rows}}
    if not rows:
        whose = f" of {provider}" if provider else ""
        such = f" that declare {capability}" if capability else ""
        say(
            f"the registry lists no models{whose}{such}; any model name that the provider knows can be used, and is unpriced "
            "unless its provider has prices: see interlingua providers"
        )
        return
    show.console().print(show.models(rows, lacks))
