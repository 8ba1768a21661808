"""Forged or damaged files of results end in one line of error, and nothing is written."""

import copy
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from orchestrator.bundles.returns.merge import merge
from orchestrator.bundles.returns.results_manifest import (
    MANIFEST,
    SUMS,
    ResultsManifest,
    RunEntry,
    manifest_text,
    sums_line,
)
from orchestrator.errors import HostError, InputError
from tests.unit.bundles.returns.returning_runs import OTHER, RUN, Entry, content, entries, honest, packed

Change = Callable[[list[Entry]], None]


def _refused(file: bytes, folder: Path, match: str) -> None:
    path, home = folder / "hostile.tar.zst", folder / "home" / "results"
    path.write_bytes(file)
    with pytest.raises(InputError, match=match) as error:
        merge(path, home)
    (message,) = str(error.value).splitlines()
    assert message.startswith(f"{path}: ")
    assert len(message) < 700
    assert message.isprintable()
    assert content(home) == {}
    assert [entry.name for entry in home.iterdir()] in ([], [".merge.lock"])
    assert sorted(entry.name for entry in folder.iterdir()) == ["home", "hostile.tar.zst"]


def _files(good: Path) -> dict[str, bytes]:
    return content(good / "far")


@pytest.mark.parametrize(
    "path",
    [
        f"{RUN}/../../escaped", "../escaped", "/tmp/escaped", f"{RUN}/./x", f"{RUN}//x", f"{RUN}/x/", "..", f"{RUN}/..",
        f"{RUN}/a\\..\\..\\x", f"{RUN}/a\nb", f"{RUN}/a\x1b[2J", f"{RUN}/{'x' * 300}", f"{RUN}/{'x/' * 2000}x",
    ],
    ids=ascii,
)  # fmt: skip
def test_a_path_that_is_not_plain_is_refused(good: Path, tmp_path: Path, path: str) -> None:
    """A path that is not plain is refused, however right its sum is."""
    _refused(
        honest(_files(good) | {path: b"here I am"}),
        tmp_path,
        "in it (leads out|holds|is too long)|lists next|no name of a run|a line that is none",
    )


@pytest.mark.parametrize("path", ["stray", "20990101T000000Z-ffff"])
def test_a_file_of_no_run_is_refused(good: Path, tmp_path: Path, path: str) -> None:
    members = entries(good / "r.tar.zst")
    header = tarfile.TarInfo(path)
    _refused(packed([*members, (header, b"")]), tmp_path, f"it has files that {SUMS} does not list")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (tarfile.SYMTYPE, "symbolic link"), (tarfile.LNKTYPE, "hard link"), (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"), (tarfile.FIFOTYPE, "pipe"), (tarfile.DIRTYPE, "folder"),
        (tarfile.CONTTYPE, "no plain file"), (tarfile.GNUTYPE_SPARSE, "no plain file"), (b"?", "no plain file"),
    ],
)  # fmt: skip
def test_what_is_no_plain_file_is_refused(good: Path, tmp_path: Path, kind: bytes, said: str) -> None:
    members = entries(good / "r.tar.zst")
    header = copy.copy(members[5][0])
    header.type, header.linkname, header.size = kind, "/etc/passwd", 0
    members[5] = (header, b"")

    _refused(packed(members), tmp_path, said)


@pytest.mark.parametrize("place", [0, 1, 2, -1])
def test_a_missing_file_is_noticed_at_every_place(good: Path, tmp_path: Path, place: int) -> None:
    members = entries(good / "r.tar.zst")
    del members[place]

    _refused(packed(members), tmp_path, "where it belongs|lists next|are missing that SHA256SUMS lists")


@pytest.mark.parametrize("place", [2, 9, -1])
def test_a_file_of_another_content_is_damaged(good: Path, tmp_path: Path, place: int) -> None:
    members = entries(good / "r.tar.zst")
    header, data = members[place]
    members[place] = (header, data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])

    _refused(packed(members), tmp_path, "in it is damaged")


def test_a_file_that_comes_twice_is_refused(good: Path, tmp_path: Path) -> None:
    members = entries(good / "r.tar.zst")

    _refused(packed([*members[:4], members[3], *members[4:]]), tmp_path, "lists next")


def test_sums_that_list_a_file_twice_are_refused(good: Path, tmp_path: Path) -> None:
    members = entries(good / "r.tar.zst")
    header, sums = members[1]
    lines = sums.splitlines(keepends=True)
    header.size += len(lines[0])
    members[1] = (header, b"".join([lines[0], *lines]))

    _refused(packed([*members[:3], members[2], *members[3:]]), tmp_path, "SHA256SUMS is not in order")


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.3, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(good: Path, tmp_path: Path, keep: float) -> None:
    whole = (good / "r.tar.zst").read_bytes()

    _refused(whole[: int(keep * len(whole))], tmp_path, "it is cut off")


@pytest.mark.parametrize("more", [b"\0" * 512, b"x", b"\x28\xb5\x2f\xfd"])
def test_what_follows_the_end_is_refused(good: Path, tmp_path: Path, more: bytes) -> None:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress((good / "r.tar.zst").read_bytes())

    _refused(zstandard.compress(plain + more), tmp_path, "something follows its end")


def test_a_zip_bomb_stops_at_its_announced_size(good: Path, tmp_path: Path) -> None:
    bomb = honest(_files(good) | {f"{RUN}/zeros": bytes(200_000_000)})
    members = [(header, data) for header, data in entries_of(bomb, tmp_path)]
    manifest = json.loads(members[0][1])
    manifest["runs"][0]["size_bytes"] -= 150_000_000
    text = json.dumps(manifest).encode()
    header = tarfile.TarInfo("manifest.json")
    header.size = len(text)
    members[0] = (header, text)
    assert len(bomb) < 100_000

    _refused(packed(members), tmp_path, "there is more in it than its manifest says")


