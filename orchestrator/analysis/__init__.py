"""The statistics of samples, with estimates, ratios, verdicts and ranks, and without I/O.

Other programs import from here what `docs/regression.md` describes.
"""

from orchestrator.analysis.change_points import change_points
from orchestrator.analysis.comparison import compare, looks

__all__ = ["change_points", "compare", "looks"]
