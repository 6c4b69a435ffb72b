"""Imports follow the arrows of the picture in the README, and a light import stays light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "interlingua"

PURE = ["canonical", "refusals", "wire", "registry", "adapters", "stream_loss", "loss_policy", "translate", "router"]
BELOW_SERVICE = [*PURE, "client", "sessions", "events"]
APART = ["media"]  # called by users on request: nothing of ours stands on it

# who may import whom; everyone may import itself
ALLOWED: dict[str, list[str]] = {
    "canonical": [],
    "wire": [],
    "v1": [],
    "_data": [],
    "registry": ["canonical"],
    "adapters": ["canonical", "wire"],
    "stream_loss": ["canonical", "adapters"],
    "loss_policy": ["canonical", "adapters", "stream_loss"],
    "translate": ["canonical", "wire", "registry", "adapters", "loss_policy"],
    "router": ["canonical", "registry"],
    "events": ["canonical"],
    "client": [*PURE, "events"],
    "telemetry": ["canonical", "client", "__init__"],
    "sessions": [*PURE, "client", "events"],
    "media": ["canonical"],
    "bulk": [*PURE, "sessions"],
    "verbs": [*BELOW_SERVICE, "v1"],
    "meters": ["canonical"],
    "refusals": ["canonical"],
    "access": ["canonical", "meters", "proxies", "refusals", "renewal"],
    "proxies": ["canonical"],
    "renewal": ["canonical"],
    "spending": ["access", "sessions"],
    "service": [*BELOW_SERVICE, "access", "renewal", "verbs", "v1"],
    "gateway": [*BELOW_SERVICE, "access", "proxies", "renewal", "verbs", "v1", "__init__"],
    # the ways in: the public names, the command line, the conformance plug, the demonstration
    "__init__": [*BELOW_SERVICE, *APART],
    "plug": [*BELOW_SERVICE, "__init__"],
    "show": [*BELOW_SERVICE, "__init__"],
    "demo": [*BELOW_SERVICE, "service", "v1", "show", "__init__"],
    "version": ["__init__"],
    "cli": [
        *BELOW_SERVICE,
        "access",
        "meters",
        "proxies",
        "bulk",
        "service",
        "gateway",
        "plug",
        "demo",
        "show",
        "spending",
        "telemetry",
        "version",
        "v1",
        "__init__",
    ],
    "__main__": [*BELOW_SERVICE, "service", "gateway", "plug", "demo", "show", "version", "cli", "v1", "__init__"],
}

# what pure code has no use for: sockets, files of others, clocks, chance, servers
IMPURE = {
    "asyncio",
    "grpc",
    "httpx",
    "random",
    "secrets",
    "select",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "threading",
}
SEAMS = {"canonical/ids.py"}  # takes a clock and a source of chance as arguments; its defaults are the real ones

MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def unit(path: str) -> str:
    """The box of the picture that a file stands in."""
    return path.split("/", maxsplit=1)[0].removesuffix(".py")


@cache
def imports(path: str) -> tuple[tuple[str, int], ...]:
    """Every module that a file imports, wherever in the file, by full name, with its line."""
    return tuple(_imports(path))


def _imports(path: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse((PACKAGE / path).read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((name.name, node.lineno) for name in names)
            case ast.ImportFrom(module=module, names=names, level=0) if module:
                for name in names:
                    full = f"{module}.{name.name}"
                    yield (full if is_module(full) else module), node.lineno
            case ast.ImportFrom():
                raise AssertionError(f"{path}:{node.lineno}: imports are absolute here")
            case _:
                pass


@cache
def is_module(full: str) -> bool:
    """Whether a name is a module of ours."""
    if not full.startswith("interlingua."):
        return False
    path = PACKAGE / full.removeprefix("interlingua.").replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").exists()


@pytest.mark.parametrize("path", MODULES)
def test_imports_follow_the_arrows(path: str) -> None:
    """A module imports only what its box may import."""
    box = unit(path)
    assert box in ALLOWED, f"{path}: where does {box} stand in the picture? Add its arrows here and in the README."
    for module, line in imports(path):
        if module == "interlingua" or module.startswith("interlingua."):
            target = unit(module.removeprefix("interlingua").removeprefix(".").replace(".", "/") or "__init__")
            allowed = [box, *ALLOWED[box]]
            arrow = f"{box} ──► {', '.join(ALLOWED[box]) or 'nothing of ours'}"
            assert target in allowed, f"{path}:{line} imports {module}. Allowed: {arrow}"


@pytest.mark.parametrize("path", [path for path in MODULES if unit(path) in PURE and path not in SEAMS])
def test_pure_modules_are_pure(path: str) -> None:
    """No I/O, no clock, no chance above the line."""
    for module, line in imports(path):
        assert module.split(".")[0] not in IMPURE, f"{path}:{line} imports {module}; {unit(path)} is pure"


@pytest.mark.parametrize("path", [path for path in MODULES if path.startswith("adapters/")])
def test_adapters_do_not_know_each_other(path: str) -> None:
    """An adapter imports what all share (modules with an underscore) and its own folder."""
    own = path.split("/")[1].removesuffix(".py")
    for module, line in imports(path):
        if own != "__init__" and module.startswith("interlingua.adapters."):
            other = module.split(".")[2]
            assert other == own or other.startswith("_"), f"{path}:{line} imports the adapter {other}"


# what wires share, by packages: each stands on those before it alone
SHARED = (
    "_contract",
    "_recognition",
    "_engine",
    "_structured",
    "_content",
    "_history",
    "_errors",
    "_estimates",
    "_requests",
    "_answers",
)
OF_TWO_WIRES = ("_claude", "_openai")


@pytest.mark.parametrize("package", [*SHARED, *OF_TWO_WIRES])
def test_what_adapters_share_has_an_order(package: str) -> None:
    """A package of shared modules does not know what stands on it, so that it can be read before that."""
    below = {*SHARED[: SHARED.index(package)]} if package in SHARED else {*SHARED}
    for path in MODULES:
        if path.startswith(f"adapters/{package}"):
            for module, line in imports(path):
                if module.startswith("interlingua.adapters._"):
                    other = module.split(".")[2]
                    assert other == package or other in below, f"{path}:{line} imports {module}"


def test_all_that_adapters_share_is_in_that_order() -> None:
    folder = PACKAGE / "adapters"
    found = {path.stem for path in folder.glob("_*") if path.stem not in ("__init__", "__pycache__")}
    assert found == {*SHARED, *OF_TWO_WIRES}


# the modules in which it is asked how a value was spelt when it was read
SPELLINGS = (
    "_engine/as_read.py",
    "_engine/items.py",
    "_engine/kit.py",
    "_engine/verbatim.py",
    "_engine/writing.py",
)


def names_encoding(code: str) -> bool:
    """Whether code reaches into the `encoding` of a provider state by itself."""
    return any(isinstance(node, ast.Constant) and node.value == "encoding" for node in ast.walk(ast.parse(code)))


def test_spellings_are_asked_about_in_their_modules() -> None:
    """How a value was spelt is the matter of the modules for it: rows and other modules ask these."""
    assert names_encoding('state.get("encoding")') and not names_encoding("encoding_of(block)")
    folder = PACKAGE / "adapters"
    asking = {
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if names_encoding(path.read_text("utf-8"))
    }
    more = asking - set(SPELLINGS)
    assert not more, (
        f"{sorted(more)}: ask `encoding_of`, `_engine.as_read` or a row of `_engine.items` how a value was spelt"
    )
    assert set(SPELLINGS) == asking, f"take these out of SPELLINGS: {sorted(set(SPELLINGS) - asking)}"


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded after running some code in a fresh interpreter."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


HEAVY = {
    "PIL",
    "grpc",
    "httpx",
    "pydantic",
    "google.protobuf",
    "typer",
    "rich",
    "sqlite3",
    "asyncio",
    "starlette",
    "uvicorn",
}

LIGHT = {
    "the package": "import interlingua",
    "the adapters": "from interlingua import adapters\nfor name in adapters.names(): adapters.get(name)",
    "the translation": "import interlingua; interlingua.adapt",
    "the router": "import interlingua.router",
    "the media helper": "import interlingua; interlingua.media.fit",
}


@pytest.mark.parametrize("what", LIGHT)
def test_a_light_import_stays_light(what: str) -> None:
    """No server, no HTTP client and no model library is loaded for work on plain data."""
    loaded = loaded_by(LIGHT[what]) & HEAVY
    assert not loaded, f"{what} loads {', '.join(sorted(loaded))}"


def test_nothing_calls_the_media_helper_by_itself() -> None:
    """It is loaded when somebody names it, and not before."""
    assert "interlingua.media" not in loaded_by("import interlingua; interlingua.adapt; import interlingua.client")
