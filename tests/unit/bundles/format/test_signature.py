import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from orchestrator.bundles.format import signature
from orchestrator.errors import HostError, InputError

MANIFEST = b'{"schema": 1}\n'
ENVIRONMENT: Mapping[str, str] = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}

Keys = tuple[Path, Path]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    """Two key pairs."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ours", "theirs"):
        make_key(folder / name)
    return folder / "ours", folder / "theirs"


def make_key(path: Path, passphrase: str = "") -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", path], check=True)


def allow(path: Path, key: Path, options: str = "") -> Path:
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    path.write_text(f"bundles@example.org {options} {public}\n")
    return path


def checked(made: bytes | None, allowed: Path | None, manifest: bytes = MANIFEST) -> signature.Authorship:
    return signature.check(manifest, made, allowed, ENVIRONMENT, bundle="night")


def refusal(made: bytes | None, allowed: Path, manifest: bytes = MANIFEST) -> str:
    with pytest.raises(InputError) as refused:
        checked(made, allowed, manifest)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_allowed_signature_names_its_signer(keys: Keys, tmp_path: Path) -> None:
    """A bundle signed by an allowed signer names that signer."""
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)

    verdict = checked(made, allow(tmp_path / "allowed", keys[0]))

    assert verdict == signature.Authorship("bundles@example.org", "night: signed by bundles@example.org")


def test_equal_manifests_have_equal_signatures(keys: Keys) -> None:
    assert signature.sign(MANIFEST, keys[0], ENVIRONMENT) == signature.sign(MANIFEST, keys[0], ENVIRONMENT)


def test_the_key_of_somebody_else_is_refused(keys: Keys, tmp_path: Path) -> None:
    allowed = allow(tmp_path / "allowed", keys[1])

    assert refusal(signature.sign(MANIFEST, keys[0], ENVIRONMENT), allowed) == (
        f"night: signed by a key that {allowed} does not name"
    )


def test_manifest_changed_after_signing_is_refused(keys: Keys, tmp_path: Path) -> None:
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)

    assert "not what bundles@example.org signed" in refusal(made, allow(tmp_path / "allowed", keys[0]), b"{}")


def test_a_signer_whose_time_is_over_is_refused(keys: Keys, tmp_path: Path) -> None:
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)
    allowed = allow(tmp_path / "allowed", keys[0], 'valid-before="20200101"')

    assert "no longer valid" in refusal(made, allowed)


def test_signer_whose_time_has_not_come_is_refused(keys: Keys, tmp_path: Path) -> None:
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)
    allowed = allow(tmp_path / "allowed", keys[0], 'valid-after="20990101"')

    assert "not yet valid" in refusal(made, allowed)


def test_signer_of_something_else_is_refused(keys: Keys, tmp_path: Path) -> None:
    """A signer who may sign only something else is refused."""
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)
    allowed = allow(tmp_path / "allowed", keys[0], 'namespaces="git"')

    assert "does not let bundles@example.org sign bundles" in refusal(made, allowed)


@pytest.mark.parametrize(
    ("lines", "signer"),
    [
        (('git@example.org namespaces="git" {key}', "bundles@example.org {key}"), "bundles@example.org"),
        (('old@example.org valid-before="20200101" {key}', "bundles@example.org {key}"), "bundles@example.org"),
        (
            ("# who may", "x@example.org {other}", 'git@example.org namespaces="git" {key}', "", "y@example.org {key}"),
            "y@example.org",
        ),
    ],
)
def test_every_principal_of_a_key_is_tried(keys: Keys, tmp_path: Path, lines: Sequence[str], signer: str) -> None:
    """The first line that has the key may be for other signatures than those of bundles."""
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)
    key, other = (" ".join(path.with_suffix(".pub").read_text().split()[:2]) for path in keys)
    allowed = tmp_path / "allowed"
    allowed.write_text("\n".join(lines).format(key=key, other=other) + "\n")

    assert checked(made, allowed).signer == signer


def test_a_signature_made_for_something_else_is_refused(keys: Keys, tmp_path: Path) -> None:
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", keys[0]]
    made = subprocess.run(command, input=MANIFEST, check=True, capture_output=True).stdout

    said = refusal(made, allow(tmp_path / "allowed", keys[0]))
    assert "as something else than a bundle" in said


def test_a_broken_signature_is_refused(keys: Keys, tmp_path: Path) -> None:
    made = signature.sign(MANIFEST, keys[0], ENVIRONMENT)
    allowed = allow(tmp_path / "allowed", keys[0])

    assert "signature is broken" in refusal(made[:100], allowed)
    assert "signature is broken" in refusal(b"", allowed)


def test_unsigned_bundle_needs_no_configured_signers(keys: Keys, tmp_path: Path) -> None:
    """An unsigned bundle is accepted only where no signers are configured, and says so."""
    assert checked(None, None).sentence == "night: not signed: who made it is not known"
    assert "night: not signed" in refusal(None, allow(tmp_path / "allowed", keys[0]))


def test_unchecked_signature_proves_nothing() -> None:
    """A signature that is compared with no signers proves nothing, and the verdict says so."""
    verdict = checked(b"whatever", None)

    assert verdict.signer is None
    assert "not checked against any allowed signers" in verdict.sentence


@pytest.mark.parametrize("text", ["", "no key here\n"], ids=["empty", "garbage"])
def test_signers_file_without_names_allows_nobody(keys: Keys, tmp_path: Path, text: str) -> None:
    """A file of signers that names nobody allows nobody."""
    (tmp_path / "allowed").write_text(text)

    refusal(signature.sign(MANIFEST, keys[0], ENVIRONMENT), tmp_path / "allowed")


def test_missing_file_of_signers_is_named(tmp_path: Path) -> None:
    assert refusal(b"x", tmp_path / "nowhere") == f"{tmp_path / 'nowhere'}: no such file of allowed signers"


def test_unusable_keys_are_named_with_the_remedy(tmp_path: Path, keys: Keys) -> None:
    """Keys that cannot sign are named with the remedy."""
    make_key(tmp_path / "locked", "secret")
    (tmp_path / "none").write_text("no key\n")
    (tmp_path / "alone.pub").write_bytes(keys[0].with_suffix(".pub").read_bytes())

    def said(name: str) -> str:
        with pytest.raises(InputError) as refused:
            signature.sign(MANIFEST, tmp_path / name, ENVIRONMENT)
        assert "\n" not in str(refused.value)
        return str(refused.value)

    assert "no such file" in said("nowhere")
    assert "locked with a passphrase" in said("locked")
    assert "no agent holds its private one" in said("alone.pub")
    assert "cannot be signed with" in said("none")


def test_without_ssh_keygen_the_remedy_is_told(tmp_path: Path, keys: Keys) -> None:
    bare = {"PATH": str(tmp_path)}

    with pytest.raises(HostError, match="install OpenSSH's client"):
        signature.sign(MANIFEST, keys[0], bare)
    with pytest.raises(HostError, match="install OpenSSH's client"):
        signature.check(MANIFEST, b"x", allow(tmp_path / "allowed", keys[0]), bare, bundle="night")
