"""Texts and tables of HTML pages, cleaned and escaped.

They are written here and not in a template, because a page has more cells of tables than anything else.
"""

from functools import lru_cache
from urllib.parse import quote

from markupsafe import Markup, escape

from orchestrator.reporting.blocks import Column, Row, Table, TableCell
from orchestrator.reporting.inline import Chip, Link, Part, Phrase, Sentence, Tone, VerdictWord, parts, plain
from orchestrator.wording import clean

_ELEMENTS = frozenset({"em", "code", "strong", "b", "small"})


def sentence(text: Sentence) -> Markup:
    """Render a text with its parts."""
    return Markup(_sentence(text))  # noqa: S704 -- every part is escaped


def table(block: Table) -> Markup:
    """Render a table that scrolls within the page."""
    return Markup(_table(block))  # noqa: S704 -- every text is escaped


def address(link: Link) -> str:
    """Return the address of a link, quoted."""
    return quoted(link.address) + (f"#{quoted(link.anchor)}" if link.anchor else "")


def quoted(path: str) -> str:
    """Return a path or the name of a place as it stands in an address."""
    return quote(path, safe="/", errors="replace")


@lru_cache(maxsize=8192)  # labels and words of status are in every table
def _escaped(text: str) -> str:
    return str(escape(clean(text)))


def _attributes(**values: str | None) -> str:
    """Write the attributes that have a value, underscores as hyphens."""
    return "".join(
        f' {name.strip("_").replace("_", "-")}="{_escaped(value)}"'
        for name, value in values.items()
        if value is not None
    )


def _sentence(text: Sentence) -> str:
    return _escaped(text) if isinstance(text, str) else "".join(_part(part) for part in parts(text))


def _part(part: Part) -> str:
    match part:
        case str():
            return _escaped(part)
        case Phrase(text=text, kind=kind, hint=hint):
            if kind in _ELEMENTS:
                return f"<{kind}{_attributes(title=hint or None)}>{_escaped(text)}</{kind}>"
            attributes = _attributes(aria_hidden="true") if kind == "hidden" else _attributes(class_=kind)
            return f"<span{attributes}>{_escaped(text)}</span>"
        case Chip(text=text, mark=mark, count=count):
            number = "" if count is None else f"<b>{count:,}</b> "
            return f'<span class="{" ".join(filter(None, ("chip", mark)))}">{number}{_escaped(text)}</span>'
        case VerdictWord(text=text, mark=mark):
            return f'<span class="verdict {_escaped(mark)}">{_escaped(text)}</span>'
        case Link(text=text, label=label, relation=relation):
            return (
                f"<a{_attributes(rel=relation or None, href=address(part), aria_label=label or None)}>"
                f"{_sentence(text)}</a>"
            )


def _table(block: Table) -> str:
    kinds = ("sortable" if block.is_sortable else "", "filtered" if block.is_filtered else "", block.look)
    of_table = _attributes(class_=" ".join(filter(None, kinds)) or None)
    around = _attributes(class_="scroll fit" if block.is_narrow else "scroll", tabindex="0", role="region")
    heads = "".join(_head(column, is_sortable=block.is_sortable and column.is_sortable) for column in block.columns)
    rows = "\n".join(_row(block, row) for row in block.rows)
    return (
        f"<div{around}{_attributes(aria_label=block.label or plain(block.caption))}>\n"
        f"<table{of_table}><caption>{_sentence(block.caption)}</caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _head(column: Column, *, is_sortable: bool) -> str:
    if not column.head:
        return "<td></td>"
    order = "ascending" if column.is_sorted else None
    attributes = _attributes(scope="col", class_="number" if column.is_number else None, aria_sort=order)
    text = _escaped(column.head)
    if column.address:
        text = _part(Link(column.head, column.address))
    if is_sortable:
        text = f'<button type="button">{text}</button>'
    return f"<th{attributes}>{text}</th>"


def _row(block: Table, row: Row) -> str:
    attributes = _attributes(
        id=row.anchor or None,
        data_cell=row.ranks or None,
        data_of=row.of or None,
        class_="without" if row.tone is Tone.FAINT else None,
    )
    cells = (_cell(block, number, cell) for number, cell in enumerate(row.cells))
    return f"<tr{attributes}>{''.join(cells)}</tr>"


def _cell(block: Table, number: int, cell: str | TableCell) -> str:
    is_name = number == block.name_column
    begin, end = ('<th scope="row"', "</th>") if is_name else ("<td", "</td>")
    look = "number" if block.columns[number].is_number and not is_name else ""
    if isinstance(cell, str):
        return f'{begin} class="{look}">{_escaped(cell)}{end}' if look else f"{begin}>{_escaped(cell)}{end}"
    if look or cell.mark:
        names = " ".join(filter(None, (look, cell.mark)))
        begin += f' class="{_escaped(names)}"'
    if cell.anchor:
        begin += f' id="{_escaped(cell.anchor)}"'
    if cell.value is not None:
        begin += f' data-value="{_escaped(cell.value)}"'
    text = _sentence(cell.text)
    if cell.below:
        text += "".join(f"<small>{_sentence(line)}</small>" for line in cell.below)
    return f"{begin}>{text}{_facts(cell) if cell.facts else ''}{end}"


def _facts(cell: TableCell) -> str:
    listed = "".join(f"<div><dt>{_escaped(name)}</dt><dd>{_escaped(value)}</dd></div>" for name, value in cell.facts)
    return f'<details><summary>{len(cell.facts)} facts</summary><dl class="facts">{listed}</dl></details>'
