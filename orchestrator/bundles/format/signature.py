"""Signatures of bundles, made and checked by OpenSSH's ssh-keygen over the manifest."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator import processes
from orchestrator.errors import HostError, InputError
from orchestrator.processes import Captured, last_line

NAMESPACE = "framework-bench-bundle"
"""Signatures for any other purpose are refused."""
MAX_SIGNATURE_BYTES = 1 << 16
"""The largest keys make some kilobytes."""
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Authorship:
    """The signer of a bundle, as far as known."""

    signer: str | None
    """Name in the file of allowed signers. None without such a file."""
    sentence: str
    """One line for people."""


def sign(manifest: bytes, key: Path, environment: Mapping[str, str]) -> bytes:
    """Sign a manifest and return the armoured signature.

    `key` is a private key, or a public key whose private key an agent holds.
    Raises `InputError` if the key cannot be used, and `HostError` if there is no ssh-keygen.
    """
    if not key.is_file():
        raise InputError(f"--sign {key}: no such file; `ssh-keygen -t ed25519` makes a key")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        # In a fresh folder, because ssh-keygen asks before it overwrites a signature.
        place = Path(folder) / "manifest.json"
        place.write_bytes(manifest)
        answer = _ssh_keygen(["sign", "-f", str(key.resolve()), "-n", NAMESPACE, str(place)], environment)
        signature = place.with_name("manifest.json.sig")
        if answer.exit_code != 0 or not signature.is_file():
            raise InputError(f"--sign {key}: {_signing_failure(answer)}")
        return signature.read_bytes()


def check(
    manifest: bytes, signature: bytes | None, allowed: Path | None, environment: Mapping[str, str], *, bundle: str
) -> Authorship:
    """Check the signature of a manifest with a file of allowed signers (see ssh-keygen(1)).

    Without such a file every bundle is accepted, and the sentence says so. `bundle` is the name for messages.
    Raises `InputError` if no allowed signer has signed exactly this manifest, and `HostError` if there is no
    ssh-keygen.
    """
    if allowed is None:
        state = "not signed" if signature is None else "signed, but not checked against any allowed signers"
        return Authorship(None, f"{bundle}: {state}: who made it is not known")
    if not allowed.is_file():
        raise InputError(f"{allowed}: no such file of allowed signers")
    if signature is None:
        raise InputError(
            f"{bundle}: not signed, while {allowed} names who must have; ask for it with `export --sign KEY`"
        )
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder) / "manifest.json.sig"
        place.write_bytes(signature)
        against = ["-s", str(place), "-f", str(allowed.resolve())]
        principals = _ssh_keygen(["find-principals", *against], environment)
        if principals.exit_code != 0 or not principals.output.strip():
            raise InputError(f"{bundle}: {_no_principal(principals, allowed)}")
        refusals = []
        for signer in _principals(place, allowed, environment):
            answer = _ssh_keygen(["verify", "-I", signer, "-n", NAMESPACE, *against], environment, manifest)
            if answer.exit_code == 0:
                return Authorship(signer, f"{bundle}: signed by {signer}")
            refusals.append(_refusal(answer, signer, allowed))
    raise InputError(f"{bundle}: {refusals[0] if refusals else _no_principal(principals, allowed)}")


def _principals(signature: Path, allowed: Path, environment: Mapping[str, str]) -> list[str]:
    """Return every signer that a file of allowed signers names for the key of a signature.

    ssh-keygen stops at the first line with the key, which may be for another purpose, so it gets each line alone.
    """
    line = signature.with_name("allowed")
    principals: dict[str, None] = {}
    for text in allowed.read_bytes().splitlines():
        if text.strip() and not text.lstrip().startswith(b"#"):
            line.write_bytes(text + b"\n")
            answer = _ssh_keygen(["find-principals", "-s", str(signature), "-f", str(line)], environment)
            principals |= dict.fromkeys(answer.output.splitlines())
    return list(principals)


def _ssh_keygen(arguments: list[str], environment: Mapping[str, str], stdin: bytes | None = None) -> Captured:
    if shutil.which("ssh-keygen", path=environment.get("PATH")) is None:
        raise HostError("signatures need ssh-keygen, which is not here; install OpenSSH's client (openssh-client)")
    passed = {name: environment[name] for name in ("PATH", "HOME", "SSH_AUTH_SOCK") if name in environment}
    return processes.capture(
        ["ssh-keygen", "-Y", *arguments],
        environment=passed | {"LC_ALL": "C"},
        folder=Path("/"),
        timeout_s=TIMEOUT_S,
        stdin=stdin,
    )


def _signing_failure(answer: Captured) -> str:
    if "passphrase" in answer.errors:
        return "locked with a passphrase; add it to ssh-agent (`ssh-add KEY`) and try again"
    if "No private key found" in answer.errors:
        return "a public key, and no agent holds its private one; name the private key, or `ssh-add` it"
    if "unknown option" in answer.errors or "illegal option" in answer.errors:
        return "this ssh-keygen is too old to sign; OpenSSH 8.1 is the first that can"
    return f"cannot be signed with: {_reason(answer)}"


def _no_principal(answer: Captured, allowed: Path) -> str:
    if "expired" in answer.errors:
        return f"signed by a key that is no longer valid: {_line_with(answer, 'expired')}"
    if "not yet valid" in answer.errors:
        return f"signed by a key that is not yet valid: {_line_with(answer, 'not yet valid')}"
    if "parse signature" in answer.errors or "armor" in answer.errors:
        return "its signature is broken: it is none of OpenSSH's"
    if "No principal matched" in answer.errors and ":1: " not in answer.errors:
        return f"signed by a key that {allowed} does not name"
    return f"nobody in {allowed} signed it: {_reason(answer)}"


def _refusal(answer: Captured, signer: str, allowed: Path) -> str:
    if "incorrect signature" in answer.errors:
        return f"its manifest is not what {signer} signed: it was changed afterwards"
    if "namespace does not match" in answer.errors:
        return f"signed by {signer}, but as something else than a bundle ({NAMESPACE})"
    if "not permitted" in answer.errors:
        return f"{allowed} does not let {signer} sign bundles ({NAMESPACE})"
    return f"the signature of {signer} does not hold: {_reason(answer)}"


def _reason(answer: Captured) -> str:
    """Return the first line of the errors, because the lines after it repeat it in internal terms."""
    lines = [line for line in answer.errors.splitlines() if line.strip()]
    return last_line(lines[0]) if lines else f"ssh-keygen exited {answer.exit_code}"


def _line_with(answer: Captured, words: str) -> str:
    return next(last_line(line) for line in answer.errors.splitlines() if words in line)
