"""The content that an answer of a parity check depends on, so that it stands for nothing else."""

from dataclasses import replace
from typing import Any

import pytest
from running_fakes import SPEC, a_cell, a_plan, ready

from orchestrator.planning import Check, checks
from orchestrator.results.parity.contract import REVISION
from orchestrator.running.parity.content import content_of, environment_of
from orchestrator.user_files import ModelFile


def test_content_differs_with_every_ingredient() -> None:
    """Content tells images, environments, sources, models, options, seeds and machines apart."""
    (check,) = checks(replace(a_plan(a_cell()), parity=True))
    image, venv = ready(SPEC), replace(ready(SPEC), image_id=None)

    def content(check: Check = check, own: ModelFile | None = None, **changes: Any) -> str:
        asked = {"seed": 0, "where": image, "machine": ("Example CPU", (), None), "source": "a"} | changes
        environment = environment_of(asked["where"], asked["source"])
        return content_of(check, asked["seed"], environment, asked["machine"], own)

    assert content() == content(source="b"), "an image holds its own source"
    every = [
        content(), content(where=replace(image, image_id="sha256:2")), content(where=venv),
        content(where=venv, source="b"), content(where=replace(venv, versions=(("fake", "2"),))),
        content(replace(check, model="mlp")), content(replace(check, options=(("xla", True),))), content(seed=1),
        content(replace(check, trains=not check.trains)),
        content(own=ModelFile("lenet", "", "ab")), content(own=ModelFile("lenet", "", "cd")),
        content(replace(check, definition="ab")), content(replace(check, definition="cd")),
        content(machine=("Another CPU", (), None)), content(machine=("Example CPU", ("A100",), "570.1")),
        content(machine=("Example CPU", ("H100",), "570.1")), content(machine=("Example CPU", ("H100",), "580.1")),
    ]  # fmt: skip
    assert len(set(every)) == len(every)


def test_answers_of_older_revisions_are_not_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that was kept before more was asked is not taken over."""
    (check,) = checks(replace(a_plan(a_cell()), parity=True))
    asked: tuple[Any, ...] = (check, 0, environment_of(ready(SPEC), "a"), ("Example CPU", (), None))
    now = content_of(*asked)

    monkeypatch.setattr("orchestrator.running.parity.content.REVISION", REVISION - 1)

    assert content_of(*asked) != now
