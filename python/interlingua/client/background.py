"""
An event loop in a thread of its own: the base of the synchronous variants of `Client` and `Sessions`.

Any thread may give it work and waits for the result. A thread that stops waiting (Ctrl-C) cancels the work. It
continues when the work has cleaned up, so that the call to a provider is closed by then.
"""

import asyncio
import contextlib
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final, TypeVar

from interlingua.canonical.errors import Cancelled

T = TypeVar("T")

_CLEANUP_S: Final = 5.0
"""How long an interrupted thread waits for the cancelled work to clean up, in seconds."""


class BackgroundLoop:
    """An event loop in a thread, until it is closed or collected, or until the program ends."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_serve, args=(self._loop,), name=name, daemon=True)
        self._thread.start()
        self._stop = weakref.finalize(self, _stop, self._loop, self._thread)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, and return its result or raise its exception. It sees the context variables of the caller.

        Raises `RuntimeError` where the work cannot be done: in the loop's own thread, when the loop is closed, and in
        another process than the one that created it. Raises `Cancelled` when the loop is closed meanwhile.
        """
        refused = self._refusal()
        if refused is not None:
            work.close()
            raise RuntimeError(refused)
        result: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            task = self._loop.create_task(work)
            tasks.append(task)
            task.add_done_callback(lambda task: _settle(result, task))

        def cancel() -> None:
            tasks[0].cancel()

        try:
            self._loop.call_soon_threadsafe(begin)
        except RuntimeError:
            work.close()
            raise RuntimeError(_CLOSED) from None
        try:
            return result.result()
        except BaseException:
            if not result.done():
                self.call(cancel)  # if another thread has closed the loop, everything is cancelled already
                wait([result], _CLEANUP_S)
            raise

    def call(self, function: Callable[[], object]) -> None:
        """Call a function in the loop's thread without waiting for it. Does nothing when the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """Cancel all running work and end the thread. May be called any number of times."""
        if threading.current_thread() is self._thread:
            raise RuntimeError(_OWN_THREAD)
        self._stop()

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return not self._stop.alive

    def _refusal(self) -> str | None:
        if threading.current_thread() is self._thread:
            return _OWN_THREAD
        if self.closed:
            return _CLOSED
        return None if self._thread.is_alive() else _FORKED


_CLOSED: Final = "it is closed; create another one"
_FORKED: Final = (
    "it was created before this process was forked, and its thread is in the parent; create one in each process"
)
_OWN_THREAD: Final = (
    "called from the thread that does its work, which would wait for itself: in a callback, use the asynchronous class "
    "or another thread"
)


def _settle(result: "Future[T]", task: "asyncio.Task[T]") -> None:
    if task.cancelled():
        result.set_exception(Cancelled("closed, or cancelled, before the work was done"))
    elif (problem := task.exception()) is not None:
        result.set_exception(problem)
    else:
        result.set_result(task.result())


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, then cancel and close all that is left."""
    # its own executor: to end its default one the loop starts a thread, which a program that ends may not do
    threads = ThreadPoolExecutor(thread_name_prefix=threading.current_thread().name)
    loop.set_default_executor(threads)
    try:
        loop.run_forever()
        tasks = asyncio.all_tasks(loop)
        loop.run_until_complete(_cancelled(tasks))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
        threads.shutdown(wait=True, cancel_futures=True)


async def _cancelled(tasks: "set[asyncio.Task[Any]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    if not thread.is_alive():  # in a forked process
        return
    loop.call_soon_threadsafe(loop.stop)
    if thread is not threading.current_thread():  # garbage collection may run in this very thread
        thread.join()
