"""Signatures of AWS, judged by AWS: its published vectors, and its own library."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.auth
import botocore.credentials
import pytest
from botocore.awsrequest import AWSRequest

from interlingua.canonical.errors import NotConfigured, ProviderError
from interlingua.client import Client, FakeTransport, Refuse, Say
from interlingua.client.sigv4 import Wallet, signed
from interlingua.registry import Registry
from interlingua.registry.signing import Credentials, Signing, signing

from .test_client import events_of
from .upstream import ask

NOW = datetime(2015, 8, 30, 12, 36, 0, tzinfo=UTC)
NOVA = "bedrock:amazon.nova-lite-v1:0"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
EXAMPLE = Credentials("AKIDEXAMPLE", SECRET)
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": "the-token"}


def registry(**environment: str) -> Registry:
    """The registry in an environment."""
    return Registry(environment=environment)


def test_a_published_vector() -> None:
    """post-vanilla of the test suite that AWS publishes for this algorithm."""
    about = Signing("sigv4", "service", "us-east-1")
    headers = signed("https://example.amazonaws.com/", {}, b"", about, EXAMPLE, NOW)
    assert headers == {
        "x-amz-date": "20150830T123600Z",
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date, "
        "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    }


def test_a_published_vector_with_a_query() -> None:
    """post-vanilla-query of the same suite."""
    about = Signing("sigv4", "service", "us-east-1")
    headers = signed("https://example.amazonaws.com/?Param1=value1", {}, b"", about, EXAMPLE, NOW)
    assert headers["authorization"].endswith("28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11")


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS's own signer, at a time that is known."""
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: NOW.replace(tzinfo=None))


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize("token", [None, "a token/with+signs=="])
@pytest.mark.parametrize(
    "url",
    [
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse",
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu%2Fx/converse-stream",
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a~b/invoke-with-response-stream?b=2&a=1%2F2",
        "http://localhost:4566/model/x/invoke",
    ],
)
def test_the_same_as_their_own_library(url: str, token: str | None) -> None:
    """Path, query, port, headers, token and body."""
    body = '{"messages": [], "a": "ü"}'.encode()
    headers = {"content-type": "application/json", "accept": "*/*", "user-agent": "interlingua"}
    theirs = AWSRequest("POST", url, {"content-type": "application/json"}, body)
    botocore.auth.SigV4Auth(
        botocore.credentials.Credentials("AKIDEXAMPLE", SECRET, token), "bedrock", "eu-west-1"
    ).add_auth(theirs)
    ours = signed(
        url, headers, body, Signing("sigv4", "bedrock", "eu-west-1"), Credentials("AKIDEXAMPLE", SECRET, token), NOW
    )
    assert ours["authorization"] == theirs.headers["Authorization"]
    assert ours["x-amz-date"] == theirs.headers["X-Amz-Date"]
    assert ours.get("x-amz-security-token") == theirs.headers.get("X-Amz-Security-Token")
    assert headers.items() <= ours.items()


@pytest.mark.asyncio
async def test_calls_are_signed_when_there_is_no_key() -> None:
    """With the credentials of the environment, for the region of the address, each attempt anew; never beside a key."""
    moments = iter([NOW, NOW + timedelta(seconds=9), NOW, NOW])
    fake = FakeTransport(Refuse(503), Say("x"), Say("y"))

    async def sleep(_: float) -> None:
        pass

    members: dict[str, Any] = {"now": lambda: next(moments), "sleep": sleep}
    address = "https://bedrock-runtime.eu-central-1.amazonaws.com"
    async with Client(fake, registry=registry(**ENVIRONMENT, BEDROCK_BASE_URL=address), **members) as client:
        await client.generate(ask(), model=NOVA)
    first, second = (sent.headers for sent in fake.sent)
    assert "/eu-central-1/bedrock/aws4_request" in first["authorization"]
    assert (first["x-amz-date"], second["x-amz-date"]) == ("20150830T123600Z", "20150830T123609Z")
    assert first["x-amz-security-token"] == "the-token"
    assert first["authorization"] != second["authorization"]
    async with Client(fake, registry=registry(**ENVIRONMENT, AWS_BEARER_TOKEN_BEDROCK="the-key")) as client:
        await client.generate(ask(), model=NOVA)
    assert fake.sent[2].headers["authorization"] == "Bearer the-key"
    assert "x-amz-date" not in fake.sent[2].headers


