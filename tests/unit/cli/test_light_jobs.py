"""A job on a node begins with little work, as every part of a run on a cluster pays for it.

Its time depends on the host. The things that it loads and makes do not, and take nearly all of the time.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from orchestrator.catalog import load_models, shipped_models
from orchestrator.reporting.formats.compiled import CompiledTemplates
from orchestrator.resources import BENCHMARKS

PROGRAM = """
import gc, json, sys
from orchestrator.cli import main
try:
    main(["--version"])
except SystemExit:
    pass
import orchestrator.workflows.cluster.part
from orchestrator.catalog import shipped_models
from orchestrator.matrix.file import MatrixKeys
from orchestrator.reporting.reports.run import value
from orchestrator.results.contract import Result
shipped_models()
print(json.dumps({
    "modules": sorted(sys.modules),
    "threshold": gc.get_threshold()[0],
    "validators": [each.__pydantic_complete__ for each in (MatrixKeys, Result)],
    "reports": value._adapter.cache_info().currsize,
}))
"""


def test_a_job_loads_and_makes_only_what_it_needs() -> None:
    """Neither the shapes of a site file, nor the layers of every model, nor validators of files that it does not read.

    The collector of cycles waits until the libraries are there.
    """
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    begun = json.loads(ended.stdout.splitlines()[-1])

    assert {"orchestrator.clusters.site.file", "orchestrator_vocabulary.counting"} & set(begun["modules"]) == set()
    assert (begun["validators"], begun["reports"]) == ([False, False], 0)
    assert begun["threshold"] > 10_000


def test_shipped_models_are_followed_at_need() -> None:
    """Then they have the counts of models that were followed at once."""
    followed = load_models(BENCHMARKS / "models")

    assert {name: (info.parameters, info.multiply_adds) for name, info in shipped_models().items()} == {
        name: (info.parameters, info.multiply_adds) for name, info in followed.items()
    }
    assert shipped_models()["lenet"].parameters == 60_170


def test_a_template_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.jinja").write_text("Hello {{ name }}")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    assert [_rendered(tmp_path) for _ in range(2)] == [("Hello you", 1), ("Hello you", 0)]
    (tmp_path / "page.jinja").write_text("Bye {{ name }}")
    assert _rendered(tmp_path) == ("Bye you", 1)


def test_templates_leave_nothing_where_python_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.jinja").write_text("Hello {{ name }}")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    assert [_rendered(tmp_path)[1] for _ in range(2)] == [1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["page.jinja"]


def test_templates_are_compiled_where_nothing_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "page.jinja").write_text("Hello {{ name }}")
    (tmp_path / "__pycache__").touch()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    assert [_rendered(tmp_path) for _ in range(2)] == [("Hello you", 1)] * 2


def _rendered(templates: Path) -> tuple[str, int]:
    """Render the page as a new command does, and return its text with the number of templates that were compiled."""
    compiled: list[str] = []

    class Counting(Environment):
        def _compile(self, source: str, filename: str) -> object:
            compiled.append(filename)
            return super()._compile(source, filename)

    environment = Counting(loader=FileSystemLoader(templates), bytecode_cache=CompiledTemplates(templates))
    return environment.get_template("page.jinja").render(name="you"), len(compiled)
