"""The plans of a night's trials with an anchor."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.catalog import shipped_catalog
from orchestrator.errors import InputError
from orchestrator.regression.nightly.loading import load
from orchestrator.regression.nightly.records import Answer
from orchestrator.regression.nightly.state import Judgement, ReleaseRecord, State, Tonight
from orchestrator.regression.rules import Gate, Rules
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.pair import SourceOptions, regression_setup
from orchestrator.workflows.nightly.anchor import anchored_pairing, check_anchor
from orchestrator.workflows.nightly.past import NOTHING, Past
from orchestrator.workflows.nightly.planner import NightlyPlanner
from tests.unit.regression.nightly.watch_records import scored

MATRIX = "version: 1\nframeworks: [{name}=={version}]\nmodels: [mlp]\nparity: false\n"


def planner(folder: Path, name: str, version: str, anchor: str, more: str = "") -> NightlyPlanner:
    (folder / "matrix.yaml").write_text(MATRIX.format(name=name, version=version))
    (folder / "nightly.yaml").write_text(
        f"version: 1\nwatch: {name}\nfirst: {version}\nanchor: {{release: '{anchor}', tolerance: 8%}}\n{more}"
    )
    nightly = load(folder / "nightly.yaml", shipped_catalog())
    return NightlyPlanner(nightly, regression_setup(nightly.matrix, SourceOptions(), Host({})))


def planned(made: NightlyPlanner, release: str, baseline: str, past: Past = NOTHING):  # type: ignore[no-untyped-def]
    tonight = Tonight(night="n", release=release, baseline=baseline)
    return anchored_pairing(made, made.pair(release, baseline), tonight, past)


def test_the_anchor_runs_on_the_python_of_the_pair(tmp_path: Path) -> None:
    pairing, anchor = planned(planner(tmp_path, "mxnet", "1.8.0", "1.6.0"), "1.9.1", "1.8.0")

    assert anchor is not None
    assert (anchor.side.version, anchor.tolerance, anchor.over) == ("1.6.0", 0.08, ())
    assert [cell.framework.version for cell in pairing.plan.cells] == ["1.8.0", "1.9.1", "1.6.0"]
    assert len({cell.framework.python for cell in pairing.plan.cells}) == 1


def test_the_candidate_runs_again_where_the_anchor_does(tmp_path: Path) -> None:
    """The anchor lacks the Python of the pair, and shares an older one with the candidate."""
    pairing, anchor = planned(planner(tmp_path, "torch", "2.7.0", "2.1.0"), "2.13.0", "2.7.0")

    assert anchor is not None
    assert [(cell.framework.version, cell.framework.python) for cell in pairing.plan.cells] == [
        ("2.7.0", "3.11"), ("2.13.0", "3.11"), ("2.1.0", "3.10"), ("2.13.0", "3.10"),
    ]  # fmt: skip
    assert anchor.over == ()


@dataclass(frozen=True)
class Apart(NightlyPlanner):
    """A planner to whom anchor and candidate share no Python."""

    def pythons(self, version: str) -> tuple[str, ...]:
        return {"1.4.1": ("3.6",), "1.9.1": ("3.11",)}.get(version, ("3.6", "3.11"))


def test_a_chain_goes_over_what_nights_have_measured(tmp_path: Path) -> None:
    made = planner(tmp_path, "mxnet", "1.8.0", "1.4.1")
    pairing, anchor = planned(Apart(made.nightly, made.setup), "1.9.1", "1.8.0")

    assert anchor is not None
    assert anchor.over == ("1.8.0",)
    assert [(cell.framework.version, cell.framework.python) for cell in pairing.plan.cells[2:]] == [
        ("1.4.1", "3.7"), ("1.8.0", "3.7"),
    ]  # fmt: skip


def test_an_anchor_without_a_chain_is_said(tmp_path: Path) -> None:
    class Alone(NightlyPlanner):
        def pythons(self, version: str) -> tuple[str, ...]:
            return ("3.6",) if version == "1.4.1" else ("3.11",)

    made = planner(tmp_path, "mxnet", "1.8.0", "1.4.1")
    pairing, anchor = planned(Alone(made.nightly, made.setup), "1.9.1", "1.8.0")

    assert anchor is not None
    assert (anchor.pairs, len(pairing.plan.cells)) == ((), 2)
    assert [each.reason for each in anchor.missing] == [
        "no Python runs 1.4.1 and 1.9.1, and no chain of measured releases joins them"
    ]


@pytest.mark.parametrize("baseline", ["1.6.0", "1.8.0"])
def test_a_baseline_that_is_the_anchor_needs_none(tmp_path: Path, baseline: str) -> None:
    _, anchor = planned(planner(tmp_path, "mxnet", "1.6.0", "1.6.0"), "1.9.1", baseline)

    assert (anchor is None) is (baseline == "1.6.0")


def test_bad_anchors_are_mistakes_with_their_places(tmp_path: Path) -> None:
    made = planner(tmp_path, "mxnet", "1.8.0", "1.0.0", "metrics: [loss]\n")

    with pytest.raises(InputError) as caught:
        check_anchor(made, Rules(gates=(Gate("loss", 0.0001),)))
    first, second = caught.value.messages
    assert first.startswith(f"{tmp_path}/nightly.yaml:4:19: anchor: mxnet 1.0.0 cannot be measured: ")
    assert second.startswith(f"{tmp_path}/nightly.yaml:4:9: anchor: loss alone decides, which has no small losses")


def test_the_past_is_what_a_state_says() -> None:
    record = ReleaseRecord(version="1.10.0", judgement=Judgement.CLEAN, night="n")
    others = (
        record.model_copy(update={"version": "1.9.0"}),
        record.model_copy(update={"version": "1.8.0", "judgement": Judgement.BUILD_FAILED}),
    )
    scores = (*scored([Answer.WRONG] * 3), *scored([Answer.WRONG] * 3, cell="cpu/mlp", anchor="1.4.1"))
    past = Past.of(State(watched="mxnet", releases=(record, *others), scores=scores))

    assert past.measured == ("1.9.0", "1.10.0")
    assert past.doubted == (("cpu/lenet-train-b200", "throughput"),)
    assert past.doubted_drifts == (("cpu/mlp", "throughput"),)
