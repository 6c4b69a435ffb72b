"""Takes what an edit made for what was read, so that it goes out as it is, without a report."""

CAUGHT_BY = ["{wire}/*#edited:loss"]


def handle(message, reference):
    request = message.get("input", {}).get("request")
    if message["op"] == "to_wire" and isinstance(request, dict):
        form = (request.get("provider_state") or {}).get("encoding") or {}
        if isinstance(form.get("read"), dict):
            members = {name: value for name, value in request.items() if isinstance(value, int | float | dict)}
            form["read"] |= {name: value for name, value in members.items() if name != "provider_state"}
    return reference(message)
