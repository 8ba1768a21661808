"""The plans of the tests of watched releases."""

from pathlib import Path

import pytest

from orchestrator.catalog import UnsupportedError, shipped_catalog
from orchestrator.errors import InputError
from orchestrator.regression.nightly.loading import load
from orchestrator.regression.rules import Gate, Rules
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import SourceOptions, regression_setup
from orchestrator.workflows.nightly.planner import NightlyPlanner

P99 = Rules(gates=(Gate("latency_p99", 0.1),), looks=(6, 12))


def on_gpus(folder: Path, name: str, version: str, first: str) -> NightlyPlanner:
    """A nightly of a framework's cells on a GPU, beside others of its matrix that have fewer single steps."""
    (folder / "matrix.yaml").write_text(
        f"version: 1\nframeworks: [{name}=={version}]\nmodels: [mlp]\nsystems: {{cpu: {{}}, gpu: {{gpus: 1}}}}\n"
        "include: [{system: cpu, latency_steps: 20}]\n"
    )
    (folder / "nightly.yaml").write_text(f"version: 1\nwatch: {name}\nfirst: {first}\nselect: ['gpu/*']\n")
    nightly = load(folder / "nightly.yaml", shipped_catalog())
    return NightlyPlanner(nightly, regression_setup(nightly.matrix, SourceOptions(), Host({})))


@pytest.fixture
def gpu_only(tmp_path: Path) -> NightlyPlanner:
    return on_gpus(tmp_path, "mxnet", "1.9.1", "1.9.0")


def test_a_release_is_paired_over_what_is_selected(gpu_only: NightlyPlanner) -> None:
    gpu_only.check_baseline("1.9.0", P99)

    assert [pair.id for pair in gpu_only.pair("1.9.1", "1.9.0").pairs] == ["gpu/mlp-train-b32"]


def test_a_percentile_needs_single_steps(gpu_only: NightlyPlanner, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text().replace("system: cpu", "system: gpu"))
    setup = regression_setup(gpu_only.nightly.matrix, SourceOptions(), Host({}))

    with pytest.raises(InputError, match="metrics: latency_p99 decides after 12 blocks only with latency_steps: 100"):
        NightlyPlanner(gpu_only.nightly, setup).check_baseline("1.9.0", P99)


def test_a_release_without_the_selected_work_is_unsupported(tmp_path: Path) -> None:
    planner = on_gpus(tmp_path, "mxnet-mkl", "1.6.0", "1.5.1")

    with pytest.raises(
        UnsupportedError, match=r"what is selected can be done with 1\.4\.1: the catalog has no GPU build"
    ):
        planner.pair("1.4.1", "1.5.1")


def test_a_release_of_no_range_is_unsupported(gpu_only: NightlyPlanner) -> None:
    with pytest.raises(UnsupportedError, match="add a line to"):
        gpu_only.pair("9.9", "1.9.0")
