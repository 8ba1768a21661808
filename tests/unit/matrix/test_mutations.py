"""Mutated matrices through the whole of `plan`: exit status 0 or 2, never a traceback; `bench fuzz` takes more."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.robustness.mutations import corpus, mutated
from orchestrator.cli.program import run
from orchestrator.resources import ROOT
from tests.documented import pages
from tests.effort import examples

MATRICES = corpus()
OF_OTHER_FILES = {"catalog", "ci", "cluster", "hugging_face", "kubernetes", "nightly", "releases"}
"""Pages and folders of pages whose YAML is no matrix, with tests of their own."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutations")


def test_every_matrix_is_fine_before_it_is_mutated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every matrix that is mutated is fine itself, apart from files that are not there."""
    ends = []
    for matrix in MATRICES:
        (folder / "matrix.yaml").write_bytes(matrix)
        ends.append(run(["plan", "-f", str(folder / "matrix.yaml"), "--json"]))

    assert ends.count(0) >= 12
    known = ("there is no", "warning", "unknown model 'wide'")
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if not any(words in line for words in known)] == []


def test_every_documented_matrix_is_mutated() -> None:
    """Every matrix that a page of the documentation shows is among those that are mutated."""
    shown = b"\n".join(MATRICES)

    for page in (ROOT / "README.md", *pages()):
        blocks = re.findall(r"^```yaml\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        for block in blocks:
            assert block.encode() in shown or {page.stem, page.parent.name} & OF_OTHER_FILES, (
                f"{page.name} shows {block}"
            )
    assert b"registry.corp/ml/torch" in shown, "a part of a matrix, on the catalog's page"


@settings(max_examples=examples(300), derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(generator=st.randoms(use_true_random=False))
def test_a_mutated_matrix_is_planned_or_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], generator: random.Random
) -> None:
    """A mutated matrix is either planned or refused, with each line of the refusal naming the file."""
    path = folder / "matrix.yaml"
    path.write_bytes(mutated(generator, MATRICES))
    code = run(["plan", "-f", str(path), "--json"])
    said = capsys.readouterr()

    assert code in {0, 2}
    assert (code == 0) == said.out.startswith("{")
    assert not set(said.err) & {"\x1b", "\x07", "\x00"}
    if code == 2:
        assert all(json.loads(line)["message"].startswith(str(path)) for line in said.err.splitlines())
