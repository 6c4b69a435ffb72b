"""
Runs recorded provider traffic through the adapters and prints a table: `make corpus CORPUS=folder`.

The folder holds `<wire>.jsonl.gz` files, one exchange a line: `api`, `vendor`, `status`, `request` (body), and one of
`response` (body) or `stream` (raw text). Recordings are read, never copied.

The table has, per wire and check, the number of runs, the number that hold, and the first kinds of failure (entry id
and JSON Pointer, no content).

    request     wire → canonical → same wire is JSON-equal response    the same for responses stream      folds to the
    same response as the unary body with the same content cuts        byte by byte, and cut inside every character and
    line end: the same events law:B       the request adapted to wire B obeys the loss law, or is refused with a typed
    error valid:B     … and breaks no written rule of wire B error       an error response: wire → canonical → same wire
    has the same status and body error:B     the error, written for a client of wire B, is read there as the same kind
    of failure, as its report states answer:B    the response, written for a client of wire B, obeys the loss law of
    answers streamed:B  the stream, with the report that comes with it, obeys the same law

A second table (the only one with `--estimates`) compares the estimate of each prompt with the usage in its response.
"""

import argparse
import base64
import gzip
import itertools
import json as standard_json
import logging
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from interlingua import StreamReader, adapters, apply, difference, fold, registry, translate, visible
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import same_answer
from interlingua.translate import from_wire_error, load, project, to_wire_error
from interlingua.wire import eventstream

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "conformance"))
oracles: Any = import_module("runner.oracles")  # the suite's own judges; the suite is not an installed package

FILES = {
    "anthropic_messages": "anthropic_messages",
    "openai_chat": "openai_chat",
    "openai_compat": "openai_chat",
    "gemini": "gemini_generate",
    "openai_responses": "openai_responses",
    "ollama": "ollama_chat",
    "bedrock_converse": "bedrock_converse",
    "cohere": "cohere_chat",
}
"""Files of the corpus, by the adapter that reads them."""

OTHER_WIRES = frozenset(("cohere_v1",))
"""The marks of exchanges on a wire that no adapter reads."""

VENDORS = {
    "azure_openai": "azure-openai",
    "azure_ai": "azure-ai",
    "bedrock_mantle": "bedrock-mantle",
    "chatgpt_codex": "chatgpt-codex",
    "github_copilot": "github-copilot",
    "litellm_proxy": "litellm",
    "llama_cpp": "llama.cpp",
    "mistralrs": "mistral.rs",
    "vercel_gateway": "vercel-gateway",
    "anthropic_compat": "anthropic",
    "google_ai": "gemini",
}
"""The vendors of the corpus whose row in the registry has another name."""

Entry = dict[str, Any]


NEAR = 0.15
"""The greatest difference between a likely count and the true one that counts as near."""
SEEN = ("category", "retryable", "retry_after", "path", "request_id")
"""The members of an error that a client can see."""
BUCKETS = ("input_tokens", "cached_input_tokens", "cache_creation_input_tokens")


class Estimated(NamedTuple):
    """The comparison of one estimate with the true count."""

    ratio: float
    within: bool
    width: float


