"""The options of a fleet check, with its site and its nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.analysis.fleet import FEWEST_NODES
from orchestrator.clusters.site import Executor, Site
from orchestrator.clusters.slurm import Slurm
from orchestrator.errors import HostError, InputError
from orchestrator.wording import counted, listing, listing_of
from orchestrator.workflows import option_values
from orchestrator.workflows.cluster.options import ClusterOptions, chosen_site
from orchestrator.workflows.host.host import Host

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions(ClusterOptions):
    """The options of `doctor --fleet`."""

    nodes: Sequence[str] = ()
    """Nodes or lists of them, such as `node[1-8]`. Without any, all of the site's partition that take jobs."""
    rounds: int = option_values.FLEET_ROUNDS
    """Times that every node measures the cells."""


def site_of(options: FleetOptions, host: Host) -> Site:
    """Return the site whose nodes are compared. Nodes that are named need no site file.

    Raises `InputError` with every mistake of the site file, for a site without a scheduler, and for one whose nodes
    cannot be told.
    """
    site = chosen_site(replace(options, detach=False), host) or (Site(Executor.SLURM) if options.nodes else None)
    if site is None:
        raise InputError("--fleet compares the nodes of a cluster: name its site file with --site FILE, or --node NODE")
    if site.executor is not Executor.SLURM:
        used = site.executor
        raise InputError(f"--fleet needs Slurm, and this site says `executor: {used}`: name another with --site FILE")
    if site.on_nodes:
        raise InputError(
            "--fleet compares results that all nodes leave in one folder: leave out `on_nodes` of the site"
        )
    if not options.nodes and "nodelist" not in dict(site.sbatch):
        # Each job is bound to its node, so that the scheduler refuses those of nodes that are unfit.
        bounds = {"constraint": site.constraint, "reservation": site.reservation}
        untold = [f"{key}: {value}" for key, value in bounds.items() if value]
        if untold:
            raise InputError(
                *(f"--fleet cannot tell which nodes have `{each}`: name them with --node" for each in untold)
            )
    return replace(site, replicate=1)


def nodes_of(options: FleetOptions, site: Site, host: Host) -> list[str]:
    """Return the nodes that are compared, in the order of the scheduler, and say which of them take no jobs.

    Raises `HostError` if the scheduler does not answer, or if too few nodes take jobs.
    """
    given = dict(site.sbatch)
    slurm = Slurm(host.environment, Path())
    seen = slurm.nodes(site.partition, ",".join(options.nodes) or given.get("nodelist", ""))
    if not options.nodes and "exclude" in given:
        excluded = slurm.nodes(site.partition, given["exclude"])
        seen = {node: takes_jobs for node, takes_jobs in seen.items() if node not in excluded}
    nodes = [node for node, takes_jobs in seen.items() if takes_jobs]
    if away := [node for node in seen if node not in nodes]:
        host.say(f"left out, because the scheduler gives them no jobs: {listing_of(away, _MOST_NAMED)}")
    if len(nodes) < FEWEST_NODES:
        those = f" ({listing(nodes)})" if nodes else ""
        raise HostError(
            f"a fleet check needs {FEWEST_NODES} nodes, and {counted(len(nodes), 'node')}{those} would take its jobs: "
            "name others with --node, or a site with a larger partition"
        )
    return nodes
