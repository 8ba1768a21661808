"""The messages about an unusable engine: there is none, or this user may not use it."""

import errno
from pathlib import Path

import pytest

from orchestrator.engine import client
from orchestrator.errors import HostError


def test_silent_engine_is_to_be_started(tmp_path: Path) -> None:
    """If no engine answers, the remedy is to start it."""
    with pytest.raises(HostError, match=r"no container engine answers at unix://.*; start Docker"):
        client.connect({"DOCKER_HOST": f"unix://{tmp_path}/no.sock"})


def test_refused_user_is_sent_to_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the user may not use the engine, the remedy is the group."""

    def refuse(place: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    # Root, who may run these tests, is refused nothing by the file's mode.
    monkeypatch.setattr(client, "_knock", refuse)

    with pytest.raises(HostError, match=r"this user may not use the container engine at unix:.*join the group docker"):
        client.connect({})
