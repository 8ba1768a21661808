"""Where everything lies in a bundle, and which names may lie there at all."""

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNATURE = "manifest.json.sig"
UNLISTED = frozenset({MANIFEST, SUMS, SIGNATURE})
"""The files that the manifest cannot list: itself, and what is made of it."""
INSTALL = "install.sh"
MATRIX = "matrix.yaml"
MODELS = "models"
PLAN = "plan.json"
IMAGES = "images"
OCI_LAYOUT = f"{IMAGES}/oci-layout"
OCI_INDEX = f"{IMAGES}/index.json"
BLOBS = f"{IMAGES}/blobs/sha256"
PROGRAMS = "orchestrator"
WHEELS = f"{PROGRAMS}/wheels"
OWN_IMAGE = f"{PROGRAMS}/image.tar.gz"
SBOM = "sbom"
PROVENANCE = "provenance"
DATA = "data"
STATE = ".unfinished.json"
"""There only while an export is under way, or was interrupted: no bundle holds it."""

MAX_DOCUMENT_BYTES = {PLAN: 32 * 1024 * 1024, MATRIX: 512 * 1024}
"""What is read whole before anything is loaded: some 40,000 cells, and thousands of entries of a matrix."""
MAX_PATH_BYTES = 1024
MAX_NAME_BYTES = 255
_FORBIDDEN = {chr(code) for code in (*range(32), 127)} | {"\\"}


def problem_of_path(path: str) -> str:
    """Say why a path may not be in a bundle, in a few words; empty where it may.

    A backslash or a line break would mean something else to `sha256sum`, and a drive or a parent to the host.
    """
    parts = path.split("/")
    if not path or path.startswith("/") or any(part in {"", ".", ".."} for part in parts):
        return "leads out of the bundle, or is no plain relative path"
    if _FORBIDDEN & set(path):
        return "holds a control character or a backslash"
    try:
        lengths = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        return "is no valid text"
    if max(lengths) > MAX_NAME_BYTES or sum(lengths) + len(parts) > MAX_PATH_BYTES:
        return "is too long"
    return ""


def blob(digest: str) -> str:
    """Where the content with a digest (`sha256:…`) lies: `images/blobs/sha256/…`."""
    return f"{BLOBS}/{digest.removeprefix('sha256:')}"
