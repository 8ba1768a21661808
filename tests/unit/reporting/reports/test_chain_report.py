"""A search over a chain for people: which Pythons, what each shows, and the error that chaining adds."""

import re
from pathlib import Path

import pytest
from rich.console import Console

from orchestrator.regression.search.record import Bisection, Found
from orchestrator.reporting.formats import render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.search import words
from orchestrator.reporting.reports.search.chain_rows import chain_rows, span_rows
from orchestrator.reporting.reports.search.report import SEARCH, write_report
from tests.unit.regression.search.search_records import HOSTILE, RELEASES, Host, chained, rates

FACTORS = {"3.6": 1.0, "3.9": 0.7}
OVER = (
    "No Python runs both ends (1.2.0 runs on Python 3.6; 1.9.1 runs on Python 3.9), so the releases are chained: "
    "1.2.0 … 1.5.1 on Python 3.6 and 1.5.1 … 1.9.1 on Python 3.9; 1.5.1 is measured on both sides."
)


def searched(folder: Path, *, every: bool = False, **steps: float) -> Bisection:
    return chained(Host(rates(**steps), pythons=FACTORS), folder, every=every)


def found(record: Bisection) -> Found:
    assert record.found is not None
    return record.found


def test_headlines_say_what_was_chained(tmp_path: Path) -> None:
    """The change comes first, then the Pythons with their releases, then the error that the chain adds."""
    first, *_, over, error = words.headlines(searched(tmp_path, v1_6_0=0.9))

    assert first.startswith("First changed in mxnet 1.6.0 (slower, × 0.90")
    assert over == OVER
    said = re.fullmatch(
        r"Along the chain 1\.9\.1 is × (0\.\d+) of 1\.2\.0 \(slower, (0\.\d+)–(0\.\d+)\)\. Chaining adds error: "
        r"± (0\.\d+) %, where the widest span has ± (0\.\d+) %\.",
        error,
    )
    assert said
    ratio, low, high, half, widest = map(float, said.groups())
    assert low < ratio < high
    assert half > widest
    assert high / ratio - 1 == pytest.approx(half / 100, abs=0.0012)


def test_no_change_is_said_of_the_whole_chain(tmp_path: Path) -> None:
    record = searched(tmp_path, every=True)

    assert words.headlines(record)[0].startswith("No change was found from mxnet 1.2.0 to 1.9.1 (× 1.0")
    assert words.state(record) == ("no change found", "good")
    assert "Along the chain 1.9.1 is × 1.0" in words.headlines(record)[-1]


def test_one_of_several_changes_is_first(tmp_path: Path) -> None:
    """The larger one goes the other way, and is named as a further one."""
    lines = words.headlines(searched(tmp_path, v1_3_1=1.08, v1_7_0=0.88))

    assert lines[0].startswith("First changed in mxnet 1.7.0 (slower")
    assert lines[1].startswith("Also changed between mxnet 1.2.0 and 1.3.1 (faster")
    assert lines[2] == "There are at least 2 changes between 1.2.0 and 1.9.1 (--all searches each)."


def test_a_broken_chain_says_where(tmp_path: Path) -> None:
    """Release and Python first, then what the other spans show; a repaired end is tried again."""
    reason = "launch_failed: the engine had no room for it"
    host = Host(
        rates(v1_4_1=0.9), pythons=FACTORS, broken=["mxnet==1.3.1"], broken_on=[("1.5.1", "3.9")], reason=reason
    )
    record = chained(host, tmp_path)

    lines = words.headlines(record)
    assert lines[0] == (
        "Good and bad could not be compared: the chain breaks at 1.5.1 on Python 3.9: "
        f"{reason} (--resume tries it again)"
    )
    assert lines[1].startswith("First changed in mxnet 1.4.1, or in 1.3.1, which could not be tested (slower")
    assert [line for line in lines if line.startswith("Stepped over")] == [
        f"Stepped over mxnet 1.3.1: {reason} (--resume tries it again)"
    ]
    assert lines[-1] == OVER
    assert words.state(record) == ("changed for the worse", "bad")


def test_a_broken_chain_without_changes_is_no_finding(tmp_path: Path) -> None:
    host = Host(rates(v1_4_1=1.1), pythons=FACTORS, broken_on=[("1.5.1", "3.9")])
    better = chained(host, tmp_path / "better")
    host.rates = rates()
    nothing = chained(host, tmp_path / "nothing")

    assert words.state(better) == ("not decided", "open")
    assert words.state(nothing) == ("no finding", "open")


def test_each_span_has_its_rows(tmp_path: Path) -> None:
    """The bridge is in both, and its ratio is of its Python alone; then the ends of all."""
    record = searched(tmp_path, v1_5_1=0.9)
    one, other = span_rows(record, found(record))

    assert [row.name for row in one.rows] == [*RELEASES[:4], "1.5.1"]
    assert [row.name for row in other.rows] == [*RELEASES[3:], "1.9.1"]
    assert (one.rows[0].cells[0], one.rows[3].cells[0]) == ("good", "changed it, bridge")
    assert (other.rows[0].cells[0], other.rows[-1].cells[0]) == ("bridge", "bad")
    assert all(row.compared is None or len(row.compared.of_blocks) >= 4 for row in (*one.rows, *other.rows))
    assert [row.cells[1] for row in other.rows][:2] == ["–", "1.5.1"]
    ends = list(chain_rows(record, found(record)))
    assert [row[:3] for row in ends] == [
        ("3.6", "1.2.0", "1.5.1"),
        ("3.9", "1.5.1", "1.9.1"),
        ("the chain", "1.2.0", "1.9.1"),
    ]
    assert [row[6] for row in ends] == ["slower", "same", "slower"]


def test_every_format_says_the_same(tmp_path: Path) -> None:
    record = searched(tmp_path, v1_6_0=0.9)
    console = Console(width=240, color_system=None)
    with console.capture() as captured:
        console.print(shown(SEARCH, record))
    page = write_report(record, tmp_path).read_text()
    text = (tmp_path / "report.md").read_text()

    for form in (captured.get(), page, text):
        assert OVER in form
        assert "Chaining adds error: ± " in form
        assert "Releases on Python 3.9" in form or "on Python 3.9" in form
    assert "| the chain | 1.2.0 | 1.9.1 | 0.90" in text
    assert f"| Python 3.9: {'; '.join(f'mxnet=={name}' for name in RELEASES[3:])} | run-2 |" in text
    assert "the comparisons of the ends, of each span and of the chain" in text
    assert "what Python itself changes is in no step" in text
    assert "3.6 (1.2.0 … 1.5.1), 3.9 (1.5.1 … 1.9.1)" in page
    assert len(set(re.findall(r'id="(release-grid-\d)', page))) == 2


def test_reasons_of_a_broken_chain_cannot_steer(tmp_path: Path) -> None:
    record = chained(Host(rates(), pythons=FACTORS, broken_on=[("1.5.1", "3.9")], reason=HOSTILE), tmp_path, every=True)

    page = render(SEARCH, record, "html")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not re.search(r"[\x1b\u202e]", page + render(SEARCH, record, "md"))
