"""The site file, from its text to values."""

from orchestrator.clusters.site.loading import load
from orchestrator.clusters.site.model import (
    Executor,
    GpuRequest,
    ImagesFrom,
    NodeImages,
    Pods,
    Program,
    Site,
    TimeLimits,
)

__all__ = ["Executor", "GpuRequest", "ImagesFrom", "NodeImages", "Pods", "Program", "Site", "TimeLimits", "load"]
