"""A search for people: the answer first, every release with its evidence, on a page, as Markdown and in a terminal."""

import json
import re
import shlex
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console

from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.record import RECORD_FILE, Bisection
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.search import words
from orchestrator.reporting.reports.search.report import SEARCH, write_report
from orchestrator.reporting.reports.search.rows import HEADS, move_rows, ranges, release_rows
from tests.unit.regression.search.search_records import RELEASES, Host, a_search, done, rates

ANSWER = "First changed in mxnet 1.5.1 (slower, × 0.900, "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("search")


@pytest.fixture(scope="module")
def record(folder: Path) -> Bisection:
    return a_search(folder)


def test_every_release_has_a_row(record: Bisection) -> None:
    """Every release has a row with what it was compared with and where that comparison lies."""
    assert record.found is not None
    rows = release_rows(record, record.found)

    assert [row.name for row in rows] == [*RELEASES, RELEASES[-1]]
    what = {row.name: row.cells[0] for row in rows}
    assert (what["1.2.0"], what["1.5.1"]) == ("good", "changed it")
    assert (what["1.7.0"], what["1.8.0"], what["1.9.1"]) == ("untestable, may have changed it", "changed it", "bad")
    change = next(row for row in rows if row.name == "1.5.1")
    cells = dict(zip(HEADS, change.cells, strict=True))
    assert (cells["Found"], cells["Against"], cells["Ratio"], cells["Rounds"]) == ("slower", "1.4.1", "0.900", "1")
    assert change.compared is not None
    assert len(change.compared.of_blocks) == int(cells["Blocks"])
    assert all(abs(each - 0.9) < 0.02 for each in change.compared.of_blocks)
    assert [row.cells[1] for row in rows if row.name == "1.9.1"] == ["1.8.0", "1.2.0"]


def test_rounds_say_which_releases_left_when(tmp_path: Path) -> None:
    """A release is in the rounds that its row names, and each round has its run and its containers."""
    found = done(Host(rates(v1_5_1=0.96), deviation=0.01), tmp_path, every=True)
    text = render(SEARCH, found, "md")

    assert found.found is not None
    last = found.rounds[-1]
    rounds = {row.name: row.cells[-1] for row in release_rows(found, found.found)}
    left = [name for name in RELEASES if f"mxnet=={name}" not in last.releases]
    assert left
    assert all(not rounds[name].endswith(str(len(found.rounds))) for name in left)
    assert f"{found.launches} launches in {len(found.rounds)} rounds" in text
    assert f"| 1 | 4 | 32 | {'; '.join(f'mxnet=={name}' for name in RELEASES)} | run-1 |" in text


def test_numbers_of_rounds_are_ranges() -> None:
    assert [ranges(numbers) for numbers in ([], [1], [1, 2, 3], [1, 3, 4, 7])] == ["–", "1", "1–3", "1, 3–4, 7"]


def test_only_searched_moves_have_rows(record: Bisection) -> None:
    """Moves are rows too, and those that were not searched have none."""
    assert record.found is not None
    numpy, own = record.found.origins

    moves = {row.name: row.cells[0] for row in move_rows(record, numpy)}
    assert moves["numpy 1.16.6 → 1.17.5"] == "moved it"
    assert next(iter(moves)) == "as before"
    assert (own.by, move_rows(record, own)) == (("mxnet 1.6.0 → 1.8.0",), ())


def test_page_starts_with_the_answer(record: Bisection, folder: Path) -> None:
    """The page has the answer first, then the evidence and its links."""
    page = write_report(record, folder)
    text = page.read_text()

    assert page == folder / "index.html"
    assert text.index(ANSWER) < text.index('id="releases"') < text.index('id="moved-1"') < text.index('id="reading"')
    assert 'href="run-1/"' in text
    assert set(re.findall(r'href="([^"#]+\.(?:json|md))"', text)) == {RECORD_FILE, "report.md"}
    assert "moved by numpy 1.16.6 → 1.17.5" in text
    assert "0.05" not in words.how(record)[-1]
    assert "that α is shared by all steps and the comparison of the ends" in text
    assert "The search over what moved spends a further α of its own, 5 % too." in text


def test_markdown_and_terminal_say_the_same(record: Bisection) -> None:
    """Markdown and terminal say the same, each in its way."""
    console = Console(width=120, color_system=None)
    with console.capture() as captured:
        console.print(shown(SEARCH, record))

    text = render(SEARCH, record, "md")
    assert text.splitlines()[2].startswith("**First changed in mxnet 1.5.1")
    assert "| 1.5.1 | changed it | 1.4.1 | 4 | 0.900 |" in text
    assert ANSWER in captured.get()
    assert "Moved with mxnet 1.5.1" in captured.get()
    assert not re.search(r"[\x1b\u202e]", text + captured.get())


def test_names_and_reasons_cannot_steer_a_page(record: Bisection) -> None:
    text = render(SEARCH, record, "html")

    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "yanked: &lt;wrong&gt; wheels" in text
    assert not re.search(r"[\x1b\u202e]", text)
    assert "<script>alert" not in render(SEARCH, record, "md").replace(r"\<", "")


def test_the_command_asks_the_same(record: Bisection) -> None:
    parts = shlex.split(words.command(record))

    assert parts[:6] == ["orchestrator", "bisect", "--good", "mxnet==1.2.0", "--bad", "mxnet==1.9.1"]
    assert parts[parts.index("--metric") + 1] == "throughput=2%"
    assert parts[parts.index("--max-blocks") + 1] == "12"
    assert parts[parts.index("--limit") + 1] == "1"
    assert parts[parts.index("--runtime") + 1] == "docker"
    assert "--all" in parts


def test_command_names_only_limits_asked_for(record: Bisection) -> None:
    """The command names no limit and no runtime where none was asked for."""
    usual = record.model_copy(update={"asked": record.asked.model_copy(update={"limit": 10_000, "runtime": "auto"})})

    assert not {"--limit", "--runtime"} & set(shlex.split(words.command(usual)))


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ({"v1_5_1": 0.9}, ("changed for the worse", "bad")),
        ({"v1_5_1": 1.2}, ("changed for the better", "good")),
        ({}, ("no change found", "good")),
    ],
)
def test_search_mark_is_that_of_its_answer(tmp_path: Path, steps: dict[str, float], state: tuple[str, str]) -> None:
    assert words.state(done(Host(rates(**steps)), tmp_path)) == state


def test_undecided_search_has_no_green_mark(tmp_path: Path) -> None:
    """A search that was not decided, or in which nothing could be compared, has no green mark."""
    noisy = done(Host(rates(), deviation=0.06), tmp_path)
    nothing = done(Host(rates(), broken=["mxnet==1.9.1"]), tmp_path)

    assert words.state(noisy) == ("not decided", "open")
    assert words.state(nothing) == ("no finding", "open")
    assert "Good and bad could not be compared" in render(SEARCH, nothing, "html")


def test_a_record_satisfies_the_published_schema(record: Bisection, folder: Path) -> None:
    document = json.loads((folder / RECORD_FILE).read_text())

    assert list(jsonschema.Draft202012Validator(search_record.schema()).iter_errors(document)) == []
    assert search_record.read(folder) == record
