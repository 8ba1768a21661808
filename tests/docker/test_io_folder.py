"""Files that containers leave in `/io`: some with rights that lock everybody out, some too large to keep."""

import json
import os
import stat
import subprocess
from pathlib import Path

import docker
import faults_support as support
import pytest

from tests.envelopes import data_of
from tests.required import missing

pytestmark = [pytest.mark.docker, pytest.mark.ordinary_user]

LOCKED = ("kept_closed", "fine", "set_user_id", "lock")
FLOODS = ("flood", "many_files", "sparse", "flood_and_leave", "fine")
Ran = tuple[Path, "subprocess.CompletedProcess[str]"]


def test_the_user_is_an_ordinary_one() -> None:
    """As root, nothing below would show what is refused to others."""
    if os.geteuid() == 0:
        missing("root is no ordinary user", "BENCH_REQUIRE_ORDINARY_USER")


def command(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        support.command(*arguments), cwd=folder, env=support.environment(folder), capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def the_run(folder: Path) -> Path:
    (record,) = (folder / "results").glob("*/run.json")
    return record.parent


@pytest.fixture(scope="module")
def locked(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run whose containers take rights away, and its resumption that tries the failures again."""
    folder = support.workplace(tmp_path_factory.mktemp("locked"), base_image, *LOCKED, name="locking")
    first = support.run(folder)
    assert support.statuses(folder / "results") == ["failed", "ok", "ok", "failed"], first.stderr
    return folder, support.run(folder, "--resume", "latest", "--retry-failed")


def test_a_run_goes_on_past_closed_folders(locked: Ran) -> None:
    folder, resumed = locked

    assert resumed.returncode == 0, resumed.stderr
    assert support.statuses(folder / "results") == ["ok"] * 4
    kept = the_run(folder) / support.CELL / "0" / "attempt-1"
    assert (kept / "cache/inner/kernels/one").exists()
    assert json.loads((kept / "outcome.json").read_text())["reason"] == "the cache is broken"


def test_what_was_closed_is_collected_and_merged(locked: Ran) -> None:
    folder, _ = locked
    collected = command(folder, "collect", "-o", "r.tar.zst")
    merged = subprocess.run(
        support.command("merge", "r.tar.zst", results="home"),
        cwd=folder, env=support.environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert collected.returncode == 0, collected.stderr
    assert merged.returncode == 0, merged.stderr
    there = folder / "home" / the_run(folder).name
    assert (there / support.CELL / "0/attempt-1/cache/inner/kernels/one").exists()
    assert stat.S_IMODE(there.stat().st_mode) == 0o700


def test_no_special_bit_is_left_on_the_host(locked: Ran) -> None:
    folder, _ = locked
    tools = the_run(folder) / support.CELL / "2" / "tools"

    assert stat.S_IMODE((tools / "shell").stat().st_mode) == 0o755
    assert not [path for path in the_run(folder).rglob("*") if path.lstat().st_mode & 0o7000 and not path.is_symlink()]


def test_a_run_folder_is_its_users_own(locked: Ran) -> None:
    folder, _ = locked

    assert stat.S_IMODE(the_run(folder).stat().st_mode) == 0o700
    assert command(folder, "report").returncode == 0


@pytest.fixture(scope="module")
def flooded(engine: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run whose containers write past the limit, and one that does not."""
    folder = support.workplace(tmp_path_factory.mktemp("flooded"), base_image, *FLOODS, name="flooding")
    matrix = folder / "matrix.yaml"
    text = matrix.read_text().replace("timeout: 6s", "timeout: 60s")
    matrix.write_text(f"{text}output: {{size: 64m, files: 500}}\n")
    return folder, support.run(folder, "--retries", "1")


@pytest.mark.parametrize("behaviour", FLOODS[:-1])
def test_a_container_past_the_limit_is_output_limit(flooded: Ran, behaviour: str) -> None:
    folder, ended = flooded
    found = support.outcomes(folder / "results")[FLOODS.index(behaviour)]

    assert ended.returncode == 1, ended.stderr
    assert (found["status"], found["attempts"]) == ("output_limit", 1), found
    assert ("500" if behaviour == "many_files" else "64 MiB") in found["reason"]
    assert found["wall_s"] < 20
    assert support.statuses(folder / "results")[-1] == "ok"


def test_flood_is_left_out_when_collecting(flooded: Ran) -> None:
    folder, _ = flooded
    collected = command(folder, "collect", "-o", "r.tar.zst", "--json")

    assert collected.returncode == 0, collected.stderr
    document = data_of(collected.stdout)
    assert document["size_bytes"] < 2**20
    assert sum(run["size_bytes"] for run in document["runs"]) < 200 * 2**20
    lines = [line for line in document["left_out"] if "1,000 files and 64 MiB" in line]
    # How many files there are when the flood of them is stopped depends on the disk.
    assert [number for number in (0, 2, 3) if not any(f"/{number}': 1 files of" in line for line in lines)] == []
