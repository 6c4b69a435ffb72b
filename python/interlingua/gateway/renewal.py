"""The certificate of a running HTTP server, which is read again when its files change
(spec/9-service.md#tls-renewal)."""

import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from interlingua.renewal import Renewed

Factory = Callable[[Any, Callable[[], ssl.SSLContext]], ssl.SSLContext]


def renewing(files: Sequence[Path], check: Callable[[], None], protocols: Sequence[str]) -> Factory:
    """The factory of a context for uvicorn. Each new connection gets a context made from the files as they are at that
    time.

    `check` raises `InvalidRequest` for files that cannot be used. `protocols` are offered (ALPN), in order of
    preference.
    """

    def factory(_: Any, default: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        def make() -> ssl.SSLContext:
            check()
            context = default()
            context.set_alpn_protocols(protocols)
            if context.verify_mode is ssl.CERT_REQUIRED:
                # a resumed session does not show its certificate again, and the authority may have changed since
                context.num_tickets = 0
                context.options |= ssl.OP_NO_TICKET
            return context

        renewed = Renewed(files, make)
        first = renewed.latest()

        def choose(connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext) -> None:
            connection.context = renewed.latest()

        # called at the beginning of each connection, also when the client names no host
        first.sni_callback = choose
        return first

    return factory
