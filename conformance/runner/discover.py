"""From files to checks: which files a folder holds decides what is asked of an implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import frames
from .cases import Case, matches
from .checks import answers, failures, generate, hostile, requests, routes, rows, schemas, streams, swaps, unknown
from .clients import CLIENTS
from .compare import MISSING, get
from .oracles import has_oracle, judges
from .session import Session
from .upstream import providers

Need = tuple[str, str | None]


@dataclass(frozen=True)
class Check:
    """One thing to ask. `needs` are the operations that a plug must claim for it, and `capabilities` the words that it
    must claim beside them; `profiles` are those that it counts in: one whole, and the part of it for one operation."""

    id: str
    case: Case
    name: str
    level: str
    profiles: tuple[str, ...]
    needs: tuple[Need, ...]
    run: Callable[[Session, Case], str | None]
    capabilities: tuple[str, ...] = ()

    @property
    def draft(self) -> bool:
        return bool(self.case.meta.get("draft"))


def plan(
    cases: list[Case], adapters: list[str], patterns: list[str] | None = None, only: str | None = None
) -> list[Check]:
    """All checks of the cases. `adapters` are those the plug claims: the cross checks run through them."""
    answers = _answers(cases)
    found = [check for case in cases for check in derive(case, adapters, answers)]
    if only:
        found = [check for check in found if _concerns(check, only)]
        # what the cases of others ask of the wire comes behind its own
        found.sort(key=lambda check: check.case.adapter != only)
    if patterns:
        found = [check for check in found if any(matches(pattern, check.id) for pattern in patterns)]
    return found


def _concerns(check: Check, adapter: str) -> bool:
    return check.case.adapter == adapter or check.id.endswith(":" + adapter)


def _answers(cases: list[Case]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        if case.adapter and case.has("response.wire.json"):
            found.setdefault(case.adapter, []).append(case)
    return found


def derive(case: Case, adapters: list[str], answers: dict[str, list[Case]]) -> Iterator[Check]:
    """The checks of one case."""
    if case.row is not None:
        yield from _row_checks(case, adapters)
        return
    yield from _request_checks(case)
    yield from _response_checks(case)
    yield from _answer_checks(case, adapters, answers)
    yield from _carried_checks(case, adapters)
    yield from _stream_checks(case)
    yield from _generate_checks(case, answers)
    yield from _cross_checks(case, adapters, answers)
    yield from _route_checks(case)


# --- builders ---------------------------------------------------------------------------------------------------------------


def _check(
    case: Case,
    name: str,
    run: Callable[..., str | None],
    *operations: str,
    profile: str | None = None,
    needs: tuple[Need, ...] = (),
    capability: str | None = None,
    side: str | None = None,
) -> Check:
    """`capability` is needed beside those of the case; `side` of the case is meant where the operations mislead."""
    own: tuple[Need, ...] = tuple((operation, case.adapter) for operation in operations)
    parts = _parts(case, own + needs) if profile in (None, "gateway") else []
    profiles = (profile or f"adapter:{case.adapter}", *parts)
    words = _capabilities(case, own + needs, side)
    if capability is not None and capability not in words:
        words = (*words, capability)
    return Check(f"{case.path}#{name}", case, name, case.level, profiles, own + needs, run, words)


PARTS = ("to_wire", "from_wire_request", "from_wire_response", "stream", "error")
"""The operations that a wire has a profile of: what each demands needs no other operation."""


def _parts(case: Case, needs: tuple[Need, ...]) -> list[str]:
    return [f"adapter:{case.adapter}:{operation}" for operation in PARTS if needs == ((operation, case.adapter),)]


_SIDES = {
    "to_wire": "request",
    "from_wire_request": "request",
    "from_wire_response": "response",
    "to_wire_response": "response",
    "stream": "response",
    "stream_encode": "response",
}
_STREAMING = ("stream", "stream_encode", "relay")


def _capabilities(case: Case, needs: tuple[Need, ...], side: str | None) -> tuple[str, ...]:
    """The `needs` of the case, on the side that a check is about, and `streaming` for a check that handles a stream."""
    given: Any = case.meta.get("needs", [])
    if isinstance(given, dict):
        sides = {side} if side else {_SIDES[operation] for operation, _ in needs if operation in _SIDES}
        given = [word for name, words in given.items() if name in sides or not sides for word in words]
    if any(operation in _STREAMING for operation, _ in needs):
        given = [*given, "streaming"]
    return tuple(dict.fromkeys(given))


def _request_checks(case: Case) -> Iterator[Check]:
    if case.adapter is None:
        return
    canonical, wire = case.has("request.canonical.json"), case.has("request.wire.json")
    if canonical and case.has("request.error.json"):
        yield _check(case, "refusal", requests.check_refusal, "to_wire")
        return
    if canonical and wire:
        yield _check(case, "to_wire", requests.check_to_wire, "to_wire")
    if canonical:
        yield _check(case, "loss", requests.check_loss, "to_wire")
        yield _check(case, "schema:loss", schemas.check_schema_loss, "to_wire")
    if _has_request(case) and not _is_refused(case):
        yield _check(case, "accounting", requests.check_accounting, "to_wire", "from_wire_request", profile="gateway")
    if case.has("request.edit.json"):
        yield from _edit_checks(case)
    if (canonical or wire) and judged(case) and not _is_refused(case):
        operations = ("to_wire",) if canonical else ("to_wire", "from_wire_request")
        profile = None if canonical else "gateway"
        yield _check(case, f"valid:{case.adapter}", partial(_valid, adapter=case.adapter), *operations, profile=profile)
    if canonical:
        yield _hostile(case, "to_wire", "request", "request.canonical.json")
    if case.has("request.read.json"):
        yield _hostile(case, "to_wire", "request", "request.read.json")
    if not wire:
        return
    yield _hostile(case, "from_wire_request", "wire", "request.wire.json", "gateway")
    if _has_request(case):
        yield _check(
            case, "from_wire_request", requests.check_from_wire_request, "from_wire_request", profile="gateway"
        )
    yield _check(case, "schema:request", schemas.check_schema_request, "from_wire_request", profile="gateway")
    yield _check(case, "wire_fixpoint", requests.check_wire_fixpoint, "to_wire", "from_wire_request", profile="gateway")
    for rule in case.wire.get("unknown", []):
        if (
            rule["in"] == "request"
            and unknown.plant(case.value("request.wire.json"), rule["put"], rule["value"]) is not None
        ):
            run = partial(unknown.check_unknown_request, rule=rule)
            yield _check(case, f"unknown:{rule['name']}", run, "to_wire", "from_wire_request", profile="gateway")


def _edit_checks(case: Case) -> Iterator[Check]:
    """A request that was read from the wire, edited, and goes back there."""
    operations = ("from_wire_request", "to_wire")
    stage = "request.edited"
    if _is_refused(case):
        run = partial(requests.check_refusal, stage=stage)
        yield _check(case, "edited:refusal", run, *operations, profile="gateway")
        return
    run = partial(requests.check_to_wire, stage=stage)
    yield _check(case, "edited:to_wire", run, *operations, profile="gateway")
    run = partial(requests.check_loss, stage=stage)
    yield _check(case, "edited:loss", run, *operations, profile="gateway")
    yield _check(case, "schema:loss", schemas.check_schema_loss, *operations, profile="gateway")


def _has_request(case: Case) -> bool:
    """Whether the case says in canonical form what is asked."""
    return case.has("request.canonical.json") or case.has("request.read.json")


def _is_refused(case: Case) -> bool:
    return case.has("request.error.json") or case.has("request.edited.error.json")


def judged(case: Case) -> bool:
    """Whether the case's wire request must be one that its provider takes."""
    home = case.wire.get("provider")
    return (
        case.adapter is not None and judges(case.adapter, case.provider, home) and not case.meta.get("expects_invalid")
    )


