"""The documents of every command: each is what its published schema allows."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from orchestrator import __version__
from orchestrator.bundles.format.manifest import Manifest
from orchestrator.cli.program import COMMANDS
from orchestrator.clusters.folder import ClusterRun
from orchestrator.documents import DocumentKind
from orchestrator.images import BuildFailure, Built
from orchestrator.images.registries.pushing import PushedImage
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.state import Alarm, State
from orchestrator.results.store import Run
from orchestrator.runtimes import BundledImage
from orchestrator.workflows import build, option_values, schemas
from orchestrator.workflows.build import BuildResult
from orchestrator.workflows.cluster import cancel
from orchestrator.workflows.cluster.cancel import CancelResult
from orchestrator.workflows.cluster.run import ClusterResult
from orchestrator.workflows.fleet import check as fleet_check
from orchestrator.workflows.fleet.check import FleetResult
from orchestrator.workflows.schemas import DOCUMENTS
from orchestrator.workflows.ship import export, load, push
from orchestrator.workflows.ship.export import ExportResult
from orchestrator.workflows.ship.load import LoadResult
from orchestrator.workflows.ship.push import PushResult
from tests import exported
from tests.documented import whole
from tests.unit.cli.conftest import Program
from tests.unit.workflows.fleet.judged import JUDGED

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "guard" / "corpus"
TEST = "20260301T030405Z-slower"
CELL = "torch-2.13.0-cpu/lenet-train-b200"
MATRIX = "version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsteps: 10\nrepeats: 2\n"
SITE = "version: 1\nexecutor: kubernetes\nkubernetes: {image: o, claim: c, queue: q, cpus: 2, memory: 4Gi}\n"
NOOP = ("-f", "noop.yaml", "--runtime", "host", "--idle-wait", "0")
CASES: Mapping[str, tuple[str, ...]] = {
    "plan": ("plan",),
    "plan again": ("plan", "--for", "2%"),
    "long-matrix": ("plan", "--long"),
    "images": ("build",),
    "dockerfiles": ("build", "--render", "dockerfiles"),
    "cancelled-run": ("cancel", "latest"),
    "kubernetes-jobs": ("render", "k8s", "--site", "k8s.yaml", "-f", "noop.yaml"),
    "report": ("run", *NOOP),
    "report again": ("report", "--results", "hosts"),
    "side-by-side": ("report", "--all", "--results", "hosts"),
    "runs": ("runs", "--results", "hosts"),
    "repeats": ("show", "--results", "hosts"),
    "repeats-of-cell": ("show", "20260201", CELL, "--results", "hosts"),
    "published-site": ("publish", "-o", "site", "--results", "hosts"),
    "models": ("models",),
    "frameworks": ("frameworks",),
    "regression-record": ("regress", "--baseline", "noop==1", "--candidate", "noop==1", *NOOP, "--no-confirm"),
    "regression-record again": ("compare", TEST, "--results", "tests"),
    "search-record": ("bisect", "--resume", "bisect-20260510T030405Z-0000", "--results", "searches"),
    "night-record": ("nightly",),
    "accepted-release": ("nightly", "accept", "mxnet==1.9.1"),
    "answered-alarms": ("nightly", "ack", "mxnet==1.6.0", "wrong"),
    "watch-status": ("nightly", "status"),
    "history": ("history", "--results", "nights"),
    "exported-bundle": ("export", "--offline"),
    "verified-bundle": ("verify", "bundle"),
    "loaded-bundle": ("load", "bundle"),
    "pushed-images": ("push", "registry:5000"),
    "anonymised-network": ("anonymise", "ours.onnx", "--no-speed"),
    "collected-runs": ("collect", "20260201", "--results", "hosts"),
    "merged-runs": ("merge", "hosts.tar.zst"),
    "datasets": ("data",),
    "exported-tables": ("data", "export", "--format", "sqlite", "--results", "hosts"),
    "fitness": ("doctor",),
    "fleet": ("doctor", "--fleet", "--site", "cluster.yaml"),
    "surplus": ("clean",),
}
"""A command line for each document, without `--json`. A second word tells two of one document apart."""
STORED = {
    "hosts": ("hosts", "hosts"),
    "nights": ("nights", "nights"),
    "bundle": ("bundle/whole", "bundle"),
    "searches": ("resumed/results", "searches"),
    "tests": (f"regressions/{TEST}", f"tests/{TEST}"),
}
"""The file that a word of a command line reads, with its place in the corpus and in the folder of the command."""
NO_DOCUMENT = {"init", "schema", "serve"}
"""Commands that print what is a document already, and one that answers in a browser."""
FREE = {"facts", "host"}
"""Fields that hold whatever a container or a host says of itself."""


@cache
def published(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((ROOT / f"docs/schemas/{name}.schema.json").read_text())
    return document


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with matrices, on a host without an engine or an index."""
    shutil.copy(CORPUS / "resumed" / "matrix.yaml", tmp_path)  # the search is of this one
    (tmp_path / "noop.yaml").write_text(MATRIX)
    (tmp_path / "k8s.yaml").write_text(SITE)
    (tmp_path / "nightly.yaml").write_text("version: 1\nwatch: mxnet\nfirst: 1.5.1\n")
    (tmp_path / "nightly").mkdir()
    state = State(watched="mxnet", alarms=(Alarm(release="1.6.0", cell="cpu/mlp-train-b32", metric="throughput"),))
    NightFiles(tmp_path / "nightly").write_state(state)
    exported.saved(exported.image_network(), tmp_path / "ours.onnx")
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "mxnet-1.5.1-py3-none-any.whl").touch()
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(tmp_path / "wheels"))):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    return tmp_path


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers of the workflows that an engine or a scheduler takes part in."""
    manifest = Manifest.model_validate_json((CORPUS / "bundle" / "whole" / "manifest.json").read_bytes())
    images = (
        Built("bench/a:1", "sha256:1", "bench/a:1-2"),
        BuildFailure("bench/b:1", "no such package", Path("b.log")),
    )
    built = BuildResult(images, bundled=(BundledImage("bench/c:1", "bench/c:1-2", "sha256:3"),))
    script_run = next(path.parent for path in sorted((CORPUS / "scripts").glob("*/run.json")))
    bundle: Any = SimpleNamespace(name="whole")
    loaded = LoadResult(manifest, "0" * 64, bundle, Run(script_run).plan(), ("bench/a:1",))
    monkeypatch.setattr(export, "export", lambda *_: ExportResult(Path("bundle"), Path("bundle.tar"), manifest))
    monkeypatch.setattr(load, "load", lambda *_: loaded)
    cancelled = CancelResult(ClusterRun(Path("results/20260102T030405Z-abcd")), ("12_3",))
    monkeypatch.setattr(cancel, "cancel", lambda *_: cancelled)
    pushed = PushedImage("bench/a:1", "bench/a:1-2", f"registry:5000/bench/a@sha256:{'0' * 64}", 3)
    monkeypatch.setattr(push, "push", lambda *_: PushResult("registry:5000", (pushed,), ("bench/b:1",), "build"))
    monkeypatch.setattr(fleet_check, "check", lambda *_: FleetResult(ClusterResult(cancelled.cluster, False), JUDGED))
    real = build.build
    monkeypatch.setattr(build, "build", lambda options, host: real(options, host) if options.render else built)


def commands_with_a_document() -> set[str]:
    return {" ".join(words[:2]) if words[:1] == ("nightly",) else words[0] for words in CASES.values()}


def test_every_command_has_a_document() -> None:
    below = {"nightly accept", "nightly ack", "nightly status"}
    assert commands_with_a_document() == {*COMMANDS, *below} - NO_DOCUMENT


def test_every_document_has_a_command() -> None:
    assert {case.split()[0] for case in CASES} == {kind.name for kind in DOCUMENTS}


def test_every_document_is_on_the_page() -> None:
    page = whole("report.md")
    rows = re.findall(r"^\| (`[a-z`, -]+`) \| `", page.partition("## For programs")[2], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([a-z-]+)`", row)]

    assert [name for name in named if not name.endswith(("_started", "_finished"))] == [kind.name for kind in DOCUMENTS]


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("case", CASES)
def test_a_document_is_as_published(command: Program, case: str, place: Path) -> None:
    for word in {*CASES[case], *(["hosts"] if case == "merged-runs" else [])} & set(STORED):
        source, folder = STORED[word]
        shutil.copytree(CORPUS / source, place / folder)
    if case == "merged-runs":
        assert command("collect", "20260201", "--results", "hosts", "-o", "hosts.tar.zst")[0] == 0
    code, out, error = command(*CASES[case], "--json")

    assert code in {0, 1, 3}, error  # figures of noop may differ, and this host may not be fit
    document = json.loads(out)
    assert document["schema"].split("/")[0] == case.split(maxsplit=1)[0]
    assert document["orchestrator"] == __version__
    assert document["data"]
    errors = Draft202012Validator(published(case.split(maxsplit=1)[0])).iter_errors(document)
    assert [error.message[:200] for error in errors] == []
    assert [line for line in error.splitlines() if "event" not in json.loads(line)] == []


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_a_published_schema_is_the_programs(command: Program, name: str) -> None:
    code, out, _ = command("schema", name)

    assert code == 0
    assert json.loads(out) == published(name), f"run: orchestrator schema {name} > docs/schemas/{name}.schema.json"


def test_every_published_schema_is_known() -> None:
    files = {path.name.removesuffix(".schema.json") for path in (ROOT / "docs" / "schemas").iterdir()}

    assert files == set(schemas.SCHEMAS)
    assert tuple(schemas.SCHEMAS) == option_values.SCHEMAS


def test_an_unknown_schema_gets_its_close_match(command: Program) -> None:
    assert command("schema", "reprot") == (2, "", "'reprot': there is no such schema; did you mean 'report'?\n")


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
def test_a_schema_says_what_everything_is(kind: DocumentKind) -> None:
    """No part may be anything, but for the facts that containers and hosts report."""
    assert list(_anything(published(kind.name), "")) == []


SAYS = {"type", "$ref", "anyOf", "oneOf", "allOf", "const", "enum", "properties"}
HOLDS = {"properties", "additionalProperties", "patternProperties"}


def _anything(schema: Any, name: str) -> Iterator[str]:
    """Yield the names of the parts of a schema that allow anything."""
    if name in FREE or schema is False:
        return
    if schema is True or not SAYS & set(schema) or (schema.get("type") == "object" and not HOLDS & set(schema)):
        yield name
        return
    for key in ("properties", "$defs", "patternProperties"):
        for inner, body in schema.get(key, {}).items():
            yield from _anything(body, inner)
    for key in ("items", "additionalProperties"):
        yield from _anything(schema.get(key, False), key)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for body in schema.get(key, ()):
            yield from _anything(body, key)
