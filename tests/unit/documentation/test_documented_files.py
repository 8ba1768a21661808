"""Every YAML, JSON and INI file that a page shows is read by the program, or by what it is written for."""

import configparser
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from orchestrator import catalog, matrix, planning
from orchestrator.clusters.site import Executor
from orchestrator.clusters.site.loading import load as load_site
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.nightly.loading import load as load_nightly
from orchestrator.resources import BENCHMARKS, IMAGES, ROOT
from tests import exported
from tests.documented import blocks, pages

CATALOG = catalog.load(IMAGES / "catalog")
MODELS = catalog.load_models(BENCHMARKS / "models")
(WIDE,) = blocks("models.md", "A model of your own", "python")
FENCE = re.compile(r"^ *```(yaml|json|ini)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ENTRY = {"title": "A framework", "builder": "torch", "packages": {"torch": "torch"}, "known": []}
RELEASE = {"versions": ">=1", "python": ["3.11"], "size_mb": 1}


@dataclass(frozen=True)
class ShownFile:
    """A file on a page."""

    page: str
    language: str
    text: str


def shown() -> Iterator[ShownFile]:
    """Yield every file of every page."""
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages()):
        for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
            yield ShownFile(str(page.relative_to(ROOT)), language, text)


SHOWN = list(shown())
YAML = [file for file in SHOWN if file.language == "yaml"]


def provide(folder: Path, content: Mapping[str, Any]) -> None:
    """Make the files that a matrix names."""
    for name in ("scripts/util.py", "scripts/vocabulary.txt", "scripts/layers/one.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    for script in content.get("scripts", ()):
        (folder / script["file"]).write_text("print('speed: 1')\n")
    for entry in content["frameworks"]:
        if "dockerfile" in entry:
            (folder / entry["dockerfile"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / entry["dockerfile"]).touch()
    exported.saved(exported.image_network(), folder / "ours.onnx")
    exported.saved(exported.masked_words(), folder / "words.onnx")
    for name in ("data", "wheels", "my_models"):
        (folder / name).mkdir()
    (folder / "my_models" / "wide.py").write_text(WIDE)
    (folder / "certificates.pem").touch()


def as_matrix(folder: Path, text: str) -> None:
    """Plan a matrix. One that a page shows a part of gets what every matrix has."""
    for key, line in (("version", "version: 1"), ("frameworks", "frameworks: [mxnet==1.9.1]")):
        text = text if re.search(rf"^{key}:", text, re.MULTILINE) else f"{line}\n{text}"
    if not re.search(r"^(models|scripts|ops):", text, re.MULTILINE):
        text = f"{text}models: [lenet]\n"
    provide(folder, yaml.safe_load(text))
    (folder / "m.yaml").write_text(text)
    loaded = matrix.load(folder / "m.yaml", CATALOG, MODELS)

    assert planning.plan(loaded, CATALOG, MODELS).cells


def as_catalog(folder: Path, text: str) -> None:
    """Read an entry of the catalog, or a part of one."""
    content = yaml.safe_load(text)
    parts = {"releases": [{**RELEASE, "gpu": content["gpu"]} if "gpu" in content else RELEASE]}
    entry = {**ENTRY, **parts, **{key: value for key, value in content.items() if key != "gpu"}}
    (folder / "catalog").mkdir()
    (folder / "catalog" / f"{next(iter(entry['packages']))}.yaml").write_text(yaml.safe_dump(entry))

    assert catalog.load(folder / "catalog").entries


def as_site(folder: Path, text: str) -> None:
    (folder / "site.yaml").write_text(text)

    assert load_site(folder / "site.yaml").executor in set(Executor)


def as_nightly(folder: Path, text: str) -> None:
    (folder / "matrix.yaml").touch()
    (folder / "nightly.yaml").write_text(text)

    assert load_nightly(folder / "nightly.yaml", CATALOG, held=lambda _: {"numpy", "transformers"})


def as_acknowledged(folder: Path, text: str) -> None:
    (folder / "acknowledged.yaml").write_text(text)

    assert load_acknowledged(folder / "acknowledged.yaml")


def as_pipeline(folder: Path, text: str) -> None:
    """Expect the parts of this project that a pipeline of GitHub or GitLab names to be there."""
    named = re.findall(r"(?:OWNER/REPOSITORY/|file: )(ci/[\w/.]+)", text)

    assert named
    assert all((ROOT / name).exists() for name in named)


READERS = {
    "frameworks": as_matrix, "executor": as_site, "watch": as_nightly, "acknowledged": as_acknowledged,
    "releases": as_catalog, "packages": as_catalog, "gpu": as_catalog, "jobs": as_pipeline, "include": as_pipeline,
    "build": as_matrix,
}  # fmt: skip
"""By a key that only such a file has; the first that is there counts."""


def test_pages_show_many_files() -> None:
    assert len(YAML) > 50


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.page)
def test_every_yaml_file_is_read(file: ShownFile, tmp_path: Path) -> None:
    content = yaml.safe_load(file.text)
    (first, *_) = (reader for key, reader in READERS.items() if key in content)

    first(tmp_path, file.text)


def test_others_are_what_they_seem() -> None:
    """JSON is JSON; its fields have tests of their own. Files of systemd have sections."""
    for file in SHOWN:
        if file.language == "json":
            assert json.loads(file.text)
        elif file.language == "ini":
            unit = configparser.RawConfigParser(strict=True)
            unit.read_string(file.text)
            assert unit.sections()
