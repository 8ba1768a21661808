"""Each package that people watch beside exported networks is a side of `regress`, `nightly` and `bisect`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from orchestrator.errors import InputError
from orchestrator.regression.pairing import Pairing
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.rules import Rules
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import RegressionSetup, SourceOptions, regression_setup
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.search import prepared, search
from orchestrator.workflows.search.search import Rounds
from tests import exported
from tests.unit.cli.conftest import Program

MATRIX = r"""version: 1
frameworks: [torch==2.13.0, onnxruntime==1.23.2, openvino==2026.3.1]
models: [mlp, {name: ours, file: ours.onnx, batch_size: 8}]
modes: [infer]
scripts:
  - name: bert
    file: bert.py
    packages: {transformers: 4.57.6}
    metrics: {step: {pattern: 'step (\S+) ms', unit: ms, better: lower}}
exclude: [{framework: [onnxruntime, openvino], model: bert}]
"""
MODEL, OURS, SCRIPT = "mlp-infer-b32", "ours-infer-b8", "bert-script"
TORCH, ONNXRUNTIME, OPENVINO = "torch-2.13.0", "onnxruntime-1.23.2", "openvino-2026.3.1"
SCATTER = (1.0, 1.005, 0.996, 1.002)


@dataclass(frozen=True)
class Watched:
    """A package, three releases of it, and the pairs that a test of two of them has."""

    name: str
    releases: tuple[str, str, str]
    pairs: tuple[str, ...]
    cell: str
    """One of the pairs, for a search."""


IN_ENGINES = tuple(f"{engine}-cpu/{work}" for engine in (ONNXRUNTIME, OPENVINO) for work in (MODEL, OURS))
IN_TORCH = (f"{TORCH}-cpu/{MODEL}", f"{TORCH}-cpu-transformers=4.57.6/{SCRIPT}")
ALONE = (f"cpu/{MODEL}", f"cpu/{OURS}")
EVERY = (
    Watched("numpy", ("1.26.4", "2.0.2", "2.1.0"), (*IN_TORCH, *IN_ENGINES), f"{OPENVINO}-cpu/{OURS}"),
    Watched("onnx", ("1.19.1", "1.20.0", "1.21.0"), IN_ENGINES, f"{ONNXRUNTIME}-cpu/{OURS}"),
    Watched("transformers", ("4.48.3", "4.50.0", "4.57.6"), (f"cpu/{SCRIPT}",), f"cpu/{SCRIPT}"),
    Watched("onnxruntime", ("1.20.1", "1.21.1", "1.23.2"), ALONE, f"cpu/{OURS}"),
    Watched("openvino", ("2025.4.1", "2026.0.0", "2026.3.1"), ALONE, f"cpu/{OURS}"),
)
each_package = pytest.mark.parametrize("watched", EVERY, ids=lambda watched: watched.name)


@pytest.fixture
def setup(tmp_path: Path) -> RegressionSetup:
    """A framework with a script, two engines, and a network of one's own."""
    exported.saved(exported.image_network(), tmp_path / "ours.onnx")
    (tmp_path / "bert.py").write_text("print('step 1 ms')")
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return regression_setup(tmp_path / "matrix.yaml", SourceOptions(), Host({}))


def asked(pairing: Pairing, name: str) -> list[set[str]]:
    """Return what the environments of each side ask pip for of a package."""
    images = {cell.id: cell.image for cell in pairing.plan.cells}
    of_sides = zip(*((images[pair.baseline], images[pair.candidate]) for pair in pairing.pairs), strict=True)
    lines = {image.name: image.environment.requirements for image in pairing.plan.images}
    return [
        {line for image in of_side for line in lines[image] if Requirement(line).name == name} for of_side in of_sides
    ]


@each_package
def test_two_releases_are_paired(setup: RegressionSetup, watched: Watched) -> None:
    """Each cell that holds the package is paired with itself, and its environments ask for the two releases."""
    first, _, last = watched.releases
    sides = setup.side(f"{watched.name}=={first}", "--baseline"), setup.side(f"{watched.name}=={last}", "--candidate")

    pairing = setup.pair(*sides)

    assert {pair.id for pair in pairing.pairs} == set(watched.pairs)
    one, other = asked(pairing, watched.name)
    assert {Requirement(line).specifier.contains(first) for line in one} == {True}
    assert {Requirement(line).specifier.contains(first) for line in other} == {False}
    assert {Requirement(line).specifier.contains(last) for line in other} == {True}
    has_network = any(OURS in each for each in watched.pairs)
    assert [network.name for network in pairing.plan.networks] == ["ours"] * has_network


@each_package
def test_a_night_pairs_the_next_release(setup: RegressionSetup, watched: Watched, tmp_path: Path) -> None:
    """A night asks the index for the package by its name, and takes what its cells can run."""
    first, _, last = watched.releases
    (tmp_path / "nightly.yaml").write_text(f"version: 1\nwatch: {watched.name}\nfirst: {first}\n")
    planner = NightlyPlanner.of(tmp_path / "nightly.yaml", SourceOptions(), setup.host)
    planner.check_baseline(first, Rules())

    assert (planner.nightly.distribution, planner.nightly.name) == (watched.name, watched.name)
    assert {pair.id for pair in planner.pair(last, first).pairs} == set(watched.pairs)
    assert planner.unsupported_reason(PublishedRelease(last, requires_python=(">=3.10",))) is None
    newer = planner.unsupported_reason(PublishedRelease(last, requires_python=(">=3.15",)))
    assert newer is not None
    assert newer.startswith(f"{watched.name} {last} asks for Python >=3.15; the catalog has 3.11")
    planner.check_listed(first, Offered((PublishedRelease(first), PublishedRelease(last))))
    with pytest.raises(InputError, match=f"no package index of this site has {watched.name} {first}"):
        planner.check_listed(first, Offered((PublishedRelease(last),)))


@each_package
def test_releases_between_are_searched(
    setup: RegressionSetup, watched: Watched, command: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search goes over the releases on the index, in one cell that holds the package."""
    first, changed, last = watched.releases
    published = Offered(tuple(map(PublishedRelease, watched.releases)))
    monkeypatch.setattr(
        prepared, "offered_releases", lambda distribution, _: published if distribution == watched.name else Offered(())
    )
    monkeypatch.setattr(search, "recorded_packages", lambda _run, side: {watched.name: side.version})
    monkeypatch.setattr(Rounds, "measure", lambda _rounds, sides, blocks: _slow_from(changed, sides, blocks))

    code, out, said = command(
        "bisect", "--good", f"{watched.name}=={first}", "--bad", f"{watched.name}=={last}", "--cell", watched.cell
    )

    assert code == 1, said
    assert f"First changed in {watched.name} {changed} (slower" in out


def _slow_from(changed: str, sides: Sequence[Side], blocks: int) -> JointResult:
    """Return the blocks of releases of which the changed one and all after it take a tenth longer."""
    slow = {side.text: Version(side.version) >= Version(changed) for side in sides}
    is_time = any(side.name == "transformers" for side in sides)
    factor = 1.1 if is_time else 0.9
    return JointResult(
        "run",
        {
            text: tuple((1000.0 * factor if is_slow else 1000.0) * SCATTER[block % 4] for block in range(blocks))
            for text, is_slow in slow.items()
        },
    )
