"""The pages on results as data, and the notebook: all of it runs on a run that was just measured."""

import ast
import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import nbformat
import pytest
from nbclient import NotebookClient

from orchestrator import api
from orchestrator.resources import ROOT
from tests.unit.tables import columns_reference
from tests.until import LIMIT_S

MATRIX = """\
version: 1
name: small
frameworks: [noop==1]
models: [mlp, lenet]
modes: [train, infer]
steps: 20
repeats: 2
"""
QUERIES = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8")
VIEWS, *SELECTS = re.findall(r"^```sql\n(.*?)^```$", QUERIES, re.MULTILINE | re.DOTALL)
NOTEBOOK = nbformat.read(ROOT / "docs" / "results.ipynb", nbformat.current_nbformat)
MADE = """\
import json
json.dumps([sorted(throughput.columns), float(ratios.iloc[0]), len(slowest), bool(min(slowest.values()) > 0)])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs that the noop framework measured on this host, and their export."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "matrix.yaml").write_text(MATRIX)
    host = api.Host({**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "DOCKER_HOST": f"unix://{folder}/no.sock"})
    options = api.RunOptions(
        file=folder / "matrix.yaml", results=folder / "results", runtime=api.RuntimeName.HOST, idle_wait_s=0,
        extra_repeats=0,
    )  # fmt: skip
    for _ in range(2):
        assert not api.run(options, host).failed
    api.export_tables(api.TablesOptions(results=folder / "results", output=folder / "tables"), host)
    return folder


@pytest.fixture
def database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(folder)
    with duckdb.connect() as connection:
        connection.execute(VIEWS)
        yield connection


@pytest.mark.parametrize("query", SELECTS, ids=lambda query: query.partition("\n")[0][:40])
def test_every_query_has_rows(query: str, database: Any) -> None:
    rows = database.execute(query).fetchall()

    assert rows
    assert all(any(value is not None for value in row) for row in rows)


def test_queries_agree_with_the_report(database: Any, folder: Path) -> None:
    (query,) = (each for each in SELECTS if "AS variation" in each)
    medians = database.execute(query).fetchall()
    rates = api.results(folder / "results").repeats.to_pandas().merge(
        api.results(folder / "results").cells.to_pandas(), on=["run", "cell"]
    )  # fmt: skip

    assert len(medians) == 4
    for _, _, model, mode, _, median, repeats, _ in medians:
        own = rates[(rates.model == model) & (rates["mode"] == mode)].throughput
        assert (median, repeats) == (pytest.approx(own.median()), 4)


def test_nothing_is_pending_and_nothing_lost(database: Any) -> None:
    (query,) = (each for each in SELECTS if "AS pending" in each)

    assert {pending for *_, pending in database.execute(query).fetchall()} == {0}


def test_the_notebook_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell shows something, in a kernel of its own; the last one here looks at what they have made."""
    for place in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(place, str(tmp_path))  # nothing of the user's own is read or written
    notebook = copy.deepcopy(NOTEBOOK)
    notebook.cells.append(nbformat.v4.new_code_cell(MADE))
    NotebookClient(notebook, timeout=LIMIT_S, resources={"metadata": {"path": str(folder)}}).execute()

    *shown, made = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kinds = [output.output_type for cell in shown for output in cell.outputs]
    assert kinds == ["execute_result"] * len(shown)
    said = json.loads(ast.literal_eval(made.outputs[0].data["text/plain"]))
    assert said == [["count", "median", "std"], 1.0, 4, True]


def test_the_notebook_is_stored_without_output() -> None:
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in NOTEBOOK["cells"])
    assert NOTEBOOK["nbformat"] == 4


def test_the_example_of_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    ended = subprocess.run(
        [sys.executable, "-c", example], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    assert "noop-1-cpu/lenet-train" in ended.stdout


def test_the_page_describes_every_column() -> None:
    """Columns are a published schema: one that goes or changes its meaning raises `SCHEMA_VERSION`."""
    page = columns_reference.PAGE.read_text(encoding="utf-8")

    assert page.partition(columns_reference.HEADING)[2] == columns_reference.reference(), (
        "run: python -m tests.unit.tables.columns_reference"
    )
