"""
Items of OpenAI's Responses API as they are stored, listed and read, for the faces of responses and of conversations.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from interlingua import translate
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.call_ids import renamed
from interlingua.sessions.calls import calls_in

if TYPE_CHECKING:
    from interlingua.gateway.gateway import Gateway

ADAPTER = "openai_responses"

Data = dict[str, Any]

_PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
}
_OUTPUTS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_MAX_PAGE = 100
_DEFAULT_PAGE = 20


def items_of(content: Any, token: Callable[[], str]) -> list[Data]:
    """A client's input (a text, or items) as the items that the API shows for it: each has an id and all its
    members."""
    if isinstance(content, str):
        content = [{"role": "user", "content": content}]
    return [_item(item, token) for item in content or ()]


def _item(content: Data, token: Callable[[], str]) -> Data:
    kind = content.get("type") or "message"
    item = {**content, "type": kind}
    if not isinstance(item.get("id"), str):
        item["id"] = _PREFIXES.get(kind, "item_") + token()
    if kind == "message" and isinstance(text := item.get("content"), str):
        answer = {"type": "output_text", "text": text, "annotations": []}
        item["content"] = [answer if item.get("role") == "assistant" else {"type": "input_text", "text": text}]
    if kind in _PREFIXES and kind != "reasoning" and item.get("status") is None:
        item["status"] = "completed"
    return item


def messages_of(gateway: "Gateway", items: Sequence[Data]) -> list[Data]:
    """Items as canonical messages. Their tool calls have the ids that the tool results will name.

    Raises `InvalidWire` for items that are not of this wire.
    """
    messages = _read_items(gateway, items)
    calls = [item for item in items if item.get("type") in _OUTPUTS]
    blocks = [block for message in messages for block in calls_in(message["content"])]
    if not calls or len(calls) != len(blocks):
        return messages
    names: dict[str, str] = {}
    for item, block in zip(calls, blocks, strict=True):
        output = {"type": _OUTPUTS[item["type"]], "call_id": item.get("call_id"), "output": ""}
        names[block["id"]] = _read_items(gateway, [output])[0]["content"][0]["tool_use_id"]
    return [{**message, "content": renamed(message["content"], names)} for message in messages]


def _read_items(gateway: "Gateway", items: Sequence[Data]) -> list[Data]:
    wire = {"method": "POST", "path": "/v1/responses", "headers": {}, "body": {"model": "any", "input": list(items)}}
    request, _ = translate.from_wire_request(wire, gateway.generator.home(ADAPTER, None))
    messages: list[Data] = data_of(request)["messages"]
    return messages


def limit_of(request: Request) -> int:
    """How many entries of a list a client requests. Raises `InvalidRequest`."""
    limit = request.query_params.get("limit", str(_DEFAULT_PAGE))
    if not limit.isdecimal() or not 1 <= int(limit[:9]) <= _MAX_PAGE:
        raise InvalidRequest(f"limit must be a number from 1 to {_MAX_PAGE}", path="/limit")
    return int(limit)


def newest_first(request: Request, order: str) -> bool:
    """Whether a client requests a list in descending order; `order` is the default. Raises `InvalidRequest`."""
    requested = request.query_params.get("order", order)
    if requested not in ("asc", "desc"):
        raise InvalidRequest("order must be asc or desc", path="/order")
    return requested == "desc"


def page(rows: list[Data], *, more: bool) -> Data:
    """A page of a list, in the format of the API."""
    ends = {"first_id": rows[0]["id"], "last_id": rows[-1]["id"]} if rows else {"first_id": "", "last_id": ""}
    return {"object": "list", "data": rows, **ends, "has_more": more}


def page_of(request: Request, rows: list[Data], order: str) -> Data:
    """The page of a list that a client requests. Raises `InvalidRequest`."""
    rows = rows[::-1] if newest_first(request, order) else rows
    after = request.query_params.get("after")
    if after is not None:
        position = next((number for number, row in enumerate(rows) if row["id"] == after), None)
        if position is None:
            raise InvalidRequest("after must be the id of an object of the list", path="/after")
        rows = rows[position + 1 :]
    limit = limit_of(request)
    return page(rows[:limit], more=len(rows) > limit)


def metadata_of(body: Data) -> Data:
    """The metadata of a body. Raises `InvalidRequest` for metadata that is not an object of texts."""
    metadata = body.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise InvalidRequest("metadata must be an object of texts", path="/metadata")
    return metadata
