"""
The subject of a client's certificate as text (RFC 2253), in the same format as gRPC gives it, so that a client has one
tenant over both (spec/9-service.md#session-certificates).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_SHORT = {
    "commonName": "CN",
    "countryName": "C",
    "stateOrProvinceName": "ST",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "domainComponent": "DC",
    "userId": "UID",
    "surname": "SN",
    "givenName": "GN",
    "streetAddress": "street",
}
"""OpenSSL's short names. A name that is missing here is written in its long form."""

_SPECIAL = re.compile(r'[,+"\\<>;]|^[# ]| $')


def subject_of(certificate: Mapping[str, Any]) -> str:
    """The subject of a certificate in the structure of Python's `ssl`; empty for a certificate without one."""
    parts: Sequence[Sequence[tuple[str, str]]] = certificate.get("subject", ())
    return ",".join(
        "+".join(f"{_SHORT.get(name, name)}={_escaped(value)}" for name, value in part) for part in reversed(parts)
    )


def _escaped(value: str) -> str:
    marked = _SPECIAL.sub(lambda special: "\\" + special[0], value)
    return "".join(_escaped_character(character) for character in marked)


def _escaped_character(character: str) -> str:
    if " " <= character <= "~":
        return character
    return "".join(f"\\{byte:02X}" for byte in character.encode())
