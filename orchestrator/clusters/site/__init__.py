"""The site file, from its text to values. `loading` reads it, and loads the shapes of all that it may hold."""

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

__all__ = ["Executor", "GpuRequest", "ImagesFrom", "NodeImages", "Pods", "Program", "Site", "TimeLimits"]
