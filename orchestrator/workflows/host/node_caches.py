"""The cache folders of the nodes of a cluster, below that of their user, since nodes often share home folders."""

import platform
from pathlib import Path

from orchestrator.clusters.folder import folder_name
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.host.places import CACHE_NAME

NODE_VARIABLE = "SLURMD_NODENAME"
"""The name that the scheduler has for this node, in its jobs."""
_FOLDER = "nodes"


def node_cache(host: Host, node: str) -> Path:
    """Return the folder that is `XDG_CACHE_HOME` for the jobs on a node."""
    return host.cache / _FOLDER / folder_name(node)


def own_caches(host: Host) -> list[Path]:
    """Return the caches that jobs on this node have left. Those of other nodes may be in use there."""
    names = dict.fromkeys((host.environment.get(NODE_VARIABLE) or platform.node(), platform.node().partition(".")[0]))
    caches = (node_cache(host, name) / CACHE_NAME for name in names)
    return [cache for cache in caches if cache.is_dir()]
