"""A fake of Engine 20.10 with images in memory, which saves and loads in its form and with its checks."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from docker.errors import ImageNotFound, NotFound

from orchestrator.engine.transfer import chain_ids
from orchestrator.images import labels


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def layer(files: dict[str, bytes]) -> bytes:
    """Return a layer as a plain tar."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


class Answer:
    """An answer of the engine to a request."""

    def __init__(self, content: bytes = b"", status: int = 200) -> None:
        self.raw = io.BytesIO(content)
        self.ok = status < 400
        self.status_code = status
        self._content = content

    def json(self) -> Any:
        return json.loads(self._content)

    def iter_lines(self) -> Iterable[bytes]:
        return self._content.splitlines()

    def close(self) -> None:
        pass


@dataclass
class FakeEngine:
    """An engine that is also its client and its API.

    `configs` holds configurations by id, and `layers` plain tars by diff id.
    """

    configs: dict[str, bytes] = field(default_factory=dict)
    layers: dict[str, bytes] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Ids by name."""
    saves: list[list[str]] = field(default_factory=list)
    received: list[dict[str, int]] = field(default_factory=list)
    """Names and sizes of the files of each archive that was loaded."""
    refused: list[str] = field(default_factory=list)
    """The reason for each archive that was refused."""
    archive: Callable[["FakeEngine", Sequence[str]], bytes] | None = None
    base_url = "http+docker://fake"
    api_version = "1.41"

    def close(self) -> None:
        pass

    @property
    def api(self) -> "FakeEngine":
        return self

    def info(self) -> dict[str, Any]:
        return {"Driver": "overlay2", "DriverStatus": [["Backing Filesystem", "extfs"]]}

    def add(self, name: str, layers: Sequence[bytes], **more: Any) -> str:
        """Make an image of ours, and return its id."""
        config = {
            "config": {"Labels": {labels.KIND: labels.IMAGE}},
            "rootfs": {"type": "layers", "diff_ids": [digest(one) for one in layers]},
            **more,
        }
        content = json.dumps(config).encode()
        self.configs[digest(content)] = content
        self.layers |= {digest(one): one for one in layers}
        self.names[name] = digest(content)
        return digest(content)

    def images(self, **_: object) -> list[dict[str, Any]]:
        return [{"Id": identity} for identity in self.configs]

    def inspect_image(self, reference: str) -> dict[str, Any]:
        identity = self.names.get(reference, reference)
        if identity not in self.configs:
            raise ImageNotFound(reference)
        config = json.loads(self.configs[identity])
        return {
            "Id": identity,
            "RepoTags": [name for name, one in self.names.items() if one == identity],
            "Config": config.get("config"),
            "RootFS": {"Layers": config["rootfs"]["diff_ids"]},
        }

    def history(self, reference: str) -> list[dict[str, Any]]:
        found = self.inspect_image(reference)["RootFS"]["Layers"]
        return [{"Size": len(self.layers[one]), "Created": 1, "CreatedBy": one} for one in reversed(found)]

    def tag(self, identity: str, repository: str, tag: str, force: bool = False) -> None:
        assert identity in self.configs
        self.names[f"{repository}:{tag}"] = identity

    def remove_image(self, reference: str, force: bool = False) -> None:
        identity = self.names.pop(reference, reference)
        if identity not in self.configs:
            raise NotFound(reference)
        if identity not in self.names.values():
            del self.configs[identity]

    def get(self, url: str, params: dict[str, Any], **_: object) -> Answer:
        assert url.endswith("/images/get")
        references = list(params["names"])
        self.saves.append(references)
        return Answer((self.archive or docker_archive)(self, references))

    def post(self, url: str, data: Iterable[bytes], **_: object) -> Answer:
        assert url.endswith("/images/load")
        files: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(b"".join(data))) as archive:
            for entry in archive:
                file = archive.extractfile(entry)
                assert file is not None
                files[entry.name] = file.read()
        self.received.append({name: len(content) for name, content in files.items()})
        try:
            for entry_ in json.loads(files["manifest.json"]):
                self._take(entry_, files)
        except (KeyError, ValueError) as error:
            self.refused.append(repr(error))
            return Answer(json.dumps({"error": f"no such file or bad layer: {error}"}).encode())
        return Answer(b'{"stream":"Loaded"}\n')

    def _take(self, entry: dict[str, Any], files: dict[str, bytes]) -> None:
        config = files[entry["Config"]]
        diff_ids = json.loads(config)["rootfs"]["diff_ids"]
        chains = {chain for one in self.configs.values() for chain in chain_ids(json.loads(one)["rootfs"]["diff_ids"])}
        found = {}
        for name, diff_id, chain in zip(entry["Layers"], diff_ids, chain_ids(diff_ids), strict=True):
            if chain not in chains:
                found[diff_id] = files[name]
                if digest(files[name]) != diff_id:
                    raise ValueError(diff_id)
        self.layers |= found
        self.configs[digest(config)] = config


def _tar(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in sorted([*files, *(links or {})]):
            entry = tarfile.TarInfo(name)
            if links and name in links:
                entry.type, entry.linkname = tarfile.SYMTYPE, links[name]
                archive.addfile(entry)
                continue
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return buffer.getvalue()


def docker_archive(engine: FakeEngine, references: Sequence[str]) -> bytes:
    """Return an archive of Engine 20.10, with a folder for each chain of layers and links for repeated layers."""
    files: dict[str, bytes] = {"repositories": b"{}"}
    links: dict[str, str] = {}
    entries, homes = [], {}
    for reference in references:
        identity = engine.names[reference]
        config = engine.configs[identity]
        diff_ids = json.loads(config)["rootfs"]["diff_ids"]
        names = []
        for diff_id, chain in zip(diff_ids, chain_ids(diff_ids), strict=True):
            folder = hashlib.sha256(chain.encode()).hexdigest()
            name = f"{folder}/layer.tar"
            files |= {f"{folder}/VERSION": b"1.0", f"{folder}/json": b"{}"}
            if name not in files:
                home = homes.setdefault(diff_id, name)
                if home == name:
                    files[name] = engine.layers[diff_id]
                else:
                    links[name] = f"../{home}"
            names.append(name)
        files[f"{identity.removeprefix('sha256:')}.json"] = config
        entries.append({"Config": f"{identity.removeprefix('sha256:')}.json", "RepoTags": [reference], "Layers": names})
    files["manifest.json"] = json.dumps(entries).encode()
    return _tar(files, links)


def oci_archive(engine: FakeEngine, references: Sequence[str], *, packed: bool = True) -> bytes:
    """Return an archive of newer engines, an OCI layout with a manifest for older readers.

    Layers may be compressed.
    """
    files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": b"{}"}
    entries = []
    for reference in references:
        config = engine.configs[engine.names[reference]]
        names = []
        for diff_id in json.loads(config)["rootfs"]["diff_ids"]:
            content = engine.layers[diff_id]
            content = gzip.compress(content, mtime=0) if packed else content
            names.append(f"blobs/sha256/{digest(content).removeprefix('sha256:')}")
            files[names[-1]] = content
        config_name = f"blobs/sha256/{digest(config).removeprefix('sha256:')}"
        files[config_name] = config
        entries.append({"Config": config_name, "RepoTags": [reference], "Layers": names})
    files["manifest.json"] = json.dumps(entries).encode()
    return _tar(files)
