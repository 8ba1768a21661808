"""The conditions of the GPUs of this process while something is timed, from readings of their driver.

Nothing here lists processes, which takes milliseconds under the driver's global lock. Nothing reads the power, whose
sensor sees a quarter of the time on some GPUs, because energy is a counter of the GPU itself.
"""

from benchmarks import devices

_MILLI = 1e-3
_NANO = 1e-9
_MEGA = 1000 * 1000
CAUSES = (
    ("nvmlClocksThrottleReasonSwPowerCap", "power_limit"),
    ("nvmlClocksThrottleReasonHwSlowdown", "hardware"),
    ("nvmlClocksThrottleReasonSwThermalSlowdown", "heat"),
    ("nvmlClocksThrottleReasonHwThermalSlowdown", "heat"),
    ("nvmlClocksThrottleReasonHwPowerBrakeSlowdown", "power_supply"),
)  # As in `orchestrator/devices/throttling.py`, which cannot be imported here.


def watched():
    """Return the GPUs that this process was given, or None without a driver or a library for it."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return Gpus(pynvml)
    except Exception:
        # Neither is required. Without them the GPUs have no conditions, and what is measured stays the same.
        return None


class Gpus:
    """A reader of the driver through its library. `begin()` and `end()` bracket what is timed."""

    def __init__(self, library):
        self._library = library
        handles = devices.handles(library)
        # A GPU never answers later what it does not answer now, and its refusal costs as much as an answer.
        self._counters = [_answered(_counters(library), handle) for handle in handles]
        self._gauges = [_answered(_gauges(library), handle) for handle in handles]
        self._handles = handles
        self._last = None

    def begin(self):
        """Read the counters before what is to be timed."""
        self._last = [_answers(*each) for each in zip(self._counters, self._handles)]

    def end(self):
        """Read after it and return the conditions of each GPU by name, in SI units, without unknown ones."""
        conditions = []
        for counters, gauges, handle, before in zip(self._counters, self._gauges, self._handles, self._last):
            after = _answers(counters, handle)
            interval = {name: round(after[name] - before[name], 6) for name in after if name in before}
            conditions.append(dict(interval, **_answers(gauges, handle)))
        return conditions

    def close(self):
        """Release the driver."""
        self._library.nvmlShutdown()


def _counters(library):
    """Return the questions by name whose answers only grow."""

    def limited(policy):
        return lambda handle: library.nvmlDeviceGetViolationStatus(handle, policy).violationTime * _NANO

    return {
        "energy_j": lambda handle: library.nvmlDeviceGetTotalEnergyConsumption(handle) * _MILLI,
        "power_limited_s": limited(0),  # NVML_PERF_POLICY_POWER and _THERMAL, which old libraries do not name
        "heat_limited_s": limited(1),
    }


def _gauges(library):
    """Return the questions by name whose answers hold at one moment."""

    def slowed(handle):
        reasons = library.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
        return sorted({name for bit, name in CAUSES if reasons & getattr(library, bit, 0)})

    return {
        "clock_hz": lambda handle: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM) * _MEGA,
        "temperature_c": lambda handle: library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU),
        "slowed_by": slowed,
    }


def _answered(questions, handle):
    """Return the questions that a GPU answers."""
    known = _answers(questions, handle)
    return {name: ask for name, ask in questions.items() if name in known}


def _answers(questions, handle):
    """Return the known answers of a GPU, by name."""
    answers = ((name, devices.answer(ask, handle)) for name, ask in questions.items())
    return {name: answer for name, answer in answers if answer is not None}
