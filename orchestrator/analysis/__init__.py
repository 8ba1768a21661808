"""Samples in, values out: estimates, ratios, verdicts and ranks, with no I/O."""

from orchestrator.analysis.change_points import ChangePoint, change_points
from orchestrator.analysis.comparison import POWER, Comparison, compare
from orchestrator.analysis.estimates import CONFIDENCE, PREDICTION, Estimate, estimate, prediction, variation
from orchestrator.analysis.looks import ALPHA, LOOKS, Look, looks
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
    quantiles,
    repeat_epochs,
    repeat_measurement,
    repeat_value,
)
from orchestrator.analysis.printed import Printed, printed
from orchestrator.analysis.ratios import (
    TOLERANCE,
    Rank,
    Ratio,
    Verdict,
    ranks,
    ranks_by_intervals,
    ratio,
    ratio_matrix,
)
from orchestrator.analysis.resources import GpuUse, ProcessUse

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "LOOKS",
    "PHASES",
    "POWER",
    "PREDICTION",
    "TOLERANCE",
    "ChangePoint",
    "Comparison",
    "CurvePoint",
    "Epochs",
    "Estimate",
    "GpuUse",
    "Look",
    "Measurement",
    "Percentiles",
    "Printed",
    "ProcessUse",
    "Rank",
    "Ratio",
    "RepeatEpochs",
    "RepeatMeasurement",
    "Verdict",
    "change_points",
    "compare",
    "epoch_totals",
    "estimate",
    "looks",
    "measurement",
    "percentiles",
    "prediction",
    "printed",
    "quantiles",
    "ranks",
    "ranks_by_intervals",
    "ratio",
    "ratio_matrix",
    "repeat_epochs",
    "repeat_measurement",
    "repeat_value",
    "variation",
]
