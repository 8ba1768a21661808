"""The causes for which a driver holds the clocks of a GPU down, in the words of results.

What runs inside containers cannot import this package and has the same table in `benchmarks/sampling/gpus.py`.
"""

from typing import Any

CAUSES = (
    ("nvmlClocksThrottleReasonSwPowerCap", "power_limit"),
    ("nvmlClocksThrottleReasonHwSlowdown", "hardware"),
    ("nvmlClocksThrottleReasonSwThermalSlowdown", "heat"),
    ("nvmlClocksThrottleReasonHwThermalSlowdown", "heat"),
    ("nvmlClocksThrottleReasonHwPowerBrakeSlowdown", "power_supply"),
)
"""The name of each bit in the driver's library (NVML), with its cause."""


def slowed_by(library: Any, reasons: int | None) -> tuple[str, ...]:
    """Return the causes that the bits of a driver name, in the order of the alphabet. None stands for no answer."""
    return tuple(sorted({cause for bit, cause in CAUSES if (reasons or 0) & getattr(library, bit, 0)}))
