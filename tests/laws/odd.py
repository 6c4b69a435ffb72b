"""Values that fit almost nowhere, for every place of an input."""

from typing import Any

ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "\x00",
    "tu_",
    "[]",
    [],
    {},
    [None],
    [[]],
    {"type": "text"},
    {"type": 7},
]
