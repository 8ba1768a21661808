"""The one place where the guard touches the program: commands in-process, and what no command shows.

A redesign may change the bodies here, and nothing else of the guard: what goes in and what comes out are files, text
and plain values.
"""

import contextlib
import io
import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from jsonschema import Draft202012Validator
from rich.console import Console

from orchestrator import __version__
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import Catalog, Entry, ModelInfo, load, load_models, shipped
from orchestrator.cli.program import run as program
from orchestrator.devices import Allocation, Cpu, Inventory
from orchestrator.devices.host import Gpu
from orchestrator.images import recipe
from orchestrator.processes import Stop, Watch
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.nightly.decide import decide
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.notify import message
from orchestrator.regression.search import record as search_record
from orchestrator.regression.trials.carry_out import MeasuredTrial
from orchestrator.regression.trials.files import stored_regression, stored_trial
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.inline import Link
from orchestrator.reporting.reports.night.report import NIGHT, NIGHTS
from orchestrator.reporting.reports.night.words import lines
from orchestrator.reporting.reports.search.report import SEARCH
from orchestrator.resources import BENCHMARKS, IMAGES
from orchestrator.results.files import frozen as frozen_files
from orchestrator.results.store import Run
from orchestrator.running import Policy, Surroundings, execute
from orchestrator.running.host_lock.lock import Turns
from orchestrator.runtimes import Ended, Task
from orchestrator.user_files import MountedData
from orchestrator.workflows import plan as estimating
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, PlannedMatrix, plan_matrix
from orchestrator.workflows.measure import slots as known_to_estimates
from orchestrator.workflows.nightly.trials import trial_outcomes
from orchestrator.workflows.schemas import DOCUMENTS, document_schema
from tests.unit.regression.trials.bench_trials import Bench, go_on
from tests.unit.running.running_fakes import FakeRuntime

CPUS = tuple(Cpu(number, number) for number in range(8))
GPUS = tuple(Gpu(number, f"GPU-{number}", "Example GPU", 80 * 10**9) for number in range(4))
HERE = Inventory(CPUS[:2], 16_000_000_000, cpu_model="Example CPU")
FACTS = {"hostname": "bench-1", "machine": "x86_64", "cpu": "Example CPU", "cpus": 2, "memory_bytes": 16_000_000_000}
SIGNS = MountedData(
    "signs", "idx", "/data/signs", (1, 16, 16), 5, 600, 100,
    (("train-images-idx3-ubyte", "sha256:" + "1" * 64), ("train-labels-idx1-ubyte", "sha256:" + "2" * 64)),
)  # fmt: skip
"""Return the files that a run finds in the folder of a user's own dataset, which the matrix `own.yaml` names."""
MATRICES = Path(__file__).parent / "expected/matrices"
NOW = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)
_NO_PAGE = "; no page is written"
CACHE, DATA = "cache", "data-home"
"""Folders of a case, beside its corpus: neither is read from the host."""


def _listed(what: str) -> Any:
    """Return the frameworks or models that there were; what a later one adds to lists is no change of these."""
    return json.loads((MATRICES / f"{what}-json.json").read_text(encoding="utf-8"))


@cache
def _catalog() -> Catalog:
    """Load the catalog without the frameworks, releases and options that came later."""
    listed, entries = _listed("frameworks"), load(IMAGES / "catalog").entries
    return Catalog({name: _without_later(entry, listed[name]) for name, entry in entries.items() if name in listed})


def _without_later(entry: Entry, listed: dict[str, Any]) -> Entry:
    ranges = {release["versions"] for release in listed["releases"]}
    pins = {version: entry.known_backends[version] for version in entry.known_backends if version in listed["known"]}
    return entry.model_copy(
        update={
            "known": tuple(version for version in entry.known if version in listed["known"]),
            "known_backends": pins,
            "options": {name: option for name, option in entry.options.items() if name in listed["options"]},
            "releases": tuple(release for release in entry.releases if release.versions in ranges),
        }
    )


@cache
def _models() -> dict[str, ModelInfo]:
    """Load the models that ship without those that came later."""
    listed = {model["name"] for model in _listed("models")}
    return {name: model for name, model in load_models(BENCHMARKS / "models").items() if name in listed}


