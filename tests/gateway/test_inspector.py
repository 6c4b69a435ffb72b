"""What the inspector page asks for: comparisons, the live list, contents (spec/11-gateway.md#inspector)."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters, translate
from interlingua.access import Key, digest
from interlingua.client.fake import Refuse, Say
from interlingua.gateway.calls import KEPT
from interlingua.gateway.contents import Content, Contents
from interlingua.gateway.inspector.comparing import compare
from interlingua.gateway.inspector.places import Finder, differences
from interlingua.gateway.inspector.recognising import recognise
from interlingua.gateway.watching import News
from tests.gateway import wires

CASES = Path(__file__).parents[2] / "conformance" / "cases"
SECRET = "the-secret-word"
HTML = {"accept": "text/html,application/xhtml+xml"}


def cases(pattern: str) -> list[Any]:
    """Files of the suite, each with the wire that it is of."""
    found = [
        (path.parts[-3], path) for path in sorted(CASES.glob(f"*/*/{pattern}")) if path.parts[-3] in adapters.names()
    ]
    return [pytest.param(wire, path, id=f"{wire}/{path.parent.name}") for wire, path in found]


# ---------------------------------------------------------------------------------------------------- recognising


@pytest.mark.share(4)
@pytest.mark.parametrize(("wire", "file"), cases("request.wire.json"))
def test_every_request_of_the_suite_is_recognised(wire: str, file: Path) -> None:
    assert recognise(file.read_bytes())[0] == ("request", wire)


@pytest.mark.share(4)
@pytest.mark.parametrize(("wire", "file"), cases("response.wire.json"))
def test_every_answer_of_the_suite_is_recognised(wire: str, file: Path) -> None:
    assert recognise(file.read_bytes())[0] == ("response", wire)


@pytest.mark.share(4)
@pytest.mark.parametrize(("wire", "file"), cases("stream.wire.*"))
def test_every_stream_of_the_suite_is_recognised(wire: str, file: Path) -> None:
    """But for streams of one line, which are a whole answer or an error as well."""
    found = recognise(file.read_bytes())
    assert found[0] == ("stream", wire) or (found[0][1] == wire and len(file.read_bytes().splitlines()) == 1)


@pytest.mark.parametrize(
    "given", [b"", b"hello", b"[]", b"{}", b"42", b"\0\0\0\x10", b"\xff\xfe", b"[" * 100_000, b"data: x\n\n"]
)
def test_what_is_nothing_is_nothing(given: bytes) -> None:
    """No exception, and no guess; the comparison says what to do."""
    assert recognise(given) == []
    assert "choose its kind" in compare(given)["error"]["message"]


# ---------------------------------------------------------------------------------------------------- comparing


@pytest.mark.share(8)
@pytest.mark.parametrize(("wire", "file"), cases("*.wire.*"))
def test_whatever_the_suite_holds_is_compared(wire: str, file: Path) -> None:
    """Each of its own wire is given back as it was, and every loss of the others has its own words and places."""
    name = file.name.partition(".")[0]  # `answer`: as a client is told it
    kind = "stream" if name.startswith("stream") else "response" if name == "answer" else name
    answer = compare(file.read_bytes(), kind, wire)
    assert (answer["kind"], answer["wire"]) == (kind, wire)
    sides = {side["wire"]: side for side in answer["sides"]}
    if answer["error"] is not None:
        assert not sides
        return
    assert set(sides) - {"source"} == {"canonical", *adapters.names()}
    if kind == "stream":
        return
    given = json.loads(file.read_bytes())
    body = given["body"] if kind == "request" else given
    for side in sides.values():
        assert (side["text"] is None) == (side["error"] is not None)
        for entry in side["loss"]:
            assert "value" not in entry
            written = json.loads(side["text"])
            for pointer in entry["target"]:
                _at(written, pointer)
            for pointer in entry["source"]:
                _at(given, pointer)
    assert sides[wire]["error"] is not None or isinstance(json.loads(sides[wire]["text"]), type(body))


def _at(value: Any, pointer: str) -> Any:
    """The value at a pointer; an error when nothing stands there."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def test_a_loss_is_marked_on_both_sides() -> None:
    """The thinking block that Chat does not get; the picture that moves; the limit that stands in another member."""
    body = {
        "model": "claude-sonnet-4-5", "max_tokens": 50, "top_k": 4,
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True, "content": [{"type": "text", "text": "broken"}]},
            ]},
        ],
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
    }  # fmt: skip
    answer = compare(json.dumps(body).encode())
    chat = next(side for side in answer["sides"] if side["wire"] == "openai_chat")
    places = {entry["path"]: (entry["source"], list(entry["target"]), entry["around"]) for entry in chat["loss"]}
    assert places["/messages/1/content/0"] == (
        ["/messages/1/content/0"],
        ["/messages/1/tool_calls/0/function/name"],
        True,
    )
    assert places["/messages/2/content/0/is_error"][:2] == (["/messages/2/content/0/is_error"], ["/messages/2/content"])
    assert places["/top_k"][0] == ["/top_k"]
    assert chat["path"] == "/v1/chat/completions"


