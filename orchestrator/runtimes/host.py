"""Cells in the interpreter at hand, with whatever is installed in it; nothing is made."""

import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.catalog.versions import mismatches
from orchestrator.domain import ImageSpec, Status
from orchestrator.events import Listener
from orchestrator.processes import Stop, Watch
from orchestrator.runtimes import local
from orchestrator.runtimes.local import AskingError
from orchestrator.runtimes.model import Ended, Provided, Ready, Task, Unavailable
from orchestrator.runtimes.names import only_in_containers


class HostRuntime:
    """The `host` runtime, on one interpreter."""

    name = "host"
    pins_cpus = False
    mounts = False

    def __init__(self, host: Mapping[str, str], python: Path = Path(sys.executable)) -> None:
        self._python = python
        # The home folder of what is launched is empty: what the user installed for themselves is found all the same.
        self._kept = {"PYTHONUSERBASE": site.getuserbase()} | local.kept(host)

    @staticmethod
    def seen(folder: Path, place: str) -> str:
        """A process of this host sees its folders as they are."""
        del place
        return str(folder)

    def provide(
        self, images: Sequence[ImageSpec], *, jobs: int, logs: Path, listener: Listener, stop: Stop
    ) -> Provided:
        """Ask the interpreter once what it holds, and compare."""
        del jobs, logs, listener, stop
        try:
            held = local.ask(self._python, self._kept)
        except AskingError as error:
            return {image.name: Unavailable(image.name, Status.IMPORT_FAILED, str(error)) for image in images}
        return {image.name: fit(image, held, self._python) for image in images}

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        """Run one task with the interpreter at hand."""
        return local.launch(Path(task.ready.handle), task, stop=stop, watch=watch, kept=self._kept)


def fit(image: ImageSpec, held: local.Held, python: Path) -> Ready | Unavailable:
    """Decide whether an interpreter can stand in for an image: the same Python, the same versions."""
    own_image = only_in_containers(image)
    if own_image:
        return Unavailable(image.name, Status.UNSUPPORTED, own_image)
    wanted = image.environment.python
    if held.python.split(".")[:2] != wanted.split(".")[:2]:
        why = f"needs Python {wanted}; {python} is {held.python}: use --runtime venv or docker"
        return Unavailable(image.name, Status.UNSUPPORTED, why)
    wrong = mismatches(image.environment.expected_versions, dict(held.versions))
    if wrong:
        return Unavailable(image.name, Status.UNSUPPORTED, f"{'; '.join(wrong)} in {python}")
    return Ready(image.name, str(python), held.versions, variables=image.environment.variables)
