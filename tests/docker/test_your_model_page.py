"""The page of one's own model, followed in a fresh clone, every command in its place."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from orchestrator.resources import ROOT
from tests.documented import DOCS, blocks

pytestmark = [pytest.mark.docker, pytest.mark.slow]
PAGE = "your-model.md"
SECTIONS = ("The network", "Which engine is faster", "Is it safe to upgrade", "A file that others may see")
LAST = "On a server without internet"
JUDGED = {"regress": {0, 1}, "anonymise": {0, 1}, "bisect": {0, 1}}
"""Statuses of commands that judge, by their word: 1 is worse, or not shown to be the same."""
MEASURED = {"faster", "slower", "same", "inconclusive"}
"""Verdicts on two releases that both ran and did the same work."""


def typed_in(section: str) -> list[str]:
    """The blocks of a section that are typed into a shell, in the order of the page."""
    page = (DOCS / PAGE).read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    typed = re.findall(r"^```(?:sh|console)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert typed, f"{PAGE} has no command in {section!r}"
    return typed


def test_the_page_leads_to_its_answers(engine: object, base_image: str, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    (clone / "ours.yaml").write_text(blocks(PAGE, "Which engine is faster", "yaml")[0])
    environment = os.environ | {
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "ORCHESTRATOR_BASE_IMAGE": base_image, "COLUMNS": "200",
    }  # fmt: skip

    said: dict[str, str] = {}
    for section in (*SECTIONS, LAST):
        for typed in typed_in(section):
            script = "set -eu\n" + typed.removeprefix("$ ")
            ended = subprocess.run(
                ["sh", "-c", script], cwd=clone, env=environment, capture_output=True, text=True, check=False
            )
            word = typed.partition(".venv/bin/orchestrator ")[2].partition(" ")[0]
            assert ended.returncode in JUDGED.get(word, {0}), f"{section}: {ended.stdout}\n{ended.stderr}"
            said[section] = said.get(section, "") + " ".join((ended.stdout + ended.stderr).split())

    assert "Parity: all 2 cells do the same work" in said["Which engine is faster"]
    (regression,) = (json.loads(path.read_text()) for path in clone.glob("results/*/regression.json"))
    (pair,) = regression["pairs"]
    assert pair["verdict"] in MEASURED
    assert next(each["ratio"] for each in pair["metrics"] if each["metric"] == "throughput") > 0
    (search,) = (json.loads(path.read_text()) for path in clone.glob("results/*/bisect.json"))
    assert search["releases"] == ["1.20.1", "1.21.0", "1.21.1"]
    assert "3 tensors replaced" in said["A file that others may see"]
    assert "of the original" in said["A file that others may see"]
    assert (clone / "ours-anonymous.onnx").is_file()
    manifest = json.loads((clone / "ours-bundle" / "manifest.json").read_text())
    assert {image["name"] for image in manifest["images"]} == {
        "bench/onnxruntime:1.20.1-cpu", "bench/openvino:2024.6.0-cpu",
    }  # fmt: skip
    assert list((clone / "ours-bundle" / "networks").glob("ours*"))
