"""`bisect` on the command line: what the page says, on a scripted host, and every mistake in one line."""

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from orchestrator.domain import Status
from orchestrator.errors import HostError
from orchestrator.events import Notice
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.releases.pages import PublishedRelease
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from orchestrator.runtimes import Unavailable
from orchestrator.workflows.host.host import Host as WorkflowHost
from orchestrator.workflows.measure import jobs as beginning
from orchestrator.workflows.measure.runtime import Chosen
from orchestrator.workflows.search import prepared, search
from orchestrator.workflows.search.search import Rounds
from tests.documented import blocks
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.regression.trials.bench_trials import Bench, steady

(WIDE,) = blocks("models.md", "A model of your own", "python")
MATRIX = "version: 1\nframeworks: [mxnet==1.9.1, noop==1]\nmodels: [lenet, mlp]\n"
PUBLISHED = ("1.2.0", "1.3.1", "1.4.1", "1.5.0", "1.5.1", "1.6.0", "1.7.0.post2", "1.8.0.post0", "1.9.1", "2.0.0b1")
SCATTER = (1.0, 1.005, 0.996, 1.002)
EARLIER = Path(__file__).parents[3] / "guard/corpus/resumed"
"""Searches of schema 1."""
ASKED = ("bisect", "--good", "mxnet==1.2.0", "--bad", "mxnet==1.9.1", "--cell", "lenet-train-b200")


