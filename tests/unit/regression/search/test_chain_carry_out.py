"""A search over a chain, carried out with a scripted host: what it records, and where it goes on."""

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest

from orchestrator.analysis.comparison import Verdict
from orchestrator.errors import HostError
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.carry_out import SearchInProgress
from orchestrator.regression.search.chain import PythonSpan
from orchestrator.regression.search.record import Bisection, Found
from orchestrator.regression.search.record_parts import AskedChain
from orchestrator.regression.search.steps import search_looks
from orchestrator.regression.sides import Side
from orchestrator.regression.trials.joint_result import JointResult
from tests.unit.regression.search.search_records import (
    CHAIN,
    MXNET,
    RELEASES,
    Host,
    chained,
    chained_record,
    done,
    rates,
)

FACTORS = {"3.6": 1.0, "3.9": 0.7}
THERE_AND_BACK = AskedChain(
    reason="no Python runs both ends",
    spans=(
        PythonSpan("3.6", "1.2.0", "1.4.1"),
        PythonSpan("3.9", "1.4.1", "1.6.0"),
        PythonSpan("3.6", "1.6.0", "1.9.1"),
    ),
)
"""A chain whose first and last span have one Python."""


def found(record: Bisection) -> Found:
    assert record.found is not None
    return record.found


def stored(folder: Path) -> Bisection:
    record = search_record.read(folder)
    assert isinstance(record, Bisection)
    return record


def named(record: Bisection) -> list[str]:
    return [span.after for span in found(record).releases.changes]


@pytest.mark.parametrize("changed", ["1.4.1", "1.5.1", "1.6.0", "1.9.1"])
def test_a_change_on_either_side_is_named(tmp_path: Path, changed: str) -> None:
    """The bridge is the last of one span; what Python changes there is in no step."""
    host = Host(rates(**{"v" + changed.replace(".", "_"): 0.9}), pythons=FACTORS)

    for every in (False, True):
        record = chained(host, tmp_path / str(every), every=every)

        (span,) = found(record).releases.changes
        assert (span.before, span.after) == (RELEASES[RELEASES.index(changed) - 1], changed)
        assert span.comparison is not None
        assert span.comparison.ratio == pytest.approx(0.9, rel=0.01)
        assert found(record).releases.ends is not None
        assert found(record).releases.ends.ratio == pytest.approx(0.9, rel=0.01)


def test_python_alone_changes_nothing(tmp_path: Path) -> None:
    record = chained(Host(rates(), pythons=FACTORS), tmp_path, every=True)

    conclusion = found(record).releases
    assert (conclusion.changes, conclusion.further, conclusion.gradual, conclusion.unsettled) == ((), (), (), ())
    assert not found(record).is_worse
    assert {step.comparison.verdict for step in found(record).steps if step.comparison} == {Verdict.SAME}
    assert [step.after for step in found(record).steps] == list(RELEASES[1:])


def test_spans_share_one_alpha(tmp_path: Path) -> None:
    """Three steps and four, the ends of two spans and of the chain: ten comparisons, each at a tenth of α."""
    record = chained(Host(rates(v1_4_1=0.9), pythons=FACTORS), tmp_path, every=True)

    shared = search_looks(2, record.asked.looks, record.asked.alpha, family=10)
    compared = [step.comparison for step in found(record).steps if step.comparison]
    chain, ends = found(record).chain, found(record).releases.ends
    assert chain is not None
    compared += [span.comparison for span in chain.spans if span.comparison]
    assert len(compared) == 9
    assert {(each.confidence, each.equivalence) for each in compared} <= {
        (look.confidence, look.equivalence) for look in shared
    }
    assert ends is not None
    assert ends.confidence in {look.confidence for look in shared}


def test_each_span_is_measured_on_its_python(tmp_path: Path) -> None:
    """The bridge is in the first round of both; each round names its Python."""
    record = chained(Host(rates(), pythons=FACTORS), tmp_path)

    first = {measured.python: measured.releases for measured in reversed(record.rounds)}
    assert first["3.6"] == tuple(f"mxnet=={version}" for version in RELEASES[:4])
    assert first["3.9"] == tuple(f"mxnet=={version}" for version in RELEASES[3:])