class Tally:
    """The number of runs in which each check held, and the kinds of failure with an example each."""

    def __init__(self) -> None:
        self.runs: Counter[tuple[str, str]] = Counter()
        self.holds: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.failures: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.examples: dict[tuple[str, str, str], str] = {}
        self.estimates: dict[tuple[str, str], list[Estimated]] = defaultdict(list)

    def note(self, source: str, check: str, entry: Entry, problem: str | None, *, refused: bool = False) -> None:
        """Count one run of a check: `problem` is None when it held."""
        key = (source, check)
        self.runs[key] += 1
        self.refused[key] += refused
        if problem is None:
            self.holds[key] += 1
        else:
            self.failures[key][problem] += 1
            self.examples.setdefault((*key, problem), entry["id"])

    def print(self, most: int) -> None:
        """Print the tables, then the failures."""
        if self.runs:
            self._print_checks()
        if self.estimates:
            self._print_estimates()
        for key in sorted(self.failures):
            for problem, count in self.failures[key].most_common(most):
                print(f"  {key[0]} {key[1]}: {count} x {problem}  e.g. {self.examples[(*key, problem)]}")

    def _print_checks(self) -> None:
        print(f"{'corpus file':20} {'check':24} {'runs':>6} {'hold':>6} {'%':>7} {'refused':>8}")
        for key in sorted(self.runs):
            runs, holds = self.runs[key], self.holds[key]
            print(f"{key[0]:20} {key[1]:24} {runs:6} {holds:6} {100 * holds / runs:7.2f} {self.refused[key] or '':>8}")

    def _print_estimates(self) -> None:
        print(
            f"{'corpus file':20} {'prompt':10} {'count':>6} {'±15 %':>7} {'within':>7} {'high/low':>9}"
            f"   likely/true at 5, 50, 95 %"
        )
        for key in sorted(self.estimates):
            estimates = self.estimates[key]
            ratios = sorted(one.ratio for one in estimates)
            near = sum(abs(ratio - 1) <= NEAR for ratio in ratios)
            within = sum(one.within for one in estimates)
            width = statistics.median(one.width for one in estimates)
            count = len(estimates)
            spread = " ".join(f"{ratios[int(share * (count - 1))]:.2f}" for share in (0.05, 0.5, 0.95))
            shares = f"{100 * near / count:7.1f} {100 * within / count:7.1f}"
            print(f"{key[0]:20} {key[1]:10} {count:6} {shares} {width:9.2f}   {spread}")


def _general(pointer: str) -> str:
    return "/".join("*" if step.isdigit() else step for step in pointer.split("/"))


def _endpoint(adapter: str, entry: Entry) -> Endpoint:
    vendor = VENDORS.get(entry["vendor"], entry["vendor"])
    try:
        return registry.endpoint(adapter=adapter, provider=vendor, model=entry.get("model"))
    except InterlinguaError:
        return Endpoint(adapter, vendor, entry.get("model"))


def _wire(entry: Entry) -> Entry:
    return {"method": "POST", "path": "", "headers": entry.get("request_headers") or {}, "body": entry["request"]}


def check_request(adapter: str, entry: Entry, endpoint: Endpoint) -> str | None:
    """Check request wire → canonical → same wire."""
    module = adapters.get(adapter)
    request, _ = module.from_wire_request(_wire(entry), endpoint, DERIVED_IDS)
    load(request)
    written, _ = module.to_wire(request, Endpoint(adapter, endpoint.provider, None, endpoint.dialect))
    where = difference(entry["request"], written["body"])
    return None if where is None else f"differs at {_general(where)}"


def check_response(adapter: str, entry: Entry, endpoint: Endpoint) -> str | None:
    """Check response wire → canonical → same wire."""
    module = adapters.get(adapter)
    response, _ = module.from_wire_response(entry["response"], endpoint, DERIVED_IDS)
    load(response, "Response")
    body, _ = module.to_wire_response(response, endpoint)
    where = difference(entry["response"], body)
    return None if where is None else f"differs at {_general(where)}"


def _events(chunks: Iterator[bytes] | list[bytes], endpoint: Endpoint) -> list[Entry]:
    reader = StreamReader(endpoint)
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.end()


def _visible_response(response: Entry) -> Entry:
    """Return the content, finish reason and usage of a response for comparison."""
    seen = visible({"messages": [_bare(response["message"])]})
    usage = {name: count for name, count in (response.get("usage") or {}).items() if name != "raw" and count}
    return {"messages": seen["messages"], "finish_reason": response["finish_reason"], "usage": usage}


def _bare(message: Entry) -> Entry:
    # members of a stream's chunks that a unary body does not have are next to the content, not in it
    return {key: value for key, value in message.items() if key != "provider_state"}


