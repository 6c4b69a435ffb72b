"""
Files that a person writes, in JSON or, depending on their ending, in YAML (spec/7-routing.md#policy-file).

YAML is limited to what JSON can express: `no`, `on`, `0755`, `12:30` and `2026-05-08` are texts and not truth values,
numbers or dates. A name that occurs twice in an object is refused, and so are anchors and tags, with which a short file
can become a large value.
"""

import re
from pathlib import Path
from typing import Any, ClassVar

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest

ENDINGS = (".yaml", ".yml")
_BOM = b"\xef\xbb\xbf"
_NOT_TEXTS = (
    ("tag:yaml.org,2002:bool", r"true|false", "tf"),
    ("tag:yaml.org,2002:null", r"null|~|", ["n", "~", ""]),
    ("tag:yaml.org,2002:int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    ("tag:yaml.org,2002:float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", "-0123456789"),
)
"""The scalars that are not texts: their tag, their pattern, and the characters with which they may begin."""


def read_settings(content: bytes, path: Path) -> Any:
    """The value in the bytes of a file. Raises `InvalidRequest` for invalid JSON or, in a YAML file, invalid YAML."""
    if path.suffix.lower() not in ENDINGS:
        return json.loads(content.removeprefix(_BOM))
    return json.loads(json.dumps(_read_yaml(content)))  # a value that JSON cannot hold is refused as everywhere


def _read_yaml(content: bytes) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """YAML limited to what JSON can express."""

        yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}  # pyright: ignore[reportIncompatibleVariableOverride]

        def compose_node(self, parent: Any, index: Any) -> Any:
            event: Any = self.peek_event()
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                raise _refusal("anchors are not allowed; write the value out", event.start_mark)
            if getattr(event, "tag", None) not in (None, "!"):
                raise _refusal("tags are not allowed", event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names: set[Any] = set()
            for key, _ in node.value:
                name = key.value if isinstance(key, yaml.ScalarNode) else None
                if name is None or not isinstance(self.construct_object(key), str):
                    raise _refusal("the name of a member must be a text; put it in quotes", key.start_mark)
                if name in names:
                    raise _refusal("a name occurs twice", key.start_mark)
                names.add(name)
            return super().construct_mapping(node, deep)

    for kind, pattern, begins in _NOT_TEXTS:
        Loader.add_implicit_resolver(kind, re.compile(rf"^(?:{pattern})$"), list(begins))
    try:
        return yaml.load(content, Loader)  # noqa: S506 a safe loader, with less
    except yaml.MarkedYAMLError as problem:
        raise _refusal(problem.problem or "it cannot be read", problem.problem_mark) from None
    except (yaml.YAMLError, ValueError) as problem:
        raise InvalidRequest(f"not valid YAML: {type(problem).__name__}") from None
    except RecursionError:
        raise InvalidRequest("the YAML is nested too deeply") from None


_SAFE = re.compile(r"\\?.|<[a-z ]+>")


def _refusal(problem: str, mark: Any) -> InvalidRequest:
    # the message of a parser may quote the text: only single characters and names of tokens are left
    words = re.sub(r"(['\"])(.*?)\1", lambda quoted: quoted[0] if _SAFE.fullmatch(quoted[2]) else "…", problem).strip()
    where = "" if mark is None else f" in line {mark.line + 1}, column {mark.column + 1}"
    return InvalidRequest(f"not valid YAML: {words or 'it cannot be read'}{where}")