def test_record_of_a_chain_is_read_back(tmp_path: Path) -> None:
    """The published schema allows it, and what is new in it is absent elsewhere."""
    record = chained(Host(rates(v1_6_0=0.9), pythons=FACTORS), tmp_path / "chained")
    plain = done(Host(rates(v1_6_0=0.9)), tmp_path / "plain")

    document = json.loads((tmp_path / "chained" / "bisect.json").read_text())
    assert list(jsonschema.Draft202012Validator(search_record.schema()).iter_errors(document)) == []
    assert search_record.read(tmp_path / "chained") == record
    assert document["asked"]["chain"]["spans"][0] == {"python": "3.6", "first": "1.2.0", "last": "1.5.1"}
    assert [each["python"] for each in document["rounds"]] == ["3.6"] * (len(document["rounds"]) - 1) + ["3.9"]
    assert [span["comparison"]["verdict"] for span in document["found"]["chain"]["spans"]][1] == "slower"
    text = (tmp_path / "plain" / "bisect.json").read_text()
    assert '"chain"' not in text
    assert all("python" not in each for each in json.loads(text)["rounds"])
    assert search_record.read(tmp_path / "plain") == plain


@pytest.mark.parametrize("chain", [CHAIN, THERE_AND_BACK], ids=["two", "three"])
def test_a_chain_that_dies_reaches_the_same_end(tmp_path: Path, chain: AskedChain) -> None:
    """Killed after any round, it goes on to the same record and asks nothing twice."""
    before, after = {"mxnet": "1", "numpy": "1.16.6", "six": "1"}, {"mxnet": "2", "numpy": "1.17.5", "six": "2"}
    held = {release: before if place < 5 else after for place, release in enumerate(RELEASES)}
    whole = Host(
        rates(v1_3_1=0.96), held, {("numpy", "1.17.5"): 0.9}, broken=["mxnet==1.8.0"], pythons=FACTORS, deviation=0.006
    )
    expected = chained(whole, tmp_path / "whole", every=True, chain=chain)
    assert named(expected) == ["1.3.1", "1.7.0"]
    assert {measured.change for measured in expected.rounds} == {"", "1.7.0"}
    for dies_at in range(len(whole.asked)):
        folder = tmp_path / str(dies_at)
        folder.mkdir()
        host = Host(whole.rates, held, whole.factors, whole.broken, pythons=FACTORS, deviation=0.006, dies_at=dies_at)
        search_record.write(folder, chained_record(every=True, chain=chain))
        with pytest.raises(HostError):
            SearchInProgress(stored(folder), folder, MXNET, host.means()).carry_out()
        host.dies_at = 10_000

        again = SearchInProgress(stored(folder), folder, MXNET, host.means()).carry_out()

        assert (again, host.asked) == (expected, whole.asked)
        assert (folder / "bisect.json").read_bytes() == (tmp_path / "whole" / "bisect.json").read_bytes()


def test_what_moved_is_searched_on_the_same_python(tmp_path: Path) -> None:
    before, after = {"mxnet": "1", "numpy": "1.16.6"}, {"mxnet": "2", "numpy": "1.17.5"}
    held = {release: before if place < 5 else after for place, release in enumerate(RELEASES)}
    pythons: list[set[str]] = []

    class Watched(Host):
        def measure(self, sides: Sequence[Side], blocks: int) -> JointResult:
            pythons.append({one.python for one in sides})
            return super().measure(sides, blocks)

    record = chained(Watched(rates(), held, {("numpy", "1.17.5"): 0.9}, pythons=FACTORS), tmp_path)

    (origin,) = found(record).origins
    assert origin.by == ("numpy 1.16.6 → 1.17.5",)
    moves = record.rounds[-1]
    assert (moves.change, moves.python) == ("1.7.0", "3.9")
    assert pythons == [{measured.python} for measured in record.rounds]


def test_a_broken_bridge_names_its_python(tmp_path: Path) -> None:
    """The other span keeps its finding, and a repaired bridge completes the chain."""
    host = Host(rates(v1_4_1=0.9), pythons=FACTORS, broken_on=[("1.5.1", "3.9")])

    broken = chained(host, tmp_path)

    assert found(broken).releases.ends is None
    assert named(broken) == ["1.4.1"]
    chain = found(broken).chain
    assert chain is not None
    assert [(each.python, [one.release for one in each.broken_by]) for each in chain.broken] == [("3.9", ["1.5.1"])]
    asked, host.broken_on = len(host.asked), ()

    again = search_record.forgetful(broken, failed=True)
    whole = SearchInProgress(again, tmp_path, MXNET, host.means()).carry_out()

    assert found(whole).releases.ends is not None
    assert named(whole) == ["1.4.1"]
    assert host.asked[asked:][0] == (("mxnet==1.5.1", "mxnet==1.6.0", "mxnet==1.9.1"), 4)
    assert all("mxnet==1.2.0" not in sides for sides, _ in host.asked[asked:])
