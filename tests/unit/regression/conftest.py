from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.catalog import Catalog
from orchestrator.limits import DEFAULT_CELLS
from orchestrator.regression.package_sides import held_packages
from orchestrator.regression.pairing import EVERYTHING, Pairing, PairPlanner, Selection
from orchestrator.regression.releases.package_index import Offered
from orchestrator.regression.sides import parse_side
from tests.unit.regression.nightly.night_fakes import World, releases

FIXTURES = Path(__file__).parent.parent / "catalog" / "fixtures"


@pytest.fixture(scope="session")
def five_frameworks() -> Catalog:
    """A catalog of five frameworks that shows every rule."""
    return catalog.load(FIXTURES / "catalog")


class Pairer:
    """Pairs two sides over a matrix of which the lines that matter are given."""

    def __init__(self, folder: Path, known: Catalog) -> None:
        self.path, self.catalog = folder / "m.yaml", known
        self.models = dict(catalog.load_models(FIXTURES / "models"))

    def __call__(self, baseline: str, candidate: str, text: str = "", selection: Selection = EVERYTHING) -> Pairing:
        given = {line.split(":")[0] for line in text.splitlines()}
        rest = {"version": "1", "frameworks": "[mxnet==1.9.1]", "models": "[lenet]"}
        text += "".join(f"\n{key}: {value}" for key, value in rest.items() if key not in given)
        self.path.write_text(text, encoding="utf-8")
        loaded = matrix.load(self.path, self.catalog, self.models)
        held = held_packages(loaded, self.catalog)
        sides = [
            parse_side(text, option, self.catalog, held)
            for text, option in ((baseline, "--baseline"), (candidate, "--candidate"))
        ]
        return PairPlanner(loaded, self.catalog, self.models, DEFAULT_CELLS).pair(*sides, selection)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An index with one release before the baseline and one after it."""
    return World(tmp_path, Offered(releases("1.4.1", "1.5.1", "1.6.0")))


@pytest.fixture
def pair(tmp_path: Path, five_frameworks: Catalog) -> Pairer:
    return Pairer(tmp_path, five_frameworks)
