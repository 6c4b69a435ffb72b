"""Repairs what was odd when it was read, though nobody edited it."""

CAUGHT_BY = ["{wire}/*#wire_fixpoint"]


def handle(message, reference):
    request = message.get("input", {}).get("request")
    if message["op"] == "to_wire" and isinstance(request, dict):
        form = (request.get("provider_state") or {}).get("encoding") or {}
        form.pop("odd", None)
        form.pop("read", None)
    return reference(message)
