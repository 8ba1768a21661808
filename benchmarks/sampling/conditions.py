"""The conditions of the host and this process while something is timed, from readings before and after it.

A reading costs a few short reads of files that stay open, and happens between timed intervals, never inside one. What
cannot be read, because the kernel lacks it or the container hides it, is left out of every interval.
`docs/measurement.md` says what each figure means. The host judges what counts as a disturbance.
"""

import os
import re
import resource
import time
from collections import namedtuple

MOST_CPUS = 16
"""CPUs whose frequency and thermal events are read, enough to see throttling, few enough to stay cheap."""
_READ_BYTES = 1 << 18
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

UNREADABLE = (OSError, ValueError, LookupError)
"""The errors of reading a file that is missing, is denied, or holds something else than on Linux."""

Places = namedtuple("Places", "proc sys")
Places.__doc__ = """The paths of /proc and /sys."""

HOST = Places("/proc", "/sys")

_Reading = namedtuple("_Reading", "counters gauges")
_Reading.__doc__ = """Counters only grow, and an interval has their difference. Gauges hold at its end."""


class Sampler:
    """A reader of the conditions of this process on its CPUs.

    `begin()` and `end()` bracket what is timed, and `close()` releases the files. `gpus` is a reader of GPUs as in
    `benchmarks/sampling/gpus.py`, or None. With `workers` the CPU time of child processes is read too. With `stamped`
    each interval has the moment at which it begins, by which the host finds it in what it has sampled meanwhile.
    """

    def __init__(  # noqa: PLR0913 -- where to read, by what clock, and what else to tell, by name
        self, places=HOST, cpus=None, clock=time.perf_counter, gpus=None, *, workers=False, stamped=False
    ):
        cpus = sorted(os.sched_getaffinity(0) if cpus is None else cpus)
        self._clock = clock
        self._sources = [source for source in _sources(places, cpus) if source.works()]
        self._gpus = gpus
        self._is_stamped = stamped
        self._proc = places.proc if workers else None
        self._last = None

    def begin(self):
        """Read before the timed interval."""
        if self._gpus:
            self._gpus.begin()
        self._last = self._read()

    def end(self):
        """Read after the interval and return its conditions by name, in SI units, without unknown ones."""
        before, after = self._last, self._read()
        conditions = {
            name: _rounded(value - before.counters[name])
            for name, value in after.counters.items()
            if name in before.counters
        }
        if self._is_stamped:
            conditions["begin_s"] = _rounded(before.counters["wall_s"])
        if self._gpus:
            conditions["gpus"] = self._gpus.end()
        return dict(conditions, **after.gauges)

    def close(self):
        """Close the open files."""
        for source in self._sources:
            source.close()
        if self._gpus:
            self._gpus.close()

    def _read(self):
        used = resource.getrusage(resource.RUSAGE_SELF)
        counters = {"wall_s": self._clock(), "cpu_s": time.process_time()}
        counters.update(user_s=used.ru_utime, system_s=used.ru_stime)
        if self._proc:
            counters["workers_cpu_s"] = _of_children(self._proc, os.getpid())
        gauges = {}
        for source in self._sources:
            try:
                source.read(counters, gauges)
            except UNREADABLE:
                continue  # it went away meanwhile, which is no reason to lose a measurement
        return _Reading(counters, gauges)


class Unsampled:
    """A sampler that reads nothing, with which a real one is compared."""

    def begin(self):
        """Do nothing."""

    def end(self):
        """Return None, because nothing is read."""

    def close(self):
        """Do nothing, because nothing is open."""


class _Source:
    """One or more files that stay open, and a parser of their texts, `parse(texts, counters, gauges)`."""

    def __init__(self, paths, parse):
        self._files = [file for file in map(_opened, paths) if file is not None]
        self._parse = parse

    def works(self):
        """Return whether it can be read and understood. If not, it is closed."""
        try:
            if self._files:
                self.read({}, {})
                return True
        except UNREADABLE:
            self.close()
        return False

    def read(self, counters, gauges):
        texts = [os.pread(file, _READ_BYTES, 0).decode("ascii", "replace") for file in self._files]
        self._parse(texts, counters, gauges)

    def close(self):
        for file in self._files:
            os.close(file)
        self._files = []


