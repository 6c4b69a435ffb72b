"""TLS for HTTP, for known clients alone, and who they are (spec/11-gateway.md#tls)."""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from interlingua.access import Access, Key, digest, new_key
from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Client, FakeTransport
from interlingua.client.fake import Say
from interlingua.client.replay import open_registry
from interlingua.gateway import server
from interlingua.gateway.gateway import Gateway
from interlingua.service import server as service
from interlingua.service.callers import CallersSessions, caller
from interlingua.sessions import Objects, Sessions
from interlingua.v1 import sessions_pb2
from interlingua.v1.sessions_pb2_grpc import SessionServiceStub
from tests.gateway import wires

CN = NameOID.COMMON_NAME
SUBJECTS: dict[str, list[list[tuple[Any, str]]]] = {
    "CN=team-a": [[(CN, "team-a")]],
    "CN=team-b,OU=chat,O=Example": [
        [(NameOID.ORGANIZATION_NAME, "Example")],
        [(NameOID.ORGANIZATIONAL_UNIT_NAME, "chat")],
        [(CN, "team-b")],
    ],
    r"CN=a\, b\+c \"d\" \\e \<f\>\;": [[(CN, 'a, b+c "d" \\e <f>;')]],
    r"CN=\#a b\ ": [[(CN, "#a b ")]],
    r"CN=\C3\BC\E2\82\AC": [[(CN, "\u00fc\u20ac")]],
    "UID=7,DC=example,C=DE": [
        [(NameOID.COUNTRY_NAME, "DE")],
        [(NameOID.DOMAIN_COMPONENT, "example")],
        [(NameOID.USER_ID, "7")],
    ],
    "serialNumber=5,ST=B,L=C,GN=G,SN=S": [
        [(NameOID.SURNAME, "S")],
        [(NameOID.GIVEN_NAME, "G")],
        [(NameOID.LOCALITY_NAME, "C")],
        [(NameOID.STATE_OR_PROVINCE_NAME, "B")],
        [(NameOID.SERIAL_NUMBER, "5")],
    ],
}
"""Subjects of clients' certificates, as both protocols tell them."""


class Authority:
    """An authority of clients that issues certificates of any subject."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(CN, "clients")])
        self.certificate = self._signed(self.name, self.key, x509.BasicConstraints(ca=True, path_length=None))

    def _signed(self, subject: x509.Name, key: Any, constraints: x509.BasicConstraints) -> x509.Certificate:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(constraints, critical=True)
            .sign(self.key, hashes.SHA256())
        )

    def client(self, subject: list[list[tuple[Any, str]]]) -> tuple[bytes, bytes]:
        """A certificate and its key, PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        parts = [
            x509.RelativeDistinguishedName([x509.NameAttribute(oid, value) for oid, value in part]) for part in subject
        ]
        made = self._signed(x509.Name(parts), key, x509.BasicConstraints(ca=False, path_length=None))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return made.public_bytes(serialization.Encoding.PEM), private


@pytest.fixture(scope="module")
def clients() -> Authority:
    """Who says who a client is."""
    return Authority()


@pytest.fixture(scope="module")
def trusted() -> trustme.CA:
    """Who says that the server is the one that it should be."""
    return trustme.CA()


