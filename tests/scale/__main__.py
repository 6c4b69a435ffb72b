"""The campaign at length: `make scale`. `--kills` in all, `--seed` where the chance begins."""

import argparse
import asyncio
import sys
import time

from scale import servers
from scale.killing import campaign


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Kill servers behind Envoy under load, and look at what is stored.")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=20260508)
    options = parser.parse_args()
    if reason := servers.missing():
        print(reason)
        return 0
    begun = time.monotonic()
    with servers.running() as stack:
        tally = asyncio.run(campaign(stack, options.kills, options.seed))
    print(
        f"{tally.kills} ends of one of two servers, three of four by kill -9, in {time.monotonic() - begun:.0f} s\n"
        f"{tally.acknowledged} acknowledged messages, each there once; no session forked; "
        f"{tally.closed} answers that were under way closed as errors\n"
        f"{tally.repeated} calls broke off and were repeated, {tally.conflicts} met a conflict\n"
        f"{tally.events} events, each watched once and in order over {tally.resumed} interruptions\n"
        f"calls to each server: {', '.join(map(str, tally.served))}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
