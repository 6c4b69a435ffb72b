"""Clients of AWS that sign: botocore signs, the gateway judges (spec/11-gateway.md#signed)."""

import asyncio
import gzip
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import botocore.auth
import botocore.credentials
import httpx
import pytest
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import get_session
from botocore.tokens import FrozenAuthToken

from interlingua.access import Access, Key, access_key_id, digest, new_key, read_signing_secret, signing_key
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.fake import Say
from tests.gateway import wires

pytestmark = pytest.mark.asyncio

SERVER = b"a secret of the server, 32 bytes and more"
NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)
SHOWN = "ilk_" + "s" * 43
ID, SECRET = access_key_id(digest(SHOWN)), signing_key(SERVER, digest(SHOWN))
PLACE = wires.path("bedrock_converse")
BODY = json.dumps(wires.body("bedrock_converse")).encode()


def signing(at: Any, keys: list[Key] | None = None, secret: bytes | None = SERVER) -> None:
    """Lets a gateway take signatures."""
    at.gateway.access = Access(
        keys or [Key("team", digest(SHOWN), "team")], clock=at.clock, now=at.clock.now, signing_secret=secret
    )


def by_botocore(
    monkeypatch: pytest.MonkeyPatch,
    *,
    body: bytes = BODY,
    place: str = PLACE,
    id: str = ID,
    secret: str = SECRET,
    token: str | None = None,
    now: datetime = NOW,
    service: str = "bedrock",
    headers: Mapping[str, str] | None = None,
    signer: type[botocore.auth.BaseSigner] = botocore.auth.SigV4Auth,
) -> dict[str, str]:
    """The headers of a call, signed by AWS's own library."""
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: now.replace(tzinfo=None))
    given = {"content-type": "application/json", **(headers or {})}
    request = AWSRequest("POST", f"http://localhost{place}", data=body, headers=given)
    credentials = botocore.credentials.Credentials(id, secret, token)
    signer(credentials, service, "eu-central-1").add_auth(request)  # type: ignore[call-arg]
    return dict(request.headers.items())


@pytest.mark.parametrize("token", [None, "a/token+of=somebody"])
@pytest.mark.parametrize(
    ("place", "headers"),
    [
        (PLACE, {}),
        (PLACE.replace("us.", "arn%3Aaws%3Abedrock%3A%3A%3Ainference-profile%2Fus."), {}),
        (PLACE + "?b=2&a=1%20x&a=&c", {"x-amz-meta": "  two   spaces ", "amz-sdk-request": "attempt=1; max=3"}),
    ],
    ids=["plain", "arn", "query"],
)
async def test_a_call_that_is_signed_is_taken(
    serve: Any, monkeypatch: pytest.MonkeyPatch, place: str, headers: dict[str, str], token: str | None
) -> None:
    """As AWS signs it; the provider gets nothing of it."""
    async with serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None) as at:
        signing(at)
        sent = by_botocore(monkeypatch, place=place, headers=headers, token=token)
        answer = await at.http.post(place, content=BODY, headers=sent)
        assert answer.status_code == 200, answer.text
        assert ID not in str(at.fake.sent[0])
        [record] = at.gateway.calls.of("team")
        assert record.key == "team"


