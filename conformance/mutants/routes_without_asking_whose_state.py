"""Lets any candidate serve, whatever the policy says of state that it would lose."""

CAUGHT_BY = ["route/state-pinned*#route", "route/state-origin-rests#route", "route/state-loop-pinned#route"]


def handle(message, reference):
    if message["op"] == "route" and isinstance(policy := message["input"].get("policy"), dict):
        given = {name: value for name, value in policy.items() if name != "state"}
        message = {**message, "input": {**message["input"], "policy": given}}
    return reference(message)
