"""The page of engines names all that is skipped on one, and what was recorded."""

from pathlib import Path

import pytest

from tests.docker import impossible

DOCKER_TESTS = Path(impossible.__file__).parent
PAGE = (DOCKER_TESTS.parents[1] / "docs/engines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(impossible.PODMAN))
def test_what_is_skipped_is_named_on_the_page(name: str) -> None:
    """Each name is of a test, perhaps with a case of it, or of a file of tests, that exists."""
    test, _, case = name.partition("[")
    assert f"`{test}`" in PAGE
    assert f"`{case}`" in PAGE or not case
    files = {path.stem: path.read_text(encoding="utf-8") for path in DOCKER_TESTS.rglob("test_*.py")}
    assert test in files or any(f"def {test}(" in text for text in files.values())
