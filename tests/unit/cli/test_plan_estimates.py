"""The estimate of `plan` takes earlier runs of this host, and the work of models of one's own."""

import json
import shutil
from pathlib import Path

from orchestrator.resources import BENCHMARKS
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program

MATRIX = "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [FRAMEWORK]\nmodels: [MODEL]\nrepeats: 1\nparity: false\n"


def assumed(command: Program) -> str:
    """Return the first assumption of the estimate, which tells where durations come from."""
    code, out, error = command("plan", "--json")
    assert code == 0, error
    return str(data_of(out)["estimate"]["assumptions"][0])


def test_only_runs_of_this_host_count(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("FRAMEWORK", "noop==1").replace("MODEL", "mlp"))
    assert assumed(command).startswith("1 containers at ")
    assert command("run", "--runtime", "host", "--idle-wait", "0")[0] == 0
    assert assumed(command) == "1 containers as long as their model took with this framework on this host"

    (path,) = (tmp_path / "results").glob("*/run.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"host": record["host"] | {"memory_bytes": 10**15}}))

    assert assumed(command).startswith("1 containers at ")


def test_the_work_of_a_carried_model_counts(command: Program, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    shutil.copy(BENCHMARKS / "models" / "dense" / "mlp.py", tmp_path / "mine" / "own.py")
    text = MATRIX.replace("FRAMEWORK", "torch==2.13.0").replace("MODEL", "own") + "models_folder: mine\n"
    (tmp_path / "matrix.yaml").write_text(text)

    assert "multiply-adds a second and CPU" in assumed(command)


def test_cells_without_their_gpus_cost_nothing(command: Program, tmp_path: Path) -> None:
    """A host without GPUs counts their cells as nothing."""
    text = MATRIX.replace("FRAMEWORK", "mxnet==1.9.1").replace("MODEL", "mlp")
    (tmp_path / "matrix.yaml").write_text(text.replace("1}}", "1}, many: {gpus: 64}}"))

    code, out, error = command("plan", "--json")
    estimate = data_of(out)["estimate"]
    _, shown, _ = command("plan")

    assert (code, error) == (0, "")
    assert estimate["containers"] == 1
    assert any(line.startswith("1 cell on many would end as no_device") for line in estimate["assumptions"])
    assert "2 cells, 1 container, " in shown
    assert shown.endswith("\n1 repeat would end as no_device on this host\n")
