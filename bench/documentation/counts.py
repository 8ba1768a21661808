"""Counts that show how easily the documentation reads, which `make docs-counts` prints.

Words are those of the pages that people write, and of those that `bench` writes from measurements, whose sentences are
names of cells and are left out. The pages that are made from the program are counted apart. The site has to be built.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from itertools import takewhile
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

from rich.text import Text

from bench.documentation.command_tests import shown_commands
from bench.documentation.documented_commands import pages
from bench.documentation.program_tests import shown_programs
from bench.documentation.recording import CAST, TimedLine, kept
from bench.records import ROOT

SITE = ROOT / "build" / "site"
LONG = 30
"""Words of a sentence that nobody wants to read twice."""
FIRST_RESULT = "## Go on"
"""The heading of the README that a new user meets after the first result."""
_BY_BENCH = "\nWritten by `"
"""The beginning of a page that is written from measurements."""
_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1\s*$", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
_REPORT = re.compile(r"\S+: run \S+ \(\w+\)")
"""The first line of a report on a terminal."""
_END = re.compile(r"(?<=[.!?])[\"”)*]*\s+")


def words(text: str) -> int:
    """Return the words of a page as it is shown, tables among them, without its code blocks."""
    shown = _LINK.sub(r"\1", _FENCE.sub("", _HEAD.sub("", text)))
    return sum(bool(re.search(r"\w", word)) for word in re.split(r"[\s|]+", shown))


def sentences(text: str) -> list[str]:
    """Return the sentences of paragraphs and lists. Tables, headings and code blocks have none; code is one word.

    A page that is written from measurements has none either.
    """
    if _BY_BENCH in text:
        return []
    paragraphs: list[list[str]] = [[]]
    for line in _FENCE.sub("", _HEAD.sub("", text)).splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "|", "![")):
            paragraphs.append([])
            continue
        if _BULLET.match(line):
            paragraphs.append([])
        paragraphs[-1].append(_BULLET.sub("", line, count=1).strip())
    plain = (_LINK.sub(r"\1", re.sub(r"`[^`]*`", "code", " ".join(lines))) for lines in paragraphs if lines)
    return [sentence for paragraph in plain for sentence in _END.split(paragraph) if sentence]


def terminal_words(lines: Sequence[TimedLine]) -> int:
    """Return the words of a recorded terminal, typed and printed, before the first report of a run begins."""
    printed = [Text.from_ansi(line.text).plain for line in lines]
    before = takewhile(lambda text: not _REPORT.match(text), printed)
    return sum(bool(re.search(r"\w", word)) for text in before for word in text.split())


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        for name, value in attrs:
            if value and name in {"id", "name"}:
                self.anchors.add(value)
            elif value and name in {"href", "src"}:
                self.links.append(value)


def dead_links(site: Path) -> list[str]:
    """Return the links between files of the site that lead nowhere. Links to other sites are not followed."""
    parsed = {}
    for path in site.rglob("*.html"):
        parsed[path] = _Links()
        parsed[path].feed(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(site)}: {link}"
        for path, page in parsed.items()
        if path.name != "404.html"  # its links start at the root of a server
        for link in page.links
        if not _leads_somewhere(path, link, parsed)
    ]


def _leads_somewhere(path: Path, link: str, parsed: dict[Path, _Links]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return target.is_dir() and (target / "index.html").is_file()
    anchor = unquote(parts.fragment)
    return not anchor or target not in parsed or anchor in parsed[target].anchors or anchor.startswith("__")


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield what is counted, its figure and the figure that is wanted."""
    written = {path: path.read_text(encoding="utf-8") for path in pages() if path.is_relative_to(ROOT / "docs")}
    found = [sentence for text in written.values() for sentence in sentences(text)]
    long = [sentence for sentence in found if len(sentence.split()) > LONG]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    yield "pages", str(len(written)), ""
    yield "words of all pages", f"{sum(map(words, written.values())):,}", ""
    yield "words a page, median", f"{median(map(words, written.values())):.0f}", "≤ 900"
    yield "sentences", f"{len(found):,}", ""
    yield f"sentences over {LONG} words", f"{len(long)} ({len(long) / len(found):.1%})", "≤ 3 %"
    before, terminal = words(readme.partition(FIRST_RESULT)[0]), terminal_words(kept(CAST))
    yield f"words of the README before `{FIRST_RESULT}`", str(before), ""
    yield "words of the recorded terminal before its report", str(terminal), ""
    yield "words of both: what a new user meets before the first result", str(before + terminal), "≤ 400"
    yield from _commands()
    yield from _programs()
    if SITE.is_dir():
        dead = dead_links(SITE)
        yield "pages of the site", str(sum(1 for _ in SITE.rglob("*.html"))), ""
        yield "dead internal links of the site", str(len(dead)), "0"
        sys.stderr.writelines(f"dead: {link}\n" for link in dead)


def _commands() -> Iterator[tuple[str, str, str]]:
    commands = list(shown_commands())
    left = [each for each in commands if not each.test]
    yield "calls of orchestrator, each parsed by a test", str(len(commands)), ""
    yield "… not run by a test", str(len(left)), "0"
    sys.stderr.writelines(f"not run: {each.command.page}: {each.command.line}\n" for each in left)


def _programs() -> Iterator[tuple[str, str, str]]:
    """Yield what becomes of the calls of other programs."""
    programs = list(shown_programs())
    replaced = [each for each in programs if each.stand_in]
    left = [each for each in programs if not (each.is_real or each.stand_in)]
    yield "calls of other programs", str(len(programs)), ""
    yield "… run for real by a test", str(sum(each.is_real for each in programs)), ""
    yield "… replaced by a stand-in", str(len(replaced)), ""
    yield "… not run by a test", str(len(left)), "0"
    names = {(each.call.page, each.call.program, each.stand_in) for each in replaced}
    sys.stderr.writelines(f"replaced: {page}: {program}: {why}\n" for page, program, why in sorted(names))
    sys.stderr.writelines(f"not run: {each.call.page}: {each.call.line}\n" for each in left)


def main() -> None:
    """Print the counts."""
    for name, figure, wanted in rows():
        print(f"{name:46} {figure:>14}  {wanted}")


if __name__ == "__main__":
    main()