class Host:
    """MXNet is slower from 1.5.1 on, since it brings another NumPy; it dies where it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], int]] = []
        self.dies_at = 10_000

    def measure(self, sides: Sequence[Side], blocks: int) -> JointResult:
        if len(self.asked) == self.dies_at:
            raise HostError("the engine went away")
        self.asked.append((tuple(side.text for side in sides), blocks))
        values = {
            side.text: tuple(_rate(side) * SCATTER[(place + block) % 4] for block in range(blocks))
            for place, side in enumerate(sides)
        }
        return JointResult(f"run-{len(self.asked)}", values)


def _held(_run: Run, side: Side) -> Mapping[str, str]:
    new = side.version not in {"1.2.0", "1.3.1", "1.4.1", "1.5.0"}
    return {"mxnet": side.version, "numpy": "1.17.5" if new else "1.16.6", "graphviz": "0.8.4" if new else "0.8.1"}


def _rate(side: Side) -> float:
    packages = {**_held(Run(Path()), side), **dict(side.packages)}
    return 900.0 if packages["numpy"] == "1.17.5" else 1000.0


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    found = Host()
    monkeypatch.setattr(Rounds, "measure", found.measure)
    monkeypatch.setattr(search, "recorded_packages", _held)
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, PUBLISHED))))
    return found


def test_what_the_page_says_finds_what_it_says(host: Host, command: Program, tmp_path: Path) -> None:
    (line,) = blocks("regression.md", "Which release changed it", "sh")
    (said,) = blocks("regression.md", "Which release changed it", "text")

    code, out, errors = command(*shlex.split(line)[1:])

    assert code == 1, errors
    before, moved = said.strip().split(" (slower, × 0.900, ")
    shown = next(each for each in out.splitlines() if each.startswith("First changed"))
    assert shown.startswith(f"{before} (slower, × 0.900, ")
    assert shown.endswith(moved[moved.index("), moved by") :])
    assert "not searched: 2.0.0b1" not in errors  # it lies beyond
    first, blocks_of_all = host.asked[0]
    assert (first[0], first[-1], len(first), blocks_of_all) == ("mxnet==1.2.0", "mxnet==1.9.1", 9, 4)
    assert len(list((tmp_path / "results").glob("bisect-*/bisect.json"))) == 1


def test_last_line_names_the_evidence(host: Host, command: Program, tmp_path: Path) -> None:
    """The last line says where the evidence lies, and the page is there."""
    _, out, _ = command(*ASKED)
    (folder,) = (tmp_path / "results").iterdir()
    last = f"evidence: {Path('results', folder.name, 'index.html')}"

    assert out.splitlines()[-1] == last
    assert {"bisect.json", "index.html", "report.md"} <= {path.name for path in folder.iterdir()}
    _, out, said = command("bisect", "--resume", "latest", "--json")
    assert json.loads(said.splitlines()[-1])["message"] == last
    assert data_of(out)["name"] == folder.name


def test_build_spoilt_by_index_is_remade(command: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that the index spoilt is made again on resume and measured anew next to the other."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    monkeypatch.setattr(
        prepared, "offered_releases", lambda *_: Offered(tuple(map(PublishedRelease, ("1.2.0", "1.3.1", "1.4.1"))))
    )
    bench = Bench(rate=steady(**{"1.3.1": 0.9, "1.4.1": 0.9}), name="docker")
    told = Notice("package index file:///wheels exists on this host only")

    def choose(*given: object) -> Chosen:
        host = given[-1]
        assert isinstance(host, WorkflowHost)
        host.listener(told)
        return Chosen(bench)

    monkeypatch.setattr(beginning, "choose", choose)
    down = "No matching distribution found for mxnet==1.3.1: https://index cannot be reached: it refuses connections"
    image = "bench/mxnet:1.3.1-cpu"
    bench.unavailable = {image: Unavailable(image, Status.BUILD_FAILED, down)}
    asked = ("--good", "mxnet==1.2.0", "--bad", "mxnet==1.4.1", "--cell", "lenet-train-b200", "--no-parity")

    first = command("bisect", *asked, "--idle-wait", "0")
    bench.unavailable = {}
    again = command("bisect", "--resume", "latest", "--idle-wait", "0")

    assert (first[0], again[0]) == (1, 1), first[2] + again[2]
    assert f"Stepped over mxnet 1.3.1: build_failed: {down} (--resume tries it again)" in first[1]
    assert "First changed in mxnet 1.4.1, or in 1.3.1, which could not be tested" in first[1]
    assert "First changed in mxnet 1.3.1 (slower" in again[1]
    assert first[2].count(told.message) == 1
    spoilt, *others, anew = runs(next((tmp_path / "results").iterdir()))
    assert [cell.framework.version for cell in anew.plan().cells] == ["1.2.0", "1.3.1", "1.4.1"]
    assert {outcome.status for outcome in anew.outcomes(anew.plan().cells)} == {Status.OK}
    assert Status.BUILD_FAILED in {outcome.status for outcome in spoilt.outcomes(spoilt.plan().cells)}
    assert others == []


def test_tolerance_may_belong_to_the_searched_model(host: Host, command: Program) -> None:
    code, out, errors = command(*ASKED, "--metric", "throughput@lenet=20%", "--json")

    assert (code, data_of(out)["asked"]["metric"]["tolerance"]) == (0, 0.2), errors
    assert host.asked


def test_interrupted_search_reaches_the_same_end(host: Host, command: Program, tmp_path: Path) -> None:
    """A search that the host ended goes on to the same end."""
    host.dies_at = 1
    code, _, said = command(*ASKED)
    (name,) = [path.name for path in (tmp_path / "results").iterdir()]
    assert (code, f"go on with: orchestrator bisect --resume {name} --results results" in said) == (3, True)
    before = list(host.asked)
    host.dies_at = 10_000

    again, out, _ = command("bisect", "--resume", "latest", "--json")

    assert (again, host.asked[:1]) == (1, before)
    assert len(set(host.asked)) == len(host.asked)
    found = data_of(out)
    assert found["found"]["releases"]["changes"][0]["after"] == "1.5.1"
    assert found["found"]["origins"][0]["by"] == ["numpy 1.16.6 → 1.17.5"]
    assert found == json.loads((tmp_path / "results" / name / "bisect.json").read_text())
    (tmp_path / "matrix.yaml").write_text(MATRIX + "steps: 10\n")
    code, _, said = command("bisect", "--resume", name)
    assert (code, "has changed since" in said) == (2, True)
    (tmp_path / "results" / name / "bisect.json").write_text("{")
    code, _, said = command("bisect", "--resume", name)
    assert (code, "not the record of a search: Invalid JSON: " in said) == (2, True)
    assert "; bring back a copy, or search again: the runs next to it stay" in said


@pytest.mark.parametrize("place", ["models_folder: mine\n", "--models"])
def test_a_search_is_of_one_model(host: Host, command: Program, tmp_path: Path, place: str) -> None:
    """A search does not go on with a model of one's own that has changed since it began."""
    (tmp_path / "mine").mkdir()
    model = tmp_path / "mine" / "wide.py"
    model.write_text(WIDE)
    (tmp_path / "matrix.yaml").write_text(
        f"version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [wide]\n{'' if place == '--models' else place}"
    )
    given = (place, str(tmp_path / "mine")) if place == "--models" else ()
    host.dies_at = 1
    code, _, said = command(*ASKED[:-1], "wide-train-*", *given)
    assert code == 3, said
    model.write_text(WIDE.replace("256", "128"))

    code, _, said = command("bisect", "--resume", "latest")

    assert (code, "a file that it names, has changed since" in said) == (2, True)


