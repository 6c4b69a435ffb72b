"""The recipe for many machines (examples/bulk.md), on a Ray of one: `make ray`. Without Ray its tests are left out."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray: Any = pytest.importorskip("ray", reason="Ray is not installed here: make ray")

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from interlingua.bulk import Adapter, Job  # noqa: E402
from interlingua.canonical import json  # noqa: E402

PAGE = Path(__file__).resolve().parents[2] / "examples" / "bulk.md"
FILES, ROWS = 3, 200


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A Ray of this machine alone, as small as it goes."""
    # the path of its sockets must be short
    ray.init(
        num_cpus=2,
        object_store_memory=100 << 20,
        include_dashboard=False,
        log_to_driver=False,
        _temp_dir=str(tmp_path_factory.getbasetemp()),
    )
    yield
    ray.shutdown()


def body(number: int) -> str:
    """What somebody sent to Anthropic; one in fifty is no request."""
    if number % 50 == 7:
        return "nonsense"
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    said = {"role": "assistant", "content": [thinking, {"type": "text", "text": f"Number {number}."}]}
    asked = [{"role": "user", "content": "Hi"}, said, {"role": "user", "content": "Go on."}]
    return json.dumps({"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": asked}).decode()


def recipe() -> str:
    """The lines of the page."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if "import ray" in block]
    return found


@pytest.mark.usefixtures("cluster")
def test_the_recipe_adapts_every_row_once(tmp_path: Path) -> None:
    """The page's own lines, with folders in the place of buckets: each row is what `Adapter` makes of it."""
    bodies = {f"row-{number}": body(number) for number in range(FILES * ROWS)}
    (tmp_path / "traffic").mkdir()
    for file in range(FILES):
        ids = list(bodies)[file * ROWS : (file + 1) * ROWS]
        rows = pa.table({"id": ids, "body": [bodies[one] for one in ids]})
        pq.write_table(rows, tmp_path / "traffic" / f"{file}.parquet", row_group_size=64)
    program = recipe().replace("s3://", f"{tmp_path}/")
    assert str(tmp_path) in program
    told: dict[str, Any] = {}
    exec(compile(program, str(PAGE), "exec"), told)
    found = [row for file in (tmp_path / "adapted").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    assert sorted(row["id"] for row in found) == sorted(bodies)
    adapter = Adapter(Job("openai_chat", source="anthropic_messages"))
    for row in found:
        wanted = adapter(bodies[row["id"]])
        assert row["body"] == (None if wanted.body is None else wanted.body.decode())
        assert json.loads(row["loss"].encode()) == wanted.loss
        assert (row["error"] is None) == (wanted.error is None)
    refused = sum(row["error"] is not None for row in found)
    assert refused == FILES * ROWS // 50
    assert told["failed"] == refused