def test_an_error_is_compared_with_its_status_and_headers() -> None:
    given = {
        "status": 429,
        "headers": {"retry-after": "20"},
        "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}},
    }
    answer = compare(json.dumps(given).encode())
    assert (answer["kind"], answer["wire"]) == ("error", "anthropic_messages")
    chat = next(side for side in answer["sides"] if side["wire"] == "openai_chat")
    assert (chat["status"], chat["headers"]["retry-after"]) == (429, "20")
    assert json.loads(chat["text"])["error"]["message"] == "slow"
    given["body"]["request_id"] = "req_1"
    answer = compare(json.dumps(given).encode())
    ollama = next(side for side in answer["sides"] if side["wire"] == "ollama_chat")
    assert [entry["source"] for entry in ollama["loss"] if entry["path"] == "/request_id"] == [["/body/request_id"]]


def test_a_stream_is_compared_piece_by_piece() -> None:
    """Each piece names the events that it is about; a loss of a block is at the events of the block."""
    file = CASES / "anthropic_messages" / "text-basic" / "stream.wire.sse"
    answer = compare(file.read_bytes())
    source, canonical, *others = answer["sides"]
    assert b"".join(piece["text"].encode() + b"\n\n" for piece in source["pieces"]) == file.read_bytes()
    events = [json.loads(piece["text"]) for piece in canonical["pieces"]]
    assert events == list(translate.read_stream([file.read_bytes()], "anthropic_messages"))
    for side in others:
        assert side["error"] is None
        assert all(set(piece["events"]) <= set(range(len(events))) for piece in side["pieces"])


def test_a_binary_stream_is_shown_as_text_and_its_text_is_taken() -> None:
    file = CASES / "bedrock_converse" / "text-basic" / "stream.wire.eventstream"
    binary = compare(file.read_bytes())
    text = "\n\n".join(piece["text"] for piece in binary["sides"][0]["pieces"])
    assert text.startswith("event: messageStart\ndata: {")
    assert compare(text.encode())["sides"][1:] == binary["sides"][1:]


def test_canonical_values_are_compared() -> None:
    """A request, and events one in each line."""
    request = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "loss_policy": {"strict": "representation"},
    }
    answer = compare(json.dumps(request).encode())
    assert (answer["kind"], answer["wire"], answer["error"]) == ("request", "canonical", None)
    assert all(side["error"] is None for side in answer["sides"])  # a policy would refuse what is to be seen
    lines = (CASES / "openai_chat" / "text-basic" / "stream.events.jsonl").read_bytes()
    assert (compare(lines)["kind"], compare(lines)["wire"]) == ("stream", "canonical")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [["a"]]),
        ({"a": 1}, {}, [["a"]]),
        ({}, {"a": 1}, [[]]),
        ([1, 2, 3], [1, 3], [[1]]),
        ([1, 2, 3], [1, 9, 3], [[1]]),
        ([1, 2], [3, 4, 5], [[]]),
        (True, 1, [[]]),
        ([{"a": [1]}], [{"a": [2]}], [[0, "a", 0]]),
    ],
)
def test_differences(before: Any, after: Any, found: Any) -> None:
    assert list(differences(before, after)) == found


