"""A folder that all nodes see, in which runs of scripts that wait for a test are submitted to the cluster."""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from slurm_cluster import SlurmCluster

from orchestrator.clusters.folder import ClusterRun
from orchestrator.clusters.record import JobsRecord
from orchestrator.reporting.findings.model import Report
from orchestrator.resources import ROOT
from orchestrator.workflows.inputs.cluster_runs import cluster_report
from tests.until import until

QUICK = Path(__file__).with_name("quick_program.py")
SCRIPT = """\
import os, sys, time
folder, name, others = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(f"{folder}/begun/{name}", "a") as begun:
    begun.write(f"{os.getpid()}\\n")
number = sum(len(open(f"{folder}/begun/{each}").readlines()) for each in os.listdir(f"{folder}/begun"))
def is_held():
    try:
        return number > int(open(f"{folder}/closed").read() or 0)
    except FileNotFoundError:
        return False
while len(os.listdir(f"{folder}/begun")) < others or is_held():
    time.sleep(0.05)
print("done 1")
"""
_METRICS = {"done": {"pattern": "done (.*)", "unit": "times", "better": "higher"}}


class BenchFolder:
    """A folder with a matrix and a site file. Each script is a group, and so a part."""

    def __init__(self, folder: Path, cluster: SlurmCluster) -> None:
        self.folder, self.cluster = folder, cluster
        self._started: list[subprocess.Popen[bytes]] = []
        (folder / "begun").mkdir()
        (folder / "wait.py").write_text(SCRIPT)
        self.site()

    def site(self, **keys: Any) -> None:
        """Write the site file. The nodes share a machine, and take no turns all the same."""
        setup = [
            f"export PYTHONPATH={ROOT} ORCHESTRATOR_IDLE_WAIT=0",
            f"export ORCHESTRATOR_LOCK_FOLDER={self.folder}/locks-$SLURMD_NODENAME XDG_CACHE_HOME={self.folder}/cache",
            *keys.pop("setup", ()),
        ]
        self.write("site.yaml", {"version": 1, "executor": "slurm", "setup": setup, **keys})

    def scripts(self, *names: str, together: int = 0, **keys: Any) -> None:
        """Write a matrix of scripts, none of which ends before so many of them have begun."""
        scripts = [
            {"name": name, "file": "wait.py", "arguments": [str(self.folder), name, str(together)], "metrics": _METRICS}
            for name in names
        ]
        self.write(
            "matrix.yaml", {"version": 1, "frameworks": ["noop==1"], "scripts": scripts, "repeats": 1, **keys}
        )  # fmt: skip

    def write(self, name: str, document: dict[str, Any]) -> None:
        (self.folder / name).write_text(json.dumps(document))

    def close(self, passing: int = 0) -> None:
        """Let no script end but the first ones that begin."""
        (self.folder / "closed").write_text(f"{passing}")

    def open(self) -> None:
        """Let all scripts end."""
        (self.folder / "closed").unlink(missing_ok=True)

    def begun(self) -> dict[str, int]:
        """Return how many times each script has begun."""
        return {path.name: len(path.read_text().splitlines()) for path in (self.folder / "begun").iterdir()}

    def start(self, *arguments: str, log: str = "log") -> subprocess.Popen[bytes]:
        """Start the program, which asks the scheduler twice a second."""
        with (self.folder / log).open("ab") as output:
            program = subprocess.Popen(
                [sys.executable, QUICK, *arguments], cwd=self.folder, env=self.environment, stdout=output, stderr=output
            )
        self._started.append(program)
        return program

    def end_programs(self) -> None:
        """End what a failed test has left, which would submit jobs into the next one."""
        for program in self._started:
            program.kill()
            program.wait()

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run the program to its end, which has to be this one, and return all that it said."""
        ended = subprocess.run(
            [sys.executable, QUICK, *arguments],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode == code, f"{ended.stdout}\n{ended.stderr}\n{self.logs()}"
        return ended.stdout + ended.stderr

    def shell(self, text: str, codes: Collection[int] = (0,), **variables: str) -> str:
        """Run commands as they stand in the documentation, and return what they printed."""
        program = self.folder / "bin" / "orchestrator"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {QUICK} "$@"\n')
        program.chmod(0o755)
        own = {"PATH": f"{program.parent}:{os.environ['PATH']}", "ORCHESTRATOR_IDLE_WAIT": "0"}
        ended = subprocess.run(
            ["sh", "-euc", text],
            cwd=self.folder, env=self.environment | own | variables, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.returncode in codes, f"{ended.stdout}\n{ended.stderr}\n{self.logs()}"
        return ended.stdout

    @property
    def environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(self.folder / "cache"), "COLUMNS": "200"}
        return os.environ | dict(self.cluster.environment) | own

    def logs(self) -> str:
        """Return what jobs wrote, for a test that fails."""
        return "\n".join(f"{path.name}: {path.read_text()}" for path in self.folder.glob("results/*/logs/*"))

    def log(self) -> str:
        """Return what started programs have said."""
        return (self.folder / "log").read_text()

    def ends(self, program: "subprocess.Popen[bytes]", code: int = 0) -> None:
        """Wait for the end of a program, which has to be this one."""
        assert program.wait() == code, f"{self.log()}\n{self.logs()}"

    def the_run(self) -> ClusterRun:
        """Return the one run, once there is one."""
        until(lambda: any(self.folder.glob("results/*/cluster.json")))
        (path,) = self.folder.glob("results/*/cluster.json")
        return ClusterRun(path.parent)

    def submitted(self) -> JobsRecord:
        return self.the_run().jobs()

    def report(self) -> Report:
        return cluster_report(self.the_run())

    def ended(self) -> dict[str, list[str]]:
        """Return how the repeats of each script have ended: `ok`, or the status with its reason."""
        return {
            cell.cell.id.partition("/")[2].removesuffix("-script"): [
                "ok" if str(repeat.outcome.status) == "ok" else f"{repeat.outcome.status}: {repeat.outcome.reason}"
                for repeat in cell.repeats
            ]
            for cell in self.report().cells
        }

    def until_begun(self, names: Sequence[str]) -> None:
        until(lambda: set(names) <= set(self.begun()))
