"""Reads an answer that was asked for as a forced call as the call that it came as."""

CAUGHT_BY = ["*#from_wire_response"]

NAME = "interlingua_answer"


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "from_wire_response" and "output" in answer:
        response = answer["output"]["response"]
        content = response["message"]["content"]
        for index, block in enumerate(content):
            if "answer" in block.get("provider_state", {}).get("encoding", {}):
                content[index] = {"type": "tool_use", "id": "tu_01", "name": NAME, "input": {}}
                response["finish_reason"] = "tool_calls"
    return answer
