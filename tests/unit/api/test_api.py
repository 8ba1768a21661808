"""The published functions alone, as a notebook uses them."""

import ast
import dataclasses
import inspect
import os
import re
import subprocess
import sys
import threading
import typing
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import api
from orchestrator.cli.program import COMMANDS
from orchestrator.domain import Status
from orchestrator.events import RepeatFinished, RepeatStarted
from orchestrator.reporting.formats import formats_of
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.side_by_side.report import SIDE_BY_SIDE
from tests.documented import introduction
from tests.envelopes import data_of
from tests.unit.bundles.returns.returning_runs import a_run

MATRIX = "version: 1\nname: small\nframeworks: [noop==1]\nmodels: [mlp]\nsteps: 20\nrepeats: 2\n"
FUNCTIONS: dict[str, Callable[..., object]] = {
    name: getattr(api, name) for name in api.__all__ if inspect.isfunction(getattr(api, name))
}


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[api.Event]:
    monkeypatch.chdir(tmp_path)
    Path("matrix.yaml").write_text(MATRIX)
    return []


@pytest.fixture
def host(events: list[api.Event], tmp_path: Path) -> api.Host:
    """This host with a cache of its own, without an engine."""
    variables = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    return api.Host({**os.environ, **variables}, events.append)


def measured(host: api.Host) -> api.RunResult:
    return api.run(api.RunOptions(runtime=api.RuntimeName.HOST, idle_wait_s=0, extra_repeats=0), host)


def test_a_notebook_plans_measures_and_carries_home(
    host: api.Host, events: list[api.Event], capfd: pytest.CaptureFixture[str]
) -> None:
    planned = api.plan(api.PlanOptions(), host)
    ended = measured(host)
    shown = api.report(api.ReportOptions(runs=[ended.run.name]), host)
    file = api.collect(api.CollectOptions(), host)
    home = api.merge(api.MergeOptions(file=file.path, results=Path("home")), host)

    assert planned.estimate.containers == 2
    assert (ended.failed, ended.stopped) == (False, False)
    assert [outcome.status for outcome in ended.run.outcomes(planned.plan.cells)] == [Status.OK, Status.OK]
    assert ended.page.path is not None
    assert ended.page.path.is_file()
    assert data_of(shown.render("json"))["cells"][0]["cell"]["id"] == planned.plan.cells[0].id
    assert [entry.run for entry in home.runs.added] == [ended.run.name]
    assert [summary.name for summary in api.runs(api.RunsOptions(results=Path("home")), host)] == [ended.run.name]
    assert api.history(api.HistoryOptions(results=Path("home")), host).every
    assert api.report(api.ReportOptions(results=Path("home")), host).reports[0].cells == shown.reports[0].cells
    assert sum(isinstance(event, RepeatFinished) for event in events) == 2
    assert capfd.readouterr() == ("", ""), "nothing is printed"


def test_pages_are_written_by_functions_too(host: api.Host) -> None:
    first, second = measured(host).run.name, measured(host).run.name
    shown = api.history(api.HistoryOptions(), host)
    both = api.CompareOptions(baseline=first, candidate=second, format="json", output=Path("compared"))
    compared = api.compare(both, host)

    assert shown.page == Path("results/history/index.html")
    assert shown.page.is_file()
    assert api.history(api.HistoryOptions(format="csv", output=Path("series")), host).page is None
    assert Path("series").read_text().startswith("series,cell,")
    assert data_of(Path("compared").read_text())["run"] == compared.regression.run


def test_a_stopped_run_goes_on_later(host: api.Host) -> None:
    def stop_at_first(event: api.Event) -> None:
        if isinstance(event, RepeatStarted):
            host.stop.set()

    stopped = measured(dataclasses.replace(host, listener=stop_at_first))
    again = dataclasses.replace(host, stop=threading.Event())
    ended = api.run(api.RunOptions(resume=stopped.run.name, idle_wait_s=0), again)

    assert stopped.stopped
    assert stopped.resume_command == f"orchestrator run --resume {stopped.run.name} --results results"
    assert (ended.run, ended.stopped, ended.failed) == (stopped.run, False, False)


def test_several_runs_are_compared_in_every_format(host: api.Host, tmp_path: Path) -> None:
    for name in ("20260102T030405Z-aaaa", "20260103T030405Z-bbbb"):
        a_run(tmp_path / "results", name)

    several = api.report(api.ReportOptions(every=True, format="html"), host)
    api.report(api.ReportOptions(every=True, output=Path("figures.csv")), host)

    assert several.page is not None
    assert several.page.is_file()
    assert (len(several.reports), several.problems) == (2, ())
    assert Path("figures.csv").read_text() == several.render("csv")
    assert all(several.render(name).strip() for name in formats_of(SIDE_BY_SIDE))


def test_a_notebook_looks_around(host: api.Host) -> None:
    ended = measured(host)

    shown = api.show(api.ShowOptions(run=ended.run.name), host)
    (files,) = api.data(api.DataOptions(names=("mnist",)), host)
    cleaned = api.clean(api.CleanOptions(), host)

    assert [outcome.status for outcome in shown.outcomes] == [Status.OK, Status.OK]
    assert "mlp" in [model.name for model in api.models(api.ModelsOptions())]
    assert api.frameworks()["noop"].known == ("1",)
    assert (files.name, files.state) == ("mnist", "missing")
    assert cleaned.engine_problem.startswith("no container engine answers")
    assert api.doctor(api.DoctorOptions(), host).findings


