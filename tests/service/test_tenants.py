"""The sessions that a call sees: no method reaches those of another tenant (spec/9-service.md#callers)."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
import trustme

from interlingua.access import ANYBODY, Access, Key, digest, keys_of_file
from interlingua.canonical import json
from interlingua.client import Say
from interlingua.refusals import Refused
from interlingua.service import server
from interlingua.service.callers import caller
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub
from interlingua.v1.sessions_pb2_grpc import SessionServiceStub

from .sessions_served import ACME, CLAUDE, GPT, OTHER, Calls, Served, info, keys, serving, text_of, told, user

pytestmark = pytest.mark.asyncio
SERVICE = messages.DESCRIPTOR.services_by_name["SessionService"]
NOBODY = "sess_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"


def attempts(session_id: str, message_id: str, call_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return, for each method that names a session, the calls that reach one by its ids."""
    given = {"session_id": session_id}
    said = text_of([user("Mine.")])
    return {
        "GetSession": [given, {"member_id": session_id}, {"member_id": message_id}, {"member_id": call_id}],
        "DeleteSession": [given],
        "ListMessages": [given, {**given, "page_token": message_id}, {**given, "with_superseded": True}],
        "AppendMessages": [
            {**given, "messages_json": said},
            {**given, "messages_json": said, "client_key": "k"},
            {**given, "messages_json": said, "expected_revision": 1},
            {**given, "messages_json": said, "instead_of": message_id},
        ],
        "GenerateInSession": [given, {**given, "request_json": text_of({"messages": [user("Mine.")]})}],
        "SwapModel": [{**given, "model": GPT}, {**given, "model": "-"}],
        "PreviewSwap": [{**given, "models": [GPT]}],
        "ForkSession": [given, {**given, "message_id": message_id}],
        "ListToolCalls": [given, {**given, "status": "pending"}],
        "ExportSession": [given],
        "WatchSession": [given, {**given, "after_revision": 2}],
    }


async def outcome(call: Any) -> Any:
    """Return the complete result or error of a call."""
    try:
        if hasattr(call, "__aiter__"):
            return [one async for one in call]
        return await call
    except grpc.aio.AioRpcError as error:
        return told(error)


async def filled(at: Served) -> tuple[str, str, str]:
    """Create a session of acme; return it with one of its messages and one of its calls."""
    chat = await at.acme.create()
    await at.acme.say(chat, "The treasure is under the oak.", client_key="k")
    answer = (await at.acme.ListMessages(session_id=chat)).messages[-1]
    return chat, answer.id, answer.content[0].tool_use.id


async def test_no_method_reaches_another_tenants_session(url: str) -> None:
    """No method reaches it by any id: each responds bit for bit as for a session that does not exist, and changes
    nothing."""
    async with serving(url, Say(calls=[("dig", {"at": "oak"})]), who=keys()) as at:
        chat, message, call = await filled(at)
        before = await outcome(at.acme.ExportSession(session_id=chat))
        events = (await at.acme.GetSession(session_id=chat)).session.revision
        theirs, nobodys = attempts(chat, message, call), attempts(NOBODY, "01" + "Z" * 24, "tu_01" + "Z" * 24)
        free = {"CreateSession", "ListSessions", "ImportSession"}
        assert set(theirs) | free == {method.name for method in SERVICE.methods}
        for name, ways in theirs.items():
            for way, other_way in zip(ways, nobodys[name], strict=True):
                found = await outcome(getattr(at.other, name)(**way))
                assert found[0] is grpc.StatusCode.NOT_FOUND, (name, way, found)
                assert found == await outcome(getattr(at.other, name)(**other_way)), (name, way)
        assert not (await at.other.ListSessions()).sessions
        assert not (await at.other.ListSessions(id_prefix=chat)).sessions
        info_of = (await at.acme.GetSession(session_id=chat)).session
        place = f"9999-01-01T00:00:00+00:00/{chat}"
        assert not (await at.other.ListSessions(page_token=place)).sessions
        assert info_of.revision == events
        assert await outcome(at.acme.ExportSession(session_id=chat)) == before
        assert len(at.fake.sent) == 1


