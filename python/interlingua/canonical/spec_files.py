"""The files of the contract that the code reads: the schema and the registry."""

from pathlib import Path


def spec_file(folder: str, name: str) -> Path:
    """Return a file of `spec/`: the copy in an installed package, or the file of the checkout.

    Raises `FileNotFoundError` if neither exists.
    """
    package = Path(__file__).parents[1]
    copies = package / "_data" if folder == "schema" else package / "_data" / folder
    for path in (copies / name, package.parents[1] / "spec" / folder / name):
        if path.exists():
            return path
    raise FileNotFoundError(f"{folder}/{name}")
