"""Row files: errors, money, estimates, validation and framing."""

from __future__ import annotations

import base64
import re
from decimal import Decimal
from typing import Any

from runner import frames
from runner.cases import Case
from runner.compare import MISSING, Difference, dumps, show, visible_error, visible_events
from runner.session import Failure, Refused, Session

from .asking import Note, flat, read_stream, same, valid
from .streams import ends_once


def check_error_row(session: Session, case: Case) -> Note:
    row = _row(case)
    golden = row["error"]
    input = {
        "status": row["status"],
        "headers": row.get("headers", {}),
        "body": row.get("body"),
        "provider": case.provider,
    }
    answer = session.answer("error", case.adapter, input)
    if answer.unsupported:
        raise Failure("false advertising: error is claimed in hello and answers unsupported")
    error = answer.error if answer.error is not None else answer.output
    assert error is not None
    error = error.get("error", error)
    valid("Error", error)
    same(visible_error(golden, golden), visible_error(error, golden), "", case.comparators("error"))
    if "raw" in error:
        raise Failure("the error has the provider's body, and nobody asked for it")
    _has_no_content(row, error)
    if "retryable" in golden and "retryable" not in error:
        raise Failure("the error does not say whether it is retryable")
    return None


def _has_no_content(row: dict[str, Any], error: dict[str, Any]) -> None:
    """The message says what the wire gives apart, and nothing of the provider's sentence; no member holds a key."""
    message = error["message"]
    if any(word not in message for word in row.get("in_message", ())):
        raise Failure("the message does not say what the wire gives apart", Difference("", row["in_message"], message))
    words = error.get("provider_message") or ""
    quoted = row["error"].get("provider_message") or words
    if quoted and quoted in message:
        raise Failure("the message holds the words of the provider, which may hold content")
    if len(words) > LONGEST_WORDS:
        raise Failure(f"provider_message has {len(words)} characters, at most {LONGEST_WORDS} are allowed")
    said = "\n".join(value for value in error.values() if isinstance(value, str))
    if any(secret in said for secret in row.get("hidden", ())):
        raise Failure("the error holds what must be taken out of it")


LONGEST_WORDS = 2_000


def check_cost_row(session: Session, case: Case) -> Note:
    """Exact money, null when unpriced; and additivity, where the row says that the price is linear."""
    row = _row(case)
    cost = _cost(session, row["usage"], row.get("price"))
    wanted = row["cost"]["total"]
    if (wanted is None) != (cost is None) or (wanted is not None and Decimal(wanted) != cost):
        raise Failure("cost_usd", Difference("", wanted, None if cost is None else str(cost)))
    if row.get("additive") and cost is not None:
        double = {name: value * 2 for name, value in row["usage"].items() if type(value) is int}
        twice = _cost(session, double, row.get("price"))
        if twice != 2 * cost:
            raise Failure("twice the usage does not cost twice as much", Difference("", str(2 * cost), str(twice)))
    return None


def _cost(session: Session, usage: Any, price: Any) -> Decimal | None:
    # A missing price and a null price are the same question: what does an unpriced model cost?
    answer = session.answer("cost", None, {"usage": usage, "price": price})
    if answer.unsupported:
        raise Failure("false advertising: cost is claimed in hello and answers unsupported")
    if answer.error is not None:
        raise Refused("cost", answer.error)
    if "cost_usd" not in answer.output:
        raise Failure("the output of cost has no member 'cost_usd'; an unpriced model has null there")
    text = answer.output["cost_usd"]
    if text is None:
        return None
    if not isinstance(text, str) or not _PLAIN_DECIMAL.fullmatch(text):
        raise Failure(f"cost_usd: money is a plain decimal string, got {show(text)}")
    return Decimal(text)


_PLAIN_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?")


def check_estimate_row(session: Session, case: Case) -> Note:
    row = _row(case)
    adapter = row.get("adapter") or case.adapter
    request = row["request"]
    low, likely, high = _estimate(session, adapter, request, row.get("model"))
    if "tokens" in row:
        true = row["tokens"]
        if not low <= true <= high:
            raise Failure(f"{true} tokens were counted, the estimate is {low} to {high}")
        if "tolerance" in row and abs(likely - true) > row["tolerance"] * true:
            raise Failure(f"likely {likely} is more than {row['tolerance']:.0%} from {true}")
    longer = {
        **request,
        "messages": [
            *request["messages"],
            {"role": "user", "content": [{"type": "text", "text": "And one more question."}]},
        ],
    }
    grown = _estimate(session, adapter, longer, row.get("model"))
    if grown[1] < likely:
        raise Failure(f"one more message lowers the estimate from {likely} to {grown[1]}")
    return None


