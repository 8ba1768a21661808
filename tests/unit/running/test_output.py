"""The limit on what a repeat writes: a flood ends it whatever it answers, and a closed folder fails it alone."""

import itertools
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.domain import OutputLimit, Status
from orchestrator.processes import Cause, Watch
from orchestrator.results.parity.checks import Checks
from orchestrator.results.store import Run
from orchestrator.running import Policy, execute
from orchestrator.running.attempts import set_aside
from orchestrator.running.output import OutputWatch
from orchestrator.runtimes import Ended, Task
from tests.unit.running.running_fakes import (
    FakeRuntime,
    a_cell,
    a_plan,
    carry_out,
    measured,
    statuses,
    surroundings,
)

pytestmark = pytest.mark.ordinary_user

LIMIT = OutputLimit(2**20, 20)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def watch(folder: Path, clock: Clock | None = None, limit: OutputLimit = LIMIT) -> OutputWatch:
    return OutputWatch(folder, limit, clock or Clock())


def test_a_large_file_is_told_with_figures(tmp_path: Path) -> None:
    found = watch(tmp_path)
    assert found.look() is None
    with (tmp_path / "model.ckpt").open("wb") as file:
        file.truncate(2**43)

    assert found.look() == "wrote 8 TiB or more into its folder; the limit is 1 MiB"


def test_many_files_are_told_with_figures(tmp_path: Path) -> None:
    found = watch(tmp_path)
    for number in range(21):
        (tmp_path / str(number)).touch()

    assert found.look() == "made 21 files or more in its folder; the limit is 20"


def test_a_file_that_is_removed_again_still_counts(tmp_path: Path) -> None:
    """A repeat that was over its limit once does not come back within it."""
    found = watch(tmp_path)
    (tmp_path / "large").write_bytes(bytes(2**21))
    first = found.look()
    (tmp_path / "large").unlink()

    assert first is not None
    assert found.look() == first


def test_what_lay_there_before_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "attempt-1").mkdir()
    (tmp_path / "attempt-1" / "large").write_bytes(bytes(2**22))
    for number in range(40):
        (tmp_path / "attempt-1" / str(number)).touch()

    assert watch(tmp_path).look() is None


def test_what_cannot_be_counted_is_beyond_the_limit(tmp_path: Path) -> None:
    found = watch(tmp_path)
    folder = tmp_path
    for _ in range(70):
        folder /= "d"
        folder.mkdir()

    wide = OutputWatch(tmp_path, OutputLimit(2**30, 1000), Clock())
    assert wide.look() is None, "it was there before"
    wide._before = found._before
    assert wide.look().startswith("what it wrote cannot be counted: ")
    assert wide.look().endswith("is nested more than 64 folders deep")


def nested(folder: Path) -> Path:
    for _ in range(70):
        folder /= "d"
        folder.mkdir(parents=True)
    return folder


def test_earlier_nest_hides_no_other(tmp_path: Path) -> None:
    """A nest of folders of an earlier attempt hides no other."""
    (tmp_path / "attempt-1").mkdir()
    nested(tmp_path / "attempt-1")
    (tmp_path / "attempt-2").mkdir()
    found = watch(tmp_path, limit=OutputLimit(2**30, 1000))
    assert found.look() is None
    with (nested(tmp_path) / "sparse").open("wb") as file:
        file.truncate(2**40)

    assert found.look().startswith("what it wrote cannot be counted: 'd/d/")


def test_what_is_written_into_an_earlier_nest_counts(tmp_path: Path) -> None:
    nested(tmp_path)
    (tmp_path / "log.txt").touch()
    assert set_aside(tmp_path) == 1
    found = watch(tmp_path, limit=OutputLimit(2**30, 1000))
    assert found.look() is None
    inner = next(path for path in tmp_path.rglob("d") if not any(path.iterdir()))
    with (inner / "sparse").open("wb") as file:
        file.truncate(2**40)

    assert found.look().startswith("wrote 1,024 GiB or more into its folder")


def test_slow_looks_are_rarer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at the output are rare, and rarer the longer they take."""
    clock = Clock()
    looks: list[float] = []
    found = watch(tmp_path, clock)

    def slow() -> str:
        looks.append(clock.now)
        clock.now += 0.125
        return ""

    monkeypatch.setattr(found, "look", slow)
    while clock.now < 20:
        assert found() is False
        clock.now += 0.5

    assert looks[0] == 1.0
    assert [later - earlier for earlier, later in itertools.pairwise(looks)] == [6.625] * (len(looks) - 1)


def flooding(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Write past the limit until the watch has it end."""
    (task.folder / "flood").write_bytes(bytes(3 * 2**20))
    for _ in range(100):
        if watch():
            return Ended(Cause.CUT_OFF, None, wall_s=1.0)
        Clock.now += 1.0
    raise AssertionError("nobody has stopped it")


