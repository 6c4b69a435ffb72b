"""
The four checks. Each takes the name of a judge and a case and gives its problems as texts; none is good.

Their results are kept, because the exceptions are held against them once more.
"""

from functools import cache
from typing import Any

import judges
from judges._shared import Said, arguments
from loopback import Provider
from material import REQUESTS, Case, cases, framing, written_answer, written_request, written_stream

from interlingua import translate
from interlingua.canonical import json
from interlingua.canonical.loss import apply, difference, visible

PROVIDER = Provider()
"""Served by conftest.py for as long as a run lasts."""


@cache
def request(judge_name: str, case: Case) -> list[str]:
    """A request that we write is valid by the SDK's types."""
    judge = judges.get(judge_name)
    body = written_request(judge, case)
    return [] if body is None else [str(problem) for problem in judge.request(body)]


@cache
def answer(judge_name: str, case: Case) -> list[str]:
    """An answer that we write, of whatever origin, is valid by the SDK's types."""
    judge = judges.get(judge_name)
    body, _ = written_answer(judge, case.response)
    return [str(problem) for problem in judge.answer(body)]


@cache
def stream(judge_name: str, case: Case) -> list[str]:
    """A stream that we write, of whatever origin, is the unary answer when the SDK has put it together; a failed one fails."""
    judge = judges.get(judge_name)
    sent = written_stream(judge, case.events)
    PROVIDER.answer = lambda _: (framing(judge), sent)
    last = case.events[-1]
    try:
        found = judge.stream(PROVIDER.address, {})
    except judge.FAILURES as failure:
        return [] if last["type"] == "error" else [f"the client raises {type(failure).__name__}: {failure}"]
    except Exception as failure:  # noqa: BLE001 whatever an SDK stumbles over is a finding
        return [f"the client stumbles, {type(failure).__name__}: {failure}"]
    if last["type"] == "error":
        if found[0].finish == "failed":  # Responses has a last event of its own for this
            return []
        return ["a stream that failed looks like a whole answer"]
    return _compared(judge, last["response"], found)


@cache
def exchange(judge_name: str, case: Case) -> list[str]:
    """The SDK's client asks our reader of requests and is answered by our writer of answers."""
    judge = judges.get(judge_name)
    sent = written_request(judge, case)
    if sent is None:
        return []
    sent = {"model": "a-model", **sent}
    sent.pop("stream", None)
    sent.pop("stream_options", None)
    body, _ = written_answer(judge, case.response)
    read: dict[str, Any] = {}

    def play(asked: dict[str, Any]) -> tuple[str, bytes]:
        asked = getattr(judge, "unadorned", dict)(asked)
        read["request"], _ = translate.read_request(asked, judge.ADAPTER, provider=judge.PROVIDER)
        return "application/json", json.dumps(body)

    PROVIDER.answer = play
    try:
        found = judge.ask(PROVIDER.address, sent)
    except Exception as failure:  # noqa: BLE001 whatever an SDK stumbles over is a finding
        return [f"the client stumbles, {type(failure).__name__}: {failure}"]
    meant, _ = translate.read_request(sent, judge.ADAPTER, provider=judge.PROVIDER)
    one, two = visible(apply(meant, [])), visible(read["request"])
    at = difference({**one, "model": None}, {**two, "model": None})
    problems = [] if at is None else [f"the request reads differently at {at}"]
    return problems + _compared(judge, case.response, found)


# ---------------------------------------------------------------------------------------------------- comparing


def _compared(judge: Any, response: dict[str, Any], found: list[Said]) -> list[str]:
    """What the client has against our unary answer, and, where that says everything, against the canonical one."""
    body, loss = written_answer(judge, response)
    # an answer that the SDK's types refuse is a finding of the check `answer`
    problems = [] if judge.answer(body) else _differences("the unary answer", judge.said(body), found)
    if not loss:
        meant = [_canonical(response, choice) for choice in [response, *response.get("alternatives", ())]]
        for one, other in zip(meant, found, strict=False):
            one.finish = other.finish  # the canonical words are not the wire's
            one.reasoning = one.reasoning if other.reasoning else ""  # not every SDK shows it
            one.tokens = one.tokens or other.tokens  # nor can every wire be silent about usage
        problems += _differences("the canonical answer", meant, found)
    return problems


def _canonical(response: dict[str, Any], choice: dict[str, Any]) -> Said:
    one = Said()
    for block in choice["message"]["content"]:
        match block["type"]:
            case "text" if block.get("refusal"):
                one.refusal += block["text"]
            case "text":
                one.text += block["text"]
            case "thinking":
                one.reasoning += block["text"]
            case "tool_use" if block.get("kind") == "custom":
                one.calls += ((block["name"], block["input_raw"]),)
            case "tool_use":
                one.calls += (
                    (block["name"], arguments(block["input_raw"]) if "input_raw" in block else block["input"]),
                )
            case _:
                pass
    if (usage := response.get("usage")) is not None:
        prompt = ("input_tokens", "cached_input_tokens", "cache_creation_input_tokens")
        one.tokens = (sum(usage.get(name) or 0 for name in prompt), usage.get("output_tokens") or 0)
    return one


def _differences(against: str, meant: list[Said], found: list[Said]) -> list[str]:
    if len(meant) != len(found):
        return [f"{len(found)} answers instead of {len(meant)} of {against}"]
    return [
        f"{name} {getattr(two, name)!r} instead of {getattr(one, name)!r} of {against}"
        for one, two in zip(meant, found, strict=True)
        for name in one.__dataclass_fields__
        if getattr(one, name) != getattr(two, name)
    ]


CHECKS = {"request": request, "answer": answer, "stream": stream, "exchange": exchange}


def material(check: str) -> list[Case]:
    """The cases that a check is about."""
    match check:
        case "request":
            return cases(*REQUESTS)
        case "answer":
            return cases("response.canonical.json")
        case "stream":
            return [case for case in cases("stream.events.jsonl") if case.ends]
        case _:
            return [case for case in cases("response.canonical.json") if any(map(case.has, REQUESTS))]