@contextlib.contextmanager
def surroundings(folder: Path, columns: int) -> Iterator[None]:
    """Work in a folder, on a host that is the same everywhere: its variables, its width, its CPUs and memory."""
    kept = {name: os.environ[name] for name in ("PATH", "ORCHESTRATOR_LOCK_FOLDER", "TMPDIR") if name in os.environ}
    variables = kept | {
        "COLUMNS": str(columns), "HOME": str(folder), "XDG_CACHE_HOME": str(folder / CACHE), "LANG": "C.UTF-8",
        "XDG_DATA_HOME": str(folder / DATA), "PIP_CONFIG_FILE": os.devnull, "TERM": "dumb", "TZ": "UTC",
    }  # fmt: skip
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, variables, clear=True),
        mock.patch.object(shipped, "load", return_value=_catalog()),
        mock.patch.object(shipped, "load_models", return_value=_models()),
        mock.patch.object(estimating, "inventory", return_value=HERE),
        mock.patch.object(known_to_estimates, "host_facts", return_value=FACTS),
        mock.patch.object(
            known_to_estimates, "allocate", return_value=Allocation((0, 1))
        ),  # it has what any system asks for
        mock.patch.object(sys, "argv", ["orchestrator"]),
    ):
        _forget()
        try:
            yield
        finally:
            _forget()


def _forget() -> None:
    shipped.shipped_catalog.cache_clear()
    shipped.shipped_models.cache_clear()


