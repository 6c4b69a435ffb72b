"""Loss reports, routing chains, usage and cost as tables of rich, for the command line and the demo."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

Data = Mapping[str, Any]

SEVERITY_STYLES = {"lost": "bold red", "weakened": "yellow", "representation": "cyan"}
OP_WORDS = {"drop": "dropped", "replace": "replaced", "move": "moved", "merge": "merged"}
VERDICT_STYLES = {"chose": "bold green", "rejected": "red", "deferred": "yellow", "not_applicable": "dim"}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # the reader of the output has closed it: that is no failure, and `main` ends without an error
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return a console as wide as the terminal; 100 columns if the output is no terminal and COLUMNS is not set."""
    result = _Console(stderr=stderr, highlight=False)
    if not result.is_terminal and not os.environ.get("COLUMNS", "").isdecimal():
        result.width = 100
    return result


def loss_summary(loss: Sequence[Data]) -> Text:
    """Return a line with the number of entries of each severity."""
    if not loss:
        return Text("nothing lost: everything arrives", style="green")
    counts = Counter(entry["severity"] for entry in loss)
    parts = [
        Text.assemble((f"{counts[word]} {word}", style)) for word, style in SEVERITY_STYLES.items() if counts[word]
    ]
    return Text(", ").join(parts)


def loss_table(loss: Sequence[Data]) -> RenderableType:
    """Return the loss report, the most severe entries first: what happened, where, and why."""
    if not loss:
        return loss_summary(loss)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("severity", no_wrap=True)
    table.add_column("what", no_wrap=True)
    table.add_column("where", overflow="fold", ratio=2)
    table.add_column("why", overflow="fold", ratio=3)
    order = list(SEVERITY_STYLES)
    for entry in sorted(loss, key=lambda entry: order.index(entry["severity"])):
        style = SEVERITY_STYLES[entry["severity"]]
        where = entry["path"] or "/"
        if "to" in entry:
            where += f"\n→ {entry['to']}"
        table.add_row(
            Text(entry["severity"], style=style),
            OP_WORDS[entry["op"]],
            Text(where),
            Text(entry["message"]),
        )
    return Group(loss_summary(loss), table)


def usage_line(usage: Data) -> str:
    """Return tokens, time and exact cost of one response, in a line."""
    cached, written = usage.get("cached_input_tokens", 0), usage.get("cache_creation_input_tokens", 0)
    beside = [f"{cached} cached" if cached else "", f"{written} to cache" if written else ""]
    prompt = " + ".join([str(usage["input_tokens"]), *filter(None, beside)])
    thought = usage.get("reasoning_tokens")
    answer = f"{usage['output_tokens']} out" + (f" ({thought} thinking)" if thought else "")
    cost = usage.get("cost_usd")
    money = "unpriced" if cost is None else f"${cost}"
    return f"{prompt} in, {answer} · {usage.get('latency_ms', 0)} ms · {money}"


def prompt_tokens(usage: Data) -> int:
    """Return the tokens of the whole prompt: uncached, read from a cache, and written to a cache."""
    return sum(usage.get(f"{bucket}_tokens") or 0 for bucket in ("input", "cached_input", "cache_creation_input"))


def tokens(usage: Data) -> str:
    """Return the buckets of a usage that are not empty."""
    names = {
        "input_tokens": "in",
        "cached_input_tokens": "cached",
        "cache_creation_input_tokens": "to cache",
        "output_tokens": "out",
    }
    return ", ".join(f"{usage[name]} {word}" for name, word in names.items() if usage.get(name)) or "nothing"


def money(usage: Data, expected: Data | None = None) -> str:
    """Return the cost of a usage; with `expected`, the cost that a request may have."""
    amount = usage.get("cost_usd")
    if amount is None:
        return "unpriced"
    prices = f"prices of {usage['pricing_version']}"
    if expected is None:
        return f"{amount} USD ({prices})"
    span, tokens = expected["estimated_cost_usd"], expected["estimated_tokens"]
    upper = f"at most {span['high']}" if span["high"] is not None else "no limit given, so no upper bound"
    return (
        f"likely {amount} USD (at least {span['low']} without an answer, {upper}; "
        f"the prompt has {tokens['low']} to {tokens['high']} tokens; {prices})"
    )


def providers(rows: Sequence[Data]) -> RenderableType:
    """Return the providers: the wires and the address of each, and what is missing before it can be called here."""
    parts: list[RenderableType] = []
    for row in rows:
        missing = "; ".join(row["missing"])
        state = Text(missing, style="yellow") if missing else Text("ready", style="green")
        parts.append(Text.assemble((row["name"], "bold"), f" · {row['title']} · ", state))
        lines = {
            "wires": ", ".join(row["adapters"]),
            "address": row["base_url"] or "",
            "set by": ", ".join(row["address_variables"]),
            "key": _key(row),
            "models": f"{row['models']} listed" if row["models"] else "",
        }
        parts += [Text(f"  {label:<8} {value}", style="dim") for label, value in lines.items() if value]
    legend = "LLM_<NAME>=scheme://key@host adds a provider that is a copy of a row, elsewhere"
    return Group(*parts, Text(legend, style="dim"))


def _key(row: Data) -> str:
    if not row["key_variables"]:
        return "none"
    need = "needed" if row["needs_key"] else "not needed"
    signed = ", or calls are signed with credentials of AWS" if row["signing"] else ""
    return f"{' or '.join(row['key_variables'])} ({need}{signed})"


