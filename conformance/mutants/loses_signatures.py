"""Reads reasoning without the provider's proof."""

CAUGHT_BY = ["anthropic_messages/*#from_wire_response", "anthropic_messages/*#echo"]


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "from_wire_response" and "output" in answer:
        for block in answer["output"]["response"]["message"]["content"]:
            if block["type"] == "thinking":
                block.pop("signature", None)
    return answer
