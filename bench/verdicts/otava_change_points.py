"""Change points by Apache Otava, which reads series as JSON on stdin and prints their indices on stdout.

It runs in a separate environment. The project does not depend on it: only the bench compares it with `change_points`.
"""

import json
import subprocess
import sys
from collections.abc import Sequence

VERSION = "0.8.0"
MAX_P, MIN_MAGNITUDE = 0.001, 0.02


def indices(series: Sequence[Sequence[float]]) -> list[list[int]]:
    """Return the indices of the changes in each series, from Otava as uv fetches and caches it."""
    from uv import find_uv_bin

    command = [find_uv_bin(), "run", "--isolated", "--no-project", "--python", sys.executable]
    command += ["--with", f"apache-otava=={VERSION}", "python", __file__]
    text = json.dumps([list(map(float, each)) for each in series])
    finished = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, text=True)
    changes: list[list[int]] = json.loads(finished.stdout)
    return changes


def _main() -> None:
    from otava.analysis import compute_change_points

    changes = [
        [int(each.index) for each in compute_change_points(values, max_pvalue=MAX_P, min_magnitude=MIN_MAGNITUDE)[0]]
        for values in json.load(sys.stdin)
    ]
    json.dump(changes, sys.stdout)


if __name__ == "__main__":
    _main()
