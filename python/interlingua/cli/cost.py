"""`interlingua cost`: what an answer cost, or what a request may cost."""

from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, Data, json_text, print_json, write


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
        value = json.loads(json_text(file))
        if isinstance(value, dict) and "messages" in value:
            expected = _expected(value, name, version)
            usage = expected.pop("usage")
        else:
            usage = _usage(value)
    priced = registry.priced(usage, name, version)
    if as_json:
        print_json({"model": name, "usage": priced, **(expected or {})})
        return
    from interlingua import show

    write(f"{name}: {show.tokens(priced)} → {show.money(priced, expected)}\n".encode())


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
