"""Samples in, values out: estimates, ratios, verdicts and ranks, with no I/O."""

from orchestrator.analysis.estimates import CONFIDENCE, Estimate, estimate, variation
from orchestrator.analysis.measurements import (
    PHASES,
    Measurement,
    Percentiles,
    RepeatMeasurement,
    measurement,
    percentiles,
    repeat_measurement,
    repeat_value,
    thin,
)
from orchestrator.analysis.ratios import TOLERANCE, Rank, Ratio, Verdict, ranks, ratio, ratio_matrix

__all__ = [
    "CONFIDENCE",
    "PHASES",
    "TOLERANCE",
    "Estimate",
    "Measurement",
    "Percentiles",
    "Rank",
    "Ratio",
    "RepeatMeasurement",
    "Verdict",
    "estimate",
    "measurement",
    "percentiles",
    "ranks",
    "ratio",
    "ratio_matrix",
    "repeat_measurement",
    "repeat_value",
    "thin",
    "variation",
]
