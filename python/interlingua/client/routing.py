"""
The router with a registry, a policy and the adapters, for the service and the command line.

The router itself is pure and knows none of them; this module provides its inputs.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua import router, translate
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, NoCandidate
from interlingua.canonical.logs import logger
from interlingua.canonical.types import TokenEstimate
from interlingua.client.settings_file import read_settings
from interlingua.events import ROUTE_DECIDED, ROUTING_CONSTRAINT_FAILURE, Events
from interlingua.registry import Connection, Registry, default, names

Data = dict[str, Any]

NAMED = "named by the caller"
_LOG = logger("client")


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen `models` in order, `request` as it is sent, `record` for the message, `decision` when it was routed.

    `chain` holds the verdicts, `fail_over_on` what, besides a failure, leads to the next model.
    """

    models: tuple[str, ...]
    request: Data
    record: Data
    chain: list[Data]
    decision: Data | None = None
    fail_over_on: tuple[str, ...] = ()


def named_record(model: str) -> Data:
    """The routing record of a message when the caller named the model."""
    return {"mode": "manual", "chosen_model": model, "reason": NAMED, "alternatives_considered": []}


def session_of(request: Mapping[str, Any]) -> str | None:
    """The session of a conversation, as its last message names it; None when it names none."""
    messages = request["messages"]
    return messages[-1].get("session_id") if messages else None


class PolicyFile:
    """A policy in a file of JSON or YAML, which is read again for each turn (spec/7-routing.md#policy-reread).

    `check` raises `InvalidRequest` for a policy that is not valid. Then the last good policy stays in force, which is
    logged once for each change of the file.
    """

    def __init__(self, path: Path, check: Callable[[Any], None]) -> None:
        self._path = path
        self._check = check
        self._seen: bytes | str | None = None
        self._policy: Data | None = None
        self._lock = threading.Lock()  # decisions about large conversations are made in threads

    def current(self) -> Data:
        """The policy in force. Raises `InvalidRequest` while there is no good policy yet."""
        with self._lock:
            return self._current()

    def _current(self) -> Data:
        content = _content(self._path)
        if self._policy is None or content != self._seen:
            try:
                self._policy = self._parsed(content)
            except InvalidRequest as problem:
                if self._policy is None:
                    raise
                self._log_problem(problem)
            self._seen = content
        return self._policy

    def _parsed(self, content: bytes | str) -> Data:
        if isinstance(content, str):
            raise InvalidRequest(f"cannot read {self._path}: {content}")
        try:
            policy = read_settings(content, self._path)
            self._check(policy)
        except InvalidRequest as problem:
            message = f"{self._path}: {problem.message}"
            raise InvalidRequest(message, path=problem.path, violations=problem.violations) from None
        return policy

    def _log_problem(self, problem: InvalidRequest) -> None:
        fields = {"file": str(self._path), "path": problem.path, "violations": len(problem.violations)}
        _LOG.warning("routing.policy_invalid: %s; the last good policy stays in force", problem.message, extra=fields)


