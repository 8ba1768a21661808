"""Facts about the host for the run record, queried from the host."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from orchestrator.devices.host import SYS_CPU, Inventory

_MEASURED_ON = {"machine": "", "cpu": "", "cpus": " CPUs"}
"""The facts of a description that stay the same on one host, with their units."""
_MEMORY_TOLERANCE = 0.1
"""The share by which memory may differ, as each kernel keeps another part to itself."""


def host_facts(inventory: Inventory, engine: str | None = None, *, sys_cpu: Path = SYS_CPU) -> dict[str, Any]:
    """Describe the host for `run.json`.

    What cannot be found out is None. `engine` is the engine's version, if any.
    """
    cores = {(cpu.socket, cpu.core) for cpu in inventory.cpus}
    return {
        "hostname": platform.node(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu": inventory.cpu_model,
        "cpus": len(inventory.cpus),
        "cores": len(cores),
        "sockets": len({socket for socket, _ in cores}),
        "governor": _line(sys_cpu / "cpu0" / "cpufreq" / "scaling_governor"),
        "memory_bytes": inventory.memory_bytes,
        "gpus": [_known(asdict(gpu)) for gpu in inventory.gpus],
        "driver": inventory.driver,
        "engine": engine,
        "python": platform.python_version(),
    }


def _known(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that are there."""
    return {name: value for name, value in facts.items() if value is not None and value != ()}


def another_machine(then: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return the facts in which two hosts differ as machines, or None if none does.

    What is not known of one of them tells nothing, nor do names, kernels, engines and drivers: they change on one and
    the same host. So does whether a GPU is there, without which nothing is measured on one.
    """
    known = {name for name in (*_MEASURED_ON, "memory_bytes", "gpus") if then.get(name) and now.get(name)}
    for name, unit in _MEASURED_ON.items():
        if name in known and then[name] != now[name]:
            return f"{then[name]}{unit}, not {now[name]}"
    if "memory_bytes" in known:
        one, other = int(then["memory_bytes"]), int(now["memory_bytes"])
        if abs(one - other) > _MEMORY_TOLERANCE * max(one, other):
            return f"{one / 1e9:.0f} GB of memory, not {other / 1e9:.0f}"
    if "gpus" in known:
        ones, others = (", ".join(sorted(str(gpu["name"]) for gpu in host["gpus"])) for host in (then, now))
        if ones != others:
            return f"{ones}, not {others}"
    return None


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