def _valid(session: Session, case: Case, adapter: str) -> str | None:
    return requests.check_valid(session, case, adapter)


def _hostile(case: Case, operation: str, member: str, name: str, profile: str | None = None) -> Check:
    run = partial(hostile.check_hostile, operation=operation, member=member, name=name)
    return _check(case, f"hostile:{operation}", run, operation, profile=profile)


def _response_checks(case: Case) -> Iterator[Check]:
    wire, canonical = case.has("response.wire.json"), case.has("response.canonical.json")
    if case.adapter is not None and case.has("answer.canonical.json"):
        needs = ("from_wire_request", "to_wire_response")
        yield _check(case, "answered", answers.check_answered, *needs, profile="gateway", capability="calls_as_offered")
    if case.adapter is None or not wire:
        return
    if canonical:
        yield _check(case, "from_wire_response", answers.check_from_wire_response, "from_wire_response")
        yield _check(case, "served", answers.check_served, "to_wire_response", "from_wire_response", profile="gateway")
        yield _hostile(case, "to_wire_response", "response", "response.canonical.json", "gateway")
    if case.has("response.called.json"):
        yield _check(case, "called", answers.check_called, "from_wire_response", capability="calls_as_offered")
    yield _hostile(case, "from_wire_response", "body", "response.wire.json")
    yield _check(case, "schema:response", schemas.check_schema_response, "from_wire_response")
    yield _check(
        case,
        "to_wire_response",
        answers.check_to_wire_response,
        "from_wire_response",
        "to_wire_response",
        profile="gateway",
    )
    if _echoes(case):
        yield _check(case, "echo", answers.check_echo, "from_wire_response", "to_wire", side="response")
    for rule in case.wire.get("unknown", []):
        if (
            rule["in"] == "response"
            and unknown.plant(case.value("response.wire.json"), rule["put"], rule["value"]) is not None
        ):
            run = partial(unknown.check_unknown_response, rule=rule)
            yield _check(case, f"unknown:{rule['name']}", run, "from_wire_response")


