"""Nights that watch a serving engine over networks of the user's own."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.catalog import UnsupportedError
from orchestrator.regression.nightly.state import Judgement, ReleaseRecord, State, Tonight, Trying
from orchestrator.results.results_folder import runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.pair import SourceOptions
from orchestrator.workflows.measure.runtime import Chosen
from orchestrator.workflows.nightly.anchor import anchored_pairing
from orchestrator.workflows.nightly.night import NightlyOptions, night
from orchestrator.workflows.nightly.past import NOTHING, Past
from orchestrator.workflows.nightly.planner import NightlyPlanner
from tests import exported
from tests.documented import blocks
from tests.unit.regression.trials.bench_trials import steady, unsupported
from tests.unit.workflows import networks_on_bench
from tests.unit.workflows.networks_on_bench import EngineBench

NIGHTLY = "version: 1\nwatch: onnxruntime\nfirst: 1.20.1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    networks_on_bench.write(tmp_path)
    return tmp_path


def planner(folder: Path, further: str = "", nightly: str = NIGHTLY) -> NightlyPlanner:
    (folder / "nightly.yaml").write_text(nightly + further)
    return NightlyPlanner.of(folder / "nightly.yaml", SourceOptions(), Host({}))


def test_a_release_is_paired_over_selected_networks(folder: Path) -> None:
    pairing = planner(folder, "select: ['words-*']\n").pair("1.21.1", "1.20.1")

    assert [(pair.id, pair.candidate) for pair in pairing.pairs] == [
        ("cpu/words-infer-b8", "onnxruntime-1.21.1-cpu/words-infer-b8")
    ]
    assert [network.name for network in pairing.plan.networks] == ["words"]


def test_the_anchor_is_given_the_networks_too(folder: Path) -> None:
    """An anchor that shares no Python with the release is joined to it by a chain of measured ones."""
    made = planner(folder, "anchor: {release: 1.14.1, tolerance: 8%}\n")
    past = Past.of(
        State(
            watched="onnxruntime",
            releases=(ReleaseRecord(version="1.19.2", judgement=Judgement.CLEAN, night="n"),),
        )
    )
    tonight = Tonight(night="n", release="1.21.1", baseline="1.20.1")

    pairing, anchor = anchored_pairing(made, made.pair("1.21.1", "1.20.1"), tonight, past)
    _, unjoined = anchored_pairing(made, made.pair("1.21.1", "1.20.1"), tonight, NOTHING)

    assert anchor is not None
    assert unjoined is not None
    assert (anchor.over, unjoined.pairs) == (("1.19.2",), ())
    assert [pair.id for pair in anchor.pairs] == ["cpu/ours-infer-b8", "cpu/words-infer-b8"]
    assert [network.name for network in pairing.plan.networks] == ["ours", "words"]
    assert {(cell.framework.version, cell.framework.python) for cell in pairing.plan.cells} == {
        ("1.20.1", "3.11"), ("1.21.1", "3.11"), ("1.14.1", "3.10"), ("1.19.2", "3.10"), ("1.19.2", "3.11"),
    }  # fmt: skip


def test_a_package_of_an_engine_is_paired_over_networks(folder: Path) -> None:
    made = planner(folder, nightly="version: 1\nwatch: onnx\nfirst: 1.20.0\n")

    pairing = made.pair("1.21.0", "1.20.0")

    assert [pair.candidate for pair in pairing.pairs] == [
        f"onnxruntime-1.20.1-onnx=1.21.0-cpu/{work}" for work in ("ours-infer-b8", "words-infer-b8")
    ]
    assert [network.name for network in pairing.plan.networks] == ["ours", "words"]


def test_a_framework_without_networks_has_nothing_to_watch(folder: Path) -> None:
    matrix = folder / "matrix.yaml"
    matrix.write_text(matrix.read_text().replace("onnxruntime==1.20.1", "torch==2.12.0"))
    made = planner(folder, nightly="version: 1\nwatch: torch\nfirst: 2.12.0\n")

    with pytest.raises(UnsupportedError, match="torch runs no ONNX files; onnxruntime and openvino do"):
        made.pair("2.13.0", "2.12.0")


class Watched:
    """Nights over a folder of releases, whose containers are in memory."""

    def __init__(self, folder: Path, bench: EngineBench) -> None:
        self.folder, self.bench = folder, bench
        variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}
        places = {"ORCHESTRATOR_LOCK_FOLDER": str(folder), "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
        self._host = Host(variables | places)

    def night(self, *releases: str) -> tuple[Trying, ...]:
        """Publish releases and hold a night. Return what it tried."""
        for release in releases:
            (self.folder / f"onnxruntime-{release}-py3-none-any.whl").touch()
        return night(NightlyOptions(file=self.folder / "nightly.yaml", idle_wait_s=0.0), self._host).night.tried


def judgements(tried: Sequence[Trying]) -> dict[str, Judgement]:
    return {each.record.version: each.record.judgement for each in tried}


@pytest.fixture
def watched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """A night of ONNX Runtime, of which 1.22.0 is a tenth slower."""
    bench = EngineBench(rate=steady(**{"1.22.0": 0.9}))
    monkeypatch.setattr(jobs, "choose", lambda *_: Chosen(bench))
    (folder / "nightly.yaml").write_text(NIGHTLY)
    return Watched(folder, bench)


def test_a_night_judges_an_engine_by_own_networks(watched: Watched) -> None:
    """A slower release alarms, and each cell is given its own file."""
    tried = watched.night("1.20.1", "1.21.1", "1.22.0")

    assert judgements(tried) == {"1.21.1": Judgement.CLEAN, "1.22.0": Judgement.REGRESSED}
    assert {(cell.partition("/")[2], *given) for cell, given in watched.bench.given.items()} == {
        ("ours-infer-b8", "ours.onnx"), ("words-infer-b8", "words.onnx"),
    }  # fmt: skip
    assert watched.night() == ()


def test_the_next_night_takes_a_new_export(watched: Watched) -> None:
    """A night measures both sides by the file that is there, which its run keeps."""
    watched.night("1.20.1", "1.21.1")
    exported.saved(exported.image_network(4), watched.folder / "nets/ours.onnx")
    matrix = watched.folder / "matrix.yaml"
    matrix.write_text(matrix.read_text().replace("batch_size: 8}\n", "batch_size: 4}\n"))

    assert judgements(watched.night("1.22.0")) == {"1.22.0": Judgement.REGRESSED}

    first, second = (
        {each.name: each.sha256 for each in run.plan().networks} for run in runs(watched.folder / "results")
    )
    assert first["words"] == second["words"]
    assert first["ours"] != second["ours"]


def test_a_refused_network_is_gone_with_the_message(watched: Watched) -> None:
    """A release that refuses the file is not accepted, and the night names what the engine said."""
    watched.bench.ends = {"1.21.1": unsupported}

    (tried,) = watched.night("1.20.1", "1.21.1")

    assert (tried.record.judgement, tried.record.reason) == (
        Judgement.INCONCLUSIVE,
        "gone: cpu/ours-infer-b8 and 1 more",
    )
    assert tried.regression is not None
    assert {(pair.verdict.value, pair.reason) for pair in tried.regression.pairs} == {
        ("gone", "unsupported: cannot do that")
    }


def test_the_page_shows_a_night_of_an_engine(tmp_path: Path) -> None:
    """The files of the page pair a release with the one in use, and with an anchor in the same blocks."""
    matrix, nightly = blocks("serving/releases.md", "Every night", "yaml")
    exported.saved(exported.image_network(), tmp_path / "ours.onnx")
    (tmp_path / "matrix.yaml").write_text(matrix)
    made = planner(tmp_path, nightly=nightly)

    pairing = made.pair("1.32.0", "1.31.1")
    whole, anchor = anchored_pairing(made, pairing, Tonight(night="n", release="1.32.0", baseline="1.31.1"), NOTHING)

    assert [pair.id for pair in pairing.pairs] == ["cpu/ours-infer-b1", "cpu/ours-infer-b8"]
    assert anchor is not None
    assert (anchor.missing, anchor.side.version) == ((), "1.27.0")
    assert len(whole.plan.cells) == 6
