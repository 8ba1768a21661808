"""Things that tests with an engine share: the far side of an air gap."""

from collections.abc import Iterator

import far_support
import impossible
import pytest
from far_support import FarSide

from tests.required import missing


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip by name what this engine cannot do, before anything is made for it."""
    engine = impossible.of_this_host()
    reason = impossible.reason(item.path.stem, item.name, engine) if engine else None
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def far(engine: object) -> Iterator[FarSide]:
    """A host without a network, one for all tests: what one of them loads there, the next one finds."""
    _needed()
    with far_support.far_side() as side:
        yield side


@pytest.fixture
def empty_far(engine: object) -> Iterator[FarSide]:
    """A host without a network whose engine has nothing."""
    _needed()
    with far_support.far_side() as side:
        yield side


@pytest.fixture(scope="module")
def empty_far_of_module(engine: object) -> Iterator[FarSide]:
    """The same, for all tests of a module."""
    _needed()
    with far_support.far_side() as side:
        yield side


def _needed() -> None:
    reason = far_support.missing()
    if reason:
        missing(reason, "BENCH_REQUIRE_ENGINE")
