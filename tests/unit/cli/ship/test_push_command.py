"""`push` and `run --images`, as they are typed."""

from pathlib import Path

import pytest

from orchestrator.images.registries.pushing import PushedImage
from orchestrator.workflows.ship import push
from orchestrator.workflows.ship.push import PushResult
from tests.unit.cli.conftest import Program

IMAGE = PushedImage("bench/a:1", "bench/a:1-2", f"registry:5000/bench/a@sha256:{'0' * 64}", 1)


def _result(*missing: str, stopped: bool = False) -> PushResult:
    return PushResult("registry:5000", (IMAGE,), missing, "orchestrator build", stopped)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a matrix, on a host without an engine."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("push", "team"), 2, "write team:443, or docker.io/team if that is meant"),
        (("push", "me:hunter2@registry:5000"), 2, "log in with docker login"),
        (("push", "registry:5000", "-o", "no/folder.json"), 2, "there is no folder no; create it first"),
        (("push", "registry:5000"), 3, "no container engine answers"),
        (("run", "--images", "images.json"), 2, "images.json: cannot be read"),
        (("run", "--images", "matrix.yaml"), 2, "matrix.yaml: not what orchestrator push -o writes"),
    ],
)
def test_a_mistake_of_a_push_is_one_line(command: Program, arguments: tuple[str, ...], code: int, said: str) -> None:
    ended, _, errors = command(*arguments)

    assert (ended, len(errors.splitlines())) == (code, 1)
    assert said in errors
    assert "hunter2" not in errors


@pytest.mark.parametrize(
    ("result", "code", "last"),
    [
        (_result(), 0, "images.json: on another host: orchestrator run --images images.json"),
        (_result("bench/b:1"), 1, "bench/b:1 is not on this engine; bring it first with: orchestrator build"),
        (_result(stopped=True), 130, f"{IMAGE.digest} (1 layer sent)"),
    ],
)
def test_what_a_push_says(
    command: Program, monkeypatch: pytest.MonkeyPatch, result: PushResult, code: int, last: str
) -> None:
    """A push names each image by its digest, what is missing with the remedy, and the next command."""
    monkeypatch.setattr(push, "push", lambda *_: result)

    ended, shown, said = command("push", "registry:5000", "-o", "images.json")

    assert (ended, shown) == (code, "")
    assert said.splitlines()[0] == f"{IMAGE.digest} (1 layer sent)"
    assert said.splitlines()[-1] == last