def test_a_service_submits_and_follows(host: api.Host, tmp_path: Path) -> None:
    """At once, or when all jobs have ended; a host without the scheduler says so."""
    Path("site.yaml").write_text("version: 1\nexecutor: local\n")
    options = api.ClusterOptions(runtime=api.RuntimeName.HOST, idle_wait_s=0)
    submitted = api.submit(options, host)
    followed = api.follow(api.FollowOptions(), host)

    assert (submitted.is_detached, submitted.failed) == (False, False)
    assert followed.report == submitted.report
    assert [each.status for each in api.show(api.ShowOptions(), host).outcomes] == [Status.OK, Status.OK]
    with pytest.raises(api.InputError, match="has no jobs"):
        api.cancel(api.CancelOptions(run="latest"), host)
    with pytest.raises(api.InputError, match="there is no site"):
        api.submit(dataclasses.replace(options, site="none"), host)
    with pytest.raises(api.InputError, match="no run on a cluster 'x'"):
        api.follow(api.FollowOptions(run="x"), host)


def test_a_service_accepts_a_release_and_watches(host: api.Host, tmp_path: Path) -> None:
    Path("matrix.yaml").write_text("version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [mlp]\n")
    Path("nightly.yaml").write_text("version: 1\nwatch: mxnet\nfirst: 1.5.1\n")
    (tmp_path / "mxnet-1.9.1-py3-none-any.whl").touch()
    index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    host = dataclasses.replace(host, environment={**host.environment, **index})

    accepted = api.accept(api.AcceptOptions(release="mxnet==1.9.1"), host)
    ended = api.night(api.NightlyOptions(idle_wait_s=0), host)

    assert (accepted.accepted, accepted.before) == ("1.9.1", "")
    assert ended.night.tried == ()
    assert ended.page.is_file()


def test_mistakes_are_typed_errors(host: api.Host) -> None:
    Path("wrong.yaml").write_text(MATRIX.replace("mlp", "mpl").replace("noop", "nope"))

    with pytest.raises(api.InputError) as wrong:
        api.plan(api.PlanOptions(file=Path("wrong.yaml")), host)
    assert len(wrong.value.messages) == 2
    with pytest.raises(api.InputError, match=f"there is {', '.join(formats_of(RUN))}"):
        api.report(api.ReportOptions(format="pdf"), host)
    for needs_engine in (
        lambda: api.build(api.BuildOptions(), host),
        lambda: api.export(api.ExportOptions(orchestrator=False), host),
        lambda: api.run(api.RunOptions(runtime=api.RuntimeName.DOCKER), host),
    ):
        with pytest.raises(api.HostError, match="no container engine answers"):
            needs_engine()


def test_dockerfiles_are_written_without_an_engine(host: api.Host) -> None:
    result = api.build(api.BuildOptions(render=Path("files")), host)

    assert [path.name for path in result.dockerfiles] == ["bench-noop-1-cpu.Dockerfile"]
    assert result.dockerfiles[0].read_text().startswith("FROM ")


def test_the_page_of_the_api_runs(
    host: api.Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", host.environment["XDG_CACHE_HOME"])
    (example,) = introduction("api.md", "python")

    exec(compile(example, "docs/api.md", "exec"), {})

    said = capsys.readouterr().out
    assert said.startswith("1 cells, about ")
    assert "noop-1-cpu/mlp-train" in said
    assert "# matrix: run " in said


def test_the_page_names_every_function_and_error() -> None:
    page = (Path(api.__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")

    assert [name for name in FUNCTIONS if f"{name}(" not in page] == []
    named = {*FUNCTIONS, *re.findall(r"`(\w+)`", page), "bisect"}
    assert [name for name in COMMANDS if name not in named] == []
    assert "api.InputError" in page
    assert "api.HostError" in page


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_typed_with_a_valid_example(name: str) -> None:
    function = FUNCTIONS[name]
    examples = re.findall(r"Example: `(.+)`", inspect.getdoc(function) or "")
    assert len(examples) == 1
    used = {node.id for node in ast.walk(ast.parse(examples[0])) if isinstance(node, ast.Name)}

    assert name in used
    assert used - set(api.__all__) <= {"Path", "host", "print"}
    assert "return" in function.__annotations__
    for call in (node for node in ast.walk(ast.parse(examples[0])) if isinstance(node, ast.Call)):
        options = getattr(api, call.func.id, None) if isinstance(call.func, ast.Name) else None
        if inspect.isclass(options) and dataclasses.is_dataclass(options):
            assert {word.arg for word in call.keywords} <= {field.name for field in dataclasses.fields(options)}


def test_every_option_is_documented() -> None:
    """The docstring of a field is the string that follows it in the class."""
    options = {getattr(api, name) for name in api.__all__ if name.endswith("Options")}
    undocumented = []
    for each in (base for one in options for base in one.__mro__[:-1]):
        (body,) = ast.parse(inspect.getsource(each)).body
        assert isinstance(body, ast.ClassDef)
        for field, after in zip(body.body, (*body.body[1:], None), strict=True):
            if isinstance(field, ast.AnnAssign) and not (
                isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            ):
                undocumented.append(f"{each.__name__}.{ast.unparse(field.target)}")
    hints = map(typing.get_type_hints, FUNCTIONS.values())
    assert options == {hint["options"] for hint in hints if "options" in hint}
    assert undocumented == []


def test_importing_the_api_leaves_typer_out() -> None:
    script = "import sys, orchestrator.api; assert 'typer' not in sys.modules and 'orchestrator.cli' not in sys.modules"

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
