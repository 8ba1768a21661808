"""Change points by Apache Otava, in an environment of its own: series as JSON on stdin, their indices on stdout.

Only the bench holds it beside `change_points`; the project does not depend on it.
"""

import json
import subprocess
import sys
from collections.abc import Sequence

VERSION = "0.8.0"
MAX_P, MIN_MAGNITUDE = 0.001, 0.02


def indices(series: Sequence[Sequence[float]]) -> list[list[int]]:
    """Indices of the changes in each series; Otava is fetched by uv, which keeps it."""
    from uv import find_uv_bin

    command = [find_uv_bin(), "run", "--isolated", "--no-project", "--python", sys.executable]
    command += ["--with", f"apache-otava=={VERSION}", "python", __file__]
    text = json.dumps([list(map(float, each)) for each in series])
    finished = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True, text=True)
    found: list[list[int]] = json.loads(finished.stdout)
    return found


def _main() -> None:
    from otava.analysis import compute_change_points

    found = [
        [int(each.index) for each in compute_change_points(values, max_pvalue=MAX_P, min_magnitude=MIN_MAGNITUDE)[0]]
        for values in json.load(sys.stdin)
    ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    _main()
