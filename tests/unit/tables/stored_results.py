"""Results folders for tests of tables: runs of the corpus, and one that the noop framework measured."""

import shutil
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "guard" / "corpus"
KINDS = {
    "hosts": "20260201T030405Z-0000",
    "scripts": "20260110T030405Z-abd5",
    "parity": "20260111T030405Z-abd6",
    "outcomes": "20260102T030405Z-abcd",
    "regressions": "20260323T030405Z-epochs",
}
"""A run of each kind, by its folder in the corpus."""


def corpus_runs(results: Path, *kinds: str) -> Path:
    """Copy a run of some kinds, all by default, and return the results folder."""
    for kind in kinds or KINDS:
        shutil.copytree(CORPUS / kind / KINDS[kind], results / KINDS[kind])
    return results