async def test_a_signature_is_of_the_body_as_it_was_sent(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compressed, where it comes so."""
    body = gzip.compress(BODY)
    async with serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None) as at:
        signing(at)
        sent = by_botocore(monkeypatch, body=body, headers={"content-encoding": "gzip"})
        assert (await at.http.post(PLACE, content=body, headers=sent)).status_code == 200


OVER_HTTP_2 = {
    "host": "localhost:18080",
    "content-type": "application/json",
    "content-length": "70",
    "x-amz-user-agent": "aws-sdk-js/3.1163.0",
    "amz-sdk-invocation-id": "039e12d5-f73f-4786-8ae5-fa4a92c61cf7",
    "amz-sdk-request": "attempt=1; max=1",
    "x-amz-date": "20260508T120000Z",
    "x-amz-content-sha256": "a177cb1e394e897019c0bfc55deab2f56204c67bdb8daf77e8d657aea494f5d1",
    "authorization": "AWS4-HMAC-SHA256 Credential=ILKAAJ2UBG2OBI66W2XC/20260508/us-east-1/bedrock/aws4_request, "
    "SignedHeaders=:authority;amz-sdk-invocation-id;amz-sdk-request;content-length;content-type;x-amz-content-sha256;"
    "x-amz-date;x-amz-user-agent, Signature=efb915ac24d7105b876a7206d69300e778c3cfb8a060fe088fa564c435d98f4a",
}
"""What AWS's SDK for JavaScript, 3.1163.0, sent over HTTP/2 with the keys above."""


@pytest.mark.parametrize("http2", [True, False])
async def test_over_http_2_the_host_is_signed_by_its_name_there(serve: Any, http2: bool) -> None:
    """And nowhere else."""
    body = b'{"messages":[{"role":"user","content":[{"text":"What is in here?"}]}]}'
    async with (
        serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None, connected=True) as at,
        httpx.AsyncClient(base_url=at.http.base_url, http1=not http2, http2=http2) as http,
    ):
        signing(at)
        answer = await http.post(PLACE, content=body, headers=OVER_HTTP_2)
        assert answer.status_code == (200 if http2 else 401), answer.text
        answer = await http.post(PLACE, content=body, headers=OVER_HTTP_2 | {"host": "localhost:18081"})
        assert answer.status_code == 401


def _changed(headers: dict[str, str], name: str, before: str, after: str) -> dict[str, str]:
    changed = {key: value.replace(before, after) if key.lower() == name else value for key, value in headers.items()}
    assert changed != headers
    return changed


FORGED: dict[str, Any] = {
    "another body": {"content": BODY.replace(b"What", b"Where")},
    "no body": {"content": b""},
    "another path": {"place": PLACE + "-stream"},
    "another query": {"place": PLACE + "?a=1"},
    "another type": {"changed": ("content-type", "json", "xml")},
    "another secret": {"signed": {"secret": SECRET.swapcase()}},
    "the digest as the secret": {"signed": {"secret": digest(SHOWN)}},
    "the key as the secret": {"signed": {"secret": SHOWN}},
    "no secret": {"signed": {"secret": ""}},
    "another id": {"signed": {"id": ID[:4] + ID[:3:-1]}},
    "the name as the id": {"signed": {"id": "team"}},
    "another service": {"signed": {"service": "s3"}},
    "too early": {"signed": {"now": NOW - timedelta(minutes=6)}},
    "too late": {"signed": {"now": NOW + timedelta(minutes=6)}},
    "another time": {"changed": ("x-amz-date", "T1200", "T1201")},
    "a scope of another day": {"changed": ("authorization", "/20260508/", "/20260507/")},
    "another region": {"changed": ("authorization", "eu-central-1", "us-east-1")},
    "no host": {"changed": ("authorization", "host;", "")},
    "no signature": {"changed": ("authorization", "Signature=", "Signature=z")},
    "a token that is not signed": {"added": {"x-amz-security-token": "a"}},
    "only the beginning": {"changed": ("authorization", ", SignedHeaders", "")},
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED.keys())
async def test_a_forged_signature_is_not(serve: Any, monkeypatch: pytest.MonkeyPatch, forged: dict[str, Any]) -> None:
    """Whatever of the call is changed behind it; nothing is asked, counted or told."""
    async with serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None) as at:
        signing(at, [Key("team", digest(SHOWN), "team", calls_per_minute=1)])
        sent = by_botocore(monkeypatch, **forged.get("signed", {})) | forged.get("added", {})
        if "changed" in forged:
            sent = _changed(sent, *forged["changed"])
        answer = await at.http.post(forged.get("place", PLACE), content=forged.get("content", BODY), headers=sent)
        assert answer.status_code == 401, answer.text
        for secret in (SECRET, SHOWN, "team"):
            assert secret not in answer.text
        assert at.fake.sent == []
        assert at.gateway.calls.of("team") == []
        good = await at.http.post(PLACE, content=BODY, headers=by_botocore(monkeypatch))
        assert good.status_code == 200  # the limit of the key was not used by who cannot sign


