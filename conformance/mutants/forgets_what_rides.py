"""Serves answers of other providers without the state that a client cannot keep, although it was asked to let it ride."""

CAUGHT_BY = ["*#carried:anthropic_messages", "*#carried:openai_chat"]
NOT_ON = {
    "*#carried:anthropic_messages": {"anthropic_messages": "the client's wire is its own"},
    "*#carried:openai_chat": {"openai_chat": "the client's wire is its own"},
    "*": dict.fromkeys(("cohere_chat", "ollama_chat"), "the wire has no proofs"),
}


def handle(message, reference):
    if message["op"] == "to_wire_response":
        message = {**message, "input": {**message["input"], "state_in_ids": False}}
    return reference(message)
