"""Interpreters at hand, and folders with a request in them."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from container_support import NEWEST, REQUIRED, document, missing_interpreter

from orchestrator.runtimes import interpreters
from orchestrator.runtimes.interpreters import Interpreter


@pytest.fixture(scope="session", params=(*REQUIRED, NEWEST))
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """Each Python from 3.6 that this host has."""
    found = interpreters.find(request.param, os.environ, Path(sys.executable), tmp_path_factory.mktemp("ask"))
    if found is None:
        missing_interpreter(request.param, f"no Python {request.param} here")
    return found


@pytest.fixture
def io(tmp_path: Path) -> Callable[..., Path]:
    """Make a folder with a request in it."""

    def make(**changes: Any) -> Path:
        (tmp_path / "request.json").write_text(json.dumps(document(**changes)))
        return tmp_path

    return make