def entries_of(file: bytes, folder: Path) -> list[Entry]:
    path = folder / "hostile.tar.zst"
    path.write_bytes(file)
    return entries(path)


def _announcing(size_bytes: int, sums_bytes: int, begun: bytes = b"", files: int = 2**60) -> bytes:
    """A file of results of one run that says how much is to come, and breaks off in its sums."""
    run = RunEntry(run=RUN, files=files, size_bytes=size_bytes, host={})
    text = manifest_text(ResultsManifest(orchestrator_version="1", runs=(run,)))
    first, second = tarfile.TarInfo(MANIFEST), tarfile.TarInfo(SUMS)
    first.size, second.size = len(text), sums_bytes
    return zstandard.compress(first.tobuf() + text + bytes(-len(text) % 512) + second.tobuf() + begun)


@pytest.mark.parametrize(("size_bytes", "sums_bytes"), [(2**60, 0), (0, 10**17)])
def test_a_bomb_that_announces_itself_finds_no_room(tmp_path: Path, size_bytes: int, sums_bytes: int) -> None:
    path = tmp_path / "r.tar.zst"
    path.write_bytes(_announcing(size_bytes, sums_bytes))

    with pytest.raises(HostError, match="GB are needed"):
        merge(path, tmp_path / "results")

    assert list((tmp_path / "results").glob(".merging-*")) == []


_LINES = [sums_line("0" * 64, f"{RUN}/{number:09}") for number in range(20_000)]


@pytest.mark.parametrize(
    ("begun", "files", "said"),
    [
        (bytes(2_000_000), 9, f"{SUMS} in it is longer"),
        (b"0\n" * 1_000_000, 9, f"{SUMS} has a line that is none"),
        (b"".join(_LINES), 9, f"{SUMS} in it is longer"),
        (b"".join(2 * _LINES), 2**60, f"{SUMS} is not in order"),
    ],
    ids=["zeros", "no lines", "too many", "the same again"],
)
def test_bad_sums_are_never_written_to_the_disk(tmp_path: Path, begun: bytes, files: int, said: str) -> None:
    """They break off after what shows that they are none: who reads on sees that they are cut off."""
    _refused(_announcing(0, 4 * len(begun), begun, files), tmp_path, said)


def test_oversized_headers_and_windows_are_refused_early(good: Path, tmp_path: Path) -> None:
    """Headers and windows beyond reason are refused before they take memory."""
    comment = tarfile.TarInfo("x")
    comment.type, comment.size = tarfile.XHDTYPE, 4 * 10**9
    _refused(zstandard.compress(comment.tobuf() + bytes(1024)), tmp_path, "header of 4000000000 bytes")

    window = zstandard.ZstdCompressionParameters(window_log=30)
    stream = io.BytesIO()
    with zstandard.ZstdCompressor(compression_params=window).stream_writer(stream, closefd=False) as writer:
        writer.write(bytes(1024))
    _refused(stream.getvalue(), tmp_path, "cannot be decompressed")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_": 2}, r"schema 2 is newer than this orchestrator reads \(1\): upgrade it"),
        ({"kind": "framework-bench bundle"}, "it is no file of results, but 'framework-bench bundle'"),
        ({"kind": ""}, "it is no file of results"),
        ({"runs": ()}, "its manifest names no runs"),
        ({"orchestrator_version": ["0"]}, "its manifest cannot be read: orchestrator_version"),
    ],
)
def test_a_foreign_or_newer_manifest_is_reported(
    good: Path, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    """A manifest that is none of ours, cannot be read or is from the future is reported as such."""
    _refused(honest(_files(good), **change), tmp_path, said)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"NaN", b'{"schema": 1e999}', b"[" * 100_000])
def test_a_manifest_of_any_bytes_is_told(tmp_path: Path, text: bytes) -> None:
    header = tarfile.TarInfo("manifest.json")
    header.size = len(text)

    _refused(packed([(header, text)]), tmp_path, "its manifest cannot be read|no file of results")


@pytest.mark.parametrize("junk", [b"", b"results", bytes(100_000), b"PK\x03\x04" + bytes(100)])
def test_what_is_something_else_altogether_is_told(tmp_path: Path, junk: bytes) -> None:
    _refused(junk, tmp_path, "cut off|cannot be decompressed")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (b"{", "cannot be read: run.json: not a run record"),
        (b'{"schema": 9}', "schema 9 is newer"),
        (None, "no such run"),
    ],
)
def test_a_run_without_readable_record_is_refused(good: Path, tmp_path: Path, record: bytes | None, said: str) -> None:
    files = {path: data for path, data in _files(good).items() if path != f"{RUN}/run.json"}

    _refused(honest(files | ({} if record is None else {f"{RUN}/run.json": record})), tmp_path, said)


def test_a_run_contradicting_its_manifest_is_refused(good: Path, tmp_path: Path) -> None:
    """A run that says it is another one, or of another host, than the manifest says is refused."""
    files = _files(good)
    record = json.loads(files[f"{RUN}/run.json"])
    for change in ({"run": OTHER}, {"host": {"hostname": "mine"}}):
        changed = files | {f"{RUN}/run.json": json.dumps(record | change).encode()}
        _refused(honest(changed), tmp_path, "says something else of itself than the manifest")


def test_a_file_named_like_a_folder_is_refused(good: Path, tmp_path: Path) -> None:
    """A file and a folder of one name are refused."""
    _refused(honest(_files(good) | {f"{RUN}/x": b"", f"{RUN}/x/y": b""}), tmp_path, "a file and a folder at once")
