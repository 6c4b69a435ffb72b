"""The transports of the server: TLS, TLS for known clients only, a Unix socket; and the warnings for others."""

import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
import trustme

from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Client, FakeTransport
from interlingua.service import server
from interlingua.v1 import service_pb2 as service
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """A certificate authority that both sides trust."""
    return trustme.CA()


@pytest.fixture
def files(authority: trustme.CA, tmp_path: Path) -> dict[str, Path]:
    """The server's certificate and key, and the authority, as files."""
    mine = authority.issue_cert("localhost", "127.0.0.1")
    paths = {name: tmp_path / f"{name}.pem" for name in ("certificate", "key", "authority")}
    paths["certificate"].write_bytes(b"".join(pem.bytes() for pem in mine.cert_chain_pems))
    paths["key"].write_bytes(mine.private_key_pem.bytes())
    paths["authority"].write_bytes(authority.cert_pem.bytes())
    return paths


@asynccontextmanager
async def serving(address: str, credentials: Any = None) -> AsyncIterator[int]:
    """Run a server; yield its port."""
    running = await server.start(address, client=Client(FakeTransport()), credentials=credentials)
    try:
        yield running.port
    finally:
        await running.stop(0)


async def models(channel: grpc.aio.Channel) -> int:
    """Return how many models a server lists."""
    async with channel:
        answer = await InterlinguaServiceStub(channel).ListModels(service.ListModelsRequest(), timeout=10)  # type: ignore[misc]
        return len(answer.models)


@pytest.mark.asyncio
async def test_tls(files: dict[str, Path], authority: trustme.CA) -> None:
    """A client that trusts the authority is served; one without TLS is not."""
    trusted = grpc.ssl_channel_credentials(authority.cert_pem.bytes())
    async with serving("localhost:0", server.tls(files["certificate"], files["key"])) as port:
        assert await models(grpc.aio.secure_channel(f"localhost:{port}", trusted))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await models(grpc.aio.insecure_channel(f"localhost:{port}"))
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.asyncio
async def test_only_known_clients(files: dict[str, Path], authority: trustme.CA) -> None:
    """A client without a certificate of the authority is not served."""
    known, stranger = authority.issue_cert("client"), trustme.CA().issue_cert("client")
    credentials = server.tls(files["certificate"], files["key"], files["authority"])
    async with serving("localhost:0", credentials) as port:
        for shown, taken in ((known, True), (stranger, False), (None, False)):
            mine = (shown.private_key_pem.bytes(), shown.cert_chain_pems[0].bytes()) if shown else (None, None)
            channel = grpc.aio.secure_channel(
                f"localhost:{port}", grpc.ssl_channel_credentials(authority.cert_pem.bytes(), *mine)
            )
            if taken:
                assert await models(channel)
            else:
                with pytest.raises(grpc.aio.AioRpcError):
                    await models(channel)


@pytest.mark.asyncio
async def test_certificates_are_read_again(files: dict[str, Path], authority: trustme.CA) -> None:
    """The server's and the authority of its clients, for the next connection; what cannot be used changes nothing
    (spec/9-service.md#tls-renewal)."""
    later, clients = trustme.CA(), trustme.CA()
    known, before = clients.issue_cert("client"), authority.issue_cert("client")

    async def taken(trusted: trustme.CA, shown: trustme.LeafCert) -> bool:
        proof = (shown.private_key_pem.bytes(), shown.cert_chain_pems[0].bytes())
        credentials = grpc.ssl_channel_credentials(trusted.cert_pem.bytes(), *proof)
        options = (("grpc.use_local_subchannel_pool", 1),)
        try:
            return bool(await models(grpc.aio.secure_channel(f"localhost:{port}", credentials, options)))
        except grpc.aio.AioRpcError:
            return False

    async with serving("localhost:0", server.tls(files["certificate"], files["key"], files["authority"])) as port:
        assert await taken(authority, before)
        mine = later.issue_cert("localhost")
        files["certificate"].write_bytes(mine.cert_chain_pems[0].bytes())
        assert await taken(authority, before)  # the key is still that of the certificate before
        files["key"].write_bytes(mine.private_key_pem.bytes())
        assert (await taken(later, before), await taken(authority, before)) == (True, False)
        files["authority"].write_bytes(clients.cert_pem.bytes())
        assert (await taken(later, known), await taken(later, before)) == (True, False)
        files["key"].unlink()
        assert (await taken(later, known), await taken(later, before)) == (True, False)


@pytest.mark.asyncio
async def test_a_unix_socket(tmp_path: Path) -> None:
    """The server has no port."""
    async with serving(f"unix:{tmp_path / 'socket'}"):
        assert await models(grpc.aio.insecure_channel(f"unix:{tmp_path / 'socket'}"))


def test_wrong_files_are_said_at_once(files: dict[str, Path], tmp_path: Path, authority: trustme.CA) -> None:
    """Missing, not PEM, of another owner, with a password: one line, before any client connects, without the key."""
    other = authority.issue_cert("localhost")
    empty, foreign, locked = tmp_path / "empty.pem", tmp_path / "foreign.pem", tmp_path / "locked.pem"
    empty.write_text("no pem")
    foreign.write_bytes(other.private_key_pem.bytes())
    locked.write_bytes(_locked(files["key"].read_bytes()))
    certificate, key = files["certificate"], files["key"]
    for given in (
        (tmp_path / "none.pem", key, None),
        (certificate, empty, None),
        (empty, key, None),
        (certificate, foreign, None),
        (certificate, locked, None),
        (certificate, key, empty),
        (certificate, key, tmp_path / "none.pem"),
    ):
        with pytest.raises(InvalidRequest) as wrong:
            server.tls(*given)
        assert "PRIVATE" not in str(wrong.value)
    assert ssl.create_default_context().load_verify_locations(files["authority"]) is None


def _locked(key: bytes) -> bytes:
    from cryptography.hazmat.primitives import serialization

    return serialization.load_pem_private_key(key, None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("127.0.0.1:1", True),
        ("127.8.0.1:1", True),
        ("[::1]:1", True),
        ("localhost:1", True),
        ("unix:/run/x", True),
        ("0.0.0.0:1", False),
        ("[::]:1", False),
        ("10.0.0.1:1", False),
        ("interlingua.example:1", False),
    ],
)
def test_who_can_reach_an_address(address: str, local: bool) -> None:
    """Loopback in all notations, and Unix sockets, are local."""
    assert server.is_local(address) is local


@pytest.mark.asyncio
async def test_in_the_clear_is_said(caplog: pytest.LogCaptureFixture, files: dict[str, Path]) -> None:
    """There is a warning on an address that others can reach; none with TLS or on loopback."""
    async with serving("0.0.0.0:0"):
        assert "no TLS" in caplog.text
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    caplog.clear()
    async with serving("127.0.0.1:0"), serving("0.0.0.0:0", server.tls(files["certificate"], files["key"])):
        assert "no TLS" not in caplog.text
