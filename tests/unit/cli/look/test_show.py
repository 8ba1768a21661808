"""`show` of one cell, from files that were written by hand."""

from pathlib import Path

import pytest

from orchestrator.cli.look import runs as listing
from orchestrator.errors import InputError
from orchestrator.results.store import Run
from tests.unit.cli.stored_runs import stored_run
from tests.unit.reporting import synthetic as s

TORCH, MXNET = (s.cell(framework, repeats=1) for framework in (s.TORCH, s.MXNET))


def test_throughput_in_epochs_excludes_the_first_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The throughput of a cell in epochs is that after the first epoch."""
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


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs: the first has both cells, the second PyTorch's alone, which was disturbed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "220")
    stored_run(tmp_path / "results", "20260102T030405Z-aaaa", (TORCH, MXNET))
    stored_run(tmp_path / "results", "20260103T030405Z-bbbb", (TORCH,), "others used 0.7 of its 2 CPUs")
    return tmp_path / "results"


def test_a_cell_is_shown_of_its_latest_run(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cell alone is shown of the latest run that has it."""
    listing.show(run=MXNET.id, results=results)
    assert "20260102T030405Z-aaaa" in capsys.readouterr().out

    listing.show(run=TORCH.id, results=results)
    assert "20260103T030405Z-bbbb" in capsys.readouterr().out


def test_a_cell_that_no_run_has_is_refused(results: Path) -> None:
    with pytest.raises(InputError, match="no run has an outcome of a cell 'torch-9-cpu/lenet'; `orchestrator show"):
        listing.show(run="torch-9-cpu/lenet", results=results)


def test_a_disturbed_repeat_is_shown_as_disturbed(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for cell in ("", TORCH.id):
        listing.show(run="", cell=cell, results=results)
        shown = capsys.readouterr().out
        assert "ok, disturbed" in shown
        assert "others used 0.7 of its 2 CPUs" in shown
    listing.show(run="20260102", results=results)
    assert "disturbed" not in capsys.readouterr().out


def test_an_unknown_name_gets_the_cell_form(results: Path) -> None:
    """The framework alone names no cell."""
    with pytest.raises(InputError, match=r"no run 'mxnet'; .*a cell is written IMAGE/WORK, as"):
        listing.show(run="mxnet", results=results)