async def test_ids_of_another_tenant_in_ones_own_session(url: str) -> None:
    """An id of a message, a call or a parent of another tenant in a written message has no effect and reveals
    nothing."""
    async with serving(url, Say(calls=[("dig", {"at": "oak"})]), Say("Mine."), who=keys()) as at:
        chat, message, call = await filled(at)
        mine = await at.other.create()
        await at.other.say(mine, "Mine.")
        result = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "gold"}]}
        answer = {"role": "tool", "content": [result], "metadata": {"parent_tool_use_id": call}}
        for body in ({"instead_of": message}, {"messages_json": text_of([answer])}):
            body = {"messages_json": text_of([user("Ho.")]), **body}
            theirs = await outcome(at.other.AppendMessages(session_id=mine, **body))
            unknown = json.loads(text_of(body).replace(call, "tu_01" + "Z" * 24).replace(message, "01" + "Z" * 24))
            assert theirs[0] in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.INVALID_ARGUMENT)
            assert theirs == await outcome(at.other.AppendMessages(session_id=mine, **unknown))
        forked = await outcome(at.other.ForkSession(session_id=mine, message_id=message))
        assert forked[0] is grpc.StatusCode.NOT_FOUND
        # the id of the call is taken: the new call gets another id, without a reason
        asked = {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "dig", "input": {}}]}
        stored = await at.other.AppendMessages(session_id=mine, messages_json=text_of([asked, answer]))
        assert stored.messages[0].content[0].tool_use.id == stored.messages[1].content[0].tool_result.tool_use_id
        assert stored.messages[0].session_id == mine
        [still] = (await at.acme.ListToolCalls(session_id=chat)).calls
        assert (still.id, still.status) == (call, "pending")


async def test_an_import_takes_no_ids(url: str) -> None:
    """The export of another tenant becomes a session of the importing tenant, and the original is unchanged."""
    async with serving(url, Say(calls=[("dig", {"at": "oak"})]), who=keys()) as at:
        chat, message, call = await filled(at)
        lines = [messages.ImportSessionRequest(line=one.line) async for one in at.acme.ExportSession(session_id=chat)]
        before = await outcome(at.acme.ExportSession(session_id=chat))
        made = (await at.other.ImportSession(iter(lines))).session
        copied = (await at.other.ListMessages(session_id=made.id)).messages
        assert made.id != chat
        assert message not in {one.id for one in copied}
        assert copied[-1].content[0].tool_use.id != call
        assert await outcome(at.acme.ExportSession(session_id=chat)) == before
        assert (await outcome(at.other.GetSession(member_id=message)))[0] is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    "given", [None, "ilk_unknown", "", ACME[:-1], digest(ACME)], ids=["none", "unknown", "empty", "cut", "digest"]
)
async def test_without_a_known_key_nobody_is_served(tmp_path: Path, given: str | None) -> None:
    """No method is allowed, and no error reveals whether the key or the session is wrong."""
    async with serving(tmp_path, who=keys()) as at:
        chat = await at.acme.create()
        stranger = Calls(at.anybody._stub, given)
        ways = attempts(chat, "m", "c") | {"CreateSession": [{}], "ListSessions": [{}]}
        seen = set()
        for name, members in ways.items():
            seen.add(await outcome(getattr(stranger, name)(**members[0])))
        seen.add(await outcome(stranger.ImportSession(iter([messages.ImportSessionRequest(line="{}")]))))
        assert len(seen) == 1
        assert seen.pop()[0] is grpc.StatusCode.UNAUTHENTICATED
        assert len((await at.acme.ListSessions()).sessions) == 1


async def test_two_keys_at_once_are_none(tmp_path: Path) -> None:
    """A call with two keys is refused."""
    async with serving(tmp_path, who=keys()) as at:
        both = Calls(at.anybody._stub, ACME)
        both.metadata = (*(both.metadata or ()), ("authorization", "Bearer x"))  # type: ignore[assignment]
        assert (await outcome(both.ListSessions()))[0] is grpc.StatusCode.UNAUTHENTICATED


async def test_two_keys_of_one_tenant_share_its_sessions(tmp_path: Path) -> None:
    """The tenant decides, not the key."""
    second = Key("night", digest("ilk_night"), "acme")
    async with serving(tmp_path, who=[*keys(), second]) as at:
        chat = await at.acme.create()
        night = Calls(at.anybody._stub, "ilk_night")
        assert [one.id for one in (await night.ListSessions()).sessions] == [chat]


async def test_what_is_said_with_a_key_has_the_principals_of_the_key(tmp_path: Path) -> None:
    """They replace those in the message; a later change of the key's principals rewrites nothing (R-067, R-072)."""
    first, second, team = f"usr_{'0' * 25}1", f"usr_{'0' * 25}2", f"team_{'0' * 25}1"
    forged = {**user("Mine."), "metadata": {"user_id": second, "status": "complete"}}

    async def stored(at: Served, chat: str) -> list[tuple[str, str]]:
        found = (await at.acme.ListMessages(session_id=chat)).messages
        return [(one.metadata.user_id, one.metadata.team_id) for one in found]

    async with serving(tmp_path, Say("Hello!"), who=keys(user_id=first, team_id=team)) as at:
        chat = await at.acme.create()
        await at.acme.AppendMessages(session_id=chat, messages_json=text_of([forged]))
        await at.acme.say(chat, "Hi.")
        assert await stored(at, chat) == [(first, team), (first, team), ("", "")]
    async with serving(tmp_path, who=keys(user_id=second)) as at:
        await at.acme.AppendMessages(session_id=chat, messages_json=text_of([user("Again.")]))
        copy = (await at.acme.ForkSession(session_id=chat)).session.id
        for one in (chat, copy):
            assert await stored(at, one) == [(first, team), (first, team), ("", ""), (second, "")]
    async with serving(tmp_path, who=keys()) as at:
        await at.acme.AppendMessages(session_id=chat, messages_json=text_of([user("Old key.")]))
        assert (await stored(at, chat))[-1] == ("", "")


