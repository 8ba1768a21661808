"""Cells in containers, with one image per environment and one fresh container per repeat.

The images of a bundle are looked up by content and never built.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import docker

from orchestrator import processes
from orchestrator.build_settings import BuildSettings
from orchestrator.devices import gpus
from orchestrator.devices.job_bounds import JobBounds, given_gpus
from orchestrator.domain import ImageSpec, Status
from orchestrator.engine import abilities, confinement, containers, gpu_probe, ownership
from orchestrator.engine import images as engine
from orchestrator.engine.client import needed_for
from orchestrator.engine.confinement import Limits
from orchestrator.engine.containers import ContainerSpec, EngineLostError
from orchestrator.engine.gpu_access import GpuAccess
from orchestrator.engine.images import BuildError, facts
from orchestrator.engine.ownership import Owner
from orchestrator.engine.questions import ask
from orchestrator.errors import HostError
from orchestrator.events import BuildFinished, Listener, Notice, ignore
from orchestrator.images import base_problems, labels
from orchestrator.images.build import build, missing, present, recipes
from orchestrator.images.making import BuildFailure, Built, cached, verified
from orchestrator.processes import StartError, Stop, Watch
from orchestrator.runtimes import compile_caches, memory_kills
from orchestrator.runtimes.model import STOPPED, Ended, Provided, Ready, Task, Unavailable
from orchestrator.runtimes.variables import in_container

ENGINE_PATIENCE_S = 120.0
"""Seconds within which an engine that went away may come back, as after an upgrade of its package."""


class DockerRuntime:
    """The `docker` runtime on one engine. Containers run as `user` (`uid:gid`) and carry `owner`."""

    name = "docker"
    pins_cpus = True
    mounts = True

    def __init__(  # noqa: PLR0913 - what is fixed for every container, by name
        self, client: docker.DockerClient, settings: BuildSettings, *, user: str, owner: Owner,
        limits: Limits | None = None, cache: Path | None = None, bounds: JobBounds | None = None,
    ) -> None:  # fmt: skip
        self._client = client
        self._bounds = bounds
        self._cgroup_parent = confinement.cgroup_parent(client, bounds.cgroup) if bounds and bounds.cgroup else ""
        self._confined = Limits(seccomp=confinement.shipped_profile()) if limits is None else limits
        self._settings = settings
        self._user = user
        self._owner = owner
        self._cache = cache
        self._gpu_access = GpuAccess.DEVICE_REQUESTS

    @staticmethod
    def seen(folder: Path, place: str) -> str:
        """Return the place at which a folder is mounted."""
        del folder
        return place

    @needed_for("making images")
    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Build the missing images, `jobs` at once. Raises `HostError` where the engine goes away."""
        built = build(images, self._settings, self._client, jobs=jobs, logs=logs, listener=listener, stop=stop)
        return self._known(images, built, jobs, stop)

    def _require_gpus(self, images: Sequence[ImageSpec], built: Mapping[str, Built | BuildFailure]) -> None:
        """Find the way in which the engine gives its containers GPUs, if an image is for one.

        Raises `HostError` if there is none.
        """
        results = [built[image.name] for image in images if image.image_class != "cpu" and image.name in built]
        image = next((result.image_id for result in results if isinstance(result, Built)), None)
        if image is None:
            return
        given = given_gpus(gpus.look().gpus, self._bounds)  # the others may be another job's
        access = gpu_probe.working(self._client, image, [gpu.uuid for gpu in given])
        if not isinstance(access, GpuAccess):
            remedy = f"{access.remedy}, or select the CPU systems alone"
            raise HostError(f"this engine gives containers no GPUs: {access.reason}; {remedy}")
        self._gpu_access = access

    def _known(
        self, images: Sequence[ImageSpec], built: Mapping[str, Built | BuildFailure], jobs: int, stop: Stop
    ) -> Provided:
        """Ask every image that was there already what it holds."""
        self._require_gpus(images, built)
        specs = {image.name: image for image in images}
        with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
            known = pool.map(lambda result: self._asked(specs[result.image], result, stop), built.values())
            provided = {result.image: self._provided(result) for result in known}
        return {name: self._with_cache(specs[name], each) for name, each in provided.items()}

    def _with_cache(self, spec: ImageSpec, ready: Ready | Unavailable) -> Ready | Unavailable:
        """Add the folder for what the framework compiles."""
        if self._cache is None or isinstance(ready, Unavailable):
            return ready
        return replace(ready, compile_cache=compile_caches.of(spec, ready, self._cache))

    def _asked(self, spec: ImageSpec, built: Built | BuildFailure, stop: Stop) -> Built | BuildFailure:
        """Ask an image that existed before what it holds. A wrong answer shows when it is launched."""
        if isinstance(built, BuildFailure) or built.versions or stop.is_set():
            return built
        try:
            return replace(built, versions=verified(spec, ask(self._client, built.image_id, ["--versions"])))
        except BuildError:
            return built

    def _provided(self, built: Built | BuildFailure) -> Ready | Unavailable:
        known = facts(self._client, built.image_id) if isinstance(built, Built) else None
        provided = _provided(built, known.size_bytes if known else None)
        seccomp = self._confined.seccomp.name if self._confined.seccomp else None
        return replace(provided, seccomp=seccomp) if isinstance(provided, Ready) else provided

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        """Run one task in a container of its own, which is gone afterwards."""
        try:
            return self._launch(task, stop, watch)
        except EngineLostError as error:
            self._recover(error, stop)
            raise

    def _launch(self, task: Task, stop: Stop, watch: Watch) -> Ended:
        spec = ContainerSpec(
            image=task.ready.handle,
            folder=task.folder,
            user=self._user,
            environment=(*in_container(task.system, task.allocation).items(), *task.variables),
            # Labels of the image are inherited: without its own kind, a container would pass for an image.
            labels=((labels.KIND, "container"), *task.labels, (ownership.LABEL, str(self._owner))),
            cpus=task.allocation.cpus if self._bounds else task.allocation.confined_to(task.system),
            shown=task.shown,
            kept=task.ready.compile_cache,
            gpus=tuple(gpu.uuid for gpu in task.allocation.gpus),
            gpu_access=self._gpu_access,
            limits=self._limits(task),
        )
        kills = memory_kills.counted()
        with containers.container(self._client, spec, task.log) as container:
            task.started(container.identity)
            container.start()
            end = container.wait(task.timeout_s, stop, watch)
        code = end.exit_code
        return Ended(
            cause=end.cause,
            exit_code=code,
            wall_s=end.wall_s,
            create_s=end.create_s,
            signal=_signal(code),
            # The engine may learn of the kill after the end, and Podman never does; the kernel has counted it by then.
            oom_killed=end.oom_killed or memory_kills.was_one(_signal(code), kills),
            image_id=end.image_id,
            log_omitted_bytes=container.log_omitted_bytes,
        )

    def _limits(self, task: Task) -> Limits:
        """Return the limits of a container, which the engine starts outside the job that this process may be in."""
        own = task.system.memory_bytes or task.allocation.memory_bytes
        bound = self._bounds.memory_bytes if self._bounds else None
        memory = min(filter(None, (own, bound)), default=None)
        return replace(self._confined, memory_bytes=memory, cgroup_parent=self._cgroup_parent)

    def _recover(self, lost: EngineLostError, stop: Stop) -> None:
        """Wait until the engine is back, and remove what it still has of the container that was lost with it.

        Raises `HostError` where it does not come back, or is not waited for because all must stop.
        """
        deadline = time.monotonic() + ENGINE_PATIENCE_S
        while not containers.answers(self._client):
            if stop.is_set() or time.monotonic() > deadline:
                raise HostError(f"{lost}; start the engine again") from lost
            time.sleep(processes.TICK_S)
        if lost.identity:
            containers.remove(self._client, lost.identity)