@pytest.mark.parametrize("found", [True, False])
def test_a_search_of_schema_1_is_shown_and_does_not_go_on(
    host: Host, command: Program, tmp_path: Path, found: bool
) -> None:
    stored = EARLIER / "results" / "bisect-20260510T030405Z-0000"
    folder = tmp_path / "results" / stored.name
    shutil.copytree(stored, folder)
    shutil.copy(EARLIER / "matrix.yaml", tmp_path)
    record = json.loads((folder / "bisect.json").read_text())
    (folder / "bisect.json").write_text(json.dumps(record if found else record | {"found": None}))

    code, out, errors = command("bisect", "--resume", stored.name)
    again, _, refused = command("bisect", "--resume", stored.name, "--retry-failed")

    assert not host.asked
    assert (again, "was begun by an earlier version" in refused) == (2, True)
    if found:
        assert (code, "First changed in mxnet 1.5.1 (slower" in out) == (1, True), errors
    else:
        assert (code, "search again with --good mxnet==1.2.0 --bad mxnet==1.9.1" in errors) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (ASKED[:5], "--cell is missing: say what is to be searched"),
        (("bisect", *ASKED[3:]), "--good is missing: say what is to be searched"),
        ((*ASKED[:5], "--cell", "vgg*"), "--cell 'vgg*' matches no pair of cells"),
        ((*ASKED[:5], "--cell", "*-train-*"), "--cell '*-train-*' matches 2 cells, and a search is of one"),
        ((*ASKED, "--metric", "speed"), "--metric 'speed': unknown metric"),
        (
            (*ASKED, "--metric", "latency_p99", "--max-blocks", "2"),
            "--metric 'latency_p99': latency_p99 has no bounds with fewer than 368 single steps",
        ),
        ((*ASKED, "--metric", "loss"), "--metric 'loss': is known exactly from one repeat"),
        ((*ASKED, "--max-blocks", "1"), "--max-blocks 1: takes at least 2 blocks"),
        ((*ASKED, "--resume", "latest"), "--resume goes on with what the search was to find out"),
        ((*ASKED, "--retry-failed"), "--retry-failed tries again what a search has recorded"),
        (("bisect", "--resume", "latest"), "no search here"),
        (("bisect", "--resume", "gone"), "is no search"),
        (("bisect", "--good", "mxnet==1.9.1", "--bad", "mxnet==1.2.0", "--cell", "lenet-train-b200"), "exchange them"),
        ((*ASKED[:3], "--bad", "noop==1", "--cell", "*"), "must differ in one release alone"),
        (("bisect", "--good", "noop==1", "--bad", "noop==2", "--cell", "*"), "'noop' has no package on any index"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    host: Host, command: Program, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, _, errors = command(*arguments)

    assert (code, said in errors) == (2, True), errors
    assert "Traceback" not in errors
    assert not host.asked
    assert not (tmp_path / "results").exists()


def test_silent_index_is_no_finding(host: Host, command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that does not answer is no finding."""
    monkeypatch.setattr(prepared, "offered_releases", lambda *_: Offered((), ("https://index: does not answer",)))

    code, _, errors = command(*ASKED)

    assert (code, "https://index: does not answer" in errors, host.asked) == (3, True, [])


def test_own_images_are_searched_in_matrix_order(host: Host, command: Program, tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Dockerfile").write_text("FROM scratch\n")
    entries = [
        f"{{name: mxnet, version: [{name}], dockerfile: {name}/Dockerfile}}" for name in ("first", "second", "third")
    ]
    (tmp_path / "matrix.yaml").write_text(f"version: 1\nframeworks: [{', '.join(entries)}]\nmodels: [lenet]\n")
    cell = ("--cell", "lenet-train-b200")

    command("bisect", "--good", "mxnet==first", "--bad", "mxnet==third", *cell)
    backwards, _, said = command("bisect", "--good", "mxnet==third", "--bad", "mxnet==first", *cell)
    alone, _, lacking = command("bisect", "--good", "mxnet==first", "--bad", "mxnet==1.9.1", *cell)

    (record,) = (tmp_path / "results").glob("bisect-*/bisect.json")
    assert json.loads(record.read_text())["releases"] == ["first", "second", "third"]
    assert (backwards, "first stands before third; releases are searched in its order" in said) == (2, True)
    assert (alone, "mxnet 1.9.1 has no image of its own there" in lacking) == (2, True)
