"""A report's warnings about its own figures."""

from dataclasses import replace

from orchestrator.domain import Outcome
from orchestrator.events import RepeatFinished
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.live.plain import ended
from orchestrator.results.evidence import Stored
from tests.unit.reporting import synthetic as s

REASON = "9 of 10 blocks (1–9): others used 0.93 of our CPUs"


def warned(*changes: dict[str, object]) -> tuple[str, ...]:
    """The warnings on a run with one repeat per change to its outcome."""
    cell = s.cell(s.MXNET, repeats=len(changes))
    stored = s.ok(cell, [100.0] * len(changes))
    changed = [
        Stored(replace(item.outcome, **change), item.result)  # type: ignore[arg-type]
        for item, change in zip(stored, changes, strict=True)
    ]
    plan = s.plan([cell])
    return compose(s.record(plan), plan, changed).warnings


def test_an_undisturbed_run_is_not_warned_of() -> None:
    assert warned({"disturbed_blocks": 1, "idle_wait_s": 0.05}, {}) == ()


def test_disturbed_repeats_are_named_and_counted() -> None:
    """Disturbed repeats are counted and named, and the warning says that they count."""
    (warning,) = warned({"disturbance": REASON, "disturbed_blocks": 9}, {}, {})

    assert warning == f"1 of 3 repeats was disturbed and counts: {s.cell(s.MXNET).id} repeat 0: {REASON}"


def test_of_many_disturbed_repeats_three_are_named() -> None:
    (warning,) = warned(*[{"disturbance": REASON}] * 5)

    assert warning.startswith("5 of 5 repeats were disturbed and count: ")
    assert warning.count(REASON) == 3
    assert warning.endswith("; and 2 more")


def test_remeasured_repeats_say_where_others_are() -> None:
    """Repeats that were measured again are reported with the place of the disturbed measurements."""
    (warning,) = warned({"remeasured": 1}, {"remeasured": 2}, {})

    assert warning == (
        "2 repeats were measured again after a disturbance: "
        "what was disturbed is kept in attempt-1 and so on, and does not count"
    )


def test_repeat_not_measured_again_gives_its_reason() -> None:
    """A repeat that could not be measured again is reported with its reason."""
    told = list(warned({"disturbance": REASON, "not_remeasured": "failed: it\x1b[31m broke"}, {}))

    assert told[1] == (
        "1 repeat was to be measured again and was not, so the disturbed measurement counts: "
        f"{s.cell(s.MXNET).id} repeat 0: failed: it broke"
    )


def test_a_host_that_was_not_idle_is_told() -> None:
    (warning,) = warned({"busy": "others used 0.9 of 2 CPUs"}, {})

    assert warning == "the host was not idle when 1 of 2 repeats began: others used 0.9 of 2 CPUs"


def test_the_line_of_a_disturbed_repeat_says_so() -> None:
    outcome: Outcome = replace(s.ok(s.cell(s.MXNET), [100.0])[0].outcome, disturbance=REASON)

    assert ended(RepeatFinished(outcome, 100.0)).endswith(f"ok, 100 samples/s, 12.5 s (disturbed: {REASON})")