def test_a_place_is_never_guessed_where_nothing_can_be_written() -> None:
    """A wire that refuses everything has no places."""

    def refuse(_: Any) -> Any:
        raise translate.InvalidRequest("no")

    entry = {"op": "drop", "path": "/top_k", "code": "x", "severity": "lost", "message": "m"}
    finder = Finder({"messages": [], "top_k": 1}, "Request", refuse)
    assert finder.places(entry).pointers == ()


# ---------------------------------------------------------------------------------------------------- over HTTP


@pytest.mark.asyncio
async def test_the_page_and_its_files(serve: Any) -> None:
    """A browser gets the page, with scripts from its own origin alone; others are told that the gateway serves."""
    async with serve() as at:
        page = await at.http.get("/", headers=HTML)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'" in policy
        assert "unsafe" not in policy
        assert (await at.http.get("/")).json() == {"status": "serving"}
        for name, kind in {"app.js": "text/javascript", "style.css": "text/css", "icon.svg": "image/svg+xml"}.items():
            file = await at.http.get(f"/inspector/{name}")
            assert file.headers["content-type"].startswith(kind)
            assert f"/inspector/{name}" in page.text
        examples = (await at.http.get("/inspector/examples.json")).json()
        assert len(examples) >= 6
        for example in examples:
            answer = compare(example["text"].encode())
            assert (answer["kind"], answer["wire"], answer["error"]) == (example["kind"], example["wire"], None)


def test_the_page_has_nothing_of_other_origins() -> None:
    """No address but those of this gateway, and nothing inline."""
    folder = Path(__file__).parents[2] / "python" / "interlingua" / "gateway" / "inspector" / "page"
    for file in folder.iterdir():
        text = file.read_text("utf-8")
        assert "https://" not in text
        assert text.count("http://") == text.count("http://www.w3.org/2000/svg")
        if file.suffix == ".html":
            assert "<style" not in text
            assert " style=" not in text
            assert all(f" on{event}=" not in text for event in ("click", "load", "error", "input"))
            assert text.count("<script") == text.count('<script type="module" src="/inspector/')
        assert "innerHTML" not in text
        assert "eval(" not in text


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "name",
    ["..%2f..%2faccess.py", "%2e%2e/paths.py", "../paths.py", "..%5cpaths.py", "index.html%00.js", "examples", ""],
)
async def test_no_other_file_is_served(serve: Any, name: str) -> None:
    async with serve() as at:
        answer = await at.http.get(f"/inspector/{name}")
        assert answer.status_code == 404
        assert b"import" not in answer.content


@pytest.mark.asyncio
async def test_a_comparison_over_http(serve: Any) -> None:
    body = wires.body("anthropic_messages")
    async with serve() as at:

        async def post(value: Any) -> Any:
            return await at.http.post("/v1/interlingua/compare", json=value)

        answer = (await post({"text": json.dumps(body)})).json()
        assert (answer["kind"], answer["wire"], len(answer["sides"])) == ("request", "anthropic_messages", 8)
        encoded = base64.b64encode(json.dumps(body).encode()).decode()
        assert (await post({"base64": encoded})).json() == answer
        named = (await post({"text": json.dumps(body), "wire": "bedrock_converse"})).json()
        assert named["error"]["category"] in ("invalid_request", "invalid_response")
        for wrong in (
            {},
            {"text": "x", "kind": "song"},
            {"text": "x", "wire": "smoke"},
            {"base64": "!"},
            {"text": "x" * 5_000_000},
        ):
            assert (await post(wrong)).status_code == 400


@asynccontextmanager
async def _events(at: Any, path: str, **headers: str) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
    """The events of a stream, as they come."""
    async with at.http.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200

        async def each() -> AsyncIterator[tuple[str, Any]]:
            name = ""
            async for line in answer.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        yield each()


