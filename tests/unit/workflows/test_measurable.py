"""What of the watched releases can be measured, before anything is."""

from pathlib import Path

import pytest

from orchestrator.catalog import UnsupportedError
from orchestrator.regression.nightly.loading import load
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.shipped import shipped_catalog
from orchestrator.workflows.measure import pairs
from orchestrator.workflows.nightly.trials import Measurable


@pytest.fixture
def gpu_only(tmp_path: Path) -> Measurable:
    """A nightly of MXNet's cells on a GPU, beside others of its matrix."""
    (tmp_path / "matrix.yaml").write_text(
        "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [mlp]\nsystems: {cpu: {}, gpu: {gpus: 1}}\n"
    )
    (tmp_path / "nightly.yaml").write_text("version: 1\nwatch: mxnet\nfirst: 1.9.0\nselect: ['gpu/*']\n")
    found, site = load(tmp_path / "nightly.yaml", shipped_catalog()), pairs.Site(Host({}))
    return Measurable(found, *pairs.loaded(found.matrix, site), site)


def test_a_release_is_paired_over_what_is_selected(gpu_only: Measurable) -> None:
    gpu_only.check("1.9.0")

    assert [pair.id for pair in gpu_only.paired("1.9.1", "1.9.0").pairs] == ["gpu/mlp-train-b32"]


@pytest.mark.parametrize(
    ("release", "words"),
    [("0.11.0", "what is selected can be done with 0.11.0: the catalog has no GPU build"), ("9.9", "add a line to")],
)
def test_a_release_that_cannot_do_what_the_baseline_can_is_unsupported_and_no_mistake(
    gpu_only: Measurable, release: str, words: str
) -> None:
    with pytest.raises(UnsupportedError, match=words):
        gpu_only.paired(release, "1.9.0")
