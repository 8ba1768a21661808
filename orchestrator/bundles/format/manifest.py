"""The manifest of a bundle, which lists every image, layer and file with size and digest."""

import hashlib
import json
import re
from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json

from orchestrator.bundles.format import layout
from orchestrator.errors import InputError, plain_words

SCHEMA = 1
MAX_MANIFEST_BYTES = 64 * 1024 * 1024
MAX_LAYER_BYTES = 1 << 40
"""Limit of one unpacked layer."""
MAX_LAYERS = 512
"""Limit of one image. Linux stacks 500, and engines build at most about 125."""
MAX_RATIO = 1000
"""Limit of unpacked to packed bytes above `FREE_BYTES`, against decompression bombs."""
FREE_BYTES = 1 << 30
_MOST_MISTAKES = 20
_CONTENT_TAG = re.compile(r"(?:.+/)?bench/(?!(?:orchestrator|environment):)[^/:]+:.+-[0-9a-f]{12}")
"""Content tags of images that cells run in.

Tags of the orchestrator and of environments are refused: the first gets the engine's socket, and images are built on
the second.
"""


def _path(value: str) -> str:
    problem = layout.problem_of_path(value)
    if problem:
        raise ValueError(f"{value[:200]!r} {problem}")
    return value


Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Size = Annotated[int, Field(ge=0, le=1 << 53, strict=True)]
Path = Annotated[str, AfterValidator(_path)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
Reference = Annotated[
    str,
    Field(
        max_length=300,
        pattern=r"^[a-z0-9]+([._:-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$",
    ),
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Layer(_Frozen):
    """One layer of images, as a zstd blob."""

    digest: Digest = Field(description="Of the blob.")
    diff_id: Digest = Field(description="Of the layer as a plain tar, as the image's configuration names it.")
    size_bytes: Size = Field(description="Of the blob.")
    uncompressed_bytes: Size = Field(le=MAX_LAYER_BYTES)

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        if self.uncompressed_bytes > FREE_BYTES + MAX_RATIO * self.size_bytes:
            raise ValueError(f"{self.size_bytes} bytes are said to unpack to {self.uncompressed_bytes}: too many")
        return self


class Image(_Frozen):
    """One image of the matrix."""

    name: str = Field(description="As the plan calls it: `bench/mxnet:1.9.1-cpu`.")
    reference: Reference = Field(description="Its content tag.")
    tags: tuple[Reference, ...] = Field(min_length=1, description="Every name it gets on the engine.")
    config: Digest = Field(description="Of its configuration, which is the image's id.")
    manifest: Digest = Field(description="Of its manifest in the OCI layout.")
    layers: tuple[Layer, ...] = Field(max_length=MAX_LAYERS, description="Lowest first.")


class File(_Frozen):
    """One file of the bundle."""

    path: Path
    size_bytes: Size
    sha256: Sha256


class Base(_Frozen):
    """The earlier bundle that a delta builds on."""

    name: Name
    manifest_sha256: Sha256


class Manifest(_Frozen):
    """`manifest.json` of a bundle."""

    schema_: Literal[1] = Field(1, alias="schema")
    name: Name
    orchestrator_version: str = Field(max_length=100)
    images: tuple[Image, ...]
    files: tuple[File, ...] = Field(description="Every file but the manifest, its sums and its signature, by path.")
    base: Base | None = Field(None, description="Of a delta: where the layers and files are that it leaves out.")
    left_out: tuple[File, ...] = Field((), description="Of a delta: the files that the earlier bundle holds.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(_problems(self))
        if problems:
            raise ValueError("; ".join(problems[:_MOST_MISTAKES]))
        return self

    @property
    def layers(self) -> dict[str, Layer]:
        """The layers of all images by diff id."""
        return {layer.diff_id: layer for image in self.images for layer in image.layers}

    def by_path(self) -> dict[str, File]:
        """Return the files by path."""
        return {file.path: file for file in self.files}

    def encoded(self) -> bytes:
        """Return the bytes of `manifest.json`. Equal manifests give equal bytes."""
        document = self.model_dump(mode="json", by_alias=True)
        return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()

    def sums(self) -> bytes:
        """Return `SHA256SUMS` of every listed file and of the manifest, as `sha256sum -c` reads it."""
        manifest = hashlib.sha256(self.encoded()).hexdigest()
        listed = [(file.path, file.sha256) for file in self.files]
        lines = (f"{digest}  {path}\n" for path, digest in sorted([*listed, (layout.MANIFEST, manifest)]))
        return "".join(lines).encode()


def _problems(manifest: Manifest) -> Iterable[str]:
    """Give the contradictions between the parts of a manifest."""
    files = manifest.by_path()
    paths = [file.path for file in chain(manifest.files, manifest.left_out)]
    yield from (f"{path!r} is listed twice" for path in _doubles(paths))
    yield from (f"{path!r} may not be listed" for path in sorted(layout.UNLISTED & set(paths)))
    folders = {parent for path in paths for parent in _parents(path)}
    yield from (f"{path!r} is both a file and a folder" for path in sorted(folders & set(paths)))
    yield from (f"tag {tag!r} is given twice" for tag in _doubles(tag for one in manifest.images for tag in one.tags))
    yield from (f"image {name!r} is there twice" for name in _doubles(image.name for image in manifest.images))
    if manifest.base is None and manifest.left_out:
        yield "files are left out, and no earlier bundle is named"
    for image in manifest.images:
        alias = image.reference.rpartition("-")[0]
        named = _CONTENT_TAG.fullmatch(image.reference) and f"/{alias}".endswith(f"/{image.name}")
        if not named or set(image.tags) != {alias, image.reference}:
            names = ", ".join(image.tags)[:300]
            yield f"image {image.name[:200]!r}: {names!r} are not the names that an export gives it"
        missing = [digest for digest in (image.config, image.manifest) if layout.blob_path(digest) not in files]
        yield from (f"image {image.name!r}: {digest} is not among the files" for digest in missing)
    by_diff_id = manifest.layers
    for layer in {layer for image in manifest.images for layer in image.layers}:
        blob = files.get(layout.blob_path(layer.digest))
        if blob is None and manifest.base is None:
            yield f"layer {layer.diff_id} is not among the files"
        if blob is not None and blob.size_bytes != layer.size_bytes:
            yield f"layer {layer.diff_id} has two sizes"
        if by_diff_id[layer.diff_id] != layer:
            yield f"layer {layer.diff_id} is described twice, each time in another way"
    for file in files.values():
        if file.path.startswith(f"{layout.BLOBS}/") and file.path != f"{layout.BLOBS}/{file.sha256}":
            yield f"{file.path!r} is not named after its content"


def _parents(path: str) -> Iterable[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: count + 1]) for count in range(len(parts)))


def _doubles(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    twice: set[str] = set()
    for name in names:
        (twice if name in seen else seen).add(name)
    return sorted(twice)


def read_manifest(content: bytes, place: str) -> Manifest:
    """Read `manifest.json`. Raises `InputError` with one line that names `place`."""
    try:
        document = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise InputError(f"{place}: not JSON: {str(error)[:200]}; the bundle is damaged, carry it again") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise InputError(f"{place}: no manifest of a bundle: it names no schema")
    if schema > SCHEMA:
        raise InputError(f"{place}: schema {schema} is newer than this orchestrator reads ({SCHEMA}): upgrade it")
    try:
        return Manifest.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        message = plain_words(first["msg"])
        raise InputError(f"{place}: {field + ': ' if field else ''}{message[:500]}") from None


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `manifest.json`."""
    schema = Manifest.model_json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
