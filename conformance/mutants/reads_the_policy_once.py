"""Routes every turn by what the policy's file said at first."""

import json
from pathlib import Path

CAUGHT_BY = ["policy/file#next-turn"]
policies = {}


def handle(message, reference):
    if message["op"] == "route_by_file":
        file = message["input"]["policy_file"]
        policy = policies.setdefault(file, json.loads(Path(file).read_text("utf-8")))
        return reference({**message, "op": "route", "input": {**message["input"], "policy": policy}})
    return reference(message)
