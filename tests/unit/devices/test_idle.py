"""The kernel's counters, and the gate that waits for an idle host, on a host that only a test moves."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.devices import idle
from orchestrator.devices.readings import Reading, between, read

STAT = """\
cpu  1 1 1 1 1 1 1 1 0 0
cpu0 100 10 20 500 5 1 2 5 0 0
cpu1 200 0 0 500 5 0 0 0 0 0
intr 12 0
procs_running 3
procs_blocked 0
"""


def test_a_reading_holds_what_the_kernel_tells(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(STAT)
    (tmp_path / "vmstat").write_text("pgfault 9\npswpin 1\npswpout 2\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "memory").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n")

    found = read(tmp_path)

    assert (found.busy_s, found.steal_s) == ({0: 1.33, 1: 2.0}, {0: 0.05, 1: 0.0})
    assert (found.running, found.pressure_s, found.swapped_bytes) == (3, {"memory": 2.5}, 3 * 4096)


def test_a_silent_host_is_read_as_unknown(tmp_path: Path) -> None:
    """A host that reports nothing is read as unknown."""
    found = read(tmp_path)

    assert (found.busy_s, found.running, found.pressure_s, found.swapped_bytes) == ({}, None, {}, None)
    activity = between(found, replace(found, at_s=found.at_s + 1), [0])
    assert (activity.other_cpus, activity.steal_cpus, activity.swapped_bytes) == (None, None, None)


def test_activity_counts_others_on_given_cpus() -> None:
    """Activity is that of others on the CPUs asked about."""
    before = Reading(10.0, {0: 1.0, 1: 1.0, 2: 1.0}, {0: 0.0, 1: 0.0, 2: 0.0}, 1, {"io": 3.0}, 100, own_s=5.0)
    after = Reading(
        12.0, {0: 3.0, 1: 1.5, 2: 9.0}, {0: 0.5, 1: 0.0, 2: 1.0}, 1, {"io": 3.5, "cpu": 1.0}, 300, own_s=5.5
    )

    found = between(before, after, [0, 1])

    assert (found.other_cpus, found.steal_cpus) == (1.0, 0.25)
    assert (found.pressure, found.swapped_bytes) == ({"io": 0.25}, 200)


class Host:
    """Time passes only in sleep; `others` says how many CPUs others use from which second on."""

    def __init__(self, others: dict[float, float], *, tells: bool = True) -> None:
        self.now = 0.0
        self.busy_s = 0.0
        self.looks = 0
        self._others = others
        self._tells = tells

    def _using(self) -> float:
        return next((cpus for since, cpus in sorted(self._others.items(), reverse=True) if self.now >= since), 0.0)

    def sleep(self, seconds: float) -> None:
        self.busy_s += self._using() * seconds
        self.now += seconds

    def look(self) -> Reading:
        self.looks += 1
        if not self._tells:
            return Reading(self.now, {}, {}, None, {}, None, 0.0)
        running = 1 + (self._using() > 0)
        return Reading(self.now, {0: self.busy_s, 1: 0.0}, {0: 0.0, 1: 0.0}, running, {}, None, 0.0)

    def waited(self, limit_s: float, stop: threading.Event | None = None) -> idle.IdleWait:
        return idle.wait([0, 1], limit_s, stop or threading.Event(), look=self.look, sleep=self.sleep)


def test_an_idle_host_costs_little_time() -> None:
    """An idle host costs about a hundredth of a second."""
    waited = Host({}).waited(10)

    assert (waited.wait_s, waited.busy) == (pytest.approx(0.012), "")


def test_a_busy_host_is_waited_for() -> None:
    waited = Host({0: 1.0, 3: 0.0}).waited(10)

    assert waited.busy == ""
    assert 3 <= waited.wait_s <= 3.6


def test_the_waiting_ends_with_what_still_went_on() -> None:
    waited = Host({0: 0.9}).waited(2)

    assert waited.busy == "others used 0.9 of 2 CPUs"
    assert 2 <= waited.wait_s <= 2.5


def test_little_activity_is_idle_enough() -> None:
    assert Host({0: 0.2}).waited(10) == idle.IdleWait(pytest.approx(0.262), "")  # type: ignore[arg-type]


def test_who_asks_to_stop_does_not_wait() -> None:
    stop = threading.Event()
    stop.set()

    assert Host({0: 1.0}).waited(10, stop).wait_s < 0.5


def test_a_silent_host_is_not_waited_for() -> None:
    """A host that reports nothing is not waited for."""
    waited = Host({0: 1.0}, tells=False).waited(10)

    assert waited.busy == ""
    assert waited.wait_s < 0.5


def test_this_host_can_be_read() -> None:
    waited = idle.wait([0], 0.3, threading.Event())

    assert 0 < waited.wait_s < 2
