"""The page of study files: its example plans, and its tables are complete."""

import re
from pathlib import Path

from orchestrator.catalog import load, load_models
from orchestrator.matrix import load as load_matrix
from orchestrator.matrix.studies.shapes import ClaimEntry, StudyEntry
from orchestrator.planning import plan
from orchestrator.reporting.findings.claims.findings import ClaimVerdict
from orchestrator.resources import BENCHMARKS, IMAGES
from tests.documented import introduction, whole

PAGE = whole("study-files.md")


def _first_cells(heading: str) -> set[str]:
    """Every word in code of the first column of the table under a heading."""
    section = PAGE.partition(f"{heading}\n")[2].partition("\n#")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(.*?)`", cell)}


def test_the_example_plans_with_its_claim(tmp_path: Path) -> None:
    (example,) = introduction("study-files.md", "yaml")
    path = tmp_path / "m.yaml"
    path.write_text(example, encoding="utf-8")
    catalog, models = load(IMAGES / "catalog"), load_models(BENCHMARKS / "models")

    planned = plan(load_matrix(path, catalog, models), catalog, models)

    assert planned.study is not None
    assert [claim.of for claim in planned.study.claims] == ["torch-2.13.0-cpu/lenet-train-b200"]


def test_every_key_has_a_row() -> None:
    assert _first_cells("## study") == set(StudyEntry.model_fields)
    assert _first_cells("## claims") == set(ClaimEntry.model_fields)


def test_every_verdict_has_a_row() -> None:
    assert _first_cells("## In the report") == {verdict.value for verdict in ClaimVerdict}
