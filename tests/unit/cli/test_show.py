"""`show` of one cell, from files that were written by hand."""

from pathlib import Path

import pytest

from orchestrator.cli import listing
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic as s


def test_the_throughput_of_a_cell_in_epochs_is_that_after_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cell = s.cell(s.TORCH, s.MLP_EPOCHS, epochs=2, repeats=1)
    plan = s.plan([cell])
    run = Run(tmp_path / "results" / "20260102T030405Z-abcd")
    run.write_record(s.record(plan))
    (item,) = s.ok(cell, [50_000.0], spread=0)
    assert item.result is not None
    run.write_outcome(item.outcome)
    place = run.repeat_folder(cell.id, 0) / "result.json"
    place.write_text(item.result.model_dump_json(by_alias=True))

    listing.show(run="", cell=cell.id, results=tmp_path / "results")

    shown = capsys.readouterr().out
    assert "50,000" in shown  # with the first epoch, which is slower by 30 %, it would be less
    assert "12.5 s" in shown
