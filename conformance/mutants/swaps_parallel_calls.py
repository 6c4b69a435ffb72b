"""Gives the parallel calls of an answer in reverse order."""

CAUGHT_BY = ["*#from_wire_response"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "from_wire_response" and "output" in answer:
        content = answer["output"]["response"]["message"]["content"]
        calls = [block for block in content if block["type"] == "tool_use"]
        content[:] = [calls.pop() if block["type"] == "tool_use" else block for block in content]
    return answer
