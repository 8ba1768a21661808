import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docker
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from orchestrator.bundles.describe import sbom
from orchestrator.bundles.describe.package_files import UNREAD
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.streams import TransferStoppedError
from orchestrator.bundles.write import export as exporting
from orchestrator.bundles.write.bills import write_bills
from orchestrator.engine.images import BuildError
from orchestrator.events import Notice
from orchestrator.processes import Stop
from tests.unit.bundles.small_bundles import an_engine, an_export

IMAGE = "sha256:" + "ab" * 32
SITE = "opt/environment/lib/python3.11/site-packages"
STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u9
Description: GNU C Library: Shared libraries
 Version: 0.0 of a continuation line
 .
 more

Package: gone
Status: deinstall ok config-files
Version: 1.0
"""


def metadata(name: str, version: str, *lines: str) -> dict[str, str]:
    text = "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines, "", "Some text"])
    return {f"{SITE}/{name}-{version}.dist-info/METADATA": text}


def bill(files: dict[str, str]) -> dict[str, Any]:
    made = sbom.bill("bench/noop:1-cpu", IMAGE, ["sha256:" + "cd" * 32], files)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(made.decode()) is None
    document: dict[str, Any] = json.loads(made)
    return document


def components(files: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bill(files).get("components", [])
    return found


def test_system_packages_are_the_installed_ones() -> None:
    release = {"usr/lib/os-release": 'ID=debian\nVERSION_ID="12"\n'}

    (package,) = components({"var/lib/dpkg/status": STATUS, **release})

    assert package["version"] == "2.36-9+deb12u9"
    assert package["purl"] == "pkg:deb/debian/libc6@2.36-9%2Bdeb12u9?arch=amd64&distro=debian-12"


def test_images_without_package_manager_list_packages() -> None:
    """Images without a package manager list their packages in files of their own."""
    (package,) = components({"var/lib/dpkg/status.d/base": "Package: base-files\nVersion: 12\n"})

    assert package["purl"] == "pkg:deb/debian/base-files@12"


def test_packages_of_alpine_have_their_licence() -> None:
    text = "C:Q1x\nP:musl\nV:1.2.5-r0\nA:x86_64\nL:MIT\n\nC:Q1y\nP:zlib\nV:1.3\n"

    musl, zlib = components({"lib/apk/db/installed": text})

    assert musl["purl"] == "pkg:apk/alpine/musl@1.2.5-r0?arch=x86_64"
    assert musl["licenses"] == [{"license": {"id": "MIT"}}]
    assert zlib["name"] == "zlib"


@pytest.mark.parametrize(
    ("lines", "licences"),
    [
        (["License-Expression: MIT OR Apache-2.0", "License: whatever"], [{"expression": "MIT OR Apache-2.0"}]),
        (["License: Apache-2.0"], [{"license": {"id": "Apache-2.0"}}]),
        (["License: BSD, or so"], [{"license": {"name": "BSD, or so"}}]),
        (
            ["License: UNKNOWN", "Classifier: License :: OSI Approved :: MIT License", "Classifier: Topic :: Software"],
            [{"license": {"name": "MIT License"}}],
        ),
        ([f"License: {'a long text ' * 20}"], None),
        ([], None),
    ],
    ids=["expression", "identifier", "free", "classifier", "text", "none"],
)
def test_python_distribution_has_its_stated_licence(lines: list[str], licences: list[Any] | None) -> None:
    """A Python distribution has the licence that its metadata states."""
    (package,) = components(metadata("Some.Thing", "1.0", *lines))

    assert package["purl"] == "pkg:pypi/some-thing@1.0"
    assert package.get("licenses") == licences


def test_distribution_from_a_file_has_its_sum() -> None:
    """A distribution installed from a file has the sum of that file."""
    direct = json.dumps({"url": "file:///x.whl", "archive_info": {"hashes": {"sha256": "ef" * 32, "md5": "0"}}})
    files = metadata("thing", "1.0") | {f"{SITE}/thing-1.0.dist-info/direct_url.json": direct}

    (package,) = components(files)

    assert package["hashes"] == [{"alg": "SHA-256", "content": "ef" * 32}]


def test_one_distribution_in_two_places_is_two_components() -> None:
    text = "Name: thing\nVersion: 1.0\n\n"
    files = {
        f"usr/lib/python3/dist-packages/thing-1.0.{kind}": text for kind in ("egg-info/PKG-INFO", "dist-info/METADATA")
    }
    files["usr/lib/python3/dist-packages/old-2.0.egg-info"] = "Name: old\nVersion: 2.0\n"

    assert sorted(one["bom-ref"].partition("#")[2] for one in components(files)) == [
        "usr/lib/python3/dist-packages/old-2.0.egg-info",
        "usr/lib/python3/dist-packages/thing-1.0.dist-info",
        "usr/lib/python3/dist-packages/thing-1.0.egg-info",
    ]


@pytest.mark.parametrize("text", ["", "Name: x\n", "no header\n", "{"], ids=["empty", "no version", "text", "other"])
def test_metadata_that_cannot_be_read_is_left_out(text: str) -> None:
    assert components({f"{SITE}/x-1.dist-info/METADATA": text, "var/lib/dpkg/status": text}) == []


def test_equal_images_have_equal_bills() -> None:
    """Equal images have equal bills, and other images have other serial numbers."""
    files = metadata("thing", "1.0") | {"var/lib/dpkg/status": STATUS}

    one, again, other = bill(files), bill(dict(reversed(files.items()))), bill(metadata("thing", "2.0"))

    assert json.dumps(one) == json.dumps(again)
    assert one["serialNumber"] != other["serialNumber"]
    assert "timestamp" not in one["metadata"]


def test_a_bill_names_its_image_with_the_layers() -> None:
    image = bill({})["metadata"]["component"]

    assert (image["name"], image["hashes"][0]["content"]) == ("bench/noop:1-cpu", "ab" * 32)
    assert [one["value"] for one in image["properties"]] == ["sha256:" + "cd" * 32]


@pytest.mark.parametrize("path", ["var/lib/rpm/rpmdb.sqlite", "usr/lib/sysimage/rpm/rpmdb.sqlite"])
def test_packages_of_rpm_have_their_epoch_and_licence(path: str) -> None:
    shadow = {"name": "shadow-utils", "version": "4.9", "release": "8.el9", "epoch": "2", "arch": "x86_64"}
    files = {path: json.dumps([shadow | {"license": "MIT"}, {"name": "odd", "version": "1"}])}
    files["etc/os-release"] = 'ID="rocky"\nVERSION_ID="9.4"\n'

    odd, package = components(files)

    assert package["purl"] == "pkg:rpm/rocky/shadow-utils@4.9-8.el9?arch=x86_64&distro=rocky-9.4&epoch=2"
    assert package["licenses"] == [{"license": {"id": "MIT"}}]
    assert odd["purl"] == "pkg:rpm/rocky/odd@1?distro=rocky-9.4"


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({}, "the packages of the system, of which no database was found"),
        (metadata("thing", "1.0"), "the packages of the system, of which no database was found"),
        ({"var/lib/rpm/Packages": UNREAD}, "the packages of var/lib/rpm/Packages"),
        (
            {"var/lib/dpkg/status": STATUS, "opt/conda/conda-meta/history": UNREAD},
            "the packages of opt/conda/conda-meta/history",
        ),
        ({f"{name}/conda-meta/history": UNREAD for name in "abcd"}, None),
    ],
    ids=["nothing", "Python alone", "old RPM", "conda", "many"],
)
def test_a_bill_that_lacks_packages_says_so(files: dict[str, str], missing: str | None) -> None:
    many = "the packages of a/conda-meta/history, b/conda-meta/history, c/conda-meta/history and more"

    assert sbom.missing(files) == (missing or many)
    assert bill(files)["compositions"] == [{"aggregate": "incomplete", "assemblies": [IMAGE]}]


@pytest.mark.parametrize(
    "path", ["var/lib/dpkg/status", "var/lib/dpkg/status.d/base", "lib/apk/db/installed", "usr/lib/apk/db/installed"]
)
def test_bill_without_known_gaps_reports_none(path: str) -> None:
    """A bill that lacks nothing that is known does not say that it lacks packages."""
    assert "compositions" not in bill({path: STATUS})


def no_files(client: docker.DockerClient, image: str, stop: Stop) -> dict[str, str]:
    """Stands in for an image without package files."""
    del client, image, stop
    return {}


def no_python(client: docker.DockerClient, image: str, stop: Stop) -> dict[str, str]:
    """Stands in for an image whose Python does not answer."""
    del client, image, stop
    raise BuildError("exec format error")


def odd_names(client: docker.DockerClient, image: str, stop: Stop) -> dict[str, str]:
    """Stands in for an image with a package that no system can have."""
    del client, image, stop
    return {"var/lib/dpkg/status": "Package: /\nVersion: 1\nStatus: install ok installed\n"}


@pytest.mark.parametrize(
    ("package_files", "lacking"),
    [
        (odd_names, "all packages, since what its files list cannot be described: "),
        (no_files, "the packages of the system, of which no database was found"),
        (no_python, "all packages, since its Python did not list them: exec format error"),
    ],
)
def test_an_export_reports_what_its_bills_lack(
    tmp_path: Path, package_files: Callable[..., dict[str, str]], lacking: str
) -> None:
    events: list[object] = []
    export = an_export(an_engine("1"), tmp_path / "bundle", ["1"], listener=events.append, package_files=package_files)

    exporting.write(export, (write_bills,))

    reference = "bench/small:1-cpu-0123456789ab"
    (written,) = (tmp_path / "bundle" / layout.SBOM).iterdir()
    (notice,) = [each.message for each in events if isinstance(each, Notice) and "bill of materials" in each.message]
    assert notice.startswith(f"the bill of materials of {reference} lacks {lacking}")
    assert json.loads(written.read_text())["compositions"][0]["aggregate"] == "incomplete"


def test_a_stop_ends_the_bills(tmp_path: Path) -> None:
    stop = threading.Event()

    def stopping(client: docker.DockerClient, image: str, stop: Stop) -> dict[str, str]:
        del client, image
        stop.set()
        raise BuildError("it was stopped")

    export = an_export(an_engine("1"), tmp_path / "bundle", ["1"], stop=stop, package_files=stopping)

    with pytest.raises(TransferStoppedError):
        exporting.write(export, (write_bills,))
