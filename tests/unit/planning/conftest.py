import re
from pathlib import Path

import pytest

from orchestrator import catalog, matrix, planning
from orchestrator.domain import Plan
from orchestrator.errors import InputError
from orchestrator.results.contract import LATENCY_LIMIT_S, LEAST_LATENCY_STEPS

ASSUMED = planning.Assumed(LEAST_LATENCY_STEPS, LATENCY_LIMIT_S)
Models = dict[str, catalog.ModelInfo]


class Planner:
    """Plans a matrix from the lines that matter; the rest is as small as can be."""

    def __init__(self, folder: Path, known: catalog.Catalog, models: Models) -> None:
        self.path, self.known, self.models = folder / "m.yaml", known, models

    def __call__(
        self, text: str, *, limit: int = 10_000, select: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
    ) -> Plan:
        given = {line.split(":")[0] for line in text.splitlines()}
        rest = {"version": "1", "frameworks": "[mxnet==1.9.1]", "models": "[lenet]"}
        text += "".join(f"\n{key}: {value}" for key, value in rest.items() if key not in given)
        self.path.write_text(text, encoding="utf-8")
        loaded = matrix.load(self.path, self.known, self.models)
        return planning.plan(loaded, self.known, self.models, planning.Selection(select, exclude), limit)

    def refusal(self, text: str, **arguments: object) -> str:
        with pytest.raises(InputError) as caught:
            self(text, **arguments)  # type: ignore[arg-type]
        return str(caught.value).replace(f"{self.path}", "m.yaml")

    @staticmethod
    def ids(found: Plan) -> list[str]:
        """Of the cells, in the order of the plan."""
        return [cell.id for cell in found.cells]

    @staticmethod
    def skips(found: Plan) -> dict[str, str]:
        """Reasons by id, with the file's name alone."""
        return {skip.cell_id: re.sub(r"\S*/m\.yaml", "m.yaml", skip.reason) for skip in found.skips}


@pytest.fixture
def plan(tmp_path: Path, known: catalog.Catalog, models: Models) -> Planner:
    return Planner(tmp_path, known, models)
