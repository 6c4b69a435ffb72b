"""Starting a server to be checked, with all its providers at the scripted upstream.

What a server is told is what spec/registry/providers.json names: for each provider the variable of its base URL and that
of its key. A server that reads its providers from elsewhere is started by hand and given with --grpc and --upstream.
"""

from __future__ import annotations

import os
import queue
import re
import subprocess
import threading

from .plug import NO_PROXY, PlugCrashError, PlugTimeoutError
from .upstream import environment

_ADDRESS = re.compile(r"(?<![\w.])(?:\[[0-9a-f:]+\]|[0-9]+(?:\.[0-9]+){3}|[A-Za-z][A-Za-z0-9.-]*):[0-9]{2,5}\b(?![:.])")


class Served:
    """A server of our own: started, asked where it listens, and ended again."""

    def __init__(self, command: list[str], upstream: str, timeout: float = 30.0) -> None:
        told = {**os.environ, **NO_PROXY, **environment(upstream)}
        try:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=told, text=True
            )
        except OSError as error:
            raise PlugCrashError(f"{command[0]}: {error.strerror or error}") from error
        self._said: list[str] = []
        self._addresses: queue.Queue[str | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        try:
            found = self._addresses.get(timeout=timeout)
        except queue.Empty:
            self.close()
            raise PlugTimeoutError(f"the server did not print where it listens within {timeout:g} seconds") from None
        if found is None:
            self.close()
            last = f"; its last words: {' | '.join(self._said[-3:])}" if self._said else " and without any other"
            raise PlugCrashError(f"the server ended without a word of where it listens{last}")
        self.address = found

    def _listen(self) -> None:
        """Read all that the server prints, so that it never waits for us; the first address in it is its own."""
        assert self._process.stdout is not None
        told = False
        for line in self._process.stdout:
            self._said = [*self._said[-20:], line.strip()[:300]]
            found = None if told else _ADDRESS.search(line)
            if found is not None:
                told = True
                self._addresses.put(found.group())
        self._addresses.put(None)

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(timeout=5)
        if self._process.stdout is not None:
            self._process.stdout.close()
