"""Tiny wheels and their installations."""

import zipfile
from importlib import metadata
from pathlib import Path

from orchestrator.bundles.program import own_wheel


def files(
    name: str, version: str = "1.0", *, requires: tuple[str, ...] = (), tag: str = "py3-none-any"
) -> dict[str, bytes]:
    """Return the files of the wheel of a one-module package."""
    module = name.replace("-", "_")
    information = f"{module}-{version}.dist-info"
    lines = [f"Requires-Dist: {line}" for line in requires]
    text = "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines, "", ""])
    return {
        f"{module}.py": b"VALUE = 1\n",
        f"{information}/METADATA": text.encode(),
        f"{information}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }


def wheel(
    folder: Path, name: str, version: str = "1.0", *, requires: tuple[str, ...] = (), tag: str = "py3-none-any"
) -> Path:
    """Write the wheel of a one-module package."""
    path = folder / f"{name.replace('-', '_')}-{version}-{tag}.whl"
    own_wheel.pack(path, files(name, version, requires=requires, tag=tag))
    return path


def installed(folder: Path, content: dict[str, bytes]) -> metadata.Distribution:
    """Write files as an installer does, with its own additions."""
    information = next(name.partition("/")[0] for name in content if name.endswith("/WHEEL"))
    own_wheel.pack(folder / "made.whl", content)
    with zipfile.ZipFile(folder / "made.whl") as archive:
        record = archive.read(f"{information}/RECORD").decode()
    (folder / "made.whl").unlink()
    added = {
        f"{information}/INSTALLER": b"pip\n",
        f"{information}/REQUESTED": b"",
        "__pycache__/x.cpython-311.pyc": b"0",
    }
    for name, data in {**content, **added}.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    lines = [*record.splitlines(), "../../../bin/tool,,", *(f"{name},," for name in added)]
    (folder / information / "RECORD").write_text("\n".join(lines) + "\n")
    return metadata.PathDistribution(folder / information)