def _content(path: Path) -> bytes | str:
    """The bytes of a file, or a text that states why they cannot be read."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as problem:
        return getattr(problem, "strerror", None) or type(problem).__name__


class Routing:
    """Choose models with one registry and one policy. Between calls, only the catalogue of the registry is kept.

    `policy` is data, or a file that is read again for each turn. `connect` returns how an endpoint is called, when the
    environment alone does not determine that: `Client.connection`. In the same way `missing` returns what a provider
    lacks: `Client.missing`. `events` publishes every decision of a turn and every refused swap; `clock` measures the
    time of a decision, in seconds.
    """

    def __init__(
        self,
        registry: Registry | None = None,
        policy: Mapping[str, Any] | Path | None = None,
        *,
        connect: Callable[[Endpoint], Connection] | None = None,
        missing: Callable[[str], Sequence[str]] | None = None,
        events: Events | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.registry = registry or default()
        self._connect = connect or self.registry.connection_of
        self._missing = missing
        self.events = events or Events()
        """The observers of decisions."""
        self._clock = clock
        self._file = PolicyFile(policy, self._demand_file) if isinstance(policy, Path) else None
        self._policy: Data = {} if policy is None or isinstance(policy, Path) else dict(policy)

    @property
    def policy(self) -> Data:
        """The policy in force."""
        return self._policy if self._file is None else self._file.current()

    @cached_property
    def catalog(self) -> Data:
        """The registry in the format of the router."""
        return self.registry.snapshot(connect=self._connect, missing=self._missing)

    def check(self) -> None:
        """Raise `InvalidRequest` when the policy is not valid, so that a server reports it when it starts."""
        self._demand(self.policy)

    def _demand(self, policy: Any) -> None:
        router.demand_policy(policy, self.catalog)

    def _demand_file(self, policy: Any) -> None:
        router.demand_policy(policy, self.catalog, at="")
        for path, message in self.doubts(policy):
            _LOG.warning("routing.policy_doubtful: %s (at %s)", message, path)

    def doubts(self, policy: Any) -> list[tuple[str, str]]:
        """What of a valid policy may be a mistake, as pointers and messages: models that the registry does not list."""
        found: list[tuple[str, str]] = []
        for path, spec in router.specs(policy):
            for target in self.registry.expand(spec, aliases=policy.get("aliases")):
                model = str(target)
                if "," not in spec and spec in policy.get("aliases", {}):
                    continue  # reported where the alias is defined
                if not self.registry.may_have(model):
                    found.append((path, f"the registry does not list {model}; {self._meant(model)}"))
        return found

    def _meant(self, model: str) -> str:
        provider, _, name = model.partition(":")
        there = [row["id"] for row in self.registry.models(provider=provider)]
        close = get_close_matches(f"{provider}:{name}", there, 2, 0.7)
        return names.did_you_mean(close) or f"interlingua models --provider {provider} shows those of this release"

    def choose(
        self,
        request: Data,
        target: str | None = None,
        policy: Data | None = None,
        now: str | None = None,
        health: Data | None = None,
        context: Data | None = None,
        adapter: str | None = None,
        turn_id: str | None = None,
    ) -> Choice:
        """Choose the models for one turn: the named target, or the request's own model; otherwise the policy routes.

        The decision is published as the one event `route.decided` of the turn `turn_id`, also when no model can take
        it. Named models that would lose pinned state are left out; `adapter` is the wire over which they will be
        called, when it is not their own.
        Raises `InvalidRequest` for an unknown name and for an invalid policy or context, `NoCandidate` when no model
        can take the turn.
        """
        return self.weigh(request, target, policy, now, health, context, adapter, turn_id)()

    def weigh(
        self,
        request: Data,
        target: str | None = None,
        policy: Data | None = None,
        now: str | None = None,
        health: Data | None = None,
        context: Data | None = None,
        adapter: str | None = None,
        turn_id: str | None = None,
    ) -> Callable[[], Choice]:
        """`choose` in two steps. The first may run in another thread. The function that it returns is the second: it
        publishes the decision in the thread of the observers, and returns the choice or raises `NoCandidate`."""
        named = target or request.get("model")
        rules = self.policy if policy is None else policy
        started = self._clock()
        outcome: Choice | NoCandidate
        try:
            outcome = (
                self._named(request, named, rules, adapter)
                if named
                else self._routed(request, rules, now, health, context)
            )
        except NoCandidate as problem:
            outcome = problem
        took = round((self._clock() - started) * 1000, 3)

        def published() -> Choice:
            model = None if isinstance(outcome, NoCandidate) else outcome.models[0]
            payload = router.decided(model, outcome.chain, took)
            self.events.publish(ROUTE_DECIDED, payload, session_id=session_of(request), turn_id=turn_id)
            if isinstance(outcome, NoCandidate):
                raise outcome
            return outcome

        return published

    def _named(self, request: Data, spec: str, rules: Data, adapter: str | None) -> Choice:
        named = [str(model) for model in self.registry.expand(spec, aliases=rules.get("aliases"))]
        models = remaining = router.in_turn_order(named, router.turn_model(request["messages"]))
        if router.pins(rules):
            try:
                remaining = router.staying(request, models, self.catalog, rules, adapter)
            except NoCandidate as problem:
                raise NoCandidate(problem.message, router.named_chain(models, (), NAMED)) from None
        chain = router.named_chain(models, remaining, NAMED)
        return Choice(remaining, request, named_record(remaining[0]), chain, None, tuple(rules.get("fail_over_on", ())))

    def _routed(self, request: Data, rules: Data, now: str | None, health: Data | None, context: Data | None) -> Choice:
        decision = self.decide(request, policy=rules, health=health, now=now, context=context)
        sent = router.strip_override(request, decision["strip"])
        targets, chain = tuple(decision["targets"]), decision["chain"]
        return Choice(targets, sent, decision["record"], chain, decision, tuple(rules.get("fail_over_on", ())))

    def swap(
        self,
        request: Data,
        model: str,
        active: str | None = None,
        *,
        policy: Data | None = None,
        health: Data | None = None,
        now: str | None = None,
        session_id: str | None = None,
    ) -> Data:
        """Whether a session can continue with another model (`router.check_swap`).

        A refusal is published as the one event `routing_constraint_failure`; `session_id` is that of the last message
        unless given.
        """
        rules = self.policy if policy is None else policy
        moment = {} if now is None else {"now": now}
        verdict = router.check_swap(request, model, self.catalog, active=active, policy=rules, health=health, **moment)
        if not verdict["allowed"]:
            session = session_of(request) if session_id is None else session_id
            self.events.publish(ROUTING_CONSTRAINT_FAILURE, verdict["payload"], session_id=session)
        return verdict

    def decide(
        self,
        request: Data,
        *,
        target: str | None = None,
        context: Data | None = None,
        policy: Data | None = None,
        catalog: Data | None = None,
        health: Data | None = None,
        now: str | None = None,
    ) -> Data:
        """The whole decision, with the verdict of every slot.

        The manual choice is the target, else that of the context, else the request's model. `context` holds the facts
        of the turn that are not in the request (spec/7-routing.md#context).
        """
        catalog = catalog or self.catalog
        inputs = self.input(request, target=target, context=context, policy=policy, health=health, now=now)
        return router.decide_json({**inputs, "catalog": catalog})

    def input(
        self,
        request: Data,
        *,
        target: str | None = None,
        context: Data | None = None,
        policy: Data | None = None,
        health: Data | None = None,
        now: str | None = None,
    ) -> Data:
        """The complete input of a decision, which can be recorded and decided again (`router.decide_json`)."""
        return {
            "request": request,
            "context": {**(context or {}), "sticky": target} if target else context,
            "catalog": self.catalog,
            "policy": self.policy if policy is None else policy,
            "health": health,
            "now": now,
        }

    def candidates(self, request: Data, decision: Data) -> list[Data]:
        """The loss, tokens and cost of this conversation for each candidate of a decision; the chosen one first.

        `rejection` is the first reason why a candidate cannot take the turn; null when it can.
        """
        rejections: dict[str, str | None] = dict.fromkeys(decision["targets"])
        for slot in decision["slots"]:
            for candidate in slot["candidates"]:
                if candidate["model"] is not None:
                    rejections.setdefault(candidate["model"], next(iter(candidate["failures"]), None))
        sent = router.strip_override(request, decision["strip"])
        known = [model for model, reason in rejections.items() if reason not in ("unknown_target", "chain_not_allowed")]
        return [{**row, "rejection": rejections[row["model"]]} for row in self.preview(sent, known)]

    def preview(self, request: Data, models: Iterable[str]) -> list[Data]:
        """The loss, tokens and cost of this conversation for each of some models (`router.preview`)."""
        return router.preview(request, models, self._loss, self._tokens, self.registry.price)

    def _loss(self, request: Any, model: str) -> list[Any]:
        # not with `project`: nothing is dropped yet, so there is nothing to log or refuse
        endpoint = self.registry.endpoint(model=model)
        endpoint = self._connect(endpoint).located(endpoint)
        return translate.write_request({**request, "model": model}, endpoint)[1]

    def _tokens(self, request: Any, model: str) -> TokenEstimate:
        endpoint = self.registry.endpoint(model=model)
        return translate.estimate_for(request, endpoint)
