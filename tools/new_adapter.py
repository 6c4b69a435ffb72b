"""
Lays out a new wire: `make new-adapter NAME=cohere_chat`. `--check` tells, for every wire, what is still to be filled in.

The files that a wire has to itself are made, each with the mark `FILL IN` where something is to be written. The places in
files that all wires share are listed: `--check` finds a place filled in when the file names the wire. So `make check`
fails, with a list, until the last mark is gone.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "FILL IN"
PACKAGE = "python/interlingua/adapters"

# the modules of a package: the public functions of each, and what belongs there
MODULES: dict[str, tuple[tuple[str, ...], str]] = {
    "tables": (
        ("NAME",),
        "the words of the wire beside the canonical ones; code of `_engine.kit` reads both directions",
    ),
    "requests": (
        ("from_wire_request", "to_wire", "wrong_type"),
        "members of a request, both ways; `_requests.members`, `_structured` and `_history.envelope` have what wires share",
    ),
    "turns": (
        (),
        (
            "messages, both ways. `_history.turns.Turns` writes turns of a user and a model, `_history.messages` with "
            "`_history.order` one wire message for each canonical one; both place results behind their calls"
        ),
    ),
    "blocks": (
        (),
        "blocks and parts of messages, both ways, by rows; `_content.media` has the media. Remove it if there are none",
    ),
    "tools": ((), "tools and the choice of them, both ways; `_content.schema` fits JSON Schema to what the wire takes"),
    "responses": (
        ("from_wire_response", "to_wire_response"),
        "the whole answer, both ways, with usage and finish reason",
    ),
    "stream_reader": (("stream_decoder",), "frames in, events out, over `_answers.stream_reader`"),
    "stream_writer": (
        ("stream_encoder",),
        (
            "events in, frames out, over `_answers.stream_writer`; `READ_BACK` or `stream_loss` where a stream says more or "
            "less than the whole answer (`_contract`)"
        ),
    ),
    "errors": (("error", "to_wire_error"), "errors, both ways; `_errors.failures` has what wires share"),
}

# what else belongs to one wire alone; {name} is its name
FILES: dict[str, tuple[str, str]] = {
    "spec/adapters/{name}.md": (
        (
            "# Adapter `{name}` {{#{anchor}}}\n\nWire: FILL IN method, path and documented state.\n\n"
            "## Capabilities {{#{anchor}-capabilities}}\n\nFILL IN\n\n## Mapping {{#{anchor}-mapping}}\n\nFILL IN\n\n"
            "## Losses {{#{anchor}-losses}}\n\nFILL IN\n"
        ),
        "the page: mapping, known losses, switches",
    ),
    "conformance/cases/{name}/adapter.json": (
        (
            '{{\n  "adapter": "{name}",\n  "provider": "FILL IN",\n  "framing": "FILL IN sse, jsonl or eventstream",\n'
            '  "method": "POST",\n  "path": "FILL IN",\n  "documentation": "FILL IN",\n'
            '  "documented_version": "FILL IN",\n  "paced": "FILL IN the plainest streamed exchange",\n'
            '  "capabilities": []\n}}\n'
        ),
        "what the suite knows of the wire; the cases are folders beside it",
    ),
    "conformance/runner/oracles/{name}.py": (
        '"""FILL IN: the written rules of the provider for a request."""\n',
        "every written request must be valid by it",
    ),
    "oracles/judges/{name}.py": (
        '"""FILL IN: how the official SDK judges what is written."""\n',
        "the SDK judges requests, answers, streams and errors; remove it where there is none",
    ),
    "python/interlingua/gateway/faces/{name}.py": (
        '"""FILL IN: the paths that clients of this wire call."""\n\nADAPTER = "{name}"\n',
        "the paths of the gateway",
    ),
}

# files that all wires share, in which each has its line
SHARED: dict[str, str] = {
    "spec/registry/providers.json": "a row for each provider that speaks it; then `make generate`",
    f"{PACKAGE}/_recognition.py": "the members by which its bodies are recognised",
    f"{PACKAGE}/_content/media.py": "which media it takes, and at which addresses",
    "python/interlingua/client/playing.py": "its path, for replay and fake providers",
    "python/interlingua/gateway/faces/__init__.py": "its face in the list of faces",
    "python/interlingua/gateway/inspector/page/dom.js": "its title on the inspector page",
    "tests/typing/adapters.py": "its package among those that are held to the contract of adapters (`_contract.py`)",
    "conformance/runner/clients.py": "the plainest client, to which answers of others must be carried",
}

# where a wire may have a line and need not
SEE_ALSO: dict[str, str] = {
    "spec/registry/models.json and prices.json": "models, with what each takes, and their prices by day",
    "spec/registry/vocabularies.json": "words of its own",
    f"{PACKAGE}/_engine/kit.py": "`STORED`: options by which the provider keeps a part of the conversation",
    "conformance/mutants/": "an implementation that is broken on purpose, for each rule that the wire adds",
    "tests/gateway/wires.py": "a model for the tests of the gateway",
    "tests/laws/test_errors.py, test_edited_members.py, test_carried_state.py": "wires for which a law does not hold as it is",
    "tests/test_stream_memory.py": "a wire whose stream repeats its text at the end",
    "tools/corpus.py": "the folder of recorded traffic",
    "spec/10-media.md, spec/11-gateway.md, README.md, CHANGELOG.md": "where the wires are named one by one",
}


def files_of(name: str) -> dict[str, str]:
    """The files that a wire has to itself, with their first text."""
    anchor = name.replace("_", "-")
    made = {path.format(name=name): text.format(name=name, anchor=anchor) for path, (text, _) in FILES.items()}
    for module, (functions, what) in MODULES.items():
        lines = [f'"""{MARK}: {what}."""\n']
        lines += [f'NAME = "{name}"\n' if function == "NAME" else _function(function) for function in functions]
        made[f"{PACKAGE}/{name}/{module}.py"] = "\n".join(lines)
    made[f"{PACKAGE}/{name}/__init__.py"] = _package(name)
    return made


def _function(name: str) -> str:
    return f'\ndef {name}(*_: object) -> object:\n    raise NotImplementedError("{MARK}")\n'


def _package(name: str) -> str:
    named = [function for functions, _ in MODULES.values() for function in functions]
    public = sorted(["DATED", "FRAMING", "estimate", *named])
    imports = "from interlingua.adapters._estimates.estimate import estimate\n" + "".join(
        f"from interlingua.adapters.{name}.{module} import {', '.join(sorted(functions))}\n"
        for module, (functions, _) in sorted(MODULES.items())
        if functions
    )
    docstring = f'"""\n{MARK}: whose wire it is.\n\nWire:  {MARK}\nSpec:  spec/adapters/{name}.md\n"""\n'
    exported = "".join(f'    "{word}",\n' for word in public)
    return f'{docstring}\n{imports}\nFRAMING = "{MARK}"\nDATED = False  # {MARK}: do its answers bear a time?\n\n__all__ = [\n{exported}]\n'


def lay_out(name: str, root: Path) -> list[str]:
    """Makes the files of a wire and gives their paths. Raises `FileExistsError` before anything is made."""
    made = files_of(name)
    taken = [path for path in made if (root / path).exists()]
    if taken:
        raise FileExistsError(f"there is {taken[0]} already")
    for path, text in made.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return list(made)


def missing(name: str, root: Path) -> list[str]:
    """What is still to be filled in for a wire: one line for each place."""
    found: list[str] = []
    own = {path.format(name=name): what for path, (_, what) in FILES.items()}
    for path, what in own.items():
        # there is not an SDK of every provider
        if not (root / path).exists() and "judges" not in path:
            found.append(f"{path}: {what}")
    for path in [*sorted((root / PACKAGE / name).rglob("*.py")), *(root / path for path in own)]:
        count = path.read_text("utf-8").count(MARK) if path.exists() else 0
        found += [f"{path.relative_to(root)}: {count} × {MARK}"] if count else []
    cases = (root / "conformance" / "cases" / name).glob("*/case.json")
    found += [] if any(cases) else [f"conformance/cases/{name}/: no case yet"]
    for path, what in SHARED.items():
        if not re.search(rf"\b{name}\b", (root / path).read_text("utf-8")):
            found.append(f"{path}: {what}")
    return found


def wires(root: Path) -> list[str]:
    """The wires of the package."""
    return sorted(path.parent.name for path in (root / PACKAGE).glob("[a-z]*/__init__.py"))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="the wire, as provider and protocol: cohere_chat")
    parser.add_argument("--check", action="store_true", help="only tell what is still to be filled in, of every wire")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the repository")
    options = parser.parse_args(arguments)
    if options.check:
        lines = [f"{name}: {line}" for name in wires(options.root) for line in missing(name, options.root)]
        print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
        return 1 if lines else 0
    if options.name is None or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", options.name):
        parser.error("name the wire in lower case, with underscores: make new-adapter NAME=cohere_chat")
    try:
        made = lay_out(options.name, options.root)
    except FileExistsError as problem:
        parser.error(str(problem))
    print("made:", *(f"  {path}" for path in made), sep="\n")
    print(
        "to be told of it (make check lists what is left):",
        *(f"  {path}: {what}" for path, what in SHARED.items()),
        sep="\n",
    )
    print("look at these, too:", *(f"  {path}: {what}" for path, what in SEE_ALSO.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
