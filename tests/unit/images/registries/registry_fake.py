"""A fake of an engine that pushes to and pulls from one registry, with images in memory."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from docker.errors import ImageNotFound, NotFound

from orchestrator.images import labels


def digest_of(number: int) -> str:
    """Return a digest with a number in it."""
    return f"sha256:{number:064x}"


@dataclass
class FakeRegistryEngine:
    """An engine that is also its client and its API."""

    names: dict[str, str] = field(default_factory=dict)
    """Ids by name."""
    contents: dict[str, str] = field(default_factory=dict)
    """Content hashes by id."""
    remote: dict[str, str] = field(default_factory=dict)
    """Ids by name with digest, in the registry."""
    refusal: str = ""
    """The registry's message, if it refuses everything."""
    calls: list[str] = field(default_factory=list)
    """Every push and pull."""
    tells_layers: bool = True
    """False if it names a digest alone, as Podman does."""
    removed_by_others: bool = False
    """True if another process names a pulled image and removes its digest before this one looks."""
    base_url = "http+docker://fake"
    api_version = "1.41"

    @property
    def api(self) -> "FakeRegistryEngine":
        return self

    def add(self, name: str, content: str, number: int) -> str:
        """Make an image of a content, and return its id."""
        identity = digest_of(number)
        self.names[name] = identity
        self.contents[identity] = content
        return identity

    def inspect_image(self, reference: str) -> dict[str, Any]:
        identity = self.names.get(reference, reference)
        if identity not in self.names.values():
            raise ImageNotFound(reference)
        tags = [name for name, one in self.names.items() if one == identity and "@" not in name]
        return {"Id": identity, "RepoTags": tags, "Config": {"Labels": {labels.CONTENT: self.contents[identity]}}}

    def tag(self, identity: str, repository: str, tag: str, force: bool = False) -> None:
        assert identity in self.names.values()
        self.names[f"{repository}:{tag}"] = identity

    def remove_image(self, reference: str, force: bool = False) -> None:
        if reference not in self.names:
            raise NotFound(reference)
        del self.names[reference]

    def push(self, repository: str, tag: str, **_: object) -> Iterator[dict[str, Any]]:
        self.calls.append(f"push {repository}:{tag}")
        if self.refusal:
            yield {"error": self.refusal}
            return
        identity = self.names[f"{repository}:{tag}"]
        there = identity in self.remote.values()
        if not self.tells_layers:
            yield {"status": f"The push refers to repository [{repository}:{tag}]"}
            self.remote[f"{repository}@{identity}"] = identity
            yield {"status": f"{tag}: digest: {identity} size: 760"}
            return
        yield {"status": "Preparing", "id": "base"}
        yield {"status": "Layer already exists", "id": "base"}
        yield {"status": "Layer already exists" if there else "Pushed", "id": "own"}
        yield {"status": "Layer already exists" if there else "Pushed", "id": "own"}
        self.remote[f"{repository}@{identity}"] = identity
        yield {"aux": {"Tag": tag, "Digest": identity}}

    def get(self, url: str, **_: object) -> Any:
        """Answer that the registry has an image, as far as one can tell without credentials."""
        assert "/distribution/" in url
        return type("Answer", (), {"ok": True})

    def pull(self, reference: str, **_: object) -> Iterator[dict[str, Any]]:
        self.calls.append(f"pull {reference}")
        if self.refusal or reference not in self.remote:
            yield {"error": self.refusal or "manifest unknown: manifest unknown"}
            return
        yield {"status": "Pulling fs layer", "id": "own"}
        self.names[reference] = self.remote[reference]
        if self.removed_by_others:
            del self.names[reference]
