"""Bounds of the networks of a plan.

Their files are mounted, so that none of them may lie anywhere else.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from orchestrator import limits
from orchestrator.domain import Plan
from orchestrator.files import problem_of_path
from orchestrator.matrix.values import kinds
from orchestrator.networks.drawn_values import KINDS
from orchestrator.user_files import Network, NetworkInput

_SUM = re.compile(r"[0-9a-f]{64}")
_SHOWN = 200
_MOST_AXES = 32


def problems(plan: Plan) -> Iterator[str]:
    """Yield a line for each thing of a plan's networks that is out of bounds."""
    names = [network.name for network in plan.networks]
    for network in plan.networks:
        if names.count(network.name) > 1:
            yield f"network {network.name[:100]!r} is described twice"
        yield from (f"network {network.name[:100]!r}: {problem}" for problem in _network(network))


def _network(network: Network) -> Iterator[str]:
    if not re.fullmatch(kinds.WORD, network.name) or len(network.name) > kinds.MAX_WORD:
        yield "has a name that no matrix could give it"
    yield from _files(network)
    if not network.inputs:
        yield "has no input"
    for each in network.inputs:
        yield from (f"input {each.name[:100]!r}: {problem}" for problem in _input(each))
    if network.batch_size is not None and not 1 <= network.batch_size <= limits.MAX_COUNT:
        yield f"batch_size is not from 1 to {limits.MAX_COUNT:,}"


def _files(network: Network) -> Iterator[str]:
    paths = {file.path for file in network.files}
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    if network.entry not in paths or "/" in network.entry:
        yield f"its file {network.entry[:_SHOWN]!r} is not at the top of its files"
    if len(paths) != len(network.files) or paths & folders:
        yield "two of its files take the same place"
    if len(paths) > limits.MAX_NETWORK_FILES or network.size_bytes > limits.MAX_NETWORK_BYTES:
        yield f"has more than {limits.MAX_NETWORK_FILES:,} files, or more than {limits.MAX_NETWORK_BYTES:,} bytes"
    for file in network.files:
        if problem := problem_of_path(f"{network.FOLDER}/{network.name}/{file.path}"):
            yield f"its file {file.path[:_SHOWN]!r} {problem.replace('the bundle', 'its folder')}"
        if file.size_bytes < 0 or not _SUM.fullmatch(file.sha256):
            yield f"its file {file.path[:_SHOWN]!r} has no size, or no SHA-256"


def _input(each: NetworkInput) -> Iterator[str]:
    if each.kind not in KINDS.values():
        yield f"{each.kind[:100]!r} is no type that can be drawn"
    sizes = [size for size in each.shape if size is not None]
    if len(each.shape) > _MOST_AXES or not all(0 <= size <= limits.MAX_COUNT for size in sizes):
        yield "its shape is that of no tensor"
