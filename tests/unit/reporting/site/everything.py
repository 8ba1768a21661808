"""A results folder with something for every view of a site, and with texts that a page must not run."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.domain import Cell, Mode, Status, Workload
from orchestrator.modes.parts.lengths import Generation
from orchestrator.results.contract import Block, Conditions, Result
from orchestrator.results.store import Run
from orchestrator.studies import Claim, PublishedValue, Study
from tests.unit.regression.search.search_records import a_search
from tests.unit.reporting import synthetic as s

CORPUS = Path(__file__).parents[3] / "guard" / "corpus"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`${alert(3)}\u2028"
ENDS = ("lenet", "torch", "2.13.0", "1.6.0", "b200", "bench-1", "example", "speed", "does not answer", "yanked")
"""Ends of models, frameworks, releases, cells, hosts, matrices, printed metrics and reasons in the data of a site."""
LONG, STUDIED, SWEPT = "20260430T030405Z-0000", "20260501T030405Z-0001", "20260502T030405Z-0002"
BROKEN, TESTED = "20260503T030405Z-0003", "20260301T030405Z-slower"
SEARCHED = "bisect-20261122T030000Z-1f3a"
FAST, SLOW = s.cell(s.MXNET), s.cell(s.TORCH)
TOKENS = s.cell(s.TORCH, Workload("decoder", Mode.GENERATE, 8, generation=Generation()), repeats=2)
"""A cell whose samples are tokens."""
BLOCKS, STEPS = 2_001, 662
"""Timed blocks and single steps of a repeat of it, which are more than a page shows."""
SIZES = (1, 8, 64, 512)
CAVEAT = "the first epoch is included"


def results(folder: Path) -> Path:
    """Make the folder: nights, a regression test, searches, scripts, a study, a sweep, long repeats and others."""
    for group in ("nights", "parity", "searches", "scripts"):
        for run in sorted((CORPUS / group).iterdir()):
            if run.is_dir() and run.name != "bisect-20260508T030405Z-0008":
                shutil.copytree(run, folder / run.name)
    shutil.copytree(CORPUS / "regressions" / TESTED, folder / TESTED)
    shutil.copytree(CORPUS / "nightly", folder / "nightly")
    (folder / SEARCHED).mkdir()
    a_search(folder / SEARCHED)
    _long(folder)
    _studied(folder)
    _swept(folder)
    _broken(folder)
    return folder


def tamper(site: Path) -> None:
    """Let names in the data of a site end in what would do harm, as no reader of results lets them."""
    for file in (site / "data").glob("*.js"):
        text = file.read_text()
        for end in ENDS:
            text = text.replace(f'{end}"', json.dumps(f"{end}{HOSTILE}")[1:])
        file.write_text(text)


def _long(folder: Path) -> None:
    """Write a run of a generation with more blocks and steps than a page shows, some of them disturbed."""

    def block(number: int) -> Block:
        busy_s = 9.0 if number in {100, 1_001, 1_600} else 0.2
        conditions = Conditions(wall_s=0.2, cpu_s=0.2, busy_s=busy_s)
        return Block(steps=1, samples=256, wall_s=0.2 + number % 7 / 1_000, cpu_s=0.2, conditions=conditions)

    long = {
        "blocks": tuple(block(number) for number in range(BLOCKS)),
        "latency_s": tuple(0.02 + step % 11 / 10_000 for step in range(STEPS)),
    }
    _write(folder, LONG, s.plan([TOKENS]), {TOKENS: [1_280, 1_290]}, instead=long)


def _studied(folder: Path) -> None:
    claims = (
        Claim("faster", f"MXNet is faster {HOSTILE}", "throughput", FAST.id, SLOW.id, PublishedValue(1.5), "figure 1"),
        Claim(
            "slower", "MXNet is slower", "throughput", FAST.id, SLOW.id,
            PublishedValue(0.5, 10, 20, approximate=True), "table 2", caveats=(CAVEAT,),
        ),
    )  # fmt: skip
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
    plan = replace(s.plan([SLOW]), warnings=(HOSTILE,))
    run = _write(folder, BROKEN, plan, {SLOW: [100, 101, 99]}, host=HOSTILE)
    for repeat in (1, 2):
        outcome = s.failed(SLOW, repeat, Status.FAILED, HOSTILE.replace("\u2028", " ")).outcome
        log = f"{SLOW.id}/{repeat}/log.txt"
        run.write_outcome(replace(outcome, busy=HOSTILE, disturbance=HOSTILE, beside=HOSTILE, attempts=3, log=log))
        (run.repeat_folder(SLOW.id, repeat) / "log.txt").write_text(f"loading\n{HOSTILE}\n")


def _write(  # noqa: PLR0913, PLR0917 -- a run in one call
    folder: Path, name: str, plan: s.Plan, cells: Mapping[Cell, Sequence[float]], host: str = "bench-1",
    instead: Mapping[str, object] | None = None,
) -> Run:  # fmt: skip
    """Write a run with a repeat for each rate. `instead` replaces fields of its results."""
    run = Run(folder / name)
    record = s.record(plan, name)
    created = f"{name[:4]}-{name[4:6]}-{name[6:8]}T03:04:05+00:00"
    run.write_record(record.model_copy(update={"host": {**record.host, "hostname": host}, "created_at": created}))
    for cell, rates in cells.items():
        for item in s.ok(cell, rates):
            assert item.result is not None
            facts = {**item.result.facts, "note": HOSTILE if host == HOSTILE else "plain"}
            result: Result = item.result.model_copy(update={"facts": facts, **(instead or {})})
            run.write_outcome(item.outcome)
            place = run.repeat_folder(cell.id, item.outcome.repeat)
            (place / "result.json").write_text(result.model_dump_json(by_alias=True))
            (place / "log.txt").write_text("loading\nmeasured\n")
    return run
