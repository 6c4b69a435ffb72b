"""What each choice of a stream says, by the events and by the answer at the end: the two have to agree."""

from typing import Any

from interlingua import fold


def texts_of_choices(events: list[dict[str, Any]]) -> list[str]:
    """The first text of each choice of the answer, which is what the deltas of that number say."""
    response = fold(events)
    said = [one["message"]["content"][0]["text"] for one in (response, *response.get("alternatives", []))]
    told: dict[int, str] = {}
    for event in events:
        if event["type"] == "text_delta":
            number = event.get("choice", 0)
            told[number] = told.get(number, "") + event["text"]
    assert said == [told[number] for number in range(len(said))]
    return said
