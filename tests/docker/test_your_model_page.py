"""The page of one's own model, followed in a fresh clone, every command in its place."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.resources import ROOT
from tests.documented import blocks

pytestmark = [pytest.mark.docker, pytest.mark.slow]
PAGE = "your-model.md"
SECTIONS = ("The network", "Which engine is faster", "Is it safe to upgrade", "A file that others may see")
LAST = "On a server without internet"


def test_the_page_leads_to_its_answers(engine: object, base_image: str, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    (clone / "ours.yaml").write_text(blocks(PAGE, "Which engine is faster", "yaml")[0])
    environment = os.environ | {
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "ORCHESTRATOR_BASE_IMAGE": base_image, "COLUMNS": "200",
    }  # fmt: skip

    said = {}
    for section in (*SECTIONS, LAST):
        typed = blocks(PAGE, section, "console" if section == LAST else "sh")
        script = "set -eu\n" + "".join(typed).removeprefix("$ ")
        ended = subprocess.run(
            ["sh", "-c", script], cwd=clone, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, f"{section}: {ended.stdout}\n{ended.stderr}"
        said[section] = " ".join((ended.stdout + ended.stderr).split())

    assert "Parity: all 2 cells do the same work" in said["Which engine is faster"]
    verdicts = [json.loads(path.read_text()) for path in clone.glob("results/*/regression.json")]
    assert len(verdicts) == 1
    assert "3 tensors replaced" in said["A file that others may see"]
    assert "of the original" in said["A file that others may see"]
    assert (clone / "ours-anonymous.onnx").is_file()
    manifest = json.loads((clone / "ours-bundle" / "manifest.json").read_text())
    assert {image["name"] for image in manifest["images"]} == {
        "bench/onnxruntime:1.20.1-cpu", "bench/openvino:2024.6.0-cpu",
    }  # fmt: skip
    assert list((clone / "ours-bundle" / "networks").glob("ours*"))
