"""`--images FILE` of every command that has it: its mistakes come before any engine or index is asked."""

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Program

RELEASES = ("--baseline", "noop==1", "--candidate", "noop==1")
SEARCH = ("--good", "mxnet==1.5.1", "--bad", "mxnet==1.9.1", "--cell", "mlp-*")


@pytest.mark.parametrize("words", [("build",), ("run",), ("bisect", *SEARCH)], ids=lambda words: str(words[0]))
def test_a_missing_file_of_images_is_named(command: Program, words: tuple[str, ...]) -> None:
    code, _, error = command(*words, "--images", "gone.json")

    assert (code, "gone.json: cannot be read: No such file or directory; write it with: " in error) == (2, True)


def test_a_test_of_releases_reads_images_too(command: Program, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [mlp]\nrepeats: 2\n")
    code, _, error = command("regress", *RELEASES, "--images", "gone.json")

    assert (code, "gone.json: cannot be read" in error) == (2, True)
    assert not (tmp_path / "results").exists()


def test_dockerfiles_come_with_no_images(command: Program) -> None:
    code, _, error = command("build", "--render", "files", "--images", "gone.json")

    assert (code, "--images builds nothing" in error) == (2, True)
