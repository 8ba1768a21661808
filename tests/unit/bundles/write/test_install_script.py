import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.bundles.format import layout, signature
from orchestrator.bundles.format.manifest import Base
from orchestrator.bundles.program import own_wheel
from orchestrator.resources import IMAGES
from tests.unit.bundles.program import wheel_files
from tests.unit.bundles.write import installing
from tests.unit.bundles.write.installing import Host

SHELLS = [
    f"{shutil.which(name)} {' '.join(options)}".strip()
    for name, *options in (("dash",), ("bash", "--posix"), ("busybox", "sh"))
    if shutil.which(name)
]
TOOLS = (
    "find", "sed", "sort", "grep", "tr", "cmp", "sha256sum", "sh", "dirname", "mkdir", "mktemp", "ln", "rm", "cat",
)  # fmt: skip
WHEEL = f"{layout.WHEELS}/thing-1.0-py3-none-any.whl"


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundle = tmp_path_factory.mktemp("bundles") / "night"
    installing.write_bundle(bundle)
    return bundle


@pytest.fixture
def bundle(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "carried" / "night"))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    (tmp_path / "home of mine").mkdir()
    return Host(tmp_path / "home of mine").with_engine()


def refusal(host: Host, bundle: Path, *options: str | Path, status: int = 2) -> str:
    done = host.install(bundle, *options)
    assert done.returncode == status, done.stderr
    assert not host.command.exists()
    assert [path.name for path in host.home.rglob(".orchestrator.*")] == []
    last = done.stderr.splitlines()[-1]
    assert last.startswith("install.sh: ")
    return last


@pytest.mark.parametrize("name", ["install.sh", "orchestrator.sh"])
def test_the_scripts_are_plain_posix_shell(name: str) -> None:
    checker = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run(
        [checker, "-s", "sh", IMAGES / "orchestrator" / name], capture_output=True, text=True, check=False
    )

    assert done.stdout == ""


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: Path(shell.split()[0]).name)
def test_a_fitting_python_gets_the_wheels(host: Host, bundle: Path, shell: str) -> None:
    """A Python that fits gets the wheels, and the program then loads the rest."""
    host.shell = shell

    done = host.install(bundle)

    assert done.returncode == 0, done.stderr
    assert done.stdout == f"orchestrator load {bundle} \n"
    assert host.run(host.command, "run", "a b", "*").stdout == "orchestrator run a b * \n"
    assert host.asked() == []


def test_installing_again_changes_nothing_and_is_quick(host: Host, bundle: Path) -> None:
    host.install(bundle, "--no-load")
    before = {path: path.stat().st_mtime_ns for path in (host.home / ".local/lib").rglob("*")}

    again = host.install(bundle, "--no-load")

    assert again.returncode == 0
    assert "installing for" not in again.stderr
    assert {path: path.stat().st_mtime_ns for path in (host.home / ".local/lib").rglob("*")} == before


def test_what_was_half_installed_is_installed_again(host: Host, bundle: Path) -> None:
    host.install(bundle, "--no-load")
    (program,) = (host.home / ".local/lib/framework-bench").iterdir()
    (program / "complete").unlink()
    (program / "bin/orchestrator").unlink()

    assert host.install(bundle, "--no-load").returncode == 0
    assert host.run(host.command, "plan").stdout == "orchestrator plan \n"


def test_an_installation_that_fails_leaves_nothing(host: Host, bundle: Path) -> None:
    (bundle / WHEEL).write_bytes(b"no wheel")
    installing.seal(bundle)

    assert "the wheels cannot be installed: " in refusal(host, bundle, status=3)
    assert list((host.home / ".local/lib/framework-bench").iterdir()) == []


def test_the_program_runs_from_its_image_without_python(host: Host, bundle: Path) -> None:
    """Without a Python that fits, the program runs from its own image."""
    host.without_python()

    done = host.install(bundle, "--no-load")

    assert done.returncode == 0, done.stderr
    assert "no Python here for which there are wheels" in done.stderr
    assert [line for line in host.asked() if "load" in line or "tar" in line] == [
        "load --quiet", f"{bundle}/orchestrator/image.tar.gz",
    ]  # fmt: skip


def test_an_image_on_the_engine_is_not_reloaded(host: Host, bundle: Path) -> None:
    host.install(bundle, "--no-load", "--container")
    host.install(bundle, "--no-load", "--container")

    assert len([line for line in host.asked() if line.startswith("load")]) == 1


def test_another_image_of_that_name_is_not_taken(host: Host, bundle: Path) -> None:
    """An image that has its name and is another one is not taken for it."""
    host.has(installing.REFERENCE, "sha256:" + "6" * 64)

    assert host.install(bundle, "--no-load", "--container").returncode == 0

    assert len([line for line in host.asked() if line.startswith("load")]) == 1
    assert f"image_id='{installing.IMAGE_ID}'" in host.command.read_text().splitlines()


