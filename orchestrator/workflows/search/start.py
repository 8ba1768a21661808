"""From the command line, or from a record, to a search that is to be carried out."""

import hashlib
import json
import platform
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from orchestrator import matrix
from orchestrator.domain import BuildSettings
from orchestrator.errors import HostError, InputError
from orchestrator.regression.judge.single_steps import blocks_needed, too_few_blocks
from orchestrator.regression.metrics import BY_NAME, Gate, parse_gates
from orchestrator.regression.pairing import PlanInputs
from orchestrator.regression.releases.package_index import offered_releases
from orchestrator.regression.search import record as search_record
from orchestrator.regression.search.candidates import (
    ReleaseFilter,
    SearchSubject,
    between,
    own_releases,
    reasons,
    search_subject,
)
from orchestrator.regression.search.record import RECORD_FILE, Asked, Bisection, LeftOut
from orchestrator.regression.sides import Side
from orchestrator.results.locks import locked_folder
from orchestrator.results.store import runs
from orchestrator.running import new_run_name
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import matrix_file
from orchestrator.workflows.inputs.site import site_settings
from orchestrator.workflows.measure import jobs, pairs
from orchestrator.workflows.measure.runtime import RuntimeName
from orchestrator.workflows.search.probes import Ground

PREFIX = "bisect-"


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked on the command line."""

    good: str
    bad: str
    cell: str
    metric: str
    every: bool
    looks: tuple[int, ...]
    prereleases: bool
    yanked: bool
    file: Path | None
    runtime: RuntimeName


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A search with all that it is carried out with."""

    record: Bisection
    folder: Path
    searched: SearchSubject
    ground: Ground
    anew: frozenset[tuple[str, str]] = frozenset()
    """Baseline and candidate, as `Side.text` writes them, that are to be tried again, in a new run."""


def new(asked: Question, site: pairs.Site, results: Path) -> PreparedSearch:
    """Find the releases between, and name the search; nothing is written yet. Raises `InputError` and `HostError`."""
    sides = pairs.side(asked.good, "--good"), pairs.side(asked.bad, "--bad")
    found, known = pairs.loaded(asked.file, site)
    gate = _gate(asked.metric, found, asked.looks[-1])
    what = _searched(sides, known)
    own = _own_releases(found, what, known)
    ground = Ground(found, known, site, asked.cell)
    pairing = ground.pairing(*sides)
    python = _python(pairing.plan.cells[0].framework.python, pairing.plan.cells[-1].framework.python)
    good = replace(sides[0], python=python)
    pair = ground.pairing(good, replace(sides[1], python=python)).pairs[0]

    def refused(side: Side) -> str:
        return ground.refused(good, replace(side, python=python))

    releases, left_out = (own, ()) if own is not None else _published(asked, what, ground, refused)
    began = datetime.now(UTC)
    others = [path.parent.name.removeprefix(PREFIX) for path in results.glob(f"{PREFIX}*/{RECORD_FILE}")]
    record = Bisection(
        name=PREFIX + new_run_name(began, secrets.token_hex(2), others),
        created_at=began.isoformat(timespec="seconds"),
        host=platform.node(),
        asked=Asked(
            good=sides[0].text,
            bad=sides[1].text,
            python=python,
            cell=asked.cell,
            pair=pair.id,
            metric=gate,
            every=asked.every,
            looks=asked.looks,
            prereleases=asked.prereleases,
            yanked=asked.yanked,
            matrix=str(matrix_file(asked.file, site.host).absolute()),
            matrix_sha256=_sha256(found),
            models=str(site.models.absolute()) if site.models else None,
            data=str(site.data.absolute()) if site.data else None,
            base_image=site.base_image,
            no_parity=site.no_parity,
            limit=site.limit,
            runtime=asked.runtime.value,
        ),
        searched=what.distribution,
        releases=releases,
        left_out=left_out,
    )
    return PreparedSearch(record, results / record.name, what, ground)


