"""Keys, limits, budgets and tenants (spec/11-gateway.md#access)."""

import asyncio
import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from interlingua.access import Key, digest, keys_of_file, new_key, read_keys
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.fake import Refuse, Say
from interlingua.gateway import server
from interlingua.gateway.gateway import Gateway
from tests.gateway import wires

SECRET = new_key()
OTHER = new_key()
USER, TEAM = f"usr_{'0' * 26}", f"team_7{'Z' * 25}"
SAID = Say("Yes.", usage={"input_tokens": 600, "output_tokens": 400})


def key(name: str = "team", secret: str = SECRET, **members: Any) -> Key:
    """A key with no limits but those that are given."""
    return Key(name, digest(secret), members.pop("tenant", name), **members)


@pytest.mark.asyncio
@pytest.mark.parametrize("wire", wires.WIRES)
async def test_a_call_without_a_known_key_is_refused_in_the_words_of_its_wire(serve: Any, wire: str) -> None:
    """None and a wrong one are refused alike, and nothing is read of the body (spec/11-gateway.md#keys)."""
    async with serve(keys=[key()], names=None) as at:
        none = await at.http.post(wires.path(wire), json=wires.body(wire))
        wrong = await at.http.post(wires.path(wire), content=b"{", headers={"authorization": f"Bearer {OTHER}"})
        assert none.status_code == wrong.status_code in (401, 403)
        assert none.content == wrong.content
        assert SECRET not in wrong.text
        assert OTHER not in wrong.text
        assert not at.fake.sent


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "sent",
    [
        {"headers": {"authorization": f"Bearer {SECRET}"}},
        {"headers": {"authorization": f"bearer {SECRET}"}},
        {"headers": {"x-api-key": SECRET}},
        {"headers": {"x-goog-api-key": SECRET}},
        {"params": {"key": SECRET}},
    ],
    ids=["bearer", "lower-case", "x-api-key", "x-goog-api-key", "query"],
)
async def test_a_key_comes_in_the_way_of_any_wire_and_goes_nowhere(serve: Any, sent: dict[str, Any]) -> None:
    """The provider is sent its own key, and never the gateway's (spec/11-gateway.md#no-key-leaves)."""
    async with serve(SAID, keys=[key()], names=None) as at:
        place = wires.path("gemini_generate")
        answer = await at.http.post(place, json=wires.body("gemini_generate"), **sent)
        assert answer.status_code == 200, answer.text
        [call] = at.fake.sent
        assert SECRET not in f"{call.url} {dict(call.headers)} {call.body!r} {answer.text} {answer.headers}"


@pytest.mark.asyncio
async def test_a_key_uses_the_models_that_it_may_use(serve: Any) -> None:
    """Others are refused and not listed; chains are cut to those that it may use (spec/11-gateway.md#key-limits)."""
    policy = {"version": 1, "serve": {"both": "openai:gpt-4.1,anthropic:claude-sonnet-4-6", "one": "openai:gpt-4.1"}}
    bearer = {"authorization": f"Bearer {SECRET}"}
    async with serve(SAID, policy=policy, keys=[key(models=("anthropic:*",))], names=None) as at:
        refused = await at.http.post(
            "/v1/chat/completions", json=wires.body("openai_chat", model="one"), headers=bearer
        )
        assert refused.status_code == 403
        assert not at.fake.sent
        allowed = await at.http.post(
            "/v1/chat/completions", json=wires.body("openai_chat", model="both"), headers=bearer
        )
        assert allowed.headers["interlingua-model"] == "anthropic:claude-sonnet-4-6"
        names = {row["id"] for row in (await at.http.get("/v1/models", headers=bearer)).json()["data"]}
        assert "one" not in names
        assert all(not name.startswith("openai:") for name in names)


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", wires.WIRES)
@pytest.mark.parametrize(("status", "category"), [(401, "authentication"), (402, "billing"), (403, "permission")])
async def test_a_client_is_not_told_that_its_key_is_wrong_when_the_gateways_is(
    serve: Any, wire: str, stream: bool, status: int, category: str
) -> None:
    """Also where the provider speaks the client's wire; the record says what it was
    (spec/11-gateway.md#operators-errors)."""
    types = {401: "authentication_error", 402: "billing_error", 403: "permission_error"}
    body = {"type": "error", "error": {"type": types[status], "message": "invalid x-api-key"}}
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    async with serve(Refuse(status, body), keys=[key()], policy=policy, names=None) as at:
        request = wires.body(wire, stream=stream)
        answer = await at.http.post(wires.path(wire, stream=stream), json=request, headers={"x-api-key": SECRET})
        assert 500 <= answer.status_code < 600
        assert "anthropic answered" in answer.text
        assert "The key of this call is not at fault" in answer.text
        assert "invalid x-api-key" not in answer.text
        [record] = at.gateway.calls.of("team")
        assert (record.category, record.status) == (category, answer.status_code)


