"""`bisect` over the releases of a package, whose frameworks stay as the matrix has them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.results.store import Run
from orchestrator.workflows.search import prepared, search
from orchestrator.workflows.search.search import Rounds
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program

SCRIPT = """version: 1
frameworks: [mxnet==1.9.1]
scripts:
  - {name: bert, file: bert.py, packages: {numpy: 1.18.5}, metrics: {FIGURES}}
"""
STEP, SPEED = "step: {pattern: x, unit: ms, better: lower}", "speed: {pattern: x, unit: words/s, better: higher}"
MATRIX = "version: 1\nframeworks: [mxnet==1.9.1, noop==1]\nmodels: [lenet]\n"
PUBLISHED = ("1.18.5", "1.19.0", "1.19.0.post1", "1.19.5", "1.20.0", "1.21.0rc1", "1.21.0", "2.0.0")
SCATTER = (1.0, 1.005, 0.996, 1.002)
ASKED = ("bisect", "--good", "numpy==1.18.5", "--bad", "numpy==1.21.0", "--cell", "mxnet-*")


def _held(_run: Run, side: Side) -> Mapping[str, str]:
    """Each release of NumPy from 1.20 on brings another release of a second package."""
    return {"mxnet": "1.9.1", "numpy": side.version, "blas": "2.0" if side.version >= "1.20" else "1.0"}


class Host:
    """A host on which a release of NumPy is slower from 1.20 on, by itself or by what it brings."""

    def __init__(self, by: str) -> None:
        self.by = by
        self.asked: list[tuple[Side, ...]] = []

    def measure(self, sides: Sequence[Side], blocks: int) -> JointResult:
        self.asked.append(tuple(sides))
        values = {
            side.text: tuple(self._rate(side) * SCATTER[(place + block) % 4] for block in range(blocks))
            for place, side in enumerate(sides)
        }
        return JointResult(f"run-{len(self.asked)}", values)

    def _rate(self, side: Side) -> float:
        version = {**_held(Run(Path()), side), **side.pins}[self.by]
        return 900.0 if version in {"2.0", "1.20.0", "1.21.0"} else 1000.0


@pytest.fixture
def slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Host:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    host = Host(request.param)
    monkeypatch.setattr(Rounds, "measure", host.measure)
    monkeypatch.setattr(search, "recorded_packages", _held)
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, PUBLISHED))))
    return host


@pytest.mark.parametrize("slower", ["numpy"], indirect=True)
def test_releases_of_package_are_searched(slower: Host, command: Program, tmp_path: Path) -> None:
    """The releases come from the index, a post-release by its own name, and all run in one framework."""
    code, out, said = command(*ASKED)

    assert code == 1, said
    assert "First changed in numpy 1.20.0 (slower, × 0.900" in out
    assert [side.text for side in slower.asked[0]] == [
        f"numpy=={version}" for version in ("1.18.5", "1.19.0", "1.19.0.post1", "1.19.5", "1.20.0", "1.21.0")
    ]
    assert {(side.is_package, side.python) for side in slower.asked[0]} == {(True, "3.11")}
    assert "not searched: 1.21.0rc1" in said
    (folder,) = (tmp_path / "results").iterdir()
    assert json.loads((folder / "bisect.json").read_text())["asked"]["within"] == "mxnet 1.9.1"
    (title,) = {line for line in (folder / "report.md").read_text().splitlines() if line.startswith("# ")}
    assert title == "# numpy 1.18.5 … 1.21.0 in mxnet 1.9.1: throughput of mxnet-1.9.1-cpu/lenet-train-b200"

    code, again, _ = command("bisect", "--resume", "latest", "--json")
    assert (code, data_of(again)["searched"]) == (1, "numpy")


@pytest.mark.parametrize("slower", ["blas"], indirect=True)
def test_what_moved_with_package_is_named(slower: Host, command: Program) -> None:
    """Dependencies that a release of the package brought are searched with the package itself held back."""
    _, out, _ = command(*ASKED)

    assert "First changed in numpy 1.20.0" in out
    assert "moved by blas 1.0 → 2.0" in out
    between = [side for side in slower.asked[-1] if side.packages]
    assert [side.text for side in between] == ["numpy==1.19.5,blas==2.0,mxnet==1.9.1"]


@pytest.mark.parametrize("slower", ["numpy"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--bad", "nunpy==1.21.0"), "--bad 'nunpy==1.21.0': unknown framework 'nunpy', and the matrix names no such"),
        (("--bad", "mxnet==1.8.0"), "must differ in one release alone: of the framework, or of one package that both"),
        (("--bad", "numpy==1.18.0"), "--good 1.18.5 is not older than --bad 1.18.0: exchange them"),
        (("--cell", "*"), "--cell '*' matches 2 cells, and a search is of one: mxnet-1.9.1-cpu/lenet-train-b200, noop"),
    ],
)
def test_mistakes_of_a_package_search(slower: Host, command: Program, arguments: tuple[str, ...], said: str) -> None:
    """A mistake ends with 2 before anything is measured. The later of two equal options counts."""
    code, out, error = command(*ASKED, *arguments)

    assert (code, out, slower.asked) == (2, "", [])
    assert said in error


def written(folder: Path, *figures: str) -> None:
    """Write a matrix of one script with some figures."""
    (folder / "bert.py").write_text("print('x')")
    (folder / "matrix.yaml").write_text(SCRIPT.replace("FIGURES", ", ".join(figures)))


@pytest.mark.parametrize("slower", ["numpy"], indirect=True)
def test_a_script_is_searched_by_what_it_prints(slower: Host, command: Program, tmp_path: Path) -> None:
    """The one figure of a script needs no name, and its direction is that of the matrix."""
    written(tmp_path, STEP)

    code, out, said = command(*ASKED, "--json")

    assert (code, len(slower.asked)) == (0, 2), said
    record = data_of(out)
    gate = {"metric": "printed.step", "tolerance": 0.05, "model": "bert", "better": "lower", "unit": "ms"}
    assert record["asked"]["metric"] == gate
    assert record["found"]["releases"]["changes"][0]["comparison"]["verdict"] == "faster"
    _, shown, _ = command("bisect", "--resume", "latest")
    assert "numpy 1.18.5 … 1.21.0 in mxnet 1.9.1: step of cpu/bert-script" in shown


@pytest.mark.parametrize("slower", ["numpy"], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--metric is missing: a script is searched by a figure that it prints: printed.step and printed.speed"),
        (
            ("--metric", "throughput"),
            "--metric 'throughput': a script is searched by a figure that it prints: printed.",
        ),
        (("--metric", "printed.spead"), "no script of the matrix prints it; did you mean 'printed.speed'?"),
    ],
)
def test_a_figure_of_several_is_named(
    slower: Host, command: Program, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    written(tmp_path, STEP, SPEED)

    code, out, error = command(*ASKED, *arguments)

    assert (code, out, slower.asked) == (2, "", [])
    assert said in error
