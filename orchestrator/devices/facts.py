"""What a run record says of its host: queried, never typed."""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from orchestrator.devices.host import SYS_CPU, Inventory


def host_facts(inventory: Inventory, engine: str | None = None, *, sys_cpu: Path = SYS_CPU) -> dict[str, Any]:
    """Describe the host for `run.json`; what cannot be found out is None. `engine` is the engine's version, if any."""
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
        "gpus": [asdict(gpu) for gpu in inventory.gpus],
        "driver": inventory.driver,
        "engine": engine,
        "python": platform.python_version(),
    }


def another_processor(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What tells that one host's description is of another machine than the other; empty where nothing does.

    Neither names nor kernels, engines and devices count: they change on one and the same host.
    """
    for name in ("machine", "cpu"):
        if then.get(name) and now.get(name) and then[name] != now[name]:
            return f"{then[name]}, not {now[name]}"
    return ""


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
