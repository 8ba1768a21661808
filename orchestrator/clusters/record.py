"""The files of a run on a cluster: `cluster.json`, `part.json` and `jobs.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from orchestrator.clusters.images import FrozenImages
from orchestrator.clusters.parts import Part
from orchestrator.clusters.site.model import Site
from orchestrator.clusters.states import JobState
from orchestrator.domain import Plan
from orchestrator.errors import InputError, first_problem
from orchestrator.files import read_record
from orchestrator.results.contract import Strict
from orchestrator.results.records import plan_from_json

PART = "part.json"
JOBS = "jobs.json"
SCHEMA: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSettings:
    """The options of `run` that its parts are measured with, wherever that is."""

    runtime: str
    jobs: int
    fail_fast: bool
    retries: int
    extra_repeats: int
    idle_wait_s: float
    prune_images: bool
    exclusive: bool
    base_image: str | None = None


class ClusterRecord(Strict):
    """`cluster.json`: the plan of a run, its parts and its site, frozen when it began."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    run: str
    created_at: str
    orchestrator_version: str
    site: Site
    options: PartSettings
    parts: tuple[Part, ...]
    plan: dict[str, Any]

    @property
    def is_fleet_check(self) -> bool:
        """Return true if every part is a round of the same cells on a node of its own."""
        return any(part.node for part in self.parts)

    def sentence_of(self, end: "JobEnd") -> str:
        """Return the end of a job in a sentence, which says where its results are if each node has its own."""
        return end.on_node(self.site.on_node(self.run)) if self.site.on_nodes else str(end)

    def unmeasured_reason(self, part: str, jobs: "JobsRecord") -> str:
        """Return the reason that a part may lack outcomes, in a sentence, or nothing if there is none."""
        if part in jobs.refusals:
            return jobs.refusals[part]
        return self.sentence_of(jobs.ends[part]) if part in jobs.ends else ""


class PartRecord(Strict):
    """`part.json`: all that a node needs to measure a part, with the files of its run."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    run: str
    part: str
    replicate: int
    """The number of nodes that measure it."""
    images: FrozenImages
    options: PartSettings
    plan: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Submission:
    """An array that was submitted, or that was about to be."""

    name: str
    """Of its batch script. It is written down before the scheduler is asked, so that no array is lost with its
    submitter."""
    parts: tuple[str, ...]
    """By their index in the array."""
    array: int | None = None
    """Its id; None until the scheduler has told it."""
    nodes: int = 1
    """Nodes of each job. Each of them measures the part."""


@dataclass(frozen=True, slots=True)
class JobEnd:
    """The end of the last job of a part, as the scheduler told it."""

    job: str
    state: JobState
    node: str = ""
    detail: str = ""

    def on_node(self, folder: str) -> str:
        """Return the end in a sentence, where each node by itself has results in a folder that this host lacks."""
        place = f"{folder} on {self.node or 'its node'}"
        if self.state is JobState.COMPLETED:
            return f"job {self.job} has measured it: bring its file from {place}, and merge it"
        if self.state is JobState.FORGOTTEN:
            return (
                f"the scheduler no longer knows job {self.job}, which may have measured it: look for its file in "
                f"{place}, and merge it"
            )
        return str(self)

    def __str__(self) -> str:
        """Return the end in a sentence, such as `the scheduler ended job 12_3 on node7: TIMEOUT`."""
        where = f" on {self.node}" if self.node else ""
        if self.state is JobState.FORGOTTEN:
            return f"the scheduler no longer knows job {self.job}{where}, which left no outcome"
        if self.state in {JobState.COMPLETED, JobState.FAILED}:
            detail = f" ({self.detail})" if self.detail else ""
            return f"job {self.job}{where} ended without an outcome: {self.state}{detail}"
        return f"the scheduler ended job {self.job}{where}: {self.state}"


class JobsRecord(Strict):
    """`jobs.json`: what was submitted, and how the last job of each part ended."""

    schema_: Literal[1] = Field(SCHEMA, alias="schema")
    job_name: str = ""
    """The name of all its jobs. Empty in an older record, where each array has the name of its submission."""
    submissions: tuple[Submission, ...] = ()
    ends: Mapping[str, JobEnd] = {}
    refusals: Mapping[str, str] = {}
    """Parts that the scheduler can never take as they are, each with its word."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names by which the scheduler is asked for every job of the run."""
        return (self.job_name,) if self.job_name else tuple(each.name for each in self.submissions)

    def part_of(self, array: int, index: int) -> str | None:
        """Return the part that a task of an array measures, or None for an array of somebody else."""
        parts = next((each.parts for each in self.submissions if each.array == array), ())
        return parts[index] if index < len(parts) else None

    def nodes_of(self, job: str) -> int:
        """Return the number of nodes that a job such as `12_3` has."""
        return next((each.nodes for each in self.submissions if f"{each.array}" == job.partition("_")[0]), 1)


_Document = TypeVar("_Document", ClusterRecord, PartRecord, JobsRecord)


def read_cluster(path: Path) -> ClusterRecord:
    """Read a `cluster.json`. Raises `InputError` if it is missing, broken or newer than this program."""
    return _read(path, ClusterRecord, "a run on a cluster")


def read_part(path: Path) -> PartRecord:
    """Read a `part.json`. Raises as `read_cluster` does."""
    return _read(path, PartRecord, "a part of a run")


def read_jobs(path: Path) -> JobsRecord:
    """Read a `jobs.json`, empty if nothing was submitted yet. Raises as `read_cluster` does."""
    return _read(path, JobsRecord, "a record of jobs") if path.exists() else JobsRecord()


def plan_of(record: ClusterRecord | PartRecord) -> Plan:
    """Return the plan of a record. Raises `InputError` if it is none."""
    return plan_from_json(record.plan)


def record_schema(kind: type[Strict]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a record."""
    schema = TypeAdapter(kind).json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _read(path: Path, kind: type[_Document], called: str) -> _Document:
    try:
        document = json.loads(read_record(path))
        schema = document.get("schema", 0)
        if schema > SCHEMA:
            raise InputError(f"{path}: schema {schema} is newer than this orchestrator reads ({SCHEMA}): upgrade it")
        return kind.model_validate(document)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file, so this is not {called}") from None
    except ValidationError as error:
        raise InputError(f"{path}: not {called}: {first_problem(error)}") from error
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: not {called}: {str(error).splitlines()[0]}") from error
