"""`bisect --all` next to brute force for inference of ResNet-50, batch size 1, in ONNX Runtime on one CPU.

    python -m bench.verdicts.serving_bisect [--releases 1.14.0 1.21.1] [--max-blocks 12] [--keep FOLDER]

The nineteen releases from 1.14.0 to 1.21.1 have no Python in common, so the search is chained. Brute force compares
every two neighbours on the Python that the search has both on, by the same blocks, as `bisect.py` does for MXNet.
Both must name the same releases, and the search must end with a verdict: a change, or none with no step undecided.
This takes hours. With `--keep` it goes on where it was, and the runs stay.
"""

import json
from typing import Any

from bench.verdicts.bisect import TOLERANCE, Bisected, Ended, figure, searched
from orchestrator.reporting.reports.search.chain_words import chain_lines

MATRIX = """\
version: 1
systems: {cpu: {cpus: 1, memory: 4g}}
frameworks: [onnxruntime==1.21.1]
models: [{name: resnet50_v1_5, batch_size: 1}]
modes: [infer]
"""
LEAST_RELEASES = 12
ONNX_RUNTIME = Bisected(
    "onnxruntime",
    ("1.14.0", "1.21.1"),
    "ONNX Runtime with resnet50_v1_5",
    MATRIX,
    "resnet50_v1_5-infer-b1",
    f"a verdict over {LEAST_RELEASES} releases or more, and the same releases, at a tolerance of {100 * TOLERANCE:g} %",
    has_change=False,
)


def main() -> None:
    print(json.dumps([serving_figure(searched(ONNX_RUNTIME, __doc__))]))


def serving_figure(ended: Ended) -> dict[str, Any]:
    """Return the figure on whether both name the same releases, and whether the search has decided."""
    row, record = figure(ended, ONNX_RUNTIME), ended.record
    found = record.found
    is_decided = found is not None and bool(found.releases.changes or not found.releases.unsettled)
    said = [f"{len(record.releases)} releases", row["text"]]
    if found is not None and record.asked.chain is not None:
        said += [line.rstrip(".") for line in chain_lines(record.asked.chain, found)]
    is_enough = len(record.releases) >= LEAST_RELEASES
    return row | {"text": "; ".join(said), "within": row["within"] and is_decided and is_enough}


if __name__ == "__main__":
    main()
