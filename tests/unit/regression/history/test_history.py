"""Series over many runs, from their files and from given nights."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import modes
from orchestrator.domain import Cell, Framework, Mode, Status, System, Workload
from orchestrator.modes import METRICS
from orchestrator.planning import check_id
from orchestrator.regression.history.acknowledged import AcknowledgedEntry
from orchestrator.regression.history.read import figures_of, measured_cells
from orchestrator.regression.history.series import (
    MeasuredCell,
    Series,
    release_text,
    release_versions,
    series,
    series_of,
    tracked_id,
)
from orchestrator.regression.judge.exact_metrics import StoredFigures
from orchestrator.regression.rules import BY_NAME
from orchestrator.reporting.charts.series import plot
from orchestrator.reporting.reports.history import report as history_report
from orchestrator.reporting.reports.history import words
from orchestrator.reporting.reports.history.data import history_document
from orchestrator.results.parity.checks import Checks
from orchestrator.results.parity.contract import ParityOutcome
from orchestrator.results.records import EnvironmentRecord
from orchestrator.results.store import Run
from tests.envelopes import data_of
from tests.unit.reporting import synthetic

GOLDEN = Path(__file__).parents[3] / "golden/contract/parity.json"


def night(number: int, value: float, release: str = "1.9.1", **more: object) -> MeasuredCell:
    given = MeasuredCell(
        run=f"run-{number:04}", created_at=f"2026-01-{number % 28 + 1:02}T03:00:00+00:00",
        host="far", conditions={"measurement_version": "4", "CPU": "one"},
        cell_id=f"mxnet-{release}-cpu/lenet-train-b200", tracked="mxnet-*-cpu/lenet-train-b200",
        pair="cpu/lenet-train-b200", release=release,
        versions=tuple(part.rpartition(" ")[2] for part in release.split(", ")), figures=(("throughput", value, 6),),
    )  # fmt: skip
    return replace(given, **more)  # type: ignore[arg-type]


def levels(*stretches: tuple[float, int, str]) -> list[MeasuredCell]:
    draw = random.Random(1)
    values = [
        (level * (1 + draw.gauss(0, 0.004)), release) for level, count, release in stretches for _ in range(count)
    ]
    return [
        night(n, value, release, created_at=f"2026-{n // 28 + 1:02}-{n % 28 + 1:02}T03:00:00+00:00")
        for n, (value, release) in enumerate(values)
    ]


def tracked(nights: list[MeasuredCell], known: tuple[AcknowledgedEntry, ...] = ()) -> Series:
    (found,) = [one for one in series(nights, known) if one.is_tracked]
    return found


def test_a_lasting_change_shows_its_night_and_levels() -> None:
    """A lasting change is reported with its night, its release and both levels."""
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))

    (shift,) = found.shifts
    assert (shift.index, shift.since, shift.point.release) == (20, "1.8.0", "1.9.1")
    assert (shift.before, shift.after) == (pytest.approx(100, rel=0.01), pytest.approx(90, rel=0.01))
    assert shift.point.created_at.startswith("2026-01-21")
    assert words.is_worse(found, shift)


def test_a_single_spike_is_no_change() -> None:
    nights = levels((100, 40, "1.9.1"))
    nights[20] = night(20, 70, created_at=nights[20].created_at)

    assert all(one.shifts == () for one in series(nights))


def test_a_changed_measurement_breaks_a_series() -> None:
    """A series breaks where it is measured otherwise, and nothing is compared across the break."""
    nights = levels((100, 20, "1.8.0"), (80, 20, "1.9.1"))
    nights[20:] = [replace(one, conditions={"measurement_version": "4", "CPU": "another"}) for one in nights[20:]]
    found = tracked(nights)

    assert (found.breaks, found.shifts) == ((20,), ())


def test_missing_conditions_break_no_series() -> None:
    """A condition that some nights do not state breaks no series and hides no break."""
    said: list[dict[str, str]] = [{"threads": "2"}, {}, {"threads": "2"}, {}, {"threads": "4"}, {}, {"threads": "4"}]
    nights = [night(n, 100.0, conditions=conditions) for n, conditions in enumerate(said)]

    assert tracked(nights).breaks == (4,)


def test_each_host_has_a_series_of_its_own() -> None:
    nights = levels((100, 3, "1.9.1"))

    assert {one.host for one in series([*nights, *(replace(one, host="near") for one in nights)])} == {"far", "near"}


def test_a_series_follows_the_newest_release() -> None:
    """A series follows the newest release of each run, in the order of versions."""
    nights = [night(n, value, release) for n in range(2) for value, release in ((1.0, "1.9.1"), (2.0, "1.10.0"))]

    assert [point.release for point in tracked(nights).points] == ["1.10.0", "1.10.0"]


def acknowledged(**more: object) -> AcknowledgedEntry:
    return AcknowledgedEntry.model_validate(
        {"cell": "cpu/lenet-*", "metric": "throughput", "up_to": "60%", "reason": "known"} | more
    )


@pytest.mark.parametrize(
    ("before", "after", "entry", "said"),
    [
        # A host that gets slower later is nothing that an earlier release has brought.
        ("1.9.1", "1.9.1", {"release": "1.6.0"}, ""),
        ("1.9.1", "1.9.1", {"release": "1.9.1"}, ""),
        ("1.5.1", "1.9.1", {"release": "1.6.0"}, "known"),
        ("1.6.0", "1.9.1", {"release": "1.6.0"}, ""),
        ("1.9.1", "1.9.1", {"date": "2026-01-21"}, "known"),
        ("1.9.1", "1.9.1", {"date": "2026-01-23"}, "known"),
        ("1.9.1", "1.9.1", {"date": "2026-01-26"}, ""),
        ("1.9.1", "1.9.1", {"date": "2026-01-21", "up_to": "10%"}, ""),
        # What moved is the release: here the framework, then a package that is pinned.
        ("1.8.0, numpy 1.22.4", "1.9.1, numpy 1.22.4", {"release": "1.9.1"}, "known"),
        ("1.8.0, numpy 1.22.4", "1.9.1, numpy 1.22.4", {"release": "1.22.4"}, ""),
        ("1.9.1, numpy 1.22.4", "1.9.1, numpy 1.23.5", {"release": "1.23.5"}, "known"),
        ("1.9.1, numpy 1.22.4", "1.9.1, numpy 1.22.4", {"release": "1.22.4"}, ""),
    ],
)
def test_a_change_is_known_by_date_or_release(before: str, after: str, entry: dict[str, str], said: str) -> None:
    """A change is known by its date, or by its release if that came with the change."""
    found = tracked(levels((100, 20, before), (50, 20, after)), (acknowledged(**entry),))

    assert [shift.acknowledged for shift in found.shifts] == [said]


def test_a_known_change_has_its_reason() -> None:
    known = acknowledged(release="1.9.1", reason="new rounding")
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")), (known,))

    assert [shift.acknowledged for shift in found.shifts] == ["new rounding"]
    assert "known: new rounding" in words.shift_row(found, found.shifts[0])[-1]


def test_tracked_series_names_omit_the_versions() -> None:
    """Releases and pinned packages are left out of the name of a tracked series."""
    framework = Framework("mxnet", "1.9.1", python="3.11", packages=(("numpy", "1.22.4"),))
    workload = Workload("lenet", Mode.TRAIN, 200)
    cell = Cell("mxnet-1.9.1-numpy=1.22.4-cpu/lenet-train-b200", framework, System("cpu"), workload, "bench/mxnet:x")

    assert tracked_id(cell) == "mxnet-*-numpy=*-cpu/lenet-train-b200"
    assert release_text(cell) == "1.9.1, numpy 1.22.4"
    assert release_versions(cell) == ("1.9.1", "1.22.4")


def stored(
    results: Path, number: int, rates: list[float], facts: dict[str, object] | None = None, **more: object
) -> Run:
    """One night; of its results with other facts, of its record with other values."""
    cell = synthetic.cell(synthetic.MXNET, repeats=len(rates))
    plan = synthetic.plan([cell])
    run = Run(results / f"2026010{number}T000000Z-aaaa")
    run.create()
    run.write_record(
        synthetic.record(plan).model_copy(
            update={"run": run.name, "created_at": f"2026-01-0{number}T03:00:00Z", **more}
        )
    )
    for item in synthetic.ok(cell, rates):
        folder = run.repeat_folder(cell.id, item.outcome.repeat)
        folder.mkdir(parents=True)
        assert item.result is not None
        result = item.result.model_copy(update={"facts": {**item.result.facts, **(facts or {})}})
        (folder / "result.json").write_text(result.model_dump_json(by_alias=True))
        run.write_outcome(item.outcome)
    return run


def test_a_night_is_its_repeats_geometric_mean(tmp_path: Path) -> None:
    """A night is the geometric mean over its repeats and is read from the files."""
    results, cache = tmp_path / "results", tmp_path / "cache"
    stored(results, 1, [100.0, 144.0])
    (found,) = measured_cells(results, cache)
    assert {name: (value, n) for name, value, n in found.figures}["throughput"] == (pytest.approx(120, rel=0.01), 2)

    run = stored(results, 2, [200.0])
    assert [{n: v for n, v, _ in one.figures}["throughput"] for one in measured_cells(results, cache)] == [
        pytest.approx(120, rel=0.01), pytest.approx(200, rel=0.01),
    ]  # fmt: skip
    next(run.folder.rglob("outcome.json")).unlink()
    assert len(measured_cells(results, cache)) == 1


@pytest.mark.parametrize(
    ("facts", "record"),
    [
        ({"python": "3.8.20"}, {}),
        ({"cpus": 4}, {}),
        ({"threads": 1}, {}),
        ({"threads_asked": 1}, {}),
        ({"precision": "bfloat16"}, {}),
        ({"cpu": "another CPU"}, {}),
        ({}, {"runtime": "venv"}),
        ({}, {"host": {"hostname": "example-host", "gpus": [{"name": "one"}]}}),
    ],
)
def test_a_series_breaks_wherever_compare_would_refuse(
    tmp_path: Path, facts: dict[str, object], record: dict[str, object]
) -> None:
    usual: dict[str, object] = {"cpus": 2, "threads": 2, "threads_asked": 2, "precision": "float32"}
    for number in (1, 2):
        stored(tmp_path / "results", number, [100.0, 101.0], usual, host={"hostname": "example-host", "gpus": []})
    stored(
        tmp_path / "results", 3, [50.0, 51.0], usual | facts,
        **({"host": {"hostname": "example-host", "gpus": []}} | record),
    )  # fmt: skip
    found = series(measured_cells(tmp_path / "results", tmp_path / "cache"), metrics=["throughput"])

    assert [one.breaks for one in found] == [(2,), (2,)]


def test_every_metric_has_a_history(tmp_path: Path) -> None:
    """Every metric has a history, including those that are known only once."""
    results, cache = tmp_path / "results", tmp_path / "cache"
    run = stored(results, 1, [100.0])
    (planned,) = run.plan().cells
    figures = {name: value for name, value, _ in measured_cells(results, cache)[0].figures}
    assert not figures.keys() & {"loss", "image_size"}

    run.write_environments([EnvironmentRecord(image=planned.image, status=Status.OK, size_bytes=123_000)])
    check = check_id(planned)
    Checks(run).write_outcome(ParityOutcome(check=check, content="x", status=Status.OK, folder=check))
    (Checks(run).folder(check) / "result.json").write_text(json.dumps(json.loads(GOLDEN.read_text()) | {"cell": check}))
    figures = {name: value for name, value, _ in measured_cells(results, cache)[0].figures}

    losses = json.loads(GOLDEN.read_text())["losses"]
    assert (figures["image_size"], figures["loss"]) == (123_000, losses[max(losses, key=int)])
    assert {metric.name for metric in METRICS if metric.is_exact} <= figures.keys()


def test_an_unreadable_run_is_left_out(tmp_path: Path) -> None:
    run = stored(tmp_path, 1, [100.0])
    (run.folder / "run.json").write_text("{")

    assert measured_cells(tmp_path, tmp_path / "cache") == ()


def test_repeat_that_rots_leaves_the_history(tmp_path: Path) -> None:
    results, cache = tmp_path / "results", tmp_path / "cache"
    run = stored(results, 1, [100.0, 144.0])
    measured_cells(results, cache)
    (run.repeat_folder(run.plan().cells[0].id, 1) / "result.json").write_text("{")

    (measured,) = measured_cells(results, cache)
    figures = {name: (value, repeats) for name, value, repeats in measured.figures}
    assert figures["throughput"] == (pytest.approx(100, rel=0.01), 1)


def test_an_entry_for_programs_is_plain_json() -> None:
    series = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1")))
    (entry,) = data_of("".join(history_document([series]).texts()))

    assert (len(entry["points"]), entry["changes"][0]["worse"], entry["cell"]) == (40, True, "cpu/lenet-train-b200")


def test_what_is_drawn_lies_inside_the_chart() -> None:
    found = tracked(levels((100, 20, "1.8.0"), (90, 20, "1.9.1"), (0.001, 1, "1.9.1")))
    drawn = plot(found, "{:g}".format)

    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y, _ in drawn.dots)
    assert all(0 <= tick.at <= 100 for tick in drawn.along)
    assert len(words.sparkline(found)) == len(found.points)


def pages(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_page_name_ignores_other_series(tmp_path: Path) -> None:
    """The page of a series keeps its name, whatever other series there are."""
    lenet = levels((100, 3, "1.9.1"))
    alexnet = [
        replace(one, tracked="mxnet-*-cpu/alexnet-train-b32", cell_id="mxnet-1.9.1-cpu/alexnet-train-b32")
        for one in lenet
    ]
    history_report.write_html(series(lenet), tmp_path)
    before = pages(tmp_path)
    history_report.write_html(series([*alexnet, *lenet]), tmp_path)

    assert len(before) == 3
    assert before < pages(tmp_path)
    name = history_report.page_name("mxnet-*-cpu/lenet-train-b200", "throughput", "far")
    assert name.startswith("series-mxnet-cpu-lenet-train-b200-throughput-")
    assert "mxnet-*-cpu/lenet-train-b200" in (tmp_path / name).read_text()


def test_only_pages_of_gone_series_are_removed(tmp_path: Path) -> None:
    """The pages of series that are gone are removed, and nothing else is."""
    nights = levels((100, 3, "1.8.0"), (100, 3, "1.9.1"))
    history_report.write_html(series(nights), tmp_path)
    gone = history_report.page_name("mxnet-1.8.0-cpu/lenet-train-b200", "throughput", "far")
    numbered, notes = tmp_path / "series-0001.html", tmp_path / "series-of-mine-01234567.html"
    numbered.write_text((tmp_path / gone).read_text())
    notes.write_text("<p>what I think of it</p>")
    link = tmp_path / "series-0002.html"
    link.symlink_to(numbered)
    rest = nights[3:]

    history_report.write_html(series(rest)[:1], tmp_path)
    assert {gone, numbered.name} <= pages(tmp_path)
    history_report.write_html(series(rest)[:1], tmp_path, series_of(rest))
    assert pages(tmp_path) == {
        "index.html", notes.name, link.name,
        history_report.page_name("mxnet-1.9.1-cpu/lenet-train-b200", "throughput", "far"),
        history_report.page_name("mxnet-*-cpu/lenet-train-b200", "throughput", "far"),
    }  # fmt: skip


NOTHING_EXACT = StoredFigures(Run(Path("none")), synthetic.cell(synthetic.MXNET), None)


MEGABYTES = replace(BY_NAME["image_size"], name="image_mb", exact=lambda run: run.image_bytes and run.image_bytes / 1e6)


def test_mode_has_exact_metrics_of_its_own() -> None:
    figures = figures_of([MEGABYTES], [], replace(NOTHING_EXACT, image_bytes=3_000_000))

    assert list(figures) == [("image_mb", 3.0, 1)]
    assert list(figures_of([MEGABYTES], [], NOTHING_EXACT)) == []


def test_new_metric_has_all_cells_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, cache = tmp_path / "results", tmp_path / "cache"
    run = stored(results, 1, [100.0])
    (planned,) = run.plan().cells
    run.write_environments([EnvironmentRecord(image=planned.image, status=Status.OK, size_bytes=3_000_000)])
    measured_cells(results, cache)
    train = modes.RULES["train"]
    monkeypatch.setattr(modes, "RULES", {**modes.RULES, "train": replace(train, metrics=(*train.metrics, MEGABYTES))})

    (measured,) = measured_cells(results, cache)
    assert measured.figures[-1] == ("image_mb", 3.0, 1)


def test_a_zero_repeat_leaves_no_night_figure() -> None:
    """A night in which one repeat is 0 has no figure that is made of the others."""
    itself = replace(BY_NAME["accuracy"], take=lambda found: found)  # type: ignore[arg-type, return-value]

    assert list(figures_of([itself], [0.9, 0.9], NOTHING_EXACT)) == [("accuracy", pytest.approx(0.9), 2)]  # type: ignore[list-item]
    assert list(figures_of([itself], [0.9, 0.0], NOTHING_EXACT)) == []  # type: ignore[list-item]


def test_what_computes_nothing_has_no_change() -> None:
    nights = [replace(one, builder="noop") for one in levels((100, 20, "1"), (60, 20, "1"))]
    found = [one for one in series(nights, idle_builders={"noop"}) if one.is_tracked]

    assert [(one.shifts, one.computes, words.summary(one)) for one in found] == [
        ((), False, "40 runs, computes nothing")
    ]
    assert tracked(nights).shifts  # where nobody says that it computes nothing


def test_a_night_names_the_builder_of_its_image(tmp_path: Path) -> None:
    run = stored(tmp_path / "results", 1, [100.0])
    (image,) = run.plan().images

    assert [one.builder for one in measured_cells(tmp_path / "results", tmp_path / "cache")] == [
        image.environment.builder
    ]
