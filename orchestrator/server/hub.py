"""Server-sent events, which every viewer reads from one bounded list at its own speed.

A viewer that is too slow, or comes back too late, begins again with the whole state. Nobody waits for anybody.
"""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

MOST_MESSAGES = 512
MOST_BYTES = 4 << 20
"""Of all messages that are held for viewers to come back to."""
MOST_VIEWERS = 64
HEARTBEAT_S = 15.0
"""After so much silence a viewer is told that the server still lives, which also finds those that have gone."""
RETRY_MS = 2000


@dataclass(frozen=True, slots=True)
class Message:
    """One event, with the values that its text holds."""

    event: str
    data: object


class Hub:
    """The messages and their viewers, all on one event loop."""

    def __init__(self, whole: Callable[[], object]) -> None:
        self._whole = whole
        """Gives the whole state, for who begins."""
        self._epoch = secrets.token_hex(4)
        self._texts: deque[str] = deque()
        self._size = 0
        self._next = 0
        """The number of the next message; those before it may be held."""
        self._changed = asyncio.Event()
        self._state: tuple[int, str] | None = None
        self.viewers = 0
        self.is_closed = False

    def put(self, messages: Sequence[Message]) -> None:
        """Add messages, and wake who waits for them."""
        for message in messages:
            self._next += 1
            text = self._text(message)
            self._texts.append(text)
            self._size += len(text)
        while self._texts and (len(self._texts) > MOST_MESSAGES or self._size > MOST_BYTES):
            self._size -= len(self._texts.popleft())
        if messages:
            self._wake()

    def close(self) -> None:
        """End the stream of every viewer."""
        self.is_closed = True
        self._wake()

    async def stream(self, last_id: str = "") -> AsyncIterator[str]:
        """Yield the whole state, or what came after an id, and then what comes."""
        self.viewers += 1
        try:
            yield f"retry: {RETRY_MS}\n\n"
            at = self._place(last_id)
            while not self.is_closed:
                if at is None or at < self._next - len(self._texts):
                    at, text = self._whole_text()
                    yield text
                elif at < self._next:
                    text = self._texts[at - self._next]
                    at += 1
                    yield text
                elif not await self._woken():
                    yield ": still here\n\n"
        finally:
            self.viewers -= 1

    def _place(self, last_id: str) -> int | None:
        """Return the number of the message after the one with an id, or None if that is none of this server."""
        epoch, _, number = last_id.partition("-")
        if epoch != self._epoch or not (number.isascii() and number.isdecimal() and len(number) < 16):
            return None
        return int(number) if int(number) <= self._next else None

    def _whole_text(self) -> tuple[int, str]:
        """Return the whole state, which is put into words once for all who begin at the same message."""
        if self._state is None or self._state[0] != self._next:
            self._state = self._next, self._text(Message("state", self._whole()))
        return self._state

    def _text(self, message: Message) -> str:
        text = json.dumps(message.data, separators=(",", ":"), allow_nan=False)  # without a line break
        return f"id: {self._epoch}-{self._next}\nevent: {message.event}\ndata: {text}\n\n"

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _woken(self) -> bool:
        changed = self._changed
        try:
            await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
        except TimeoutError:
            return False
        return True
