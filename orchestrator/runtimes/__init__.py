"""Runtimes of cells, which are `docker`, `venv` and `host` behind one small interface."""

from orchestrator.engine.containers import DATA, IO, NETWORK, SCRIPT
from orchestrator.engine.ownership import Owner, this_process
from orchestrator.runtimes.brought import BroughtRuntime, NotBrought
from orchestrator.runtimes.choice import Choice, choose
from orchestrator.runtimes.docker import (
    BundledImage,
    BundledRuntime,
    DockerRuntime,
    image_problems,
    limits_of,
    missing_images_text,
    not_on_engine,
    remove_leftovers,
)
from orchestrator.runtimes.host import HostRuntime
from orchestrator.runtimes.model import STOPPED, Ended, Provided, Ready, Runtime, Task, Unavailable
from orchestrator.runtimes.venv import VenvRuntime

__all__ = [
    "DATA",
    "IO",
    "NETWORK",
    "SCRIPT",
    "STOPPED",
    "BroughtRuntime",
    "BundledImage",
    "BundledRuntime",
    "Choice",
    "DockerRuntime",
    "Ended",
    "HostRuntime",
    "NotBrought",
    "Owner",
    "Provided",
    "Ready",
    "Runtime",
    "Task",
    "Unavailable",
    "VenvRuntime",
    "choose",
    "image_problems",
    "limits_of",
    "missing_images_text",
    "not_on_engine",
    "remove_leftovers",
    "this_process",
]  # fmt: skip
