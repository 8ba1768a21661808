"""Every kind of report in every format that it has, and a clear answer for a format that it has not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import outputs
from orchestrator.errors import InputError
from orchestrator.regression.history.series import series
from orchestrator.reporting.blocks import Kind
from orchestrator.reporting.formats import FORMATS, formats_of, render
from orchestrator.reporting.reports.history import HISTORY
from orchestrator.reporting.reports.night import NIGHT, NIGHTS
from orchestrator.reporting.reports.regression import REGRESSION
from orchestrator.reporting.reports.run import RUN
from orchestrator.reporting.reports.search import SEARCH
from orchestrator.reporting.reports.side_by_side import SIDE_BY_SIDE
from tests.unit.regression.history.test_history import levels
from tests.unit.regression.nightly.night_records import a_night
from tests.unit.regression.search.search_records import a_search
from tests.unit.reporting import synthetic
from tests.unit.reporting.reports.test_regression_report import EVERY
from tests.unit.reporting.reports.test_side_by_side import two

KINDS: dict[str, tuple[Kind[Any], Callable[[Path], Any]]] = {
    "run": (RUN, lambda _: synthetic.example()),
    "side by side": (SIDE_BY_SIDE, lambda _: two()),
    "regression": (REGRESSION, lambda _: EVERY),
    "night": (NIGHT, lambda _: a_night()),
    "nights": (NIGHTS, lambda _: ([a_night()], ())),
    "search": (SEARCH, a_search),
    "history": (HISTORY, lambda _: series(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))),
}


@pytest.mark.parametrize("name", [each.name for each in FORMATS])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_every_format(kind: str, name: str, tmp_path: Path) -> None:
    of_kind, made = KINDS[kind]
    if name in formats_of(of_kind):
        assert render(of_kind, made(tmp_path), name).strip()
    else:
        with pytest.raises(KeyError, match=name):
            render(of_kind, None, name)


def test_commands_refuse_formats_of_other_kinds() -> None:
    with pytest.raises(InputError, match="this command writes no csv; there is table, md, json, junit, html"):
        outputs.chosen(REGRESSION, None, Path("verdict.csv"))
