"""The documentation stays easy to read, and its counts count what they say."""

from pathlib import Path
from statistics import median

from bench.documentation import counts
from bench.documentation.documented_commands import documented_commands, pages
from bench.documentation.recording import CAST, PICTURE, TimedLine, kept, picture
from orchestrator.resources import ROOT

TEXT = """\
# Title

Two words. Three `of code` words; and a
[link](page.md "x") here!

- An item
- Another one.

| a table | counts |
|---|---|

```sh
orchestrator runs; orchestrator show latest | head   # code does not
```
"""


def test_words_and_sentences_are_those_shown() -> None:
    assert counts.sentences(TEXT) == [
        "Two words.", "Three code words; and a link here!", "An item", "Another one.",
    ]  # fmt: skip
    assert counts.words(TEXT) == 18


def test_a_page_of_measurements_has_no_sentences() -> None:
    assert counts.sentences("# Figures\n\nWritten by `make bench`.\nOne sentence.\n") == []


def test_commands_are_taken_from_their_blocks(tmp_path: Path) -> None:
    page = ROOT / "docs" / "cost.md"
    assert list(documented_commands(page)) == []
    shown = [command.arguments for each in pages() for command in documented_commands(each)]

    assert ("nightly", "-f", "nightly.yaml") in shown
    assert not any(word in {";", "|", "||", "#"} for arguments in shown for word in arguments)


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#there">1</a><a href="#top">2</a>')
    (tmp_path / "b.html").write_text('<a href="a.html">3</a><a href="c.html">4</a><a href="https://x.org/">5</a>')

    assert sorted(counts.dead_links(tmp_path)) == ["a.html: b.html#there", "b.html: c.html"]


def test_pages_are_short_and_so_are_sentences() -> None:
    written = [path.read_text(encoding="utf-8") for path in pages() if path.is_relative_to(ROOT / "docs")]
    found = [sentence for text in written for sentence in counts.sentences(text)]
    long = [sentence for sentence in found if len(sentence.split()) > counts.LONG]

    assert median(map(counts.words, written)) <= 900
    assert len(long) / len(found) <= 0.03


def test_readme_and_terminal_lead_to_a_result_soon() -> None:
    before, heading, _ = (ROOT / "README.md").read_text(encoding="utf-8").partition(counts.FIRST_RESULT)

    assert heading
    assert counts.words(before) + counts.terminal_words(kept(CAST)) <= 400


def test_words_of_a_terminal_end_at_the_report() -> None:
    printed = ["\x1b[1;32m$\x1b[0m orchestrator run", "── 2 repeats", "[1/2] ok", "first: run 2026-d4e2 (venv)", "more"]

    assert counts.terminal_words([TimedLine(0.0, text) for text in printed]) == 6
    assert counts.terminal_words(kept(CAST)) > 0


def test_picture_shows_the_kept_recording() -> None:
    assert PICTURE.read_text(encoding="utf-8") == picture(kept(CAST))
