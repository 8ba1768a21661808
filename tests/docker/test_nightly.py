"""Several nights in a row on a real engine: releases appear one by one, one does not install, one is slower."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import faults_support
import pytest
from tiny_releases import TinyIndex, fresh_name, tiny_index

from orchestrator.engine.images import labelled, plain, remove
from orchestrator.images import labels
from orchestrator.images.surplus import given_up
from tests.until import LIMIT_S

pytestmark = pytest.mark.docker
STEP_S = 0.01
"""It is slept, and the tolerance is wide, so that a busy host decides nothing here."""
MATRIX = """\
version: 1
name: tiny
systems: {cpu: {cpus: 1, memory: 512m}}
frameworks: [noop==1]
models: [lenet]
parity: false
steps: 20
warmup_steps: 2
build: {extra_indexes: [URL/simple]}
"""
NIGHTLY = """\
version: 1
watch: noop==1
package: PACKAGE
first: "1.0"
max_blocks: 6
runtime: docker
keep_images: 1
metrics: [throughput=60%]
acknowledged: acknowledged.yaml
webhook: {url: URL/hook}
"""
WATCHFUL = 'accept: unless_worse\nself_test: true\nanchor: {release: "1.0", tolerance: 20%}\n'
SMALL_LOSS = 1.3
"""Of the time of a step: far within the tolerance of a release, and beyond that of the anchor once it came twice."""
UNHARMED = {"clean", "inconclusive"}
"""The judgements of a release that is not worse. On a busy host six blocks may not show it to be the same."""


@dataclass
class Place:
    """A folder with a nightly in it, and the index that it watches."""

    folder: Path
    index: TinyIndex
    base_image: str
    engine: docker.DockerClient
    package: str

    def command(self, *more: str) -> list[str]:
        options = ["-f", str(self.folder / "nightly.yaml")]
        return [sys.executable, "-m", "orchestrator", "nightly", *more, *options]

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"ORCHESTRATOR_BASE_IMAGE": self.base_image, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def night(self) -> tuple[int, dict[str, Any]]:
        """Its exit status and its record."""
        process = self.start()
        _, stderr = process.communicate(timeout=LIMIT_S)
        assert "Traceback" not in stderr, stderr
        assert process.returncode in {0, 1, 3}, stderr
        return process.returncode, self.last()

    def last(self) -> dict[str, Any]:
        newest = max((self.folder / "nightly" / "nights").iterdir())
        return json.loads((newest / "night.json").read_text())  # type: ignore[no-any-return]

    @property
    def state(self) -> dict[str, Any]:
        return json.loads((self.folder / "nightly" / "state.json").read_text())  # type: ignore[no-any-return]

    def publish(self, version: str, step_s: float, requires: str = "") -> None:
        self.index.publish(self.package, version, step_s, requires=requires)

    def image_tags(self) -> set[str]:
        # In one question: others on this engine come and go meanwhile.
        return {
            tag for image in self.engine.api.images() for tag in plain(image["RepoTags"] or ()) if self.package in tag
        }

    def releases_with_images(self) -> set[str]:
        return {tag.split(self.package)[1][:3] for tag in self.image_tags()}

    def remove_images(self) -> None:
        for image in given_up(labelled(self.engine, labels.KIND), self.image_tags()):
            for name in image.names:
                remove(self.engine, name)
        assert not self.image_tags()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, engine: docker.DockerClient, base_image: str) -> Iterator[Place]:
    """A place with releases that all tests of this module try, one after the other."""
    with a_place(tmp_path_factory.mktemp("nightly"), engine, base_image) as made:
        yield made


@contextmanager
def a_place(folder: Path, engine: docker.DockerClient, base_image: str, further: str = "") -> Iterator[Place]:
    package = fresh_name("tiny")
    with tiny_index() as index:
        for name, text in (("matrix.yaml", MATRIX), ("nightly.yaml", NIGHTLY + further)):
            (folder / name).write_text(text.replace("URL", index.url).replace("PACKAGE", package))
        (folder / "acknowledged.yaml").write_text("version: 1\n")
        made = Place(folder, index, base_image, engine, package)
        yield made
    made.remove_images()


def judgements(night: dict[str, Any]) -> dict[str, str]:
    return {one["record"]["version"]: one["record"]["judgement"] for one in night["tried"]}


@pytest.mark.slow
def test_nights_in_a_row(place: Place) -> None:
    index = place.index
    place.publish("1.0", STEP_S)
    code, night = place.night()
    assert (code, night["ending"], judgements(night)) == (0, "nothing_new", {})

    place.publish("1.1", STEP_S)
    code, night = place.night()
    assert (code, judgements(night), place.state["accepted"]) == (0, {"1.1": "clean"}, "1.1")

    place.publish("1.2", STEP_S, requires="bench-nobody-offers-this==1")
    code, night = place.night()
    assert (code, night["ending"], judgements(night)) == (0, "no_result", {"1.2": "build_failed"})
    assert place.state["accepted"] == "1.1"

    place.publish("1.3", STEP_S * 4)
    code, night = place.night()
    assert (code, judgements(night)) == (1, {"1.2": "build_failed", "1.3": "regressed"})
    (alarm,) = index.posted[-1]["alarms"]  # type: ignore[misc]
    assert (alarm["release"], alarm["cell"], alarm["metric"]) == ("1.3", "cpu/lenet-train-b200", "throughput")
    # A quarter, and a little over: what a sleep lasts longer than asked, longer on a busy host, weighs on the shorter.
    assert 0.2 < alarm["low"] <= alarm["high"] < 0.5, alarm
    assert place.state["accepted"] == "1.1"

    code, night = place.night()
    assert (code, judgements(night)) == (0, {"1.2": "build_failed"})  # the last time of three

    code, night = place.night()
    assert (code, night["ending"]) == (0, "nothing_new")
    assert [(one["version"], one["attempts"]) for one in night["given_up"]] == [("1.2", 3)]
    assert index.posted[-1]["given_up"] == ["1.2"]

    index.silent = True
    code, night = place.night()
    assert (code, night["ending"]) == (3, "index_silent")
    index.silent = False

    assert [posted["ending"] for posted in index.posted] == [
        "nothing_new", "measured", "no_result", "measured", "no_result", "nothing_new", "index_silent",
    ]  # fmt: skip
    # The baseline and the newest one stay; of 1.0, which no night has tried, nothing is decided.
    assert place.releases_with_images() == {"1.0", "1.1", "1.3"}


@pytest.mark.slow
def test_known_change_alarms_nobody(place: Place) -> None:
    """A release is accepted by hand, and a known change alarms nobody."""
    (place.folder / "acknowledged.yaml").write_text(
        "version: 1\nacknowledged:\n"
        '  - {cell: "cpu/*", metric: throughput, release: "1.5", up_to: 85%, reason: "more rounding"}\n'
    )
    place.publish("1.5", STEP_S * 4)

    code, night = place.night()

    assert (code, judgements(night)) == (0, {"1.5": "clean"})
    assert night["tried"][0]["known"][0]["acknowledged"] == "more rounding"
    assert night["tried"][0]["record"]["reason"].endswith("1 acknowledged")
    assert any("1.3" in name for name in night["removed_images"])
    accept = place.command("accept", f"{place.package}==1.1")
    done = subprocess.run(accept, env=place.environment, capture_output=True, text=True, check=False)
    assert (done.returncode, place.state["accepted"], place.state["accepted_by"]) == (0, "1.1", "hand"), done.stderr


def test_killed_night_goes_on_where_it_was(tmp_path: Path, engine: docker.DockerClient, base_image: str) -> None:
    with a_place(tmp_path, engine, base_image) as place:
        place.publish("1.0", STEP_S)
        assert place.night()[1]["ending"] == "nothing_new"
        place.publish("1.3", STEP_S, requires="bench-nobody-offers-this==1")
        place.publish("1.4", STEP_S)
        process = place.start()
        results = place.folder / "results"
        faults_support.until(lambda: len(list(results.glob("*/noop-*1.4*/*/*/outcome.json"))) >= 3, process)
        second = subprocess.run(place.command(), env=place.environment, capture_output=True, text=True, check=False)
        assert (second.returncode, "another night is under way" in second.stderr) == (3, True)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed = place.state["tonight"]
        measured = {path: path.stat().st_mtime_ns for path in results.glob(f"{killed['run']}/noop-*/*/*/outcome.json")}

        code, night = place.night()

        assert (code, night["night"]) == (0, killed["night"])
        assert judgements(night) == {"1.3": "build_failed", "1.4": "clean"}
        assert {path: path.stat().st_mtime_ns for path in measured} == measured
        assert (place.state["tonight"], place.state["accepted"]) == (None, "1.4")
        assert place.releases_with_images() == {"1.0", "1.4"}


@pytest.mark.slow
def test_quiet_nights_and_small_losses(tmp_path: Path, engine: docker.DockerClient, base_image: str) -> None:
    """An idle night measures the baseline against itself, and losses that are accepted one by one add up to a drift."""
    with a_place(tmp_path, engine, base_image, WATCHFUL) as place:
        place.publish("1.0", STEP_S)
        code, night = place.night()
        test = night["self_test"]
        assert (code, night["ending"], test["release"], test["complete"]) == (0, "nothing_new", "1.0", True)
        assert test["name"].startswith("1.0+")
        assert {pair["verdict"] for pair in test["regression"]["pairs"]} <= {"same", "inconclusive"}

        place.publish("1.1", STEP_S * SMALL_LOSS)
        code, night = place.night()
        assert (code, place.state["accepted"], place.state["drifts"]) == (0, "1.1", [])
        assert judgements(night)["1.1"] in UNHARMED
        assert "self_test" not in night

        place.publish("1.2", STEP_S * SMALL_LOSS**2)
        code, night = place.night()
        assert (code, place.state["accepted"]) == (1, "1.2")
        assert judgements(night)["1.2"] in UNHARMED
        (drift,) = night["tried"][0]["drifts"]
        assert (drift["anchor"], drift["cell"], drift["metric"]) == ("1.0", "cpu/lenet-train-b200", "throughput")
        assert [step["release"] for step in drift["steps"]] == ["1.1", "1.2"]
        assert drift["high"] < 1 / 1.2
        assert [each["release"] for each in place.index.posted[-1]["drifts"]] == ["1.2"]  # type: ignore[attr-defined]
