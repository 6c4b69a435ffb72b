"""Puts the provider's own words into the message of an error, which ends in logs."""

CAUGHT_BY = ["{wire}/errors#*"]


def handle(message, reference):
    answer = reference(message)
    error = answer.get("output") if message["op"] == "error" else None
    if isinstance(error, dict) and "provider_message" in error:
        error = {**error, "message": f"{error['message']}: {error['provider_message']}"}
        return {**answer, "output": error}
    return answer
