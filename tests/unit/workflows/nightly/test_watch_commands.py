"""Nights with an anchor and with self-tests on a scripted runtime, and the commands on the watch itself."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.cli.program import run as main
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.records import Answer
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.trials.files import stored_trial
from orchestrator.results.results_folder import runs
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure import jobs
from orchestrator.workflows.measure.runtime import Chosen
from orchestrator.workflows.nightly.night import NightlyOptions, night
from tests.envelopes import data_of
from tests.unit.regression.nightly.night_fakes import CELL
from tests.unit.regression.nightly.night_records import a_night, alarm
from tests.unit.regression.nightly.watch_records import idle_night
from tests.unit.regression.trials.bench_trials import Bench, steady

MATRIX = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [mlp]\nparity: false\n"
NIGHTLY = "version: 1\nwatch: mxnet\nfirst: 1.5.1\n"


@dataclass
class Rig:
    """A nightly whose index is a folder, measured by a scripted runtime."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    factors: dict[str, float] = field(default_factory=dict)
    runtimes: list[Bench] = field(default_factory=list)

    def publish(self, *releases: str) -> None:
        for release in releases:
            (self.folder / f"mxnet-{release}-py3-none-any.whl").touch()

    def night(self) -> Night:
        runtime = Bench(name="docker", rate=steady(**self.factors))
        self.runtimes.append(runtime)
        self.monkeypatch.setattr(jobs, "choose", lambda *_: Chosen(runtime))
        return night(NightlyOptions(file=self.folder / "nightly.yaml", idle_wait_s=0.0), self.host()).night

    def host(self) -> Host:
        index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder), "PIP_CONFIG_FILE": "/dev/null"}
        home = {"ORCHESTRATOR_LOCK_FOLDER": str(self.folder), "HOME": str(self.folder)}
        return Host(index | home | {"XDG_CACHE_HOME": str(self.folder / "cache")})

    @property
    def files(self) -> NightFiles:
        return NightFiles(self.folder / "nightly")


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Rig]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.yaml").write_text(MATRIX)

    def made(more: str = "") -> Rig:
        (tmp_path / "nightly.yaml").write_text(NIGHTLY + more)
        found = Rig(tmp_path, monkeypatch)
        found.publish("1.5.1")
        return found

    return made


def test_small_losses_add_up_to_one_alarm(rig: Callable[[str], Rig]) -> None:
    """Each release loses 1.5 % next to the one before it, which no night calls worse."""
    watched = rig("anchor: {release: 1.4.1}\nmetrics: [throughput=3%]\n")
    releases = ("1.6.0", "1.7.0", "1.8.0", "1.9.0", "1.9.1")
    watched.factors = {f"mxnet-{release}-": 0.985**number for number, release in enumerate(("1.5.1", *releases), 1)}
    nights = []
    for release in releases:
        watched.publish(release)
        nights.append(watched.night())

    assert [night.tried[0].record.judgement.value for night in nights] == ["clean"] * 5
    alarms = [drift for night in nights for drift in night.drifts]
    assert [(drift.anchor, drift.cell, drift.metric) for drift in alarms] == [
        ("1.4.1", "cpu/mlp-train-b32", "throughput")
    ]
    (drift,) = alarms
    assert drift.ratio == pytest.approx(0.985 ** (releases.index(drift.release) + 2), abs=0.01)
    assert [step.release for step in drift.steps] == list(releases[: releases.index(drift.release) + 1])
    assert drift.unknown_until == "1.5.1"
    alarmed = next(night for night in nights if night.drifts)
    assert alarmed.exit_code == 1
    page = (watched.files.night_folder(alarmed.night) / "index.html").read_text()
    assert "Next to the anchor" in page
    cells = {cell.partition("/")[0] for cell, _ in watched.runtimes[0].measured}
    assert cells == {"mxnet-1.5.1-cpu", "mxnet-1.6.0-cpu", "mxnet-1.4.1-cpu", "mxnet-1.6.0-python=3.7-cpu"}


def test_an_idle_night_is_judged_blind(rig: Callable[[str], Rig]) -> None:
    """The files that the judge reads have the other name, and the night's record what was behind it."""
    watched = rig("self_test: true\n")
    found = watched.night()

    assert found.self_test is not None
    assert (found.self_test.release, found.self_test.complete) == ("1.5.1", True)
    (run,) = runs(watched.folder / "results")
    trial = stored_trial(run)
    assert trial.candidate.version == found.self_test.name != "1.5.1"
    assert trial.baseline.version == "1.5.1"
    assert {cell for cell, _ in watched.runtimes[0].measured} == {
        "mxnet-1.5.1-cpu-side=baseline/mlp-train-b32", "mxnet-1.5.1-cpu-side=candidate/mlp-train-b32",
    }  # fmt: skip
    assert (watched.folder / "nightly" / "watch" / "index.html").exists()
    assert (
        "orchestrator_nightly_last_success_timestamp_seconds"
        in (watched.folder / "nightly" / "metrics.prom").read_text()
    )


def test_a_self_test_gets_the_verdict_of_any_release(rig: Callable[[str], Rig], tmp_path: Path) -> None:
    """A side that is slower by its name alone is called slower, whatever it is."""
    watched = rig("self_test: true\n")
    watched.factors = {"side=candidate": 0.9}
    found = watched.night()

    assert found.self_test is not None
    assert found.self_test.regression is not None
    assert [pair.is_regression for pair in found.self_test.regression.pairs] == [True]
    assert (found.alarms, found.exit_code) == ((), 0)
    assert (watched.files.state("mxnet").alarms, watched.files.state("mxnet").self_test) == ((), None)


