"""Where cells run: `docker`, `venv` or `host`, behind one small interface."""

from orchestrator.runtimes.host import HostRuntime
from orchestrator.runtimes.model import STOPPED, Ended, Provided, Ready, Runtime, Task, Unavailable
from orchestrator.runtimes.venv import VenvRuntime

__all__ = [
    "STOPPED", "Ended", "HostRuntime", "Provided", "Ready", "Runtime", "Task", "Unavailable", "VenvRuntime",
]  # fmt: skip
