"""
A server for the tests of the clients: TLS for those that show a certificate, a token in every call, and a provider that
always asks to wait. Prints its port, and ends with its input. The files for the clients are written into FOLDER.

    python clients/guarded.py FOLDER TOKEN
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import trustme
from cryptography.hazmat.primitives import serialization

from interlingua.client import Client, FakeTransport
from interlingua.client.fake import Refuse
from interlingua.service.methods import handlers
from interlingua.service.server import SERVICE, tls
from interlingua.service.servicer import Servicer
from interlingua.v1 import service_pb2

LIMITED = {"type": "error", "error": {"type": "rate_limit_error", "message": "not so fast with the pumps"}}


class Guard(grpc.aio.ServerInterceptor):
    """Refuses calls without the token, as a proxy would: with a status and no details."""

    def __init__(self, token: str) -> None:
        self._expected = ("authorization", f"Bearer {token}")

    async def intercept_service(self, continuation: Any, details: Any) -> Any:
        if self._expected in [tuple(pair) for pair in details.invocation_metadata]:
            return await continuation(details)
        return grpc.unary_unary_rpc_method_handler(_refuse)


async def _refuse(_: Any, context: Any) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call shows no token that is known")


def credentials(folder: Path) -> grpc.ServerCredentials:
    """The server's side of TLS. In the folder are then authority.pem, and client.pem with client.key."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    for name, certificate in (
        ("server", authority.issue_cert("localhost", "127.0.0.1")),
        ("client", authority.issue_cert("client")),
    ):
        (folder / f"{name}.pem").write_bytes(b"".join(pem.bytes() for pem in certificate.cert_chain_pems))
        # PKCS #8, which every library of TLS reads
        key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), password=None)
        (folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
    return tls(folder / "server.pem", folder / "server.key", folder / "authority.pem")


async def main(folder: Path, token: str) -> None:
    """Serves until standard input ends."""
    limited = [Refuse(429, LIMITED, {"retry-after": "7"})] * 1000
    client = Client(FakeTransport(*limited), retry="none")
    server = grpc.aio.server(interceptors=[Guard(token)])
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(SERVICE, handlers(Servicer(client), service_pb2, "InterlinguaService")),)
    )
    port = server.add_secure_port("127.0.0.1:0", credentials(folder))
    await server.start()
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(0)
    await client.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
