"""The page of Hugging Face configurations, whose matrix is planned and whose commands are followed."""

import ast
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.regression.pairing import Selection
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.rules import parse_gates
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import SourceOptions, regression_setup
from orchestrator.workflows.nightly.planner import NightlyPlanner
from orchestrator.workflows.search import prepared, search
from orchestrator.workflows.search.search import Rounds
from tests.documented import blocks
from tests.unit.cli.conftest import Program

PAGE = "hugging_face.md"
(SCRIPT,) = blocks(PAGE, "The script", "python")
(MATRIX,) = blocks(PAGE, "The matrix", "yaml")


@pytest.fixture(autouse=True)
def page(tmp_path: Path) -> None:
    """Write the files of the page."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/configuration.py").write_text(SCRIPT)
    (tmp_path / "matrix.yaml").write_text(MATRIX)


def options_of(section: str) -> dict[str, str]:
    """Return the options of the one command of a section, with their values."""
    (line,) = blocks(PAGE, section, "sh")
    words = shlex.split(line)[2:]
    return dict(zip(words[::2], words[1::2], strict=True))


def test_script_needs_no_download() -> None:
    """The script is Python, and builds its model from a configuration alone."""
    called = {node.attr for node in ast.walk(ast.parse(SCRIPT)) if isinstance(node, ast.Attribute)}

    assert "from_config" in called
    assert "from_pretrained" not in called


def test_two_releases_are_paired(tmp_path: Path) -> None:
    """The command of the page pairs the one script with itself, and all that it prints decides."""
    given = options_of("Two releases")
    setup = regression_setup(tmp_path / "matrix.yaml", SourceOptions(), Host({}))
    sides = [setup.side(given[option], option) for option in ("--baseline", "--candidate")]

    pairing = setup.pair(sides[0], sides[1], Selection((given["--select"],)))

    assert [(pair.id, pair.candidate) for pair in pairing.pairs] == [
        ("cpu/bert-script", "torch-2.13.0-transformers=4.57.6-cpu/bert-script")
    ]
    gates = parse_gates([], "--metric", [], setup.printed(of_package=True))
    assert [gate.metric.partition(".")[2] for gate in gates if gate.model == "bert"] == [
        "step",
        "build",
        "import",
        "loss",
    ]


def test_releases_between_are_searched(command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of the page asks the index for the releases between its ends."""
    published = ("4.48.3", "4.49.0", "4.50.0", "4.50.3", "4.57.6")
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, published))))
    monkeypatch.setattr(Rounds, "measure", _built_slowly_from_4_50)
    monkeypatch.setattr(search, "recorded_packages", lambda _run, side: {"transformers": side.version})
    (line,) = blocks(PAGE, "Which release changed it", "sh")

    code, out, said = command(*shlex.split(line)[1:])

    assert code == 1, said
    assert "transformers 4.48.3 … 4.50.3 in torch 2.13.0: build of cpu/bert-script" in out
    (result,) = blocks(PAGE, "Which release changed it", "text")
    form = re.sub(r"\b(RELEASE|BEFORE|RATIO|LOW|HIGH|P)\b", r"[\\w.-]+", re.escape(result.strip()))
    (found,) = re.findall(form, " ".join(out.split()))
    assert found.startswith("First changed in transformers 4.50.0 (slower")


def _built_slowly_from_4_50(_rounds: Rounds, sides: Sequence[Side], blocks: int) -> JointResult:
    values = {
        side.text: tuple(
            (600.0 if side.version >= "4.50" else 45.0) * (1 + 0.01 * (block % 3)) for block in range(blocks)
        )
        for side in sides
    }
    return JointResult("run", values)


def test_the_night_of_the_page_pairs_one_script(tmp_path: Path) -> None:
    (text,) = blocks(PAGE, "Every night", "yaml")
    (tmp_path / "nightly.yaml").write_text(text)
    planner = NightlyPlanner.of(tmp_path / "nightly.yaml", SourceOptions(), Host({}))

    gates = parse_gates(planner.nightly.settings.metrics or (), "metrics", [], planner.setup.printed(of_package=True))

    assert [pair.id for pair in planner.pair("5.0.0", "4.57.6").pairs] == ["cpu/bert-script"]
    assert {gate.metric for gate in gates if gate.better} == {"printed.step", "printed.loss"}
