"""Reports that the limit was dropped, though it was written."""

CAUGHT_BY = ["*#loss", "*#accounting"]

ENTRY = {
    "op": "drop",
    "path": "/max_output_tokens",
    "code": "unsupported_field",
    "severity": "weakened",
    "message": "no limit",
}


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "to_wire" and "output" in answer and "max_output_tokens" in message["input"]["request"]:
        answer["output"]["loss"] = [*answer["output"]["loss"], ENTRY]
    return answer
