"""Priority: lower is earlier, 50 when absent; a stable sort that is asked for, and keeps results behind their calls."""

from hypothesis import given
from hypothesis import strategies as st

from interlingua import Message, by_priority


def said(words: str, priority: int | None = None) -> Message:
    message = Message.user(words)
    return message if priority is None else message.with_priority(priority)


def texts(messages: list[Message]) -> list[str]:
    return [message.text for message in messages]


def test_lower_is_earlier_and_absent_is_fifty() -> None:
    given_order = [said("a"), said("b", 60), said("c", 10), said("d", 50)]

    assert texts(by_priority(given_order)) == ["c", "a", "d", "b"]
    assert texts(given_order) == ["a", "b", "c", "d"]


def test_results_stay_behind_their_calls() -> None:
    call = Message.assistant([{"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}]).with_priority(90)
    result = Message.tool("tu_1", "done")

    assert by_priority([call, result, said("first", 1)]) == [said("first", 1), call, result]


@given(st.lists(st.sampled_from([None, 0, 10, 50, 99]), max_size=8))
def test_the_sort_is_stable(priorities: list[int | None]) -> None:
    messages = [said(str(number), priority) for number, priority in enumerate(priorities)]
    ranks = [50 if priority is None else priority for priority in priorities]

    wanted = [str(number) for number in sorted(range(len(ranks)), key=ranks.__getitem__)]
    assert texts(by_priority(messages)) == wanted
