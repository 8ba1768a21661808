from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.regression import Known, Pairing, pairing, parse
from orchestrator.regression.package_index import Offered
from orchestrator.regression.pairing import EVERYTHING, Selection
from tests.unit.regression.night_fakes import World, releases

FIXTURES = Path(__file__).parent.parent / "catalog" / "fixtures"


@pytest.fixture(scope="session")
def known() -> Known:
    """A catalog of five frameworks that shows every rule, and two models."""
    return Known(catalog.load(FIXTURES / "catalog"), dict(catalog.load_models(FIXTURES / "models")))


class Pairer:
    """Pairs two sides over a matrix of which the lines that matter are given."""

    def __init__(self, folder: Path, known: Known) -> None:
        self.path, self.known = folder / "m.yaml", known

    def __call__(self, baseline: str, candidate: str, text: str = "", selection: Selection = EVERYTHING) -> Pairing:
        given = {line.split(":")[0] for line in text.splitlines()}
        rest = {"version": "1", "frameworks": "[mxnet==1.9.1]", "models": "[lenet]"}
        text += "".join(f"\n{key}: {value}" for key, value in rest.items() if key not in given)
        self.path.write_text(text, encoding="utf-8")
        loaded = matrix.load(self.path, self.known.catalog, self.known.models)
        one = parse(baseline, "--baseline", self.known.catalog)
        other = parse(candidate, "--candidate", self.known.catalog)
        return pairing(loaded, self.known, one, other, selection)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An index with one release before the baseline and one after it."""
    return World(tmp_path, Offered(releases("1.4.1", "1.5.1", "1.6.0")))


@pytest.fixture
def pair(tmp_path: Path, known: Known) -> Pairer:
    return Pairer(tmp_path, known)
