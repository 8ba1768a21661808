"""Releases of frameworks that install in no time: each step of every builder sleeps as long as its release says."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy

BUILDERS = ("jax", "mxnet", "onnxruntime", "openvino", "tensorflow", "torch")
STEP_S = 0.002
"""Of the oldest release of a framework; a later one is faster, so that few blocks decide."""
RELEASES: Mapping[str, tuple[str, ...]] = {
    "mxnet": ("1.5.1", "1.6.0", "1.9.1"),
    "torch": ("2.12.0", "2.13.0"),
    "onnxruntime": ("1.16.3", "1.20.1", "1.21.1", "1.32.0"),
    "openvino": ("2024.6.0",),
    "tensorflow-cpu": ("2.21.0",),
}
OTHERS: Mapping[str, tuple[str, ...]] = {
    "numpy": ("1.22.4", "1.23.5", "1.26.4", "2.1.0"),
    "onnx": ("1.17.0", "1.20.0"),
    "nvidia-ml-py": ("12.0",),
    "tqdm": ("4.66.1",),
}
"""Packages that environments need besides."""
HOOK = f"""
import ast, importlib.util, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.rpartition(".")[0] != "benchmarks.frameworks" or name.rpartition(".")[2] not in {BUILDERS!r}:
            return None
        noop = importlib.util.find_spec("benchmarks.frameworks.noop").origin
        options = options_of(noop.replace("noop.py", name.rpartition(".")[2] + ".py"))
        spec = importlib.util.spec_from_file_location(name, noop)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.OPTIONS = options
            module.OFFERS |= {{"ONNX files"}}
            for each in ("step", "prefill", "decode"):
                setattr(module._Session, each, staticmethod(step))
            module._Session.short_blocks = False

        spec.loader.exec_module = exec_module
        return spec

def options_of(path):
    for statement in ast.parse(open(path, encoding="utf-8").read()).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "OPTIONS":
            return ast.literal_eval(statement.value)

def step(_batch):
    import time
    time.sleep(STEP_S)

sys.meta_path.insert(0, Finder())
"""


def write_wheels(folder: Path) -> Path:
    """Write a wheel of every release into a folder, and return it."""
    folder.mkdir()
    for package, versions in RELEASES.items():
        for age, version in enumerate(versions):
            module = f"bench_{package.replace('-', '_')}"
            hook = HOOK.replace("STEP_S", repr(STEP_S / (1 + age)))
            files = {f"{module}.py": hook, f"{module}.pth": f"import {module}\n"}
            _write(folder, package, version, files, requires="numpy")
    linked = _numpy_alone(folder)
    for package, versions in OTHERS.items():
        for version in versions:
            files = {"bench_numpy.pth": f"{linked}\n"} if package == "numpy" else {}
            _write(folder, package, version, files)
    return folder


def _numpy_alone(folder: Path) -> Path:
    """Return a folder that holds the NumPy of this interpreter, and nothing else of it."""
    linked = folder / "numpy-alone"
    linked.mkdir()
    installed = Path(numpy.__file__).parent
    for place in (installed, installed.with_name("numpy.libs")):
        if place.is_dir():
            (linked / place.name).symlink_to(place)
    return linked


def _write(folder: Path, package: str, version: str, files: Mapping[str, str], requires: str = "") -> None:
    name = package.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    whole = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n{needs}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for path, text in whole.items()}
    record = [f"{path},sha256={digests[path].rstrip(b'=').decode()},{len(whole[path])}\n" for path in whole]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in whole.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
