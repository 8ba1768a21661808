"""`init` writes a matrix that can be planned, asks on a terminal, and overwrites nothing."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import yaml

from orchestrator.catalog import shipped_catalog
from orchestrator.cli.measure import init as command_module
from orchestrator.errors import InputError
from orchestrator.workflows import init as workflow
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.init import InitOptions
from tests.unit.cli.conftest import Program

EVERY = sorted(
    name
    for name, entry in shipped_catalog().entries.items()
    if name not in {"onnxruntime", "openvino", "scikit-learn"} and entry.builder
)


def test_the_matrix_is_what_was_asked(command: Program, tmp_path: Path) -> None:
    code, out, error = command(
        "init",
        "--framework",
        "torch",
        "--framework",
        "mxnet==1.5.1",
        "--model",
        "mlp",
        "--mode",
        "infer",
        "--repeats",
        "7",
    )

    assert (code, error) == (0, "")
    assert out.splitlines() == ["matrix.yaml: 2 cells", "next: orchestrator plan, then orchestrator run"]
    matrix = yaml.safe_load((tmp_path / "matrix.yaml").read_text())
    newest = shipped_catalog().entries["torch"].known[0]
    assert matrix["frameworks"] == [f"torch=={newest}", "mxnet==1.5.1"]
    assert (matrix["models"], matrix["modes"], matrix["repeats"]) == (["mlp"], ["infer"], 7)
    assert command("plan")[0] == 0


@pytest.mark.parametrize("framework", EVERY)
def test_every_framework_can_begin(framework: str, command: Program) -> None:
    """A name alone is its newest release, on a backend that it was seen to train on."""
    code, out, error = command("init", "--framework", framework)

    assert (code, error) == (0, "")
    assert out.startswith("matrix.yaml: 1 cell\n")


def test_options_in_comments_are_a_matrix_too(command: Program, tmp_path: Path) -> None:
    command("init", "--framework", "torch", "--framework", "mxnet")
    path = tmp_path / "matrix.yaml"
    text, _, options = path.read_text().partition("# options:\n")
    assert max(map(len, path.read_text().splitlines())) <= 120

    path.write_text(f"{text}options:\n" + "".join(f"{line[2:]}\n" for line in options.splitlines()))
    code, out, error = command("plan", "--json")
    assert (code, error) == (0, "")
    assert len(json.loads(out)["data"]["cells"]) > 20


def test_the_schema_has_an_absolute_address(command: Program, tmp_path: Path) -> None:
    command("init", "--framework", "noop")
    first = (tmp_path / "matrix.yaml").read_text().splitlines()[0]
    address = first.removeprefix("# yaml-language-server: $schema=")

    path = Path(unquote(urlparse(address).path))
    assert (urlparse(address).scheme, path.is_absolute()) == ("file", True)
    assert json.loads(path.read_text()) == json.loads(command("schema", "matrix")[1])


def test_another_schema_may_be_named(command: Program, tmp_path: Path) -> None:
    command("init", "--framework", "noop", "--schema", "https://example.org/matrix.json", "-f", "a.yaml")

    assert (
        (tmp_path / "a.yaml")
        .read_text()
        .startswith("# yaml-language-server: $schema=https://example.org/matrix.json\n")
    )


def test_nothing_is_overwritten(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text("mine")
    code, out, error = command("init", "--framework", "torch")

    assert (code, out) == (2, "")
    assert error == "matrix.yaml: is there already, and is left as it is; -f names another file\n"
    assert (tmp_path / "matrix.yaml").read_text() == "mine"


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    """The workflow looks and writes in one step."""
    path = tmp_path / "matrix.yaml"
    path.write_text("mine")

    with pytest.raises(InputError, match="is left as it is"):
        workflow.init(InitOptions(frameworks=["noop"], file=path), Host({}))
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to compare: --framework names a framework; there is no terminal to ask on"),
        (("--framework", "torhc"), "--framework 'torhc': unknown framework; did you mean 'torch'?"),
        (("--framework", "torch", "--model", "lenett"), "--model 'lenett': unknown model; did you mean 'lenet'?"),
        (("--framework", "torch", "--mode", "trian"), "--mode 'trian': unknown mode; did you mean 'train'?"),
        (("--framework", "torch==0.0.1"), "the catalog knows torch"),
        (("--framework", "torch==x y"), "is no range of versions"),
        (("--framework", "torch", "-f", "gone/matrix.yaml"), "create its folder first"),
    ],
)
def test_a_mistake_leaves_no_file(arguments: tuple[str, ...], said: str, command: Program, tmp_path: Path) -> None:
    code, out, error = command("init", *arguments)

    assert (code, out) == (3 if "gone" in str(arguments) else 2, "")
    assert said in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.glob("*.yaml"))


def _on_a_terminal(folder: Path, answers: str) -> tuple[int, str]:
    """Run `init` with a terminal for stdin and stderr, and return its status and what it said there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "init"], cwd=folder, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE
    ) as process:
        os.close(theirs)
        os.write(ours, answers.encode())
        process.communicate(timeout=60)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return process.returncode, said.decode()


def test_a_terminal_is_asked(tmp_path: Path) -> None:
    code, said = _on_a_terminal(tmp_path, "noop, torch\nmlp\n\n2\n")

    assert code == 0, said
    assert [word in said for word in ("Frameworks", "Models", "Modes", "Repeats of each cell")] == [True] * 4
    matrix = yaml.safe_load((tmp_path / "matrix.yaml").read_text())
    assert [pin.partition("=")[0] for pin in matrix["frameworks"]] == ["noop", "torch"]
    assert (matrix["models"], matrix["modes"], matrix["repeats"]) == (["mlp"], ["train"], 2)


def test_options_are_not_asked_again(command: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a framework everything else has a default."""
    monkeypatch.setattr(command_module, "_is_terminal", lambda: pytest.fail("asked"))

    assert command("init", "--framework", "noop")[0] == 0
