"""`run` with a site file, and the commands that read the run afterwards."""

import csv
import io
import platform
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from orchestrator.events import Event, Notice
from orchestrator.results.listing import index
from orchestrator.results.listing.stamps import Stamp, stamped_runs
from orchestrator.results.names import EVENTS
from orchestrator.workflows.history import HistoryOptions, history
from orchestrator.workflows.host.host import Host
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.clusters.fake_slurm import FakeSlurm
from tests.unit.workflows.cluster.small_cluster import LENET, MATRIX, MLP

HERE = ("run", "--runtime", "host", "--idle-wait", "0")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ORCHESTRATOR_LOCK_FOLDER", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    return tmp_path


def site(place: Path, executor: str = "local") -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / "site.yaml").write_text(f"version: 1\nexecutor: {executor}\n")


def test_a_run_on_a_site_is_read_by_other_commands(command: Program, place: Path) -> None:
    site(place)
    code, out, error = command(*HERE)
    assert code == 0, error
    assert "Nodes\nAll figures are of one node.\n" in out
    (name,) = (path.name for path in (place / "results").iterdir())

    assert command("report", "latest", "--format", "md")[1].startswith(f"# small: run {name}\n")
    rows = list(csv.DictReader(io.StringIO(command("report", name[:4], "--format", "csv")[1])))
    assert [row["cell"] for row in rows] == [LENET, MLP]
    assert len({row["node"] for row in rows}) == 1
    assert "2 ok" in command("runs", "--select", LENET)[1]
    code, _, error = command("cancel", "latest")
    assert (code, error) == (2, f"{name} has no jobs: `run` itself measures its parts; stop that with Ctrl-C\n")


@pytest.fixture
def measured(command: Program, place: Path) -> str:
    """The name of a run whose parts were measured here."""
    site(place)
    assert command(*HERE)[0] == 0
    (name,) = (path.name for path in (place / "results").iterdir())
    return name


def test_repeats_on_nodes_are_shown(command: Program, measured: str) -> None:
    whole = command("show", "latest")[1]
    assert whole.split()[:3] == ["cell", "repeat", "node"]
    assert (LENET in whole, MLP in whole) == (True, True)
    shown = data_of(command("show", LENET, "--json")[1])
    assert [(each["cell_id"], each["status"], each["node"]) for each in shown] == [(LENET, "ok", platform.node())]
    assert f"results/{measured}/parts/000/{platform.node()}/{LENET}/0" in command("show", measured, LENET)[1]


