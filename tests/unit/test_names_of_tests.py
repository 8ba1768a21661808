"""Test modules are imported by their bare names: `make check` sees one folder, `make test` all of them at once."""

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent.parent


def test_no_two_test_modules_have_the_same_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")

    assert [name for name, count in names.items() if count > 1] == []