@pytest.mark.asyncio
async def test_calls_are_told_while_they_run(serve: Any) -> None:
    """First that it runs, then who answers, then its end with tokens and cost; and nothing that it carried."""
    async with serve(Say(f"{SECRET} and more", pause=0.05), connected=True) as at, asyncio.timeout(10):
        seen: list[Any] = []

        async def watch() -> None:
            async with _events(at, "/v1/interlingua/live") as events:
                async for name, record in events:
                    assert name == "call"
                    seen.append(record)
                    if record["status"] is not None:
                        return

        watching = asyncio.ensure_future(watch())
        body = {
            "model": "claude-sonnet-4-6",
            "max_tokens": 9,
            "stream": True,
            "messages": [{"role": "user", "content": SECRET}],
        }
        answer = await at.http.post("/v1/messages", json=body)
        await watching
        assert SECRET not in json.dumps(seen)
        assert (seen[0]["status"], seen[-1]["status"]) == (None, 200)
        assert any(one["seconds_to_first_event"] is not None and one["status"] is None for one in seen)
        assert seen[-1]["usage"]["output_tokens"] == 5
        assert seen[-1]["loss"] == "none"
        slots = [slot["policy"] for slot in seen[-1]["route"]["slots"]]
        assert slots == ["per_message_override", "manual_sticky"]
        async with _events(at, f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}/content") as events:
            assert [one async for one in events] == [("none", {"inspect": False})]


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("wire", wires.WIRES)
async def test_with_inspect_a_call_shows_what_it_carried(serve: Any, wire: str, stream: bool) -> None:
    """The client's request, the canonical one, the provider's, and the answer event by event; no key among it."""
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    own = {"x-api-key": "gateway-key", "cookie": "c=1"}
    async with serve(Say("Two files."), policy=policy, inspect=5) as at:
        path = wires.path(wire, stream=stream)
        path += ("&" if "?" in path else "?") + "key=gateway-key"
        answer = await at.http.post(path, json=wires.body(wire, stream=stream), headers=own)
        assert answer.status_code == 200
        id = answer.headers["interlingua-request-id"]
        assert (await at.http.get(f"/v1/interlingua/calls/{id}")).json()["inspected"]
        async with _events(at, f"/v1/interlingua/calls/{id}/content") as events:
            told = [one async for one in events]
        parts = dict(told)
        assert "gateway-key" not in json.dumps(told)
        assert "c=1" not in json.dumps(parts["client"])
        assert parts["client"]["body"] == wires.body(wire, stream=stream)
        assert parts["canonical"]["messages"][-1]["content"][0]["text"] == "What is in here?"
        assert parts["provider"]["body"] == at.fake.sent[0].json
        events_told = [value for name, value in told if name == "event"]
        if stream:
            texts = [one["event"]["text"] for one in events_told if one["event"]["type"] == "text_delta"]
            assert "".join(texts) == "Two files."
            assert [one["at"] for one in events_told] == sorted(one["at"] for one in events_told)
        else:
            assert json.loads(events_told[0]["sent"]) == answer.json()
        assert told[-1][0] == "end"


@pytest.mark.asyncio
async def test_with_inspect_a_failed_call_shows_why(serve: Any) -> None:
    """What the client sent, also when it is no request; and what the provider said."""
    refusal = {"type": "error", "error": {"type": "overloaded_error", "message": "come back later"}}
    async with serve(Refuse(529, refusal), inspect=5) as at:
        answers = [
            await at.http.post("/v1/messages", content=b"{broken"),
            await at.http.post("/v1/messages", json=wires.body("anthropic_messages")),
        ]
        told: list[Any] = []
        for answer in answers:
            async with _events(
                at, f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}/content"
            ) as events:
                told.append(dict([one async for one in events]))
        assert told[0]["client"]["body"] == "{broken"
        assert told[0]["error"]["category"] == "invalid_request"
        assert told[1]["error"]["provider_message"] == "come back later"
        assert told[1]["end"]["category"] == "overloaded"


@pytest.mark.asyncio
async def test_a_verb_is_inspected_as_a_wire_is(serve: Any) -> None:
    async with serve(Say("Yes."), inspect=5) as at:
        request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}
        answer = await at.http.post(
            "/interlingua.v1.InterlinguaService/Generate", json={"requestJson": json.dumps(request)}
        )
        async with _events(at, f"/v1/interlingua/calls/{answer.headers['interlingua-request-id']}/content") as events:
            told = dict([one async for one in events])
        assert told["canonical"]["messages"] == request["messages"]
        assert told["event"]["event"]["response"]["message"]["content"][0]["text"] == "Yes."