async def test_a_key_may_use_its_models_alone(tmp_path: Path) -> None:
    """A model that the key may not use is never called, named or active. The limits of the key apply too."""
    who = keys(models=("openai:*",), calls_per_minute=2)
    async with serving(tmp_path, Say("Hello!"), who=who) as at:
        assert (await outcome(at.acme.CreateSession(model=CLAUDE)))[0] is grpc.StatusCode.PERMISSION_DENIED
        chat = await at.acme.create(model=GPT)
        assert (await outcome(at.acme.SwapModel(session_id=chat, model=CLAUDE)))[0] is grpc.StatusCode.PERMISSION_DENIED
        named = at.acme.generate(chat, {"messages": [user("Hi.")], "model": CLAUDE})
        assert (await outcome(named))[0] is grpc.StatusCode.PERMISSION_DENIED
        assert not at.fake.sent
        assert (await at.acme.say(chat, "Hi."))[-1].HasField("message_complete")
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await at.acme.say(chat, "And?")
        assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert info(error.value).reason == "rate_limit"
        assert [one.url.split("/")[2] for one in at.fake.sent] == ["api.openai.com"]


async def test_the_routed_model_is_held_to_the_key(tmp_path: Path) -> None:
    """Where the policy routes to a model that the key may not use, no model is called, and the session stays usable."""
    async with serving(tmp_path, Say("Hello!"), who=keys(models=("openai:*",))) as at:
        chat = await at.acme.create()
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await at.acme.say(chat, "Hi.")
        assert error.value.code() is grpc.StatusCode.PERMISSION_DENIED
        assert not at.fake.sent
        await at.acme.SwapModel(session_id=chat, model=GPT)
        assert [one async for one in at.acme.GenerateInSession(session_id=chat)][-1].event.HasField("message_complete")


async def test_a_key_with_a_budget_needs_prices(tmp_path: Path) -> None:
    """A model without a price is refused before it is called, also where the session routes to it."""
    unpriced = "openai:unheard-of"
    async with serving(tmp_path, Say("Hello!"), who=keys(budget_usd_per_day=Decimal(5))) as at:
        code, text, _ = await outcome(at.acme.CreateSession(model=unpriced))
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "allow_unpriced" in text
        chat = await at.acme.create(model=GPT)
        named = at.acme.generate(chat, {"messages": [user("Hi.")], "model": unpriced})
        assert (await outcome(named))[0] is grpc.StatusCode.PERMISSION_DENIED
        stub = InterlinguaServiceStub(at.channel)  # type: ignore[no-untyped-call]
        for method, form in (
            (stub.Generate, service.GenerateRequest),
            (stub.GenerateStream, service.GenerateStreamRequest),
        ):
            request = form(request_json=text_of({"messages": [user("Hi.")]}), target=unpriced)
            called = method(request, metadata=[("authorization", f"Bearer {ACME}")])
            assert (await outcome(called))[0] is grpc.StatusCode.PERMISSION_DENIED
        assert not at.fake.sent
        assert (await at.acme.say(chat, "Hi."))[-1].HasField("message_complete")


async def test_what_a_key_spends_here_counts(tmp_path: Path) -> None:
    """Its tokens and its budget are shared with the gateway."""
    who = keys(tokens_per_minute=20)
    async with serving(tmp_path, Say("Hello!", usage={"input_tokens": 60, "output_tokens": 40}), who=who) as at:
        chat = await at.acme.create()
        await at.acme.say(chat, "Hi.")
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await at.acme.say(chat, "And?")
        assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert at.access.key(ACME).name == "acme"


