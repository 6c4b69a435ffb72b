"""What keys have used, in a file that processes share (spec/9-service.md#worker-keys)."""

import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from interlingua.access import Access, Key
from interlingua.meters import Bucket, Meter, SharedMeters
from interlingua.refusals import Refused

CENT = Decimal("0.0000000000000000001234567")
TIMES = 300


def spend(file: Path) -> None:
    """Adds a little, many times."""
    meters = SharedMeters(file)
    for _ in range(TIMES):
        with meters.of("a") as meter:
            meter.spent += CENT


def spend_for_ever(file: Path) -> None:
    """The same without an end; both numbers change together."""
    meters = SharedMeters(file)
    while True:
        with meters.of("a") as meter:
            meter.spent += 1
            meter.calls = Bucket(float(meter.spent), 0.0)
        time.sleep(0.0005)  # who writes without a pause keeps all others out


def test_processes_add_up_to_the_last_digit(tmp_path: Path) -> None:
    """None writes over what another has written."""
    context = multiprocessing.get_context("spawn")
    adding = [context.Process(target=spend, args=(tmp_path / "meters.db",)) for _ in range(3)]
    for one in adding:
        one.start()
    for one in adding:
        one.join()
        assert one.exitcode == 0
    with SharedMeters(tmp_path / "meters.db").of("a") as meter:
        assert meter.spent == 3 * TIMES * CENT


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_is_killed_leaves_whole_meters(tmp_path: Path) -> None:
    """And nobody waits for what it held."""
    context = multiprocessing.get_context("spawn")
    file = tmp_path / "meters.db"
    meters = SharedMeters(file)
    before = Decimal(0)
    for _ in range(3):
        adding = context.Process(target=spend_for_ever, args=(file,))
        adding.start()
        end = time.monotonic() + 20
        while True:
            with meters.of("a") as meter:
                spent = meter.spent
            if spent > before + 50:
                break
            assert time.monotonic() < end
            time.sleep(0.005)
        os.kill(adding.pid or 0, signal.SIGKILL)
        adding.join()
        with meters.of("a") as meter:
            assert meter.calls == Bucket(float(meter.spent), 0.0)
            before = meter.spent


def test_what_fails_changes_nothing(tmp_path: Path) -> None:
    """A refused call counts for nothing; all that a meter holds comes back as it was."""
    meters = SharedMeters(tmp_path / "meters.db")
    whole = Meter(Bucket(0.1, 5.5), Bucket(-3.0, 7.25), date(2026, 5, 8), Decimal("0.10"))
    with meters.of("a") as meter:
        meter.calls, meter.tokens, meter.day, meter.spent = whole.calls, whole.tokens, whole.day, whole.spent
    with suppress(KeyError), meters.of("a") as meter:
        meter.spent = Decimal(9)
        raise KeyError
    with meters.of("a") as meter:
        assert meter == whole
        assert str(meter.spent) == "0.10"


def test_two_servers_have_one_limit(tmp_path: Path) -> None:
    """Of calls, of tokens and of money; the day ends for both."""
    now, today = [100.0], [datetime(2026, 5, 8, 12, tzinfo=UTC)]
    first, second = (
        Access(clock=lambda: now[0], now=lambda: today[0], meters=SharedMeters(tmp_path / "meters.db"))
        for _ in range(2)
    )
    few = Key("few", "1", "few", calls_per_minute=2)
    first.admit(few)
    second.admit(few)
    for one in (first, second):
        with pytest.raises(Refused, match="calls"):
            one.admit(few)
    now[0] += 30
    second.admit(few)
    with pytest.raises(Refused, match="calls"):
        first.admit(few)
    long = Key("long", "2", "long", tokens_per_minute=100)
    first.admit(long)
    first.record(long, {"input_tokens": 60, "output_tokens": 60})
    with pytest.raises(Refused, match="tokens"):
        second.admit(long)
    poor = Key("poor", "3", "poor", budget_usd_per_day=Decimal("0.30"))
    for one in (first, second, first):
        one.admit(poor)
        one.record(poor, {"cost_usd": "0.1"})
    with pytest.raises(Refused, match="budget"):
        second.admit(poor)
    today[0] = datetime(2026, 5, 9, tzinfo=UTC)
    second.admit(poor)
