"""Writes messages and tools by the rules of their wire, though they came otherwise and nobody edited them."""

CAUGHT_BY = ["{wire}/*#wire_fixpoint"]


def handle(message, reference):
    request = message.get("input", {}).get("request")
    if message["op"] == "to_wire" and isinstance(request, dict):
        for item in (*(request.get("messages") or ()), *(request.get("tools") or ())):
            encoding = (item.get("provider_state") or {}).get("encoding") or {}
            encoding.pop("came", None)
    return reference(message)