def _of_children(proc, parent):
    """Return the CPU time of the child processes of a process, such as the workers of a data loader."""
    ticks = 0
    for name in os.listdir(proc):
        if not name.isdigit():
            continue
        try:
            with open("%s/%s/stat" % (proc, name), encoding="ascii", errors="replace") as file:
                # The name of the program, in brackets, may hold spaces.
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[1]) == parent:
            ticks += int(fields[11]) + int(fields[12])
    return ticks * _TICK_S


def _opened(path):
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _sources(places, cpus):
    proc, sys = places
    yield _Source([proc + "/stat"], _cpu_time(cpus))
    yield _Source([proc + "/loadavg"], _load)
    yield _Source([proc + "/vmstat"], _swap)
    yield _Source([proc + "/self/statm"], _resident)
    yield _Source([proc + "/self/io"], _disk)
    for wanted in ("cpu", "memory", "io"):
        yield _Source([proc + "/pressure/" + wanted], _pressure(wanted + "_pressure_s"))
    for group in _groups(proc, sys + "/fs/cgroup"):
        yield _Source([group + "/cpu.stat"], _throttled)
        yield _Source([group + "/cpu.pressure"], _pressure("group_cpu_pressure_s"))
    each = [sys + "/devices/system/cpu/cpu%d" % cpu for cpu in cpus[:MOST_CPUS]]
    yield _Source([cpu + "/cpufreq/scaling_cur_freq" for cpu in each], _frequency)
    yield _Source([cpu + "/thermal_throttle/core_throttle_count" for cpu in each], _thermal)


def _groups(proc, root):
    """Yield the folder of this process's control group in a single hierarchy, and that of the controller `cpu`."""
    try:
        with open(proc + "/self/cgroup", encoding="ascii", errors="replace") as lines:
            entries = [line.rstrip("\n").split(":", 2) for line in lines]
    except OSError:
        return
    for _, controllers, path in (entry for entry in entries if len(entry) == 3):
        names = {"": ("", "/unified"), "cpu": ("/cpu",)}.get("cpu" if "cpu" in controllers.split(",") else controllers)
        # In a container, the group's own folder is mounted at the root, whatever path the kernel reports.
        folders = [root + name + own for name in names or () for own in (path.rstrip("/"), "")]
        existing = next((folder for folder in folders if os.path.exists(folder + "/cpu.stat")), None)
        if existing:
            yield existing


def _cpu_time(cpus):
    wanted = {"cpu%d" % cpu for cpu in cpus}

    def parse(texts, counters, _gauges):
        busy = steal = seen = 0
        for line in texts[0].split("\nintr", 1)[0].splitlines():
            name, *ticks = line.split()
            if name in wanted:
                user, nice, system, _idle, _iowait, irq, softirq, stolen = map(int, ticks[:8])
                busy += user + nice + system + irq + softirq
                steal += stolen
                seen += 1
        if not seen:
            raise ValueError("no time of our CPUs")
        counters["busy_s"] = busy * _TICK_S
        counters["steal_s"] = steal * _TICK_S

    return parse


def _load(texts, _counters, gauges):
    gauges["load"] = float(texts[0].split()[0])


def _swap(texts, counters, _gauges):
    pages = re.findall(r"^pswp(?:in|out) (\d+)$", texts[0], re.MULTILINE)
    if not pages:
        raise ValueError("no swapping is counted")
    counters["swapped_bytes"] = sum(map(int, pages)) * _PAGE_BYTES


def _resident(texts, _counters, gauges):
    gauges["rss_bytes"] = int(texts[0].split()[1]) * _PAGE_BYTES


def _disk(texts, counters, _gauges):
    fields = dict(line.split(": ") for line in texts[0].splitlines())
    counters["read_bytes"] = int(fields["read_bytes"])
    counters["written_bytes"] = int(fields["write_bytes"])


def _pressure(name):
    def parse(texts, counters, _gauges):
        stalled = re.search(r"^some .*total=(\d+)", texts[0], re.MULTILINE)
        if stalled is None:
            raise ValueError("no pressure is told")
        counters[name] = int(stalled.group(1)) / 1e6

    return parse


def _throttled(texts, counters, _gauges):
    fields = dict(line.split() for line in texts[0].splitlines())
    counters["throttled"] = int(fields["nr_throttled"])


def _frequency(texts, _counters, gauges):
    gauges["frequency_hz"] = sum(map(int, texts)) * 1000 // len(texts)


def _thermal(texts, counters, _gauges):
    counters["thermal_events"] = sum(map(int, texts))


def _rounded(value):
    return round(value, 6) if isinstance(value, float) else value
