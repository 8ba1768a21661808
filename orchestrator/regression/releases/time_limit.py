"""A time limit for calls that another host may delay."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Found = TypeVar("_Found")


def within(timeout_s: float, call: Callable[[], _Found]) -> _Found:
    """Return or raise the outcome of a call. Raises `TimeoutError` if it has not ended in time.

    The timeout of a socket is that of each read, which a host that drips never meets, and looking up a name has none.
    A call that is late goes on in a thread that keeps no process from its end, and nobody hears what becomes of it.
    """
    future: Future[_Found] = Future()

    def carry_out() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised again where it is waited for
            future.set_exception(error)

    threading.Thread(target=carry_out, daemon=True).start()
    return future.result(timeout_s)