@pytest.mark.asyncio
async def test_nothing_secret_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """A provider that quotes the call it could not verify does not make us repeat the token."""
    caplog.set_level(logging.DEBUG)
    body = {"message": "The canonical string should have been: x-amz-security-token:the-token"}
    fake = FakeTransport(Refuse(403, body), Refuse(403, body))
    async with Client(fake, registry=registry(**ENVIRONMENT)) as client:
        with pytest.raises(ProviderError) as refused:
            await client.generate(ask(), model=NOVA)
        stream = client.stream(ask(), model=NOVA)
        _, problem = await events_of(stream)
        shown = [
            caplog.text,
            repr(client),
            repr(vars(client)),
            repr(stream),
            str(refused.value.to_dict()),
            str(problem),
        ]
    about = signing({"auth": {"signing": {"scheme": "sigv4", "service": "x"}}}, None, ENVIRONMENT)
    assert about is not None
    shown.append(repr(about))
    assert not [text for text in shown if SECRET in text or "the-token" in text]


@pytest.mark.asyncio
async def test_credentials_outside_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Those of a profile are found by the library of AWS; without any nobody is called."""
    for name in (*ENVIRONMENT, "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    assert await Wallet().credentials() is None
    async with Client(registry=registry(AWS_REGION="ap-south-1")) as client:
        with pytest.raises(NotConfigured, match="AWS_BEARER_TOKEN_BEDROCK"):
            await client.generate(ask(), model=NOVA)
    (tmp_path / "credentials").write_text(
        f"[work]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET}\naws_session_token = the-token\n"
    )
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert await Wallet().credentials() == Credentials("AKIDEXAMPLE", SECRET, "the-token")
    fake = FakeTransport(Say("x"))
    async with Client(fake, registry=registry(AWS_REGION="ap-south-1")) as client:
        await client.generate(ask(), model=NOVA)
    assert "AKIDEXAMPLE" in fake.sent[0].headers["authorization"]
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(ProviderError) as none:
        await Wallet().credentials()
    assert none.value.error["category"] == "authentication"


def test_which_providers_are_configured() -> None:
    """A key, credentials, or a word on where they are."""
    assert not registry().configured("bedrock")
    assert not registry(AWS_ACCESS_KEY_ID="AKIDEXAMPLE").configured("bedrock")
    for environment in (ENVIRONMENT, {"AWS_PROFILE": "work"}, {"AWS_BEARER_TOKEN_BEDROCK": "x"}):
        assert registry(**environment).configured("bedrock")
    assert not Registry(environment={"AWS_PROFILE": "work"}).configured("anthropic")


@pytest.mark.parametrize(
    ("address", "environment", "region"),
    [
        ("https://bedrock-runtime.eu-west-1.amazonaws.com", {"AWS_REGION": "us-west-2"}, "eu-west-1"),
        ("https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", {}, "us-gov-west-1"),
        ("https://vpce-1-a.bedrock-runtime.us-east-2.vpce.amazonaws.com", {}, "us-east-2"),
        ("https://gateway.example/bedrock", {"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "x"}, "us-west-2"),
        ("https://gateway.example/bedrock", {"AWS_DEFAULT_REGION": "eu-north-1"}, "eu-north-1"),
        ("https://gateway.example/bedrock", {}, "us-east-1"),
    ],
)
def test_the_region(address: str, environment: dict[str, str], region: str) -> None:
    """That of the address, else that of the environment."""
    about = signing({"auth": {"signing": {"scheme": "sigv4", "service": "bedrock"}}}, address, environment)
    assert about is not None
    assert about.region == region
