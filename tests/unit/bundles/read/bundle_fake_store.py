"""A fake of an engine with containerd's image store, which knows images by their manifests."""

import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.unit.bundles.bundle_fake_engine import Answer, FakeEngine, digest

_BLOBS = "blobs/sha256/"


@dataclass
class FakeStore(FakeEngine):
    """An engine that behaves like Engine 26.1.

    `configs` holds configurations by the digest of the manifest.
    """

    blobs: dict[str, bytes] = field(default_factory=dict)

    def info(self) -> dict[str, Any]:
        return {"Driver": "overlayfs", "DriverStatus": [["driver-type", "io.containerd.snapshotter.v1"]]}

    def post(self, url: str, data: Iterable[bytes], **_: object) -> Answer:
        assert url.endswith("/images/load")
        files: dict[str, bytes] = {}
        with tarfile.open(fileobj=io.BytesIO(b"".join(data))) as archive:
            for entry in archive:
                file = archive.extractfile(entry)
                assert file is not None
                files[entry.name] = file.read()
        self.received.append({name: len(content) for name, content in files.items()})
        self.blobs |= {digest(content): content for name, content in files.items() if name.startswith(_BLOBS)}
        assert all(name == f"{_BLOBS}{digest(files[name])[7:]}" for name in files if name.startswith(_BLOBS))
        for entry_ in json.loads(files["index.json"])["manifests"]:
            manifest = json.loads(self.blobs[entry_["digest"]])
            # It knows the image from now on, even where it then finds that something is missing.
            self.configs[entry_["digest"]] = self.blobs[manifest["config"]["digest"]]
            missing = [layer["digest"] for layer in manifest["layers"] if layer["digest"] not in self.blobs]
            if missing:
                error = f"failed to unpack loaded image: content digest {missing[0]}: not found"
                self.refused.append(error)
                return Answer(json.dumps({"error": error}).encode())
        return Answer(b'{"stream":"Loaded"}\n')
