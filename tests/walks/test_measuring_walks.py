"""The commands of pages that measure, each page in its order, with releases that install in no time."""

from collections.abc import Callable

import pytest

from tests.walks.pages import WALKS


@pytest.mark.parametrize("name", [name for name, walk in WALKS.items() if walk.measures])
def test_walk_ends_well(name: str, walked: Callable[[str], None]) -> None:
    walked(name)
