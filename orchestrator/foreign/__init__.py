"""Results of other benchmark tools, read for a comparison."""

from orchestrator.foreign.model import ForeignBenchmark, ForeignFile, ForeignSamples
from orchestrator.foreign.reading import FOREIGN_FORMATS, read

__all__ = ["FOREIGN_FORMATS", "ForeignBenchmark", "ForeignFile", "ForeignSamples", "read"]
