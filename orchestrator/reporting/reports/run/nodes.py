"""The part of a report that is about the nodes of a run on a cluster. It comes before any figure."""

from collections.abc import Iterator, Sequence

from orchestrator.reporting.blocks import Block, Gap, Heading, Paragraph, Remark, Table, TableCell, table
from orchestrator.reporting.document import Section, section
from orchestrator.reporting.findings.cluster_model import CellOverNodes, ClusterReport, GroupOverNodes
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.inline import Link
from orchestrator.wording import listing_of, rate

TITLE = "Nodes"
OVER_TITLE = "The same groups on several nodes"
OVER_NOTE = (
    "Throughput: geometric mean over the nodes, each of which counts once, with its 95 % interval over nodes. Within "
    "and between: standard deviations from repeat to repeat on one node, and from node to node beyond that."
)
_MOST_RANKED = 6


def node_blocks(report: Report) -> Iterator[Block]:
    """Lay out the nodes for a terminal or for Markdown, or nothing for a run on one host."""
    if report.cluster is None or not report.cluster.notes:
        return
    yield Gap()
    yield Heading(TITLE)
    yield from (Remark(note) for note in report.cluster.notes)
    if report.cluster.nodes:
        yield _nodes(report.cluster)
    for group in report.cluster.groups:
        yield Gap()
        yield Heading(f"{group.label}, over nodes")
        yield from _over(group)
    if report.cluster.groups:
        yield Paragraph(OVER_NOTE)


def node_sections(report: Report, raw: str | None) -> Iterator[Section]:
    """Lay out the nodes for a page, with links to the pages of the parts if the run's folder is known."""
    if report.cluster is None:
        return
    cluster = report.cluster
    blocks: list[Block] = [Remark(note) for note in cluster.notes]
    if cluster.nodes:
        blocks.append(_nodes(cluster))
    blocks.append(_parts(report, raw))
    yield section("nodes", TITLE, blocks)
    if cluster.groups:
        every = (block for group in cluster.groups for block in (Heading(group.label, 3), *_over(group)))
        yield section("over-nodes", OVER_TITLE, (*every, Paragraph(OVER_NOTE)))


def _nodes(cluster: ClusterReport) -> Table:
    """Return the nodes with the facts in which they may differ."""
    titles = [title for title, _ in cluster.nodes[0].facts]
    known = [title for title in titles if any(dict(node.facts)[title] != "–" for node in cluster.nodes)]
    rows = [(node.name, *(dict(node.facts)[title] for title in known), f"{node.parts:,}") for node in cluster.nodes]
    return table(("Node", *known, "Parts"), rows, (len(known) + 1,))


def _parts(report: Report, raw: str | None) -> Table:
    """Return the parts of a run with their nodes, each with a link to its own page."""
    rows: list[tuple[str | TableCell, ...]] = []
    for part in report.cluster.parts if report.cluster else ():
        address = f"{raw}/{part.folder}/report/index.html" if raw is not None and part.folder else ""
        name: str | TableCell = TableCell((Link(part.name, address),)) if address else part.name
        rows.append((name, part.node or "–", listing_of(part.cells, 2), part.end))
    return table(("Part", "Node", "Cells", "Its job"), rows, caption="What each node measured")


def _over(group: GroupOverNodes) -> Iterator[Block]:
    yield Paragraph(group.sentence)
    if group.rankings:
        rows = [(ranking.node, _ranked(ranking.labels)) for ranking in group.rankings]
        yield table(("Node", "Ranking, the best first"), rows)
    if group.cells:
        heads = ("Framework", "Nodes", group.per_s.capitalize(), "Interval", "Within a node", "Between nodes")
        yield table(heads, [_cell(cell) for cell in group.cells], (1, 2, 3, 4, 5))


def _ranked(labels: Sequence[str]) -> str:
    return " > ".join(labels[:_MOST_RANKED]) + (" > …" if len(labels) > _MOST_RANKED else "")


def _cell(cell: CellOverNodes) -> tuple[str, ...]:
    interval = "–" if cell.low is None or cell.high is None else f"{rate(cell.low)} – {rate(cell.high)}"
    return (
        cell.label, f"{cell.nodes}", rate(cell.samples_per_s), interval, _percent(cell.within), _percent(cell.between),
    )  # fmt: skip


def _percent(deviation: float | None) -> str:
    return "–" if deviation is None else f"{100 * deviation:.2g} %"
