"""The same input gives the same output, to the order of a report, in whatever process: adapters are pure."""

import os
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"

WRITE_ALL = """
import pathlib, sys
from interlingua import adapters, registry
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError
from interlingua.translate import project

SAID = {"description": "d", "input_schema": {"type": "object"}, "strict": True, "format": {"type": "text"}}
NATIVE = {
    "anthropic_messages": {"type": "bash_20250124", "name": "t"},
    "bedrock_converse": {"systemTool": {"name": "t"}},
    "gemini_generate": {"t": {}},
}

def written(request, name):
    try:
        projection = project(request, registry.endpoint(adapter=name))
        return json.dumps([projection.wire["path"], projection.loss]) + projection.body
    except InterlinguaError as problem:
        return problem.message.encode()

def wordy(request, name):
    # members in places where no wire has one
    function = {"name": "f", **SAID, "adapter": "x", "definition": {}}
    native = {"name": "t", **SAID, "kind": "provider", "adapter": name, "definition": NATIVE.get(name, {"type": "t"})}
    form = {"type": "text", "name": "n", "description": "d", "schema": {}, "strict": True}
    return {**request, "tools": [function, native], "response_format": form}

for path in sorted(pathlib.Path(sys.argv[1]).glob("*/*/request.canonical.json")):
    request = json.loads(path.read_bytes())
    for name in adapters.names():
        for one in (request, wordy(request, name)):
            print(name, path.parent.name, written(one, name))
"""


def written(seed: int) -> list[str]:
    """Every request of the suite at every wire, by a process that orders its sets by this seed."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", WRITE_ALL, str(CASES)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_what_is_written_does_not_hang_on_the_process() -> None:
    one, other = written(1), written(2)
    assert len(one) > 2_000
    differing = [line[:80] for line, again in zip(one, other, strict=True) if line != again]
    assert differing == []
