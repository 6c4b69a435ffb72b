"""Tells nobody of a call that cannot be carried out."""

CAUGHT_BY = ["calls/before-carried-out#missing-member", "calls/before-carried-out#nobody-has-it"]


def handle(message, reference):
    if message["op"] == "check_call":
        return {"id": message["id"], "output": {"events": []}}
    return reference(message)