def test_an_image_gets_its_lost_name_back(host: Host, bundle: Path) -> None:
    """An image that lost its name to another gets it back."""
    host.install(bundle, "--no-load", "--container")
    host.has(installing.REFERENCE, "sha256:" + "6" * 64)

    assert host.install(bundle, "--no-load", "--container").returncode == 0

    assert f"tag {installing.IMAGE_ID} {installing.REFERENCE}" in host.asked()
    assert f"image_id='{installing.IMAGE_ID}'" in host.command.read_text().splitlines()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"ENGINE_VERSION": "19.03.15"}, "20.10 is the first that serves"),
        ({"ENGINE_ENDS": "1"}, "permission denied"),
    ],
    ids=["old", "no permission"],
)
def test_an_engine_that_does_not_serve_is_named(host: Host, bundle: Path, variables: dict[str, str], said: str) -> None:
    host.variables = variables

    assert said in refusal(host, bundle, "--container", status=3)


def test_missing_engine_and_python_get_a_remedy(host: Host, bundle: Path) -> None:
    """Without an engine or a Python, the error names the remedy."""
    host.without_python()
    (host.tools / "docker").unlink()
    for tool in TOOLS:
        (host.tools / tool).symlink_to(str(shutil.which(tool)))
    host.variables = {"PATH": str(host.tools)}
    host.shell = str(shutil.which("sh"))

    assert "there is no command docker here" in refusal(host, bundle, status=3)


def test_an_unfit_python_is_refused_with_reason(host: Host, bundle: Path) -> None:
    """A Python that was asked for and does not fit is refused with the reason."""
    (bundle / layout.INSTALL).write_text((bundle / layout.INSTALL).read_text().replace(installing.HERE, "3.99"))
    installing.seal(bundle)

    said = refusal(host, bundle, "--python", "python3", status=3)

    assert f"is cpython {installing.HERE}, and there are wheels for CPython 3.99" in said


def test_the_installation_ends_with_the_loading_status(host: Host, bundle: Path) -> None:
    """The exit status of loading is that of the installation."""
    host.variables = {"ENDS_WITH": "3"}

    done = host.install(bundle)

    assert done.returncode == 3
    assert "the orchestrator is installed; the bundle is not loaded" in done.stderr
    assert host.command.exists()


def test_a_file_with_another_content_is_refused(host: Host, bundle: Path) -> None:
    (bundle / "data of mine" / "a file, with a comma").write_text("tex!")

    assert "a file, with a comma: FAILED: another content than SHA256SUMS says" in refusal(host, bundle)


def test_a_file_too_many_is_refused(host: Host, bundle: Path) -> None:
    (bundle / layout.WHEELS / "evil-1.0-py3-none-any.whl").write_text("")

    assert "evil-1.0-py3-none-any.whl is not in SHA256SUMS" in refusal(host, bundle)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: Path(shell.split()[0]).name)
@pytest.mark.parametrize("name", ["plan.txt\nplan.txt", "a\x1b[2Jb", "back\\slash"])
def test_a_name_with_a_line_break_is_refused(host: Host, bundle: Path, shell: str, name: str) -> None:
    """Each line of such a name is itself the name of a listed file, so that no line of `find` is too many."""
    host.shell = shell
    (bundle / "plan.txt").write_text("plan")
    installing.seal(bundle)
    (bundle / name).write_text("planted")

    assert "a name in the bundle holds a control character or a backslash" in refusal(host, bundle)


def test_a_file_too_few_is_refused(host: Host, bundle: Path) -> None:
    (bundle / WHEEL).unlink()

    assert "thing-1.0-py3-none-any.whl is missing" in refusal(host, bundle)


def test_a_wheel_changed_with_its_sum_is_refused(host: Host, bundle: Path) -> None:
    """A wheel and its sum that were changed together are refused."""
    manifest = (bundle / layout.MANIFEST).read_bytes()
    (bundle / WHEEL).write_bytes(b"another")
    installing.seal(bundle)
    (bundle / layout.MANIFEST).write_bytes(manifest)

    assert "SHA256SUMS does not say what manifest.json says" in refusal(host, bundle)


@pytest.mark.parametrize("place", ["../outside", "/etc/passwd"])
def test_sums_of_files_outside_are_refused(host: Host, bundle: Path, place: str) -> None:
    (bundle.parent / "outside").write_text("")
    with (bundle / layout.SUMS).open("a") as file:
        file.write(f"{'0' * 64}  {place}\n")

    assert f"{place} is missing" in refusal(host, bundle)


def test_a_link_in_a_bundle_is_refused(host: Host, bundle: Path) -> None:
    (bundle / "link").symlink_to("/etc/passwd")

    assert "./link: a bundle holds plain files and folders alone" in refusal(host, bundle)


