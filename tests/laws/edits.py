"""What callers do to a conversation between reading it and sending it: random edits of canonical requests, of any wire."""

import copy
import random
from collections.abc import Callable
from typing import Any

Data = dict[str, Any]
Edit = Callable[[Data, random.Random], None]

TEXTS = ("", " ", "Changed.", "[tool_error]\nno", "<b>&\u2028é</b>", '{"a":1}')
INPUTS: tuple[Data, ...] = ({}, {"a": 1}, {"city": "Oslo", "n": [1.5, None, {"": True}]})
BLOCKS: tuple[Data, ...] = (
    {"type": "image", "source": {"kind": "base64", "data": "Qk0="}, "media_type": "image/bmp"},
    {"type": "image", "source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"},
    {"type": "document", "source": {"kind": "base64", "data": "JVBERi0="}, "media_type": "application/pdf"},
    {"type": "document", "source": {"kind": "text", "data": "a"}, "media_type": "text/html", "name": "a.html"},
    {"type": "audio", "source": {"kind": "base64", "data": "SUQz"}, "media_type": "audio/mpeg"},
    {"type": "thinking", "text": "Hm."},
    {
        "type": "thinking",
        "text": "Hm.",
        "signature": "c2ln",
        "provider_state": {"adapter": "telegraph", "provider": "x"},
    },
    {"type": "opaque", "adapter": "telegraph", "provider": "x", "kind": "odd", "value": {"odd": 1}},
)
MEMBERS: dict[str, tuple[Any, ...]] = {
    "temperature": (0, 0.5, 1.5),
    "top_p": (0.5, 1),
    "top_k": (0, 5),
    "max_output_tokens": (1, 1500, 10**6),
    "stop": ([], ["END"], [" ", "END"]),
    "service_tier": ("auto", "default", "flex"),
    "metadata": ({"user_id": "u"}, {"topic": "é\n", "n": 1}),
    "parallel_tool_calls": (True, False),
    "tool_choice": ({"type": "auto"}, {"type": "required"}, {"type": "none"}),
    "reasoning": ({"effort": "minimal"}, {"mode": "enabled", "budget_tokens": 500}, {"mode": "disabled"}),
    "response_format": (
        {"type": "json"},
        {"type": "json_schema", "schema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}},
    ),
    "cache": ({}, {"ttl": "1h"}),
}


def _lists(request: Data) -> list[list[Data]]:
    """Every list of blocks, those of results with them."""
    found = [message["content"] for message in request["messages"]]
    found += [block["content"] for content in found for block in content if block["type"] == "tool_result"]
    return [content for content in found if content]


def _blocks(request: Data, *kinds: str) -> list[Data]:
    return [block for content in _lists(request) for block in content if not kinds or block["type"] in kinds]


def _stateful(request: Data) -> list[Data]:
    items = [request, *request["messages"], *_blocks(request), *(request.get("tools") or [])]
    items += [citation for block in _blocks(request, "text") for citation in block.get("citations") or []]
    return [item for item in items if "provider_state" in item]


def _new(text: str) -> Data:
    return {"type": "text", "text": text}


def delete_message(request: Data, rng: random.Random) -> None:
    del request["messages"][rng.randrange(len(request["messages"]))]


def double_message(request: Data, rng: random.Random) -> None:
    messages = request["messages"]
    messages.insert(rng.randint(0, len(messages)), copy.deepcopy(rng.choice(messages)))


def insert_message(request: Data, rng: random.Random) -> None:
    message = {"role": rng.choice(("user", "assistant", "system", "developer")), "content": [_new(rng.choice(TEXTS))]}
    request["messages"].insert(rng.randint(0, len(request["messages"])), message)


def insert_call(request: Data, rng: random.Random) -> None:
    call = {"type": "tool_use", "id": f"tu_{rng.randrange(10**9)}", "name": rng.choice(("look_up", "a.b"))}
    call["input"] = rng.choice(INPUTS)
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": [_new(rng.choice(TEXTS))]}
    if rng.random() < 0.3:
        result["is_error"] = True
    answer = {"role": "tool", "metadata": {"parent_tool_use_id": call["id"]}, "content": [result]}
    place = rng.randint(0, len(request["messages"]))
    request["messages"][place:place] = [{"role": "assistant", "content": [call]}, answer][: rng.randint(1, 2)]


def move_message(request: Data, rng: random.Random) -> None:
    message = request["messages"].pop(rng.randrange(len(request["messages"])))
    request["messages"].insert(rng.randint(0, len(request["messages"])), message)


def change_role(request: Data, rng: random.Random) -> None:
    rng.choice(request["messages"])["role"] = rng.choice(("user", "assistant", "system", "developer"))


def delete_block(request: Data, rng: random.Random) -> None:
    content = rng.choice(_lists(request))
    del content[rng.randrange(len(content))]


def double_block(request: Data, rng: random.Random) -> None:
    content = rng.choice(_lists(request))
    content.insert(rng.randint(0, len(content)), copy.deepcopy(rng.choice(content)))


def move_block(request: Data, rng: random.Random) -> None:
    content, other = rng.choice(_lists(request)), rng.choice(_lists(request))
    block = content.pop(rng.randrange(len(content)))
    other.insert(rng.randint(0, len(other)), block)


def insert_text(request: Data, rng: random.Random) -> None:
    content = rng.choice(_lists(request))
    content.insert(rng.randint(0, len(content)), _new(rng.choice(TEXTS)))


def change_text(request: Data, rng: random.Random) -> None:
    rng.choice(_blocks(request, "text", "thinking"))["text"] = rng.choice(TEXTS)


def change_input(request: Data, rng: random.Random) -> None:
    call = rng.choice(_blocks(request, "tool_use"))
    call["input"] = copy.deepcopy(rng.choice(INPUTS))
    if rng.random() < 0.5 and call.get("kind") != "custom":
        call.pop("input_raw", None)


def change_call(request: Data, rng: random.Random) -> None:
    rng.choice(_blocks(request, "tool_use"))["name"] = rng.choice(("look_up", "a.b", "x" * 70))


def change_result(request: Data, rng: random.Random) -> None:
    result = rng.choice(_blocks(request, "tool_result"))
    if rng.random() < 0.5:
        result["is_error"] = not result.get("is_error")
    else:
        result["content"] = [_new(text) for text in rng.sample(TEXTS, rng.randint(0, 2))]


def swap_results(request: Data, rng: random.Random) -> None:
    tools = [place for place, message in enumerate(request["messages"]) if message["role"] == "tool"]
    one, other = rng.sample(tools, 2)
    messages = request["messages"]
    messages[one], messages[other] = messages[other], messages[one]


def drop_pair(request: Data, rng: random.Random) -> None:
    """A call goes with its result, as when a history is made shorter."""
    gone = rng.choice(_blocks(request, "tool_use"))["id"]
    for message in request["messages"]:
        message["content"] = [b for b in message["content"] if gone not in (b.get("id"), b.get("tool_use_id"))]
    request["messages"] = [message for message in request["messages"] if message["content"]]


def drop_tools(request: Data, rng: random.Random) -> None:
    if rng.random() < 0.4:
        del request["tools"]
    else:
        del request["tools"][rng.randrange(len(request["tools"]))]


def change_tool(request: Data, rng: random.Random) -> None:
    tool = rng.choice(request["tools"])
    tool["name"] = rng.choice(("look_up", "a.b", "x" * 70))
    if rng.random() < 0.3:
        tool["description"] = rng.choice(TEXTS)


def add_system(request: Data, rng: random.Random) -> None:
    if rng.random() < 0.5:
        request["system"] = [_new(text) for text in rng.sample(TEXTS, rng.randint(0, 2))]
    else:
        role = rng.choice(("system", "developer"))
        request["messages"].insert(0, {"role": role, "content": [_new(rng.choice(TEXTS))]})


def drop_member(request: Data, rng: random.Random) -> None:
    """A member of the request itself is taken away."""
    name = rng.choice([name for name in request if name not in ("messages", "model")])
    del request[name]


def drop_state(request: Data, rng: random.Random) -> None:
    del rng.choice(_stateful(request))["provider_state"]


def drop_part_of_state(request: Data, rng: random.Random) -> None:
    """A state that was carried through something that forgets a member of it, or a member of its spelling or its fields."""
    state = rng.choice(_stateful(request))["provider_state"]
    names = [name for name in state if name not in ("adapter", "provider")]
    name = rng.choice(names)
    if isinstance(state[name], dict) and state[name] and rng.random() < 0.7:
        del state[name][rng.choice(list(state[name]))]
    else:
        del state[name]


def mark_for_cache(request: Data, rng: random.Random) -> None:
    """As many marks as one likes, in any order of lifetimes."""
    for item in rng.choices([*_blocks(request, "text"), *request["messages"], *(request.get("tools") or [])], k=3):
        item["cache"] = rng.choice(({}, {"ttl": "5m"}, {"ttl": "1h"}, {"ttl": "10m"}))


def insert_block(request: Data, rng: random.Random) -> None:
    """A block of another origin, or one in a place that not every wire has for it."""
    content = rng.choice([message["content"] for message in request["messages"] if message["role"] != "tool"])
    content.insert(rng.randint(0, len(content)), copy.deepcopy(rng.choice(BLOCKS)))


def change_member(request: Data, rng: random.Random) -> None:
    name = rng.choice(list(MEMBERS))
    request[name] = copy.deepcopy(rng.choice(MEMBERS[name]))


def choose_tool(request: Data, rng: random.Random) -> None:
    """The choice names a tool, perhaps one that is taken away afterwards."""
    request["tool_choice"] = {"type": "tool", "name": rng.choice(request["tools"])["name"]}
    if rng.random() < 0.5:
        drop_tools(request, rng)


EDITS: tuple[Edit, ...] = (
    delete_message,
    double_message,
    insert_message,
    insert_call,
    move_message,
    change_role,
    delete_block,
    double_block,
    move_block,
    insert_text,
    change_text,
    change_input,
    change_call,
    change_result,
    swap_results,
    drop_pair,
    drop_tools,
    change_tool,
    add_system,
    drop_member,
    drop_state,
    drop_part_of_state,
)
"""Edits that take away, turn round and say otherwise."""
WISHES: tuple[Edit, ...] = (mark_for_cache, insert_block, change_member, choose_tool)
"""Edits that ask for what not every provider takes."""


def edited(request: Data, rng: random.Random, edits: tuple[Edit, ...] = EDITS) -> tuple[Data, list[str]]:
    """A copy with one to three edits, and their names. An edit that finds nothing to change is left out."""
    copied = copy.deepcopy(request)
    names: list[str] = []
    for _ in range(rng.randint(1, 3)):
        edit = rng.choice(edits)
        try:
            edit(copied, rng)
        except (IndexError, KeyError, ValueError):
            continue
        names.append(edit.__name__)
    return copied, names
