"""The suite and the reference each have an implementation of spec/6-loss.md: on generated requests they must agree."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from runner import compare

from interlingua.canonical import loss as reference

words = st.sampled_from(["", "a", "ü"])
blocks = st.one_of(
    st.builds(
        lambda text, cache: {"type": "text", "text": text, "cache": cache, "critical": True},
        words,
        st.sampled_from([{}, None]),
    ),
    st.builds(
        lambda number: {
            "type": "tool_use",
            "id": f"tu_{number}",
            "name": "f",
            "input": {"a": None},
            "kind": "function",
        },
        st.integers(0, 3),
    ),
    st.builds(
        lambda number, text: {
            "type": "tool_result",
            "tool_use_id": f"tu_{number}",
            "content": [{"type": "text", "text": text}],
            "is_error": False,
        },
        st.integers(0, 3),
        words,
    ),
    st.just({"type": "opaque", "adapter": "a", "provider": "p", "kind": "k", "value": {"x": None}}),
    st.just(
        {"type": "text", "text": "s", "provider_state": {"adapter": "a", "id": "1", "fields": {"k": 1}, "encoding": {}}}
    ),
)
messages = st.builds(
    lambda role, content, extra: {"role": role, "content": content, **extra},
    st.sampled_from(["user", "assistant", "system"]),
    st.lists(blocks, max_size=3),
    st.sampled_from([{}, {"metadata": {"status": "complete"}}, {"name": "n"}]),
)
requests = st.fixed_dictionaries(
    {"messages": st.lists(messages, max_size=4)},
    optional={
        "system": st.lists(st.just({"type": "text", "text": "s"}), max_size=2),
        "seed": st.sampled_from([None, 5]),
        "tools": st.sampled_from([[], [{"name": "f", "side_effects": "none", "strict": False}]]),
        "options": st.sampled_from([{}, {"a": {}}, {"a": {"x": None}}]),
        "response_format": st.just({"type": "text"}),
        "model": st.just("p:m"),
    },
)


@st.composite
def reports(draw: st.DrawFn, request: dict[str, Any]) -> list[dict[str, Any]]:
    """A few entries at places that exist in the request as written; some do not fit after the earlier ones."""
    turns = len(request["messages"])
    places = [f"/messages/{number}" for number in range(turns)]
    places += [
        f"/messages/{number}/content/{index}"
        for number in range(turns)
        for index in range(len(request["messages"][number]["content"]))
    ]
    if not places:
        return []
    positions = [f"/messages/{number}" for number in [*range(turns + 1), "-"]] + ["/system", "/metadata/x"]
    entries: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(0, 4))):
        path = draw(st.sampled_from(places))
        match draw(st.sampled_from(["drop", "replace", "move", "merge"])):
            case "drop":
                entries.append({"op": "drop", "path": path})
            case "replace":
                entries.append(
                    {
                        "op": "replace",
                        "path": path,
                        "value": {"type": "text", "text": "new", "role": "user", "content": []},
                    }
                )
            case "move":
                left = draw(st.sampled_from([{}, {"value": {"type": "text", "text": "left"}}]))
                entries.append({"op": "move", "path": path, "to": draw(st.sampled_from(positions)), **left})
            case _:
                entries.append({"op": "merge", "path": path, "to": draw(st.sampled_from(positions))})
    return [{**item, "code": "filler", "severity": "representation", "message": ""} for item in entries]


@given(requests)
def test_both_see_the_same(request: dict[str, Any]) -> None:
    assert compare.equal(compare.visible(request), reference.visible(request))


@given(st.data())
def test_both_apply_the_same(data: st.DataObject) -> None:
    request = data.draw(requests)
    report = data.draw(reports(request))
    try:
        expected = compare.apply(request, report)
    except compare.ReportError:
        return

    assert compare.equal(expected, reference.apply(request, report))
