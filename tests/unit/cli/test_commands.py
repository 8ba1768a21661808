"""The program from outside: what it prints where, and how it exits."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest
import requests
import yaml

from orchestrator import __version__
from orchestrator.cli import main
from orchestrator.reporting.formats import GITHUB, HTML, formats_of
from orchestrator.reporting.reports.run import RUN
from orchestrator.workflows import plan as planning
from tests.envelopes import data_of
from tests.until import until

MATRIX = """\
version: 1
name: harness
systems: {cpu: {cpus: 1}, 64_gpu: {gpus: 64}}
frameworks: [noop==1]
models: [lenet]
repeats: 2
"""


class Ended(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str


Program = Callable[..., Ended]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """Run a command in a folder that holds a small matrix.yaml, with a cache of its own."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return Ended(int(ended.value.code or 0), *capsys.readouterr())

    return run


def test_the_version_is_told(program: Program) -> None:
    assert program("--version") == (0, f"{__version__}\n", "")


def test_a_plan_shows_cells_and_their_cost(program: Program) -> None:
    """A plan shows its cells and what they would cost."""
    ended = program("plan")

    assert ended.code == 0
    assert "noop-1-cpu/lenet-train-b200" in ended.out
    assert "about" in ended.out


def test_a_plan_for_programs_is_one_json_document(program: Program) -> None:
    document = data_of(program("plan", "--json").out)

    assert {"cells", "images", "skips"} <= document.keys()
    assert "noop-1-cpu/lenet-train-b200" in [cell["id"] for cell in document["cells"]]


def test_the_long_form_plans_the_same(program: Program, tmp_path: Path) -> None:
    """The long form is a matrix that plans the same."""
    (tmp_path / "long.yaml").write_text(program("plan", "--long").out)

    assert (
        data_of(program("plan", "-f", "long.yaml", "--json").out)["cells"]
        == (data_of(program("plan", "--json").out)["cells"])
    )


def test_the_long_form_hides_a_password(program: Program, tmp_path: Path) -> None:
    """A password in the matrix is in no long form."""
    (tmp_path / "matrix.yaml").write_text(MATRIX + "build: {pip_index: 'https://me:hunter2@index.example/simple'}\n")

    assert "hunter2" not in program("plan", "--long").out


def test_a_matrix_reports_all_mistakes_at_once(program: Program, tmp_path: Path) -> None:
    """Every mistake of a matrix is reported at once, with its place."""
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [pytorh==2.13.0]\nmodels: [lenett]\nrepeats: 0\n")

    ended = program("plan")

    assert (ended.code, ended.out) == (2, "")
    assert len([line for line in ended.err.splitlines() if line.startswith("matrix.yaml:")]) >= 3
    assert "Traceback" not in ended.err


