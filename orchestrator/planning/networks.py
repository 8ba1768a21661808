"""The frameworks that run exported networks."""

from orchestrator.catalog import Catalog
from orchestrator.domain import Framework, Workload
from orchestrator.wording import listing


def unfit(framework: Framework, workload: Workload, catalog: Catalog) -> str:
    """Return the reason that a framework does not do the work of a network, or an empty text if it does."""
    if workload.rules.has_loss:
        return "an ONNX file is measured in inference alone; add infer to modes"
    entry = catalog.entry(framework.name)
    if entry is None or not entry.networks:
        able = [name for name, each in catalog.entries.items() if each.networks]
        return f"{framework.name} runs no ONNX files; {listing(able)} do"
    return ""
