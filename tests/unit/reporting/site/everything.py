"""A results folder with something for every view of a site, and with texts that a page must not run."""

import shutil
from dataclasses import replace
from pathlib import Path

from orchestrator.domain import Cell, Mode, Status, Workload
from orchestrator.results.store import Run
from orchestrator.studies import Claim, PublishedValue, Study
from tests.unit.reporting import synthetic as s

CORPUS = Path(__file__).parents[3] / "guard" / "corpus"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`${alert(3)}\u2028"
STUDIED, SWEPT, BROKEN = "20260501T030405Z-0001", "20260502T030405Z-0002", "20260503T030405Z-0003"
FAST, SLOW = s.cell(s.MXNET), s.cell(s.TORCH)
SIZES = (1, 8, 64, 512)


def results(folder: Path) -> Path:
    """Make the folder: nights, a parity run, a regression test, searches, a study, a sweep and a hostile run."""
    for group in ("nights", "parity", "searches"):
        for run in sorted((CORPUS / group).iterdir()):
            if run.is_dir() and run.name != "bisect-20260508T030405Z-0008":
                shutil.copytree(run, folder / run.name)
    shutil.copytree(CORPUS / "regressions" / "20260301T030405Z-slower", folder / "20260301T030405Z-slower")
    shutil.copytree(CORPUS / "nightly", folder / "nightly")
    _studied(folder)
    _swept(folder)
    _broken(folder)
    return folder


def _studied(folder: Path) -> None:
    claims = (
        Claim("faster", f"MXNet is faster {HOSTILE}", "throughput", FAST.id, SLOW.id, PublishedValue(1.5), "figure 1"),
        Claim("slower", "MXNet is slower", "throughput", FAST.id, SLOW.id, PublishedValue(0.5, 10, 20), "table 2"),
    )
    plan = replace(s.plan([FAST, SLOW]), study=Study("A study of frameworks", "A journal, 2019", claims=claims))
    _write(folder, STUDIED, plan, {FAST: [200, 202, 198], SLOW: [100, 101, 99]})


def _swept(folder: Path) -> None:
    cells = {
        s.cell(framework, Workload("lenet", Mode.TRAIN, size)): [rate * size / (size + 20)] * 3
        for framework, rate in ((s.MXNET, 9000.0), (s.TORCH, 12000.0), (s.TENSORFLOW, 8000.0))
        for size in SIZES
    }
    run = _write(folder, SWEPT, s.plan(list(cells)), cells)
    largest = s.cell(s.TENSORFLOW, Workload("lenet", Mode.TRAIN, SIZES[-1]))
    for repeat in range(3):
        run.write_outcome(s.failed(largest, repeat, Status.OOM_HOST, "out of memory").outcome)


def _broken(folder: Path) -> None:
    """Write a run whose every free text would do harm if a page ran it."""
    cell = s.cell(s.TORCH)
    plan = replace(s.plan([cell]), warnings=(HOSTILE,))
    run = _write(folder, BROKEN, plan, {cell: [100, 101, 99]}, host=HOSTILE)
    for repeat in (1, 2):
        outcome = s.failed(cell, repeat, Status.FAILED, HOSTILE.replace("\u2028", " ")).outcome
        run.write_outcome(replace(outcome, busy=HOSTILE, disturbance=HOSTILE, log=f"{cell.id}/{repeat}/log.txt"))
        (run.repeat_folder(cell.id, repeat) / "log.txt").write_text(f"loading\n{HOSTILE}\n")


def _write(folder: Path, name: str, plan: s.Plan, cells: dict[Cell, list[float]], host: str = "bench-1") -> Run:
    run = Run(folder / name)
    record = s.record(plan, name)
    created = f"{name[:4]}-{name[4:6]}-{name[6:8]}T03:04:05+00:00"
    run.write_record(record.model_copy(update={"host": {**record.host, "hostname": host}, "created_at": created}))
    for cell, rates in cells.items():
        for item in s.ok(cell, rates):
            assert item.result is not None
            facts = {**item.result.facts, "note": HOSTILE if host == HOSTILE else "plain"}
            result = item.result.model_copy(update={"facts": facts})
            run.write_outcome(item.outcome)
            place = run.repeat_folder(cell.id, item.outcome.repeat)
            (place / "result.json").write_text(result.model_dump_json(by_alias=True))
            (place / "log.txt").write_text("loading\nmeasured\n")
    return run
