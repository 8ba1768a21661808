"""The shape of `site.yaml`, from which its JSON Schema is made."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictInt, model_validator
from pydantic import WithJsonSchema as Schema

from orchestrator.clusters.site import options
from orchestrator.clusters.site.model import Executor, GpuRequest
from orchestrator.clusters.site.pods import KubernetesEntry
from orchestrator.errors import did_you_mean
from orchestrator.matrix.values.kinds import Axis, Seconds, Text, shown
from orchestrator.matrix.values.shapes import Shape, or_short

VERSION: Literal[1] = 1
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.,+-]{0,199}$"
CONSTRAINT = r"^[A-Za-z0-9_.&|\[\]()*,:-]{1,200}$"
VALUE = r"^[^\x00-\x1f\x7f-\x9f'\"\\#]{1,200}$"
LINE = r"^[^\x00-\x08\x0a-\x1f\x7f-\x9f]{1,2000}$"
PATH = r"^[^\x00-\x1f\x7f-\x9f'\"\\#]{1,4096}$"

Name = Annotated[Text, Field(pattern=NAME)]
Value = Annotated[Text, Field(pattern=VALUE)]
PathName = Annotated[Text, Field(pattern=PATH)]
"""A path that needs no quoting in an `#SBATCH` line."""
LEAST_LIMIT_S = 300
"""Of a time limit. The scheduler counts whole minutes, and a job stops some time before."""
Count = Annotated[StrictInt, Field(ge=1, le=10_000)]


def _sbatch_option(name: str) -> str:
    if name in options.ELSEWHERE:
        raise ValueError(
            f"sbatch's {name!r} submits to another cluster, which nothing else here asks; drop it, and run the command "
            "on a host of that cluster, or with the SLURM_CONF of that cluster"
        )
    if name in options.OF_TEMPLATE:
        raise ValueError(f"sbatch's {name!r} is set by this program, from its own keys and from the plan; drop it")
    if name not in options.KNOWN:
        raise ValueError(f"unknown option of sbatch {name!r}{did_you_mean(name, options.KNOWN)}")
    return name


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError(f"should be an absolute path, which is the same on every node, not {shown(path)}")
    return path


def _value(value: object) -> str:
    text = str(getattr(value, "text", value))
    if value is True:
        return ""
    if value is None or value is False or isinstance(value, list | dict) or not text:
        raise ValueError(f"{shown(value)} is no value of an option; write a word, or true for a switch")
    return text


SbatchOption = Annotated[str, AfterValidator(_sbatch_option), Schema({"enum": list(options.KNOWN)})]
SbatchValue = Annotated[
    str,
    BeforeValidator(_value),
    Field(pattern=rf"^$|{VALUE}"),
    Schema({"type": ["string", "integer", "number", "boolean"]}),
]


class TimeEntry(Shape):
    """The time limit of a job, from the estimate of its part."""

    margin: Annotated[float, Field(ge=1, le=1000, strict=False)] = Field(3.0, description="Factor on the estimate.")
    shortest: Seconds | None = Field(None, description="No job asks for less; left out: 10 minutes, or `longest`.")
    longest: Seconds | None = Field(
        None, description="No job asks for more, at least 5 minutes; `--resume` goes on after it."
    )

    @model_validator(mode="after")
    def _leaves_time_to_measure(self) -> Self:
        if self.longest is not None and self.longest < LEAST_LIMIT_S:
            raise ValueError("'longest' should be at least 5m: a job is asked to stop 90 s before its time limit")
        if self.longest is not None and self.shortest is not None and self.shortest > self.longest:
            raise ValueError("'shortest' is above 'longest'; lower one or raise the other")
        return self


class ImagesEntry(Shape):
    """The way by which images come to a node."""

    model_config = ConfigDict(json_schema_extra=or_short("The node builds them.", ["build"]))

    pushed: PathName | None = Field(
        None, description="File that `push -o` wrote: each node pulls what it lacks from that registry, by digest."
    )
    bundle: PathName | None = Field(
        None, description="Bundle that `export` wrote, a folder or a tar, which every node sees."
    )

    @model_validator(mode="before")
    @classmethod
    def _of_word(cls, value: Any) -> Any:
        if isinstance(value, str):
            if value != "build":
                raise ValueError(f"should be build, or a mapping with pushed or bundle, not {shown(value)}")
            return {}
        return value

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if self.pushed is not None and self.bundle is not None:
            raise ValueError("has pushed and bundle; keep one")
        return self


class ResultsEntry(Shape):
    """The places of results."""

    model_config = ConfigDict(json_schema_extra=or_short("The results folder.", ["/shared/results"]))

    folder: PathName | None = Field(None, description="Results folder. Every node sees it, unless on_nodes is there.")
    on_nodes: Annotated[PathName, AfterValidator(_absolute), Schema({"pattern": "^/", "type": "string"})] | None = (
        Field(
            None,
            description="Folder of each node by itself, for results that come back in files: nothing is shared then.",
        )
    )

    @model_validator(mode="before")
    @classmethod
    def _of_word(cls, value: Any) -> Any:
        return {"folder": value} if isinstance(value, str) else value


class ProgramEntry(Shape):
    """The orchestrator of a node."""

    model_config = ConfigDict(
        json_schema_extra=or_short("Path of an installed one.", ["/shared/bench/bin/orchestrator"])
    )

    path: PathName | None = Field(None, description="Path of an installed one, which every node sees.")
    wheel: PathName | None = Field(None, description="Wheel in a shared folder; the first node installs it for all.")
    find_links: PathName | None = Field(None, description="Folder with the wheels that it needs, for nodes offline.")
    python: PathName | None = Field(None, description="Python of the node that it is installed for; left out: python3.")

    @model_validator(mode="before")
    @classmethod
    def _of_word(cls, value: Any) -> Any:
        return {"path": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.path is None) == (self.wheel is None):
            raise ValueError("needs a path or a wheel, one of the two")
        if self.path is not None and (self.find_links or self.python):
            raise ValueError("find_links and python go with a wheel; drop them")
        return self


class SiteFile(Shape):
    """The cluster that runs are spread over. A matrix never names it."""

    version: Literal[1] = Field(description="Of this format.")
    executor: Executor = Field(description="slurm, local (the parts one after the other on this host), or kubernetes.")
    partition: Name | None = Field(None, description="Partition of the jobs; left out: the cluster's default.")
    account: Name | None = Field(None, description="Account that jobs are charged to.")
    constraint: Annotated[Text, Field(pattern=CONSTRAINT)] | None = Field(
        None, description="Features of the nodes, so that all are of one kind."
    )
    reservation: Name | None = Field(None, description="Reservation that jobs run in.")
    nodes_at_once: Count | None = Field(None, description="Most nodes of a run at a time; left out: no bound.")
    replicate: Count = Field(1, description="Nodes that measure each part.")
    time: TimeEntry = Field(TimeEntry(), description="Time limit of a job.")
    sbatch: dict[SbatchOption, SbatchValue] = Field({}, description="Further options of sbatch, without their dashes.")
    setup: Axis[Annotated[Text, Field(pattern=LINE)]] | None = Field(
        None, description="Lines of shell that run on the node before the program."
    )
    images: ImagesEntry = Field(ImagesEntry(), description="How images come to a node; left out: it builds them.")
    results: ResultsEntry = Field(ResultsEntry(), description="Where results go; left out: the folder of --results.")
    program: ProgramEntry | None = Field(
        None, description="The orchestrator of a node; left out: the one that submits, at the same path."
    )
    gpus: GpuRequest = Field(GpuRequest.GRES, description="Option that asks for GPUs; none: nothing is asked for.")
    gpu_types: dict[Annotated[Text, Field(min_length=1, max_length=128)], Name] = Field(
        {}, description="The scheduler's name of GPUs, by the `gpu` or the `mig` of a system: {'*H100*': h100}."
    )
    kubernetes: KubernetesEntry | None = Field(None, description="The pods of a site with Kubernetes.")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of `site.yaml` (draft 2020-12), for editors."""
    body = SiteFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, "title": "Site of a run"}