def test_line_breaks_in_keys_stay_out_of_mistakes(program: Program, tmp_path: Path) -> None:
    """A key with a line break keeps its mistake in one line."""
    (tmp_path / "matrix.yaml").write_text(MATRIX + 'options: {"\\n": null}\n')

    ended = program("plan")

    assert ended.code == 2
    assert all(line.startswith("matrix.yaml:7:") for line in ended.err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "-f", "nowhere.yaml"), "nowhere.yaml"),
        (("plan", "--select", "nothing-*"), "nothing-*"),
        (("plan", "--limit", "0"), "--limit"),
        (("plan", "--limit", "1", "-f", "many.yaml"), "--limit"),
        (("run", "--runtime", "podman"), "podman"),
        (("run", "--resume", "latest"), "no runs here"),
        (("run", "--resume", "latest", "--repeats", "3"), "--resume"),
        (("run", "--retry-failed"), "--resume"),
        (("runs", "--results", "nowhere"), "nowhere: no such folder"),
        (("report",), "no runs here"),
        (("report", "--format", "pdf"), "pdf"),
        (("show",), "no runs here"),
        (("schema", "banana"), "banana"),
        (("nonsense",), "nonsense"),
        (("build", "--base-image", "python:{version}", "--render", "x"), "{python}"),
    ],
)
def test_bad_input_exits_2_with_a_clear_message(
    program: Program, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    """Bad input exits 2 with a clear word, and prints nothing else."""
    (tmp_path / "many.yaml").write_text(MATRIX.replace("[lenet]", "[lenet, mlp]"))

    ended = program(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_a_silent_engine_exits_3(program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A command that asks for an engine that does not answer exits 3."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")

    for command in (("build",), ("run", "--runtime", "docker")):
        ended = program(*command)
        assert (ended.code, ended.out) == (3, "")
        assert "no container engine answers" in ended.err
    assert not (tmp_path / "results").exists()


def test_dockerfiles_are_rendered_without_an_engine(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")

    ended = program("build", "--render", "dockerfiles", "--base-image", "base:{python}")

    assert ended.code == 0
    rendered = {path.name: path.read_text() for path in (tmp_path / "dockerfiles").iterdir()}
    assert len(rendered) == 2, "one for each system class"
    assert all("FROM base:3.11" in text for text in rendered.values())


def test_a_run_ends_with_table_page_and_outcomes(program: Program, tmp_path: Path) -> None:
    """A run ends with a table, a page and an outcome for every repeat."""
    ended = program("run", "--runtime", "host")

    assert ended.code == 0, ended.err
    assert "noop 1" in ended.out
    (run,) = (tmp_path / "results").iterdir()
    assert (run / "report" / "index.html").is_file()
    assert str(run.name) in ended.out
    report = data_of(program("report", "--format", "json").out)
    ends = [repeat["outcome"]["status"] for cell in report["cells"] for repeat in cell["repeats"]]
    assert sorted(ends) == ["no_device", "no_device", "ok", "ok"]


def test_a_run_for_programs_prints_one_json_document(program: Program) -> None:
    ended = program("run", "--runtime", "host", "--select", "*-cpu/*", "--repeats", "1", "--json")

    assert ended.code == 0, ended.err
    assert len(data_of(ended.out)["cells"]) == 1


def test_runs_and_outcomes_are_listed_from_files(program: Program) -> None:
    program("run", "--runtime", "host")

    (run,) = data_of(program("runs", "--json").out)
    shown = data_of(program("show", "--json").out)
    whole = data_of(program("show", run["name"][:12], "noop-1-cpu/lenet-train-b200", "--json").out)

    assert run["planned"] == 4
    assert len(shown) == 4
    assert [entry["result"]["schema"] for entry in whole] == [1, 1]
    assert run["name"] in program("runs").out
    assert "no_device" in program("show").out


def test_a_resumed_run_measures_only_unfinished_repeats(program: Program, tmp_path: Path) -> None:
    """A resumed run measures only what has no final outcome."""
    program("run", "--runtime", "host")
    (run,) = (tmp_path / "results").iterdir()
    repeats = run / "noop-1-cpu" / "lenet-train-b200"
    before = (repeats / "0" / "result.json").read_bytes()
    (repeats / "1" / "outcome.json").unlink()

    ended = program("run", "--resume", run.name)

    assert ended.code == 0, ended.err
    assert (repeats / "0" / "result.json").read_bytes() == before
    assert (repeats / "1" / "outcome.json").is_file()
    assert list((tmp_path / "results").iterdir()) == [run]


def test_a_run_resumes_only_with_its_runtime(program: Program) -> None:
    """A run of one runtime is not resumed with another."""
    program("run", "--runtime", "host", "--select", "*-cpu/*")

    ended = program("run", "--resume", "latest", "--runtime", "venv")

    assert (ended.code, ended.out) == (2, "")
    assert "do not mix" in ended.err


def test_only_an_unexpected_failure_exits_1(program: Program, tmp_path: Path) -> None:
    """A failure that the matrix does not expect exits 1, and one that it expects exits 0."""
    # A timeout that no process can keep.
    failing = yaml.safe_load(MATRIX) | {"timeout": 0.001, "systems": {"cpu": {"cpus": 1}}}
    (tmp_path / "failing.yaml").write_text(yaml.safe_dump(failing))
    expected = failing | {"frameworks": [{"name": "noop", "version": "1", "expect": "timeout"}]}
    (tmp_path / "expected.yaml").write_text(yaml.safe_dump(expected))

    assert program("run", "--runtime", "host", "-f", "failing.yaml").code == 1
    assert program("run", "--runtime", "host", "-f", "expected.yaml").code == 0


@pytest.mark.parametrize("format_", formats_of(RUN))
def test_every_report_format_goes_to_a_file(program: Program, tmp_path: Path, format_: str) -> None:
    """Every format goes to a file, and nothing to the standard output."""
    program("run", "--runtime", "host", "--select", "*-cpu/*")

    ended = program("report", "--format", format_, "-o", "out")

    assert (ended.code, ended.out) == (0, ""), ended.err
    written = tmp_path / "out"
    text = (written / "index.html" if format_ == HTML else written).read_text()
    assert ("2 passed" if format_ == GITHUB else "noop") in text


def test_a_report_never_replaces_a_folder(program: Program, tmp_path: Path) -> None:
    program("run", "--runtime", "host", "--select", "*-cpu/*")
    before = sorted(path.name for path in tmp_path.iterdir())

    ended = program("report", "--format", "md", "-o", "results")

    assert (ended.code, ended.out) == (2, "")
    assert "is a folder" in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_rotten_result_is_shown_as_such(program: Program, tmp_path: Path) -> None:
    program("run", "--runtime", "host", "--select", "*-cpu/*", "--repeats", "1")
    (path,) = (tmp_path / "results").glob("*/noop-1-cpu/*/0/result.json")
    path.write_bytes(b"\xff{")

    ended = program("show", "latest", "noop-1-cpu/lenet-train-b200", "--json")

    (entry,) = data_of(ended.out)
    assert (ended.code, entry["result"]) == (0, None)
    assert "not JSON" in entry["problem"]
    assert "not JSON" in program("show", "latest", "noop-1-cpu/lenet-train-b200").out


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(
        MATRIX.replace("[lenet]", f"[{{name: lenet, batch_size: {list(range(1, 900))}}}]")
    )
    command = f"{sys.executable} -m orchestrator plan --json | head -n 1; exit ${{PIPESTATUS[0]}}"

    ended = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")


def test_output_that_cannot_be_written_exits_3(tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    command = f"{sys.executable} -m orchestrator plan >/dev/full"

    ended = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (3, "output cannot be written: No space left on device\n")


def test_an_engine_that_is_too_slow_exits_3(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors of `requests` are an `OSError` without a number."""

    def too_slow(*_: object) -> NoReturn:
        raise requests.ReadTimeout("Read timed out. (read timeout=60)")

    monkeypatch.setattr(planning, "plan", too_slow)

    assert program("plan") == (3, "", "no answer: Read timed out. (read timeout=60); try again\n")


def test_an_interruption_while_loading_exits_130(tmp_path: Path) -> None:
    """An interruption while the program loads exits 130 without a traceback."""
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    # A stand-in for a library that every command loads says when it is being loaded, and takes its time.
    loading = tmp_path / "loading"
    (tmp_path / "typer.py").write_text(
        f"import pathlib, time\npathlib.Path({str(loading)!r}).touch()\ntime.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "plan"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # Tests may run in the background of a shell, which ignores this signal and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 -- no threads here
    )
    until(lambda: loading.exists() or process.poll() is not None)
    assert process.poll() is None

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)

    assert (process.returncode, err) == (130, "")


def test_an_interpreter_can_run_it_as_a_module(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "orchestrator", "--version"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stdout) == (0, f"{__version__}\n"), ended.stderr