def _estimate(session: Session, adapter: str | None, request: Any, model: str | None) -> tuple[int, int, int]:
    output = session.ask("estimate", adapter, {"request": request, "model": model}, "low", "likely", "high")
    valid("TokenEstimate", output)
    low, likely, high = output["low"], output["likely"], output["high"]
    if not low <= likely <= high:
        raise Failure(f"low {low}, likely {likely}, high {high} are not in order")
    return low, likely, high


def check_schema_row(session: Session, case: Case) -> Note:
    row = _row(case)
    name = row.get("type") or case.meta.get("type")
    output = session.ask("validate", None, {"type": name, "instance": row["instance"]}, "valid")
    if output["valid"] is not row["valid"]:
        raise Failure(f"{'valid' if row['valid'] else 'invalid'} expected, got {show(output)}")
    if not row["valid"] and "pointer" in row:
        # A union may be reported at the value that fits no form (`outer`), or deeper, at the member that spoils it.
        path = output.get("path", MISSING)
        if path not in (row["pointer"], row.get("outer", row["pointer"])):
            raise Failure("path", Difference("", row["pointer"], path))
    return None


def check_invariant_row(session: Session, case: Case) -> Note:
    """The broken rules, each at its place; in any order."""
    row = _row(case)
    given = {
        "type": row.get("type") or case.meta.get("type"),
        "instance": row["instance"],
        "profile": row.get("profile"),
    }
    output = session.ask("check", None, given, "violations")
    wanted = sorted((one["rule"], one["path"]) for one in row["violations"])
    got = sorted((str(one.get("rule")), str(one.get("path"))) for one in output["violations"])
    if wanted != got:
        missing = [one for one in wanted if one not in got] or [one for one in got if one not in wanted] or got
        word = "is not told" if missing[0] in wanted else "is told"
        raise Failure(f"{missing[0][0]} at {missing[0][1] or '/'} {word}", Difference("", wanted, got))
    return None


def check_call_row(session: Session, case: Case) -> Note:
    """A call that cannot be carried out gives exactly one event, which holds no value of the arguments; any other gives none."""
    row = _row(case)
    events = session.ask("check_call", None, {"call": row["call"], "tools": row["tools"]}, "events")["events"]
    if len(events) != len(row["events"]):
        raise Failure("one event is due" if row["events"] else "no event is due", Difference("", row["events"], events))
    for golden, event in zip(row["events"], events, strict=True):
        called = {"tool_use_id": row["call"]["id"], "name": row["call"]["name"]}
        wanted = {"type": "tool_input_invalid", "alias": "tool.input_invalid", **called}
        same(wanted, {name: event.get(name) for name in wanted})
        places = sorted(one["path"] for one in event["violations"])
        same(sorted(golden.get("violations", places)), places, "where it is wrong")
        if not places:
            raise Failure("the event does not say what is wrong")
        said = dumps(event)
        if any(word in said for word in row.get("hidden", ())):
            raise Failure("the event holds a value of the arguments")
    return None


def check_hash_row(session: Session, case: Case) -> Note:
    """The content hash; `text` of the row is what it is the hash of."""
    row = _row(case)
    output = session.ask("content_hash", None, {"message": row["message"]}, "hash")
    if output["hash"] != row["hash"]:
        raise Failure(f"the hash is not that of {row['text']}", Difference("", row["hash"], output["hash"]))
    return None


def check_framing_row(session: Session, case: Case, cut: str) -> Note:
    """Odd bytes give the events of the plainest bytes of the same frames; damaged ones these and then the row's error."""
    row = _row(case)
    adapter = case.meta["adapter"]
    chunks = frames.CUTS[cut](row_bytes(row), case.framing)
    assert chunks is not None
    plain = frames.join([frames.Frame(frame.get("event"), frame["data"]) for frame in row["frames"]], case.framing)
    expected = visible_events(flat(read_stream(session, case, [plain], adapter)[0]))
    events = visible_events(flat(read_stream(session, case, chunks, adapter)[0]))
    ends_once(events)
    if "error" not in row:
        same(expected, events, "these bytes give other events than the plainest spelling")
        return None
    # The plain frames before the damage are a stream that was cut off: it ends with an error too, of another category.
    same(expected[:-1], events[:-1], "before the damage")
    same(row["error"], visible_error(events[-1].get("error") or {}, row["error"]), "the last event")
    same(_arrived(expected[-1]), _arrived(events[-1]), "what had arrived")
    return None


def _arrived(event: dict[str, Any]) -> Any:
    return (event.get("response") or {}).get("message")


def row_bytes(row: dict[str, Any]) -> bytes:
    return base64.b64decode(row["base64"]) if "base64" in row else row["bytes"].encode()


def _row(case: Case) -> dict[str, Any]:
    assert case.row is not None
    return case.row