def test_three_wrong_answers_ask_for_more_blocks(rig: Callable[[str], Rig], capsys: pytest.CaptureFixture[str]) -> None:
    watched = rig("")
    series = {"cell": "cpu/mlp-train-b32", "metric": "throughput"}
    alarms = tuple(alarm(release=f"1.5.{number}", **series) for number in range(2, 5))
    watched.files.folder.mkdir()
    watched.files.write_state(watched.files.state("mxnet").model_copy(update={"alarms": alarms}))
    for number in range(2, 5):
        assert main(["nightly", "ack", f"mxnet==1.5.{number}", "wrong", "--reason", "noise of the rig"]) == 0
    assert "cpu/mlp-train-b32 throughput: three alarms were wrong; it takes twice the fresh blocks" in (
        capsys.readouterr().err
    )

    watched.publish("1.6.0")
    watched.factors = {"1.6.0": 0.9}
    found = watched.night()

    (judged,) = (each for each in _metrics(found) if each.gates and each.confirmation)
    assert judged.confirmation is not None
    assert judged.confirmation.blocks == 2 * judged.blocks
    assert main(["nightly", "status", "--json"]) == 0
    document = data_of(capsys.readouterr().out)
    assert document["further_blocks"] == judged.blocks
    assert document["doubted"] == [{"cell": "cpu/mlp-train-b32", "metric": "throughput", "anchor": False}]


def _metrics(found: Night):  # type: ignore[no-untyped-def]
    regression = found.tried[0].regression
    assert regression is not None
    return regression.pairs[0].metrics


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NightFiles:
    """A nightly with two alarms of 1.6.0 and one of 1.7.0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    (tmp_path / "nightly.yaml").write_text(NIGHTLY)
    files = NightFiles(tmp_path / "nightly")
    files.folder.mkdir()
    alarms = (alarm(), alarm(metric="", reason="failed"), alarm(release="1.7.0"))
    files.write_state(files.state("mxnet").model_copy(update={"alarms": alarms}))
    return files


@pytest.mark.parametrize(
    ("options", "metrics"),
    [
        ((), ["throughput", ""]),
        (("--metric", "throughput"), ["throughput"]),
        (("--metric", "broke"), [""]),
        (("--cell", "cpu/lenet-*"), ["throughput", ""]),
    ],
)
def test_an_answer_is_kept_of_every_alarm_it_means(
    answered: NightFiles, options: tuple[str, ...], metrics: list[str]
) -> None:
    assert main(["nightly", "ack", "mxnet==1.6.0", "known", "--reason", "agreed", *options]) == 0

    scores = answered.state("mxnet").scores
    assert [(score.release, score.cell, score.metric) for score in scores] == [
        ("1.6.0", CELL, name) for name in metrics
    ]
    assert {(score.answer, score.reason) for score in scores} == {(Answer.KNOWN, "agreed")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mxnet==1.8.0", "wrong"), "'mxnet==1.8.0': no night has raised an alarm for it"),
        (
            ("1.6.0", "wrong", "--metric", "loss"),
            "no alarm of it matches; there is cpu/lenet-train-b200 throughput, cpu/",
        ),
        (("torch==1.6.0", "wrong"), "watches 'mxnet'; write mxnet==1.6.0"),
        (("1.6.0", "perhaps"), "'perhaps' is not one of 'right', 'wrong', 'known'"),
    ],
)
def test_an_answer_to_nothing_is_a_mistake(
    answered: NightFiles, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    before = answered.state("mxnet")

    assert main(["nightly", "ack", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert answered.state("mxnet") == before


def test_no_answer_while_a_night_is_under_way(answered: NightFiles) -> None:
    with answered.held():
        assert main(["nightly", "ack", "1.6.0", "right"]) == 3


def test_the_status_of_a_dead_job_is_an_alarm(answered: NightFiles, capsys: pytest.CaptureFixture[str]) -> None:
    """The nights of the record are long over, and nobody has held one since."""
    for recorded in (idle_night(0), a_night(night="night-001")):
        answered.night_folder(recorded.night).mkdir(parents=True)
        answered.write_night(recorded)

    assert main(["nightly", "status"]) == 1
    said = capsys.readouterr().out
    assert "no result for 3 nights or more, which is an alarm" in " ".join(said.split())
    assert main(["nightly", "status", "--json"]) == 1
    document = data_of(capsys.readouterr().out)
    assert (document["heartbeat"]["is_silent"], document["nights"]) == (True, 2)
    assert [each["answer"] for each in document["alarms"]] == [None]


@pytest.mark.parametrize("format_", ["table", "md", "html", "json"])
def test_the_status_has_every_format(answered: NightFiles, format_: str, tmp_path: Path) -> None:
    arguments = ["nightly", "status", "--format", format_, *(["-o", "out"] if format_ != "table" else [])]

    assert main(arguments) == 0
    written = {"table": answered.watch_folder / "index.html", "html": tmp_path / "out" / "index.html"}
    assert written.get(format_, tmp_path / "out").read_text()


def test_the_status_measures_and_locks_nothing(answered: NightFiles) -> None:
    with answered.held():
        assert main(["nightly", "status"]) == 0
    assert json.loads((answered.folder / "state.json").read_text())["scores"] == []
