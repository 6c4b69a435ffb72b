"""Claims to write answers, and cannot."""

CAUGHT_BY = ["*#to_wire_response"]


def handle(message, reference):
    if message["op"] == "to_wire_response":
        return {"id": message["id"], "unsupported": True}
    return reference(message)
