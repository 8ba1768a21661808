"""A bundle with a one-module orchestrator, which the real `install.sh` installs with a fake engine."""

import hashlib
import marshal
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from orchestrator import __version__
from orchestrator.bundles.format import layout
from orchestrator.bundles.format.manifest import Base, File, Manifest
from orchestrator.bundles.program import own_wheel
from orchestrator.bundles.program.install_script import install_script
from orchestrator.bundles.program.wheels import TargetPlatform
from orchestrator.images import Built
from tests.unit.bundles.program import wheel_files

REFERENCE = f"bench/orchestrator:{__version__}-0123456789ab"
IMAGE_ID = "sha256:" + "1" * 64
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
MODULE = f"""import os, sys
def main():
    if sys.argv[1:] == ["--version"]:
        print("{__version__}")
    else:
        print("orchestrator", *sys.argv[1:], os.environ.get("ORCHESTRATOR_ALLOWED_SIGNERS", ""))
        sys.exit(int(os.environ.get("ENDS_WITH", "0")))
"""
FAKE_ENGINE = """#!/bin/sh
printf '%s\\n' "$*" >>"$HOME/docker.log"
case $1 in
version)
    [ -z "${ENGINE_ENDS:-}" ] || { echo 'permission denied' >&2; exit 1; }
    echo "${ENGINE_VERSION:-20.10.24+dfsg1}"
    ;;
image)
    for asked in "$@"; do :; done
    found=$(sed -n "s|^$asked ||p" "$HOME/images" 2>/dev/null | tail -n 1)
    [ -n "$found" ] && echo "$found"
    ;;
tag) echo "$3 $2" >>"$HOME/images" ;;
load)
    readlink /proc/self/fd/0 >>"$HOME/docker.log"
    printf '%s @ID@\\n' @ID@ @REFERENCE@ >>"$HOME/images"
    ;;
run) shift; for word in "$@"; do printf '%s\\n' "$word"; done >"$HOME/run.log" ;;
esac
""".replace("@ID@", IMAGE_ID).replace("@REFERENCE@", REFERENCE)


def own_files() -> dict[str, bytes]:
    """Return the files of the wheel of the small orchestrator."""
    files = wheel_files.files(own_wheel.DISTRIBUTION, __version__, requires=("thing>=1",))
    information = next(name.partition("/")[0] for name in files if name.endswith("/WHEEL"))
    files[f"{information}/entry_points.txt"] = b"[console_scripts]\norchestrator = framework_bench_orchestrator:main\n"
    return files | {"framework_bench_orchestrator.py": MODULE.encode()}


def write_wheels(folder: Path) -> None:
    """Write the wheels of the small orchestrator, of its dependency and of the pip of this environment."""
    folder.mkdir(parents=True)
    own_wheel.pack(folder / f"framework_bench_orchestrator-{__version__}-py3-none-any.whl", own_files())
    wheel_files.wheel(folder, "thing")
    name, content = _pip()
    (folder / name).write_bytes(content)


@cache
def _pip() -> tuple[str, bytes]:
    """Pack the pip of this environment as a wheel, which is run as it lies there: compiled, so that it starts soon."""
    pip = metadata.distribution("pip")
    files = dict(own_wheel.installed(pip))
    files |= {f"{name}c": _compiled(name, source) for name, source in files.items() if name.endswith(".py")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"pip-{pip.version}-py3-none-any.whl"
        own_wheel.pack(path, files)
        return path.name, path.read_bytes()


def _compiled(name: str, source: bytes) -> bytes:
    """Compile a module to a file that no Python compares with its source."""
    unchecked = (1).to_bytes(4, "little") + bytes(8)
    return MAGIC_NUMBER + unchecked + marshal.dumps(compile(source, name, "exec", dont_inherit=True))


def seal(bundle: Path, base: Base | None = None, left_out: tuple[File, ...] = ()) -> Manifest:
    """Write the manifest and the checksums of a folder."""
    for name in layout.UNLISTED:
        (bundle / name).unlink(missing_ok=True)
    paths = sorted(path for path in bundle.rglob("*") if path.is_file())
    files = tuple(described(bundle, path) for path in paths)
    manifest = Manifest(
        name=bundle.name, orchestrator_version=__version__, images=(), files=files, base=base, left_out=left_out
    )
    (bundle / layout.SUMS).write_bytes(manifest.sums())
    (bundle / layout.MANIFEST).write_bytes(manifest.encoded())
    return manifest


def described(bundle: Path, path: Path) -> File:
    content = path.read_bytes()
    name = path.relative_to(bundle).as_posix()
    return File(path=name, size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def write_bundle(bundle: Path, pythons: str = HERE, base: Base | None = None) -> Manifest:
    """Write a complete bundle without images."""
    write_wheels(bundle / layout.WHEELS)
    (bundle / layout.OWN_IMAGE).write_bytes(b"an archive")
    (bundle / "data of mine").mkdir()
    for name in ("a file, with a comma", 'the "first"', '"', "ünï: $HOME `id` 'x' &"):
        (bundle / "data of mine" / name).write_text("text")
    far = TargetPlatform(pythons, os.uname().machine)
    (bundle / layout.INSTALL).write_text(install_script(bundle.name, base, far, Built(REFERENCE, IMAGE_ID, REFERENCE)))
    return seal(bundle)


@dataclass
class Host:
    """A host with a home and a PATH with a fake engine."""

    home: Path
    shell: str = "sh"
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def command(self) -> Path:
        return self.home / ".local/bin/orchestrator"

    @property
    def tools(self) -> Path:
        return self.home / "tools"

    def with_engine(self) -> "Host":
        """Return the host with this interpreter as `python3`."""
        self.tools.mkdir(exist_ok=True)
        (self.tools / "docker").write_text(FAKE_ENGINE)
        (self.tools / "docker").chmod(0o755)
        (self.tools / "python3").unlink(missing_ok=True)
        (self.tools / "python3").symlink_to(sys.executable)
        return self

    def without_python(self) -> "Host":
        """Return the host with Pythons that do not run."""
        for name in ("python3", *(f"python3.{minor}" for minor in range(11, 15))):
            (self.tools / name).unlink(missing_ok=True)
            (self.tools / name).write_text("#!/bin/sh\nexit 1\n")
            (self.tools / name).chmod(0o755)
        return self

    def run(self, *command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.tools}:/usr/bin:/bin", "HOME": str(self.home), **self.variables}
        return subprocess.run(
            list(map(str, command)),
            env=environment,
            cwd=folder or self.home,
            capture_output=True,
            text=True,
            check=False,
        )

    def install(self, bundle: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
        return self.run(*self.shell.split(), bundle / layout.INSTALL, *options)

    def has(self, name: str, identity: str) -> None:
        """Give the engine an image with a name."""
        with (self.home / "images").open("a") as file:
            file.write(f"{name} {identity}\n{identity} {identity}\n")

    def asked(self) -> list[str]:
        """Return the requests to the engine."""
        log = self.home / "docker.log"
        return log.read_text().splitlines() if log.exists() else []