def command(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run one command: its exit status, and what it printed on either stream.

    Where JSON was asked for, the data of its document and the messages of its lines.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = program(list(arguments))
    if arguments == ("schema", "event"):
        return status, _without_errors(out.getvalue()), err.getvalue()
    if "--json" not in arguments and ("--format", "json") not in pairwise(arguments):
        return status, out.getvalue(), err.getvalue()
    document = out.getvalue() or _written(arguments)
    return status, _data(document) if document else "", "".join(map(_message, err.getvalue().splitlines()))


def _written(arguments: Sequence[str]) -> str:
    """The document that was written to `-o` in place of stdout, taken away for the case after it."""
    output = Path(arguments[arguments.index("-o") + 1]) if "-o" in arguments else None
    if output is None or not output.is_file():
        return ""
    document = output.read_text(encoding="utf-8")
    output.unlink()
    return document


def _data(document: str) -> str:
    """The data of a document, which its published schema must allow, in an envelope that must be right."""
    envelope = json.loads(document)
    assert list(envelope) == ["schema", "orchestrator", "data"]
    assert envelope["orchestrator"] == __version__
    errors = _validator(envelope["schema"]).iter_errors(envelope)
    assert [error.message[:200] for error in errors] == []
    return json.dumps(envelope["data"])


@cache
def _validator(label: str) -> Any:
    (kind,) = (kind for kind in DOCUMENTS if kind.label == label)
    return Draft202012Validator(document_schema(kind))


def _message(line: str) -> str:
    """The message of a line for programs."""
    event = json.loads(line)
    assert event["event"] in {"notice", "error"}
    # The JSON of a history came with pages, and so its line said that none is written.
    ending = _NO_PAGE if event["message"].startswith("no series of ") else ""
    return f"{event['message']}{ending}\n"


def _without_errors(text: str) -> str:
    """The schema of events without the lines of errors, which are a later addition."""
    schema = json.loads(text)
    assert schema["oneOf"].pop() == {"$ref": "#/$defs/Error"}
    del schema["$defs"]["Error"]
    return json.dumps(schema)


class _Asked(FakeRuntime):
    """Sees folders as containers do where it pins CPUs, and as processes of the host do where it does not."""

    def seen(self, folder: Path, place: str) -> str:
        return place if self.mounts else str(folder)


@cache
def _planned(matrix: Path) -> PlannedMatrix:
    """Plan a matrix of the corpus once, for all that is asked of it."""
    return plan_matrix(MatrixOptions(file=matrix), Host(os.environ))


def requests(matrix: Path, folder: Path, *, pinned: bool) -> dict[str, dict[str, Any]]:
    """Every request that a run of a matrix writes, by cell and repeat, parity checks among them, with its files.

    Nothing is measured: what would be launched fails at once, after its request is written.
    """
    prepared = _planned(matrix)
    plan = replace(prepared.plan, data=(SIGNS,))
    runtime = _Asked(pins_cpus=pinned, mounts=pinned)
    here = Inventory(CPUS, 256 * 10**9, GPUS, driver="550.54", cpu_model="Example CPU")
    run = Run(folder)
    folder.mkdir()
    frozen_files.freeze(folder, prepared.frozen)
    # With packages of any source, of which the catalog does not know what they need of a driver.
    around = Surroundings(
        run, runtime, here, lambda: NOW, lambda _: None, threading.Event(), Turns(()), has_published_builds=False
    )
    for _ in execute(plan, around, Policy()):
        pass
    found = {}
    for path in sorted(folder.rglob("request.json")):
        beside = {
            name: (path.parent / name).read_text(encoding="utf-8")
            for name in ("model.py", "definition.py")
            if (path.parent / name).exists()
        }
        request = json.loads(path.read_text(encoding="utf-8").replace(str(folder), "RUN"))
        found[path.parent.relative_to(folder).as_posix()] = request | ({"files": beside} if beside else {})
    return found


SETTINGS = {
    "plain": BuildSettings(),
    "site": BuildSettings(
        base_image="registry.corp/python:{python}", pip_index="https://pypi.corp/simple", apt_mirror="https://apt.corp",
        extra_indexes=("https://more.corp/simple",), trusted_hosts=("pypi.corp",), registry="registry.corp/mirror",
    ),
}  # fmt: skip


def environment_layers(matrix: Path) -> dict[str, dict[str, Any]]:
    """Return the sources of every image's environment, by the image's name and the settings of a site."""
    plan = _planned(matrix).plan
    found: dict[str, dict[str, Any]] = {}
    for image in plan.images:
        for name, settings in SETTINGS.items():
            made = recipe.render(image, settings, recipe.gather(image, settings))
            step = made.environment
            found[f"{image.name} {name}"] = {
                "alias": made.alias,
                "base": made.base,
                "bases": list(made.bases),
                "labels": dict(made.labels),
                "environment": step.reference if step else None,
                "files": {each.name: each.read().decode() for each in step.files} if step else {},
            }
    return found


class _Nothing(Bench):
    """Measures nothing: all that a test asks for is there."""

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        raise AssertionError(f"{task.folder} is measured again")


def judged_again(folder: Path) -> dict[str, Any]:
    """Return the result of a regression test whose verdicts are made anew from the files of its run."""
    found: dict[str, Any] = go_on(folder, _Nothing()).model_dump(mode="json", by_alias=True)
    return found


def judgement(folder: Path, acknowledged: Path) -> dict[str, Any]:
    """Return `nightly`'s decision on the release of a regression test, with and without changes that are known."""
    run = Run(folder)
    regression = stored_regression(run)
    ended = trial_outcomes(MeasuredTrial(run, stored_trial(run), run.plan(), regression))
    return {
        "alone": asdict(decide(regression, ended, (), ())),
        "acknowledged": asdict(decide(regression, ended, load_acknowledged(acknowledged), ())),
    }


def nights(reports: Path) -> dict[str, str]:
    """Every form of every stored night that can be read, and the page that lists them; by the name of a file."""
    found = {}
    every = NightFiles(reports).nights()
    for night in every:
        found[f"{night.night}.md"] = render(NIGHT, night, "md")
        found[f"{night.night}.xml"] = render(NIGHT, night, "junit")
        found[f"{night.night}.html"] = render(NIGHT, night, "html")
        found[f"{night.night}.txt"] = "".join(f"{line}\n" for line in lines(night)) + f"exit {night.exit_code}\n"
        found[f"{night.night}.json"] = json.dumps(message(night, "report/index.html"), indent=1)
    found["nights.html"] = render(
        NIGHTS, (every, (Link("History: series over all nights", "history/index.html"),)), "html"
    )
    return found


def searches(results: Path, columns: int) -> dict[str, str]:
    """Every form of every stored search that can be read; by the name of a file."""
    found = {}
    for path in sorted(results.glob("bisect-*/bisect.json")):
        try:
            record = search_record.read(path.parent)
        except Exception as error:
            found[f"{path.parent.name}.txt"] = str(error).replace(f"{results}/", "")
            continue
        if record.found is None:
            continue
        console = Console(file=io.StringIO(), width=columns, highlight=False)
        console.print(shown(SEARCH, record))
        found[f"{path.parent.name}.txt"] = console.file.getvalue()  # type: ignore[attr-defined]
        found[f"{path.parent.name}.md"] = render(SEARCH, record, "md")
        found[f"{path.parent.name}.html"] = render(SEARCH, record, "html")
    return found
