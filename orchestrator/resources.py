"""The paths of `images/`, `benchmarks/` and `studies/`, in an installed wheel or a checkout."""

from pathlib import Path

_PACKAGED = Path(__file__).parent / "_data"
ROOT = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parent.parent
IMAGES = ROOT / "images"
BENCHMARKS = ROOT / "benchmarks"
DEFAULT_MATRIX = ROOT / "matrix.yaml"
STUDIES = ROOT / "studies"
