"""The facts of hosts that reports show beside each other."""

from collections import Counter
from collections.abc import Sequence

from orchestrator.reporting.findings.model import Facts
from orchestrator.wording import memory

FACTS = (
    ("hostname", "Host"), ("cpu", "CPU"), ("cpus", "CPUs"), ("cores", "Cores"), ("memory_bytes", "Memory"),
    ("kernel", "Kernel"), ("engine", "Engine"), ("gpus", "GPUs"), ("driver", "GPU driver"),
    ("governor", "Governor"),
)  # fmt: skip
"""The facts of a host that are shown, by their names in `run.json`."""


def shown_facts(host: Facts) -> Facts:
    """Return the facts of a host by their names in `run.json`, in the order of `FACTS`; `–` where one is unknown."""
    known = dict(host)
    gpus = Counter(value for name, value in host if name.startswith("gpus.") and name.endswith(".name"))
    shown = {
        **{name: known.get(name) or "–" for name, _ in FACTS},
        "memory_bytes": _memory(known.get("memory_bytes")),
        "gpus": ", ".join(f"{count} × {name}" for name, count in gpus.items()) or "–",
    }
    return tuple(shown.items())


def differing(hosts: Sequence[Facts]) -> list[str]:
    """Return each shown fact in which hosts differ, as `CPU (one | other)`."""
    known = [dict(host) for host in hosts]
    return [
        f"{title} ({' | '.join(dict.fromkeys(host[name] for host in known))})"
        for name, title in FACTS
        if len({host[name] for host in known}) > 1
    ]


def _memory(size: str | None) -> str:
    return memory(int(size)) if size and size.isdecimal() else "–"
