"""
How long the command line takes for verbs that need neither pydantic nor asyncio: `make bench` runs this first.

The floor is `python -c pass`, a bare interpreter; both are in processor time of a process of its own, user and system, rounds
alternating. The budget is what a person does not notice, 0.15 s, where a bare interpreter takes 10 ms. Where an
environment forbids bytecode (PYTHONDONTWRITEBYTECODE), each start compiles the package again; here it is always kept.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUDGET = 15.0
REQUEST = Path(__file__).resolve().parents[1] / "examples" / "anthropic-request.json"
CANONICAL = '{"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}'

BARE = ("-c", "pass")
VERBS = {
    "--version": (),
    "adapt": ("--from", "anthropic_messages", "--to", "openai_chat", str(REQUEST)),
    "adapt --loss": ("--from", "anthropic_messages", "--to", "openai_chat", "--loss", str(REQUEST)),
    "check": ("{canonical}",),
    "cost": ("openai:gpt-4.1", "--input", "10", "--output", "5"),
    "route": ("{canonical}", "--model", "openai:gpt-4.1"),
    "providers": (),
    "models": ("--provider", "openai"),
}
ENVIRONMENT = {**os.environ, "OPENAI_API_KEY": "none", "COLUMNS": "100"}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)


def processor_time(arguments: tuple[str, ...]) -> float:
    """What a Python with these arguments takes from start to end, in seconds of user and system."""
    started = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    )
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise AssertionError(f"{' '.join(arguments)} ended with {started.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Ratios of the command line's start to that of a bare interpreter.")
    parser.add_argument("--rounds", type=int, default=9)
    options, _ = parser.parse_known_args()
    print(f"{'start':40} {'ratio':>7} {'best':>7} {'budget':>7} {'time':>8} {'floor':>8}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        canonical = Path(folder) / "request.json"
        canonical.write_text(CANONICAL)
        for verb, words in VERBS.items():
            command = ("-m", "interlingua", *verb.split(), *(word.format(canonical=canonical) for word in words))
            processor_time(command)  # the bytecode is written
            floors, times = [], []
            for _ in range(options.rounds):
                floors.append(processor_time(BARE))
                times.append(processor_time(command))
            ratios = [taken / floor for taken, floor in zip(times, floors, strict=True)]
            ratio = statistics.median(ratios)
            good = good and ratio <= BUDGET
            over = "over budget" if ratio > BUDGET else ""
            print(
                f"interlingua {verb:28} {ratio:6.2f}x {min(ratios):6.2f}x {BUDGET:6.2f}x "
                f"{1000 * statistics.median(times):5.0f} ms {1000 * statistics.median(floors):5.0f} ms  {over}",
                flush=True,
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
