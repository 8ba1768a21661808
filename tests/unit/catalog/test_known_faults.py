from pathlib import Path

import pytest

from orchestrator.catalog import load_faults
from orchestrator.errors import InputError


def test_a_mistake_in_known_faults_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n  - {name: a, frameworks: [mxnet], explains: [luck], fault: b}\n")

    with pytest.raises(InputError) as caught:
        load_faults(path)

    assert str(caught.value).startswith(f"{path}:2:")
    assert "explains" in str(caught.value)
