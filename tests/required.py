"""The needs of a test on its host: without them the test is skipped, or fails if they must be there."""

import os
from typing import NoReturn

import pytest


def missing(what: str, requirement: str) -> NoReturn:
    """Skip on a machine without `what`, fail where the environment says that it must be there."""
    if os.environ.get(requirement) == "1":
        pytest.fail(f"{what}, and {requirement}=1 says that it must be there")
    pytest.skip(what)
