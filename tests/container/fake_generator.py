"""A fake generator for tests, whose steps take known times on a clock that only waiting for tokens moves."""

from collections.abc import Callable

from benchmarks.timing.measure import Clock


class FakeGenerator:
    """An asynchronous engine: a step is issued at once, and its time passes when its tokens are fetched."""

    def __init__(
        self,
        prefill_s: Callable[[int], float],
        decode_s: Callable[[int], float],
        *,
        between_s: float = 0.0,
        short_blocks: bool = False,
    ) -> None:
        self.now = 0.0
        self.short_blocks = short_blocks
        self.batches = ["a", "b", "c"]
        self.seen: list[str] = []
        self._prefill_s, self._decode_s, self._between_s = prefill_s, decode_s, between_s
        self._pending = 0.0

    def prefill(self, prompt: str) -> int:
        """Issue a prompt. Something else takes its time between two generations."""
        self.now += self._between_s
        self._pending = self._prefill_s(len(self.seen))
        self.seen.append(prompt)
        return 0

    def decode(self, step: int) -> int:
        assert self._pending == 0, "the tokens of a step are on the host before the next one is issued"
        self._pending = self._decode_s(step)
        return step + 1

    def tokens(self, _step: int) -> None:
        self.now += self._pending
        self._pending = 0.0

    def logits(self, step: int) -> int:
        return step

    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda: 2 * self.now)
