"""A fake host for each test that asks for one."""

from pathlib import Path

import pytest

from tests.gpu.fake_host import FakeHost, made


@pytest.fixture
def fake_host(tmp_path: Path) -> FakeHost:
    return made(tmp_path)
