"""No bundle that is mutated at random crashes a load, or brings anything false onto the engine."""

import hashlib
import io
import json
import tarfile
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.sources import BundleSource
from orchestrator.bundles.read.load import load_images
from orchestrator.bundles.read.receiver import Receiver
from orchestrator.bundles.read.verify import open_bundle, verify
from orchestrator.bundles.write.tar import write_tar
from orchestrator.errors import InputError, OrchestratorError
from tests.effort import examples
from tests.unit.bundles.bundle_fake_engine import FakeEngine
from tests.unit.bundles.read.bundle_fake_store import FakeStore
from tests.unit.bundles.small_bundles import an_engine, content, exported, loaded

THOUSANDS = settings(max_examples=examples(1500), database=None, suppress_health_check=list(HealthCheck))
PLACE = "bundle"


class MemorySource:
    """A bundle in memory."""

    place = PLACE

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self.sizes = {path: len(data) for path, data in files.items()}

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self._files[path])


@cache
def original() -> tuple[dict[str, bytes], frozenset[str], bytes]:
    """A whole bundle of two images, the configurations in it, and its tar."""
    with tempfile.TemporaryDirectory() as scratch:
        engine, folder = an_engine("1", "2"), Path(scratch) / PLACE
        exported(engine, folder, ["1", "2"])
        return content(folder), frozenset(engine.configs), write_tar(folder, folder.with_suffix(".tar")).read_bytes()


_JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 1 << 70), st.floats(), st.text(max_size=20), st.just([]), st.just({}),
    st.sampled_from(["../x", "/etc/passwd", "sha256:" + "0" * 64, "a" * 5000, "-v", "bench/small:2-cpu"]),
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """The manifest with a value replaced, removed or doubled, somewhere."""
    document = json.loads(original()[0][layout.MANIFEST])
    for _ in range(draw(st.integers(1, 3))):
        here = document
        while True:
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(here[key], dict | list) and here[key] and draw(st.booleans()):
                here = here[key]
                continue
            match draw(st.sampled_from(["replace", "remove", "double", "add", "swap"])):
                case "replace":
                    here[key] = draw(_JUNK)
                case "remove":
                    del here[key]
                case "double" if isinstance(here, list):
                    here.append(here[key])
                case "swap":
                    other = draw(st.sampled_from(keys))
                    here[key], here[other] = here[other], here[key]
                case _ if isinstance(here, dict):
                    here[draw(st.text(max_size=10))] = draw(_JUNK)
                case _:
                    here.append(draw(_JUNK))
            break
    return document


def _sealed(files: dict[str, bytes], document: Any) -> dict[str, bytes]:
    """The files with this manifest, and sums to match as well as they can."""
    text = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
    entries = document.get("files") if isinstance(document, dict) else None
    listed = [
        (str(entry.get("path")), str(entry.get("sha256")))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    ]
    listed.append((layout.MANIFEST, hashlib.sha256(text).hexdigest()))
    sums = "".join(f"{digest}  {path}\n" for path, digest in sorted(listed)).encode("utf-8", "surrogatepass")
    return files | {layout.MANIFEST: text, layout.SUMS: sums}


@st.composite
def bundles(draw: st.DrawFn) -> dict[str, bytes]:
    """A bundle with a few files cut, changed, swapped, lost or added, or a manifest that says something else."""
    files = dict(original()[0])
    if draw(st.booleans()):
        files = _sealed(files, draw(documents()))
    for _ in range(draw(st.integers(0 if files != original()[0] else 1, 3))):
        path = draw(st.sampled_from(sorted(files)))
        data = files[path]
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["flip", "cut", "grow", "lose", "add", "swap", "empty", "rename"])):
            case "flip" if at < len(data):
                files[path] = data[:at] + bytes([data[at] ^ draw(st.integers(1, 255))]) + data[at + 1 :]
            case "cut":
                files[path] = data[:at]
            case "grow":
                files[path] = data[:at] + draw(st.binary(min_size=1, max_size=50)) + data[at:]
            case "lose":
                del files[path]
            case "add":
                files[draw(st.sampled_from(["evil.whl", layout.STATE, "data/x", layout.SIGNATURE]))] = data[:at]
            case "swap":
                other = draw(st.sampled_from(sorted(files)))
                files[path], files[other] = files[other], data
            case "rename":
                files[path[:-1] + "x"] = files.pop(path)
            case _:
                files[path] = b""
    return files


