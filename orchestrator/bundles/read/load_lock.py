"""The lock by which one process at a time loads a bundle on a host."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from orchestrator import processes
from orchestrator.bundles.format.streams import STOPPED, TransferStoppedError
from orchestrator.processes import Stop

FOLDER = "loading"
"""In the cache: the files that are locked, one for each host and bundle. Hosts may share a cache."""


@contextmanager
def one_load_at_a_time(
    cache: Path, host_name: str, manifest_sha256: str, say: Callable[[str], None], stop: Stop
) -> Iterator[None]:
    """Wait until no other process of this user loads the bundle on this host, and keep others from it meanwhile.

    A process that is killed lets go of it. Where the cache cannot be locked, nothing is waited for: a load is right
    beside another one too, and only takes longer. Raises `TransferStoppedError` after a request to stop.
    """
    lock = FileLock(cache / FOLDER / f"{re.sub(r'[^A-Za-z0-9.-]', '_', host_name)}-{manifest_sha256[:16]}.lock")
    try:
        (cache / FOLDER).mkdir(parents=True, exist_ok=True)
        _take(lock, say, stop)
    except (OSError, NotImplementedError) as error:
        say(f"{lock.lock_file}: cannot be locked ({error}); another load of this bundle may run at the same time")
    try:
        yield
    finally:
        lock.release()


def _take(lock: FileLock, say: Callable[[str], None], stop: Stop) -> None:
    waits = False
    while True:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if not waits:
                say("another process loads this bundle on this host; waiting for it")
            waits = True
        else:
            return
        if stop.is_set():
            raise TransferStoppedError(STOPPED)
        time.sleep(processes.TICK_S)
