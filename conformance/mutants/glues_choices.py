"""Glues the texts of several answers into the first."""

CAUGHT_BY = ["*#stream"]
ONE = "the wire gives one answer at a time"
NOT_ON = {
    "*": dict.fromkeys(
        ("anthropic_messages", "bedrock_converse", "cohere_chat", "ollama_chat", "openai_responses"), ONE
    )
}


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "stream" and "output" in answer:
        for part in answer["output"]["events"]:
            for event in part:
                event.pop("choice", None)
    return answer
