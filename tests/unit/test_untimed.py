"""A test says whether something is right, not how fast it is: it has no deadline, and waits for no time."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent.parent
PROFILES = TESTS / "conftest.py"


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def nodes(path: Path, word: str) -> tuple[ast.Attribute | ast.Call, ...]:
    """Return the calls and the attributes in a file that holds a word; in another one nothing has that name."""
    if word not in text_of(path):
        return ()
    tree = ast.parse(text_of(path))
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Call))


def deadlines(path: Path) -> Iterator[str]:
    """Yield the places of a file that set a deadline of Hypothesis."""
    for node in nodes(path, "deadline"):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "deadline":
                    yield f"{path.relative_to(TESTS)}:{keyword.lineno}"


def sleeps(path: Path) -> Iterator[str]:
    """Yield the places of a file that wait for a time."""
    for node in nodes(path, "sleep"):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "time.sleep":
            yield f"{path.relative_to(TESTS)}:{node.lineno}"


def test_the_profile_times_no_example() -> None:
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check


@given(st.just(1))
def test_tests_run_by_that_profile(one: int) -> None:
    assert one == 1
    assert settings.default is not None
    assert settings.default.deadline is None


def test_no_test_sets_a_deadline() -> None:
    """The profile does for all of them; a second place would have to be kept in step."""
    found = [place for path in sorted(TESTS.rglob("*.py")) if path != PROFILES for place in deadlines(path)]

    assert found == []


def test_no_test_waits_for_a_time() -> None:
    """`until` waits for a condition; under load a time is too short, and else it is too long.

    The fake host with GPUs and the fake engine are no tests: a launch takes time, and so does a step.
    """
    until = TESTS / "until.py"
    fakes = {TESTS / "gpu" / "stand_in" / "fake_gpus.py", TESTS / "unit" / "modes" / "plants" / "fake_server.py"}

    assert [
        place for path in sorted(TESTS.rglob("*.py")) if path not in {until, *fakes} for place in sleeps(path)
    ] == []
    assert list(sleeps(until))


def test_a_deadline_is_found() -> None:
    assert list(deadlines(PROFILES))