def test_show_reads_the_index_once(command: Program, measured: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reading looks at every file of the results folder."""
    readings: list[Path] = []

    def counted(results: Path) -> Iterable[tuple[str, Stamp]]:
        readings.append(results)
        return stamped_runs(results)

    monkeypatch.setattr(index, "stamped_runs", counted)
    shown = command("show", measured)[1]
    assert (LENET in shown, MLP in shown, len(readings)) == (True, True, 1)


def test_show_says_what_of_a_node_is_broken(command: Program, measured: str, place: Path) -> None:
    record = next((place / "results" / measured).glob("parts/000/*/run.json"))
    record.write_text("{")

    code, out, error = command("show", measured)
    assert (code, MLP in out) == (0, True)
    assert [f"{record.relative_to(place)}: not " in line for line in error.splitlines()] == [True]


@pytest.mark.parametrize("at", ["", "config/framework-bench"])
def test_the_results_of_a_site_are_found_without_an_option(command: Program, place: Path, at: str) -> None:
    """By every command that reads them, with the site file next to the matrix or in the user's configuration."""
    site(place / at)
    with (place / at / "site.yaml").open("a") as file:
        file.write(f"results: {place}/shared\n")
    assert command(*HERE)[0] == 0
    (name,) = (path.name for path in (place / "shared").glob("2*"))

    assert command("report", "latest", "--format", "md")[1].startswith(f"# small: run {name}\n")
    assert "2 ok" in command("runs")[1]
    assert LENET in command("show", "latest")[1]
    assert f"{name} has no jobs" in command("cancel", "latest")[2]
    assert command("run", "--resume", "latest")[0] == 0
    assert command("collect", "latest", "-o", "far.tar.zst")[0] == 0
    assert not (place / "results").exists()


def test_an_option_goes_before_the_results_of_a_site(command: Program, place: Path) -> None:
    """And without a site, its results are nobody's."""
    (place / "site.yaml").write_text("version: 1\nexecutor: local\nresults: shared\n")
    assert command(*HERE, "--results", "mine")[0] == 0
    assert command(*HERE, "--site", "none")[0] == 0

    assert [len(list((place / name).glob("2*"))) for name in ("mine", "results")] == [1, 1]
    assert not (place / "shared").exists()
    code, _, error = command("report", "latest")
    assert (code, "shared: no runs here" in error) == (2, True)


def test_mistakes_of_a_site_are_told_by_every_command(command: Program, place: Path) -> None:
    site(place, "wrong")

    code, _, error = command("report")
    assert (code, "site.yaml:2:11: executor: should be" in error) == (2, True)
    code, _, error = command("run", "--part", "gone")  # a job has the site that was frozen
    assert (code, "site.yaml" in error, "part.json: no such file" in error) == (2, False, True)


def test_a_history_has_the_runs_of_parts(command: Program, place: Path) -> None:
    """And leaves out what another node has measured later as a whole."""
    site(place)
    for _ in range(3):
        assert command(*HERE)[0] == 0
    later = next((place / "results").glob("*/parts/000/*/run.json"))
    shutil.copytree(later.parent, later.parent.with_name("other"))
    earlier = later.parent.with_name("other") / "run.json"
    earlier.write_text(re.sub('"created_at": "[0-9]{4}', '"created_at": "2001', earlier.read_text()))

    host = Host({"HOME": str(place), "XDG_CACHE_HOME": str(place / "cache")})
    series = history(HistoryOptions(results=place / "results"), host).series
    assert {each.pair.partition("/")[2]: len(each.points) for each in series if each.metric == "throughput"} == {
        "lenet-train-b200": 3, "mlp-train-b32": 3,
    }  # fmt: skip


def test_a_history_leaves_out_a_broken_run(place: Path, measured: str) -> None:
    """It says which one, and has the series of all others."""
    results, said = place / "results", list[Event]()
    for name in ("20010102T030405Z-aaaa", "20020102T030405Z-bbbb", "20030102T030405Z-cccc"):
        shutil.copytree(results / measured, results / name)
    broken = results / "20030102T030405Z-cccc" / "cluster.json"
    broken.write_text("{")

    host = Host({"HOME": str(place), "XDG_CACHE_HOME": str(place / "cache")}, said.append)
    series = history(HistoryOptions(results=results, metrics=("throughput",)), host).series
    assert [len(each.points) for each in series] == [3, 3]
    (line,) = (event.message for event in said if isinstance(event, Notice))
    assert line.startswith(f"the parts of 20030102T030405Z-cccc are left out: {broken}: ")


def test_a_collected_run_comes_home_whole(command: Program, place: Path, measured: str) -> None:
    """With its parts in their places, but no events; a second merge changes nothing, and nobody goes on there."""
    report = command("report", measured, "--format", "json")[1]
    assert command("collect", "latest", "-o", "far.tar.zst")[0] == 0
    for said in (f"merged {measured} of {platform.node()}", f"was here already: {measured} of {platform.node()}"):
        code, out, error = command("merge", "far.tar.zst", "--results", "home")
        assert (code, said in out + error) == (0, True), error

    assert command("report", measured, "--results", "home", "--format", "json")[1] == report
    carried = {path.relative_to(place / "results") for path in files(place / "results") if path.name != EVENTS}
    assert {path.relative_to(place / "home") for path in files(place / "home")} == carried
    code, _, error = command("run", "--resume", measured, "--results", "home")
    assert (code, error) == (2, f"{measured} was merged from another host: go on there\n")


def files(results: Path) -> list[Path]:
    kept = (path for path in results.rglob("*") if path.is_file() and path.name not in {".lock", ".merged"})
    return [path for path in kept if "report" not in path.parts and path.parent != results]


def test_runs_of_both_kinds_lie_side_by_side(command: Program, place: Path, measured: str) -> None:
    assert command(*HERE, "--site", "none")[0] == 0
    (other,) = {path.name for path in (place / "results").iterdir()} - {measured, "report"}

    code, out, error = command("report", "--all", "--format", "md")
    assert (code, error) == (0, "")
    assert (measured in out, other in out) == (True, True)


def test_a_site_next_to_the_matrix_is_found(command: Program, place: Path) -> None:
    """Or the one of the user's configuration, unless neither is wanted."""
    (place / "matrices").mkdir()
    (place / "matrix.yaml").rename(place / "matrices" / "matrix.yaml")
    file = ("-f", "matrices/matrix.yaml", "--select", LENET)
    site(place / "config" / "framework-bench", "wrong")
    assert "config/framework-bench/site.yaml:2:11: executor: should be" in command(*HERE, *file)[2]

    site(place / "matrices", "wrong")
    code, _, error = command(*HERE, *file)
    assert code == 2
    assert "matrices/site.yaml:2:11: executor: should be" in error
    assert command(*HERE, *file, "--site", "none")[0] == 0


def test_the_first_line_names_the_site(command: Program, place: Path) -> None:
    """So that a run which finds none is told from one on a cluster."""
    site(place)

    assert command(*HERE)[2].startswith("site: site.yaml\n")
    assert "site: " not in command(*HERE, "--site", "none")[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--site", "none", "--detach"), "--detach and --replicate are for a run on a cluster: name its site file"),
        (("--site", "site.yaml", "--detach"), "site.yaml says `executor: local`: leave them out"),
        (("--site", "site.yaml", "--plan", "air"), "--plan and --site exclude each other"),
        (("--site", "gone.yaml"), "gone.yaml: no such site file"),
    ],
)
def test_options_that_do_not_go_together(command: Program, place: Path, options: tuple[str, ...], message: str) -> None:
    site(place)

    code, _, error = command(*HERE, *options)
    assert code == 2
    assert message in error