def check_stream(adapter: str, entry: Entry, endpoint: Endpoint) -> str | None:
    """Check that a stream folds to the response of the unary body."""
    events = _events([_raw(entry)], endpoint)
    if not events:
        return "no events"
    if events[-1]["type"] == "error":
        return f"ends with error {events[-1]['error']['category']}"
    response = fold(events)
    load(response, "Response")
    body, loss = adapters.get(adapter).to_wire_response(response, endpoint)
    again, _ = adapters.get(adapter).from_wire_response(json.loads(json.dumps(body)), endpoint, DERIVED_IDS)
    where = difference(
        _visible_response(apply(response, loss)), _visible_response(again)
    )  # a whole response has no broken arguments
    return None if where is None else f"differs at {_general(where)}"


def _raw(entry: Entry) -> bytes:
    """Return the bytes of a stream. For an AWS event stream, `stream` holds decoded messages; the bytes are separate."""
    if entry.get("stream_format") != "aws_eventstream":
        return entry["stream"].encode()
    if "stream_raw_b64" in entry:
        return base64.b64decode(entry["stream_raw_b64"])
    messages = (next(iter(standard_json.loads(line).items())) for line in entry["stream"].splitlines())
    return b"".join(eventstream.encode(eventstream.Frame(name, standard_json.dumps(data))) for name, data in messages)


def _targeted(raw: bytes) -> list[bytes]:
    cuts = {0, len(raw)}
    for at in range(1, len(raw)):
        if raw[at] & 0xC0 == 0x80 or raw[at - 1] == 0x0D or raw[at - 1] == 0x0A:
            cuts.add(at)
    edges = sorted(cuts)
    return [raw[a:b] for a, b in itertools.pairwise(edges)]


def check_cuts(adapter: str, entry: Entry, endpoint: Endpoint) -> str | None:
    """Check that a stream gives the same events, however it is cut."""
    raw = _raw(entry)
    whole = _events([raw], endpoint)
    for name, chunks in (("bytewise", [raw[at : at + 1] for at in range(len(raw))]), ("targeted", _targeted(raw))):
        if _events(chunks, endpoint) != whole:
            return f"other events when cut {name}"
    return None


def check_law(request: Entry, target: Endpoint) -> tuple[str | None, Entry | None]:
    """Check the loss law of one canonical request at one endpoint; returns the wire too."""
    module = adapters.get(target.adapter)
    projection = project(request, target)
    wire = {**projection.wire, "body": json.loads(projection.body)}
    read, _ = module.from_wire_request(wire, target, DERIVED_IDS)
    where = difference(visible(apply(request, projection.loss)), visible(read))
    return (None if where is None else f"law broken at {_general(where)}"), wire


def check_error(adapter: str, other: str, entry: Entry, endpoint: Endpoint) -> str | None:
    """Check an error response that is written for a client of a wire and read back there."""
    body = json.dumps(entry["response"]) if not isinstance(entry["response"], str) else entry["response"]
    error = from_wire_error(entry["status"], {}, body, endpoint, raw=True)
    load(error, "Error")
    target = endpoint if other == adapter else registry.endpoint(adapter=other)
    wire, loss = to_wire_error(error, target)
    if other == adapter and (wire["status"] != entry["status"] or difference(entry["response"], wire["body"])):
        return "another response"
    text = wire["body"] if isinstance(wire["body"], str) else json.dumps(wire["body"])
    back = from_wire_error(wire["status"], wire["headers"], text, target)
    if back["category"] != error["category"]:
        return f"{error['category']} is read as {back['category']}"
    seen = {name: error[name] for name in SEEN if name in error}
    for lost in loss:
        name = lost["path"].removeprefix("/")
        seen.pop(name, None)
        if lost["op"] == "replace":
            seen[name] = lost["value"]
    where = difference(seen, {name: back[name] for name in SEEN if name in back})
    return None if where is None else f"the report does not hold at {where}"


def check_answer_law(response: Entry, target: Endpoint) -> str | None:
    """Check the loss law of one response at one endpoint."""
    body, loss = translate.to_wire_response(response, target)
    read, _ = adapters.get(target.adapter).from_wire_response(json.loads(json.dumps(body)), target, DERIVED_IDS)
    where = same_answer(apply(response, loss), read)
    return None if where is None else f"law broken at {_general(where)}"


