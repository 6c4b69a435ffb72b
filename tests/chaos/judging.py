"""
What must hold of a run, over whatever protocol it was made (spec/8-errors.md, spec/9-service.md, spec/11-gateway.md).
"""

from collections.abc import Callable
from typing import Any

from chaos.faults import KEY, REFUSED, Asked, Fault
from chaos.plans import NOBODY, PRICED, Failure, Run, provider_of

Typed = Callable[[Run], Failure | str]
"""The typed error that a caller was told; else what came of the run, in a word."""


def judge(run: Run, typed: Typed) -> str:
    """What came of a run, in a word; what is wrong with it goes into its violations."""
    wrong = run.violations.append
    last = run.events[-1] if run.events else None
    kinds = [event["type"] for event in run.events]
    if any(kind in ("message_complete", "error") for kind in kinds[:-1]):
        wrong("something follows the end of the stream")
    _targets_in_order(run)
    response = run.response
    if run.error is None and not run.left:
        if run.stream and (last is None or last["type"] != "message_complete"):
            wrong("a stream ends well without message_complete")
            return "no end"
        response = response or (last or {}).get("response")
    if response is not None:
        _true_answer(run, response)
        return "answered" if response["requested_model"] == run.chain[0] else "by another"
    _shown_so_far(run)
    if run.left:
        if run.leaves is None:
            wrong("cancelled, though nobody cancelled")
        return "left"
    failure = typed(run)
    if isinstance(failure, str):
        return failure
    if last is not None:
        if last["type"] != "error":
            wrong("a stream fails after its first event without an error event")
        elif last["error"]["category"] != failure.category:
            wrong(f"the error event says {last['error']['category']}, the error {failure.category}")
    if KEY in failure.text:
        wrong("a secret in the error")
    return _cause(run, failure)


def _cause(run: Run, failure: Failure) -> str:
    """Whether something that happened explains an error."""
    wrong = run.violations.append
    if failure.code == "max_calls":
        if run.seen:
            wrong("refused for want of room after a provider was asked")
        return "no room"
    if failure.code == "shutdown":
        if not run.draining:
            wrong("shut down, though the server was not")
        return "shut down"
    if failure.code == "message_too_large":
        provider, fault = run.seen[-1]
        true = _true(run, provider, fault)
        if not fault.long or failure.output_tokens != true.usage["output_tokens"]:
            wrong("too large, without what was paid")
        return "too large"
    if failure.category == "timeout" and run.deadline is not None:
        return "deadline"
    last = run.seen[-1][1] if run.seen else REFUSED
    possible = set(last.categories)
    if NOBODY in map(provider_of, run.chain):
        possible |= REFUSED.categories
    possible |= {failure.told_as.get(category, category) for category in possible}
    if failure.category not in possible:
        wrong(f"{failure.category} after {last.name}: {failure.text[:300]!r}")
    return "failed"


def _true(run: Run, provider: str, fault: Fault) -> Asked:
    return Asked(run.number, provider, "", run.stream, run.chance, fault.long)


def _texts(response: dict[str, Any]) -> str:
    return "".join(block["text"] for block in response["message"]["content"] if block["type"] == "text")


def _targets_in_order(run: Run) -> None:
    """Targets are asked in the order of the chain, and one that was given up is not asked again."""
    order = [provider_of(model) for model in run.chain]
    places = [order.index(provider) for provider, _ in run.seen]
    # with all models in cooldown, the one whose cooldown ends first is tried
    if places != sorted(places):
        run.violations.append(f"asked in the order {places}")


def _true_answer(run: Run, response: dict[str, Any]) -> None:
    """The answer is that of the provider that was asked last, whole and once, with all that was tried and paid."""
    wrong = run.violations.append
    if not run.seen:
        wrong("an answer of nobody")
        return
    provider, fault = run.seen[-1]
    true = _true(run, provider, fault)
    if provider_of(response["requested_model"]) != provider or not fault.answers:
        wrong(f"an answer of {response['requested_model']}, the last asked is {provider} with {fault.name}")
    if _texts(response) != true.text:
        wrong("the text of the answer is not what the provider said")
    _deltas(run, true.text, whole=True)
    told = response.get("usage") or {}
    if {name: told.get(name) for name in true.usage} != true.usage:
        wrong(f"usage {told} for {true.usage}")
    if provider in PRICED and not told.get("cost_usd"):
        wrong("an answer without its cost")
    tried = [one for one in response.get("attempts", ()) if provider_of(one["model"]) != NOBODY]
    # of a call on a connection that it has just broken, or that could not be made in time, a provider knows nothing
    unseen = sum(1 for one in tried if one["category"] in ("network", "timeout"))
    if not len(tried) - unseen <= len(run.seen) - 1 <= len(tried):
        wrong(f"{len(tried)} failed attempts are told, {len(run.seen) - 1} were made")
    passed_over = [one["model"] for one in response.get("skipped", ())]
    if not set(run.chain[: run.chain.index(response["requested_model"])]) <= set(passed_over):
        wrong(f"passed over are {run.chain} up to {response['requested_model']}, told are {passed_over}")
    status = response["message"].get("metadata", {}).get("status", "complete")
    if status != "complete":
        wrong(f"an answer with status {status}")


def _shown_so_far(run: Run) -> None:
    """What a stream showed before it failed is the beginning of what one provider said, and nobody was asked after it."""
    shown = "".join(event["text"] for event in run.events if event["type"] == "text_delta")
    if not run.events or not run.seen:
        return
    provider, fault = run.seen[-1]
    _deltas(run, _true(run, provider, fault).text, whole=False)
    last = run.events[-1]
    if last["type"] == "error" and "response" in last and last["error"].get("code") != "message_too_large":
        kept = _texts(last["response"])
        if kept != shown:
            run.violations.append("the error event does not hold what was shown")


def _deltas(run: Run, true: str, *, whole: bool) -> None:
    if not run.stream:
        return
    shown = "".join(event["text"] for event in run.events if event["type"] == "text_delta")
    if (shown != true) if whole else not true.startswith(shown):
        run.violations.append("the deltas are not what the last provider said: doubled, mixed or lost")
