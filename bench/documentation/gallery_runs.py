"""The runs that the gallery shows: three engines, compared in every way that the site has a view for, and a study."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.records import ROOT

OLDER, NEWER = "onnxruntime==1.20.1", "onnxruntime==1.21.1"
GALLERY = "gallery"
"""The name of the matrix of each run of this host."""
RELEASES = {"older": OLDER, "newer": NEWER}
MATRIX = """version: 1
name: {name}
systems: {{cpu: {{cpus: 1}}}}
frameworks: [{release}, openvino==2024.6.0, torch==2.13.0]
models: [mlp, {{name: lenet, batch_size: [8, 32, 128]}}]
modes: [infer]
repeats: 3
"""
STUDY = ROOT / "docs" / "studies" / "tuberlin-2020.tar.zst"
"""The stored run of a published study: 15 epochs and single operators, five repeats of each."""
NIGHTLY = f"""version: 1
matrix: older.yaml
watch: onnxruntime
first: {OLDER.partition("==")[2]}
select: "*mlp*"
max_blocks: 6
budget: 5m
runtime: venv
reports: results/nightly
"""
AS_IT_IS = ("--extra-repeats", "0")
"""Measures no disturbed repeat again: the pictures ask for no quiet host."""
SECOND_HOST = "second-host"
OTHER_HOST = ("unshare", "--uts", "sh", "-c", f'hostname {SECOND_HOST} && exec "$@"', "sh")
"""Runs a command under another host name."""


def orchestrator(*arguments: str) -> list[str]:
    """Return a command line of the program, for the results of its working folder."""
    return [sys.executable, "-m", "orchestrator", *arguments]


def measure(folder: Path) -> None:
    """Measure what is compared: two releases, each with two other engines, then the one against the other in each way.

    These are another host, a regression test, a search and a night. The study was measured before, and is merged.
    """

    def call(*arguments: str, ends: Sequence[int] = (0,), before: Sequence[str] = ()) -> None:
        command = [*before, *orchestrator(*arguments)]
        ended = subprocess.run(command, cwd=folder, check=False).returncode
        assert ended in ends, f"{shlex.join(command)} ended with {ended}"

    runtime = ("--runtime", "venv")
    measured = (*runtime, *AS_IT_IS)
    matrices = {name: MATRIX.format(name=GALLERY, release=release) for name, release in RELEASES.items()}
    matrices |= {SECOND_HOST: MATRIX.format(name=SECOND_HOST, release=NEWER), "nightly": NIGHTLY}
    for name, text in matrices.items():
        (folder / f"{name}.yaml").write_text(text)
    for name in RELEASES:
        call("run", "-f", f"{name}.yaml", *measured)
    call("run", "-f", f"{SECOND_HOST}.yaml", "--repeats", "2", *measured, before=OTHER_HOST)
    test = ("-f", "older.yaml", "--select", "onnxruntime*/mlp*", "--repeats", "4")
    call("regress", *test, "--baseline", OLDER, "--candidate", NEWER, *runtime, ends=(0, 1))
    search = ("-f", "older.yaml", "--cell", "mlp-infer*", "--max-blocks", "8")
    call("bisect", *search, "--good", OLDER, "--bad", NEWER, *runtime, ends=(0, 1))
    call("nightly", "-f", "nightly.yaml", ends=(0, 1))
    call("merge", str(STUDY))
