"""The baseline measured against itself, under a name that nothing which judges it can tell from a release's."""

from collections.abc import Callable

from orchestrator.catalog import UnsupportedError
from orchestrator.errors import HostError
from orchestrator.regression.nightly.decide import decide
from orchestrator.regression.nightly.records import SelfTest
from orchestrator.regression.nightly.services import TrialResult
from orchestrator.regression.nightly.state import Judgement, Tonight

Measure = Callable[[Tonight, Callable[[str], None]], TrialResult]


def pending_test(before: Tonight | None, baseline: str, night: str) -> Tonight:
    """Return the test to carry out: the one that was cut short if it is of the same baseline, or a new one.

    Its release is the other name of the baseline, a local version of it that no index has.
    """
    if before is not None and before.baseline == baseline:
        return before.model_copy(update={"night": night})
    name = f"{baseline.partition('+')[0]}+{night.rpartition('-')[2]}"
    return Tonight(night=night, release=name, baseline=baseline, is_self_test=True)


def carry_out(tonight: Tonight, measure: Measure, remember: Callable[[Tonight], None]) -> SelfTest:
    """Measure and judge as a release is, then say what was behind the name.

    `remember` is called with the run before it begins.
    """
    test = SelfTest(release=tonight.baseline, name=tonight.release, run=tonight.run, complete=False)
    try:
        measured = measure(tonight, lambda run: remember(tonight.model_copy(update={"run": run})))
    except UnsupportedError as error:
        return test.model_copy(update={"reason": error.reason})
    except HostError as error:
        return test.model_copy(update={"reason": str(error)})
    decision = decide(measured.regression, measured.outcomes, (), ())
    failed = not decision.judgement.is_final and decision.judgement is not Judgement.NOT_RUN
    found = {"run": measured.regression.run, "regression": measured.regression}
    return test.model_copy(
        update={**found, "complete": decision.judgement.is_final, "reason": decision.reason if failed else ""}
    )