@pytest.mark.parametrize("in_session", [False, True])
async def test_who_leaves_a_stream_has_spent_as_well(tmp_path: Path, in_session: bool) -> None:
    """What had arrived is estimated (spec/11-gateway.md#metering)."""
    slow = Say("One two three four five six seven eight nine ten. " * 20, pause=0.02)
    async with serving(tmp_path, slow, who=keys(budget_usd_per_day=Decimal("0.000001"))) as at:
        stub = InterlinguaServiceStub(at.channel)  # type: ignore[no-untyped-call]

        def call() -> Any:
            request = service.GenerateStreamRequest(request_json=text_of({"messages": [user("Hi.")]}), target=GPT)
            return stub.GenerateStream(request, metadata=[("authorization", f"Bearer {ACME}")])

        chat = await at.acme.create(model=GPT)
        stream = at.acme.generate(chat, {"messages": [user("Hi.")]}) if in_session else call()
        async for message in stream:
            if message.event.text_delta.text.strip().startswith("five"):
                break
        stream.cancel()
        for _ in range(200):
            try:
                at.access.admit(at.access.key(ACME))
            except Refused:
                break
            await asyncio.sleep(0.01)
        code, text, _ = await outcome(call())
        assert code is grpc.StatusCode.FAILED_PRECONDITION
        assert "budget" in text


async def test_a_watch_ends_with_its_key(tmp_path: Path) -> None:
    """A key that is removed gets no event more (spec/11-gateway.md#keys-renewal)."""
    file = tmp_path / "keys.json"
    rows = [{"name": name, "sha256": digest(secret)} for name, secret in (("acme", ACME), ("other", OTHER))]
    file.write_bytes(json.dumps({"keys": rows}))
    async with serving(tmp_path, who=keys_of_file(file)) as at:
        chat = await at.acme.create()
        watching = at.acme.WatchSession(session_id=chat)
        await anext(aiter(watching))
        file.write_bytes(json.dumps({"keys": rows[1:]}))
        await at.sessions.of("acme").chat(chat).append(user("Hi."))
        code, _, _ = await outcome(watching)
        assert code is grpc.StatusCode.UNAUTHENTICATED


async def test_without_keys_there_is_one_tenant(tmp_path: Path) -> None:
    """It is the tenant of the library; a claim of the caller is ignored."""
    assert Access(clock=lambda: 0.0, now=lambda: datetime.now(UTC)).key("anything") is ANYBODY
    async with serving(tmp_path) as at:
        chat = await at.anybody.create()
        assert [one.id for one in (await at.acme.ListSessions()).sessions] == [chat]
        assert [one.id for one in await at.sessions.of("").latest()] == [chat]


async def test_certificates_are_tenants(tmp_path: Path) -> None:
    """Without keys, each subject of a certificate has a tenant of its own, whatever its names."""
    authority = trustme.CA()
    mine = authority.issue_cert("localhost")
    paths = {name: tmp_path / f"{name}.pem" for name in ("certificate", "key", "authority")}
    paths["certificate"].write_bytes(b"".join(pem.bytes() for pem in mine.cert_chain_pems))
    paths["key"].write_bytes(mine.private_key_pem.bytes())
    paths["authority"].write_bytes(authority.cert_pem.bytes())
    credentials = server.tls(paths["certificate"], paths["key"], paths["authority"])
    async with serving(tmp_path, address="localhost:0", credentials=credentials) as at:

        def client(certificate: trustme.LeafCert) -> tuple[Any, Calls]:
            shown = grpc.ssl_channel_credentials(
                authority.cert_pem.bytes(),
                certificate.private_key_pem.bytes(),
                certificate.cert_chain_pems[0].bytes(),
            )
            channel = grpc.aio.secure_channel(f"localhost:{at.running.port}", shown)
            return channel, Calls(SessionServiceStub(channel))  # type: ignore[no-untyped-call]

        # one name, two subjects
        alice = authority.issue_cert("app.example.org", common_name="alice")
        channels, (first, again, second) = zip(
            client(alice),
            client(alice),
            client(authority.issue_cert("app.example.org", common_name="bob")),
            strict=True,
        )
        try:
            chat = await first.create()
            assert (await again.GetSession(session_id=chat)).session.id == chat
            assert (await outcome(second.GetSession(session_id=chat)))[0] is grpc.StatusCode.NOT_FOUND
            assert not (await second.ListSessions()).sessions
            assert not (await second.ListSessions(id_prefix=chat)).sessions
        finally:
            for channel in channels:
                await channel.close()


async def test_a_certificate_without_a_subject_is_nobodys(tmp_path: Path) -> None:
    """Otherwise all without a certificate would share one tenant."""

    class Context:
        def auth_context(self) -> dict[str, list[bytes]]:
            return {"x509_pem_cert": [b"-----BEGIN CERTIFICATE-----"], "x509_subject": [b""]}

    nobody = Access(clock=lambda: 0.0, now=lambda: datetime.now(UTC))
    context: Any = Context()
    with pytest.raises(Refused, match="no subject"):
        caller(context, nobody)
