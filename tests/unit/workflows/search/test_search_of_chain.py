"""`bisect` over releases of which no Python runs all: a chain of Pythons, and what it says of it."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from orchestrator.errors import HostError
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.results.store import Run
from orchestrator.workflows.search import prepared, search
from orchestrator.workflows.search.search import Rounds
from tests.documented import blocks
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program

MATRIX = "version: 1\nframeworks: [FRAMEWORK]\nmodels: [lenet]\nmodes: [infer]\n"
PUBLISHED = ("1.7.0", "1.11.1", "1.14.0", "1.16.3", "1.19.2", "1.20.0", "1.21.1", "1.32.0", "2.0.0")
SCATTER = (1.0, 1.005, 0.996, 1.002)
ASKED = ("bisect", "--good", "onnxruntime==1.7.0", "--bad", "onnxruntime==1.32.0", "--cell", "lenet-infer-*")
ENGINES = "{name: resnet50_v1_5, batch_size: 1}"
PYTHONS = {"3.9": 1.0, "3.12": 0.7}
CHAINED = (
    "no Python runs both ends (1.7.0 runs on Python 3.6, 3.7, 3.8 and 3.9; 1.32.0 runs on Python 3.11, 3.12 and 3.13), "
    "so the releases are chained: 1.7.0 … 1.19.2 on Python 3.9 and 1.19.2 … 1.32.0 on Python 3.12; "
    "1.19.2 is measured on both sides"
)


class Host:
    """ONNX Runtime is slower from 1.21 on, and everything is on a newer Python; it dies where it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Side, ...]] = []
        self.dies_at = 10_000
        self.broken: tuple[str, str] | None = None

    def measure(self, sides: Sequence[Side], blocks: int) -> JointResult:
        if len(self.asked) == self.dies_at:
            raise HostError("the engine went away")
        self.asked.append(tuple(sides))
        reasons = {side.text: "build_failed: no wheel" for side in sides if (side.version, side.python) == self.broken}
        values = {
            side.text: tuple(self.rate(side) * SCATTER[(place + block) % 4] for block in range(blocks))
            for place, side in enumerate(sides)
            if side.text not in reasons
        }
        return JointResult(f"run-{len(self.asked)}", values, reasons)

    def rate(self, side: Side) -> float:
        slow = 0.9 if side.version in {"1.21.1", "1.32.0"} else 1.0
        return 1000.0 * slow * PYTHONS[side.python]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    written(tmp_path, "onnxruntime==1.32.0")
    found = Host()
    monkeypatch.setattr(Rounds, "measure", found.measure)
    monkeypatch.setattr(search, "recorded_packages", _held)
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, PUBLISHED))))
    return found


def written(folder: Path, framework: str) -> None:
    (folder / "matrix.yaml").write_text(MATRIX.replace("FRAMEWORK", framework))


def _held(_run: Run, side: Side) -> Mapping[str, str]:
    return {"onnxruntime": side.version}


def test_releases_without_a_common_python_are_chained(host: Host, command: Program, tmp_path: Path) -> None:
    """It is said before anything is measured, and again with the result, in every place."""
    code, out, said = command(*ASKED)

    assert code == 1, said
    assert CHAINED in said
    text = " ".join(out.split())
    assert "First changed in onnxruntime 1.21.1 (slower, × 0.900" in text
    assert f"N{CHAINED[1:]}." in text
    assert "Along the chain 1.32.0 is × 0.900 of 1.7.0 (slower, " in text
    pythons = [{side.python for side in sides} for sides in host.asked]
    assert pythons == [{"3.9"}, {"3.12"}]
    assert [side.version for side in host.asked[0]] == ["1.7.0", "1.11.1", "1.14.0", "1.16.3", "1.19.2"]
    assert [side.version for side in host.asked[1]] == ["1.19.2", "1.20.0", "1.21.1", "1.32.0"]
    (folder,) = (tmp_path / "results").iterdir()
    record = json.loads((folder / "bisect.json").read_text())
    assert record["asked"]["chain"]["reason"] == CHAINED.partition(", so")[0]
    assert CHAINED[1:] in (folder / "report.md").read_text()
    assert CHAINED[1:] in (folder / "index.html").read_text()


def test_the_page_of_engines_shows_a_chain(host: Host, command: Program, tmp_path: Path) -> None:
    """The command of the page says what the page says."""
    (shown,) = blocks("serving/releases.md", "A search over all releases", "console")
    (result,) = blocks("serving/releases.md", "A search over all releases", "text")
    line, notice = shown.splitlines()
    (tmp_path / "engines.yaml").write_text(MATRIX.replace("FRAMEWORK", "onnxruntime==1.32.0").replace("lenet", ENGINES))

    code, out, said = command(*shlex.split(line)[2:])

    assert code == 1, said
    assert notice == CHAINED
    assert notice in said.splitlines()
    form = re.sub(r"\b(RATIO|VERDICT|LOW|HIGH|ALL|ONE)\b", r"[\\w.]+", re.escape(result.strip()))
    assert re.search(form, " ".join(out.split()))


def test_killed_chain_reaches_the_same_end(host: Host, command: Program, tmp_path: Path) -> None:
    host.dies_at = 1
    code, _, said = command(*ASKED)
    assert (code, "go on with: orchestrator bisect --resume" in said) == (3, True)
    host.dies_at = 10_000

    code, out, said = command("bisect", "--resume", "latest", "--json")

    assert code == 1, said
    assert [{side.python for side in sides} for sides in host.asked] == [{"3.9"}, {"3.12"}]
    found = data_of(out)
    assert [measured["python"] for measured in found["rounds"]] == ["3.9", "3.12"]
    assert found["found"]["releases"]["changes"][0]["after"] == "1.21.1"
    assert [span["first"] for span in found["found"]["chain"]["spans"]] == ["1.7.0", "1.19.2"]


def test_a_broken_chain_names_release_and_python(host: Host, command: Program) -> None:
    host.broken = ("1.19.2", "3.12")

    code, _, said = command(*ASKED)

    assert code == 3
    assert (
        "Good and bad could not be compared: the chain breaks at 1.19.2 on Python 3.12: build_failed: no wheel" in said
    )


def test_matrix_chooses_the_pythons_of_a_chain(host: Host, command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pythons that the matrix names are the only ones, and others are open where it names none."""
    monkeypatch.setitem(PYTHONS, "3.8", 1.0)
    monkeypatch.setitem(PYTHONS, "3.11", 1.0)
    written(Path(), "{name: onnxruntime, version: 1.32.0, python: ['3.8', '3.11']}")

    code, _, said = command(*ASKED)

    assert code == 1, said
    assert [{side.python for side in sides} for sides in host.asked] == [{"3.8"}, {"3.11"}]


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        (
            "{name: onnxruntime, version: 1.32.0, python: ['3.6', '3.12']}",
            "onnxruntime 1.7.0 (Python 3.6) and 1.19.2 (Python 3.12) share no Python; search up to 1.7.0, or from",
        ),
        (
            "{name: onnxruntime, version: 1.32.0, python: '3.12'}",
            "--good onnxruntime==1.7.0: no Python runs both ends, and the matrix names none that runs this one",
        ),
    ],
)
def test_what_cannot_be_chained_is_one_line(
    host: Host, command: Program, tmp_path: Path, framework: str, said: str
) -> None:
    written(tmp_path, framework)

    code, out, errors = command(*ASKED)

    assert (code, out, host.asked) == (2, "", [])
    assert said in errors
    assert not (tmp_path / "results").exists()
