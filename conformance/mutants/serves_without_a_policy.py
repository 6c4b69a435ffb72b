"""Routes by no policy while the policy's file says nothing sound."""

import json
from pathlib import Path

CAUGHT_BY = ["policy/file#no-json", "policy/file#breaks-a-rule", "policy/file#gone"]


def handle(message, reference):
    if message["op"] != "route_by_file":
        return reference(message)
    try:
        policy = json.loads(Path(message["input"]["policy_file"]).read_bytes())
    except (OSError, ValueError):
        policy = {}
    return reference({**message, "op": "route", "input": {**message["input"], "policy": policy}})
