"""A comment on a pull request: the answer first, the tables folded, and no longer than GitHub takes."""

from collections.abc import Iterable, Iterator

from orchestrator.reporting.blocks import Block, Details, Heading, Table
from orchestrator.reporting.formats import markdown

MARK = "<!-- orchestrator -->"
"""The first line, by which a later comment finds the one that it replaces."""
MOST_CHARACTERS = 65_536
"""Of a comment, by https://github.com/orgs/community/discussions/41331."""
_MOST_ROWS = 12
"""Of a table that is not folded."""
_REST = "*The rest does not fit into a comment: `--format md` has it.*\n"


def texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Render a comment. What does not fit is left out from the end, block by block, and the last line says so."""
    room = MOST_CHARACTERS - len(MARK) - len(_REST) - 2
    parts: list[str] = []
    for block in _folded(blocks):
        text = "".join(markdown.texts([block]))
        room -= len(text) + 1
        if room < 0:
            parts.append(_REST)
            break
        if text.strip():
            parts.append(text)
    yield "\n".join((f"{MARK}", *parts))


def _folded(blocks: Iterable[Block]) -> Iterator[Block]:
    """Put long tables behind a line to open, with the heading before them as that line."""
    heading: Heading | None = None
    for block in blocks:
        if isinstance(block, Table) and len(block.rows) > _MOST_ROWS:
            yield Details(heading.text if heading else f"{len(block.rows)} rows", (block,))
            heading = None
            continue
        if heading is not None:
            yield heading
            heading = None
        if isinstance(block, Heading) and block.level > 1:
            heading = block
        else:
            yield block
    if heading is not None:
        yield heading