def leaving(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Answer well, with a flood beside the answer, too fast for any look."""
    (task.folder / "flood").write_bytes(bytes(3 * 2**20))
    return measured(task, request, watch)


@pytest.fixture
def timeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that passes when somebody says so."""
    Clock.now = 0.0
    monkeypatch.setattr(OutputWatch.__init__, "__defaults__", (Clock(),))


@pytest.mark.usefixtures("timeless")
@pytest.mark.parametrize("behaviour", [flooding, leaving])
def test_a_flood_is_output_limit_and_not_retried(behaviour, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cell = replace(a_cell(), output=LIMIT, repeats=2)
    runtime = FakeRuntime([behaviour])
    outcomes = carry_out(tmp_path / "run", runtime, a_plan(cell), Policy(retries=3))

    assert statuses(outcomes) == [Status.OUTPUT_LIMIT, Status.OK]
    assert re.fullmatch(r"wrote 3\S* MiB or more into its folder; the limit is 1 MiB", outcomes[0].reason)
    assert outcomes[0].status.is_failure
    assert (Run(tmp_path / "run").repeat_folder(cell.id, 0) / "flood").exists(), "what was written stays"
    assert len(runtime.launched) == 2


@pytest.mark.usefixtures("timeless")
def test_stopped_run_is_always_not_run(tmp_path: Path) -> None:
    """A stopped run is not run, whatever was written."""

    def stopped(task: Task, request: dict[str, object], watch: Watch) -> Ended:
        (task.folder / "flood").write_bytes(bytes(3 * 2**20))
        return Ended(Cause.STOPPED, None, wall_s=1.0)

    around, _ = surroundings(tmp_path / "run", FakeRuntime([stopped] * 9))
    (outcome,) = execute(a_plan(replace(a_cell(), output=LIMIT)), around)

    assert outcome.status is Status.NOT_RUN


def closed(task: Task, request: dict[str, object], watch: Watch) -> Ended:
    """Crash, and leave folders that nobody may enter."""
    task.log.write_text("it broke\n")
    (task.folder / "cache" / "inner").mkdir(parents=True)
    (task.folder / "cache" / "inner" / "tool").write_text("")
    (task.folder / "cache" / "inner" / "tool").chmod(0o4755)
    (task.folder / "cache" / "inner").chmod(0o555)
    (task.folder / "cache").chmod(0)
    return Ended(Cause.EXITED, 9, wall_s=1.0)


def test_closed_folders_stop_no_later_attempt(tmp_path: Path) -> None:
    runtime = FakeRuntime([closed, closed])
    (outcome,) = carry_out(tmp_path / "run", runtime, a_plan(a_cell()), Policy(retries=2))

    assert (outcome.status, outcome.attempts) == (Status.OK, 3)
    tool = Run(tmp_path / "run").repeat_folder(outcome.cell_id, 0) / "attempt-2/cache/inner/tool"
    assert tool.stat().st_mode & 0o7777 == 0o755


def denied(*_: object) -> None:
    raise PermissionError(13, os.strerror(13))


def test_one_denied_folder_fails_its_own_repeat_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = a_cell("a"), a_cell("b")
    folder = tmp_path / "run"
    carry_out(folder, FakeRuntime([lambda *_: Ended(Cause.EXITED, 9, 1.0)] * 2), a_plan(first, second))
    rename = Path.rename

    def of_another(path: Path, target: Path) -> Path:
        return denied() if f"/{first.id}/" in str(path) else rename(path, target)  # type: ignore[func-returns-value]

    for cell in (first, second):
        (folder / cell.id / "0" / "log.txt").write_text("")
    monkeypatch.setattr(Path, "rename", of_another)
    around, _ = surroundings(folder, FakeRuntime())
    outcomes = {
        outcome.cell_id: outcome for outcome in execute(a_plan(first, second), around, Policy(retry_failed=True))
    }

    assert outcomes[second.id].status is Status.OK
    assert outcomes[first.id].status is Status.LAUNCH_FAILED
    assert "an earlier attempt cannot be moved aside: Permission denied" in outcomes[first.id].reason
    assert Run(folder).outcome(first.id, 0) == outcomes[first.id]


def test_a_folder_that_takes_no_outcome_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = a_cell("a"), a_cell("b")
    make = Path.mkdir

    def of_another(path: Path, *rest: int, **named: bool) -> None:
        denied() if f"/{first.id}/" in f"{path}/" else make(path, *rest, **named)

    monkeypatch.setattr(Path, "mkdir", of_another)
    around, events = surroundings(tmp_path / "run", FakeRuntime())
    outcomes = {outcome.cell_id: outcome.status for outcome in execute(a_plan(first, second), around)}

    assert outcomes == {first.id: Status.LAUNCH_FAILED, second.id: Status.OK}
    assert any("its end cannot be recorded" in str(event) for event in events)


def test_a_parity_folder_that_is_denied_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Path.mkdir

    def of_another(path: Path, *rest: int, **named: bool) -> None:
        denied() if "/parity/" in f"{path}/" else make(path, *rest, **named)

    monkeypatch.setattr(Path, "mkdir", of_another)
    around, events = surroundings(tmp_path / "run", FakeRuntime())
    (outcome,) = execute(replace(a_plan(a_cell()), parity=True), around)

    assert outcome.status is Status.OK
    assert any("parity is not checked: " in str(event) and "Permission denied" in str(event) for event in events)


@pytest.mark.usefixtures("timeless")
def test_a_parity_check_has_the_same_limit(tmp_path: Path) -> None:
    plan = replace(a_plan(replace(a_cell(), output=LIMIT)), parity=True)
    around, _ = surroundings(tmp_path / "run", FakeRuntime([flooding]))
    (outcome,) = execute(plan, around)

    (record,) = (tmp_path / "run/parity").glob("*/*/outcome.json")
    check = Checks(Run(tmp_path / "run")).outcome("/".join(record.parent.parts[-2:]))
    assert outcome.status is Status.OK
    assert check is not None
    assert check.status is Status.OUTPUT_LIMIT
