"""Samples in, values out: estimates, ratios, verdicts and ranks, with no I/O."""

from orchestrator.analysis.estimates import CONFIDENCE, Estimate, estimate, variation
from orchestrator.analysis.measurements import (
    PHASES,
    CurvePoint,
    Epochs,
    Measurement,
    Percentiles,
    RepeatEpochs,
    RepeatMeasurement,
    epoch_totals,
    measurement,
    percentiles,
    repeat_epochs,
    repeat_measurement,
    repeat_value,
    thin,
)
from orchestrator.analysis.ratios import TOLERANCE, Rank, Ratio, Verdict, ranks, ratio, ratio_matrix

__all__ = [
    "CONFIDENCE",
    "PHASES",
    "TOLERANCE",
    "CurvePoint",
    "Epochs",
    "Estimate",
    "Measurement",
    "Percentiles",
    "Rank",
    "Ratio",
    "RepeatEpochs",
    "RepeatMeasurement",
    "Verdict",
    "epoch_totals",
    "estimate",
    "measurement",
    "percentiles",
    "ranks",
    "ratio",
    "ratio_matrix",
    "repeat_epochs",
    "repeat_measurement",
    "repeat_value",
    "thin",
    "variation",
]
