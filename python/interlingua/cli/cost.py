"""`interlingua cost`: the cost of a response, or the possible cost of a request."""

from decimal import Decimal
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, Data, json_text, print_json, read, write


def cost(
    model: Annotated[str | None, typer.Argument(help="Model: provider:name or an alias.", show_default=False)] = None,
    file: Annotated[
        str | None,
        typer.Argument(help="File with a usage, a response, or a request to estimate; - for standard input."),
    ] = None,
    input_tokens: Annotated[
        int | None, typer.Option("--input", min=0, help="Prompt tokens that were not read from a cache.")
    ] = None,
    output_tokens: Annotated[int | None, typer.Option("--output", min=0, help="Generated tokens.")] = None,
    cached: Annotated[int | None, typer.Option(min=0, help="Prompt tokens read from a cache.")] = None,
    written: Annotated[int | None, typer.Option(min=0, help="Prompt tokens written to a cache.")] = None,
    version: Annotated[
        str | None, typer.Option(help="Version of the price table, e.g. 2026-05-08. Default: the newest.")
    ] = None,
    reprice: Annotated[
        str | None,
        typer.Option(
            help="File of responses, one for each line: compare the recorded cost of each with the price table."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """
    Compute the exact cost of a response, or the possible cost of a request.

    The range of a request: at least its prompt, probably 500 output tokens more, at most its output limit.

    A model without a known price is reported as unpriced, never as free.
    """
    from interlingua import registry

    if reprice is not None:
        if model is not None or file is not None:
            raise InvalidRequest("--reprice takes the model from each response; leave the other arguments out")
        _reprice(reprice, version, as_json=as_json)
        return
    if model is None:
        raise InvalidRequest("give a model (provider:name or an alias), or responses with --reprice FILE")
    name = str(registry.parse(model))
    counts: Data = {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cached_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
    counted = any(count is not None for count in counts.values())
    if counted == (file is not None):
        raise InvalidRequest("give either counts (--input, --output, --cached, --written) or a file")
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


def _reprice(file: str, version: str | None, *, as_json: bool) -> None:
    """Print the cost of responses as it was recorded, and as a price table gives it."""
    from interlingua import registry, show

    rows: list[Data] = []
    for position, answer in enumerate(_answers(file), start=1):
        usage = _usage(answer)
        model = answer.get("model") or answer.get("requested_model")
        if not isinstance(model, str):
            raise InvalidRequest(f"response {position} of {file} has no model")
        priced = registry.priced(usage, model, version)
        if priced["cost_usd"] is None and answer.get("requested_model"):
            priced = registry.priced(usage, answer["requested_model"], version)
        rows.append({"model": model, "usage": priced, "recorded": _recorded(usage)})
    if as_json:
        print_json({"answers": rows})
        return
    for row in rows:
        before = show.money(row["recorded"]) if row["recorded"]["cost_usd"] else "unpriced"
        write(f"{row['model']}: {show.tokens(row['usage'])}: was {before} → {show.money(row['usage'])}\n".encode())
    known = [row for row in rows if row["recorded"]["cost_usd"] and row["usage"]["cost_usd"]]
    was, now = (sum((Decimal(row[at]["cost_usd"]) for row in known), Decimal(0)) for at in ("recorded", "usage"))
    left = (
        f"; {len(rows) - len(known)} of {len(rows)} have no known price on one side" if len(known) < len(rows) else ""
    )
    write(f"total {was:f} USD → {now:f} USD{left}\n".encode())


def _recorded(usage: Data) -> Data:
    return {"cost_usd": usage.get("cost_usd"), "pricing_version": usage.get("pricing_version") or "an unknown day"}


def _answers(file: str) -> list[Data]:
    """Return the responses in a file: one, a list, or one in each line."""
    given = read(file)
    try:
        value = json.loads(given)
    except InvalidRequest:
        value = [json.loads(line) for line in given.split(b"\n") if line.strip()]
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(answer, dict) for answer in found):
        raise InvalidRequest(f"{file} must contain responses", path="")
    return found


def _usage(value: Any) -> Data:
    from interlingua.canonical.validate import validate

    usage = value.get("usage", value) if isinstance(value, dict) else value
    validate(usage, "Usage")
    return usage


def _expected(value: Any, model: str, version: str | None) -> Data:
    """Return the estimated tokens and cost of a request, computed as routing does, and the likely usage."""
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
