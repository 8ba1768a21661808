"""A user's own content in containers, as the pages describe it: digits, models, scripts."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import docker
import pytest

from orchestrator.resources import ROOT
from tests.datasets_in_original_formats import drawn, write_idx
from tests.documented import blocks, introduction
from tests.envelopes import data_of

pytestmark = pytest.mark.docker
LEARNERS = "[mxnet==1.9.1, torch==2.13.0, tensorflow==2.21.0, keras-mxnet==2.2.4.3 on mxnet==1.5.1]"
SYSTEM = "systems: {cpu: {cpus: 1}}\n"


def run(folder: Path, base_image: str, text: str, *arguments: str) -> dict[str, Any]:
    """Run a matrix in containers to its report, which must be of nothing but `ok`."""
    (folder / "matrix.yaml").write_text(text)
    command = [sys.executable, "-m", "orchestrator", "run", "--runtime", "docker", "--json", "--idle-wait", "0"]
    ended = subprocess.run(
        [*command, "--extra-repeats", "0", "--no-parity", "--repeats", "1", *arguments],
        cwd=folder,
        env=os.environ | {"ORCHESTRATOR_BASE_IMAGE": base_image, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    report: dict[str, Any] = data_of(ended.stdout)
    return report


def results(folder: Path) -> dict[str, dict[str, Any]]:
    """The result of the first repeat of every cell, by the cell's id."""
    found = (json.loads(path.read_text()) for path in folder.glob("results/*/*/*/0/result.json"))
    return {result["cell"]: result for result in found}


@pytest.mark.slow
def test_lenet_learns_digits_alike_in_every_framework(
    engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    (text,) = introduction("datasets.md", "yaml")
    text = text.replace("[mxnet==1.9.1, torch==2.13.0]", LEARNERS) + SYSTEM

    run(tmp_path, base_image, text)

    curves = {cell: result["epochs"] for cell, result in results(tmp_path).items()}
    assert len(curves) == 4
    accuracies = {cell: [epoch["test_accuracy"] for epoch in epochs] for cell, epochs in curves.items()}
    assert all(max(values) > 0.95 for values in accuracies.values()), accuracies
    first = accuracies[min(accuracies)]
    for cell, values in accuracies.items():
        assert len(values) == 6
        assert values == pytest.approx(first, abs=0.03), (cell, accuracies)
    begun = [epochs[0]["test_loss"] for epochs in curves.values()]
    assert begun == pytest.approx([begun[0]] * 4, rel=0.05), "the same weights, and the same batches in the same order"
    for result in results(tmp_path).values():
        assert result["facts"]["data"]["name"] == "digits"
        assert result["phases"]["evaluation_s"] == pytest.approx(
            sum(epoch["evaluation_s"] for epoch in result["epochs"]), rel=1e-6
        )


@pytest.mark.slow
def test_image_measures_a_model_it_does_not_hold(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """A model of one's own is measured in an image that does not hold it."""
    (model,) = blocks("models.md", "A model of your own", "python")
    (text,) = blocks("models.md", "A model of your own", "yaml")
    (tmp_path / "my_models").mkdir()
    (tmp_path / "my_models" / "wide.py").write_text(model)

    run(tmp_path, base_image, text + SYSTEM, "--select", "*/wide-*")

    found = results(tmp_path)
    assert sorted(cell.partition("-1")[0] + "…" + cell.rpartition("/")[2] for cell in found if "mxnet" in cell) == [
        "mxnet…wide-train-b64",
        "mxnet…wide-train-b64-dataset=digits",
    ]
    assert len(found) == 4
    learned = [result["epochs"][-1]["test_accuracy"] for cell, result in found.items() if "digits" in cell]
    assert min(learned) > 0.9, learned


def test_own_dataset_is_mounted_read_only_and_alone(
    engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """A dataset of one's own is mounted read-only, and nothing next to it is mounted."""
    _, text = blocks("datasets.md", "From a folder of yours", "yaml")
    image = (1, 16, 16)
    write_idx(tmp_path / "data" / "signs", drawn(600, image, 5, 1), drawn(100, image, 5, 2), packed=True)
    (tmp_path / "data" / "beside.txt").write_text("of nobody's business")
    before = {path.name: path.read_bytes() for path in (tmp_path / "data" / "signs").iterdir()}
    look = "import os\nLOOK = sorted(os.listdir('/data')), os.access('/data', os.W_OK), os.path.exists('/beside.txt')\n"
    (tmp_path / "mine").mkdir()
    model = (ROOT / "benchmarks" / "models" / "convolutional" / "lenet.py").read_text()
    (tmp_path / "mine" / "looking.py").write_text(model + look + "print('LOOK', LOOK)\n")
    text = text.replace(
        "  - {name: lenet,", "  - {name: looking, dataset: signs, batch_size: 50, epochs: 1}\n  - {name: lenet,"
    )

    run(tmp_path, base_image, "models_folder: mine\n" + text + SYSTEM)

    found = results(tmp_path)
    assert len(found) == 4
    assert len({result["facts"]["data"]["sha256"] for result in found.values()}) == 1
    learned = [result["epochs"][-1]["test_accuracy"] for cell, result in found.items() if "lenet" in cell]
    assert min(learned) > 0.9, "five bright rows in noise"
    log = next(tmp_path.glob("results/*/*/looking-*/0/log.txt")).read_text()
    assert f"LOOK ({sorted(before)}, False, False)" in log
    assert {path.name: path.read_bytes() for path in (tmp_path / "data" / "signs").iterdir()} == before


def test_foreign_script_runs_unchanged_and_read_only(
    engine: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """A foreign script runs unchanged and sees its folder read-only."""
    (script,) = introduction("scripts.md", "python")
    (text,) = introduction("scripts.md", "yaml")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "train.py").write_text(script)

    report = run(tmp_path, base_image, text + SYSTEM)

    (cell,) = report["cells"]
    assert {each["name"]: each["value"] for each in cell["printed"]} == {"speed": 1010.0, "loss": 0.125}

    look = "import os\ntry:\n    open('new', 'w')\nexcept OSError as error:\n    print('errno', error.errno)\n"
    look += "import mxnet\nprint('cwd', os.getcwd(), 'io', os.listdir('/script'))\nprint('seen 1')\n"
    (tmp_path / "scripts" / "train.py").write_text(look)
    asked = text[: text.index("    metrics:")] + "    metrics: {seen: {pattern: 'seen (1)', unit: x, better: higher}}\n"
    run(tmp_path, base_image, asked + SYSTEM)

    last = max(tmp_path.glob("results/*"))
    log = next(last.glob("*/*/0/log.txt")).read_text()
    assert "errno 30" in log, "a read-only file system"
    assert "cwd /script io ['train.py']" in log
