"""The one submitter of a run in a folder that several hosts share."""

import os
from pathlib import Path

import pytest

from orchestrator.clusters.ownership import FILE, SILENT_S, ThisHost, claim, this_host
from orchestrator.errors import HostError

ONE, OTHER = ThisHost("login1", "boot-1"), ThisHost("login2", "boot-2")


def silent(run: Path, seconds: float) -> None:
    """Let the last sign of a submitter be so old."""
    path = run / FILE
    now = path.stat().st_mtime
    os.utime(path, (now - seconds, now - seconds))


def test_a_host_at_work_keeps_others_out(tmp_path: Path) -> None:
    claim(tmp_path, ONE).confirm()

    with pytest.raises(HostError, match=rf"login1 follows this run, with a sign .*remove {tmp_path}/{FILE}"):
        claim(tmp_path, OTHER)


def test_a_silent_host_loses_the_run(tmp_path: Path) -> None:
    """It notices before it writes anything."""
    lost = claim(tmp_path, ONE)
    silent(tmp_path, SILENT_S + 1)
    owned = claim(tmp_path, OTHER)

    owned.confirm()
    with pytest.raises(HostError, match="the orchestrator on login2 follows this run now"):
        lost.confirm()
    lost.release()
    owned.confirm()


def test_a_sign_is_left_each_time(tmp_path: Path) -> None:
    owned = claim(tmp_path, ONE)
    silent(tmp_path, SILENT_S + 1)
    owned.confirm()

    with pytest.raises(HostError, match="login1 follows"):
        claim(tmp_path, OTHER)


def test_the_same_host_takes_over_at_once(tmp_path: Path) -> None:
    """Its lock has said already that the earlier submitter has ended."""
    lost = claim(tmp_path, ONE)

    claim(tmp_path, ThisHost("login1-again", ONE.boot)).confirm()
    with pytest.raises(HostError, match="login1-again follows this run now"):
        lost.confirm()


def test_a_released_run_is_for_any_host(tmp_path: Path) -> None:
    claim(tmp_path, ONE).release()

    claim(tmp_path, OTHER).confirm()


def test_a_host_has_a_name_and_a_boot() -> None:
    assert all((this_host().name, this_host().boot))
