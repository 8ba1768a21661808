"""The matrices of public scripts plan with empty files in place of the scripts, which are not ours to ship."""

import shutil
from pathlib import Path

import pytest
import yaml

from orchestrator import matrix, planning
from orchestrator.catalog import load_models, shipped_catalog
from orchestrator.resources import BENCHMARKS, ROOT

MATRICES = sorted((ROOT / "bench/public_scripts").glob("*.yaml"))


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: path.stem)
def test_matrix_plans_every_public_script(path: Path, tmp_path: Path) -> None:
    catalog, models = shipped_catalog(), load_models(BENCHMARKS / "models")
    scripts = yaml.safe_load(path.read_text())["scripts"]
    for script in scripts:
        main = tmp_path / script["file"]
        for file in (main, *(main.parent / name.replace("*", "any") for name in script["files"])):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    shutil.copy(path, tmp_path)

    plan = planning.plan(matrix.load(tmp_path / path.name, catalog, models), catalog, models)

    assert (plan.name, plan.warnings, plan.skips) == (path.stem, (), ())
    assert {cell.script.name for cell in plan.cells if cell.script} == {script["name"] for script in scripts}
