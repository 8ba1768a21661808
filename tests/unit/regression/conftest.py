from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.regression.pairing import EVERYTHING, Pairing, PlanInputs, Selection, pairing
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.sides import parse_side
from tests.unit.regression.nightly.night_fakes import World, releases

FIXTURES = Path(__file__).parent.parent / "catalog" / "fixtures"


@pytest.fixture(scope="session")
def known() -> PlanInputs:
    """A catalog of five frameworks that shows every rule, and two models."""
    return PlanInputs(catalog.load(FIXTURES / "catalog"), dict(catalog.load_models(FIXTURES / "models")))


class Pairer:
    """Pairs two sides over a matrix of which the lines that matter are given."""

    def __init__(self, folder: Path, known: PlanInputs) -> None:
        self.path, self.known = folder / "m.yaml", known

    def __call__(self, baseline: str, candidate: str, text: str = "", selection: Selection = EVERYTHING) -> Pairing:
        given = {line.split(":")[0] for line in text.splitlines()}
        rest = {"version": "1", "frameworks": "[mxnet==1.9.1]", "models": "[lenet]"}
        text += "".join(f"\n{key}: {value}" for key, value in rest.items() if key not in given)
        self.path.write_text(text, encoding="utf-8")
        loaded = matrix.load(self.path, self.known.catalog, self.known.models)
        one = parse_side(baseline, "--baseline", self.known.catalog)
        other = parse_side(candidate, "--candidate", self.known.catalog)
        return pairing(loaded, self.known, one, other, selection)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An index with one release before the baseline and one after it."""
    return World(tmp_path, Offered(releases("1.4.1", "1.5.1", "1.6.0")))


@pytest.fixture
def pair(tmp_path: Path, known: PlanInputs) -> Pairer:
    return Pairer(tmp_path, known)
