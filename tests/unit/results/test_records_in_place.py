"""Records of this program in whose place something else lies: nothing is followed, and nobody waits for a pipe."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.regression.search import record as searches
from orchestrator.regression.trials.files import stored_regression, stored_trial
from orchestrator.regression.trials.joint import stored_joint_trial
from orchestrator.results.store import Run

READERS: dict[str, Callable[[Path], object]] = {
    "run.json": lambda folder: Run(folder).record(),
    "environments.json": lambda folder: Run(folder).environments(),
    "trial.json": lambda folder: stored_trial(Run(folder)),
    "joint.json": lambda folder: stored_joint_trial(Run(folder)),
    "regression.json": lambda folder: stored_regression(Run(folder)),
    "bisect.json": searches.read,
}


def link(path: Path) -> None:
    (path.parent / "elsewhere").write_text("{}")
    path.symlink_to("elsewhere")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("make", [link, Path.mkdir, os.mkfifo], ids=["link", "folder", "pipe"])
def test_no_plain_file_is_refused(name: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / name)

    with pytest.raises(InputError) as refused:
        READERS[name](tmp_path)

    assert refused.value.messages == (f"{tmp_path / name}: is no plain file; move it away",)
