"""Cells in the interpreter at hand, with the packages installed in it."""

import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.domain import ImageSpec, Status
from orchestrator.events import Listener
from orchestrator.processes import Stop, Watch
from orchestrator.runtimes import local
from orchestrator.runtimes.local import AskingError
from orchestrator.runtimes.model import STOPPED, Ended, Provided, Ready, Task, Unavailable
from orchestrator.runtimes.names import only_in_containers


class HostRuntime:
    """The `host` runtime, on one interpreter."""

    name = "host"
    pins_cpus = False
    mounts = False

    def __init__(self, host: Mapping[str, str], python: Path = Path(sys.executable)) -> None:
        self._python = python
        # The home folder of what is launched is empty: what the user installed for themselves is found all the same.
        self._variables = {"PYTHONUSERBASE": site.getuserbase()} | local.library_variables(host)

    @staticmethod
    def seen(folder: Path, place: str) -> str:
        """Return the folder itself, as a process of this host sees it."""
        del place
        return str(folder)

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Ask the interpreter once what it holds, and compare."""
        del jobs, logs, listener
        try:
            installed = local.ask(self._python, self._variables)
        except AskingError as error:
            if stop.is_set():  # what ends a job of a scheduler ends the interpreter too
                return {image.name: Unavailable(image.name, Status.NOT_RUN, STOPPED) for image in images}
            return {image.name: Unavailable(image.name, Status.IMPORT_FAILED, str(error)) for image in images}
        return {image.name: fit(image, installed, self._python) for image in images}

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        """Run one task with the interpreter at hand."""
        return local.launch(Path(task.ready.handle), task, stop=stop, watch=watch, variables=self._variables)


def fit(image: ImageSpec, installed: local.InstalledPackages, python: Path) -> Ready | Unavailable:
    """Return the interpreter as an environment if it has the Python and the versions of an image."""
    own_image = only_in_containers(image)
    if own_image:
        return Unavailable(image.name, Status.UNSUPPORTED, own_image)
    wanted = image.environment.python
    if installed.python.split(".")[:2] != wanted.split(".")[:2]:
        why = f"needs Python {wanted}; {python} is {installed.python}: use --runtime venv or docker"
        return Unavailable(image.name, Status.UNSUPPORTED, why)
    wrong = installed.mismatches(image.environment.expected_versions)
    if wrong:
        return Unavailable(image.name, Status.UNSUPPORTED, f"{'; '.join(wrong)} in {python}")
    return Ready(image.name, str(python), installed.versions, variables=image.environment.variables)
