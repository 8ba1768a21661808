"""The lines that install the project take a checkout or a wheel: it is on no package index."""

import re
import tomllib

import pytest

from bench.documentation.documented_commands import pages
from orchestrator.resources import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = re.compile(r"install[^\n`]*[ '\"]" + re.escape(PROJECT["name"]) + r"(?![\w.-]*\.git)")
EXTRA = re.compile(r"install '\.\[(\w+)\]'")
TEXTS = [
    *pages(), ROOT / "docs" / "results.ipynb", *(ROOT / "ci").rglob("*.yml"), *(ROOT / "orchestrator").rglob("*.py"),
]  # fmt: skip
SHOWN = sorted({found for page in TEXTS for found in EXTRA.findall(page.read_text(encoding="utf-8"))})


@pytest.mark.parametrize(
    "line", ["pip install 'NAME[data]'", "install: NAME # what pip installs", "uv tool install NAME"]
)
def test_a_line_by_name_is_found(line: str) -> None:
    assert NAME.search(line.replace("NAME", PROJECT["name"]))


def test_no_line_installs_it_by_its_name() -> None:
    """A stranger could publish a package of that name."""
    found = [str(path.relative_to(ROOT)) for path in TEXTS if NAME.search(path.read_text(encoding="utf-8"))]

    assert found == []


def test_extras_of_the_pages_exist() -> None:
    assert {"data", "serve"} <= set(SHOWN)
    assert set(SHOWN) <= PROJECT["optional-dependencies"].keys()


def test_pip_is_given_a_path() -> None:
    lines = [
        line for page in pages() for line in page.read_text("utf-8").splitlines() if re.match(r"\S*pip install", line)
    ]

    assert lines
    for line in lines:
        assert re.search(r"install '?(\.|\"\$CHECKOUT\")", line), line
