"""The remedies for a file that cannot be written."""

from pathlib import Path

import pytest

from orchestrator.errors import HostError
from orchestrator.results.files.writing import write_atomically


def test_the_remedy_depends_on_the_cause(tmp_path: Path) -> None:
    """A folder that is not there is no want of room."""
    with pytest.raises(HostError, match="No such file or directory; create its folder first, or choose another place"):
        write_atomically(tmp_path / "none" / "x.csv", "")
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="Not a directory; choose another place"):
        write_atomically(tmp_path / "file" / "x.csv", "")
