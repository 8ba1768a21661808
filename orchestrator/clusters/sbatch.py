"""The text of a batch script, from an array of parts and a site."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.clusters.arrays import JobArray
from orchestrator.clusters.parts import NodeNeeds
from orchestrator.clusters.site.model import GpuRequest, Program, Site
from orchestrator.clusters.states import OUT_OF_TIME, OUT_OF_TIME_STATUS

MOST_SCRIPT_BYTES = 4 * 1024 * 1024
"""Largest batch script that Slurm takes, unless its `max_script_size` is another. It refuses a larger one itself."""
WARNING_S = 90
"""Time between the signal that ends the measurement and the time limit."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """The run that a submission measures, and the names that its script needs."""

    name: str
    """Of the job. All jobs of a run have it, and no job of another run of the user."""
    run: Path
    """The folder of the run. Every node sees it, unless the site has `on_nodes`."""
    command: tuple[str, ...]
    """The program, if the site names none."""
    retry_failed: bool = False
    inputs: str = ""
    """The inputs of its parts in lines of base64, for nodes that do not see the folder of the run."""


def script(array: JobArray, site: Site, job: BatchJob) -> str:
    """Return the script of an array. Each of its tasks measures one part."""
    options = "".join(f"#SBATCH --{option}\n" for option in _options(array, site, job))
    setup = "".join(f"{line}\n" for line in site.setup)
    return (
        f"#!/bin/sh\n{options}"
        "# Written by the orchestrator for one submission. A later one has a script of its own.\n"
        f"{setup}"
        f"set -- {' '.join(array.parts)}\n"
        'shift "$SLURM_ARRAY_TASK_ID"\n'
        f'part={"" if site.on_nodes else shlex.quote(f"{job.run}/parts/")}"$1"\n'
        'echo "part $1 on $SLURM_JOB_NODELIST"\n'
        f"{_program(site.program, job.command)}"
        # The warning comes to this shell alone. `srun` would kill its tasks if it was told to end, so the scheduler is
        # asked to give them the signal. By its own id, the last task of an array means the whole array.
        f"warned=\ntrap 'warned=1; woken=1; {_WARN}' USR1\n"
        # A job that is cancelled gets SIGTERM in each of its processes, and time to stop.
        "trap woken=1 TERM\n"
        f"{_measured(array, site, job)}"
        "step=$!\n"
        # A signal ends the wait, and not the step. The status of a step that has ended is told once, then it is 127.
        "status=127\n"
        'while woken=; wait "$step"; last=$?; [ "$last" = 127 ] || status=$last; [ -n "$woken" ]; do :; done\n'
        f'[ "$status" = 0 ] || [ -z "$warned" ] || {{ echo "{OUT_OF_TIME}"; exit {OUT_OF_TIME_STATUS}; }}\n'
        'exit "$status"\n'
    )


def _measured(array: JobArray, site: Site, job: BatchJob) -> str:
    """Return the lines that begin to measure the part on every node of the job."""
    step = f'srun {" ".join(_step(array.nodes))} \\\n    "$@" run --part "$part"'
    if not site.on_nodes:
        return f"{step}{' --retry-failed' if job.retry_failed else ''} &\n"
    # The text of a script is all that comes to such a node. `srun` hands it on to the tasks on the others.
    return f"base64 -d <<'INPUTS' |\n{job.inputs}INPUTS\n{step} --on-node {shlex.quote(site.on_node(job.run.name))} &\n"


def _options(array: JobArray, site: Site, job: BatchJob) -> Iterator[str]:
    at_once = f"%{max(1, site.nodes_at_once // array.nodes)}" if site.nodes_at_once else ""
    yield f"job-name={job.name}"
    yield f"array=0-{len(array.parts) - 1}{at_once}"
    yield f"nodes={array.nodes}"
    yield "ntasks-per-node=1"
    yield "exclusive"
    yield "mem=0"
    if array.needs.cpus:
        yield f"mincpus={array.needs.cpus}"
    yield from _gpus(array.needs, site)
    yield f"time={array.minutes}"
    yield f"signal=B:USR1@{WARNING_S}"
    yield "no-requeue"
    yield "export=NONE"
    if site.on_nodes:
        yield _assigned("chdir", site.on_nodes)
    yield _assigned("output", f"{site.on_nodes}/%x_%A_%a.log" if site.on_nodes else f"{job.run}/logs/%A_%a.log")
    for name in ("partition", "account", "constraint", "reservation"):
        if value := getattr(site, name):
            yield _assigned(name, value)
    further = dict(site.sbatch)
    if array.exclude:
        further["exclude"] = ",".join(filter(None, (further.get("exclude"), *array.exclude)))
    if array.nodelist:
        further["nodelist"] = ",".join(array.nodelist)
        if len(array.nodelist) == array.nodes:  # no node is left to choose
            further.pop("exclude", None)
    for name, value in further.items():
        yield _assigned(name, value) if value else name


def _assigned(name: str, value: str) -> str:
    return f'{name}="{value}"' if " " in value else f"{name}={value}"


def _gpus(needs: NodeNeeds, site: Site) -> Iterator[str]:
    if not needs.gpus or site.gpus is GpuRequest.NONE:
        return
    kind = dict(site.gpu_types).get(needs.gpu, "")
    count = f"{kind}:{needs.gpus}" if kind else str(needs.gpus)
    yield f"gres=gpu:{count}" if site.gpus is GpuRequest.GRES else f"gpus-per-node={count}"


def _step(nodes: int) -> Iterator[str]:
    """Yield the options of the one step of a job, with a task on each of its nodes."""
    yield from ("--export=ALL", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1")
    # A task may use every CPU of the job, and does not end with the task of another node.
    yield from ("--cpu-bind=none", "--kill-on-bad-exit=0", "--wait=0")
    if nodes > 1:
        yield "--label"


def _program(program: Program | None, command: tuple[str, ...]) -> str:
    """Return the lines that set the program and its first words as `$@`."""
    if program is None:
        return f"set -- {shlex.join(command)}\n"
    if program.path:
        return f"set -- {shlex.quote(program.path)}\n"
    return _INSTALL.format(
        python=shlex.quote(program.python),
        wheel=shlex.quote(program.wheel),
        folder=shlex.quote(str(Path(program.wheel).parent)),
        packages=f"--no-index --find-links {shlex.quote(program.find_links)} " if program.find_links else "",
    )


_WARN = 'scancel --signal=TERM "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"'
_INSTALL = """\
wheel={wheel}
hash=$(sha256sum "$wheel" | cut -c 1-16)
installed={folder}/.orchestrator-$hash
if [ ! -e "$installed" ]; then
    (
        # The lock saves work where it holds between nodes. What makes it safe is the rename, which one node wins.
        flock -w 900 9 || true
        [ ! -e "$installed" ] || exit 0
        new=$installed.$SLURM_JOB_ID
        {python} -m venv "$new" && "$new/bin/python" -m pip install --quiet {packages}"$wheel" &&
            {{ mv -T "$new" "$installed" 2>/dev/null || [ -e "$installed" ]; }}
    ) 9>"$installed.lock" || exit 3
fi
set -- "$installed/bin/python" -m orchestrator
"""
