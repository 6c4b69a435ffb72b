"""
Lays out a new wire: `make new-adapter NAME=cohere_chat`. `--check` lists, for every wire, what is still to be filled
in.

It makes the files that belong to the wire alone, with the mark `FILL IN` at each place where something must be written.
It lists the files that all wires share: for `--check`, such a file is filled in when it contains the name of the wire.
So `make check` fails, with a list, until the last mark is gone.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "FILL IN"
PACKAGE = "python/interlingua/adapters"

# the modules of a package: the public functions of each, and its content
MODULES: dict[str, tuple[tuple[str, ...], str]] = {
    "tables": (
        ("NAME",),
        "the words of the wire with their canonical counterparts; code of `_engine.kit` reads them in both directions",
    ),
    "requests": (
        ("from_wire_request", "to_wire", "wrong_type"),
        "members of a request, both ways; `_requests.members`, `_structured` and `_history.envelope` have what wires share",
    ),
    "turns": (
        (),
        (
            "messages, both ways. `_history.turns.Turns` writes turns of a user and a model, `_history.messages` with "
            "`_history.order` one wire message for each canonical one; both place results after their calls"
        ),
    ),
    "blocks": (
        (),
        "blocks and parts of messages, both ways, by rows; `_content.media` has the media. Remove the module if there are none",
    ),
    "tools": ((), "tools and tool choice, both ways; `_content.schema` fits JSON Schema to what the wire accepts"),
    "responses": (
        ("from_wire_response", "to_wire_response"),
        "the whole response, both ways, with usage and finish reason, over `_answers.single` or `_answers.choices`",
    ),
    "stream_reader": (("stream_decoder",), "frames in, events out, over `_answers.stream_reader`"),
    "stream_writer": (
        ("stream_encoder",),
        (
            "events in, frames out, over `_answers.stream_writer`; `READ_BACK` or `stream_loss` if a stream expresses more or "
            "less than the whole response (`_contract`)"
        ),
    ),
    "errors": (("error", "to_wire_error"), "errors, both ways; `_errors.failures` has what wires share"),
}

# the other files that belong to one wire alone; {name} is its name
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
        "the facts about the wire for the suite; the cases are folders next to it",
    ),
    "conformance/runner/oracles/{name}.py": (
        '"""FILL IN: the written rules of the provider for a request."""\n',
        "every written request must be valid by these rules",
    ),
    "oracles/judges/{name}.py": (
        '"""FILL IN: how the official SDK judges what is written."""\n',
        "the SDK judges requests, responses, streams and errors; remove the file if there is no SDK",
    ),
    "python/interlingua/gateway/faces/{name}.py": (
        '"""FILL IN: the paths that clients of this wire call."""\n\nADAPTER = "{name}"\n',
        "the paths of the gateway",
    ),
}

# the files that all wires share, in which each wire has a line
SHARED: dict[str, str] = {
    "spec/registry/providers.json": "a row for each provider that has the wire; then `make generate`",
    f"{PACKAGE}/_recognition.py": "the members by which its bodies are recognised",
    f"{PACKAGE}/_content/media.py": "the media that it accepts, and the addresses of media",
    "python/interlingua/client/playing.py": "its path, for replay and fake providers",
    "python/interlingua/gateway/faces/__init__.py": "its face in the list of faces",
    "python/interlingua/gateway/inspector/page/dom.js": "its title on the inspector page",
    "tests/typing/adapters.py": "its package, to be checked against the contract of adapters (`_contract.py`)",
    "conformance/runner/clients.py": "the plainest client, for which responses of other wires must be written",
}

# the files in which a wire may have a line
SEE_ALSO: dict[str, str] = {
    "spec/registry/models.json and prices.json": "models, with their capabilities, and their prices by day",
    "spec/registry/vocabularies.json": "words of its own",
    f"{PACKAGE}/_engine/kit.py": "`STORED`: options by which the provider keeps a part of the conversation",
    "conformance/mutants/": "an implementation that is broken on purpose, for each rule that the wire adds",
    "tests/gateway/wires.py": "a model for the tests of the gateway",
    "tests/laws/test_errors.py, test_edited_members.py, test_carried_state.py": "wires for which a law does not hold without exceptions",
    "tests/test_stream_memory.py": "a wire whose stream repeats its text at the end",
    "tools/corpus.py": "the folder of recorded traffic",
    "spec/10-media.md, spec/11-gateway.md, README.md, CHANGELOG.md": "the pages that name each wire",
}


def files_of(name: str) -> dict[str, str]:
    """Return the files that belong to a wire alone, with their first text."""
    anchor = name.replace("_", "-")
    files = {path.format(name=name): text.format(name=name, anchor=anchor) for path, (text, _) in FILES.items()}
    for module, (functions, what) in MODULES.items():
        lines = [f'"""{MARK}: {what}."""\n']
        lines += [f'NAME = "{name}"\n' if function == "NAME" else _function(function) for function in functions]
        files[f"{PACKAGE}/{name}/{module}.py"] = "\n".join(lines)
    files[f"{PACKAGE}/{name}/__init__.py"] = _package(name)
    return files


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
    docstring = (
        f'"""\n{MARK}: the provider and the name of the wire.\n\nWire:  {MARK}\nSpec:  spec/adapters/{name}.md\n"""\n'
    )
    exported = "".join(f'    "{word}",\n' for word in public)
    return f'{docstring}\n{imports}\nFRAMING = "{MARK}"\nDATED = False  # {MARK}: do its responses have a time?\n\n__all__ = [\n{exported}]\n'


def lay_out(name: str, root: Path) -> list[str]:
    """Make the files of a wire and return their paths. Raises `FileExistsError` before it makes any."""
    files = files_of(name)
    taken = [path for path in files if (root / path).exists()]
    if taken:
        raise FileExistsError(f"{taken[0]} exists already")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return list(files)


def missing(name: str, root: Path) -> list[str]:
    """Return what is still to be filled in for a wire: one line for each place."""
    places: list[str] = []
    files = {path.format(name=name): what for path, (_, what) in FILES.items()}
    for path, what in files.items():
        # not every provider has an SDK
        if not (root / path).exists() and "judges" not in path:
            places.append(f"{path}: {what}")
    for path in [*sorted((root / PACKAGE / name).rglob("*.py")), *(root / path for path in files)]:
        count = path.read_text("utf-8").count(MARK) if path.exists() else 0
        places += [f"{path.relative_to(root)}: {count} × {MARK}"] if count else []
    cases = (root / "conformance" / "cases" / name).glob("*/case.json")
    places += [] if any(cases) else [f"conformance/cases/{name}/: no case yet"]
    for path, what in SHARED.items():
        if not re.search(rf"\b{name}\b", (root / path).read_text("utf-8")):
            places.append(f"{path}: {what}")
    return places


def wires(root: Path) -> list[str]:
    """Return the wires of the package."""
    return sorted(path.parent.name for path in (root / PACKAGE).glob("[a-z]*/__init__.py"))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="the wire, as provider and protocol: cohere_chat")
    parser.add_argument("--check", action="store_true", help="only list what is still to be filled in, for every wire")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the repository")
    options = parser.parse_args(arguments)
    if options.check:
        lines = [f"{name}: {line}" for name in wires(options.root) for line in missing(name, options.root)]
        print(*lines, sep="\n", end="\n" if lines else "", file=sys.stderr)
        return 1 if lines else 0
    if options.name is None or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", options.name):
        parser.error("name the wire in lower case, with underscores: make new-adapter NAME=cohere_chat")
    try:
        paths = lay_out(options.name, options.root)
    except FileExistsError as problem:
        parser.error(str(problem))
    print("made:", *(f"  {path}" for path in paths), sep="\n")
    print(
        "files that must name the wire (make check lists what is left):",
        *(f"  {path}: {what}" for path, what in SHARED.items()),
        sep="\n",
    )
    print("files that may need a line, too:", *(f"  {path}: {what}" for path, what in SEE_ALSO.items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
