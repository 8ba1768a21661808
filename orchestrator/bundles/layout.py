"""Where everything lies in a bundle, and which names may lie there at all."""

from orchestrator import files
from orchestrator.results import frozen_scripts

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNATURE = "manifest.json.sig"
UNLISTED = frozenset({MANIFEST, SUMS, SIGNATURE})
"""The files that the manifest cannot list: itself, and what is made of it."""
INSTALL = "install.sh"
MATRIX = "matrix.yaml"
MODELS = "models"
SCRIPTS = frozen_scripts.FOLDER
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
MAX_PATH_BYTES = files.MAX_PATH_BYTES
problem_of_path = files.problem_of_path


def blob(digest: str) -> str:
    """Where the content with a digest (`sha256:…`) lies: `images/blobs/sha256/…`."""
    return f"{BLOBS}/{digest.removeprefix('sha256:')}"
