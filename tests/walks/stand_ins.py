"""The files that pages speak of: matrices, stored runs, nights, results of other tools, networks and datasets."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy
from PIL import Image

from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.state import Alarm, State
from orchestrator.resources import ROOT
from tests import exported
from tests.documented import DOCS, fenced

CORPUS = ROOT / "tests" / "guard" / "corpus"
FOREIGN = ROOT / "tests" / "unit" / "foreign" / "files"
SMALL = "steps: 5\nblocks: 5\nwarmup_steps: 1\nlatency_steps: 5\nrepeats: 2\nparity: false\n"
CPU = "systems: {cpu: {cpus: 1}}\n"
Arrange = Callable[[Path], object]


def several(*steps: Arrange) -> Arrange:
    """Return what takes several steps in their order."""

    def arrange(folder: Path) -> None:
        for step in steps:
            step(folder)

    return arrange


def matrix(frameworks: str, models: str = "[mlp]", further: str = "", name: str = "matrix.yaml") -> Arrange:
    """Return what writes a small matrix."""
    text = f"version: 1\n{CPU}frameworks: {frameworks}\nmodels: {models}\n{SMALL}{further}"
    return lambda folder: (folder / name).write_text(text, encoding="utf-8")


def of_page(page: str, number: int, name: str, *without: str) -> Arrange:
    """Return what writes a YAML file of a page, without some of its lines."""
    text = fenced(page, "yaml")[number]
    kept = [line for line in text.splitlines() if not line.startswith(without)] if without else text.splitlines()
    return lambda folder: (folder / name).write_text("\n".join([*kept, ""]), encoding="utf-8")


def small(name: str = "matrix.yaml") -> Arrange:
    """Return what makes the matrix that is there a small one."""

    def arrange(folder: Path) -> None:
        path = folder / name
        kept = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("systems:")]
        path.write_text("\n".join([*kept, CPU + SMALL]), encoding="utf-8")

    return arrange


def stored(name: str, to: str = "results") -> Arrange:
    """Return what lays stored runs of the corpus into a folder."""
    return lambda folder: shutil.copytree(CORPUS / name, folder / to)


def foreign(**files: str) -> Arrange:
    """Return what lays files of other tools into the folder, each under a name without its ending."""

    def arrange(folder: Path) -> None:
        for name, source in files.items():
            shutil.copy(FOREIGN / f"{source}.json", folder / f"{name}.json")

    return arrange


def both_of_hyperfine(folder: Path) -> None:
    """Write a file of hyperfine with two commands, `./old` and `./new`."""
    (old,), (new,) = (json.loads((FOREIGN / f"hyperfine-1.15.0-{name}.json").read_text())["results"]
                      for name in ("before", "slower"))  # fmt: skip
    results = [old | {"command": "./old"}, new | {"command": "./new"}]
    (folder / "both.json").write_text(json.dumps({"results": results}), encoding="utf-8")


def mlflow(folder: Path) -> None:
    """Lay the example for MLflow into the folder, with a module in place of MLflow that takes all calls."""
    shutil.copy(DOCS / "examples" / "log_to_mlflow.py", folder)
    (folder / "mlflow.py").write_text(
        "import contextlib\nstart_run = lambda run_name: contextlib.nullcontext()\n"
        "set_experiment = log_params = set_tags = log_metric = lambda *_, **__: None\n",
        encoding="utf-8",
    )


def alarms(*releases: str) -> Arrange:
    """Return what writes the state of nights that have alarmed, each of a release."""

    def arrange(folder: Path) -> None:
        (folder / "nightly").mkdir()
        raised = (Alarm(release=each, cell="cpu/lenet-train-b200", metric="throughput") for each in releases)
        NightFiles(folder / "nightly").write_state(State(watched="mxnet", alarms=tuple(raised)))

    return arrange


def nightly(folder: Path) -> None:
    """Write a nightly file that watches MXNet."""
    (folder / "nightly.yaml").write_text("version: 1\nmatrix: matrix.yaml\nwatch: mxnet\nfirst: 1.5.1\n")


def networks(folder: Path) -> None:
    """Write the networks `ours.onnx` and `words.onnx`."""
    exported.saved(exported.image_network(), folder / "ours.onnx")
    exported.saved(exported.masked_words(), folder / "words.onnx")


def originals(folder: Path) -> None:
    """Write what datasets are made from: questions, a text, and photographs at home."""
    told = folder / "tasks_1-20_v1-2.tar.gz"
    inner = folder / "tasks" / "en"
    inner.mkdir(parents=True)
    question = "1 Ann took the cup.\n2 Ann went home.\n3 Where is the cup?\thome\t1 2\n"
    for part in ("train", "test"):
        (inner / f"qa2_two-supporting-facts_{part}.txt").write_text(question, encoding="utf-8")
    shutil.make_archive(str(told).removesuffix(".tar.gz"), "gztar", folder / "tasks")
    (folder / "novel.txt").write_text("the cat sat on the mat, and the dog sat on the cat. " * 4, encoding="utf-8")
    for name, red in (("cats", 200), ("dogs", 20)):
        for part, count in (("train", 2), ("test", 1)):
            place = folder.parent / "home" / "photographs" / part / name
            place.mkdir(parents=True)
            for number in range(count):
                Image.fromarray(numpy.full((20, 30, 3), red + number, "uint8")).save(place / f"{number}.png")


def small_datasets(folder: Path) -> None:
    """Describe the datasets of the page by what the small originals hold."""
    text = fenced("datasets/kinds.md", "yaml")[0]
    for shown, used in {
        "story: {length: 552, vocabulary: 36}, question: {length: 5, vocabulary: 36}":
        "story: {length: 9, vocabulary: 11}, question: {length: 5, vocabulary: 11}",
        "classes: 36\n    training: 1000\n    testing: 1000": "classes: 11\n    training: 1\n    testing: 1",
        "vocabulary: 57}}, classes: 57, training: 9000, testing: 900":
        "vocabulary: 15}}, classes: 15, training: 46, testing: 10",
        "image: [3, 256, 256], classes: 1000, training: 1000, testing: 100":
        "image: [3, 8, 6], classes: 2, training: 4, testing: 2",
    }.items():  # fmt: skip
        assert shown in text
        text = text.replace(shown, used)
    (folder / "matrix.yaml").write_text(text, encoding="utf-8")


def folder(name: str) -> Arrange:
    """Return what makes a folder."""
    return lambda place: (place / name).mkdir(parents=True)


def added(name: str, text: str) -> Arrange:
    """Return what adds text to a file."""

    def arrange(place: Path) -> None:
        with (place / name).open("a", encoding="utf-8") as file:
            file.write(text)

    return arrange


def moved(name: str, to: str) -> Arrange:
    """Return what gives a file another place."""
    return lambda place: (place / name).rename(place / to)


def copied(path: str, to: str) -> Arrange:
    """Return what lays a file of the repository into the folder."""

    def arrange(place: Path) -> None:
        (place / to).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place / to)

    return arrange


def study(name: str) -> Arrange:
    """Return what writes the study of the page on study files, with one epoch and one repeat."""

    def arrange(place: Path) -> None:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        text = (
            fenced("study-files.md", "yaml")[0]
            .replace("epochs: 10", "epochs: 1")
            .replace("after epoch 10", "after epoch 1")
        )
        (place / name).write_text(f"{text}{CPU}repeats: 1\nparity: false\n", encoding="utf-8")

    return arrange


def completions(place: Path) -> None:
    """Lay the manual pages and completions where an installation has them."""
    shutil.copytree(ROOT / "share", place / ".venv" / "share")