@pytest.mark.asyncio
async def test_limits_per_minute_refill_evenly(serve: Any) -> None:
    """A limit that is reached says how long to wait, and after that time a call goes through."""
    bearer = {"x-api-key": SECRET}
    async with serve(SAID, SAID, SAID, keys=[key(calls_per_minute=2)], names=None) as at:
        for _ in range(2):
            assert (await _ask(at, bearer)).status_code == 200
        refused = await _ask(at, bearer)
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "30"
        assert len(at.fake.sent) == 2
        at.clock.seconds += 29
        assert (await _ask(at, bearer)).status_code == 429
        at.clock.seconds += 1.5
        assert (await _ask(at, bearer)).status_code == 200


@pytest.mark.asyncio
async def test_tokens_count_when_the_answer_is_there(serve: Any) -> None:
    """An answer may take more than was left; the next call waits until that is made good (spec/11-gateway.md#metering)."""
    bearer = {"x-api-key": SECRET}
    async with serve(SAID, SAID, keys=[key(tokens_per_minute=500)], names=None) as at:
        assert (await _ask(at, bearer)).status_code == 200  # takes 1,000
        refused = await _ask(at, bearer)
        assert refused.status_code == 429
        at.clock.seconds += 62
        assert (await _ask(at, bearer)).status_code == 200


@pytest.mark.asyncio
async def test_a_budget_holds_for_a_day(serve: Any) -> None:
    """Costs are added exactly, and a new day of UTC begins with nothing spent."""
    bearer = {"x-api-key": SECRET}
    # 600 tokens at 3 USD and 400 at 15 USD a million: 0.0078 USD
    async with serve(SAID, SAID, SAID, keys=[key(budget_usd_per_day=Decimal("0.0156"))], names=None) as at:
        for _ in range(2):
            assert (await _ask(at, bearer)).status_code == 200
        refused = await _ask(at, bearer)
        assert refused.status_code in (402, 400, 403)
        assert "budget" in refused.text
        at.clock.today += timedelta(days=1)
        assert (await _ask(at, bearer)).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("stream", [False, True])
async def test_a_key_with_a_budget_needs_prices(serve: Any, stream: bool) -> None:
    """A model without a price is refused before the call, left out of chains and lists; a key may allow it
    (spec/11-gateway.md#unpriced)."""
    policy = {"version": 1, "serve": {"both": "openai:unheard-of,anthropic:claude-sonnet-4-6"}}
    keys = [
        key(budget_usd_per_day=Decimal(5)),
        key("lax", OTHER, budget_usd_per_day=Decimal(5), allow_unpriced=True),
    ]
    async with serve(SAID, SAID, policy=policy, keys=keys, names=None) as at:

        async def ask(secret: str, model: str) -> Any:
            body = wires.body("openai_chat", model=model, stream=stream)
            headers = {"authorization": f"Bearer {secret}"}
            return await at.http.post("/v1/chat/completions", json=body, headers=headers)

        refused = await ask(SECRET, "openai:unheard-of")
        assert refused.status_code == 403
        assert "openai:unheard-of is not known" in refused.text
        assert "allow_unpriced" in refused.text
        long_prompts_have_no_rates = await ask(SECRET, "xai:grok-4.5")
        assert long_prompts_have_no_rates.status_code == 403
        assert not at.fake.sent
        assert (await ask(SECRET, "both")).headers["interlingua-model"] == "anthropic:claude-sonnet-4-6"
        assert (await ask(OTHER, "openai:unheard-of")).status_code == 200
        listed = (await at.http.get("/xai/v1/models", headers={"x-api-key": SECRET})).json()["data"]
        assert "grok-4.5" not in {row["id"] for row in listed}
        listed = (await at.http.get("/xai/v1/models", headers={"x-api-key": OTHER})).json()["data"]
        assert "grok-4.5" in {row["id"] for row in listed}


