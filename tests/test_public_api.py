"""The public names are those that the package says, sorted, importable and documented."""

import inspect
import types

import interlingua


def test_all_is_sorted_and_has_no_doubles() -> None:
    """The list reads as an index."""
    assert interlingua.__all__ == sorted(set(interlingua.__all__))


def test_every_public_name_is_importable() -> None:
    """Each name of the list is there, and is listed by dir()."""
    for name in interlingua.__all__:
        assert getattr(interlingua, name) is not None
    assert set(interlingua.__all__) <= set(dir(interlingua))


def test_every_public_name_is_documented() -> None:
    """A class or function without a docstring is not public."""
    for name in interlingua.__all__:
        value = getattr(interlingua, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_nothing_else_leaks() -> None:
    """Names that are not in the list are modules, or begin with an underscore, or help to load the others."""
    helpers = {"Any", "TYPE_CHECKING", "import_module"}
    leaked = {
        name
        for name, value in vars(interlingua).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and name not in interlingua.__all__
    }
    assert leaked <= helpers


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typing mistake is told as such."""
    assert not hasattr(interlingua, "no_such_name")
