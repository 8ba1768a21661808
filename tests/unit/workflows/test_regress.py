"""`regress` on the command line, with real runs without a container, and every mistake in one line."""

import json
import re
from pathlib import Path

import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.modes import METRICS
from orchestrator.results.results_folder import runs
from tests.documented import whole
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program

PAGE = whole("regression.md")
ITSELF = ("regress", "--baseline", "noop==1", "--candidate", "noop==1", "--runtime", "host", "--idle-wait", "0")
FEW = ("--repeats", "2", "--extra-repeats", "0", "--no-confirm")


@pytest.mark.usefixtures("matrix")
def test_release_is_measured_against_itself(command: Program, tmp_path: Path) -> None:
    """A release against itself is measured, judged and stored."""
    code, out, said = command(*ITSELF, *FEW, "--json")

    assert code in {0, 1}, said  # two blocks of nothing at all, on a host that does other things
    found = data_of(out)
    (run,) = runs(tmp_path / "results")
    assert found == json.loads((run.folder / "regression.json").read_text())
    assert [cell.id for cell in run.plan().cells] == [
        "noop-1-cpu-side=baseline/lenet-train-b200",
        "noop-1-cpu-side=candidate/lenet-train-b200",
    ]
    assert {outcome.status for outcome in run.outcomes(run.plan().cells)} == {"ok"}
    assert (run.folder / "regression" / "index.html").exists()


@pytest.mark.usefixtures("matrix")
def test_ended_test_is_shown_and_resumed(command: Program, tmp_path: Path) -> None:
    """A test that has ended is shown again in every form and resumes to the same."""
    first, out, said = command(*ITSELF, *FEW, "--json")
    (run,) = runs(tmp_path / "results")

    again, repeated, _ = command("regress", "--resume", "latest", "--json")
    shown = [command("compare", "latest", "--format", form)[1] for form in ("table", "md", "junit")]
    sides = command("compare", "latest:baseline", "latest:candidate", "--json")

    assert (again, data_of(repeated)) == (first, data_of(out)), said
    assert "noop 1 → noop 1" in shown[0]
    assert shown[1].startswith("# noop 1 → noop 1\n")
    assert "<testcase" in shown[2]
    assert sides[0] in {0, 1}, sides[2]
    assert data_of(sides[1])["run"] == f"{run.name}:baseline {run.name}:candidate"
    judged = data_of(sides[1])["pairs"][0]["metrics"][0]
    assert judged["values"] == data_of(out)["pairs"][0]["metrics"][0]["values"]

    (run.folder / "regression" / "index.html").unlink()
    assert command("regress", "--resume", "latest", "--format", "md")[0] == first
    assert (run.folder / "regression" / "index.html").exists(), "its page is written whatever is shown"

    trial = run.folder / "trial.json"
    lacking = {"id": "cpu/mlp-train-b32", "cell_id": "noop-1-cpu/mlp-train-b32", "reason": "no mlp"}
    trial.write_text(json.dumps(json.loads(trial.read_text()) | {"gone": [lacking]}))
    code, anew, said = command("compare", "latest", "--metric", "peak_memory=50%", "--json")
    pair, gone = data_of(anew)["pairs"]
    assert (gone["verdict"], gone["baseline_cell"], gone["reason"]) == ("gone", lacking["cell_id"], "no mlp")
    metrics = {metric["metric"]: metric for metric in pair["metrics"]}
    assert (code, [name for name, metric in metrics.items() if metric["gates"]]) == (0, ["peak_memory"]), said
    assert metrics["peak_memory"]["tolerance"] == 0.5


@pytest.mark.usefixtures("matrix")
def test_nothing_measured_ends_with_3(command: Program) -> None:
    """If nothing that decides could be measured, the command ends with 3 and says why."""
    code, out, error = command(*ITSELF, *FEW, "--metric", "image_size", "--json")

    assert (code, data_of(out)["pairs"][0]["verdict"]) == (3, "not measured"), error
    said = json.loads(error.splitlines()[-1])["message"]
    assert "nothing could be measured of noop 1 and noop 1: cpu/lenet-train-b200: image size: it is not" in said
    assert re.search(r"go on with: orchestrator regress --resume \S+ --results \S+ --retry-failed$", said)


