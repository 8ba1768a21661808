"""The largest numbers that a matrix may hold, which also bind plans from elsewhere, and bounds that users may move."""

DEFAULT_CELLS = 10_000
"""Most cells that a matrix may expand to, unless a user says otherwise."""
MIN_EFFECT = 0.02
"""Smallest change of a series that is looked for, as a share, unless a user says otherwise."""
MAX_REPEATS = 10_000
"""Repeats of one cell."""
MAX_COUNT = 1_000_000_000
"""Steps, epochs, and samples in a batch."""
MAX_BLOCKS = 10_000
"""Timed blocks of one repeat, each of which is kept with its conditions."""
MAX_LATENCY_STEPS = 1_000_000
"""Single steps of one repeat, each of which is kept."""
MAX_CLIENTS = 100_000
"""Requests under way at any time."""
MIN_RATE, MAX_RATE = 1e-3, 1e6
"""Requests per second of a server."""
MAX_TOKENS = 131_072
"""Tokens of a prompt, and tokens that are generated after it, each of which is kept with its time."""
MAX_PARITY_BATCH = 4096
MAX_CPUS = 4096
MAX_GPUS = 64
MAX_WORKERS = 256
"""Workers of a framework's own loader."""
MIN_BYTES = 6 * 1024**2
"""Engines refuse a container with less memory."""
MIN_OUTPUT_BYTES = 32 * 1024**2
"""A log by itself may have 16 MiB."""
MAX_BYTES = 2**50
MAX_SECONDS = 30 * 86400.0
MIN_OUTPUT_FILES = 16
MAX_OUTPUT_FILES = 10_000_000
"""Files that a repeat may leave."""
MAX_SEED = 2**32 - 1
MAX_SCRIPT_FILES = 1000
"""Files of one script."""
MAX_SCRIPT_BYTES = 64 * 1024**2
"""All files of one script together."""
MAX_NETWORK_FILES = 1000
"""Files of one network."""
MAX_NETWORK_BYTES = 64 * 1024**3
"""All files of one network together."""