def _answer_checks(case: Case, adapters: list[str], known: dict[str, list[Case]]) -> Iterator[Check]:
    """Every answer and every stream for a client of every wire, its own included: no golden file is needed."""
    if case.adapter is None:
        return
    for adapter in adapters:
        if case.has("response.wire.json"):
            reading: tuple[Need, ...] = (("from_wire_response", case.adapter), ("from_wire_response", adapter))
            rule = known[adapter][0].wire.get("answer") if adapter in known else None
            run = partial(answers.check_answer, adapter=adapter, rule=rule)
            needs = (*reading, ("to_wire_response", adapter))
            yield _check(case, f"answer:{adapter}", run, profile="gateway", needs=needs)
        if case.stream_file is not None:
            reading = (("stream", case.adapter), ("stream", adapter))
            run = partial(answers.check_streamed, adapter=adapter)
            yield _check(
                case, f"streamed:{adapter}", run, profile="gateway", needs=(*reading, ("stream_encode", adapter))
            )


def _carried_checks(case: Case, adapters: list[str]) -> Iterator[Check]:
    """Every answer that holds calls, and what its provider needs back with them, by way of a client of every other wire."""
    if case.adapter is None or not (case.has("response.wire.json") and case.has("response.canonical.json")):
        return
    if not _is_bound(case.value("response.canonical.json")["message"]["content"]):
        return
    for adapter in adapters:
        if adapter == case.adapter or adapter not in CLIENTS:
            continue
        needs: tuple[Need, ...] = (
            ("from_wire_response", case.adapter),
            ("to_wire_response", adapter),
            ("from_wire_request", adapter),
            ("to_wire", case.adapter),
        )
        run = partial(answers.check_carried, adapter=adapter)
        yield _check(
            case, f"carried:{adapter}", run, profile="gateway", needs=needs, capability="state_in_ids", side="response"
        )


def _is_bound(content: list[dict[str, Any]]) -> bool:
    """Whether calls of an answer, or the reasoning before them, hold what their provider wants back.

    An answer with a text behind a call is left out: most wires have one place for text, before the calls.
    """
    kinds = [block["type"] for block in content]
    if "tool_use" not in kinds or "text" in kinds[kinds.index("tool_use") :]:
        return False
    states = [block.get("provider_state") or {} for block in content if block["type"] in STATED]
    return any(state.get("signature") or state.get("fields") for state in states) or any(
        block.get("signature") or block["type"] == "redacted_thinking" for block in content
    )


STATED = ("tool_use", "thinking", "redacted_thinking")


def _echoes(case: Case) -> bool:
    """Whether the answer holds a turn that its provider wants back: one in which something was said."""
    if "echo" not in case.wire:
        return False
    if case.has("response.canonical.json") and not case.value("response.canonical.json")["message"]["content"]:
        return False
    return get(case.value("response.wire.json"), case.wire["echo"]["response"]) not in (MISSING, [])


