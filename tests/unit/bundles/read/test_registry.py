"""A host remembers the bundles that were loaded on it."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest

from orchestrator.bundles.read.loaded_bundle import LoadedRecord, read_matrix, read_plan
from orchestrator.bundles.read.names import loaded_names
from orchestrator.bundles.read.registry import find, register, registered
from orchestrator.errors import HostError, InputError
from orchestrator.user_files import ModelDefinition, ModelFile
from tests.unit.bundles.read.carried_bundle import FILES, IMAGE, a_record, opened


def test_a_bundle_is_kept_whole_and_read_back(tmp_path: Path) -> None:
    kept = register(tmp_path / "bundles", a_record(), opened())

    (found,) = registered(tmp_path / "bundles").values()
    assert found == kept
    assert found.record.images == (IMAGE,)
    assert [cell.id for cell in found.plan().cells] == ["torch-2.13.0-cpu/lenet-train-b200"]
    assert found.matrix()["name"] == "carried"
    assert {path: (found.folder / path).read_bytes() for path in FILES} == FILES


def test_own_models_return_with_framework_definitions(tmp_path: Path) -> None:
    """Own models come back from a bundle with the definitions of frameworks."""

    def kept(text: str) -> tuple[str, str]:
        return text, hashlib.sha256(text.encode()).hexdigest()

    own = (
        ModelFile("wide", *kept("x = 1\n"), (ModelDefinition("wide", "torch", *kept("y = 1\n")),)),
        ModelFile("wider", *kept("z = 1\n")),
    )
    files = {f"models/{name}": text.encode() for model in own for name, text in model.files.items()}

    found = register(tmp_path, a_record(FILES | files), opened(FILES | files))

    assert found.own_models() == own


def test_a_second_time_nothing_is_copied(tmp_path: Path) -> None:
    register(tmp_path, a_record(), opened())

    def never(path: str) -> BinaryIO:
        raise AssertionError(path)

    assert register(tmp_path, a_record(loaded_at="2027"), never).record.loaded_at == a_record().loaded_at


def test_a_second_registration_mends_local_changes(tmp_path: Path) -> None:
    """Files that were changed on this host are mended when the bundle is loaded a second time."""
    kept = register(tmp_path, a_record(), opened())
    (kept.folder / "plan.json").write_text("{}")

    register(tmp_path, a_record(), opened())

    assert (kept.folder / "plan.json").read_bytes() == FILES["plan.json"]


def test_another_image_store_gives_new_image_ids(tmp_path: Path) -> None:
    """A load with another image store replaces the ids of images from then on."""
    register(tmp_path, a_record(), opened())
    other = replace(IMAGE, image_id="sha256:" + "2" * 64)

    register(tmp_path, a_record(images=(other,)), opened())

    (found,) = registered(tmp_path).values()
    assert found.record.images == (other,)


def test_a_file_changed_after_verification_leaves_nothing(tmp_path: Path) -> None:
    """A file that is not the one that was verified is an error, and nothing of the bundle is kept."""
    with pytest.raises(InputError, match=r"plan\.json of the bundle carried is damaged"):
        register(tmp_path, a_record(), opened({**FILES, "plan.json": b"{}"}))

    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.parametrize("path", ["../escaped", "/tmp/escaped", "data/../../x", "loaded.json", "a\nb"])
def test_a_path_beyond_the_bundle_is_refused(tmp_path: Path, path: str) -> None:
    """A bundle cannot give a path outside its folder, a reserved name or one with a line break."""
    files = {**FILES, path: b"x"}
    with pytest.raises(InputError, match="in the bundle carried"):
        register(tmp_path / "bundles", a_record(files), opened(files))

    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [".lock"]


def test_a_newer_bundle_replaces_its_namesake(tmp_path: Path) -> None:
    """A new bundle of the same name takes the place of the old one."""
    register(tmp_path, a_record(), opened())
    files = {**FILES, "sbom/new.cdx.json": b"{}"}

    register(tmp_path, a_record(files, manifest_sha256="b" * 64), opened(files))

    (found,) = registered(tmp_path).values()
    assert found.record.manifest_sha256 == "b" * 64
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "carried"]


def test_an_omitted_dataset_comes_from_the_earlier_bundle(tmp_path: Path) -> None:
    """A dataset that a later bundle leaves out comes from the earlier one."""
    files = {**FILES, "data/mnist/train": b"images" * 1000}
    register(tmp_path, a_record(files), opened(files))

    later = register(tmp_path, a_record(files, name="later", manifest_sha256="c" * 64), opened(FILES))

    assert later.data_folder is not None
    assert (later.data_folder / "mnist" / "train").read_bytes() == files["data/mnist/train"]
    assert list(registered(tmp_path)) == loaded_names(tmp_path) == ["carried", "later"]


def test_a_rotten_earlier_dataset_is_not_taken(tmp_path: Path) -> None:
    """A dataset that rotted in the earlier bundle is not taken from there."""
    files = {**FILES, "data/mnist/train": b"images"}
    earlier = register(tmp_path, a_record(files), opened(files))
    (earlier.folder / "data/mnist/train").write_bytes(b"rotten")

    later = register(tmp_path, a_record(files, name="later"), opened(files))

    assert (later.folder / "data/mnist/train").read_bytes() == b"images"


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda folder: (folder / "plan.json").write_text("{}"), "changed since it was loaded"),
        (lambda folder: (folder / "plan.json").unlink(), "load the bundle carried again"),
    ],
)
def test_a_locally_changed_plan_is_not_used(tmp_path: Path, broken: Callable[[Path], object], said: str) -> None:
    """A plan that was changed or removed on this host is not used."""
    kept = register(tmp_path, a_record(), opened())
    broken(kept.folder)

    with pytest.raises(InputError, match=said):
        kept.plan()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": 2}'])
def test_an_unreadable_record_hides_no_other_bundle(tmp_path: Path, text: str) -> None:
    register(tmp_path, a_record(), opened())
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "loaded.json").write_text(text)

    assert list(registered(tmp_path)) == loaded_names(tmp_path) == ["carried"]


def test_a_bundle_is_found_by_name_or_folder(tmp_path: Path) -> None:
    """A bundle is found by its name, or by its folder with its manifest."""
    manifest = b'{"name": "carried"}'
    (tmp_path / "usb").mkdir()
    (tmp_path / "usb" / "manifest.json").write_bytes(manifest)
    bundles = tmp_path / "bundles"
    kept = register(bundles, a_record(manifest_sha256=hashlib.sha256(manifest).hexdigest()), opened())

    assert find(bundles, "carried") == kept
    assert find(bundles, str(tmp_path / "usb")) == kept
    (tmp_path / "usb" / "manifest.json").write_bytes(b"{}")
    with pytest.raises(HostError, match=r"is not loaded here; do it with: orchestrator load "):
        find(bundles, str(tmp_path / "usb"))
    with pytest.raises(InputError, match="no bundle 'other': loaded are carried"):
        find(bundles, "other")
    with pytest.raises(InputError, match="none is loaded here; `orchestrator load BUNDLE` loads one"):
        find(tmp_path / "nowhere", "other")


def test_names_that_are_no_folders_are_refused() -> None:
    """A name that cannot be a folder of ours is no name of a bundle."""
    for name in ("..", "a/b", ".hidden", "", "a\n"):
        with pytest.raises(ValueError, match="name"):
            LoadedRecord.model_validate(json.loads(a_record().model_dump_json(by_alias=True)) | {"name": name})


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"NaN", b'{"name": 1}', b"\xff", b"[" * 100_000])
def test_a_plan_that_is_none_is_one_line(text: bytes) -> None:
    with pytest.raises(InputError, match=r"^bundle/plan.json: [^\n]*$"):
        read_plan(text, "bundle/plan.json")


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"a: [", b"\xff\xfe", b"!!python/object:os.system {}", b"a: 1\n" + b"[" * 100_000,
        b"".join([b"a0: &a0 [x, x, x, x, x, x, x, x]\n"] + [
            f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n".encode() for n in range(1, 30)
        ]),
        b"a: &a [*a]\n",
    ],
    ids=range(8),
)  # fmt: skip
def test_a_bad_matrix_is_one_error_line(text: bytes) -> None:
    """A matrix that is none, or a bomb of aliases, is an error of one line."""
    with pytest.raises(InputError, match=r"^bundle/matrix.yaml: not [^\n]*$"):
        read_matrix(text, "bundle/matrix.yaml")
