"""CycloneDX bills of materials with the system packages and the Python packages of an image."""

import json
from collections.abc import Iterable, Iterator, Mapping
from email.parser import HeaderParser
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from orchestrator import __version__
from orchestrator.bundles.describe.package_files import ALPINE, DEBIAN, RPM, UNREAD

_PLACE = "bench:path"
_MOST_NAMED = 3
_LICENCE_CHARACTERS = 100
"""A longer field holds the text of a licence instead of its name."""
_HASHES = {"sha256": HashAlgorithm.SHA_256, "sha512": HashAlgorithm.SHA_512, "sha384": HashAlgorithm.SHA_384}
_licences = LicenseFactory()


def bill(name: str, image_id: str, diff_ids: Iterable[str], files: Mapping[str, str]) -> bytes:
    """Return the bill of an image from its package files (see `package_files.package_files`).

    Equal images have equal bills, because a bill holds no time and its serial number comes from the content.
    If anything is `missing`, the bill states that it is incomplete.
    """
    image = Component(
        name=name,
        type=ComponentType.CONTAINER,
        version=image_id,
        bom_ref=image_id,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=image_id.removeprefix("sha256:"))],
        properties=[Property(name="bench:layer", value=diff_id) for diff_id in diff_ids],
    )
    parts = [*_system(files), *_python(files)]
    tool = Component(name="framework-bench-orchestrator", type=ComponentType.APPLICATION, version=__version__)
    metadata = BomMetaData(component=image, tools=ToolRepository(components=[tool]))
    content = "\n".join([image_id, __version__, missing(files), *sorted(str(part.bom_ref.value) for part in parts)])
    bom = Bom(components=parts, metadata=metadata, serial_number=uuid5(NAMESPACE_URL, content))
    bom.register_dependency(image, parts)
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    document["metadata"].pop("timestamp", None)
    if missing(files):
        document["compositions"] = [{"aggregate": "incomplete", "assemblies": [image_id]}]
    return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def missing(files: Mapping[str, str]) -> str:
    """Return what a bill of these files lacks, in a few words, empty if it is complete."""
    unread = [path for path, text in sorted(files.items()) if text == UNREAD]
    if unread:
        return f"the packages of {', '.join(unread[:_MOST_NAMED])}{' and more' if len(unread) > _MOST_NAMED else ''}"
    known = any(_is_debian(path) or path in ALPINE or path in RPM for path in files)
    return "" if known else "the packages of the system, of which no database was found"


def _is_debian(path: str) -> bool:
    return path == DEBIAN or path.startswith(f"{DEBIAN}.d/")


def _system(files: Mapping[str, str]) -> Iterator[Component]:
    release = _release(files)
    for path, text in sorted(files.items()):
        if _is_debian(path):
            yield from (_debian(entry, release) for entry in _stanzas(text) if _is_installed(entry))
        elif path in ALPINE:
            yield from (_alpine(entry, release) for entry in _stanzas(text) if "P" in entry)
        elif path in RPM and text != UNREAD:
            yield from (_rpm(entry, release) for entry in json.loads(text))


def _release(files: Mapping[str, str]) -> dict[str, str]:
    text = files.get("usr/lib/os-release") or files.get("etc/os-release") or ""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key: value.strip().strip("\"'") for key, _, value in pairs}


def _stanzas(text: str) -> Iterator[dict[str, str]]:
    """Give the fields of each paragraph without the continuation lines, which hold descriptions."""
    for paragraph in text.split("\n\n"):
        pairs = (line.partition(":") for line in paragraph.splitlines() if line[:1].strip() and ":" in line)
        entry = {key: value.strip() for key, _, value in pairs}
        if entry:
            yield entry


def _is_installed(entry: Mapping[str, str]) -> bool:
    # Images without a package manager have one file for each package, which has no status.
    return "Package" in entry and "Version" in entry and entry.get("Status", "installed").endswith("installed")


def _debian(entry: Mapping[str, str], release: Mapping[str, str]) -> Component:
    name, version, system = entry["Package"], entry["Version"], release.get("ID", "debian")
    qualifiers = {"arch": entry.get("Architecture", ""), "distro": _distribution(system, release)}
    url = PackageURL("deb", system, name, version, {key: value for key, value in qualifiers.items() if value})
    return Component(name=name, version=version, purl=url, bom_ref=str(url))


def _alpine(entry: Mapping[str, str], release: Mapping[str, str]) -> Component:
    name, version = entry["P"], entry.get("V", "")
    qualifiers = {"arch": entry.get("A", ""), "distro": _distribution("alpine", release)}
    url = PackageURL("apk", "alpine", name, version, {key: value for key, value in qualifiers.items() if value})
    return Component(name=name, version=version, purl=url, bom_ref=str(url), licenses=_named(entry.get("L", "")))


def _rpm(entry: Mapping[str, str], release: Mapping[str, str]) -> Component:
    name, version, system = entry["name"], entry["version"], release.get("ID", "redhat")
    version += f"-{entry['release']}" if entry.get("release") else ""
    qualifiers = {"arch": entry.get("arch"), "epoch": entry.get("epoch"), "distro": _distribution(system, release)}
    url = PackageURL("rpm", system, name, version, {key: value for key, value in qualifiers.items() if value})
    licences = _named(" ".join(entry.get("license", "").split()))
    return Component(name=name, version=version, purl=url, bom_ref=str(url), licenses=licences)


def _distribution(system: str, release: Mapping[str, str]) -> str:
    version = release.get("VERSION_ID", "")
    return f"{system}-{version}" if version else ""


def _python(files: Mapping[str, str]) -> Iterator[Component]:
    for path, text in sorted(files.items()):
        if not path.endswith(("METADATA", "PKG-INFO", ".egg-info")):
            continue
        fields = HeaderParser().parsestr(text)
        name, version = fields.get("Name", ""), fields.get("Version", "")
        if not name or not version:
            continue
        url = PackageURL("pypi", None, str(canonicalize_name(name)), version)
        place = path if path.endswith(".egg-info") else path.rpartition("/")[0]
        yield Component(
            name=name,
            version=version,
            purl=url,
            bom_ref=f"{url}#{place}",
            licenses=_licence(fields.get("License-Expression"), fields.get("License"), fields.get_all("Classifier")),
            hashes=_archive_hashes(files.get(f"{place}/direct_url.json")),
            properties=[Property(name=_PLACE, value=place)],
        )


def _licence(
    expression: str | None, stated: str | None, classifiers: list[str] | None
) -> list[LicenseExpression | DisjunctiveLicense]:
    """Return the stated licence, from the SPDX expression, the name or the classifiers, in this order."""
    if expression:
        return _named(expression)
    name = " ".join((stated or "").split())
    if name and len(name) <= _LICENCE_CHARACTERS and name.upper() != "UNKNOWN":
        return _named(name)
    kinds = [line.rpartition("::")[2].strip() for line in classifiers or () if line.startswith("License ::")]
    return [DisjunctiveLicense(name=kind) for kind in dict.fromkeys(kinds) if kind != "OSI Approved"]


def _named(text: str) -> list[LicenseExpression | DisjunctiveLicense]:
    licence = _licences.make_from_string(text) if text else None
    return [licence] if licence else []


def _archive_hashes(direct: str | None) -> list[HashType]:
    """Return the hashes of a package that was installed from a file or a URL.

    A package from an index has none.
    """
    try:
        hashes = dict(json.loads(direct or "{}")["archive_info"]["hashes"])
    except (ValueError, KeyError, TypeError):
        return []
    return [HashType(alg=_HASHES[name], content=str(value)) for name, value in hashes.items() if name in _HASHES]
