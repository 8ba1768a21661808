"""What the GPUs of this process go through while something is timed, asked of their driver before and after it.

Nothing here lists processes, which takes milliseconds under the driver's global lock, and nothing reads the power,
whose sensor sees a quarter of the time on some GPUs: energy is a counter of the GPU itself.
"""

_MILLI = 1e-3
_NANO = 1e-9
_MEGA = 1000 * 1000
_SLOWED = (
    ("nvmlClocksThrottleReasonSwPowerCap", "power_limit"),
    ("nvmlClocksThrottleReasonHwSlowdown", "hardware"),
    ("nvmlClocksThrottleReasonSwThermalSlowdown", "heat"),
    ("nvmlClocksThrottleReasonHwThermalSlowdown", "heat"),
    ("nvmlClocksThrottleReasonHwPowerBrakeSlowdown", "power_supply"),
)


def watched():
    """The GPUs that the driver shows this process; None without a driver or a library for it."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return Gpus(pynvml)
    except Exception:
        # Neither is required: without them nothing is known of the GPUs, and what is measured stays the same.
        return None


class Gpus:
    """Asks the driver through its library: `begin()` and `end()` bracket what is timed."""

    def __init__(self, library):
        self._library = library
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())]
        # What a GPU does not answer now it never does, and its refusal costs as much as an answer.
        self._counters = [_answered(_counters(library), handle) for handle in handles]
        self._gauges = [_answered(_gauges(library), handle) for handle in handles]
        self._handles = handles
        self._last = None

    def begin(self):
        """Read the counters before what is to be timed."""
        self._last = [_answers(*each) for each in zip(self._counters, self._handles)]

    def end(self):
        """Read after it: one dictionary per GPU, in SI units, without what is not known."""
        found = []
        for counters, gauges, handle, before in zip(self._counters, self._gauges, self._handles, self._last):
            after = _answers(counters, handle)
            interval = {name: round(after[name] - before[name], 6) for name in after if name in before}
            found.append(dict(interval, **_answers(gauges, handle)))
        return found

    def close(self):
        """Let go of the driver."""
        self._library.nvmlShutdown()


def _counters(library):
    """What only grows: name to a question about a GPU."""

    def limited(policy):
        return lambda handle: library.nvmlDeviceGetViolationStatus(handle, policy).violationTime * _NANO

    return {
        "energy_j": lambda handle: library.nvmlDeviceGetTotalEnergyConsumption(handle) * _MILLI,
        "power_limited_s": limited(0),  # NVML_PERF_POLICY_POWER and _THERMAL, which old libraries do not name
        "heat_limited_s": limited(1),
    }


def _gauges(library):
    """What is so at one moment."""

    def slowed(handle):
        reasons = library.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
        return sorted({name for bit, name in _SLOWED if reasons & getattr(library, bit, 0)})

    return {
        "clock_hz": lambda handle: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM) * _MEGA,
        "temperature_c": lambda handle: library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU),
        "slowed_by": slowed,
    }


def _answered(questions, handle):
    """The questions that a GPU answers."""
    known = _answers(questions, handle)
    return {name: ask for name, ask in questions.items() if name in known}


def _answers(questions, handle):
    """What is known of a GPU, by name."""
    asked = ((name, _asked(ask, handle)) for name, ask in questions.items())
    return {name: answer for name, answer in asked if answer is not None}


def _asked(ask, handle):
    """The driver's answer; None where it has none for this GPU, or its library does not know the question."""
    try:
        return ask(handle)
    except Exception:
        # NVML's own errors and, of an old library, missing names: neither is a reason to lose a measurement.
        return None
