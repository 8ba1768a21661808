"""The options of a run on a cluster, and the site that it is for."""

from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.clusters.record import PartSettings
from orchestrator.clusters.site import Executor, ImagesFrom, Site
from orchestrator.clusters.site.model import too_many_nodes
from orchestrator.errors import InputError
from orchestrator.workflows.host import places
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import MATRIX_HERE
from orchestrator.workflows.option_values import NO_SITE, RuntimeName
from orchestrator.workflows.run import RunOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions(RunOptions):
    """The options of `run` where a site says that parts of the run have nodes of their own."""

    site: str | None = None
    """The site file. By default `site.yaml` next to the matrix or in the user's configuration; `none` for none."""
    detach: bool = False
    """Return once everything is submitted."""
    replicate: int | None = None
    """Nodes that measure each part, in place of the site's number."""


def chosen_site(options: ClusterOptions, host: Host) -> Site | None:
    """Return the site of a new run, or None if it is measured here as a whole.

    Raises `InputError` with every mistake of the site file, and for options that it does not go with.
    """
    path = _site_file(options, host)
    if path is None:
        if options.detach or options.replicate is not None:
            raise InputError("--detach and --replicate are for a run on a cluster: name its site file with --site FILE")
        return None
    from orchestrator.clusters.site.loading import load  # noqa: PLC0415 -- a job on a node reads no site file

    site = load(path)
    if options.until_decided:
        raise InputError(
            f"--until-decided measures a run as a whole, and {path} splits it into parts: say --site none to measure "
            "on this host, or leave --until-decided out"
        )
    if options.plan is not None:
        raise InputError("--plan and --site exclude each other: a site takes a matrix, and its images from `images`")
    if (options.detach or options.replicate is not None) and site.executor is Executor.LOCAL:
        raise InputError(
            f"--detach and --replicate need a scheduler, and {path} says `executor: local`: leave them out"
        )
    _refuse_images(site, options, path)
    if options.replicate is None:
        return site
    if site.nodes_at_once is not None and options.replicate > site.nodes_at_once:
        raise InputError(f"--replicate {options.replicate}: {too_many_nodes(options.replicate, site.nodes_at_once)}")
    return replace(site, replicate=options.replicate)


def refuse_kubernetes(site: Site) -> None:
    """Raise `InputError` for a site whose Jobs are written and not submitted."""
    if site.executor is Executor.KUBERNETES:
        raise InputError("a site with `executor: kubernetes` is not submitted to: write its Jobs by `render k8s`")


def _refuse_images(site: Site, options: ClusterOptions, path: Path) -> None:
    """Raise `InputError` for options that contradict the way by which images come to nodes."""
    if options.images is not None:
        raise InputError(f"--images: {path} says how images come to nodes: write `images: {{pushed: FILE}}` there")
    if site.images.kind is not ImagesFrom.BUILD and options.runtime not in {RuntimeName.AUTO, RuntimeName.DOCKER}:
        raise InputError(f"--runtime {options.runtime} runs no images, and {path} has `images`: leave one of them out")


def _site_file(options: ClusterOptions, host: Host) -> Path | None:
    """Return the site file that is named or found, and say which one was found."""
    if options.site == NO_SITE:
        return None
    if options.site is not None:
        return Path(options.site)
    if options.plan is not None:
        return None
    path = places.site_file((options.file or MATRIX_HERE).parent, host.environment)
    if path is not None:
        host.say(f"site: {path}")
    return path


def part_settings(options: RunOptions) -> PartSettings:
    """Return the options that the parts of a run are measured with."""
    return PartSettings(
        runtime=options.runtime,
        jobs=options.jobs,
        fail_fast=options.fail_fast,
        retries=options.retries,
        extra_repeats=options.extra_repeats,
        idle_wait_s=options.idle_wait_s,
        prune_images=options.prune_images,
        exclusive=options.exclusive,
        base_image=options.base_image,
    )


def run_options(measure: PartSettings, results: Path, *, retry_failed: bool) -> RunOptions:
    """Return the options of `run` for a part."""
    return RunOptions(
        results=results,
        runtime=RuntimeName(measure.runtime),
        jobs=measure.jobs,
        fail_fast=measure.fail_fast,
        retries=measure.retries,
        retry_failed=retry_failed,
        extra_repeats=measure.extra_repeats,
        idle_wait_s=measure.idle_wait_s,
        prune_images=measure.prune_images,
        exclusive=measure.exclusive,
        base_image=measure.base_image,
    )
