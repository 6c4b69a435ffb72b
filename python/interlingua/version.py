"""The output of `interlingua --version`: the version, whether it is compiled, and the Python."""

import platform
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec

from interlingua import __version__


def version() -> str:
    """Return one line: `interlingua 0.1.0 (compiled, CPython 3.13.1)`."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    kind = "compiled" if is_compiled() else "source: about half as fast as the compiled wheel"
    return f"interlingua {__version__} ({kind}; {python})"


def is_compiled() -> bool:
    """Whether the adapters run as compiled modules."""
    spec = find_spec("interlingua.translate")  # not imported: that takes longer than everything else here
    return spec is not None and (spec.origin or "").endswith(tuple(EXTENSION_SUFFIXES))