def test_a_bundle_whose_export_was_interrupted_is_refused(host: Host, bundle: Path) -> None:
    (bundle / layout.STATE).write_text("{}")

    assert "its export was interrupted" in refusal(host, bundle)


def test_a_command_of_somebody_else_is_left_alone(host: Host, bundle: Path) -> None:
    host.command.parent.mkdir(parents=True)
    host.command.write_text("#!/bin/sh\n")

    done = host.install(bundle)

    assert done.returncode == 2
    assert "is there, and none of ours" in done.stderr
    assert host.command.read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize("options", [("--to",), ("--what",), ("--python", "nothing-of-that-name")])
def test_options_that_cannot_be_right_are_refused(host: Host, bundle: Path, options: tuple[str, ...]) -> None:
    refusal(host, bundle, *options, status=3 if options[0] == "--python" else 2)


def a_delta(bundle: Path, *names: str) -> Path:
    """A bundle beside another, which leaves out files that the other has."""
    delta = bundle.parent / "next"
    base = Base(name="night", manifest_sha256=installing.described(bundle, bundle / layout.MANIFEST).sha256)
    installing.write_bundle(delta, base=base)
    left_out = tuple(installing.described(delta, delta / name) for name in names)
    for file in left_out:
        (delta / file.path).unlink()
    installing.seal(delta, base, left_out)
    return delta


def test_a_delta_takes_omitted_files_from_its_base(host: Host, bundle: Path) -> None:
    """A delta takes the files that it leaves out from the bundle next to it."""
    delta = a_delta(bundle, WHEEL, layout.OWN_IMAGE)

    assert host.install(delta, "--no-load").returncode == 0
    assert host.install(delta, "--no-load", "--container").returncode == 0
    assert f"{bundle}/orchestrator/image.tar.gz" in host.asked()
    shutil.move(bundle, bundle.parent.parent / "elsewhere")
    done = host.install(delta, "--no-load")
    assert done.returncode == 2
    assert "is in the bundle night, which this one builds on" in done.stderr


@pytest.mark.parametrize("name", ["pip-0-py3-none-any.whl", "thing-9-py3-none-any.whl"])
def test_a_wheel_planted_in_the_base_is_ignored(host: Host, bundle: Path, name: str) -> None:
    """Neither a signature nor a sum of the delta speaks of it."""
    (pip,) = (bundle / layout.WHEELS).glob("pip-*")
    delta = a_delta(bundle, WHEEL, f"{layout.WHEELS}/{pip.name}")
    planted = f'open({str(host.home / "planted")!r}, "w")\n'.encode()
    files = wheel_files.files("thing", "9") | {"pip/__main__.py": planted, "thing.py": planted}
    own_wheel.pack(bundle / layout.WHEELS / name, files)

    done = host.install(delta, "--no-load")

    assert done.returncode == 0, done.stderr
    assert not (host.home / "planted").exists()
    (program,) = (host.home / ".local/lib/framework-bench").iterdir()
    assert [path.name for path in program.rglob("thing-*.dist-info")] == ["thing-1.0.dist-info"]


def test_only_an_allowed_signers_bundle_is_installed(host: Host, bundle: Path) -> None:
    key, other = host.home / "key", host.home / "other"
    for path in (key, other):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True)
    allowed = host.home / "allowed"
    allowed.write_text(f"me@example.org {key.with_suffix('.pub').read_text()}")
    sign = bundle / layout.SIGNATURE

    assert "night is not signed" in refusal(host, bundle, "--allowed-signers", allowed)
    manifest = (bundle / layout.MANIFEST).read_bytes()
    sign.write_bytes(signature.sign(manifest, other, os.environ))
    assert "signed by nobody in" in refusal(host, bundle, "--allowed-signers", allowed)
    sign.write_bytes(signature.sign(b"another manifest", key, os.environ))
    assert "the signature of me@example.org does not hold" in refusal(host, bundle, "--allowed-signers", allowed)
    sign.write_bytes(signature.sign(manifest, key, os.environ))
    host.variables = {"ORCHESTRATOR_ALLOWED_SIGNERS": "allowed"}
    done = host.install(bundle)
    assert done.returncode == 0, done.stderr
    assert "night is signed by me@example.org" in done.stderr
    assert done.stdout == f"orchestrator load {bundle} {allowed}\n"


def test_every_principal_of_a_key_is_tried(host: Host, bundle: Path) -> None:
    """The first line that has the key may be for other signatures than those of bundles."""
    key, allowed = host.home / "key", host.home / "allowed"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text()
    allowed.write_text(f'git@example.org namespaces="git" {public}me@example.org {public}')
    manifest = (bundle / layout.MANIFEST).read_bytes()
    (bundle / layout.SIGNATURE).write_bytes(signature.sign(manifest, key, os.environ))

    done = host.install(bundle, "--allowed-signers", allowed)

    assert done.returncode == 0, done.stderr
    assert "night is signed by me@example.org" in done.stderr