def test_more_nodes_than_at_once_are_refused(command: Program, place: Path) -> None:
    (place / "site.yaml").write_text("version: 1\nexecutor: slurm\nnodes_at_once: 2\n")

    code, _, error = command(*HERE, "--replicate", "3")
    assert code == 2
    assert "--replicate 3: each job has 3 nodes, and `nodes_at_once: 2` allows fewer" in error


PUSHED = """{"schema": "pushed-images/1", "orchestrator": "1", "data": {"registry": "r:5000", "missing": [], "images": [
{"image": "bench/noop:1-cpu", "reference": "bench/noop:1-cpu-0123456789ab", "layers_sent": 0, "digest": "DIGEST"}]}}
""".replace("DIGEST", "r:5000/bench/noop@sha256:" + "0" * 64)


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        ("{pushed: gone.json}", (), "/gone.json: cannot be read: No such file or directory; write it with: "),
        ("{bundle: gone}", (), "/gone: no such bundle; name the folder or the tar that `orchestrator export` wrote"),
        ("{pushed: images.json}", (), "/images.json: has bench/noop:1-cpu with the content 0123456789ab, and "),
        ("{pushed: images.json}", ("--runtime", "venv"), "--runtime venv runs no images, and site.yaml has `images`"),
        ("build", ("--images", "images.json"), "--images: site.yaml says how images come to nodes: write `images: "),
    ],
)  # fmt: skip
def test_images_that_cannot_come_are_refused(
    command: Program, place: Path, images: str, options: tuple[str, ...], message: str
) -> None:
    """Before anything is submitted or written."""
    (place / "site.yaml").write_text(f"version: 1\nexecutor: slurm\nimages: {images}\n")
    (place / "images.json").write_text(PUSHED)

    code, _, error = command("run", *options)
    assert code == 2
    assert message in error
    assert not (place / "results").exists()


def test_a_detached_run_prints_its_name(command: Program, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeSlurm(place)
    fake.answers("sbatch", "12\n")
    monkeypatch.setenv("PATH", fake.environment["PATH"])
    site(place, "slurm")
    code, out, error = command(*HERE, "--detach")

    (name,) = (path.name for path in (place / "results").iterdir())
    assert (code, out) == (0, f"{name}\n")
    assert f"attach again with: orchestrator run --resume {name} --results {place}/results\n" in error
    fake.answers("squeue", "12|0|RUNNING|node1|b|None\n12|1|PENDING||b|None\n")
    code, _, error = command("cancel", name)
    assert (code, error.splitlines()[0]) == (0, f"cancelled 2 jobs of {name}")


def test_a_part_that_is_refused_is_no_success(command: Program, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other part is submitted all the same."""
    fake = FakeSlurm(place)
    fake.answers("sbatch", error="sbatch: error: QOSMinGRES\n", call=1)
    fake.answers("sbatch", "12\n")
    monkeypatch.setenv("PATH", fake.environment["PATH"])
    monkeypatch.setattr("orchestrator.clusters.arrays.MOST_TASKS", 1)
    site(place, "slurm")
    code, out, error = command(*HERE, "--detach")

    (name,) = (path.name for path in (place / "results").iterdir())
    assert (code, out) == (3, f"{name}\n")
    assert "not submitted: sbatch refuses" in error


def test_json_and_detach_contradict_each_other(command: Program, place: Path) -> None:
    site(place, "slurm")

    code, _, error = command(*HERE, "--detach", "--json")
    assert code == 2
    assert "a detached run has none yet" in error
