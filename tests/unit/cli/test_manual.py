"""The manual and the completions in `share/` are those of the commands, and are what `man` and shells read."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.cli import manual
from orchestrator.cli.program import COMMANDS
from orchestrator.resources import ROOT
from tests.required import missing

SHARE = ROOT / "share"


@pytest.fixture(scope="module")
def made() -> Mapping[str, str]:
    return manual.files()


def test_share_is_what_the_commands_say(made: Mapping[str, str]) -> None:
    """`make man` writes it anew."""
    stored = {str(path.relative_to(SHARE)): path.read_text() for path in SHARE.rglob("*") if path.is_file()}

    assert sorted(stored) == sorted(made)
    assert [name for name, text in made.items() if stored[name] != text] == []


def test_every_command_has_its_page(made: Mapping[str, str]) -> None:
    below = ("data-export", "nightly-accept", "nightly-ack", "nightly-status")

    assert {name for name in made if name.startswith("man/")} == {
        "man/man1/orchestrator.1", *(f"man/man1/orchestrator-{name}.1" for name in (*COMMANDS, *below))
    }  # fmt: skip


def test_a_width_changes_nothing(made: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert manual.files() == made


def test_pages_that_are_gone_are_removed(tmp_path: Path) -> None:
    gone = tmp_path / "man" / "man1" / "orchestrator-gone.1"
    gone.parent.mkdir(parents=True)
    gone.write_text("old")
    manual.main(tmp_path)

    assert not gone.exists()
    assert (tmp_path / "man" / "man1" / "orchestrator.1").is_file()


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (".x", r"\&.x"),
        ("'x", r"\&'x"),
        ("a\\b", r"a\eb"),
        ("--a", r"\-\-a"),
        ("α…", r"\[u03B1]\[u2026]"),
        ("a|b", r"a|\:b"),
    ],
)
def test_no_text_is_a_request_of_roff(text: str, escaped: str) -> None:
    assert manual._escaped(text) == escaped


def shown(page: Path, *options: str) -> tuple[str, str]:
    groff = shutil.which("groff")
    if groff is None:
        missing("no groff here: apt-get install groff", "BENCH_REQUIRE_GROFF")
    environment = {**os.environ, "GROFF_NO_SGR": "1"}
    ended = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", *options, str(page)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return ended.stdout, ended.stderr


@pytest.mark.parametrize("page", sorted((SHARE / "man" / "man1").iterdir()), ids=lambda page: page.stem)
def test_groff_has_nothing_to_warn_of(page: Path) -> None:
    assert shown(page, "-z") == ("", "")


def test_a_page_reads_as_help_does() -> None:
    text = " ".join(shown(SHARE / "man" / "man1" / "orchestrator-compare.1", "-P-cbou")[0].split())

    assert "orchestrator compare [OPTIONS] A [B]" in text
    assert "--metric NAME[@MODEL][=TOLERANCE]" in text
    assert "orchestrator compare before.json after.json --format md" in text


def test_bash_completes_by_the_script(tmp_path: Path) -> None:
    program = tmp_path / "orchestrator"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom orchestrator.cli import main\nsys.argv[0] = 'orchestrator'\nmain()\n"
    )
    program.chmod(0o755)
    script = (
        f"source {SHARE / manual.COMPLETIONS['bash']}\n"
        "COMP_WORDS=(orchestrator compa); COMP_CWORD=1; _orchestrator_completion orchestrator; echo ${COMPREPLY[@]}\n"
        "complete -p orchestrator\n"
    )
    bash = shutil.which("bash")
    assert bash
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True, env=environment)

    assert ended.stdout.splitlines() == ["compare", "complete -o default -F _orchestrator_completion orchestrator"]


def test_an_installation_has_them() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert wheel["shared-data"] == {"share": "share"}
