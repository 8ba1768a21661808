"""Six images built by `orchestrator build -j 2`, against `docker build` of the same six, one after another.

The images hold one small package on six Pythons. This is little, and has all parts of any build: a virtual environment,
a download, unpacking, byte code, commits and copies of layers. Both sides get the same Dockerfiles and contexts, and
nothing from an earlier round, as the build argument at the head of the installing stage is new each time. Ours is all
that the command does: it looks for existing images, gets base images by digest, builds, asks each image for its
versions, names it, and removes the stage that may hold credentials. The images of a round are removed off the clock.
"""

import argparse
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from uuid import uuid4

import docker

from bench.pairs import Ratio, compare, emit, interleave
from orchestrator import resources
from orchestrator.build_settings import BuildSettings
from orchestrator.catalog import load
from orchestrator.domain import Framework, ImageSpec
from orchestrator.engine.client import connect
from orchestrator.engine.images import remove, remove_steps
from orchestrator.events import ignore
from orchestrator.images import Built, Recipe, build, labels, recipes
from orchestrator.workflows.inputs.planned_matrix import site_settings

BAR = (0.0, 0.75)
PACKAGE = "packaging"
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def six_specs(number: int) -> list[ImageSpec]:
    """Return the no-op framework's environment on six Pythons, unlike that of any other round."""
    catalog = load(resources.IMAGES / "catalog")
    specs = []
    for python in PYTHONS:
        framework = Framework("noop", "1", python=python)
        environment = replace(
            catalog.environment(framework, 0),
            requirements=(PACKAGE,),
            variables=(("BENCH_ROUND", f"{os.getpid()}-{number}"),),
        )
        specs.append(ImageSpec("bench-builds/ours", f"{number}-python{python}", "cpu", framework, environment))
    return specs


def ours(client: docker.DockerClient, specs: Sequence[ImageSpec], settings: BuildSettings, scratch: Path) -> float:
    """Return the seconds of all six images by our builder."""
    began = time.perf_counter()
    results = build(specs, settings, client, jobs=2, logs=scratch, listener=ignore, stop=threading.Event())
    elapsed = time.perf_counter() - began
    failures = [result for result in results.values() if not isinstance(result, Built)]
    assert not failures, failures[0]
    for recipe in recipes(specs, settings):
        assert recipe.environment is not None
        for name in (recipe.alias, recipe.reference, recipe.environment.reference):
            assert remove(client, name), name
    return elapsed


def theirs(client: docker.DockerClient, our_recipes: Sequence[Recipe], scratch: Path) -> float:
    """Return the seconds of all six images by `docker build`."""
    token = uuid4().hex
    commands = []
    for recipe in our_recipes:
        folder = Path(tempfile.mkdtemp(dir=scratch))
        for file in recipe.files:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.read())
        tag = recipe.alias.replace("/ours:", "/theirs:")
        commands.append((tag, ["docker", "build", "-t", tag, "--build-arg", f"BENCH_BUILD={token}", str(folder)]))
    elapsed = 0.0
    for tag, command in commands:
        began = time.perf_counter()
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        elapsed += time.perf_counter() - began
        assert finished.returncode == 0, finished.stdout + finished.stderr
        assert remove(client, tag), tag
    assert remove_steps(client, f"{labels.STAGE}={token}") == []
    return elapsed


def measure(pairs: int, scratch: Path) -> Ratio:
    """Run both sides pair by pair, after one of each that does not count."""
    client = connect(os.environ)
    settings = site_settings(BuildSettings(), None, os.environ)
    rounds = count()

    def one_of_ours() -> float:
        return ours(client, six_specs(next(rounds)), settings, scratch)

    def one_of_theirs() -> float:
        return theirs(client, recipes(six_specs(next(rounds)), settings), scratch)

    one_of_ours()
    one_of_theirs()
    values = interleave(one_of_ours, one_of_theirs, pairs)
    client.close()
    return compare(
        "wall time of six images", "`build -j 2`", "`docker build`, one after another", values, bar=BAR, unit="s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.overhead.builds", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    with tempfile.TemporaryDirectory(prefix="bench-builds-") as scratch:
        emit([measure(parser.parse_args().pairs, Path(scratch))])


if __name__ == "__main__":
    main()