@pytest.mark.asyncio
@pytest.mark.parametrize("wire", ["anthropic_messages", "openai_chat"])
async def test_who_leaves_before_the_end_has_spent_as_well(serve: Any, wire: str) -> None:
    """Some providers report usage at the end alone; what had arrived is estimated (spec/11-gateway.md#metering)."""
    slow = Say("One two three four five six seven eight nine ten. " * 20, pause=0.02)
    keys = [key(budget_usd_per_day=Decimal("0.000001"))]
    async with serve(slow, keys=keys, names=None, connected=True) as at:
        body, headers = wires.body(wire, stream=True), {"x-api-key": SECRET}
        async with at.http.stream("POST", wires.path(wire, stream=True), json=body, headers=headers) as answer:
            async for text in answer.aiter_text():
                if "five" in text:
                    break
        for _ in range(200):
            if at.gateway.calls.of("team")[0].status is not None:
                break
            await asyncio.sleep(0.01)
        [record] = at.gateway.calls.of("team")
        assert record.category == "cancelled"
        assert record.usage["estimated"] is True
        assert record.usage["input_tokens"] > 0
        assert record.usage["output_tokens"] >= 5
        assert "budget" in (await at.http.post(wires.path(wire), json=body, headers=headers)).text


@pytest.mark.asyncio
async def test_a_tenant_sees_its_own_calls(serve: Any) -> None:
    """The record of another tenant's call is not there, whoever knows its id (spec/11-gateway.md#call-records)."""
    keys = [key(), key("spy", OTHER)]
    async with serve(SAID, keys=keys, names=None) as at:
        id = (await _ask(at, {"x-api-key": SECRET})).headers["interlingua-request-id"]
        mine = await at.http.get(f"/v1/interlingua/calls/{id}", headers={"x-api-key": SECRET})
        theirs = await at.http.get(f"/v1/interlingua/calls/{id}", headers={"x-api-key": OTHER})
        assert (mine.status_code, theirs.status_code) == (200, 404)
        assert theirs.json()["error"]["code"] == "call_not_found"
        assert (await at.http.get("/v1/interlingua/calls", headers={"x-api-key": OTHER})).json() == {"calls": []}
        assert (await at.http.get("/v1/interlingua/calls")).status_code == 401


async def _ask(at: Any, headers: dict[str, str]) -> Any:
    return await at.http.post("/v1/messages", json=wires.body("anthropic_messages"), headers=headers)


def _write(file: Path, *rows: dict[str, Any]) -> None:
    file.write_text(json.dumps({"keys": rows}))


TEAM_ROW = {"name": "team", "sha256": digest(SECRET)}
OTHER_ROW = {"name": "other", "sha256": digest(OTHER)}


