"""`--strict`: a release that the catalog has no environment for is a mistake."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Program

MATRIX = (
    "version: 1\nsystems: {cpu: {cpus: 1}}\nframeworks: [mxnet==9.9, tensorflow==1.8.0, noop==1]\n"
    "models: [mlp]\nrepeats: 1\nparity: false\n"
)


@pytest.fixture(autouse=True)
def _matrix(tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)


@pytest.mark.parametrize("command_line", [("plan",), ("run", "--runtime", "host")])
def test_strict_names_each_release(command: Program, tmp_path: Path, command_line: tuple[str, ...]) -> None:
    code, out, error = command(*command_line, "--strict")

    assert (code, out) == (2, "")
    lines = error.splitlines()
    assert [line.partition(" is left out")[0] for line in lines] == [
        "matrix.yaml:3:14: frameworks: mxnet 9.9",
        "matrix.yaml:3:26: frameworks: tensorflow 1.8.0",
    ]
    assert "; there is 1.9.1, 1.9.0" in lines[0]
    assert "TensorFlow 2.1 or newer" in lines[1]
    assert not (tmp_path / "results").exists()


def test_without_it_plan_and_run_warn(command: Program) -> None:
    planned = command("plan")
    ran = command("run", "--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")

    for code, _, error in (planned, ran):
        assert code == 0
        assert error.count("warning: matrix.yaml:3:14: frameworks: mxnet 9.9 is left out: the catalog knows") == 1
        assert error.count("warning: matrix.yaml:3:26: frameworks: tensorflow 1.8.0 is left out: tensorflow 1.8.0") == 1


def test_a_run_that_is_resumed_has_its_plan(command: Program) -> None:
    code, _, error = command("run", "--resume", "latest", "--strict")

    assert code == 2
    assert "--no-parity, --strict, --until-decided and --max-blocks" in error
