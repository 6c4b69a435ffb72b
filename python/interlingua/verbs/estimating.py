"""Estimate: tokens and cost before a call, cost after one."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from interlingua import router, translate
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.routing import Choice
from interlingua.refusals import no_model
from interlingua.registry import Registry, prices
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import adapting, convert
from interlingua.verbs.routing import cost_message, optional_object

Data = dict[str, Any]


def usage_of_part(choice: Choice, model: str | None, content: Sequence[Data], models: Registry) -> Data:
    """Return the estimated usage of an answer that its caller left, by the blocks that had arrived. `model` is the one
    that answered, if it is known."""
    model = model or choice.models[0]
    part = {"role": "assistant", "content": list(content)}
    return models.priced(translate.estimated_usage(choice.request, part, models.endpoint(model=model)), model)


def estimate(request: service.EstimateRequest, models: Registry) -> service.EstimateResponse:
    """Return tokens and cost of a request, or the cost of a usage."""
    match request.WhichOneof("subject"):
        case "request":
            return _before(adapting.message_data(request.request, "Request"), request, models)
        case "request_json":
            return _before(adapting.load(request.request_json, "Request", "request_json"), request, models)
        case "usage":
            return _after(adapting.message_data(request.usage, "Usage"), request, models)
        case "usage_json":
            return _after(adapting.load(request.usage_json, "Usage", "usage_json"), request, models)
        case _:
            raise adapting.none_set("there is nothing to estimate", request, "subject")


def _before(conversation: Data, request: service.EstimateRequest, models: Registry) -> service.EstimateResponse:
    model = request.model or conversation.get("model")
    if model is None:
        raise no_model()
    wire = adapting.wire(request.adapter)
    with adapting.field_of_call("model"):
        endpoint = models.endpoint(model=model, adapter=wire)
    tokens = translate.estimate_for(conversation, endpoint)
    price = _price(request, endpoint.model_id(endpoint.model) or model, models)
    amounts = router.cost_range(tokens, price, conversation.get("max_output_tokens"))
    version = price.get("version") if price is not None else None
    return service.EstimateResponse(
        tokens=convert.to_proto(types.TokenEstimate, dict(tokens)), cost=cost_message(amounts, version)
    )


def _after(usage: Data, request: service.EstimateRequest, models: Registry) -> service.EstimateResponse:
    # without a model and a price the usage is unpriced, which is no error
    with adapting.field_of_call("model"):
        named = str(models.parse(request.model)) if request.model else None
    price = _price(request, named, models) if named or request.price_json else None
    amount = prices.cost(usage, price)
    if amount is None or price is None:
        return service.EstimateResponse()
    exact = prices.text(amount)
    return service.EstimateResponse(
        cost=cost_message({"low": exact, "likely": exact, "high": exact}, price.get("version"))
    )


def _price(request: service.EstimateRequest, model: str | None, models: Registry) -> Mapping[str, Any] | None:
    if (price := optional_object(request.price_json, "price_json")) is not None:
        return price
    return models.price(model, _version(request, models)) if model else None


def _version(request: service.EstimateRequest, models: Registry) -> str | None:
    """Return the price table that is valid at the moment of the request: the name of a table is the day from which it
    is valid."""
    if not request.HasField("at"):
        return None
    try:
        day = request.at.ToDatetime(UTC).date().isoformat()
    except (ValueError, OverflowError):
        raise InvalidRequest("must be a time between the years 1 and 9999", path="/at") from None
    versions = models.price_versions()
    return max((version for version in versions if version <= day), default=versions[0])
