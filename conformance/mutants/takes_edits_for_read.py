"""Takes what an edit made for what was read: it goes out as it is where that is noted by value, and always without a report."""

CAUGHT_BY = ["{wire}/*#edited:loss"]


def handle(message, reference):
    request = message.get("input", {}).get("request")
    if message["op"] != "to_wire" or not isinstance(request, dict):
        return reference(message)
    encoding = (request.get("provider_state") or {}).get("encoding") or {}
    members = {name: value for name, value in request.items() if isinstance(value, int | float | dict)}
    members.pop("provider_state", None)
    if isinstance(encoding.get("read"), dict):
        encoding["read"] |= members
    answer = reference(message)
    if "members" in encoding and "output" in answer:
        loss = answer["output"]["loss"]
        answer["output"]["loss"] = [entry for entry in loss if entry["path"].split("/")[1] not in members]
    return answer