def _stream_checks(case: Case) -> Iterator[Check]:
    if case.adapter is None or case.stream_file is None:
        return
    if case.has("stream.events.jsonl"):
        yield _check(case, "stream", streams.check_stream, "stream")
    yield _check(case, "fold", streams.check_fold, "stream")
    yield _check(case, "schema:events", schemas.check_schema_events, "stream")
    data = case.data(case.stream_file)
    for name, cut in frames.CUTS.items():
        if cut(data, case.framing) is not None:
            yield _check(case, f"chunks:{name}", partial(streams.check_chunks, cut=name), "stream")
    yield _check(case, "prompt", streams.check_prompt, "stream")
    yield _check(case, "truncated:frames", partial(streams.check_truncated, inside=False), "stream")
    yield _check(case, "truncated:inside", partial(streams.check_truncated, inside=True), "stream")
    yield _check(case, "hostile:stream", hostile.check_hostile_stream, "stream")
    if streams.has_terminal(case):
        yield _check(case, "after_end", streams.check_after_end, "stream")
    yield _check(case, "stream_encode", streams.check_stream_encode, "stream", "stream_encode", profile="gateway")
    for rule in case.wire.get("unknown", []):
        if rule["in"] == "stream" and unknown.planted_stream(case, rule) is not None:
            run = partial(unknown.check_unknown_stream, rule=rule)
            yield _check(case, f"unknown:{rule['name']}", run, "stream")


def _generate_checks(case: Case, answers: dict[str, list[Case]]) -> Iterator[Check]:
    """A call of the implementation, answered by a scripted upstream with the answer that the case holds."""
    if case.adapter is None or _is_refused(case) or "origin" in case.meta:
        return  # where the upstream is, it is the origin of all that it says
    if case.provider not in (None, case.wire.get("provider"), *providers()):
        return  # a provider that nobody knows has no address
    needs: tuple[Need, ...] = ()
    if case.has("request.wire.json") and not case.has("request.canonical.json"):
        needs = (("from_wire_request", case.adapter),)
    answer = case if case.has("response.wire.json") else _paced(case, answers)
    if answer is case or (answer is not None and _has_request(case)):
        operations = ("generate", "to_wire", "from_wire_response")
        run: Callable[..., str | None] = partial(generate.check_generate, answer=answer)
        yield _check(case, "generate", run, *operations, profile="service", needs=needs)
    if answer is case and _echoes(case):
        yield _check(case, "generate:again", generate.check_again, "generate", profile="service")
    if case.stream_file is None:
        return
    operations = ("generate", "to_wire", "stream")
    run = generate.check_generate_stream
    yield _check(case, "generate:stream", run, *operations, profile="service", needs=needs)
    for name, breaks in (("generate:broken", True), ("generate:ended", False)):
        run = partial(generate.check_broken, breaks=breaks)
        if streams.has_end(case):
            yield _check(case, name, run, *operations, profile="service", needs=needs)
    if case.wire.get("paced") == case.folder.name:
        for name, check in generate.PACED.items():
            yield _check(case, name, check, *operations, profile="service")


def _paced(case: Case, answers: dict[str, list[Case]]) -> Case | None:
    """The exchange of the wire that adapter.json names for what any answer will do."""
    found = answers.get(str(case.adapter), [])
    return next((other for other in found if other.folder.name == case.wire.get("paced")), None)


def _cross_checks(case: Case, adapters: list[str], answers: dict[str, list[Case]]) -> Iterator[Check]:
    """Every canonical request through every other adapter: no golden file is needed."""
    canonical = case.has("request.canonical.json")
    if case.has("request.error.json"):
        yield from _elsewhere_checks(case, adapters)
        return
    if _is_refused(case) or not (canonical or (case.adapter and case.has("request.wire.json"))):
        return
    reading: tuple[Need, ...] = () if canonical else (("from_wire_request", case.adapter),)
    for adapter in adapters:
        if adapter == case.adapter:
            continue
        there: tuple[Need, ...] = (("to_wire", adapter), ("from_wire_request", adapter))
        yield _check(
            case,
            f"cross:{adapter}",
            partial(requests.check_cross, adapter=adapter),
            profile="gateway",
            needs=reading + there,
        )
        if has_oracle(adapter) and not case.meta.get("expects_invalid"):
            needs: tuple[Need, ...] = (*reading, ("to_wire", adapter))
            yield _check(
                case, f"valid:{adapter}", partial(requests.check_valid, adapter=adapter), profile="gateway", needs=needs
            )
        if case.adapter and answers.get(adapter):
            back: tuple[Need, ...] = (
                ("from_wire_response", adapter),
                ("to_wire", case.adapter),
                ("from_wire_request", case.adapter),
            )
            run = partial(swaps.check_swap, adapter=adapter, answers=answers[adapter])
            # the other adapter's answer is one with a call, which gets its result
            yield _check(
                case,
                f"swap:{adapter}",
                run,
                profile="gateway",
                needs=reading + there + back,
                capability="tools",
                side="request",
            )


