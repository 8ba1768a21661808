"""The largest numbers that a matrix may name; a plan from anywhere else is held to the same ones."""

MAX_REPEATS = 10_000
"""Of one cell."""
MAX_COUNT = 1_000_000_000
"""Of steps, epochs, and samples in a batch."""
MAX_CPUS = 4096
MAX_GPUS = 64
MIN_OUTPUT_FILES = 16
MAX_OUTPUT_FILES = 10_000_000
"""Of the files that a repeat may leave."""
MAX_SEED = 2**32 - 1
MAX_SCRIPT_FILES = 1000
"""Of one script."""
MAX_SCRIPT_BYTES = 64 * 1024**2
"""Of all files of one script."""
