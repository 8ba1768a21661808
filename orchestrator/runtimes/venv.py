"""Cells in virtual environments of this host, with the packages an image would hold."""

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec, Status
from orchestrator.events import BuildFinished, BuildStarted, Event, Listener
from orchestrator.processes import Stop, Watch
from orchestrator.runtimes import compile_caches, environments, local
from orchestrator.runtimes.environments import MakingError, MakingStoppedError, Workshop
from orchestrator.runtimes.model import STOPPED, Ended, Provided, Ready, Task, Unavailable
from orchestrator.runtimes.names import log_name, only_in_containers
from orchestrator.runtimes.variables import LIBRARY_PATH, library_path


class VenvRuntime:
    """The `venv` runtime. Environments stay in `cache` for the next run.

    Raises `HostError` where `cache` cannot be written.
    """

    name = "venv"
    pins_cpus = False
    mounts = False

    def __init__(
        self, cache: Path, settings: BuildSettings, host: Mapping[str, str], own: Path = Path(sys.executable)
    ) -> None:
        environments.environments_folder(cache)  # before a run is begun that could not keep what it makes
        self._workshop = Workshop(cache, settings, host)
        self._own = own
        self._variables = local.library_variables(host)

    @staticmethod
    def seen(folder: Path, place: str) -> str:
        """Return the folder itself, as a process of this host sees it."""
        del place
        return str(folder)

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Make the missing environments, `jobs` at once."""
        logs.mkdir(parents=True, exist_ok=True)
        lock = threading.Lock()

        def tell(event: Event) -> None:
            with lock:
                listener(event)

        with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
            done = pool.map(lambda image: self._provide(image, logs / log_name(image.name), tell, stop), images)
            return {provided.image: provided for provided in done}

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        """Run one task with the interpreter of its environment."""
        return local.launch(Path(task.ready.handle), task, stop=stop, watch=watch, variables=self._variables)

    def _provide(self, image: ImageSpec, log: Path, listener: Listener, stop: Stop) -> Ready | Unavailable:
        if stop.is_set():
            return Unavailable(image.name, Status.NOT_RUN, STOPPED)
        own_image = only_in_containers(image)
        if own_image:
            return Unavailable(image.name, Status.UNSUPPORTED, own_image)
        workshop, python = self._workshop, image.environment.python
        interpreter = local.find_interpreter(python, workshop.host, self._own, log.parent)
        if interpreter is None:
            why = (
                f"no Python {python} on this host (PATH, pyenv and uv were asked); install it, or use --runtime docker"
            )
            return Unavailable(image.name, Status.UNSUPPORTED, why)
        began = time.perf_counter()
        listener(BuildStarted(image.name, str(log)))
        try:
            made = environments.provide(image, interpreter, workshop, log, stop)
        except MakingStoppedError:
            ended = Unavailable(image.name, Status.NOT_RUN, STOPPED, log)
        except MakingError as error:
            ended = Unavailable(image.name, Status.BUILD_FAILED, str(error), log)
        else:
            listener(BuildFinished(image.name, time.perf_counter() - began, cached=made.cached))
            libraries = library_path(image.environment, made.python, self._variables.get(LIBRARY_PATH))
            variables = (*libraries.items(), *image.environment.variables)
            ready = Ready(image.name, str(made.python), made.versions, variables=variables)
            return replace(ready, compile_cache=compile_caches.of(image, ready, workshop.cache))
        stopped = ended.status is Status.NOT_RUN
        listener(BuildFinished(image.name, time.perf_counter() - began, reason=ended.reason, stopped=stopped))
        return ended