def _see(far: FakeEngine, load: Callable[[], object]) -> None:
    """Allow a load to end in an error for people, and then see that nothing was loaded."""
    error: OrchestratorError | None = None
    try:
        load()
    except OrchestratorError as found:
        error = found
    if error is not None:
        assert isinstance(error, InputError), error
        assert PLACE in str(error)
        assert len(str(error)) < 6000
        assert (far.configs, far.names) == ({}, {})
    assert far.refused == []
    assert set(far.configs) <= original()[1]


def _load(source: BundleSource, far: FakeEngine) -> None:
    by_manifest = isinstance(far, FakeStore)
    to = Receiver(far, lambda size: None, lambda line: None, threading.Event(), by_manifest)  # type: ignore[arg-type]
    load_images(open_bundle(source), Path("/nowhere/bundle"), to)


@given(bundles())
@THOUSANDS
def test_a_mutated_bundle_loads_truth_or_nothing(files: dict[str, bytes]) -> None:
    """A mutated bundle loads content that is true, or nothing."""
    far = FakeEngine()
    if layout.MANIFEST not in files:
        return
    _see(far, lambda: _load(MemorySource(files), far))


@given(bundles())
@THOUSANDS
def test_a_mutated_bundle_never_falsifies_a_store(files: dict[str, bytes]) -> None:
    """A mutated bundle puts nothing false into a store of blobs."""
    far = FakeStore()
    if layout.MANIFEST not in files:
        return
    try:
        _load(MemorySource(files), far)
    except InputError:
        assert (far.configs, far.names) == ({}, {})
    assert set(far.configs.values()) <= {original()[0][layout.blob_path(config)] for config in original()[1]}


@given(bundles())
@THOUSANDS
def test_verified_files_match_their_manifest(files: dict[str, bytes]) -> None:
    """A bundle that passes verification holds the bytes that its manifest lists."""
    if layout.MANIFEST not in files:
        return
    try:
        bundle = open_bundle(MemorySource(files))
        verify(bundle, lambda size: None)
    except InputError:
        return
    listed = {file.path: file.sha256 for file in bundle.manifest.files}
    assert {path: hashlib.sha256(data).hexdigest() for path, data in files.items() if path in listed} == listed
    assert set(files) - layout.UNLISTED == set(listed)


@given(st.data())
@THOUSANDS
def test_a_mutated_tar_loads_truth_or_nothing(data: st.DataObject) -> None:
    """A mutated tar loads content that is true, or nothing."""
    tar = bytearray(original()[2])
    with tarfile.open(fileobj=io.BytesIO(bytes(tar))) as archive:
        headers = [member.offset for member in archive.getmembers()]
    for _ in range(data.draw(st.integers(1, 4))):
        near = data.draw(st.sampled_from(headers)) + data.draw(st.integers(0, 511))
        at = min(near if data.draw(st.booleans()) else data.draw(st.integers(0, len(tar))), len(tar) - 1)
        match data.draw(st.sampled_from(["flip", "cut", "insert", "copy"])):
            case "flip":
                tar[at] ^= data.draw(st.integers(1, 255))
            case "cut":
                del tar[max(at, 1) :]
            case "insert":
                tar[at:at] = data.draw(st.binary(max_size=600))
            case _:
                other = data.draw(st.sampled_from(headers))
                tar[at : at + 512] = tar[other : other + 512] or b"\0"
    far = FakeEngine()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{PLACE}.tar"
        path.write_bytes(bytes(tar))
        _see(far, lambda: loaded(far, path))
        assert [entry.name for entry in Path(scratch).iterdir()] == [path.name]
