"""The paths of the files in a bundle."""

from orchestrator import files
from orchestrator.user_files import Network, Script

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNATURE = "manifest.json.sig"
UNLISTED = frozenset({MANIFEST, SUMS, SIGNATURE})
"""Files that the manifest cannot list, because they are the manifest or are made from it."""
INSTALL = "install.sh"
MATRIX = "matrix.yaml"
MODELS = "models"
SCRIPTS = Script.FOLDER
NETWORKS = Network.FOLDER
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
DOCUMENTATION = "docs"
STATE = ".unfinished.json"
"""The file of an export that is running or was interrupted. A complete bundle has none."""

MAX_DOCUMENT_BYTES = {PLAN: 32 * 1024 * 1024, MATRIX: 512 * 1024}
"""Limits of the documents that are read whole: about 40,000 cells, and thousands of entries of a matrix."""
MAX_IMAGE_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Limit of the configuration and of the manifest of one image."""
MAX_PATH_BYTES = files.MAX_PATH_BYTES
problem_of_path = files.problem_of_path


def blob_path(digest: str) -> str:
    """Return the path in the bundle of the blob with a digest."""
    return f"{BLOBS}/{digest.removeprefix('sha256:')}"


def file_name(reference: str) -> str:
    """Return the name of the files that describe an image."""
    return reference.replace("/", "_").replace(":", "_")
