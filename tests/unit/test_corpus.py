"""The corpus of published regressions: its entries can be measured, and what was measured is compared with them."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.verdicts import corpus
from bench.verdicts.corpus import Entry, agreement, counts, figure
from orchestrator.regression.rules import BY_NAME
from orchestrator.resources import ROOT
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MatrixOptions, plan_matrix

ENTRIES = corpus.read().entries
FIGURES = json.loads((ROOT / "docs" / "detection.json").read_text("utf-8"))["real"]["corpus"]
MISSED = 0.031
UNDECIDED = (
    "not decided, as the interval holds × 0.980, an end of the tolerance; a slowdown shows here from 3.1 % on; "
    "the interval leaves out what was published"
)


def published(ratio: float, metric: str = "throughput") -> Entry:
    return ENTRIES[0].model_copy(update={"published": ratio, "metric": metric})


def judged(verdict: str, low: float = 0.90, high: float = 0.94) -> Mapping[str, object]:
    return {
        "cell": "a cell", "verdict": verdict, "ratio": (low + high) / 2, "low": low, "high": high, "blocks": 24,
        "minimum_detectable_effect": MISSED,
    }  # fmt: skip


def test_names_of_entries_are_their_own() -> None:
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) >= 8


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_can_be_planned(entry: Entry, tmp_path: Path) -> None:
    """Both releases, each with all cells of the workload, and a metric that is known there."""
    networks = pytest.importorskip("bench.verdicts.corpus_networks") if entry.networks else None
    for name in entry.networks:
        networks.write(name, tmp_path)
    (tmp_path / "matrix.yaml").write_text(json.dumps(corpus.matrix_of(entry, 3)))
    plan = plan_matrix(MatrixOptions(file=tmp_path / "matrix.yaml"), Host({"HOME": str(tmp_path)})).plan
    sides: dict[str, set[str]] = {}
    for cell in plan.cells:
        environment, _, work = cell.id.partition("/")
        sides.setdefault(environment, set()).add(work)

    assert set(sides) == {f"{pin.replace('==', '-')}-cpu" for pin in (entry.baseline, entry.candidate)}
    baseline, candidate = sides.values()
    assert baseline == candidate
    assert {cell.repeats for cell in plan.cells} == {3}
    assert entry.metric in BY_NAME or all(cell.script for cell in plan.cells)
    assert entry.source.startswith("https://")


@pytest.mark.parametrize(
    ("entry", "found", "words"),
    [
        (published(0.92), judged("slower"), "it agrees, also in size"),
        (published(0.67), judged("slower"), "it agrees in direction, and is of another size"),
        (published(0.92), judged("faster", 1.1, 1.2), "it is not shown by this stand-in"),
        (published(0.92), judged("same", 0.99, 1.01), "it is not shown by this stand-in"),
        (published(0.92), judged("inconclusive", 0.96, 1.0), UNDECIDED),
        (published(1.09), judged("faster", 1.05, 1.12), "it agrees, also in size"),
        (published(1.19, "operator_latency"), judged("slower", 1.1, 1.2), "it agrees, also in size"),
        (published(1.19, "operator_latency"), judged("faster", 0.8, 0.9), "it is not shown by this stand-in"),
        (published(1.0), judged("same", 0.99, 1.01), "it agrees"),
        (published(1.0), judged("slower"), "here the changes do not cancel"),
        (published(1.0), judged("faster", 1.1, 1.2), "here the changes do not cancel"),
    ],
)
def test_agreement_of_each_verdict(entry: Entry, found: Mapping[str, object], words: str) -> None:
    """A loss is a ratio below 1 of a rate, and above 1 of a time; a pair of 1 has changes that cancel."""
    assert agreement(entry, found) == words


def test_what_was_not_measured_is_no_verdict() -> None:
    """Its figure says so with the reason."""
    row = figure(ENTRIES[0], {"cell": "a cell", "verdict": "not_measured", "reason": "a side has no figures"})

    assert not row["within"]
    assert "here not_measured: a side has no figures" in row["text"]
    assert all(figure(ENTRIES[0], judged(each))["within"] for each in ("slower", "faster", "same", "inconclusive"))


def test_a_ratio_that_nobody_published_is_called_derived() -> None:
    (derived,) = (entry for entry in ENTRIES if entry.derived)
    text = figure(derived, judged("inconclusive", 0.96, 1.0))["text"]

    assert text.startswith("derived × 1.4 (in the report 1.20.1 is 40 % slower than 1.19.0 ")
    assert "leaves out what was derived" in text
    assert "published" not in text
    assert (
        f"{derived.name} (onnxruntime==1.18.0 → onnxruntime==1.19.0; its × 1.4 is derived, not published)"
        in (list(counts([]))[-1])
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_stored_result_is_explained(entry: Entry) -> None:
    """The page names an entry without results as not measured yet."""
    stored = [row for row in FIGURES if row["entry"] == entry.name]
    missing = [line for line in counts(FIGURES) if line.startswith("Not measured yet: ")]

    assert bool(stored) != any(f"{entry.name} (" in line for line in missing)
    assert entry.explained or not stored