def limits_of(client: docker.DockerClient, listener: Listener = ignore) -> Limits:
    """Return the limits of containers on an engine, and notify the listener if it cannot filter system calls.

    Raises `HostError` with the remedy if the engine would ignore limits.
    """
    able = abilities.read(client)
    if problem := abilities.limits_problem(able):
        raise HostError(problem)
    if not able.has_seccomp:
        listener(Notice("this engine cannot filter system calls (seccomp): containers are confined without a profile"))
    return confinement.limits_on(able)


def remove_leftovers(client: docker.DockerClient, owner: Owner, listener: Listener = ignore) -> int:
    """Remove the containers of orchestrators that are dead, tell how many there were, and return that.

    Those of a live one stay. Where the owner cannot be seen (another machine on the same engine, another process
    namespace, or this machine before it was restarted), what still runs stays.
    """
    removed = 0
    for container in containers.labelled(client, ownership.LABEL):
        theirs = ownership.parse(container.labels.get(ownership.LABEL, ""))
        dead = theirs is None or ownership.is_dead(theirs, owner)
        if dead or (dead is None and not container.running):
            try:
                containers.remove(client, container.identity)
                removed += 1
            except StartError:
                continue  # the next run tries again
    for name, label in confinement.labelled_volumes(client, ownership.LABEL):
        theirs = ownership.parse(label)
        if theirs is None or ownership.is_dead(theirs, owner) is not False:
            confinement.remove_volume(client, name)  # the engine keeps one that a container still uses
    if removed:
        listener(Notice(f"removed {removed} container{'s' if removed > 1 else ''} of an orchestrator that was killed"))
    return removed


