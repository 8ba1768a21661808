"""The program as a user starts it, for tests of whole commands."""

import os
import subprocess
import sys
from pathlib import Path

ONCE = ("--extra-repeats", "0")
"""Options of a run that measures no repeat again, however busy the host is."""


def orchestrator(folder: Path, base_image: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it in a folder, with a cache of its own."""
    return subprocess.run(
        [sys.executable, "-m", "orchestrator", *arguments],
        cwd=folder,
        env=os.environ | {"ORCHESTRATOR_BASE_IMAGE": base_image, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
