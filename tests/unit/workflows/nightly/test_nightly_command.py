"""`orchestrator nightly` as a whole, in nights that measure nothing and so need no engine."""

import json
import threading
from pathlib import Path

import pytest

from orchestrator.cli.program import run as main
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.state import Judgement, ReleaseRecord, State
from orchestrator.workflows.nightly.reports import with_pages, write_reports
from orchestrator.workflows.nightly.services import Budget
from tests.envelopes import data_of
from tests.unit.regression.history.test_history import stored
from tests.unit.regression.nightly.night_records import a_night
from tests.unit.regression.nightly.test_notify import receiver

MATRIX = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [mlp]\n"
NIGHTLY = "version: 1\nwatch: mxnet\nfirst: 1.5.1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    (tmp_path / "nightly.yaml").write_text(NIGHTLY)
    return tmp_path


@pytest.fixture
def wheels(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The releases of a folder, in place of every index."""
    links = folder / "wheels"
    links.mkdir()
    (links / "mxnet-1.5.1-py3-none-any.whl").touch()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return links


def test_quiet_night_is_recorded_in_every_form(folder: Path, wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A night with nothing new is recorded in every form."""
    assert main(["nightly", "--json"]) == 0
    night = data_of(capsys.readouterr().out)

    own = folder / "nightly" / "nights" / night["night"]
    assert (night["ending"], night["offered"]) == ("nothing_new", ["1.5.1"])
    assert sorted(path.name for path in own.iterdir()) == ["index.html", "junit.xml", "night.json", "report.md"]
    assert json.loads((own / "night.json").read_text()) == night
    assert (folder / "nightly" / "index.html").exists()
    for name in ("junit.xml", "report.md"):
        assert (folder / "nightly" / name).read_text() == (own / name).read_text()
    assert (folder / "nightly" / "history" / "index.html").exists()


def test_silent_index_ends_with_3(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A silent index ends with 3 and is recorded."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    assert main(["nightly"]) == 3
    assert "did not answer" in capsys.readouterr().out
    assert NightFiles(folder / "nightly").nights()[0].ending == "index_silent"


def test_release_for_other_python_is_unsupported(
    folder: Path, wheels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release for another Python is unsupported, and nothing is built for it."""
    newest = '<a href="mxnet-1.9.2.tar.gz" data-requires-python="&gt;=3.15">mxnet-1.9.2.tar.gz</a>'
    (wheels / "index.html").write_text(f'<a href="mxnet-1.5.1.tar.gz">mxnet-1.5.1.tar.gz</a>{newest}')

    assert main(["nightly"]) == 0
    (tried,) = NightFiles(folder / "nightly").nights()[0].tried
    assert tried.record.judgement == "unsupported"
    assert tried.record.reason.startswith("mxnet 1.9.2 asks for Python >=3.15; the catalog has 3.11, ")
    assert not (folder / "results").exists()


def test_second_start_ends_with_3(folder: Path, wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second night that is started during the first says so and ends with 3."""
    with NightFiles(folder / "nightly").held():
        assert main(["nightly"]) == 3

    assert "another night is under way" in capsys.readouterr().err
    assert NightFiles(folder / "nightly").nights() == []


def test_accepted_release_is_the_next_baseline(folder: Path, wheels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A release that is accepted by hand is the baseline of the next night."""
    (folder / "nightly.yaml").write_text("version: 1\nwatch: mxnet\n")
    (wheels / "mxnet-1.9.1-py3-none-any.whl").touch()
    assert main(["nightly"]) == 2
    assert "orchestrator nightly accept mxnet==VERSION" in capsys.readouterr().err

    assert main(["nightly", "accept", "mxnet==1.9.1"]) == 0
    assert main(["nightly"]) == 0
    assert NightFiles(folder / "nightly").nights()[-1].baseline == "1.9.1"


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (NIGHTLY, ["accept", "torch==1.0"], "watches 'mxnet'; write mxnet==1.0"),
        (NIGHTLY, ["accept", "mxnet"], "no release such as mxnet==1.9.1"),
        ("version: 1\nwatch: mxnet\nbaseline: 1.5.1\n", ["accept", "mxnet==1.9.1"], "is the pin 1.5.1"),
        (NIGHTLY + "metrics: [throughput@lenet=3%]\n", [], "no model 'lenet'"),
        (NIGHTLY + "metrics: [throughput=lots]\n", [], "is no tolerance"),
        (NIGHTLY + "budget: -1\n", [], "budget"),
        (
            NIGHTLY + "select: [typo]\n",
            [],
            "nightly.yaml:4:10: select: 'typo' matches no pair of cells of mxnet==1.5.1",
        ),
        (NIGHTLY + "exclude: ['*']\n", [], "nightly.yaml:4:10: exclude: leaves nothing of what is selected"),
        ("version: 1\nwatch: mxnet\nfirst: 9.9\n", [], "nightly.yaml:3:8: first: the catalog knows mxnet "),
        ("version: 1\nwatch: mxnet\nbaseline: 9.9\n", [], "nightly.yaml:3:11: baseline: the catalog knows mxnet "),
        ("version: 1\nwatch: tensorflow\nfirst: 2.20.0\n", [], "matrix.yaml: frameworks: no entry of 'tensorflow'"),
        (NIGHTLY, ["accept", "mxnet==9.9"], "'mxnet==9.9': the catalog knows mxnet "),
    ],
)
@pytest.mark.usefixtures("wheels")
def test_bad_input_ends_with_2_and_leaves_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, arguments: list[str], words: str
) -> None:
    (folder / "nightly.yaml").write_text(text)

    assert main(["nightly", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "--" not in said
    assert not (folder / "nightly").exists() or not list((folder / "nightly").glob("nights/*"))
    assert not (folder / "nightly" / "state.json").exists()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("version: 1\nwatch: mxnet\nfirst: 1.9.8\n", "nightly.yaml:3:8: first: "),
        ("version: 1\nwatch: mxnet\nbaseline: 1.9.8\n", "nightly.yaml:3:11: baseline: "),
        ("version: 1\nwatch: mxnet\n", "accept another one with orchestrator nightly accept mxnet==VERSION: "),
        ("version: 1\nwatch: mxnet==1.9.1\npackage: numpy\nfirst: 1.9.8\n", "nightly.yaml:4:8: first: "),
    ],
)
def test_unknown_baseline_is_a_mistake(
    folder: Path, wheels: Path, capsys: pytest.CaptureFixture[str], text: str, place: str
) -> None:
    """A baseline that no index has is a mistake and not a night without news."""
    (folder / "nightly.yaml").write_text(text)
    for number in range(7):
        (wheels / f"numpy-1.2{number}-py3-none-any.whl").touch()
    if "first" not in text and "baseline" not in text:
        assert main(["nightly", "accept", "mxnet==1.9.8"]) == 0
    before = state.read_text() if (state := folder / "nightly/state.json").exists() else ""

    assert main(["nightly"]) == 2
    said = capsys.readouterr().err
    has = "numpy 1.9.8; name one that there is: 1.26, 1.25, 1.24, 1.23, 1.22 and 2 older ones"
    has = has if "numpy" in text else "mxnet 1.9.8; name one that there is: 1.5.1"
    assert f"{place}no package index of this site has {has}" in said
    assert NightFiles(folder / "nightly").nights() == []
    assert (state.read_text() if state.exists() else "") == before


def test_measured_baseline_may_leave_the_index(folder: Path, wheels: Path) -> None:
    record = ReleaseRecord(version="1.9.1", baseline="1.9.0", judgement=Judgement.CLEAN, night="n")
    files = NightFiles(folder / "nightly")
    files.folder.mkdir()
    for baseline, judgement, status in (
        ("1.9.1", Judgement.CLEAN, 0), ("1.9.0", Judgement.CLEAN, 0), ("1.9.1", Judgement.NO_RESULT, 2),
        ("1.9.0", Judgement.NO_RESULT, 2), ("1.5.0", Judgement.CLEAN, 2),
    ):  # fmt: skip
        known = record.model_copy(update={"judgement": judgement})
        files.write_state(State(watched="mxnet", accepted=baseline, accepted_by="hand", releases=(known,)))
        assert main(["nightly"]) == status, (baseline, judgement)


@pytest.mark.usefixtures("wheels")
def test_own_image_release_needs_no_catalog(folder: Path) -> None:
    """A release of an image of the user's own need not be in the catalog."""
    own = "version: 1\nframeworks: [{name: mxnet, version: '9.9', image: 'ours/mxnet:9.9'}]\nmodels: [mlp]\n"
    (folder / "matrix.yaml").write_text(own)

    assert main(["nightly", "accept", "mxnet==9.9"]) == 0
    assert main(["nightly"]) == 0


@pytest.mark.usefixtures("wheels")
@pytest.mark.parametrize("first", ["1.22.4", "99"])
def test_package_is_watched_in_a_release(folder: Path, first: str) -> None:
    """A package is watched in a release, whatever its own release is."""
    (folder / "nightly.yaml").write_text(f"version: 1\nwatch: mxnet==1.9.1\npackage: numpy\nfirst: '{first}'\n")
    (folder / "wheels" / f"numpy-{first}-py3-none-any.whl").touch()

    assert main(["nightly"]) == 0
    assert main(["nightly", "accept", "numpy==2"]) == 0


@pytest.mark.usefixtures("wheels")
def test_glob_may_name_baseline_cells(folder: Path) -> None:
    (folder / "nightly.yaml").write_text(NIGHTLY + "select: ['mxnet-1.5.1-*/mlp-*']\n")

    assert main(["nightly"]) == 0


def test_release_outside_catalog_is_unsupported(folder: Path, wheels: Path) -> None:
    """A release that the catalog lacks is unsupported, and the reason says the way out."""
    (wheels / "mxnet-9.9-py3-none-any.whl").touch()

    assert main(["nightly"]) == 0
    (tried,) = NightFiles(folder / "nightly").nights()[0].tried
    assert (tried.record.judgement, tried.record.attempts) == ("unsupported", 0)
    assert "add a line to images/catalog/mxnet.yaml" in tried.record.reason


def test_missing_key_posts_nothing(folder: Path, wheels: Path) -> None:
    """Without its key nothing is posted, and the night says so."""
    webhook = "webhook: {url: 'http://127.0.0.1:9/', secret_variable: NIGHTLY_TEST_KEY}\n"
    (folder / "nightly.yaml").write_text(NIGHTLY + webhook)

    assert main(["nightly"]) == 0
    posted = NightFiles(folder / "nightly").nights()[0].posted
    assert posted is not None
    assert (posted.delivered, posted.attempts) == (False, 0)
    assert "NIGHTLY_TEST_KEY is not set" in posted.reason


@pytest.mark.usefixtures("wheels")
def test_night_is_posted_through_the_proxy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A night is posted through the proxy of the environment."""
    (folder / "nightly.yaml").write_text(NIGHTLY + "webhook: {url: 'http://chat.example/hook'}\n")
    with receiver(204) as (proxy, requests):
        monkeypatch.setenv("http_proxy", proxy)
        assert main(["nightly"]) == 0

    assert [headers["Host"] for headers, _ in requests] == ["chat.example"]


@pytest.mark.usefixtures("wheels")
def test_new_history_change_is_reported_only_once(folder: Path) -> None:
    """A new change of the history is reported by one night alone."""
    for number, rate in enumerate((100.0, 102.0, 99.0, 101.0, 98.0, 70.0, 71.0, 69.0, 70.5), 1):
        stored(folder / "results", number, [rate])

    assert [main(["nightly"]) for _ in range(2)] == [0, 0]
    first, second = NightFiles(folder / "nightly").nights()
    ((told,), later) = first.changes, second.changes
    assert (told.metric, told.date, round(told.ratio, 1), later) == ("throughput", "2026-01-06", 0.7, ())
    assert "New in the history, and no alarm: " in (folder / "nightly/nights" / first.night / "report.md").read_text()


def test_night_records_pages_of_its_runs(tmp_path: Path) -> None:
    """A night records where the pages of its runs are."""
    night, files = a_night(), NightFiles(tmp_path / "reports")
    page = tmp_path / "results" / "run-1.6.0" / "regression" / "index.html"
    assert [trying.page for trying in with_pages(files, tmp_path / "results", night).tried] == ["", "", ""]
    page.parent.mkdir(parents=True)
    page.touch()

    files.night_folder(night.night).mkdir(parents=True)
    told = with_pages(files, tmp_path / "results", night)
    assert [trying.page for trying in told.tried] == ["../../../results/run-1.6.0/regression/index.html", "", ""]
    assert 'href="../../../results/run-1.6.0/regression/' in write_reports(files, told).read_text()


def test_a_budget_that_is_spent_is_no_interruption() -> None:
    budget = Budget(threading.Event())
    with budget.running(0.01):
        assert budget.stop.wait(120)
    assert (budget.stop.is_set(), budget.is_spent, budget.is_interrupted) == (True, True, False)

    stopped = Budget(threading.Event())
    with stopped.running(None):
        stopped.stop.set()
    assert (stopped.is_spent, stopped.is_interrupted) == (False, True)


def test_empty_history_is_a_page_without_series(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The history of an empty folder is a page without series."""
    assert main(["history"]) == 2
    (folder / "results").mkdir()
    assert main(["history", "--json"]) == 0
    assert data_of(capsys.readouterr().out) == []
    assert main(["history", "--metric", "thruput"]) == 2
    assert "did you mean 'throughput'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (("--select", "mxnet-*/vgg*"), 2, "--select 'mxnet-*/vgg*' matches no series; there is mxnet-"),
        (("--host", "nowhere"), 2, "--host 'nowhere': no series of it here; there is "),
        (("--select", "mxnet-1.9.1-*"), 0, "--by-release shows those of one release"),
    ],
)
def test_empty_selection_keeps_the_history_page(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: tuple[str, ...], code: int, said: str
) -> None:
    """The page of the history stays as it is if there is nothing to show."""
    for number in (1, 2, 3):
        stored(folder / "results", number, [100.0])
    assert main(["history"]) == 0
    page = (folder / "results" / "history" / "index.html").read_text()
    assert "mxnet-*" in page

    capsys.readouterr()
    assert main(["history", *asked]) == code
    told = capsys.readouterr()
    assert said in told.err
    assert not told.out
    assert (folder / "results" / "history" / "index.html").read_text() == page
