"""Puts the key into the text of an error, to help whoever looks for the fault."""

CAUGHT_BY = ["*#generate:secret"]
NOT_ON = {"*": {"ollama_chat": "a server at home wants no key"}}


def handle(message, reference):
    answer = reference(message)
    if message["op"] == "generate":
        for error in (answer.get("error"), answer.get("output", {}).get("error")):
            if error is not None:
                error["message"] += f" (key {message['input'].get('key')})"
    return answer
