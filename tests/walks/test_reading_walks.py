"""The commands of pages that read results and files, or only plan, each page in its order."""

from collections.abc import Callable

import pytest

from tests.walks.pages import WALKS


@pytest.mark.parametrize("name", [name for name, walk in WALKS.items() if not walk.measures])
def test_walk_ends_well(name: str, walked: Callable[[str], None]) -> None:
    walked(name)
