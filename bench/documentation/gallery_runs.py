"""The runs that the gallery shows: three engines, compared in every way that the site has a view for."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OLDER, NEWER = "onnxruntime==1.20.1", "onnxruntime==1.21.1"
RELEASES = {"older": OLDER, "newer": NEWER}
MATRIX = """version: 1
name: {name}
systems: {{cpu: {{cpus: 1}}}}
frameworks: [{release}, openvino==2024.6.0, torch==2.13.0]
models: [mlp, {{name: lenet, batch_size: [8, 32, 128]}}]
modes: [infer]
repeats: 3
"""
STUDY = """
study:
  title: A study that was made up
  citation: Nobody has published these claims. They show what the page of a study looks like.
claims:
  - name: openvino-lenet
    text: OpenVINO answers 1.5 times as many samples of LeNet as ONNX Runtime
    metric: throughput
    both: {model: lenet, batch_size: 32}
    of: {framework: openvino}
    over: {framework: onnxruntime}
    published: {ratio: 1.5}
    source: made up
    caveats: [the threads of one engine were not limited]
  - name: torch-lenet
    text: PyTorch answers half as many samples of LeNet as ONNX Runtime
    metric: throughput
    both: {model: lenet, batch_size: 8}
    of: {framework: torch}
    over: {framework: onnxruntime}
    published: {ratio: 0.5, approximate: true}
    source: made up
  - name: torch-mlp
    text: PyTorch takes ten times as long for a step of an MLP
    metric: latency_p50
    both: {model: mlp}
    of: {framework: torch}
    over: {framework: onnxruntime}
    published: {ratio: 10}
    source: made up
    flaw: the first step was counted
"""
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
OTHER_HOST = ("unshare", "--uts", "sh", "-c", 'hostname second-host && exec "$@"', "sh")
"""Runs a command under another host name."""


def orchestrator(*arguments: str) -> list[str]:
    """Return a command line of the program, for the results of its working folder."""
    return [sys.executable, "-m", "orchestrator", *arguments]


def measure(folder: Path) -> None:
    """Measure what is compared: two releases, each with two other engines, then the one against the other in each way.

    These are a study on another host, a regression test, a search and a night.
    """

    def call(*arguments: str, ends: Sequence[int] = (0,), before: Sequence[str] = ()) -> None:
        command = [*before, *orchestrator(*arguments)]
        ended = subprocess.run(command, cwd=folder, check=False).returncode
        assert ended in ends, f"{shlex.join(command)} ended with {ended}"

    runtime = ("--runtime", "venv")
    measured = (*runtime, *AS_IT_IS)
    matrices = {name: MATRIX.format(name="gallery", release=release) for name, release in RELEASES.items()}
    matrices |= {"study": MATRIX.format(name="made-up-study", release=NEWER) + STUDY, "nightly": NIGHTLY}
    for name, text in matrices.items():
        (folder / f"{name}.yaml").write_text(text)
    for name in RELEASES:
        call("run", "-f", f"{name}.yaml", *measured)
    call("run", "-f", "study.yaml", "--repeats", "2", *measured, before=OTHER_HOST)
    test = ("-f", "older.yaml", "--select", "onnxruntime*/mlp*", "--repeats", "4")
    call("regress", *test, "--baseline", OLDER, "--candidate", NEWER, *runtime, ends=(0, 1))
    search = ("-f", "older.yaml", "--cell", "mlp-infer*", "--max-blocks", "8")
    call("bisect", *search, "--good", OLDER, "--bad", NEWER, *runtime, ends=(0, 1))
    call("nightly", "-f", "nightly.yaml", ends=(0, 1))