@pytest.mark.asyncio
async def test_keys_are_read_again_and_their_usage_lasts(
    serve: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """New keys are known, removed ones refused, a broken file changes nothing; a key of the same name with another
    secret has spent what the one before has (spec/11-gateway.md#keys-renewal)."""
    file = tmp_path / "keys.json"
    limited = {**TEAM_ROW, "budget_usd_per_day": "0.0078"}
    _write(file, limited)
    async with serve(*[SAID] * 6, keys=keys_of_file(file), names=None) as at:
        assert (await _ask(at, {"x-api-key": SECRET})).status_code == 200
        assert (await _ask(at, {"x-api-key": SECRET})).status_code != 200  # its budget is used up
        assert (await _ask(at, {"x-api-key": OTHER})).status_code == 401
        _write(file, limited, OTHER_ROW)
        assert (await _ask(at, {"x-api-key": OTHER})).status_code == 200
        assert (await _ask(at, {"x-api-key": SECRET})).status_code != 200

        file.write_text('{"keys": [')
        with caplog.at_level("WARNING", logger="interlingua"):
            assert (await _ask(at, {"x-api-key": OTHER})).status_code == 200
            file.write_text('{"keys": []}')
            assert (await _ask(at, {"x-api-key": OTHER})).status_code == 200
            file.unlink()
            assert (await _ask(at, {"x-api-key": OTHER})).status_code == 200
        said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert [text for text in said if str(file) in text and "stays in use" in text] == said
        assert len(said) == 3

        third = new_key()
        _write(file, {**limited, "sha256": digest(third)})
        assert (await _ask(at, {"x-api-key": OTHER})).status_code == 401
        assert (await _ask(at, {"x-api-key": SECRET})).status_code == 401
        assert "budget" in (await _ask(at, {"x-api-key": third})).text
        _write(file, {**limited, "sha256": digest(third), "budget_usd_per_day": "5"})
        assert (await _ask(at, {"x-api-key": third})).status_code == 200


@pytest.mark.asyncio
async def test_a_call_outlives_its_key_and_a_watch_does_not(serve: Any, tmp_path: Path) -> None:
    """An answer that has begun ends as it would; who watches gets nothing more (spec/11-gateway.md#keys-renewal)."""
    file = tmp_path / "keys.json"
    _write(file, TEAM_ROW, OTHER_ROW)
    slow = Say("One two three four five six seven eight nine ten.", pause=0.05)
    async with serve(slow, keys=keys_of_file(file), names=None, connected=True) as at:
        bearer = {"x-api-key": SECRET}
        body = wires.body("anthropic_messages", stream=True)
        async with at.http.stream("GET", "/v1/interlingua/live", headers=bearer) as watched:
            news = watched.aiter_text()
            assert await anext(news) == ": alive\n\n"
            async with at.http.stream("POST", "/v1/messages", json=body, headers=bearer) as answer:
                _write(file, OTHER_ROW)
                assert "message_stop" in "".join([text async for text in answer.aiter_text()])
            assert (await _ask(at, bearer)).status_code == 401
            rest = "".join([text async for text in news])
        assert '"status":200' not in rest  # the end of the call is not told any more
        [record] = at.gateway.calls.of("team")
        assert record.status == 200


WRONG: dict[str, tuple[Any, str]] = {
    "none": ({"keys": []}, "/keys"),
    "no list": ({"keys": {}}, "/keys"),
    "no object": ({"keys": [1]}, "/keys/0"),
    "no name": ({"keys": [{"sha256": "0" * 64}]}, "/keys/0/name"),
    "no digest": ({"keys": [{"name": "a", "sha256": "secret"}]}, "/keys/0/sha256"),
    "unknown member": ({"keys": [{"name": "a", "sha256": "0" * 64, "modles": []}]}, "/keys/0/modles"),
    "a limit of 0": ({"keys": [{"name": "a", "sha256": "0" * 64, "calls_per_minute": 0}]}, "/keys/0/calls_per_minute"),
    "a budget that is a number": (
        {"keys": [{"name": "a", "sha256": "0" * 64, "budget_usd_per_day": 5}]},
        "/keys/0/budget_usd_per_day",
    ),
    "a word for true": (
        {"keys": [{"name": "a", "sha256": "0" * 64, "budget_usd_per_day": "5", "allow_unpriced": "yes"}]},
        "/keys/0/allow_unpriced",
    ),
    "a number for true": ({"keys": [{"name": "a", "sha256": "0" * 64, "all_metrics": 1}]}, "/keys/0/all_metrics"),
    "without a budget": (
        {"keys": [{"name": "a", "sha256": "0" * 64, "allow_unpriced": True}]},
        "/keys/0/allow_unpriced",
    ),
    "a user of a name": (
        {"keys": [{"name": "a", "sha256": "0" * 64, "user_id": "ann@example.org"}]},
        "/keys/0/user_id",
    ),
    "a team of a user": ({"keys": [{"name": "a", "sha256": "0" * 64, "team_id": USER}]}, "/keys/0/team_id"),
    "two of one name": (
        {"keys": [{"name": "a", "sha256": "0" * 64}, {"name": "a", "sha256": "1" * 64}]},
        "/keys/1/name",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_of_keys_that_is_wrong_says_where(tmp_path: Path, what: str) -> None:
    """A key that would silently have no limit is refused instead."""
    given, place = WRONG[what]
    file = tmp_path / "keys.json"
    file.write_text(json.dumps(given))
    with pytest.raises(InvalidRequest) as refused:
        read_keys(file)
    assert refused.value.path == place


def test_a_file_of_keys_is_read_whole(tmp_path: Path) -> None:
    """All members, and none that prints the digest."""
    row = {
        "name": "a", "sha256": digest(SECRET), "tenant": "t", "models": ["openai:*"],
        "calls_per_minute": 60, "tokens_per_minute": 1e5, "budget_usd_per_day": "5.00", "allow_unpriced": True, "all_metrics": True,
        "user_id": USER, "team_id": TEAM,
    }  # fmt: skip
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [row]}))
    [found] = read_keys(file)
    assert found == Key("a", digest(SECRET), "t", ("openai:*",), 60, 100_000, Decimal("5.00"), USER, TEAM, True, True)
    assert digest(SECRET) not in repr(found)


@pytest.mark.asyncio
async def test_without_keys_it_listens_on_loopback_alone(serve: Any) -> None:
    """Another address is refused, unless anyone may call (spec/11-gateway.md#loopback-only)."""
    async with serve() as at:
        made: Gateway = at.gateway
        with pytest.raises(InvalidRequest, match="loopback"):
            await server.start(made, "0.0.0.0", 0)
        running = await server.start(made, "0.0.0.0", 0, anyone=True)
        await running.stop(0)
