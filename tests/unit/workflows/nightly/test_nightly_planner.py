"""The plans of the tests of watched releases."""

from pathlib import Path

import pytest

from orchestrator.catalog import UnsupportedError, shipped_catalog
from orchestrator.errors import InputError
from orchestrator.regression.nightly.loading import load
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.rules import Gate, Rules, parse_gates
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


def of_package(folder: Path, lines: str = "first: 1.26.4\n") -> NightlyPlanner:
    """A nightly of NumPy in the frameworks of a matrix."""
    (folder / "matrix.yaml").write_text(
        "version: 1\nframeworks: [torch==2.13.0, onnxruntime==1.23.2]\nmodels: [mlp]\nmodes: [infer]\n"
    )
    (folder / "nightly.yaml").write_text(f"version: 1\nwatch: numpy\n{lines}")
    return NightlyPlanner.of(folder / "nightly.yaml", SourceOptions(), Host({}))


def test_a_package_is_paired_in_every_framework(tmp_path: Path) -> None:
    """A watched package is a side in each environment of the matrix, and the index is asked for it by its name."""
    planner = of_package(tmp_path)
    planner.check_baseline("1.26.4", Rules())

    assert (planner.nightly.distribution, planner.nightly.watched, planner.nightly.name) == ("numpy",) * 3
    pairing = planner.pair("2.1.0", "1.26.4")
    assert [(pair.id, pair.candidate) for pair in pairing.pairs] == [
        ("torch-2.13.0-cpu/mlp-infer-b32", "torch-2.13.0-numpy=2.1.0-cpu/mlp-infer-b32"),
        ("onnxruntime-1.23.2-cpu/mlp-infer-b32", "onnxruntime-1.23.2-numpy=2.1.0-cpu/mlp-infer-b32"),
    ]
    assert pairing.candidate.text == "numpy==2.1.0"


def test_a_release_for_another_python_is_unsupported(tmp_path: Path) -> None:
    planner = of_package(tmp_path)

    assert planner.unsupported_reason(PublishedRelease("2.1.0", requires_python=(">=3.10",))) is None
    assert planner.unsupported_reason(PublishedRelease("2.9.0", requires_python=(">=3.14",))) == (
        "numpy 2.9.0 asks for Python >=3.14; the catalog has 3.11"
    )


def test_an_index_without_the_baseline_is_told(tmp_path: Path) -> None:
    """A baseline of a package that no index has is a mistake at its place."""
    offered = Offered((PublishedRelease("1.26.4"), PublishedRelease("2.1.0")))

    of_package(tmp_path).check_listed("1.26.4", offered)
    with pytest.raises(InputError, match=r"nightly.yaml:3:8: first: no package index of this site has numpy 1\.26\.5"):
        of_package(tmp_path, "first: 1.26.5\n").check_listed("1.26.5", offered)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            "watch: nunpy\n",
            "2:8: watch: unknown framework 'nunpy', and the matrix names no such package in `packages`; ",
        ),
        ("watch: numpy==2.1\n", "2:8: watch: names a release; releases of it are what is watched: write numpy"),
        ("watch: numpy on torch==2\n", "2:8: watch: the package 'numpy' runs on no backend; drop 'on torch'"),
        ("watch: numpy\npackage: onnx\n", "2:8: watch: 'numpy' is a package itself; drop `package`, or watch a"),
    ],
)
def test_mistakes_of_a_watched_package(tmp_path: Path, lines: str, said: str) -> None:
    of_package(tmp_path)
    file = tmp_path / "nightly.yaml"
    file.write_text(f"version: 1\n{lines}first: 1.26.4\n")

    with pytest.raises(InputError) as caught:
        NightlyPlanner.of(file, SourceOptions(), Host({}))

    (message,) = caught.value.messages
    assert message.startswith(f"{file}:{said}")


def test_what_scripts_print_may_decide(tmp_path: Path) -> None:
    """The settings take a printed figure, and the matrix says which there are."""
    planner = of_package(tmp_path, "first: 1.26.4\nmetrics: [printed.step=2%]\n")
    (tmp_path / "bert.py").write_text("print('x')")
    matrix = tmp_path / "matrix.yaml"
    script = "{name: bert, file: bert.py, metrics: {step: {pattern: x, unit: ms, better: lower}}}"
    matrix.write_text(f"{matrix.read_text()}scripts: [{script}]\n")
    setup = regression_setup(matrix, SourceOptions(), Host({}))

    gates = parse_gates(planner.nightly.settings.metrics or (), "metrics", [], setup.printed(of_package=True))

    assert (gates[-1].metric, gates[-1].model, gates[-1].tolerance) == ("printed.step", "bert", 0.02)
    assert setup.printed(of_package=False) == ()