def _elsewhere_checks(case: Case, adapters: list[str]) -> Iterator[Check]:
    """A request of a wire that goes back as it came, and that every other wire refuses."""
    if case.has("request.canonical.json") or not (case.adapter and case.has("request.wire.json")):
        return
    for adapter in adapters:
        if adapter == case.adapter:
            continue
        needs: tuple[Need, ...] = (("from_wire_request", case.adapter), ("to_wire", adapter))
        run = partial(requests.check_elsewhere, adapter=adapter)
        yield _check(case, f"elsewhere:{adapter}", run, profile="gateway", needs=needs)


def _route_checks(case: Case) -> Iterator[Check]:
    if not (case.has("route.input.json") and case.has("route.decision.json")):
        return
    needs: tuple[Need, ...] = (("route", None),)
    yield _check(case, "route", routes.check_route, profile="router", needs=needs)
    run = partial(hostile.check_hostile, operation="route", member=None, name="route.input.json")
    yield _check(case, "hostile:route", run, profile="router", needs=needs)
    yield _check(case, "route:order", routes.check_route_order, profile="router", needs=needs)
    if len(case.value("route.decision.json").get("targets") or []) > 1:
        yield _check(case, "route:second", routes.check_route_second, profile="router", needs=needs)


def _row_checks(case: Case, adapters: list[str]) -> Iterator[Check]:
    """The kind of a row file follows from its place: cost/, estimate/, schema/, invariants/, calls/, hash/, policy/, relay/, wire/, or
    errors.json and written-errors.json of an adapter."""
    assert case.row is not None
    name = case.row["id"]
    kind = case.meta.get("kind") or kind_of(case.path)
    match kind:
        case "errors":
            yield _check(case, name, rows.check_error_row, "error")
            run = generate.check_error_answer  # whole, and in place of a stream
            yield _check(case, f"{name}:generate", run, "generate", profile="service", capability="streaming")
            for adapter in adapters:
                run = partial(failures.check_written, adapter=adapter)
                needs: tuple[Need, ...] = (("error", case.adapter), ("to_wire_error", adapter), ("error", adapter))
                yield _check(case, f"{name}:written:{adapter}", run, profile="gateway", needs=needs)
        case "written":
            yield _check(case, name, failures.check_written_row, "to_wire_error", "error", profile="gateway")
        case "cost":
            yield _check(case, name, rows.check_cost_row, profile="cost", needs=(("cost", None),))
        case "estimate":
            adapter = case.row.get("adapter") or case.adapter
            yield _check(case, name, rows.check_estimate_row, profile="router", needs=(("estimate", adapter),))
        case "schema":
            yield _check(case, name, rows.check_schema_row, profile="core", needs=(("validate", None),))
        case "invariants":
            yield _check(case, name, rows.check_invariant_row, profile="core", needs=(("check", None),))
        case "calls":
            yield _check(case, name, rows.check_call_row, profile="tools", needs=(("check_call", None),))
        case "hash":
            yield _check(case, name, rows.check_hash_row, profile="hash", needs=(("content_hash", None),))
        case "policy":
            yield _check(case, name, routes.check_policy_row, profile="service", needs=(("route_by_file", None),))
        case "relay":
            yield _check(case, name, streams.check_relay_row, "relay", profile="service")
        case "wire":
            adapter = case.meta["adapter"]
            data = rows.row_bytes(case.row)
            for cut in ("whole", "bytewise", "utf8"):
                if frames.CUTS[cut](data, case.framing) is not None:
                    run = partial(rows.check_framing_row, cut=cut)
                    yield _check(case, f"{name}:{cut}", run, profile="core", needs=(("stream", adapter),))


def kind_of(path: str) -> str:
    parts = path.split("/")
    if parts[-1].startswith("written-errors"):
        return "written"
    return "errors" if parts[-1].startswith("errors") else parts[0]
