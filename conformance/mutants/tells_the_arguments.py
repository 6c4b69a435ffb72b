"""Tells whoever listens what a call that cannot be carried out was called with."""

CAUGHT_BY = ["calls/before-carried-out#wrong-values", "calls/before-carried-out#no-object"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "check_call":
        call = message["input"]["call"]
        events = [
            {**event, "input": call["input"], "input_raw": call.get("input_raw")}
            for event in answer["output"]["events"]
        ]
        return {**answer, "output": {"events": events}}
    return answer
