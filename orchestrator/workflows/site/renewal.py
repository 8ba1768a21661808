"""The site that is served, brought up to date by a process of its own when that disturbs nobody."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from orchestrator.errors import HostError, InputError, OrchestratorError
from orchestrator.events import Event, Notice
from orchestrator.processes import TICK_S, worker
from orchestrator.reporting.site.folder import INDEX
from orchestrator.running.host_lock.queue import measuring
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions, publish

SHORT_S = 0.3
"""CPU seconds of a renewal that fit between the start of a repeat and its first timed step."""
PAUSE_S = 10.0
"""The shortest time between two renewals while something is measured."""
AGAIN_S = 60.0
"""After a renewal that has failed."""


def may_renew(holders: frozenset[str], early: frozenset[str], cost_s: float) -> bool:
    """Return true if a renewal that takes so much CPU time disturbs none of the runs that measure on this host.

    In the `early` ones nothing is timed at the moment.
    """
    return not holders or (holders <= early and cost_s <= SHORT_S)


class SiteRenewal:
    """The process that publishes, with what it was asked and has answered."""

    def __init__(self, options: PublishOptions, turns: Sequence[Path], host: Host) -> None:
        self._options = options
        self._turns = turns
        self._host = host
        self._process, self._answers = worker(_publish, dict(host.environment))
        self._asked = False
        self._changes: int | None = None
        """Changes that the site has, or will have."""
        self._cost_s = 0.0
        self._next_s = 0.0
        self._problem = ""

    def first(self, *, wait: bool) -> None:
        """Publish once. With `wait`, there is a site afterwards; else an older one is shown for now.

        Raises what publishing raises.
        """
        if not wait and self._holders():
            return
        self._ask()
        while self._asked and not self._host.stop.is_set():
            if self._answers.poll(TICK_S):
                problem = self._read()
                if problem is not None:
                    raise problem

    def tick(self, changes: int, early: frozenset[str]) -> None:
        """Read an answer, or ask to renew where something has changed and nobody is disturbed."""
        if self._asked:
            if self._answers.poll(0) and (problem := self._read()) is not None:
                self._next_s = time.monotonic() + AGAIN_S
                self._changes = None
                if str(problem) != self._problem:
                    self._problem = str(problem)
                    self._host.say(f"the site is not renewed: {problem}")
            return
        now, holders = time.monotonic(), self._holders()
        is_new = self._changes != changes or not (self._options.output / INDEX).exists()
        if not is_new or now < self._next_s or not may_renew(holders, early, self._cost_s):
            return
        self._changes = changes
        self._next_s = now + (PAUSE_S if holders else 0.0)
        self._ask()

    def close(self) -> None:
        """End the process. The site is whole at any moment."""
        self._process.kill()
        self._process.join()
        self._answers.close()

    def _holders(self) -> frozenset[str]:
        return frozenset(holder.run for file in self._turns for holder in measuring(file))

    def _ask(self) -> None:
        self._answers.send(self._options)
        self._asked = True

    def _read(self) -> OrchestratorError | None:
        """Take what the process says. Return the error that it has ended with, if it has."""
        try:
            kind, value = self._answers.recv()
        except (EOFError, OSError):
            self._asked = False
            return HostError("the process that publishes has ended; start `orchestrator serve` again")
        if kind == "said":
            self._host.say(value)
            return None
        self._asked = False
        if kind == "failed":
            failure, messages = value
            return InputError(*messages) if failure == "input" else HostError(*messages)
        self._cost_s, self._problem = value, ""
        return None


def _publish(answers: Connection, environment: dict[str, str]) -> None:
    """Publish as often as it is asked, with the lowest priority, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who has started this process ends it
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def say(event: Event) -> None:
        if isinstance(event, Notice):
            answers.send(("said", event.message))

    host = Host(environment, say)
    with suppress(EOFError, OSError):
        while True:
            answers.send(_answered(answers.recv(), host))


def _answered(options: PublishOptions, host: Host) -> tuple[str, Any]:
    began = time.process_time()
    try:
        publish(options, host)
    except InputError as error:
        return "failed", ("input", tuple(error.messages))
    except OrchestratorError as error:
        return "failed", ("host", (str(error),))
    except OSError as error:
        return "failed", ("host", (f"the site cannot be written: {error}",))
    return "done", time.process_time() - began