@pytest.mark.asyncio
async def test_a_key_sees_its_own_tenant_alone(serve: Any) -> None:
    """In the list, in one call and in its content: another tenant's call is one that there is not."""
    keys = [Key(name, digest(name), name) for name in ("one", "two")]
    mine, other = {"authorization": "Bearer one"}, {"authorization": "Bearer two"}
    async with serve(Say("Yes."), keys=keys, names=None, inspect=5, connected=True) as at, asyncio.timeout(10):
        for path in ("about", "live", "calls", "calls/x/content"):
            assert (await at.http.get(f"/v1/interlingua/{path}")).status_code == 401
        assert (await at.http.post("/v1/interlingua/compare", json={"text": "{}"})).status_code == 401
        about = (await at.http.get("/v1/interlingua/about", headers=mine)).json()
        assert (about["keys"], about["inspect"]) == (True, 5)
        answer = await at.http.post("/v1/messages", json=wires.body("anthropic_messages"), headers=mine)
        id = answer.headers["interlingua-request-id"]
        for path in (f"/v1/interlingua/calls/{id}", f"/v1/interlingua/calls/{id}/content"):
            assert (await at.http.get(path, headers=mine)).status_code == 200
            refused, unknown = [await at.http.get(one, headers=other) for one in (path, path.replace(id, "0" * 26))]
            assert (refused.status_code, refused.content) == (404, unknown.content)
        assert (await at.http.get("/v1/interlingua/calls", headers=other)).json() == {"calls": []}
        async with _events(at, "/v1/interlingua/live", **mine) as events:
            assert (await anext(events))[1]["id"] == id
        assert (await at.http.get("/", headers=HTML)).status_code == 200  # the page itself asks for the key


@pytest.mark.asyncio
async def test_a_gateway_that_ends_sends_its_watchers_away(serve: Any) -> None:
    """A page that is open does not keep the gateway from ending."""
    async with asyncio.timeout(5):
        async with serve(connected=True) as at:
            events = asyncio.ensure_future(at.http.get("/v1/interlingua/live"))
            while not at.gateway.news.watchers:  # noqa: ASYNC110 nothing tells of a watcher
                await asyncio.sleep(0.01)
            at.gateway.news.end()
            assert (await events).status_code == 200


@pytest.mark.asyncio
async def test_only_so_many_watch(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlingua.gateway.inspector.paths.MOST_WATCHERS", 0)
    async with serve() as at:
        answer = await at.http.get("/v1/interlingua/live")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_contents_are_forgotten() -> None:
    """The oldest first, by number and by size; one call alone cannot fill the memory."""
    news, contents = News(), Contents(3)
    for position in range(5):
        contents.open(str(position), Content(lambda: 0.0, 0.0, news))
    assert [contents.find(str(position)) is not None for position in range(5)] == [False, False, True, True, True]
    large = Content(lambda: 0.0, 0.0, news)
    contents.open("large", large)
    for _ in range(300):
        large.event({"type": "text_delta", "text": "x" * 100_000})
    assert large.size < 17 << 20
    large.client({"headers": {}, "body": "y" * (5 << 20)})
    assert b"left_out" in large.parts["client"]
    contents = Contents(100)
    for position in range(20):  # all at the same time
        contents.open(str(position), Content(lambda: 0.0, 0.0, news))
    for _ in range(150):
        for position in range(20):
            if (content := contents.find(str(position))) is not None:
                content.event({"type": "text_delta", "text": "x" * 100_000})
    kept = [content for position in range(20) if (content := contents.find(str(position))) is not None]
    assert sum(content.size for content in kept) <= 64 << 20
    assert 3 <= len(kept) < 20


def test_records_hold_no_content() -> None:
    """What a record keeps of what was tried is no word of a provider."""
    from interlingua.gateway.calls import Call

    call = Call("1", "t", "k", "openai_chat", "now")
    call.record_attempts(
        [{"model": "a:b", "category": "overloaded", "status": 529, "message": SECRET, "provider_message": SECRET}], []
    )
    assert SECRET not in json.dumps(call.to_dict())
    assert call.to_dict()["attempts"] == [{"model": "a:b", "category": "overloaded", "status": 529}]
    assert KEPT == 1000