def image_problems(
    client: docker.DockerClient, images: Sequence[ImageSpec], settings: BuildSettings
) -> tuple[str, ...]:
    """Name every base image that is nowhere to be had and that an image needs which is not built yet."""
    wanted = recipes(images, settings)
    return base_problems(client, missing(wanted, present(client, wanted)))


def _signal(exit_code: int | None) -> int | None:
    """Return the signal of an exit code, which is 128 plus its number by convention."""
    return exit_code - 128 if exit_code is not None and 128 < exit_code < 193 else None


def _provided(built: Built | BuildFailure, size_bytes: int | None = None) -> Ready | Unavailable:
    if isinstance(built, Built):
        base = built.base_digest or None
        return Ready(built.image, built.reference, built.versions, built.image_id, base, size_bytes=size_bytes)
    status = Status.NOT_RUN if built.reason == STOPPED else Status.BUILD_FAILED
    return Unavailable(built.image, status, built.reason, built.log)


@dataclass(frozen=True, slots=True)
class BundledImage:
    """An image that a plan was carried with."""

    name: str
    """`ImageSpec.name`."""
    reference: str
    """Its content tag."""
    image_id: str
    """As the engine knows it: the digest of its configuration (or, with containerd's image store, of its manifest),
    which names all that is in it."""


def not_on_engine(client: docker.DockerClient, images: Iterable[BundledImage]) -> tuple[BundledImage, ...]:
    """Return the images that the engine lacks."""
    return tuple(image for image in images if engine.facts(client, image.image_id) is None)


class BundledRuntime(DockerRuntime):
    """The `docker` runtime with a bundle's images. No base, index or registry is used."""

    def __init__(  # noqa: PLR0913 - what every runtime of containers is given, and the images
        self, client: docker.DockerClient, images: Sequence[BundledImage], remedy: str, *, user: str, owner: Owner,
        limits: Limits | None = None, cache: Path | None = None, bounds: JobBounds | None = None,
    ) -> None:  # fmt: skip
        super().__init__(client, BuildSettings(), user=user, owner=owner, limits=limits, cache=cache, bounds=bounds)
        self._images = {image.name: image for image in images}
        self._remedy = remedy

    @needed_for("looking up images")
    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Look up the images. Raises `HostError` with the names of those that are missing."""
        del logs
        bundled = [self._images[image.name] for image in images]
        there = {image.name: engine.facts(self._client, image.image_id) for image in bundled}
        missing = [image for image in bundled if there[image.name] is None]
        if missing:
            raise HostError(missing_images_text(missing, self._remedy))
        built = {name: cached(name, facts.image_id, facts.image_id, facts) for name, facts in there.items() if facts}
        for name in built:
            listener(BuildFinished(name, 0.0, cached=True))
        return self._known(images, built, jobs, stop)


def missing_images_text(missing: Sequence[BundledImage], remedy: str) -> str:
    """Return a line for each image that is not on the engine."""
    return "\n".join(f"image {image.name} ({image.reference}) is not on this engine; {remedy}" for image in missing)