def check_stream_law(events: list[Entry], target: Endpoint) -> str | None:
    """Check the loss law of one stream, with the report that comes with it, at one endpoint."""
    loss: list[Entry] = []
    data = b"".join(translate.encode_stream(events, target, loss=loss))
    last, read = events[-1], _events([data], target)[-1]
    if (read["type"] == "error" and last["response"]["finish_reason"] == "error") or "places" in last:
        return None  # streamed as an error; streamed in the order in which it came
    if read["type"] == "error":
        return f"ends with error {read['error']['category']}"
    where = same_answer(_inside(apply(last["response"], loss)), _inside(read["response"]))
    return None if where is None else f"law broken at {_general(where)}"


def _inside(response: Entry) -> Entry:
    """Return a response without the members around it, most of which a stream sends before they are known."""
    choices = [{k: v for k, v in one.items() if k != "provider_state"} for one in response.get("alternatives", [])]
    return {k: v for k, v in response.items() if k != "provider_state"} | {"alternatives": choices}


def answers_elsewhere(tally: Tally, name: str, adapter: str, entry: Entry, endpoint: Endpoint) -> None:
    """Check the response, whole and streamed, for a client of every wire."""
    whole = entry["response"] is not None and "error" not in entry["features"]
    try:
        response = (
            adapters.get(adapter).from_wire_response(entry["response"], endpoint, DERIVED_IDS)[0] if whole else None
        )
        events = _events([_raw(entry)], endpoint) if entry["stream"] is not None else []
    except InterlinguaError:
        return  # the checks of its own wire report it
    for other in adapters.names():
        target = endpoint if other == adapter else registry.endpoint(adapter=other)
        if response is not None:
            guarded(tally, name, f"answer:{other}", entry, partial(check_answer_law, response, target))
        if events and events[-1]["type"] == "message_complete":
            guarded(tally, name, f"streamed:{other}", entry, partial(check_stream_law, events, target))


def estimate(name: str, adapter: str, entry: Entry, endpoint: Endpoint, tally: Tally) -> None:
    """Compare the estimate of a prompt with the usage in its response; skip it if either is missing."""
    module = adapters.get(adapter)
    try:
        request, _ = module.from_wire_request(_wire(entry), endpoint, DERIVED_IDS)
        usage = _answer(adapter, entry, endpoint).get("usage") or {}
    except InterlinguaError:
        return
    true = sum(usage.get(bucket) or 0 for bucket in BUCKETS)
    if not true:
        return
    found = module.estimate(request, endpoint)
    within = found["low"] <= true <= found["high"]
    kind = _holds(request)
    tally.estimates[(name, kind)].append(Estimated(found["likely"] / true, within, found["high"] / found["low"]))
    if not within:
        tally.failures[(name, "estimate")][f"{kind}: outside of low and high"] += 1
        tally.examples.setdefault((name, "estimate", f"{kind}: outside of low and high"), entry["id"])


def _answer(adapter: str, entry: Entry, endpoint: Endpoint) -> Entry:
    if entry["response"] is not None:
        return adapters.get(adapter).from_wire_response(entry["response"], endpoint, DERIVED_IDS)[0]
    events = _events([_raw(entry)], endpoint) if entry["stream"] is not None else []
    return fold(events) if events and events[-1]["type"] == "message_complete" else {}


def _holds(request: Entry) -> str:
    """Return the kind of content in a prompt that is hardest to count."""
    outer = [block for message in request["messages"] for block in message["content"]]
    types = {block["type"] for block in outer}
    types |= {inner["type"] for block in outer if block["type"] == "tool_result" for inner in block["content"]}
    tools = request.get("tools") or []
    if "opaque" in types or any(tool.get("kind") == "provider" for tool in tools):
        return "provided"
    if types & {"document", "audio", "video"}:
        return "documents"
    if "image" in types:
        return "pictures"
    if types & {"thinking", "redacted_thinking"}:
        return "reasoning"
    if tools or types & {"tool_use", "tool_result"}:
        return "tools"
    return "schema" if (request.get("response_format") or {}).get("schema") else "text"


