"""Generates a good end for a stream that the provider broke off."""

CAUGHT_BY = ["*#generate:broken", "*#generate:ended"]


def handle(message, reference):
    answer = reference(message)
    output = answer.get("output", {})
    if message["op"] == "generate" and output.get("events") and "error" in output:
        last = output["events"][-1]
        if last["type"] == "error" and "response" in last:
            output["events"][-1] = {
                "type": "message_complete",
                "response": {**last["response"], "finish_reason": "stop"},
            }
            del output["error"]
    return answer
