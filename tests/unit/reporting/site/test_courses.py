"""The series of a site, which are those of a history."""

from pathlib import Path

from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.history.read import measured_cells
from orchestrator.regression.history.series import series
from orchestrator.reporting.site.courses import SeriesQuestion, courses
from orchestrator.reporting.site.overall import StoredRun
from orchestrator.reporting.site.run_data import run_files
from orchestrator.results.results_folder import runs

NIGHTS = Path(__file__).parents[3] / "guard" / "corpus" / "nights"
KNOWN = tuple(load_acknowledged(NIGHTS / "acknowledged.yaml"))


def stored() -> list[StoredRun]:
    return [StoredRun(f"r-{number}", run_files(run).document) for number, run in enumerate(runs(NIGHTS))]


def test_changes_are_those_of_a_history(tmp_path: Path) -> None:
    found = courses(stored(), SeriesQuestion(0.02, KNOWN), {})
    every = [one for one in series(measured_cells(NIGHTS, tmp_path), KNOWN, min_effect=0.02) if len(one.points) > 1]

    shown = {
        (one["name"], one["host"], metric): [
            (index, since, release, known) for index, _, _, _, since, release, known in changes
        ]
        for one in found
        for metric, changes in one["changes"].items()
    }
    expected = {
        (one.name, one.host, one.metric): [
            (shift.index, shift.since, shift.point.release, shift.acknowledged) for shift in one.shifts
        ]
        for one in every
        if one.shifts and one.is_tracked
    }
    assert expected
    assert {key: shown.get(key) for key in expected} == expected


def test_a_break_says_what_changed() -> None:
    runs_ = stored()
    for run in runs_[-3:]:
        conditions = run.document["conditions"]
        conditions["of"] = [
            [["host CPU", "another"] if title == "host CPU" else [title, value] for title, value in of]
            for of in conditions["of"]
        ]

    found = courses(runs_, SeriesQuestion(0.02), {})

    reasons = {reason for one in found for breaks in one["breaks"].values() for _, reason in breaks}
    assert any(reason.startswith("host CPU: ") and reason.endswith(" → another") for reason in reasons)


def test_unchanged_series_are_not_judged_again() -> None:
    every = stored()
    question = SeriesQuestion(0.02)
    first = {(one["name"], one["host"]): one for one in courses(every, question, {})}
    marked = {key: one | {"changes": {"marked": []}} for key, one in first.items()}

    kept = courses(every, question, marked)
    asked_otherwise = courses(every, SeriesQuestion(0.05), marked)
    longer = courses(every[:-1], question, marked)

    assert all(one["changes"] == {"marked": []} for one in kept)
    assert all("marked" not in one["changes"] for one in (*asked_otherwise, *longer))
