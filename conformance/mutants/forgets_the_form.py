"""Does not find the form of answer that a request asks for by a forced call or in its instructions."""

CAUGHT_BY = ["*#from_wire_request"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "from_wire_request" and "output" in answer:
        request = answer["output"]["request"]
        if "structured" in request.get("provider_state", {}).get("encoding", {}):
            request.pop("response_format", None)
    return answer
