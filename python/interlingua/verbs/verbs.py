"""
The verbs, each a few lines over the modules that do the work. Large inputs are processed in a thread.
"""

from collections.abc import Callable
from datetime import UTC
from typing import Any

from interlingua import adapters
from interlingua.canonical import json
from interlingua.client import Client
from interlingua.client.call import Answered
from interlingua.client.routing import Choice, Routing
from interlingua.client.threads import LARGE, done
from interlingua.registry import Registry
from interlingua.v1 import service_pb2 as service
from interlingua.verbs import adapting, checking, convert, estimating, routing

Data = dict[str, Any]
Generation = service.GenerateRequest | service.GenerateStreamRequest


class Verbs:
    """The verbs over one client and one routing. Between calls they keep only the client's health."""

    def __init__(self, client: Client, chooser: Routing | None = None) -> None:
        self._client = client
        self._routing = chooser or Routing(connect=client.connection, events=client.events)
        self._registry = self._routing.registry

    async def adapt(self, request: service.AdaptRequest) -> service.AdaptResponse:
        """Translate one value from any format to any other."""
        return await done(size(request), adapting.adapt, request)

    async def route(self, request: service.RouteRequest) -> service.RouteResponse:
        """Decide which model should answer, and why."""
        return await done(size(request), routing.route, request, self._routing, self._client.health.snapshot())

    async def choose(self, request: Generation) -> Choice:
        """Choose the models for a generation. Publishes the decision."""
        return (await done(size(request), self._weigh, request, self._client.health.snapshot()))()

    async def generate(
        self,
        request: service.GenerateRequest,
        choice: Choice,
        deadline: float | None = None,
        on_answer: Callable[[Answered], None] | None = None,
    ) -> tuple[service.GenerateResponse, Data]:
        """Return the response of the first model of a choice that answers: as a message, and as plain data.

        `deadline` is in seconds, `on_answer` is called with the model that answers."""
        response = await self._client.generate(
            choice.request,
            model=choice.models[0],
            adapter=adapting.wire(request.adapter),
            fallbacks=choice.models[1:],
            deadline=deadline,
            routing=choice.record,
            fail_over_on=choice.fail_over_on,
            raw=request.include_raw,
            validated=True,
            on_answer=on_answer,
        )
        answer = service.GenerateResponse()
        if choice.decision is not None:
            answer.decision.CopyFrom(routing.decision_message(choice.decision))
        if request.json_output:
            answer.response_json = json.dumps(response).decode()
        else:
            convert.fill(answer.response, response)
        return answer, response

    async def estimate(self, request: service.EstimateRequest) -> service.EstimateResponse:
        """Estimate the tokens and cost of a request, or compute the cost of an answer."""
        return await done(size(request), estimating.estimate, request, self._registry)

    async def check(self, request: service.CheckRequest) -> service.CheckResponse:
        """Return the rules of the contract that a value breaks."""
        return await done(size(request), checking.check, request)

    def list_models(self, request: service.ListModelsRequest) -> service.ListModelsResponse:
        """List the models of the registry."""
        if request.provider:
            with adapting.field_of_call("provider"):
                self._registry.provider(request.provider)
        rows = self._registry.models(provider=request.provider or None)
        return service.ListModelsResponse(
            models=[_model(row, self._registry) for row in sorted(rows, key=lambda row: row["id"])],
            adapters=adapters.names(),
        )

    def _weigh(self, request: Generation, health: Data) -> Callable[[], Choice]:
        conversation = adapting.conversation(request)
        with adapting.field_of_call("target" if request.target else "model"):
            return self._routing.weigh(
                conversation,
                request.target or None,
                routing.optional_object(request.policy_json, "policy_json"),
                self._client.now().astimezone(UTC).isoformat().replace("+00:00", "Z"),
                health,
                routing.optional_object(request.context_json, "context_json"),
            )


def size(request: Any) -> int:
    """Return the size of an input in bytes. An input with a policy counts as large, because the expressions of a policy
    may take long on any text."""
    return request.ByteSize() + (LARGE if getattr(request, "policy_json", "") else 0)


def _model(row: Data, models: Registry) -> service.Model:
    capabilities = row["capabilities"]
    price = models.price(row["id"])
    return service.Model(
        id=row["id"],
        provider=row["provider"],
        adapter=row["adapter"],
        name=row["name"],
        aliases=sorted(alias for alias, spec in models.aliases.items() if spec == row["id"]),
        context_window=capabilities.get("max_context_tokens"),
        max_output_tokens=capabilities.get("max_output_tokens"),
        capabilities_json=json.dumps(capabilities).decode(),
        price_json="" if price is None else json.dumps(dict(price)).decode(),
    )
