"""The whole program, for rules that are checked from outside too."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import command

__all__ = ["command"]


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """A matrix of one cell that takes no time."""
    path = tmp_path / "matrix.yaml"
    path.write_text("version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsteps: 10\n")
    return path
