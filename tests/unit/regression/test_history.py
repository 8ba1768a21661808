"""Series over many runs, from their files and from given nights."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain import Cell, Framework, Mode, System, Workload
from orchestrator.regression.history import CellNight, Series, release_text, series, tracked_id
from orchestrator.regression.measured_nights import measured_nights
from orchestrator.regression.nightly_file import AcknowledgedEntry
from orchestrator.reporting import histories
from orchestrator.results.store import Run
from tests.unit.reporting import synthetic


def night(number: int, value: float, release: str = "1.9.1", **more: object) -> CellNight:
    given = CellNight(
        run=f"run-{number:04}", created_at=f"2026-01-{number % 28 + 1:02}T03:00:00+00:00",
        host="far", conditions="measurement_version 4, one", cell_id=f"mxnet-{release}-cpu/lenet-train-b200",
        tracked="mxnet-*-cpu/lenet-train-b200", pair="cpu/lenet-train-b200", release=release,
        figures=(("throughput", value, 6),),
    )  # fmt: skip
    return replace(given, **more)  # type: ignore[arg-type]


def levels(*stretches: tuple[float, int, str]) -> list[CellNight]:
    draw = random.Random(1)
    values = [
        (level * (1 + draw.gauss(0, 0.004)), release) for level, count, release in stretches for _ in range(count)
    ]
    return [
        night(n, value, release, created_at=f"2026-{n // 28 + 1:02}-{n % 28 + 1:02}T03:00:00+00:00")
        for n, (value, release) in enumerate(values)
    ]


def tracked(nights: list[CellNight], known: tuple[AcknowledgedEntry, ...] = ()) -> Series:
    (found,) = [one for one in series(nights, known) if one.is_tracked]
    return found


def test_a_lasting_change_is_told_with_its_night_release_and_both_levels() -> None:
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))

    (shift,) = found.shifts
    assert (shift.index, shift.since, shift.point.release) == (20, "1.8.0", "1.9.1")
    assert (shift.before, shift.after) == (pytest.approx(100, rel=0.01), pytest.approx(90, rel=0.01))
    assert shift.point.created_at.startswith("2026-01-21")
    assert histories.is_worse(found, shift)


def test_a_single_spike_is_no_change() -> None:
    nights = levels((100, 40, "1.9.1"))
    nights[20] = night(20, 70, created_at=nights[20].created_at)

    assert all(one.shifts == () for one in series(nights))


def test_where_it_is_measured_otherwise_a_series_breaks_and_nothing_is_compared_across() -> None:
    nights = levels((100, 20, "1.9.1"), (80, 20, "1.9.1"))
    nights[20:] = [replace(one, conditions="measurement_version 5, one") for one in nights[20:]]
    found = tracked(nights)

    assert (found.breaks, found.shifts) == ((20,), ())


def test_each_host_has_a_series_of_its_own() -> None:
    nights = levels((100, 3, "1.9.1"))

    assert {one.host for one in series([*nights, *(replace(one, host="near") for one in nights)])} == {"far", "near"}


def test_a_series_follows_the_newest_release_of_each_run_by_version() -> None:
    nights = [night(n, value, release) for n in range(2) for value, release in ((1.0, "1.9.1"), (2.0, "1.10.0"))]

    assert [point.release for point in tracked(nights).points] == ["1.10.0", "1.10.0"]


def test_a_known_change_has_its_reason() -> None:
    known = AcknowledgedEntry(cell="cpu/lenet-*", metric="throughput", release="1.9.1", reason="new rounding")
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")), (known,))

    assert [shift.acknowledged for shift in found.shifts] == ["new rounding"]
    assert "known: new rounding" in histories.shift_row(found, found.shifts[0])[-1]


def test_releases_and_pinned_packages_are_left_out_of_the_name_of_a_tracked_series() -> None:
    framework = Framework("mxnet", "1.9.1", python="3.11", packages=(("numpy", "1.22.4"),))
    workload = Workload("lenet", Mode.TRAIN, 200)
    cell = Cell("mxnet-1.9.1-numpy=1.22.4-cpu/lenet-train-b200", framework, System("cpu"), workload, "bench/mxnet:x")

    assert tracked_id(cell) == "mxnet-*-numpy=*-cpu/lenet-train-b200"
    assert release_text(cell) == "1.9.1, numpy 1.22.4"


def stored(results: Path, number: int, rates: list[float]) -> Run:
    cell = synthetic.cell(synthetic.MXNET, repeats=len(rates))
    plan = synthetic.plan([cell])
    run = Run(results / f"2026010{number}T000000Z-aaaa")
    run.create()
    run.write_record(
        synthetic.record(plan).model_copy(update={"run": run.name, "created_at": f"2026-01-0{number}T03:00:00Z"})
    )
    for item in synthetic.ok(cell, rates):
        folder = run.repeat_folder(cell.id, item.outcome.repeat)
        folder.mkdir(parents=True)
        assert item.result is not None
        (folder / "result.json").write_text(item.result.model_dump_json(by_alias=True))
        run.write_outcome(item.outcome)
    return run


def test_a_night_is_the_geometric_mean_over_its_repeats_and_is_read_from_the_files(tmp_path: Path) -> None:
    results, cache = tmp_path / "results", tmp_path / "cache"
    stored(results, 1, [100.0, 144.0])
    (found,) = measured_nights(results, cache)
    assert {name: (value, n) for name, value, n in found.figures}["throughput"] == (pytest.approx(120, rel=0.01), 2)

    run = stored(results, 2, [200.0])
    assert [{n: v for n, v, _ in one.figures}["throughput"] for one in measured_nights(results, cache)] == [
        pytest.approx(120, rel=0.01), pytest.approx(200, rel=0.01),
    ]  # fmt: skip
    next(run.folder.rglob("outcome.json")).unlink()
    assert len(measured_nights(results, cache)) == 1


def test_a_run_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    run = stored(tmp_path, 1, [100.0])
    (run.folder / "run.json").write_text("{")

    assert measured_nights(tmp_path, tmp_path / "cache") == ()


def test_an_entry_for_programs_is_plain_json() -> None:
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))
    entry = json.loads(json.dumps(histories.entry(found)))

    assert (len(entry["points"]), entry["changes"][0]["worse"], entry["cell"]) == (40, True, "cpu/lenet-train-b200")


def test_what_is_drawn_lies_inside_the_chart() -> None:
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1"), (0.001, 1, "1.9.1")))
    drawn = histories.plot(found)

    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y, _ in drawn.dots)
    assert all(0 <= tick.at <= 100 for tick in drawn.along)
    assert len(histories.sparkline(found)) == len(found.points)
