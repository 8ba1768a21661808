"""The package installs as a wheel that carries images/ and benchmarks/, and works away from a checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.envelopes import data_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_carries_the_data_of_both_sides(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    for part in (
        "matrix.yaml",
        "locks/runtime.txt",
        "images/catalog/mxnet.yaml",
        "benchmarks/run.py",
        "benchmarks/models/convolutional/lenet.py",
    ):
        assert f"orchestrator/_data/{part}" in names
    assert any(name.startswith("orchestrator/_data/images/templates/") for name in names)
    assert any(name.startswith("orchestrator/reporting/formats/templates/") for name in names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_installed_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """An installed wheel plans and runs away from the checkout."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    program = environment / "bin" / "orchestrator"

    default = subprocess.run([program, "plan", "--json"], cwd=tmp_path, check=True, capture_output=True, text=True)
    (tmp_path / "matrix.yaml").write_text("version: 1\nframeworks: [noop==1]\nmodels: [lenet]\nsystems: {cpu: {}}\n")
    run = [program, "run", "--runtime", "host", "--repeats", "1", "--json"]
    report = subprocess.run(run, cwd=tmp_path, check=False, capture_output=True, text=True)

    assert len(data_of(default.stdout)["cells"]) > 1, "the default matrix ships with the program"
    assert report.returncode == 0, report.stderr
    (cell,) = data_of(report.stdout)["cells"]
    assert [repeat["outcome"]["status"] for repeat in cell["repeats"]] == ["ok"]