async def test_a_body_is_read_of_nobody_who_cannot_sign(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown id, and a time long past, are refused before."""

    async def unread(*_: Any) -> bytes:
        raise AssertionError("the body is read")

    monkeypatch.setattr("interlingua.gateway.gateway.raw_body", unread)
    async with serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None) as at:
        signing(at)
        for odd in (
            by_botocore(monkeypatch, id="ILKAAAAAAAAAAAAAAAAA"),
            by_botocore(monkeypatch, now=NOW - timedelta(hours=1)),
        ):
            assert (await at.http.post(PLACE, content=BODY, headers=odd)).status_code == 401


async def test_who_guesses_signatures_is_told_to_wait(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As who guesses keys."""
    async with serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None) as at:
        signing(at)
        wrong = by_botocore(monkeypatch, secret="guess")
        statuses = [(await at.http.post(PLACE, content=BODY, headers=wrong)).status_code for _ in range(22)]
        assert statuses == [401] * 20 + [429] * 2


async def test_without_a_signing_secret_there_are_no_signatures(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says how a client of AWS shows its key then; that way works."""
    async with serve(Say("Yes."), keys=[Key("x", digest("x"), "x")], names=None) as at:
        signing(at, secret=None)
        answer = await at.http.post(PLACE, content=BODY, headers=by_botocore(monkeypatch))
        assert answer.status_code == 401
        assert "bearer" in answer.text
        # as AWS's library sends AWS_BEARER_TOKEN_BEDROCK, which it does over TLS alone
        request = AWSRequest("POST", f"https://localhost{PLACE}", data=BODY, headers={})
        botocore.auth.BearerAuth(FrozenAuthToken(SHOWN)).add_auth(request)  # type: ignore[no-untyped-call]
        answer = await at.http.post(PLACE, content=BODY, headers=dict(request.headers.items()))
        assert answer.status_code == 200


async def test_a_whole_client_of_aws(serve: Any) -> None:
    """botocore's own client signs, asks, streams, and raises for a secret that is wrong."""
    model = wires.MODELS["bedrock_converse"]
    messages = [{"role": "user", "content": [{"text": "What is in here?"}]}]

    def ask(port: int, secret: str) -> tuple[str, str]:
        client = get_session().create_client(
            "bedrock-runtime",
            region_name="us-west-2",
            endpoint_url=f"http://127.0.0.1:{port}",
            aws_access_key_id=ID,
            aws_secret_access_key=secret,
            config=Config(retries={"total_max_attempts": 1}),
        )
        try:
            whole = client.converse(modelId=model, messages=messages)
            events = client.converse_stream(modelId=model, messages=messages)["stream"]
            deltas = [event["contentBlockDelta"]["delta"]["text"] for event in events if "contentBlockDelta" in event]
            return whole["output"]["message"]["content"][0]["text"], "".join(deltas)
        finally:
            client.close()

    keys = [Key("x", digest("x"), "x")]
    async with serve(Say("One, two."), Say("Three, four."), keys=keys, connected=True) as at:
        at.clock.today = datetime.now(UTC)
        signing(at)
        port = at.http.base_url.port
        assert await asyncio.to_thread(ask, port, SECRET) == ("One, two.", "Three, four.")
        with pytest.raises(ClientError) as refused:
            await asyncio.to_thread(ask, port, SECRET + "x")
        assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 401


async def test_without_keys_anybody_signs(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With whatever credentials a client has."""
    async with serve(Say("Yes.")) as at:
        sent = by_botocore(monkeypatch, id="AKIDEXAMPLE", secret="any")
        assert (await at.http.post(PLACE, content=BODY, headers=sent)).status_code == 200


async def test_what_follows_from_a_key_tells_nothing_of_it() -> None:
    """The id follows from the digest alone, the secret from that and the server's; both differ from key to key."""
    ids = {access_key_id(digest(new_key())) for _ in range(100)}
    assert len(ids) == 100
    assert all(len(id) == 20 and id.isalnum() and id.isupper() for id in ids)
    assert signing_key(SERVER, digest(SHOWN)) != signing_key(SERVER + b"x", digest(SHOWN))
    assert len(SECRET) == 43


async def test_a_signing_secret_comes_from_a_file_and_is_long_enough(tmp_path: Path) -> None:
    """Else it is refused, and not shown."""
    file = tmp_path / "secret"
    file.write_bytes(SERVER + b"\n")
    assert read_signing_secret(file) == SERVER
    file.write_bytes(b"short")
    for path in (file, tmp_path / "none"):
        with pytest.raises(InvalidRequest) as refused:
            read_signing_secret(path)
        assert "short" not in str(refused.value)