@pytest.fixture(scope="module")
def files(trusted: trustme.CA, clients: Authority, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The server's certificate and key, and the authority of its clients."""
    folder = tmp_path_factory.mktemp("tls")
    mine = trusted.issue_cert("localhost", "127.0.0.1")
    paths = {name: folder / f"{name}.pem" for name in ("certificate", "key", "authority")}
    paths["certificate"].write_bytes(b"".join(pem.bytes() for pem in mine.cert_chain_pems))
    paths["key"].write_bytes(mine.private_key_pem.bytes())
    paths["authority"].write_bytes(clients.certificate.public_bytes(serialization.Encoding.PEM))
    return paths


def context(trusted: trustme.CA, shown: tuple[bytes, bytes] | None, folder: Path) -> ssl.SSLContext:
    """What a client trusts, and what it shows."""
    made = ssl.create_default_context()
    trusted.configure_trust(made)
    if shown is not None:
        file = folder / "client.pem"
        file.write_bytes(b"".join(shown))
        made.load_cert_chain(file)
    return made


@asynccontextmanager
async def serving(tls: server.Tls, *steps: Any, access: Access | None = None) -> AsyncIterator[server.Running]:
    """A gateway over TLS that stores what its clients do."""
    client = Client(FakeTransport(*steps), registry=open_registry(), retry="none")
    async with Sessions("sqlite://", client=client) as sessions:
        running = await server.start(Gateway(client, access=access, objects=Objects(sessions)), port=0, tls=tls)
        try:
            yield running
        finally:
            await running.stop(0)


def calling(port: int, verify: ssl.SSLContext, *, http2: bool = False) -> httpx.AsyncClient:
    """A client over TLS."""
    return httpx.AsyncClient(base_url=f"https://localhost:{port}", verify=verify, http2=http2)


@pytest.mark.asyncio
async def test_tls(files: dict[str, Path], trusted: trustme.CA, tmp_path: Path) -> None:
    """A client that trusts the authority is served, streams included; one that speaks in the clear, or an old version, is
    not."""
    async with serving(server.Tls(files["certificate"], files["key"]), Say("Yes."), Say("Yes.")) as running:
        verify = context(trusted, None, tmp_path)
        async with calling(running.port, verify) as http:
            for stream in (False, True):
                body = wires.body("openai_chat", stream=stream)
                answer = await http.post("/v1/chat/completions", json=body)
                assert wires.text(wires.answer("openai_chat", answer.content, stream=stream)) == "Yes."
        async with httpx.AsyncClient() as plain:
            with pytest.raises(httpx.HTTPError):
                await plain.get(f"http://localhost:{running.port}/healthz")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            verify.minimum_version = verify.maximum_version = ssl.TLSVersion.TLSv1_1
        async with calling(running.port, verify) as old:
            with pytest.raises(httpx.HTTPError):
                await old.get("/healthz")


@pytest.mark.asyncio
async def test_only_known_clients(
    files: dict[str, Path], trusted: trustme.CA, clients: Authority, tmp_path: Path
) -> None:
    """A client shows a certificate of the authority, or is not served at all."""
    known, stranger = clients.client(SUBJECTS["CN=team-a"]), Authority().client(SUBJECTS["CN=team-a"])
    async with serving(server.Tls(files["certificate"], files["key"], files["authority"])) as running:
        for shown, taken in ((known, True), (stranger, False), (None, False)):
            async with calling(running.port, context(trusted, shown, tmp_path)) as http:
                if taken:
                    assert (await http.get("/healthz")).status_code == 200
                else:
                    with pytest.raises(httpx.HTTPError):
                        await http.get("/healthz")


@pytest.mark.asyncio
async def test_certificates_are_read_again(
    files: dict[str, Path], trusted: trustme.CA, clients: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's and the authority of its clients, for the next connection; what cannot be used changes nothing but the
    log (spec/9-service.md#tls-renewal)."""
    paths = {name: tmp_path / file.name for name, file in files.items()}
    for name, file in files.items():
        paths[name].write_bytes(file.read_bytes())
    later, strangers = trustme.CA(), Authority()
    before, known = clients.client(SUBJECTS["CN=team-a"]), strangers.client(SUBJECTS["CN=team-a"])

    async def taken(trusted: trustme.CA, shown: tuple[bytes, bytes]) -> bool:
        try:
            async with calling(running.port, context(trusted, shown, tmp_path)) as http:
                return (await http.get("/healthz")).status_code == 200
        except httpx.HTTPError:
            return False

    async def protocol(trusted: trustme.CA, shown: tuple[bytes, bytes]) -> str | None:
        verify = context(trusted, shown, tmp_path)
        verify.set_alpn_protocols(["h2", "http/1.1"])
        _, writer = await asyncio.open_connection("localhost", running.port, ssl=verify)
        writer.close()
        return str(writer.get_extra_info("ssl_object").selected_alpn_protocol())

    async with serving(server.Tls(paths["certificate"], paths["key"], paths["authority"])) as running:
        verify = context(trusted, before, tmp_path)
        async with calling(running.port, verify) as staying:
            assert (await staying.get("/healthz")).status_code == 200
            chosen = await protocol(trusted, before)
            mine = later.issue_cert("localhost")
            paths["certificate"].write_bytes(mine.cert_chain_pems[0].bytes())
            assert await taken(trusted, before)  # the key is still that of the certificate before
            paths["key"].write_bytes(mine.private_key_pem.bytes())
            assert (await taken(later, before), await taken(trusted, before)) == (True, False)
            assert await protocol(later, before) == chosen
            paths["authority"].write_bytes(strangers.certificate.public_bytes(serialization.Encoding.PEM))
            assert (await taken(later, known), await taken(later, before)) == (True, False)
            assert (await staying.get("/healthz")).status_code == 200
        warned = [record.getMessage() for record in caplog.records if record.name == "interlingua.renewal"]
        assert len(warned) == 1
        assert str(paths["key"]) in warned[0]
        assert "PRIVATE" not in warned[0]


@pytest.mark.asyncio
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_client_shows_its_certificate_on_each_connection(
    files: dict[str, Path], trusted: trustme.CA, clients: Authority, tmp_path: Path, version: ssl.TLSVersion
) -> None:
    """No session is resumed: the authority may be another one by then."""
    verify = context(trusted, clients.client(SUBJECTS["CN=team-a"]), tmp_path)
    verify.minimum_version = verify.maximum_version = version

    def resumed(session: ssl.SSLSession | None) -> tuple[bool | None, ssl.SSLSession | None]:
        with socket.create_connection(("localhost", running.port)) as plain:
            connection = verify.wrap_socket(plain, server_hostname="localhost", session=session)
            with connection:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b" 200 " in connection.recv(1000)  # tickets of TLS 1.3 come after the handshake
                return connection.session_reused, connection.session

    async with serving(server.Tls(files["certificate"], files["key"], files["authority"])) as running:
        _, session = await asyncio.to_thread(resumed, None)
        assert (await asyncio.to_thread(resumed, session))[0] is False


@pytest.mark.asyncio
@pytest.mark.parametrize("http2", [False, True])
async def test_a_certificate_says_whose_calls_and_objects_a_client_sees(
    files: dict[str, Path], trusted: trustme.CA, clients: Authority, tmp_path: Path, http2: bool
) -> None:
    """Without keys; one that says nothing of whose it is, is refused (spec/11-gateway.md#tls)."""
    tls = server.Tls(files["certificate"], files["key"], files["authority"])
    one, two = (clients.client([[(CN, name)]]) for name in ("one", "two"))
    async with serving(tls, Say("Yes.")) as running:
        async with calling(running.port, context(trusted, one, tmp_path), http2=http2) as http:
            answer = await http.post("/v1/responses", json=wires.body("openai_responses"))
            id, call = answer.json()["id"], answer.headers["interlingua-request-id"]
            assert (await http.get(f"/v1/responses/{id}")).status_code == 200
            record = (await http.get(f"/v1/interlingua/calls/{call}")).json()
            assert record["key"] == "x509:CN=one"
        async with calling(running.port, context(trusted, two, tmp_path), http2=http2) as http:
            assert (await http.get(f"/v1/responses/{id}")).status_code == 404
            assert (await http.get(f"/v1/interlingua/calls/{call}")).status_code == 404
            assert (await http.get("/v1/interlingua/calls")).json() == {"calls": []}
        async with calling(running.port, context(trusted, clients.client([]), tmp_path), http2=http2) as http:
            assert (await http.get("/v1/models")).status_code == 403


@pytest.mark.asyncio
async def test_with_keys_the_key_says_whose_a_call_is(
    files: dict[str, Path], trusted: trustme.CA, clients: Authority, tmp_path: Path
) -> None:
    """The certificate lets a client in, and no more."""
    secret = new_key()
    access = Access([Key("team", digest(secret), "team")], clock=lambda: 0.0, now=lambda: datetime.now(UTC))
    tls = server.Tls(files["certificate"], files["key"], files["authority"])
    shown = clients.client(SUBJECTS["CN=team-a"])
    async with serving(tls, access=access) as running, calling(running.port, context(trusted, shown, tmp_path)) as http:
        assert (await http.get("/v1/models")).status_code == 401
        assert (await http.get("/v1/models", headers={"x-api-key": secret})).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("subject", SUBJECTS)
async def test_a_client_has_one_tenant_over_both(
    files: dict[str, Path],
    trusted: trustme.CA,
    clients: Authority,
    tmp_path: Path,
    subject: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """gRPC and HTTP make the same text of a subject, however odd it is."""
    shown = clients.client(SUBJECTS[subject])
    seen: list[str] = []

    def watched(given: Any, access: Access) -> Any:
        found = caller(given, access)
        seen.append(found.tenant)
        return found

    monkeypatch.setattr("interlingua.service.sessions.caller", watched)
    client = Client(FakeTransport(), registry=open_registry())
    async with CallersSessions("sqlite://", client=client) as sessions:
        credentials = service.tls(files["certificate"], files["key"], files["authority"])
        running = await service.start("localhost:0", client=client, credentials=credentials, sessions=sessions)
        mine = grpc.ssl_channel_credentials(trusted.cert_pem.bytes(), shown[1], shown[0])
        async with grpc.aio.secure_channel(f"localhost:{running.port}", mine) as channel:
            stub: Any = SessionServiceStub(channel)
            await stub.CreateSession(sessions_pb2.CreateSessionRequest(), timeout=10)
        await running.stop(0)
    tls = server.Tls(files["certificate"], files["key"], files["authority"])
    async with (
        serving(tls, Say("Yes.")) as http_running,
        calling(http_running.port, context(trusted, shown, tmp_path)) as http,
    ):
        await http.post("/v1/messages", json=wires.body("anthropic_messages"))
        [record] = (await http.get("/v1/interlingua/calls")).json()["calls"]
    assert seen == [record["key"]] == [f"x509:{subject}"]


def test_wrong_files_are_said_at_once(files: dict[str, Path], tmp_path: Path) -> None:
    """Before anybody connects; no word of a key."""
    empty = tmp_path / "empty.pem"
    empty.write_text("no pem")
    certificate, key = files["certificate"], files["key"]
    for given in (
        (tmp_path / "none.pem", key),
        (empty, key),
        (certificate, empty),
        (certificate, key, empty),
        (certificate, key, tmp_path / "none.pem"),
    ):
        with pytest.raises(InvalidRequest) as wrong:
            server.Tls(*given).check()
        assert "PRIVATE" not in str(wrong.value)


@pytest.mark.asyncio
async def test_known_clients_may_call_from_elsewhere(files: dict[str, Path], caplog: pytest.LogCaptureFixture) -> None:
    """Certificates of clients let a gateway without keys listen beyond this machine; TLS alone does not."""
    caplog.set_level(logging.WARNING)
    client = Client(FakeTransport(), registry=open_registry())
    with pytest.raises(InvalidRequest, match="loopback"):
        await server.start(Gateway(client), "0.0.0.0", 0, tls=server.Tls(files["certificate"], files["key"]))
    known = server.Tls(files["certificate"], files["key"], files["authority"])
    running = await server.start(Gateway(client), "0.0.0.0", 0, tls=known)
    await running.stop(0)
    assert caplog.records == []
