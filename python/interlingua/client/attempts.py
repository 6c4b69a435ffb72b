"""
Fail-over and retries: the candidates are tried in turn, each as often as the policy allows, until one answers
(spec/8-errors.md).

The client prepares and sends the calls. This module decides which candidate is called, when a call is repeated, which
candidate is passed over, and what is reported of all this.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from interlingua.canonical.errors import CannotAdapt, NoCandidate, NotConfigured, ProviderError
from interlingua.canonical.logs import logger
from interlingua.client.answers import REFUSAL, another_may_succeed, failure, network_failure, too_many_calls
from interlingua.client.call import Call, Limits, Plan, Tracing, Trail
from interlingua.client.concurrency import PlacedAnswer, Places
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.client.retry import Retry
from interlingua.client.threads import done, size_of
from interlingua.client.transport import Answer, TransportFailed
from interlingua.router import Health

Data = dict[str, Any]
T = TypeVar("T")
Receive = Callable[[Call, Answer, Interrupt], Awaitable[T]]
"""Receives a response with a successful status. Raises `ProviderError` when it is an error after all."""

_LOG = logger("client")

# these take the place of a time; as texts they sort after any time
_LATER = "after all"
_CALLED_BACK = "it is called back"


@dataclass(frozen=True, slots=True)
class Attempts:
    """Call candidates for a client.

    The client provides `name` (the canonical id of a candidate), `lacks` (what its provider lacks so that it can be
    called; empty: nothing), `prepare` (the call to it, or `CannotAdapt`) and `send` (which returns a response with a
    successful status). `places` limits the concurrent calls to a provider.

    `clock` returns seconds, `sleep` waits for seconds, `chance` returns numbers from 0 to 1.
    """

    name: Callable[[Plan, str], str]
    lacks: Callable[[Plan, str], str]
    prepare: Callable[[Plan, str], Call]
    send: Callable[[Call], Awaitable[Answer]]
    places: Places
    retry: Retry
    health: Health
    limits: Limits
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]
    tracing: Tracing | None = None

    async def begin(
        self,
        plan: Plan,
        interrupt: Interrupt,
        deadline: float | None,
        receive: Receive[T],
        is_refusal: Callable[[T], bool],
    ) -> tuple[Call, Answer, T]:
        """Return the call of the first candidate that answers, its response, and what `receive` made of it.

        A candidate is passed over when the conversation cannot be carried to it, when it fails and another one may
        succeed, and, if the plan states so, when its answer is a refusal. Nothing is delivered until this returns.
        Later failures are handled by the caller, which may have shown the first event already. Raises the failure of
        the last candidate, with the report of all that was tried.
        """
        due = None if deadline is None else self.clock() + deadline
        trail = Trail()
        models = self._candidates(plan, trail)
        for position, model in enumerate(models, start=1):
            others = position < len(models)
            call: Call | None = None
            try:
                call = await done(size_of(plan.request), self.prepare, plan, model)
                call.trail = trail
                answer, received = await self._call_in_place(call, interrupt, due, receive, others=others)
                if not (others and REFUSAL in plan.fail_over_on and is_refusal(received)):
                    return call, answer, received
                await answer.aclose()
                call.failed("content_filter")
                self.health.succeeded(call.model)
                trail.attempts.append({"model": call.model, "category": "content_filter"})
                self._pass_over(plan, model, trail, REFUSAL, "the model declined to answer", logging.WARNING)
            except (CannotAdapt, NotConfigured, ProviderError) as problem:
                if not others or not another_may_succeed(problem, plan.fail_over_on):
                    raise trail.with_trail(problem) from None
                reason = "not_configured" if isinstance(problem, NotConfigured) else problem.to_dict()["category"]
                self._pass_over(plan, model, trail, reason, problem.message, logging.WARNING)
            except Interrupted as problem:
                raise trail.with_trail(failure(problem, call), cut_short=True) from None
        raise AssertionError("the last candidate answers or raises")

    # ------------------------------------------------------------------------------------------------ which candidates

    def _candidates(self, plan: Plan, trail: Trail) -> tuple[str, ...]:
        """The candidates to try: those that are not in cooldown and whose provider is configured.

        If there is none, it is the one whose cooldown ends first, because its call may succeed. If none of those is in
        cooldown, it is the first one, whose call states what its provider lacks. Raises `NoCandidate` when all of them
        are benched until they are called back.
        """
        marks = self.health.snapshot()
        if len(plan.models) == 1 and not marks["models"] and not marks["providers"]:
            return plan.models
        cooldowns = {model: _cooldown(self.name(plan, model), marks) for model in plan.models}
        lacks = {model: "" if cooldowns[model] else self.lacks(plan, model) for model in plan.models}
        candidates = [model for model in plan.models if cooldowns[model] is None and not lacks[model]]
        if not candidates:
            possible = [model for model in plan.models if cooldowns[model] != _CALLED_BACK]
            if not possible:
                raise NoCandidate(f"{', '.join(plan.models)}: benched until called back", [])
            candidates = [min(possible, key=lambda model: cooldowns[model] or _LATER)]
        for model in plan.models:
            # it is known already and was logged when it began: not a warning in the log of each call
            if model not in candidates and lacks[model]:
                self._pass_over(plan, model, trail, "not_configured", lacks[model], logging.INFO)
            elif model not in candidates:
                why = f"in cooldown until {cooldowns[model]}"
                self._pass_over(plan, model, trail, "provider_unavailable", why, logging.INFO)
        return tuple(candidates)

    def _pass_over(self, plan: Plan, model: str, trail: Trail, reason: str, why: str, level: int) -> None:
        name = self.name(plan, model)
        trail.skipped.append({"model": name, "reason": reason, "message": why})
        _LOG.log(level, "%s passed over: %s", name, reason, extra={"message_id": plan.message_id})

    # ------------------------------------------------------------------------------------------------ how often

    async def _call_in_place(
        self, call: Call, interrupt: Interrupt, due: float | None, receive: Receive[T], *, others: bool
    ) -> tuple[Answer, T]:
        """Call one model in a place of its provider. The response keeps the place until it is closed.

        The place is kept during the pauses between attempts, because another call would fail in the same way.
        Raises `ProviderError` when another candidate is left and no place becomes free within `detour`.
        """
        provider = call.endpoint.provider or call.endpoint.adapter
        place = self.places.of(provider)
        if place is None:
            return await self._call_repeatedly(call, interrupt, due, receive, others=others)
        try:
            async with asyncio.timeout(self.retry.detour if others else None):
                await interrupt.wait(place.acquire())
        except TimeoutError:
            raise too_many_calls(call) from None
        try:
            answer, received = await self._call_repeatedly(call, interrupt, due, receive, others=others)
        except BaseException:
            place.release()
            raise
        return PlacedAnswer(answer, place), received

    async def _call_repeatedly(
        self, call: Call, interrupt: Interrupt, due: float | None, receive: Receive[T], *, others: bool
    ) -> tuple[Answer, T]:
        """Call one model as often as the policy allows. Raises `ProviderError` with its last failure."""
        for attempt in count(1):
            remaining = None if due is None else due - self.clock()
            try:
                return await self._call_once(call, interrupt, receive)
            except (ProviderError, TransportFailed) as problem:
                error, unsure = _as_error(problem, call)
            except Interrupted as problem:
                if problem.reason == "deadline" and remaining is not None and remaining >= self.limits.silence:
                    self.health.failed(call.model, "timeout")
                raise
            self.health.failed(call.model, error.error["category"])
            pause = self.retry.pause(error.error, attempt, self.chance(), unsure=unsure, others=others)
            if pause is not None and not self._may_pause(pause, call, due, others=others):
                pause = None
            _note_failure(call, attempt, error.error, pause)
            if pause is None:
                raise error from None
            await interrupt.wait(self.sleep(pause))
        raise AssertionError("the last attempt returns or raises")

    async def _call_once(self, call: Call, interrupt: Interrupt, receive: Receive[T]) -> tuple[Answer, T]:
        """Make one call: send it, check the status, receive the response. A response that fails is closed."""
        if self.tracing is not None:
            call.attempt = self.tracing.attempt(call)
            call.headers = {**call.headers, **call.attempt.headers}
        try:
            answer = await interrupt.wait(self.send(call))
            try:
                return answer, await receive(call, answer, interrupt)
            except BaseException:
                await answer.aclose()
                raise
        except BaseException as problem:
            call.failed(problem)
            raise

    def _may_pause(self, pause: float, call: Call, due: float | None, *, others: bool) -> bool:
        """Whether a pause ends before the deadline and, while others are left, the model is not in cooldown."""
        if due is not None and self.clock() + pause >= due:
            return False
        return not others or _cooldown(call.model, self.health.snapshot()) is None


def _cooldown(model: str, marks: Mapping[str, Any]) -> str | None:
    """The end of the cooldown of a model or its provider, whichever is later; None when neither is in cooldown."""
    active = (marks["models"].get(model), marks["providers"].get(model.partition(":")[0]))
    return max((mark["until"] or _CALLED_BACK for mark in active if mark is not None), default=None)


def _as_error(problem: ProviderError | TransportFailed, call: Call) -> tuple[ProviderError, bool]:
    """The error of a failed attempt, and whether the provider may have carried out the call nevertheless."""
    if isinstance(problem, ProviderError):
        return problem, problem.error["category"] == "timeout"
    return network_failure(problem, call), problem.sent


def _note_failure(call: Call, attempt: int, error: Data, pause: float | None) -> None:
    """Record an attempt that failed, for the caller and in the log, without content and without a secret."""
    entry: Data = {"model": call.model, "category": error["category"]}
    if "status" in error:
        entry["status"] = error["status"]
    if pause is not None:
        entry["waited"] = pause
    call.trail.attempts.append(entry)
    after = "" if pause is None else f", next attempt in {pause:.2f} s"
    fields = {"message_id": call.plan.message_id, "attempt": attempt, **entry}
    _LOG.warning("attempt %d at %s failed: %s%s", attempt, call.model, error["category"], after, extra=fields)
