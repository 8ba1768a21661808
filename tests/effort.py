"""The number of random examples of a test: all of them in `make test-all`, a tenth of them everywhere else."""

import os

ALL_EXAMPLES = "BENCH_ALL_EXAMPLES"
FEWEST = 10


def examples(count: int) -> int:
    """Return the number of examples to draw of the `count` that a whole run draws."""
    return count if os.environ.get(ALL_EXAMPLES) else max(FEWEST, count // 10)
