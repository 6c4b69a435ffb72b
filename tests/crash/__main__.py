"""
The crash test at length: `make crash`. `--kills` for each engine, `--seed` where the chance begins.

PostgreSQL is left out, and that is said, where its programs are not installed.
"""

import argparse
import sys
import tempfile

from sessions import cluster

from crash.killing import Tally, campaign


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Kill -9 under load, and look at what is stored.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20260508)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show("SQLite", campaign(f"sqlite:///{folder}/chats.db", options.kills, options.seed))
    if cluster.programs() is None:
        print(cluster.MISSING)
        return 0
    with cluster.running(durable=True) as url:
        show("PostgreSQL", campaign(url, options.kills, options.seed))
    return 0


def show(engine: str, tally: Tally) -> None:
    """One line for an engine."""
    print(
        f"{engine}: {tally.kills} kills; {tally.acknowledged} acknowledged writes, each there once; "
        f"{tally.sessions} sessions sound; {tally.closed} answers that were under way closed as errors",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
