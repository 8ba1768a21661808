"""A Slurm cluster of this machine, as `.ci/slurm` makes it, with daemons that a test may end and start again."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.resources import ROOT
from tests.until import has_ended, until

_CONTROL = ROOT / ".ci" / "slurm"
_PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "scontrol", "srun")
_NOTHING_MORE = "# no more settings\n"
_FIRST_JOB = re.compile(r"^FirstJobId=(\d+)$", re.MULTILINE)
_NUMBERS_OF_A_TEST = 1000


def missing() -> str:
    """Return what this machine lacks for a cluster, or nothing."""
    if os.geteuid() != 0:
        return "a Slurm cluster on this machine needs root"
    lacking = [name for name in _PROGRAMS if shutil.which(name) is None]
    return f"no {', '.join(lacking)} here; `.ci/slurm install` brings them" if lacking else ""


@dataclass(frozen=True)
class Job:
    """A task of an array, as `squeue` shows it."""

    id: str
    state: str
    node: str


@dataclass(frozen=True)
class SlurmCluster:
    """A cluster below a folder."""

    folder: Path
    nodes: int = 2

    @property
    def environment(self) -> Mapping[str, str]:
        """The variable by which the commands of Slurm find it."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self) -> None:
        """Start it, or what of it does not run."""
        self._control("start", str(self.nodes))

    def stop(self) -> None:
        self._control("stop")

    def _control(self, command: str, *arguments: str) -> None:
        # To a file, not a pipe: the daemons would hold its other end open.
        log = self.folder.with_name(f"{self.folder.name}-{command}.log")
        with log.open("wb") as output:
            ended = subprocess.run(
                [_CONTROL, command, self.folder, *arguments], stdout=output, stderr=output, check=False
            )
        assert ended.returncode == 0, log.read_text()

    def pid(self, daemon: str) -> int:
        """Return the process of `slurmctld`, or of a node."""
        return int((self.folder / f"{daemon}.pid").read_text())

    def kill(self, daemon: str) -> None:
        """End a daemon as a loss of power does."""
        pid = self.pid(daemon)
        os.kill(pid, signal.SIGKILL)
        until(lambda: has_ended(pid))
        if daemon == "slurmctld":
            self._skip_numbers()

    def _skip_numbers(self) -> None:
        """Let the next controller give no number that the last one gave and did not save.

        A node that still knows a job of that number is drained, and the new job is cancelled, whatever test it is of.
        """
        path = self.folder / "slurm.conf"
        text, found = _FIRST_JOB.subn(
            lambda match: f"FirstJobId={int(match[1]) + _NUMBERS_OF_A_TEST}", path.read_text()
        )
        assert found == 1, text
        path.write_text(text)

    def end(self, daemon: str) -> None:
        """End a daemon as its service does. A controller that is killed takes jobs that have just ended for running.

        Their nodes then have no other job for a minute.
        """
        pid = self.pid(daemon)
        os.kill(pid, signal.SIGTERM)
        until(lambda: has_ended(pid))

    def kill_node(self, node: str) -> None:
        """End a node with all that its jobs have started."""
        self.kill(node)
        for pid in self.processes(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def processes(self, node: str) -> list[int]:
        """Return the processes of the jobs of a node, those that start others first."""
        group = f"/slurm_{node}/"
        return sorted(pid for pid in _processes() if group in _read(Path("/proc", str(pid), "cgroup")))

    def take_back(self) -> None:
        """Let the nodes that Slurm has drained have jobs again."""
        for node in self.said("sinfo", "--noheader", "--Node", "--states=drain", "--format=%N").split():
            self.said("scontrol", "update", f"nodename={node}", "state=resume")

    @contextmanager
    def configured(self, *lines: str) -> Iterator[None]:
        """Have further settings meanwhile, of the controller and of its nodes."""
        self._configure("\n".join((*lines, "")))
        try:
            yield
        finally:
            self._configure(_NOTHING_MORE)

    def _configure(self, text: str) -> None:
        self.end("slurmctld")
        (self.folder / "more.conf").write_text(text)
        self.start()
        self.said("scontrol", "reconfigure")  # for the nodes, which go on

    def forget(self) -> None:
        """Let the controller lose all that it knows of jobs."""
        self.kill("slurmctld")
        shutil.rmtree(self.folder / "state")
        self.start()

    def said(self, *command: str) -> str:
        """Run a command of Slurm, and return what it said."""
        ended = subprocess.run(
            command, env=os.environ | dict(self.environment), capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def jobs(self) -> list[Job]:
        """Return the jobs that have not ended, and those that have but lately."""
        text = self.said("squeue", "--noheader", "--array", "--states=all", "--format=%F_%K|%T|%N")
        return [Job(*line.split("|")) for line in text.splitlines()]

    def live(self) -> list[Job]:
        return [job for job in self.jobs() if job.state in {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}]

    def clear(self) -> None:
        """Have no jobs, and every daemon running."""
        self.start()
        self.take_back()
        self.said("scancel", "--user=root")
        until(lambda: not self.live())


def _processes() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
