"""Images are removed after their last repeat, and never before."""

import threading
from dataclasses import replace
from pathlib import Path

from running_fakes import SPEC, FakeRuntime, a_cell, a_plan, exiting, ready, surroundings

from orchestrator.events import Notice, RepeatFinished
from orchestrator.processes import Watch
from orchestrator.running import Policy, execute
from orchestrator.runtimes import Ended, Task

OTHER = replace(SPEC, alias="2-cpu")
ONE, TWO = a_cell("one"), replace(a_cell("two"), image=OTHER.name)
PLAN = replace(a_plan(replace(ONE, repeats=1), replace(TWO, repeats=2)), images=(SPEC, OTHER))


def carried_out(
    folder: Path, runtime: FakeRuntime, policy: Policy | None = None, stop: threading.Event | None = None
) -> list[object]:
    """Carry out repeats, and list removed images, with those still needed, among the ends of repeats."""
    seen: list[object] = []
    around, _ = surroundings(folder, runtime, stop)

    def free(reference: str, needed: frozenset[str]) -> tuple[str, ...]:
        seen.append((reference, needed))
        return (reference,)

    def listen(event: object) -> None:
        if isinstance(event, RepeatFinished):
            seen.append(event.outcome.cell_id.partition("/")[2])
        elif isinstance(event, Notice):
            seen.append(event.message)

    list(execute(PLAN, replace(around, free=free, listener=listen), policy or Policy(seed=1)))
    return seen


def needed(*images: str) -> frozenset[str]:
    specs = {SPEC.name: SPEC, OTHER.name: OTHER}
    return frozenset(
        each for image in images for each in (ready(specs[image]).handle, ready(specs[image]).image_id) if each
    )


def test_an_image_goes_after_its_last_repeat(tmp_path: Path) -> None:
    one, two = ready(SPEC).handle, ready(OTHER).handle
    seen = carried_out(tmp_path / "run", FakeRuntime())

    assert [each for each in seen if isinstance(each, tuple)] == [(one, needed(OTHER.name)), (two, frozenset())]
    assert seen[-3:] == ["two", (two, frozenset()), f"no cell is left for {OTHER.name}: removed {two}"]
    assert seen.index((one, needed(OTHER.name))) == seen.index("one") + 1


def test_a_stopped_run_keeps_what_is_left(tmp_path: Path) -> None:
    stop = threading.Event()

    def stopping(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        stop.set()
        return exiting(1)(task, request, watch)

    assert not any(
        isinstance(each, tuple) for each in carried_out(tmp_path / "run", FakeRuntime([stopping]), stop=stop)
    )


def test_fail_fast_run_keeps_what_is_left(tmp_path: Path) -> None:
    """A run that failed fast keeps the images of what is left."""
    seen = carried_out(tmp_path / "run", FakeRuntime([exiting(1)]), Policy(fail_fast=True))

    assert not any(isinstance(each, tuple) for each in seen)


def test_nothing_goes_unless_it_is_asked_for(tmp_path: Path) -> None:
    around, events = surroundings(tmp_path / "run", FakeRuntime())
    list(execute(PLAN, around))

    assert not any(isinstance(event, Notice) for event in events)
