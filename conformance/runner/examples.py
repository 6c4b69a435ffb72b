"""Examples of the specification are cases: a fence that names one holds what the case holds.

    ```json case=anthropic_messages/thinking-foreign file=request.loss.json at=/0
    ```json case=schema/answers#error at=/instance

The first is a file of a folder, the second a row; `at` is a JSON Pointer into it. The layout is free, the value is not.
"""

from __future__ import annotations

import re
from pathlib import Path

from .cases import Case, CaseError
from .compare import MISSING, difference, get, loads
from .trace import SPEC

_FENCE = re.compile(r"(?ms)^```json +(case=[^\n]*)\n(.*?)^```$")


def problems(cases: list[Case], folder: Path = SPEC) -> list[str]:
    """The examples that say another thing than their case, or name none."""
    known = {case.path if case.row is None else f"{case.path}#{case.row['id']}": case for case in cases}
    found: list[str] = []
    for path in sorted(folder.rglob("*.md")):
        for fence in _FENCE.finditer(path.read_text("utf-8")):
            problem = _problem(dict(word.partition("=")[::2] for word in fence.group(1).split()), fence.group(2), known)
            if problem is not None:
                found.append(f"{path.relative_to(folder)}: the example {fence.group(1)}: {problem}")
    return found


def _problem(told: dict[str, str], text: str, known: dict[str, Case]) -> str | None:
    case = known.get(told["case"])
    if case is None:
        return "there is no such case"
    try:
        value = case.row if case.row is not None else case.value(told.get("file", ""))
        value = get(value, told.get("at", ""))
        if value is MISSING:
            return "nothing stands there"
        different = difference(value, loads(text))
    except (CaseError, ValueError) as error:
        return str(error)
    return None if different is None else f"the case and the example differ: {different}"


def count(folder: Path = SPEC) -> int:
    """How many examples are cases."""
    return sum(len(_FENCE.findall(path.read_text("utf-8"))) for path in folder.rglob("*.md"))
