"""The wheel of this program, and a folder that stands for the index with what it needs."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from orchestrator.resources import ROOT

_OWN = "framework_bench"


def built(folder: Path) -> Path:
    """Build the wheel of this program. The source stays as it is."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, ROOT], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def dependencies(folder: Path) -> Path:
    """Make a folder with the packages of this interpreter but our own, in place of an index that is reached."""
    folder.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if _OWN not in entry.name and not entry.name.endswith(".pth"):
            (folder / entry.name).symlink_to(entry)
    return folder
