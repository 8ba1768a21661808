"""The host that a workflow runs on."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.events import Listener, Notice, ignore
from orchestrator.workflows.host import places


@dataclass(frozen=True, slots=True)
class Host:
    """A host, with who hears of progress and who may stop the work.

    A workflow takes every setting of its process from here. Besides, it reads the working folder, the folder for
    temporary files, the Python it runs on, the name of the machine, and the home folder if `HOME` is not set here.
    """

    environment: Mapping[str, str]
    """Environment variables, such as `DOCKER_HOST`, `PIP_INDEX_URL`, `HOME` and `XDG_CACHE_HOME`."""
    listener: Listener = ignore
    """Is called with every event."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Asks the workflow to end early once it is set. What is measured is stored. It stays set."""
    working: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext
    """Is entered for as long as there is work to watch and to stop, such as building and measuring."""

    @property
    def cache(self) -> Path:
        """The folder of what this program can make again, such as environments, the index and answers of parity."""
        return places.cache_folder(self.environment)

    @property
    def bundles(self) -> Path:
        """The folder of loaded bundles."""
        return places.bundles_folder(self.environment)

    def say(self, line: str) -> None:
        """Report one line for a person."""
        self.listener(Notice(line))
