"""The port on which a gateway listens."""

import socket


def bound_socket(host: str, port: int, *, shares_port: bool = False) -> socket.socket:
    """Bind a socket that does not listen yet. Raises `OSError` when the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = socket.getaddrinfo(host.strip("[]"), port, family=family, type=socket.SOCK_STREAM)[0][4]
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shares_port:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind(address)
    except OSError as problem:
        bound.close()
        raise OSError(f"cannot listen on {host}:{port}: {problem.strerror}") from None
    bound.setblocking(False)
    return bound