@pytest.mark.usefixtures("matrix")
def test_strict_ends_with_1_unless_all_good(command: Program) -> None:
    """Strict mode ends with 1 unless every pair is shown to be as good."""
    good = ("--metric", "peak_memory=90%")
    partly = (*good, "--metric", "peak_device_memory")  # there is no device

    codes = [
        command(*ITSELF, *FEW, *metrics, *strict)[0] for metrics in (good, partly) for strict in ((), ("--strict",))
    ]
    assert codes == [0, 0, 0, 1]
    assert [command("regress", "--resume", "latest", *strict)[0] for strict in ((), ("--strict",))] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--candidate", "noop==1"), "--baseline is missing: say what is to be compared"),
        (("--baseline", "noop==1"), "--candidate is missing: say what is to be compared"),
        (("--baseline", "nop==1", "--candidate", "noop==1"), "--baseline 'nop==1': unknown framework 'nop'"),
        ((*ITSELF[1:5], "--metric", "speed"), "--metric 'speed': unknown metric; there is throughput, loss"),
        ((*ITSELF[1:5], "--metric", "throughput=much"), "--metric 'throughput=much': 'much' is no tolerance"),
        ((*ITSELF[1:5], "--metric", "throughput@vgg=2%"), "the matrix has no model 'vgg'"),
        ((*ITSELF[1:5], "--metric", "loss", "--metric", "loss=1%"), "--metric 'loss=1%': is given twice; keep one"),
        ((*ITSELF[1:5], "--max-blocks", "12"), "--max-blocks bounds --until-precise"),
        ((*ITSELF[1:5], "--repeats", "1"), "repeats 1: takes at least 2 blocks"),
        ((*ITSELF[1:5], "--until-precise", "--max-blocks", "1"), "--max-blocks 1: takes at least 2 blocks"),
        (
            (*ITSELF[1:5], "--until-precise", "--repeats", "9"),
            "--repeats N once: give one of them; --max-blocks N bounds",
        ),
        ((*ITSELF[1:5], "--select", "vgg*"), "--select 'vgg*' matches no pair of cells"),
        ((*ITSELF[1:5], "--json", "--format", "md"), "--json and --format md ask for two formats: leave one out"),
        ((*ITSELF[1:5], "--resume", "latest"), "--resume goes on with what the run was to find out"),
        (
            ("--resume", "latest", "--limit", "1"),
            "leave out everything but --results, --runtime, --base-image, --jobs, ",
        ),
        (
            (*ITSELF[1:5], "--metric", "latency_p99=5%", "--repeats", "2"),
            "latency_p99=5%': latency_p99 has no bounds with fewer than 368 single steps of each side; 2 blocks of 150",
        ),
        (
            (*ITSELF[1:5], "--metric", "latency_p99=5%", "--repeats", "2"),
            "steps are 300, and 3 blocks are needed: give --repeats 3 or more",
        ),
        (
            (*ITSELF[1:5], "--metric", "latency_p99@lenet=5%", "--until-precise", "--max-blocks", "2"),
            "and 3 blocks are needed: give --max-blocks 3 or more",
        ),
        ((*ITSELF[1:5], "--retry-failed"), "--retry-failed tries again what a run has recorded"),
    ],
)
@pytest.mark.usefixtures("matrix")
def test_every_mistake_is_one_line(command: Program, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """Every mistake is reported in one line, and nothing is begun."""
    code, out, error = command("regress", *arguments)

    assert (code, out) == (2, "")
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "results").exists()


def test_page_names_every_verdict_and_metric() -> None:
    """The page names every verdict, and every metric with its direction and tolerance."""
    table = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    named = {word for cell in table for word in re.findall(r"`([^`]+)`", cell)}
    rows = {
        name: (better, tolerance)
        for name, better, tolerance in re.findall(r"^\| `(\w+)` \| (\w+) \| ([\d.]+) % \|", PAGE, re.MULTILINE)
    }

    assert {verdict.value for verdict in Verdict} <= named
    assert rows == {metric.name: (metric.better.value, f"{100 * metric.tolerance:g}") for metric in METRICS}


def test_options_on_the_page_exist(command: Program) -> None:
    """The options that the page speaks of are there."""
    before, _, rest = PAGE.partition("## Which release changed it\n")
    searching, _, after = rest.partition("\n## ")

    for name, text in (("regress", before + after), ("bisect", searching)):
        _, shown, _ = command(name, "--help")
        named = set(re.findall(r"--[a-z][a-z-]+", text))
        assert len(named) > 8
        assert named <= set(re.findall(r"--[a-z][a-z-]+", shown))


def test_a_percentile_of_short_repeats_is_refused(command: Program, matrix: Path, tmp_path: Path) -> None:
    matrix.write_text(matrix.read_text() + "latency_steps: 20\n")

    code, out, error = command("regress", *ITSELF[1:5], "--metric", "latency_p99", "--repeats", "6")

    assert (code, out) == (2, "")
    assert "latency_p99 decides after 6 blocks only with latency_steps: 100 or more, and a cell has 20" in error
    assert not (tmp_path / "results").exists()