def decision(outcome: Data) -> RenderableType:
    """Return a routing decision: the winner, and the verdict of every slot."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("slot", "verdict", "model", "reason"):
        table.add_column(heading, overflow="fold")
    for entry in outcome["chain"]:
        style = VERDICT_STYLES.get(entry["verdict"], "")
        reason = entry["reason"]
        if failure := entry.get("validation_failure"):
            reason += f": {failure}"
            reason += f" ({entry['missing']})" if entry.get("missing") else ""
        verdict = Text(entry["verdict"], style=style)
        table.add_row(entry["policy"], verdict, Text(entry["candidate_model"] or ""), Text(reason))
    if "chosen_model" not in outcome:  # no model can take the turn
        return table
    head = Text.assemble(
        ("→ ", "bold green"), (outcome["chosen_model"], "bold green"), f"  ({outcome['record']['reason']})"
    )
    return Group(head, table)


def candidates(rows: Sequence[Data]) -> RenderableType:
    """Return a table of candidates: the tokens, the cost and the losses of each."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("candidate", "tokens", "likely cost", "would lose", "verdict"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        guess, cost = row["estimated_tokens"], row["estimated_cost_usd"]
        verdict = row.get("rejection") or (row["error"]["category"] if "error" in row else "")
        table.add_row(
            Text(row["model"]),
            f"{guess['low']}–{guess['high']}" if guess else "?",
            f"${cost['likely']}" if cost else "unpriced",
            loss_summary(row["loss"]),
            Text(verdict, style="red") if verdict else Text("can serve", style="green"),
        )
    return table


_TAKES = {
    "supports_tools": "tools",
    "supports_images": "img",
    "supports_documents": "doc",
    "supports_audio": "audio",
    "supports_video": "video",
    "supports_thinking": "think",
}


def models(rows: Sequence[Data], lacks: Mapping[str, Sequence[str]]) -> RenderableType:
    """Return the models of the registry, by provider; `lacks` holds what is missing before a provider can be called."""
    parts: list[RenderableType] = []
    for provider in dict.fromkeys(row["provider"] for row in rows):
        missing = "; ".join(lacks.get(provider, ()))
        ready = Text(missing, style="yellow") if missing else Text("ready", style="green")
        parts += [
            Text.assemble((provider, "bold"), " · ", ready),
            _models_of([row for row in rows if row["provider"] == provider]),
        ]
    legend = "$ for a million tokens · + more for long prompts · ? not known · † deprecated, or retiring then"
    return Group(*parts, Text(legend, style="dim"))


def _models_of(rows: Sequence[Data]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("model", overflow="fold")
    for heading in ("context", "answer", "in", "out"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("takes", no_wrap=True)
    for row in rows:
        able, price = row["capabilities"], row["price"] or {}
        more = "+" if "long_prompt" in price else ""
        mark = f" †{row.get('retires', '')}" if "retires" in row or row.get("deprecated") else ""
        table.add_row(
            Text(row["id"] + mark, style="dim" if row.get("deprecated") else ""),
            _thousands(able.get("max_context_tokens")),
            _thousands(able.get("max_output_tokens")),
            _rate(price, "input_per_mtok_usd") + more if price else Text("unpriced", style="dim"),
            _rate(price, "output_per_mtok_usd") + more if price else "",
            " ".join(word for flag, word in _TAKES.items() if able.get(flag)),
        )
    table.add_row()
    return table


def _rate(price: Data, name: str) -> str:
    """Return a rate with at least two decimal places, as prices are written."""
    whole, _, rest = str(price.get(name, "?")).partition(".")
    return whole if whole == "?" else f"{whole}.{rest.rstrip('0'):0<2}"


def _thousands(number: int | None) -> str:
    if number is None:
        return "?"
    if number >= 1_000_000:
        return f"{number / 1_000_000:.2f}".rstrip("0").rstrip(".") + "M"
    return f"{number // 1000}k"


def bulk_summary(summary: Data) -> RenderableType:
    """Return the result for many rows: the number of adapted rows, the first errors, and each loss with its rows."""
    parts = [(f"{summary['adapted']:,} of {summary['rows']:,} rows adapted", "green")]
    parts += [(f", {summary['refused']:,} refused", "yellow")] if summary["refused"] else []
    parts += [(f", {summary['malformed']:,} cannot be read", "bold red")] if summary["malformed"] else []
    lines: list[RenderableType] = [Text.assemble(*parts)]
    if summary["failed"]:
        numbers = ", ".join(map(str, summary["failed"]))
        notice = f"not finished: the process died repeatedly at shard {numbers}; start the run again to retry"
        lines.append(Text(notice, style="bold red"))
    if summary["errors"]:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("row", overflow="fold")
        table.add_column("error", overflow="fold")
        for error in summary["errors"]:
            where = f" (at {error['path']})" if error.get("path") else ""
            table.add_row(Text(f"{error['input']}:{error['row']}"), Text(f"{error['message']}{where}"))
        more = summary["refused"] + summary["malformed"] - len(summary["errors"])
        lines += [table, *([Text(f"and {more:,} more, each in its row of the output", style="dim")] if more else [])]
    if not summary["loss"]:
        return Group(*lines, *([Text("nothing lost", style="green")] if summary["adapted"] else []))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("severity", "code"):
        table.add_column(name, no_wrap=True)
    for name in ("rows", "entries"):
        table.add_column(name, justify="right")
    table.add_column("for example", overflow="fold")
    for row in summary["loss"]:
        severity = Text(row["severity"], style=SEVERITY_STYLES[row["severity"]])
        example = f"{row['example']['input']}:{row['example']['row']}"
        table.add_row(severity, row["code"], f"{row['rows']:,}", f"{row['entries']:,}", Text(example))
    return Group(*lines, table)