def run(folder: Path, names: list[str], limit: int | None, tally: Tally, *, estimates: bool = False) -> None:
    """Run all checks over the files of the folder, or only the estimates."""
    for name in names:
        adapter = FILES[name]
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for position, line in enumerate(lines):
                if limit is not None and position >= limit:
                    break
                entry = standard_json.loads(line)
                if not OTHER_WIRES & set(entry["features"]):
                    run_entry(name, adapter, entry, tally, estimates=estimates)


def run_entry(name: str, adapter: str, entry: Entry, tally: Tally, *, estimates: bool = False) -> None:
    """Run all checks over one exchange, or only the estimate."""
    endpoint = _endpoint(adapter, entry)
    good = entry["status"] in (200, None)
    if entry["request"] is not None and good and "stripped_base64" not in entry["features"]:
        estimate(name, adapter, entry, endpoint, tally)
    if estimates:
        return
    if entry["request"] is not None:
        guarded(tally, name, "request", entry, lambda: check_request(adapter, entry, endpoint))
        for other in adapters.names():
            cross(tally, name, adapter, other, entry, endpoint)
    if entry["response"] is not None and not good:
        for other in adapters.names():
            check = "error" if other == adapter else f"error:{other}"
            guarded(tally, name, check, entry, lambda other=other: check_error(adapter, other, entry, endpoint))
    if entry["response"] is not None and good and "error" not in entry["features"]:
        guarded(tally, name, "response", entry, lambda: check_response(adapter, entry, endpoint))
    if entry["stream"] is not None and good:
        guarded(tally, name, "stream", entry, lambda: check_stream(adapter, entry, endpoint))
        guarded(tally, name, "cuts", entry, lambda: check_cuts(adapter, entry, endpoint))
    if good:
        answers_elsewhere(tally, name, adapter, entry, endpoint)


def guarded(tally: Tally, name: str, check: str, entry: Entry, work: Any) -> None:
    """Count the result of a check. A typed error is a failure by its category, any other exception one by its type."""
    try:
        tally.note(name, check, entry, work())
    except InterlinguaError as error:
        tally.note(name, check, entry, f"{error.category}: {error.message} {_general(error.path or '')}")
    except Exception as error:  # noqa: BLE001 (a crash is a finding, not an end)
        tally.note(name, check, entry, f"CRASH {type(error).__name__}")


def cross(tally: Tally, name: str, adapter: str, other: str, entry: Entry, endpoint: Endpoint) -> None:
    """Check law and validity of one request at another wire (or at its own)."""
    check = f"law:{other}"
    try:
        request, _ = adapters.get(adapter).from_wire_request(_wire(entry), endpoint, DERIVED_IDS)
        target = endpoint if other == adapter else registry.endpoint(adapter=other, model="a-model")
        problem, wire = check_law(request, target)
    except InterlinguaError as error:
        tally.note(name, check, entry, None, refused=True)
        tally.failures[(name, f"{check} (refused)")][f"{error.category}: {error.message}"] += 1
        tally.examples.setdefault((name, f"{check} (refused)", f"{error.category}: {error.message}"), entry["id"])
        return
    except Exception as error:  # noqa: BLE001 (a crash is a finding, not an end)
        tally.note(name, check, entry, f"CRASH {type(error).__name__}")
        return
    tally.note(name, check, entry, problem)
    if other != adapter and wire is not None:
        broken = oracles.violations(other, wire)
        tally.note(name, f"valid:{other}", entry, broken[0][1] if broken else None)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Run recorded provider traffic through the adapters.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--file", action="append", choices=list(FILES), help="only this file; may be repeated")
    parser.add_argument("--limit", type=int, help="only the first entries of each file")
    parser.add_argument("--most", type=int, default=8, help="how many kinds of failure to show per check")
    parser.add_argument("--estimates", action="store_true", help="only the table of estimates")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # thousands of dropped blocks, all of them in the reports
    tally = Tally()
    run(options.corpus, options.file or list(FILES), options.limit, tally, estimates=options.estimates)
    tally.print(options.most)
    return 0


if __name__ == "__main__":
    sys.exit(main())
