"""What holds between the steps of a session, in the environment of its framework."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.domain import ImageSpec
from orchestrator.resources import ROOT
from orchestrator.runtimes.model import Ready

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

Environment = tuple[ImageSpec, Ready]


def said(environment: Environment, script: str, *arguments: str) -> Any:
    """Run a script beside this file in a framework's environment; return the JSON of its last line."""
    _, ready = environment
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [ready.handle, str(Path(__file__).with_name(script)), *arguments], env=variables | dict(ready.variables),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize("environment", ["tensorflow", "torch", "jax"], indirect=True)
def test_training_goes_on_as_if_nothing_had_been_asked(environment: Environment) -> None:
    """Dropout draws at every step, so that a question which draws too, or leaves another mode behind, shows."""
    builder = environment[0].environment.builder
    alone = said(environment, "asked_while_training.py", builder, "alone")

    assert said(environment, "asked_while_training.py", builder, "asked") == pytest.approx(alone, rel=1e-6)
    assert alone[0] != alone[1]


@pytest.mark.parametrize("environment", ["jax"], indirect=True)
def test_jax_compiles_the_first_step_alone_and_trains_in_the_memory_it_has(environment: Environment) -> None:
    steps = said(environment, "steps_of_jax.py")

    assert steps["train"] == {"compiled": [1, 0], "consumed": True, "unfinished": 0}
    assert steps["infer"] == {"compiled": [1, 0], "consumed": False, "unfinished": 0}
