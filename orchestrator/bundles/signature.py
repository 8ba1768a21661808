"""Who made a bundle: OpenSSH's signature over its manifest, made and checked by ssh-keygen."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator import processes
from orchestrator.errors import HostError, InputError
from orchestrator.processes import Captured, last_line

NAMESPACE = "framework-bench-bundle"
"""A signature made for anything else is none of a bundle."""
MAX_BYTES = 1 << 16
"""Of a signature: the largest keys make some kilobytes."""
TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of who made a bundle."""

    signer: str | None
    """As the file of allowed signers names it; None where nobody was asked for."""
    sentence: str
    """One line for people."""


def sign(manifest: bytes, key: Path, environment: Mapping[str, str]) -> bytes:
    """Sign a manifest with a private key, or with the agent's where `key` is a public one; give the armoured signature.

    Raises `InputError` where the key cannot be used, `HostError` where there is no ssh-keygen.
    """
    if not key.is_file():
        raise InputError(f"--sign {key}: no such file; `ssh-keygen -t ed25519` makes a key")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        # In a place of its own, because ssh-keygen asks a person before it writes over a signature.
        place = Path(folder) / "manifest.json"
        place.write_bytes(manifest)
        said = _ask(["sign", "-f", str(key.resolve()), "-n", NAMESPACE, str(place)], environment)
        signature = place.with_name("manifest.json.sig")
        if said.exit_code != 0 or not signature.is_file():
            raise InputError(f"--sign {key}: {_why_not_signed(said)}")
        return signature.read_bytes()


def check(
    manifest: bytes, signature: bytes | None, allowed: Path | None, environment: Mapping[str, str], *, bundle: str
) -> Verdict:
    """Find out who signed a manifest, held against a file of allowed signers (see ssh-keygen(1)); `bundle` is its name.

    Without such a file anything is accepted, and the verdict says so. Raises `InputError` where nobody who is allowed
    has signed exactly this manifest, `HostError` where there is no ssh-keygen.
    """
    if allowed is None:
        how = "not signed" if signature is None else "signed, but not held against any allowed signers"
        return Verdict(None, f"{bundle}: {how}: who made it is not known")
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
        found = _ask(["find-principals", *against], environment)
        if found.exit_code != 0 or not found.output.strip():
            raise InputError(f"{bundle}: {_why_nobody(found, allowed)}")
        refused = []
        for signer in _principals(place, allowed, environment):
            said = _ask(["verify", "-I", signer, "-n", NAMESPACE, *against], environment, manifest)
            if said.exit_code == 0:
                return Verdict(signer, f"{bundle}: signed by {signer}")
            refused.append(_why_refused(said, signer, allowed))
    raise InputError(f"{bundle}: {refused[0] if refused else _why_nobody(found, allowed)}")


def _principals(signature: Path, allowed: Path, environment: Mapping[str, str]) -> list[str]:
    """Return everybody whom a file of allowed signers names for the key of a signature.

    ssh-keygen stops at the first line with the key, which may be for other signatures: it is given line by line.
    """
    line = signature.with_name("allowed")
    found: dict[str, None] = {}
    for text in allowed.read_bytes().splitlines():
        if text.strip() and not text.lstrip().startswith(b"#"):
            line.write_bytes(text + b"\n")
            said = _ask(["find-principals", "-s", str(signature), "-f", str(line)], environment)
            found |= dict.fromkeys(said.output.splitlines())
    return list(found)


def _ask(arguments: list[str], environment: Mapping[str, str], given: bytes | None = None) -> Captured:
    if shutil.which("ssh-keygen", path=environment.get("PATH")) is None:
        raise HostError("signatures need ssh-keygen, which is not here; install OpenSSH's client (openssh-client)")
    handed_on = {name: environment[name] for name in ("PATH", "HOME", "SSH_AUTH_SOCK") if name in environment}
    return processes.capture(
        ["ssh-keygen", "-Y", *arguments],
        environment=handed_on | {"LC_ALL": "C"},
        folder=Path("/"),
        timeout_s=TIMEOUT_S,
        given=given,
    )


def _why_not_signed(said: Captured) -> str:
    if "passphrase" in said.errors:
        return "locked with a passphrase; add it to ssh-agent (`ssh-add KEY`) and try again"
    if "No private key found" in said.errors:
        return "a public key, and no agent holds its private one; name the private key, or `ssh-add` it"
    if "unknown option" in said.errors or "illegal option" in said.errors:
        return "this ssh-keygen is too old to sign; OpenSSH 8.1 is the first that can"
    return f"cannot be signed with: {_reason(said)}"


def _why_nobody(said: Captured, allowed: Path) -> str:
    if "expired" in said.errors:
        return f"signed by a key that is no longer valid: {_line_with(said, 'expired')}"
    if "not yet valid" in said.errors:
        return f"signed by a key that is not yet valid: {_line_with(said, 'not yet valid')}"
    if "parse signature" in said.errors or "armor" in said.errors:
        return "its signature is broken: it is none of OpenSSH's"
    if "No principal matched" in said.errors and ":1: " not in said.errors:
        return f"signed by a key that {allowed} does not name"
    return f"nobody in {allowed} signed it: {_reason(said)}"


def _why_refused(said: Captured, signer: str, allowed: Path) -> str:
    if "incorrect signature" in said.errors:
        return f"its manifest is not what {signer} signed: it was changed afterwards"
    if "namespace does not match" in said.errors:
        return f"signed by {signer}, but as something else than a bundle ({NAMESPACE})"
    if "not permitted" in said.errors:
        return f"{allowed} does not let {signer} sign bundles ({NAMESPACE})"
    return f"the signature of {signer} does not hold: {_reason(said)}"


def _reason(said: Captured) -> str:
    """The first line: the ones after it are the program's own names for it."""
    lines = [line for line in said.errors.splitlines() if line.strip()]
    return last_line(lines[0]) if lines else f"ssh-keygen exited {said.exit_code}"


def _line_with(said: Captured, words: str) -> str:
    return next(last_line(line) for line in said.errors.splitlines() if words in line)