def resumed(results: Path, name: str, host: Host, *, retry_failed: bool) -> PreparedSearch:
    """Take a search up again; raises `InputError` where it is none, or its matrix or host is another one now.

    What could not be tested for the host or its index is asked again, also where the search has come to its end; with
    `retry_failed` so is all that could not be tested.
    """
    folder = results / (_latest(results) if name == "latest" else name)
    stored = search_record.read(folder)
    record = search_record.forgetful(stored, failed=retry_failed)
    anew = frozenset((probe.baseline, probe.candidate) for probe in stored.probes if probe not in record.probes)
    asked = record.asked
    models, data = (Path(text) if text else None for text in (asked.models, asked.data))
    site = pairs.Site(host, asked.base_image, models, data, asked.no_parity, asked.limit)
    found, known = pairs.loaded(Path(asked.matrix), site)
    if _sha256(found) != asked.matrix_sha256:
        raise InputError(
            f"{asked.matrix}: has changed since {record.name} began, and a search is of one matrix: bring back what it "
            "was, or begin anew"
        )
    for run in runs(folder)[:1]:  # refuses another host, on which there is nothing to go on with
        jobs.resumed(folder, run.name, RuntimeName.AUTO, asked.base_image, host)
    what = _searched((pairs.side(asked.good, "--good"), pairs.side(asked.bad, "--bad")), known)
    return PreparedSearch(record, folder, what, Ground(found, known, site, asked.cell), anew)


def alone(folder: Path) -> AbstractContextManager[None]:
    """Keep a second search out of a folder."""
    return locked_folder(
        folder, HostError(f"{folder}: this search is under way already; this one ends"), "choose other --results"
    )


def _searched(sides: tuple[Side, Side], known: PlanInputs) -> SearchSubject:
    name = sides[0].name
    return search_subject(*sides, _package(name, known).partition("[")[0] or name)


def _package(framework: str, known: PlanInputs) -> str:
    """What the catalog installs for a framework; empty where that is nothing."""
    entry = known.catalog.entry(framework)
    assert entry is not None, "checked when it was read"  # noqa: S101 -- for the type alone
    return entry.packages[framework]


def _own_releases(found: matrix.Matrix, what: SearchSubject, known: PlanInputs) -> tuple[str, ...] | None:
    """As `own_releases`; raises `InputError` too where there are none and no index has any."""
    own, name = own_releases(found, what), what.good.name
    if own is None and not what.is_package and not _package(name, known):
        raise InputError(
            f"--good {what.good.text}: {name!r} has no package on any index; name a package to search in it, "
            f"such as --good {what.good.text},numpy==1.16.6 --bad {what.good.text},numpy==1.19.5, or give good and bad "
            "an image or dockerfile each in the matrix"
        )
    return own


def _gate(text: str, found: matrix.Matrix, most_blocks: int) -> Gate:
    *_, gate = parse_gates([text], "--metric", [model.name for model in found.models])
    if BY_NAME[gate.metric].is_exact:
        raise InputError(
            f"--metric {text!r}: is known exactly from one repeat, so there is nothing to search by blocks; "
            "`orchestrator regress` compares it between two releases"
        )
    if reason := too_few_blocks(gate.metric, most_blocks):
        raise InputError(f"--metric {text!r}: {reason}: give --max-blocks {blocks_needed(gate.metric)} or more")
    return gate


def _python(one: str, other: str) -> str:
    if one != other:
        raise InputError(f"no Python runs both ends: Python {one} against {other}; what differs may come of that")
    return one


def _published(
    asked: Question, what: SearchSubject, ground: Ground, refused: Callable[[Side], str]
) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    settings = site_settings(ground.matrix.build, ground.site.base_image, ground.site.host.environment)
    published = offered_releases(what.distribution, _asked_of(what, ground.known, settings))
    if not published.releases:
        raise HostError("\n".join(published.problems))
    for problem in published.problems:
        ground.site.host.say(f"warning: {problem}")
    found, left_out = between(what, published.releases, ReleaseFilter(asked.prereleases, asked.yanked, refused))
    for line in reasons(left_out):
        ground.site.host.say(line)
    return found, left_out


def _asked_of(what: SearchSubject, known: PlanInputs, settings: BuildSettings) -> BuildSettings:
    """Where the distribution comes from: the framework's own index too, where the catalog names one."""
    entry = known.catalog.entry(what.good.name)
    own = next((release.cpu_index for release in entry.releases if release.cpu_index), None) if entry else None
    if own is None or what.is_package or settings.no_index:
        return settings
    return replace(settings, extra_indexes=(*settings.extra_indexes, own))


def _sha256(found: matrix.Matrix) -> str:
    return hashlib.sha256(json.dumps(matrix.long_form(found), sort_keys=True, default=str).encode()).hexdigest()


def _latest(results: Path) -> str:
    found = sorted(path.parent.name for path in results.glob(f"{PREFIX}*/{RECORD_FILE}"))
    if not found:
        raise InputError(f"{results}: no search here; --results DIR looks elsewhere")
    return found[-1]
