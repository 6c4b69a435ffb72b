"""
Bulk adaptation beside the loop that does the same in memory: `make bench` runs this last.

The floor is the loop over JSON texts in a list that gives bodies and loss reports; the subject is one process that reads the
same rows from a file and writes all it makes to the disk. Both are in processor time of one process, rounds alternating.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from workload import conversation

from interlingua import registry
from interlingua.bulk import Adapter, Job, inputs
from interlingua.bulk.running import Run, do_shard
from interlingua.canonical import json
from interlingua.translate import for_request, load, project

BUDGET = 1 / 0.8
ROWS = 1000
LENGTHS = (4, 8, 20, 40)


def asked(length: int) -> bytes:
    """A request with a conversation of so many messages, and what the user says next."""
    request = conversation(length)
    request["messages"].append({"role": "user", "content": [{"type": "text", "text": "Go on."}]})
    return json.dumps(request)


def loop(texts: list[bytes], target: str) -> None:
    """The floor."""
    endpoint = registry.endpoint(adapter=target)
    held = []
    for text in texts:
        request = load(text)
        projection = project(request, for_request(endpoint, request))
        held.append((projection.body, json.dumps(projection.loss)))


def timed(work: Callable[[], object]) -> float:
    """Processor time, in seconds."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Ratios of bulk adaptation to the loop in memory.")
    parser.add_argument("--rounds", type=int, default=9)
    options, _ = parser.parse_known_args()
    print(f"{'work':72} {'ratio':>7} {'best':>7} {'budget':>7}")
    texts = [asked(LENGTHS[number % len(LENGTHS)]) for number in range(ROWS)]
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.jsonl").write_bytes(b"\n".join(texts))
        pq.write_table(pa.table({"request": [text.decode() for text in texts]}), folder / "in.parquet")
        for format in ("jsonl", "parquet"):
            for target in ("openai_chat", "anthropic_messages"):
                job = Job(target)
                found = inputs.found([str(folder / f"in.{format}")])
                here = Run(job, found, folder, format, 1 << 30, "")
                (folder / "_done").mkdir(exist_ok=True)
                adapter = Adapter(job)
                [shard] = inputs.shards(found, job, 1 << 40, here.limit, "")

                def subject(here: Run = here, adapter: Adapter = adapter, shard: inputs.Shard = shard) -> None:
                    counts = do_shard(here, adapter, 0, shard, lambda rows, errors: None)
                    if counts != (ROWS, 0):
                        raise AssertionError("other rows")

                ratios = []
                for _ in range(options.rounds):
                    floor = timed(partial(loop, texts, target))
                    ratios.append(timed(subject) / floor)
                ratio = statistics.median(ratios)
                good = good and ratio <= BUDGET
                what = f"bulk, {format} to {target}, one process, to the loop in memory"
                over = "over budget" if ratio > BUDGET else ""
                print(f"{what:72} {ratio:6.2f}x {min(ratios):6.2f}x {BUDGET:6.2f}x  {over}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
