"""A short campaign on each engine; `make crash` is the long one."""

from pathlib import Path

import pytest
from sessions import cluster

from crash.killing import campaign

pytestmark = pytest.mark.timeout(300)


def test_sqlite_survives_being_killed(tmp_path: Path) -> None:
    """Nothing that was acknowledged is lost or doubled."""
    tally = campaign(f"sqlite:///{tmp_path}/chats.db", 5, 1)
    assert tally.acknowledged > 20


def test_postgresql_survives_being_killed() -> None:
    """The same, with a server."""
    if cluster.programs() is None:
        pytest.skip(cluster.MISSING)
    with cluster.running() as url:
        tally = campaign(url, 5, 1)
    assert tally.acknowledged > 20
