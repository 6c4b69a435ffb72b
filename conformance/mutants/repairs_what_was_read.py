"""Repairs what was odd when it was read, though nobody edited it."""

CAUGHT_BY = ["{wire}/*#wire_fixpoint"]


def handle(message, reference):
    request = message.get("input", {}).get("request")
    if message["op"] == "to_wire" and isinstance(request, dict):
        encoding = (request.get("provider_state") or {}).get("encoding") or {}
        for noted in ("odd", "read", "members"):
            encoding.pop(noted, None)
    return reference(message)
