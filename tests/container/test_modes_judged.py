"""Tokens, requests and frontiers, judged by the commands that judge releases, in virtual environments.

A package on an index of its own decides how long a token takes: 10 ms, and from 1.2 on 25 ms. It is slept, so that a
busy host does not move it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docker.tiny_releases import TinyIndex, fresh_name, tiny_index
from tests.envelopes import data_of

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]
STEP_S, SLOWER = 0.01, 2.5
MATRIX = """\
version: 1
name: modes
systems: {cpu: {cpus: 1}}
frameworks: [noop==1]
models_folder: models
models:
  - name: brief
    batch_size: frontier
    latency_limit: 1s
    first_token_limit: 18ms
    prompt_length: 4
    output_length: 3
    requests: 24
modes: [infer, generate, requests]
parity: false
warmup_steps: 1
steps: 6
blocks: 3
latency_steps: 4
build: {extra_indexes: [URL/simple]}
"""
NIGHTLY = """\
version: 1
watch: noop==1
package: PACKAGE
first: "1.0"
max_blocks: 6
runtime: venv
metrics: [throughput=60%, time_to_first_token=60%]
"""
CELLS = {
    "cpu/brief-infer-b1", "cpu/brief-infer-b2",
    "cpu/brief-generate-b1-prompt_length=4-output_length=3", "cpu/brief-generate-b2-prompt_length=4-output_length=3",
    "cpu/brief-requests-b1-latency_limit=1s-first_token_limit=0.018s-requests=24-prompt_length=4-output_length=3",
}  # fmt: skip
"""Every size of the frontier, of which a lone client fills the first alone."""
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def package() -> str:
    return fresh_name("pace")


@pytest.fixture(scope="module")
def index(package: str) -> Iterator[TinyIndex]:
    with tiny_index() as served:
        for version, step_s in (("1.0", STEP_S), ("1.1", STEP_S), ("1.2", SLOWER * STEP_S)):
            served.publish(package, version, step_s)
        yield served


@pytest.fixture(scope="module")
def command(package: str, index: TinyIndex, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Run a command in a folder with the matrix, the nightly and a model of two samples, whose frontier is short."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "models").mkdir()
    model = Path(__file__).with_name("decoded.py").read_text().replace("SAMPLES = 1024", "SAMPLES = 2")
    (folder / "models/brief.py").write_text(model.replace("BATCH_SIZE = 32", "BATCH_SIZE = 1"))
    for name, text in (("matrix.yaml", MATRIX), ("nightly.yaml", NIGHTLY)):
        (folder / name).write_text(text.replace("URL", index.url).replace("PACKAGE", package))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "orchestrator", *arguments]
        variables = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
        return subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)

    return run


def gates(pairs: list[dict[str, Any]], metric: str) -> dict[str, tuple[str, float]]:
    """Verdicts and ratios of a metric by cell."""
    return {
        pair["baseline_cell"].partition("/")[2]: (each["verdict"], each["ratio"])
        for pair in pairs
        for each in pair["metrics"]
        if each["metric"] == metric and each["gates"]
    }


def test_regression_of_tokens_is_found(command: Command, package: str) -> None:
    """Every mode and every size of the frontier is slower, and no first token is in time, so goodput falls to 0."""
    ended = command(
        "regress", "--baseline", f"noop==1,{package}==1.1", "--candidate", f"noop==1,{package}==1.2", "--runtime",
        "venv", "--repeats", "6", "--idle-wait", "0", "--extra-repeats", "0", "--no-confirm", "--json",
        "--metric", "throughput=40%", "--metric", "time_to_first_token=40%", "--metric", "time_per_output_token=40%",
        "--metric", "goodput=40%",
    )  # fmt: skip

    assert ended.returncode == 1, ended.stderr[-3000:]
    pairs = data_of(ended.stdout)["pairs"]
    assert {pair["id"] for pair in pairs} == CELLS
    rates, first, later = (
        gates(pairs, name) for name in ("throughput", "time_to_first_token", "time_per_output_token")
    )
    assert (len(rates), len(first), len(later)) == (5, 3, 3)
    assert {verdict for verdict, _ in (*rates.values(), *first.values(), *later.values())} == {"slower"}
    assert [ratio for _, ratio in first.values()] == pytest.approx([SLOWER] * 3, rel=0.3)
    ((verdict, _),) = gates(pairs, "goodput").values()
    assert verdict == "slower"


@pytest.mark.parametrize(
    ("cell", "metric"),
    [("brief-generate-b1*", "time_per_output_token"), ("brief-requests-b1*", "time_to_first_token")],
)
def test_search_names_the_release(command: Command, package: str, cell: str, metric: str) -> None:
    ended = command(
        "bisect", f"--good=noop==1,{package}==1.0", f"--bad=noop==1,{package}==1.2", f"--cell={cell}",
        f"--metric={metric}=30%", "--max-blocks=3", "--runtime=venv", "--idle-wait=0", "--json",
    )  # fmt: skip

    assert ended.returncode == 1, ended.stderr[-3000:]
    (change,) = data_of(ended.stdout)["found"]["releases"]["changes"]
    assert (change["before"], change["after"]) == ("1.1", "1.2")
    assert change["comparison"]["ratio"] == pytest.approx(SLOWER, rel=0.3)


def test_nights_judge_tokens(command: Command, package: str) -> None:
    """The release of the same pace is accepted, and the slower one alarms, of first tokens too."""
    ended = command("nightly", "-f", "nightly.yaml", "--idle-wait", "0", "--json")

    assert ended.returncode == 1, ended.stderr[-3000:]
    night = data_of(ended.stdout)
    judged = {one["record"]["version"]: one["record"]["judgement"] for one in night["tried"]}
    assert judged == {"1.1": "clean", "1.2": "regressed"}, json.dumps(night)[:2000]
    alarms = {(alarm["cell"].split("-")[1], alarm["metric"]) for alarm in night["tried"][-1]["alarms"]}
    assert {("generate", "throughput"), ("generate", "time_to_first_token"), ("requests", "throughput")} <= alarms
